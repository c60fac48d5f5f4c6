//! Unpacking of compressed input: gzip and Zstandard, recognised by their first bytes.
//!
//! Nothing is unpacked before it is read, and lines have a maximum length, so that a small file which unpacks to
//! terabytes costs time and no memory.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes of packed input that are read at one time.
const BUFFER: usize = 128 << 10;

/// The most memory that a Zstandard file may ask for to be unpacked: what the tool `zstd` allows without a flag.
const MAX_WINDOW: u64 = 128 << 20;

/// A format of compressed files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// Recognises a compressed file by its first bytes.
    pub fn of_start(start: &[u8]) -> Option<Packing> {
        // Skippable frames, which may come first, have 16 numbers.
        let is_skippable = matches!(start, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => is_skippable.then_some(Packing::Zstd),
        }
    }

    /// Returns its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
        }
    }

    /// Unpacks what a reader gives.
    pub fn unpack(self, packed: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let packed = BufReader::with_capacity(BUFFER, packed);
        match self {
            Packing::Gzip => Box::new(Whole::new(MultiGzDecoder::new(packed))),
            Packing::Zstd => Box::new(Whole::new(Frames::new(packed))),
        }
    }
}

/// Reader that fills the buffers it is given, since decoders give little at a time, and every read costs its reader a
/// block.
struct Whole<R> {
    unpacked: R,
    /// An error after the bytes that were given last. A decoder is not used again after one.
    failed: Option<io::Error>,
}

impl<R: Read> Whole<R> {
    fn new(unpacked: R) -> Whole<R> {
        Whole { unpacked, failed: None }
    }

    /// Reads once. The bytes come from anywhere, so that a decoder which panics has found damage.
    fn read_once(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = catch_unwind(AssertUnwindSafe(|| self.unpacked.read(into)));
        read.unwrap_or_else(|_| Err(invalid("the data does not match its header")))
    }
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() && self.failed.is_none() {
            match self.read_once(&mut into[filled..]) {
                Ok(0) => return Ok(filled),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.failed = Some(error),
            }
        }
        match &self.failed {
            Some(error) if filled == 0 => Err(io::Error::new(error.kind(), error.to_string())),
            _ => Ok(filled),
        }
    }
}

/// Reader of the frames of a Zstandard file, of which there may be several.
struct Frames<R> {
    packed: R,
    decoder: FrameDecoder,
    /// True inside a frame.
    is_open: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(packed: R) -> Frames<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Frames { packed, decoder, is_open: false }
    }

    /// Begins the next frame, or passes over one that has no data.
    fn open(&mut self) -> io::Result<()> {
        match self.decoder.init(&mut self.packed) {
            Ok(()) => self.is_open = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let length = u64::from(length);
                if io::copy(&mut self.packed.by_ref().take(length), &mut io::sink())? < length {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(invalid(error)),
        }
        Ok(())
    }

    /// Ends a frame whose data has been read.
    fn close(&mut self) -> io::Result<()> {
        self.is_open = false;
        let told = self.decoder.get_checksum_from_data();
        match told.is_none() || told == self.decoder.get_calculated_checksum() {
            true => Ok(()),
            false => Err(invalid("a checksum does not match the data")),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                if self.packed.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.open()?;
                continue;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.packed, one).map_err(invalid)?;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            self.close()?;
        }
    }
}

/// Reader of a stream that may be compressed, as its first bytes say.
pub struct Unpacked {
    state: State,
}

enum State {
    /// Nothing has been read yet.
    New(Box<dyn Read + Send>),
    Known(Box<dyn Read + Send>),
}

impl Unpacked {
    pub fn new(stream: impl Read + Send + 'static) -> Unpacked {
        Unpacked { state: State::New(Box::new(stream)) }
    }
}

impl Read for Unpacked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let State::New(stream) = &mut self.state {
            let mut start = [0; 4];
            let mut known = 0;
            // Waits for more only if there is something that no text begins with.
            while known < start.len() && (known == 0 || is_packed_start(start[0])) {
                match stream.read(&mut start[known..]) {
                    Ok(0) => break,
                    Ok(count) => known += count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            let packing = Packing::of_start(&start[..known]);
            let stream = std::mem::replace(stream, Box::new(io::empty()));
            let whole = io::Cursor::new(start[..known].to_vec()).chain(stream);
            self.state = State::Known(match packing {
                Some(packing) => packing.unpack(whole),
                None => Box::new(whole),
            });
        }
        match &mut self.state {
            State::New(stream) | State::Known(stream) => stream.read(into),
        }
    }
}

/// True for the first byte of a compressed file.
fn is_packed_start(byte: u8) -> bool {
    matches!(byte, 0x1f | 0x28 | 0x50..=0x5f)
}

fn invalid(why: impl ToString) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_string())
}

#[cfg(test)]
mod tests {
    use super::Packing;
    use std::io::{Read, Write};

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn unpacked(packed: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let packing = Packing::of_start(packed).unwrap();
        packing.unpack(std::io::Cursor::new(packed.to_vec())).read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn files_of_several_parts_are_read_to_the_end() {
        let text = "a line of text\n".repeat(50_000).into_bytes();
        let skippable = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        for packed in [
            [gzip(&text), gzip(b""), gzip(&text)].concat(),
            [zstd(&text), zstd(b""), skippable.to_vec(), zstd(&text)].concat(),
            [skippable.to_vec(), zstd(&text), zstd(&text)].concat(),
        ] {
            assert!(unpacked(&packed).unwrap() == [&text[..], &text].concat());
        }
    }

    #[test]
    fn damage_is_an_error_or_other_text() {
        let text: Vec<u8> = (0..40_000_u32).flat_map(|n| (n * n).to_string().into_bytes()).collect();
        for packed in [gzip(&text), zstd(&text)] {
            let mut random = 7_u64;
            for at in (0..300).map(|n| n * packed.len() / 300) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let mut damaged = packed.clone();
                damaged[at] ^= (random >> 56) as u8 | 1;
                if Packing::of_start(&damaged).is_some() {
                    let _ = unpacked(&damaged);
                }
                if at > 8 {
                    assert!(unpacked(&packed[..at]).is_err(), "cut at {at} of {}", packed.len());
                }
            }
        }
    }
}
