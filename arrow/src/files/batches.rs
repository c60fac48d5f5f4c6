//! Sources of record batches, one for each format.

use super::guard::Damage;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Fields};
use ptc_runtime::{Condition, Projection};

/// Rows that are decoded at one time.
pub(super) const ROWS: usize = 1024;

/// Source of the batches of a file.
pub(super) trait Batches: Send {
    /// Returns the next batch, which may lack columns that are not observed; None at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>, Damage>;

    /// Skips parts that hold nothing a filter lets through; returns which, if any may be skipped.
    fn skip(&mut self, _: Vec<Condition>) -> Option<String> {
        None
    }

    /// Returns the number of rows skipped since the last time.
    fn take_skipped(&mut self) -> u64 {
        0
    }

    /// Names the part of the file that is read: `row group 2 of 3`.
    fn place(&self) -> String;
}

/// True if the leaf of this path is observed: `parts` are the names that lead to it, from the columns of the table on.
pub(super) fn is_observed(parts: &[String], fields: &Fields, projection: &Projection) -> bool {
    let [name, rest @ ..] = parts else { return true };
    let Some(part) = projection.member(name) else { return false };
    match fields.iter().find(|field| field.name() == name).map(|field| field.data_type()) {
        // A struct of which only the presence is observed is decoded all the same.
        Some(DataType::Struct(inner)) if inner.iter().any(|field| part.member(field.name()).is_some()) => {
            is_observed(rest, inner, &part)
        }
        _ => true,
    }
}
