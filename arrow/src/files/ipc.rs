//! Files of Arrow IPC, one record batch at a time.
//!
//! The blocks are read here and not by Arrow's own reader, which asks for as much memory as a file claims to need.

use super::batches::Batches;
use super::guard::{Damage, guarded};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;
use ptc_runtime::Projection;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// Length of what ends a file: the length of the footer, and `ARROW1`.
const TRAILER: usize = 10;

/// Bytes of one batch, and of one of its buffers once it is unpacked.
const MAX_BATCH_BYTES: u64 = 4 << 30;

/// Rows of one batch. A column of nulls takes no room, so a file may claim any number.
const MAX_BATCH_ROWS: i64 = 1 << 28;

/// The record batches of a file.
pub(super) struct Blocks {
    file: File,
    bytes: u64,
    schema: SchemaRef,
    decoder: FileDecoder,
    blocks: Vec<Block>,
    at: usize,
}

impl Blocks {
    pub fn open(mut file: File, projection: &Projection) -> Result<Blocks, Damage> {
        let bytes = file.metadata()?.len();
        let footer = footer(&mut file, bytes)?;
        guarded(|| {
            let footer = root_as_footer(&footer).map_err(Damage::told)?;
            let Some(schema) = footer.schema() else { return Err(Damage::told("it has no schema")) };
            if !schema.endianness().equals_to_target_endianness() {
                return Err(Damage::told("its bytes are in the other order"));
            }
            let schema: SchemaRef = Arc::new(fb_to_schema(schema));
            let names = schema.fields().iter().enumerate();
            let observed = names.filter(|(_, field)| projection.member(field.name()).is_some());
            let decoder = FileDecoder::new(schema.clone(), footer.version())
                .with_projection(observed.map(|(at, _)| at).collect());
            let blocks = footer.recordBatches().iter().flatten().copied().collect();
            let mut read = Blocks { file, bytes, schema, decoder, blocks, at: 0 };
            for block in footer.dictionaries().iter().flatten() {
                let data = read.block(block)?;
                read.decoder.read_dictionary(block, &data)?;
            }
            Ok(read)
        })
    }

    /// Returns the types of all columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Reads a block, if the file has as many bytes as the block claims.
    fn block(&mut self, block: &Block) -> Result<Buffer, Damage> {
        let size = |n: i64| u64::try_from(n).ok();
        let head = size(i64::from(block.metaDataLength()));
        let whole = head.zip(size(block.bodyLength())).and_then(|(head, body)| head.checked_add(body));
        let end = size(block.offset()).zip(whole).and_then(|(offset, whole)| offset.checked_add(whole));
        let (Some(head), Some(whole), Some(end)) = (head, whole, end) else {
            return Err(Damage::told("a block has a negative size"));
        };
        if end > self.bytes || whole > MAX_BATCH_BYTES {
            return Err(Damage::Told(format!("a block claims {whole} bytes of a file of {}", self.bytes)));
        }
        let mut data = vec![0; whole as usize];
        self.file.seek(SeekFrom::Start(block.offset() as u64))?;
        self.file.read_exact(&mut data)?;
        check_sizes(&data, head as usize)?;
        Ok(Buffer::from_vec(data))
    }
}

impl Batches for Blocks {
    fn next(&mut self) -> Result<Option<RecordBatch>, Damage> {
        while let Some(block) = self.blocks.get(self.at).copied() {
            let data = guarded(|| self.block(&block))?;
            let batch = guarded(|| Ok(self.decoder.read_record_batch(&block, &data)?))?;
            self.at += 1;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }

    fn place(&self) -> String {
        format!("batch {} of {}", self.at + 1, self.blocks.len())
    }
}

/// Reads the footer, if the file has as many bytes as it claims.
fn footer(file: &mut File, bytes: u64) -> Result<Vec<u8>, Damage> {
    if bytes < TRAILER as u64 {
        return Err(Damage::told("it is too short"));
    }
    let mut trailer = [0; TRAILER];
    file.seek(SeekFrom::End(-(TRAILER as i64)))?;
    file.read_exact(&mut trailer)?;
    let length = read_footer_length(trailer)?;
    let Some(start) = (bytes - TRAILER as u64).checked_sub(length as u64) else {
        return Err(Damage::Told(format!("its footer claims {length} bytes of a file of {bytes}")));
    };
    let mut footer = vec![0; length];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut footer)?;
    Ok(footer)
}

/// Refuses a batch whose rows or unpacked buffers cannot be true, before memory is asked for them.
fn check_sizes(data: &[u8], head: usize) -> Result<(), Damage> {
    // The message begins after its length, and newer files put four bytes before that.
    let (prefix, body) = data.split_at_checked(head).unwrap_or((data, &[]));
    let start = if prefix.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = root_as_message(prefix.get(start..).unwrap_or_default()).map_err(Damage::told)?;
    let batch = message.header_as_record_batch();
    let batch =
        batch.or_else(|| message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()));
    let Some(batch) = batch else { return Ok(()) };
    if !(0..=MAX_BATCH_ROWS).contains(&batch.length()) {
        return Err(Damage::Told(format!("a batch claims {} rows", batch.length())));
    }
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().iter().flatten() {
        let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let length =
            body.get(start..).and_then(|rest| rest.first_chunk::<8>()).map(|n| i64::from_le_bytes(*n));
        let packed = u64::try_from(buffer.length()).unwrap_or(0);
        // No codec packs more than a thousandfold but for runs of one byte, so that a claim beyond that is damage.
        let most = packed.saturating_mul(1 << 16).min(MAX_BATCH_BYTES);
        if packed > 0 && length.is_some_and(|length| length > 0 && length as u64 > most) {
            return Err(Damage::Told(format!(
                "a buffer of {packed} bytes claims {} unpacked",
                length.unwrap_or(0)
            )));
        }
    }
    Ok(())
}
