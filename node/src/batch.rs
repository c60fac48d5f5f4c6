//! Batches: a program over many records, on all cores.

use crate::cancel::JsCancel;
use crate::diagnostic::{JsDiagnostic, JsFailure};
use crate::engine::{JsCode, JsEngine};
use crate::frozen::JsGrants;
use crate::packed::{Packed, pack};
use crate::reader;
use napi::bindgen_prelude::spawn_blocking;
use napi_derive::napi;
use ptc::binding::When;
use ptc::runtime::bridge::datum_to_json_text;
use ptc::runtime::json::freeze_json;
use ptc::runtime::{Datum, Node};
use ptc::{Batch, Ending, Failure};
use std::sync::{Mutex, PoisonError};

/// Rows to run a program over, as JSON lines.
#[napi(js_name = "Rows")]
#[derive(Default)]
pub struct JsRows {
    text: Vec<u8>,
    /// True if some row is no map.
    has_others: bool,
}

#[napi]
impl JsRows {
    #[napi(constructor)]
    pub fn new() -> JsRows {
        JsRows::default()
    }

    /// Adds a row.
    #[napi]
    pub fn add(&mut self, numbers: &[f64], text: String) -> napi::Result<()> {
        let row = reader::datum(numbers, &text)?;
        let text = datum_to_json_text(&row, usize::MAX);
        let text = text.map_err(|fault| napi::Error::from_reason(fault.parts().message.clone()))?;
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
        self.has_others |= !matches!(row.nodes().last(), Some(Node::Map(_)));
        Ok(())
    }
}

/// How a batch runs.
#[napi(object)]
pub struct BatchSpec {
    pub threads: Option<u32>,
    /// The first row that fails ends the batch.
    pub fail_fast: bool,
}

/// A row that has no result.
#[napi(object)]
pub struct FailedRow {
    /// Index of the row, from 0.
    pub row: f64,
    pub failure: JsFailure,
}

/// Result of a batch.
#[napi(object)]
pub struct BatchParts {
    /// Values of the rows, in one vector; nil for a row that failed.
    pub values: Packed,
    pub failures: Vec<FailedRow>,
    /// Warnings about fields that the program reads but no row has.
    pub warnings: Vec<JsDiagnostic>,
    /// Time of the whole batch.
    pub seconds: f64,
}

/// A program that is about to run over rows.
#[napi(js_name = "BatchCore")]
pub struct JsBatch {
    work: Mutex<Option<Work>>,
}

struct Work {
    batch: Batch,
    rows: Vec<u8>,
    source: String,
    fail_fast: bool,
}

#[napi]
impl JsBatch {
    /// Prepares a batch. `data/row` is the row, and its members are `data/<member>`.
    #[napi]
    pub fn make(
        engine: &JsEngine,
        code: &JsCode,
        rows: &mut JsRows,
        grants: &JsGrants,
        cancel: &JsCancel,
        spec: BatchSpec,
    ) -> JsBatch {
        let mut batch = Batch::new(&engine.runtime, &code.program)
            .grants(grants.grants.clone().cancel(&cancel.cancel))
            .cancel(&cancel.cancel)
            .fields(!rows.has_others)
            .fail_fast(spec.fail_fast);
        if let Some(threads) = spec.threads {
            batch = batch.threads(threads as usize);
        }
        let source = code.program.source().to_string();
        let rows = std::mem::take(&mut rows.text);
        let work = Work { batch, rows, source, fail_fast: spec.fail_fast };
        JsBatch { work: Mutex::new(Some(work)) }
    }

    /// Runs it, on threads of its own.
    #[napi]
    pub async fn finish(&self) -> napi::Result<BatchParts> {
        let taken = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let work = taken.ok_or_else(|| napi::Error::from_reason("the batch has run"))?;
        let done = spawn_blocking(move || work.finish()).await;
        done.map_err(|error| napi::Error::from_reason(error.to_string()))?
    }
}

impl Work {
    fn finish(self) -> napi::Result<BatchParts> {
        let (mut results, mut failed) = (Vec::new(), Vec::<(u64, Failure)>::new());
        let summary = self.batch.lines(&*self.rows, &mut results, |line, failure| {
            failed.push((line - 1, failure));
            Ok(())
        });
        match &summary.ending {
            Ending::Complete | Ending::Cancelled => {}
            Ending::Failed if self.fail_fast => {}
            ending => {
                return Err(napi::Error::from_reason(format!("the batch ended early: {ending:?}")));
            }
        }
        failed.sort_by_key(|(row, _)| *row);
        let is_whole = matches!(summary.ending, Ending::Complete);
        let values =
            if is_whole { values(&results, &failed, summary.records)? } else { Datum::scalar(Node::Nil) };
        let told = |(row, failure): &(u64, Failure)| FailedRow {
            row: *row as f64,
            failure: JsFailure::new(failure, When::Running),
        };
        Ok(BatchParts {
            values: pack(&values),
            failures: failed.iter().map(told).collect(),
            warnings: JsDiagnostic::list(&self.batch.warnings(), &self.source),
            seconds: summary.elapsed.as_secs_f64(),
        })
    }
}

/// Makes a vector of the results, which are JSON lines, with nil where a row failed.
fn values(results: &[u8], failed: &[(u64, Failure)], records: u64) -> napi::Result<Datum> {
    let mut nodes = Vec::new();
    let mut lines = results.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut failed = failed.iter().map(|(row, _)| *row).peekable();
    for row in 0..records {
        let line = if failed.next_if_eq(&row).is_some() { None } else { lines.next() };
        let Some(line) = line else {
            nodes.push(Node::Nil);
            continue;
        };
        let frozen =
            freeze_json(line, u64::MAX).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let datum = frozen.to_datum(usize::MAX);
        let datum = datum.map_err(|fault| napi::Error::from_reason(fault.parts().message.clone()))?;
        nodes.extend_from_slice(datum.nodes());
    }
    let count = u32::try_from(records).ok();
    nodes.extend(count.map(Node::Vector));
    Datum::new(nodes).ok_or_else(|| napi::Error::from_reason("a batch of 2³² rows or more"))
}
