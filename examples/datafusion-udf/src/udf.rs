//! The function: columns in, rows through a program, a column out.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::json::{LineDelimitedWriter, ReaderBuilder};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use ptc_runtime::{Evaluator, Program, Runtime};
use std::error::Error;
use std::sync::Arc;

/// `name(columns…)`: every row is a run of its own, which sees its columns as `data/<column>`. The
/// program is compiled here, once; a row that fails ends the query with its error.
pub fn program(
    name: &str,
    source: &str,
    columns: &[(&str, DataType)],
    result: DataType,
) -> std::result::Result<ScalarUDF, Box<dyn Error>> {
    let runtime = Runtime::with_core(ptc_preludes::core()).map_err(|error| error.message.clone())?;
    let program = runtime.compile(source)?;
    let schema = |fields: Vec<Field>| Arc::new(Schema::new(fields));
    let field = |(name, kind): &(&str, DataType)| Field::new(*name, kind.clone(), true);
    let inputs = schema(columns.iter().map(field).collect());
    let output = schema(vec![Field::new("value", result.clone(), true)]);
    let types = columns.iter().map(|(_, kind)| kind.clone()).collect();
    let run = move |args: &[ColumnarValue]| {
        let columns = RecordBatch::try_new(inputs.clone(), ColumnarValue::values_to_arrays(args)?)?;
        Ok(ColumnarValue::Array(rows(&runtime, &program, &columns, output.clone())?))
    };
    Ok(create_udf(name, types, result, Volatility::Immutable, Arc::new(run)))
}

/// The value of the program for each row. The engine calls this from many threads, each with a few
/// thousand rows: an evaluator for each call costs little.
fn rows(
    runtime: &Runtime,
    program: &Program,
    columns: &RecordBatch,
    output: Arc<Schema>,
) -> Result<ArrayRef> {
    let mut lines = Vec::new();
    LineDelimitedWriter::new(&mut lines).write(columns)?;
    let mut evaluator = Evaluator::new(runtime, program).fields(true);
    let mut values = String::new();
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let failed = |error: &dyn Error| DataFusionError::Execution(error.to_string());
        let outcome = evaluator.json("row", line).map_err(|failure| failed(&failure))?;
        let value = outcome.json().map_err(|fault| failed(&fault))?;
        values.push_str(&format!("{{\"value\":{value}}}\n"));
    }
    let mut decoder =
        ReaderBuilder::new(output.clone()).with_batch_size(columns.num_rows()).build_decoder()?;
    decoder.decode(values.as_bytes())?;
    let made = decoder.flush()?.unwrap_or_else(|| RecordBatch::new_empty(output));
    Ok(made.column(0).clone())
}
