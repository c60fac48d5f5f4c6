//! A compiled PTC program as a scalar function of a query engine.
//!
//! `cargo run` registers one over a small table and prints what a query with it gives. The page
//! "Beyond one machine" of the documentation says how this becomes a cluster.
#![forbid(unsafe_code)]

mod udf;

use datafusion::arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use std::error::Error;

/// Five orders.
const ORDERS: &str = "create table orders as values
  (1, 'NO', 120, 2), (2, 'NO', 15, 10), (3, 'SE', 80, 1), (4, 'DK', 9, 3), (5, 'SE', null, 1)";

/// The columns are `data/country`, `data/price` and `data/amount`.
const FEE: &str = r#"
(let [net (* (or data/price 0) data/amount)
      rate (get {"NO" 25 "SE" 20} data/country 0)]
  (quot (* net rate) 100))"#;

const QUERY: &str =
    "select column2 as country, count(*) as orders, sum(fee(column2, column3, column4)) as fees
  from orders group by country order by fees desc";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = SessionContext::new();
    let columns = [("country", DataType::Utf8), ("price", DataType::Int64), ("amount", DataType::Int64)];
    engine.register_udf(udf::program("fee", FEE, &columns, DataType::Int64)?);
    engine.sql(ORDERS).await?.collect().await?;
    engine.sql(QUERY).await?.show().await?;
    Ok(())
}
