//! Writers of files.

use super::Format;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};

/// Writes batches of one schema to a file.
pub struct Writer<W: Write + Send>(Kind<W>);

enum Kind<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file. CSV has no lists and structs, so they are refused with the name of their column.
    pub fn new(format: Format, output: W, schema: &SchemaRef) -> io::Result<Writer<W>> {
        Ok(Writer(match format {
            Format::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(output, schema.clone(), Some(properties));
                Kind::Parquet(Box::new(writer.map_err(|error| parquet_error(&error))?))
            }
            Format::Arrow => Kind::Arrow(Box::new(FileWriter::try_new(output, schema).map_err(arrow_error)?)),
            Format::Csv => {
                if let Some(field) = schema.fields().iter().find(|field| field.data_type().is_nested()) {
                    let message = format!(
                        "the column `{}` has the type {}, which CSV does not have; write JSON lines or Parquet",
                        field.name(),
                        field.data_type()
                    );
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
                }
                let mut writer = csv::Writer::from_writer(output);
                writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(csv_error)?;
                Kind::Csv(Box::new(writer))
            }
        }))
    }

    /// Writes a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match &mut self.0 {
            Kind::Parquet(writer) => writer.write(batch).map_err(|error| parquet_error(&error)),
            Kind::Arrow(writer) => writer.write(batch).map_err(arrow_error),
            Kind::Csv(writer) => write_text(writer, batch),
        }
    }

    /// Ends the file, and returns what it was written to.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Kind::Parquet(writer) => writer.into_inner().map_err(|error| parquet_error(&error)),
            Kind::Arrow(mut writer) => {
                writer.finish().map_err(arrow_error)?;
                writer.into_inner().map_err(arrow_error)
            }
            Kind::Csv(writer) => writer.into_inner().map_err(csv::IntoInnerError::into_error),
        }
    }
}

fn write_text<W: Write>(writer: &mut csv::Writer<W>, batch: &RecordBatch) -> io::Result<()> {
    let options = FormatOptions::new().with_display_error(false);
    let columns: Result<Vec<ArrayFormatter<'_>>, ArrowError> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options)).collect();
    let columns = columns.map_err(arrow_error)?;
    for row in 0..batch.num_rows() {
        for (formatter, column) in columns.iter().zip(batch.columns()) {
            let text = match column.is_null(row) {
                true => String::new(),
                false => formatter.value(row).try_to_string().map_err(arrow_error)?,
            };
            writer.write_field(text).map_err(csv_error)?;
        }
        writer.write_record(None::<&[u8]>).map_err(csv_error)?;
    }
    Ok(())
}

fn arrow_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn csv_error(error: csv::Error) -> io::Error {
    error.into()
}

fn parquet_error(error: &parquet::errors::ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}
