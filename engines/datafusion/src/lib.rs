//! PTC-Lisp functions in SQL: a file of functions gives scalar functions, aggregates and table functions of
//! [DataFusion](datafusion). Columns go in and out without JSON.
//!
//! | In the file | In SQL |
//! |---|---|
//! | `(defn fee [country price] …)` | `select fee(country, price) from orders` |
//! | a function that returns a list | `select * from lines('a,b')`, or `unnest(lines(text))` for each row |
//! | a namespace `average` with `init`, `step`, `combine` and perhaps `finish` | `select average(price) from orders` |
//!
//! Functions are pure: a file that reaches a tool is refused when it is loaded. Each row is a run of its own, within the
//! limits of the [`Runtime`](ptc_runtime::Runtime) that loaded the file.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//! use ptc_datafusion::Functions;
//! use ptc_runtime::{PreludeInput, Runtime};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = Runtime::with_core(ptc_preludes::core())?;
//! let source = "(defn fee [country price] (quot (* (or price 0) (get {\"NO\" 25} country 0)) 100))";
//! let functions = Functions::load(&runtime, vec![PreludeInput::source("fee.clj", source)])?;
//!
//! let context = SessionContext::new();
//! let orders = "(values ('NO', 120), ('SE', 80), ('NO', null)) as orders(country, price)";
//! let query = format!("select country, fee(country, price) as fee from {orders} order by fee desc");
//! let rows = functions.sql(&context, &query).await?.to_string().await?;
//! assert!(rows.contains("| NO      | 30  |"), "{rows}");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod aggregate;
mod code;
mod evaluate;
mod functions;
mod names;
mod reference;
mod refused;
mod sample;
mod scalar;
mod state;
mod table;

pub use aggregate::Aggregate;
pub use code::{Body, Code, Library};
pub use functions::{Function, Functions};
pub use reference::{Arity, Kind, OnError, Reference};
pub use refused::Refused;
pub use scalar::Scalar;
pub use table::{Call, RowsExec, RowsTable};
