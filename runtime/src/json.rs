//! Conversion between JSON text and values.
//!
//! Text is read straight into a heap, with no tree in between: granted data, tool results and the rows of a batch land
//! where a program will use them. Neither direction recurses on the data, so nesting costs memory and never the Rust
//! stack.
//!
//! ```
//! use ptc_runtime::json::{ReadOptions, WriteOptions, parse_json, write_json};
//! use ptc_vm::Heap;
//!
//! let mut heap = Heap::unbounded();
//! let order = parse_json(&mut heap, r#"{"id": 7, "items": ["tea", "milk"]}"#, &ReadOptions::default())?;
//! let mut text = String::new();
//! write_json(&heap, order, &mut text, &WriteOptions::default())?;
//! assert_eq!(text, r#"{"id":7,"items":["tea","milk"]}"#);
//! # Ok::<(), ptc_runtime::json::JsonError>(())
//! ```

mod cursor;
mod error;
mod lines;
pub(crate) mod names;
mod number;
mod plan;
mod read;
mod scan;
mod skip;
mod write;
mod writer;

pub use error::JsonError;
pub use lines::{JsonLines, freeze_json_lines, json_lines};
pub use read::{JsonReader, JsonSession, ReadOptions, freeze_json, parse_json, parse_json_bytes};
pub use write::{Beyond, KeyRule, WriteOptions, json_form, to_json_text, write_json};
