//! Results: a table for people, or a format for programs.

use crate::Ended;
use crate::args::{Args, Format};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::writer::FileWriter;
use datafusion::arrow::json::writer::{LineDelimited, WriterBuilder};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::dataframe::DataFrame;
use datafusion::parquet::arrow::ArrowWriter;
use futures_util::StreamExt;
use ptc_datafusion::{Functions, Kind};
use ptc_runtime::files::{Access, Replacement};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Lists functions with their parameters and doc strings.
pub fn functions(functions: Option<&Functions>) -> Result<(), Ended> {
    let Some(functions) = functions else {
        return Err(Ended::Usage("name the files of functions with --udf".to_string()));
    };
    let mut out = io::stdout().lock();
    for function in functions.iter() {
        let reference = function.reference();
        let mut calls: Vec<String> = Vec::new();
        for arity in &reference.arities {
            let rest = arity.rest.then(|| "…".to_string());
            let names: Vec<String> = arity.params.iter().cloned().chain(rest).collect();
            calls.push(format!("{}({})", reference.name, names.join(", ")));
        }
        let kind = if reference.kind == Kind::Aggregate { "aggregate" } else { "function" };
        let returns = reference.returns.as_deref().map(|kind| format!(" -> {kind}")).unwrap_or_default();
        let doc = function.doc().map(|doc| format!(" - {doc}")).unwrap_or_default();
        writeln!(out, "{kind} {}{returns}{doc}", calls.join(" or ")).map_err(unwritten)?;
    }
    Ok(())
}

/// Runs the query, and writes its rows as they come.
pub async fn write(frame: DataFrame, args: &Args) -> Result<(), Ended> {
    let format = format_of(args)?;
    let schema = std::sync::Arc::new(frame.schema().as_arrow().clone());
    let mut rows = frame.execute_stream().await?;
    match &args.output {
        None if format == Format::Table => {
            let mut batches = Vec::new();
            let (mut count, mut more) = (0, false);
            while let Some(batch) = rows.next().await {
                let batch = batch?;
                let taken = batch.num_rows().min(args.rows - count);
                more = taken < batch.num_rows();
                count += taken;
                batches.push(batch.slice(0, taken));
                if more {
                    break;
                }
            }
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(schema));
            }
            let table = pretty_format_batches(&batches).map_err(|error| Ended::Failed(error.to_string()))?;
            let mut out = io::stdout().lock();
            writeln!(out, "{table}").map_err(unwritten)?;
            if more {
                writeln!(out, "the first {count} rows; --rows shows more").map_err(unwritten)?;
            }
            Ok(())
        }
        None => {
            let mut writer =
                Writer::new(format, schema, Box::new(BufWriter::with_capacity(1 << 16, io::stdout())))?;
            while let Some(batch) = rows.next().await {
                writer.write(&batch?)?;
            }
            writer.finish()
        }
        Some(path) => {
            let mut file =
                Replacement::create(path, Access::Usual).map_err(|error| unwritable(path, &error))?;
            {
                let mut writer = Writer::new(format, schema, Box::new(BufWriter::new(Shared(&mut file))))?;
                while let Some(batch) = rows.next().await {
                    writer.write(&batch?)?;
                }
                writer.finish()?;
            }
            file.place().map_err(|error| unwritable(path, &error))
        }
    }
}

struct Shared<'f>(&'f mut Replacement);

impl Write for Shared<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn format_of(args: &Args) -> Result<Format, Ended> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = &args.output else {
        return Ok(if io::stdout().is_terminal() { Format::Table } else { Format::Jsonl });
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => Ok(Format::Parquet),
        Some("arrow" | "feather" | "ipc") => Ok(Format::Arrow),
        Some("csv") => Ok(Format::Csv),
        Some("json" | "jsonl" | "ndjson") => Ok(Format::Jsonl),
        _ => Err(Ended::Usage(format!("`{}` does not say its format; set --format", path.display()))),
    }
}

type Out<'w> = Box<dyn Write + Send + 'w>;

enum Writer<'w> {
    Jsonl(Option<Out<'w>>),
    Csv(Option<Out<'w>>, bool),
    Arrow(Box<FileWriter<Out<'w>>>),
    Parquet(Box<ArrowWriter<Out<'w>>>),
}

impl<'w> Writer<'w> {
    fn new(format: Format, schema: SchemaRef, out: Out<'w>) -> Result<Writer<'w>, Ended> {
        let failed = |error: &dyn std::fmt::Display| Ended::Failed(error.to_string());
        Ok(match format {
            Format::Table | Format::Jsonl => Writer::Jsonl(Some(out)),
            Format::Csv => Writer::Csv(Some(out), true),
            Format::Arrow => {
                Writer::Arrow(Box::new(FileWriter::try_new(out, &schema).map_err(|error| failed(&error))?))
            }
            Format::Parquet => {
                let writer = ArrowWriter::try_new(out, schema, None).map_err(|error| failed(&error))?;
                Writer::Parquet(Box::new(writer))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Ended> {
        let failed = |error: datafusion::arrow::error::ArrowError| Ended::from_arrow(error);
        match self {
            Writer::Jsonl(out) => {
                let Some(taken) = out.take() else { return Ok(()) };
                let mut writer =
                    WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(taken);
                let written = writer.write(batch);
                *out = Some(writer.into_inner());
                written.map_err(failed)
            }
            Writer::Csv(out, is_first) => {
                let Some(taken) = out.take() else { return Ok(()) };
                let mut writer = csv::WriterBuilder::new().with_header(*is_first).build(taken);
                let written = writer.write(batch);
                (*out, *is_first) = (Some(writer.into_inner()), false);
                written.map_err(failed)
            }
            Writer::Arrow(writer) => writer.write(batch).map_err(failed),
            Writer::Parquet(writer) => writer.write(batch).map_err(|error| Ended::Failed(error.to_string())),
        }
    }

    fn finish(self) -> Result<(), Ended> {
        match self {
            Writer::Jsonl(out) | Writer::Csv(out, _) => {
                out.map_or(Ok(()), |mut out| out.flush()).map_err(unwritten)
            }
            Writer::Arrow(mut writer) => writer.finish().map_err(Ended::from_arrow),
            Writer::Parquet(writer) => {
                writer.close().map(|_| ()).map_err(|error| Ended::Failed(error.to_string()))
            }
        }
    }
}

impl Ended {
    fn from_arrow(error: datafusion::arrow::error::ArrowError) -> Ended {
        match error {
            datafusion::arrow::error::ArrowError::IoError(_, error) => unwritten(error),
            other => Ended::Failed(other.to_string()),
        }
    }
}

/// `ptc sql … | head` is no error.
fn unwritten(error: io::Error) -> Ended {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ended::Closed,
        _ => Ended::Failed(format!("cannot write the result: {error}")),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Ended {
    Ended::Usage(format!("cannot write `{}`: {error}", path.display()))
}
