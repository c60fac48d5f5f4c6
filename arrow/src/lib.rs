//! Arrow tables as records of programs, and results of programs as Arrow columns, without JSON in between.
//!
//! [`Table`] makes the rows of a record batch records of a [`Batch`](ptc_runtime::Batch) or an
//! [`Evaluator`](ptc_runtime::Evaluator): it converts only the columns that a program can observe. [`Columns`] makes
//! typed columns of results, by a schema that is declared or [inferred](infer).
//!
//! ```
//! use arrow_array::{Int64Array, RecordBatch, StringArray};
//! use ptc_arrow::Table;
//! use ptc_runtime::{Batch, Input, Rows, Runtime};
//! use std::sync::Arc;
//!
//! let batch = RecordBatch::try_from_iter([
//!     ("price", Arc::new(Int64Array::from(vec![Some(2), None])) as _),
//!     ("name", Arc::new(StringArray::from(vec!["tea", "cake"])) as _),
//! ])?;
//! let runtime = Runtime::with_core(ptc_preludes::core())?;
//! let batch_of = Batch::new(&runtime, &runtime.compile("(* 10 (or (:price data/row) 0))")?);
//! let table = Table::new(&batch, &batch_of.projection())?;
//! let mut output = Vec::new();
//! let blocks = std::iter::once(Ok(Box::new(table) as Box<dyn Rows>));
//! let _ = batch_of.lines(Input::rows(blocks), &mut output, |_, _| Ok(()));
//! assert_eq!(output, b"20\n0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod cell;
mod column;
mod columns;
mod decimal;
#[cfg(feature = "files")]
pub mod files;
mod infer;
mod schema;
mod table;
mod value;

pub use column::Unsupported;
pub use columns::{Columns, Misfit, OnError};
pub use infer::{Conflict, Inference, infer};
pub use schema::{SchemaError, parse_schema, type_text};
pub use table::Table;
pub use value::Value;
