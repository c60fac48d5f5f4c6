//! Results as typed columns of a file.

use super::files::Destination;
use crate::args::{BatchArgs, OnError as Rule};
use crate::problem::Problem;
use ptc_arrow::files::{Format, Writer};
use ptc_arrow::{Columns, OnError, Value, infer, parse_schema};
use ptc_bytecode::Code;
use ptc_runtime::{Batch, Ending, Failure, Fault, Input, Outcome, Program, Summary};
use std::io;
use std::sync::Arc;

/// Results that a schema is inferred from, if none is declared.
const INFERRED: usize = 10_000;

/// Rows that are written at one time.
const ROWS: usize = 8192;

/// Name of the column of errors.
const ERROR: &str = "error";

/// Where results become columns.
pub struct Table<'a> {
    format: Format,
    on_error: OnError<'static>,
    skip_nil: bool,
    fail_fast: bool,
    output: Option<Destination>,
    writer: Option<Writer<Destination>>,
    columns: Option<Columns>,
    /// Records before there is a schema: the number and result of each.
    waiting: Vec<(u64, Result<Value, Failure>)>,
    tell: &'a mut dyn FnMut(u64, Failure) -> io::Result<()>,
    /// Results that do not fit the columns.
    misfits: u64,
    is_stopped: bool,
}

impl<'a> Table<'a> {
    pub fn new(
        args: &BatchArgs,
        format: Format,
        output: Destination,
        tell: &'a mut dyn FnMut(u64, Failure) -> io::Result<()>,
    ) -> Result<Table<'a>, Problem> {
        let mut table = Table {
            format,
            on_error: match args.on_error {
                Rule::LeaveOut => OnError::LeaveOut,
                Rule::Null => OnError::Null,
                Rule::Column => OnError::Column(ERROR),
            },
            skip_nil: args.skip_nil,
            fail_fast: args.fail_fast,
            output: Some(output),
            writer: None,
            columns: None,
            waiting: Vec::new(),
            tell,
            misfits: 0,
            is_stopped: false,
        };
        if let Some(text) = &args.schema {
            let refuse =
                |why: &dyn std::fmt::Display| Problem::new(Code::InvalidConfig, format!("--schema: {why}"));
            let schema = parse_schema(text).map_err(|error| refuse(&error))?;
            table.start(Arc::new(schema)).map_err(|error| refuse(&error))?;
        }
        Ok(table)
    }

    /// Runs the batch into the columns.
    pub fn run(mut self, batch: &Batch<Program>, input: Input<'_>) -> Summary {
        let value = |outcome: &Outcome| -> Result<Value, Failure> { Ok(Value::of(&outcome.datum()?)?) };
        let mut summary = batch.values(input, value, |number, result| self.add(number, result));
        let is_unwritable = matches!(summary.ending, Ending::Unwritable(_) | Ending::Closed);
        if self.is_stopped {
            summary.ending = Ending::Failed;
        }
        summary.results -= self.misfits;
        summary.failures += self.misfits;
        if (self.is_stopped || !is_unwritable)
            && let Err(error) = self.finish()
        {
            summary.ending = Ending::Unwritable(error);
        }
        summary
    }

    fn add(&mut self, number: u64, result: Result<Value, Failure>) -> io::Result<()> {
        if self.skip_nil && matches!(result, Ok(Value::Nil)) {
            return Ok(());
        }
        if self.columns.is_none() {
            self.waiting.push((number, result));
            return if self.waiting.len() < INFERRED { Ok(()) } else { self.infer() };
        }
        self.put(number, result)
    }

    /// Infers the schema from the results so far, and writes them.
    fn infer(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let values: Vec<Value> =
            waiting.iter().filter_map(|(_, result)| result.as_ref().ok().cloned()).collect();
        let schema = infer(&values).map_err(|conflict| {
            io::Error::other(format!("{conflict}; return values of one type, or declare it with --schema"))
        })?;
        self.start(Arc::new(schema))?;
        waiting.into_iter().try_for_each(|(number, result)| self.put(number, result))
    }

    fn start(&mut self, schema: arrow_schema::SchemaRef) -> io::Result<()> {
        let columns = Columns::new(schema, self.on_error).map_err(io::Error::other)?;
        if let Some(output) = self.output.take() {
            self.writer = Some(Writer::new(self.format, output, columns.schema())?);
        }
        self.columns = Some(columns);
        Ok(())
    }

    fn put(&mut self, number: u64, result: Result<Value, Failure>) -> io::Result<()> {
        let Some(columns) = &mut self.columns else { return Ok(()) };
        let failure = match result {
            Ok(value) => match columns.push(value) {
                Ok(()) => None,
                Err(misfit) => {
                    self.misfits += 1;
                    self.is_stopped = self.fail_fast;
                    let hint = "return a value of that type, or declare another one with --schema";
                    Some(Failure::from(Fault::new(Code::InvalidData, misfit.to_string()).hint(hint)))
                }
            },
            Err(failure) => Some(failure),
        };
        if let Some(failure) = failure {
            columns.push_failure(&failure.diagnostic().message);
            (self.tell)(number, failure)?;
        }
        if columns.len() >= ROWS {
            self.write()?;
        }
        if self.is_stopped { Err(io::Error::other("a result does not fit its column")) } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        let (Some(columns), Some(writer)) = (&mut self.columns, &mut self.writer) else { return Ok(()) };
        if columns.is_empty() {
            return Ok(());
        }
        let batch = columns.finish().map_err(|error| io::Error::other(error.to_string()))?;
        writer.write(&batch)
    }

    fn finish(mut self) -> io::Result<()> {
        if self.columns.is_none() {
            self.infer()?;
        }
        self.write()?;
        match self.writer {
            Some(writer) => writer.finish()?.finish(),
            None => Ok(()),
        }
    }
}
