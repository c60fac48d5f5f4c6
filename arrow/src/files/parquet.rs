//! Parquet files, one row group at a time.

mod skip;

use super::batches::{Batches, ROWS, is_observed};
use super::guard::{Damage, guarded};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use ptc_runtime::{Condition, Projection};
use std::fs::File;

/// Bytes of one row group once it is unpacked, as the file claims. The decoder believes such claims.
const MAX_GROUP_BYTES: i64 = 4 << 30;

/// The row groups of a file.
pub(super) struct Groups {
    file: File,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// The row group that is read, from 0, and its reader once it is open.
    group: usize,
    batches: Option<ParquetRecordBatchReader>,
    conditions: Vec<Condition>,
    /// Rows of groups that were skipped since the last batch.
    skipped: u64,
}

impl Groups {
    pub fn open(file: File, projection: &Projection) -> Result<Groups, Damage> {
        guarded(|| {
            let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())?;
            let mask = mask(&metadata, projection);
            Ok(Groups { file, metadata, mask, group: 0, batches: None, conditions: Vec::new(), skipped: 0 })
        })
    }

    /// Returns the types of all columns.
    pub fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    fn is_excluded(&self, group: usize) -> bool {
        let group = self.metadata.metadata().row_group(group);
        skip::is_excluded(group, self.metadata.schema(), &self.conditions)
    }

    fn open_group(&self) -> Result<ParquetRecordBatchReader, Damage> {
        let size = self.file.metadata()?.len();
        check_sizes(self.metadata.metadata().row_group(self.group), size)?;
        let file = self.file.try_clone()?;
        guarded(|| {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![self.group])
                .with_projection(self.mask.clone())
                .with_batch_size(ROWS)
                .build()?;
            Ok(reader)
        })
    }
}

impl Batches for Groups {
    fn next(&mut self) -> Result<Option<RecordBatch>, Damage> {
        while self.group < self.metadata.metadata().num_row_groups() {
            if self.batches.is_none() && self.is_excluded(self.group) {
                let rows = self.metadata.metadata().row_group(self.group).num_rows();
                self.skipped += u64::try_from(rows).unwrap_or(0);
                self.group += 1;
                continue;
            }
            let mut batches = match self.batches.take() {
                Some(batches) => batches,
                None => self.open_group()?,
            };
            if let Some(batch) = guarded(|| Ok(batches.next().transpose()?))? {
                self.batches = Some(batches);
                return Ok(Some(batch));
            }
            self.group += 1;
        }
        Ok(None)
    }

    fn skip(&mut self, conditions: Vec<Condition>) -> Option<String> {
        self.conditions = conditions;
        let groups = self.metadata.metadata().num_row_groups();
        let count = (0..groups).filter(|group| self.is_excluded(*group)).count();
        let conditions: Vec<String> = self.conditions.iter().map(skip::shown).collect();
        (!conditions.is_empty())
            .then(|| format!("{count} of {groups} row groups, by {}", conditions.join(" and ")))
    }

    fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }

    fn place(&self) -> String {
        format!("row group {} of {}", self.group + 1, self.metadata.metadata().num_row_groups())
    }
}

/// Chooses the leaves that are decoded.
fn mask(metadata: &ArrowReaderMetadata, projection: &Projection) -> ProjectionMask {
    let schema = metadata.parquet_schema();
    let leaves = schema.columns().iter().enumerate();
    let observed =
        leaves.filter(|(_, leaf)| is_observed(leaf.path().parts(), metadata.schema().fields(), projection));
    ProjectionMask::leaves(schema, observed.map(|(at, _)| at).collect::<Vec<_>>())
}

/// Refuses sizes that cannot be true, before memory is asked for them.
fn check_sizes(group: &RowGroupMetaData, file_bytes: u64) -> Result<(), Damage> {
    let mut unpacked: i64 = 0;
    for column in group.columns() {
        let packed = column.compressed_size();
        if u64::try_from(packed).is_ok_and(|packed| packed <= file_bytes) && column.uncompressed_size() >= 0 {
            unpacked = unpacked.saturating_add(column.uncompressed_size());
            continue;
        }
        let name = column.column_path().string();
        return Err(Damage::Told(format!(
            "the column `{name}` claims {packed} bytes of a file of {file_bytes}"
        )));
    }
    if unpacked > MAX_GROUP_BYTES {
        let message =
            format!("it claims {unpacked} bytes, but at most {MAX_GROUP_BYTES} can be read at once");
        return Err(Damage::Told(message));
    }
    Ok(())
}
