//! Functions of PTC-Lisp in a query of DataFusion: `cargo run -p ptc-datafusion --example orders`.
#![forbid(unsafe_code)]

use datafusion::prelude::{CsvReadOptions, SessionContext};
use ptc_datafusion::{Functions, OnError};
use ptc_runtime::{Limits, Runtime};
use std::error::Error;
use std::path::Path;

const QUERY: &str = "
select country, count(*) as orders, sum(fee(country, price)) as fees, average(price) as average
from orders group by country order by fees desc";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    // Every row is a run of its own, with these limits.
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core())?.limits(limits);
    let files = ["fee.clj", "average.clj"].map(|file| Functions::read(&folder.join(file)));
    let functions =
        Functions::load(&runtime, files.into_iter().collect::<Result<_, _>>()?)?.on_error(OnError::Fail);

    let context = SessionContext::new();
    let orders = folder.join("orders.csv").display().to_string();
    context.register_csv("orders", orders.as_str(), CsvReadOptions::new()).await?;
    functions.sql(&context, QUERY).await?.show().await?;
    Ok(())
}
