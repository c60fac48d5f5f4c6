//! Splitter of a byte stream into chunks of whole lines; it holds at most a block or one line.

use memchr::memchr_iter;
use std::io::{self, ErrorKind, Read};

/// Bytes requested per read.
const BLOCK: usize = 256 << 10;

/// A chunk of whole lines.
#[derive(Default)]
pub(super) struct Chunk {
    /// Number of the first line, from 1.
    pub first: u64,
    /// Bytes of the lines, each but perhaps the last with its line end; empty for a line that is too long.
    pub bytes: Vec<u8>,
    /// True if the only line of this chunk is longer than allowed.
    pub too_long: bool,
}

impl Chunk {
    /// Iterates over the lines that are not blank, with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let ends = memchr_iter(b'\n', &self.bytes).chain(Some(self.bytes.len()));
        let mut start = 0;
        let lines = ends.map(move |end| {
            let line = self.bytes[start..end].trim_ascii();
            start = end + 1;
            line
        });
        (self.first..).zip(lines).filter(|(_, line)| !line.is_empty())
    }

    /// Drops everything after the first `most` lines that are not blank; returns the number of those kept.
    pub fn cut(&mut self, most: u64) -> u64 {
        if self.too_long {
            return 1;
        }
        let mut kept = 0;
        let mut start = 0;
        for end in memchr_iter(b'\n', &self.bytes).chain(Some(self.bytes.len())) {
            let Some(line) = self.bytes.get(start..end) else { break };
            kept += u64::from(!line.trim_ascii().is_empty());
            start = end + 1;
            if kept == most {
                break;
            }
        }
        self.bytes.truncate(start);
        kept
    }
}

/// Reader of chunks of lines.
pub(super) struct Lines<R> {
    input: R,
    /// Bytes read: `buffer[start..end]` is not delivered yet, and `buffer[start..searched]` has no line end.
    buffer: Vec<u8>,
    start: usize,
    searched: usize,
    end: usize,
    /// Number of the line at `start`.
    line: u64,
    max_line: usize,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R, max_line: usize) -> Lines<R> {
        let buffer = vec![0; BLOCK];
        Lines { input, buffer, start: 0, searched: 0, end: 0, line: 1, max_line, ended: false }
    }

    /// Returns the next lines, at most `most` of them; None at the end. Takes the lines that are there instead of
    /// waiting for more, so that a slow writer gets its results.
    pub fn next(&mut self, most: usize) -> io::Result<Option<Chunk>> {
        loop {
            let (mut end, mut count) = (self.start, 0);
            for at in memchr_iter(b'\n', &self.buffer[self.searched..self.end]).take(most) {
                let at = self.searched + at;
                if at - end > self.max_line {
                    if count == 0 {
                        self.start = at + 1;
                        self.searched = self.start;
                        return Ok(Some(self.too_long()));
                    }
                    break;
                }
                (end, count) = (at + 1, count + 1);
            }
            if count > 0 {
                return Ok(Some(self.take(end, count)));
            }
            self.searched = self.end;
            if self.end - self.start > self.max_line {
                self.skip_line()?;
                return Ok(Some(self.too_long()));
            }
            if self.ended {
                let chunk = (self.end > self.start).then(|| self.take(self.end, 1));
                return Ok(chunk);
            }
            self.fill()?;
        }
    }

    fn take(&mut self, end: usize, lines: u64) -> Chunk {
        let mut bytes = &self.buffer[self.start..end];
        if self.line == 1 {
            // Some programs put a byte order mark at the start of a UTF-8 file.
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let chunk = Chunk { first: self.line, bytes: bytes.to_vec(), too_long: false };
        self.start = end;
        self.searched = end;
        self.line += lines;
        chunk
    }

    fn too_long(&mut self) -> Chunk {
        self.line += 1;
        Chunk { first: self.line - 1, bytes: Vec::new(), too_long: true }
    }

    /// Skips the rest of a line without keeping it.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            self.start = self.end;
            self.searched = self.end;
            if self.ended {
                return Ok(());
            }
            self.fill()?;
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                self.searched = self.start;
                return Ok(());
            }
        }
    }

    /// Reads once into the buffer.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
            if self.buffer.len() > 4 * BLOCK && self.end < BLOCK {
                // After a long line, its memory is released.
                self.buffer.truncate(BLOCK);
                self.buffer.shrink_to_fit();
            }
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

/// Maximum lines and bytes of a part.
const PART_LINES: u64 = 4096;
const PART_BYTES: usize = 256 << 10;

/// Reader of parts of the input that depend on its content alone, not on the size of each read as the chunks of
/// [`Lines`] do.
pub(super) struct Parts<R> {
    lines: Lines<R>,
    /// Lines read beyond the part before.
    rest: Option<Chunk>,
}

impl<R: Read> Parts<R> {
    pub fn new(input: R, max_line: usize) -> Parts<R> {
        Parts { lines: Lines::new(input, max_line), rest: None }
    }

    /// Returns the next part; None at the end.
    pub fn next(&mut self) -> io::Result<Option<Chunk>> {
        let mut part: Option<Chunk> = None;
        let mut count = 0;
        loop {
            let more = match self.rest.take() {
                Some(rest) => Some(rest),
                None => self.lines.next(PART_LINES as usize)?,
            };
            let Some(more) = more else { return Ok(part) };
            let Some(part) = &mut part else {
                if more.too_long {
                    return Ok(Some(more));
                }
                part = Some(Chunk { first: more.first, bytes: Vec::new(), too_long: false });
                self.rest = Some(more);
                continue;
            };
            if more.too_long {
                self.rest = Some(more);
                return Ok(Some(std::mem::take(part)));
            }
            let mut used = 0;
            for line in more.bytes.split_inclusive(|byte| *byte == b'\n') {
                if count == PART_LINES || (count > 0 && part.bytes.len() + line.len() > PART_BYTES) {
                    break;
                }
                part.bytes.extend_from_slice(line);
                used += line.len();
                count += 1;
            }
            if used < more.bytes.len() {
                let bytes = more.bytes[used..].to_vec();
                self.rest = Some(Chunk { first: part.first + count, bytes, too_long: false });
                return Ok(Some(std::mem::take(part)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Lines, Parts};
    use std::io::Read;

    /// Reader that gives one byte at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(&mut into[..1])
        }
    }

    fn shown(input: impl Read, max_line: usize, most: usize) -> Vec<String> {
        let mut lines = Lines::new(input, max_line);
        let mut found = Vec::new();
        while let Some(chunk) = lines.next(most).unwrap() {
            if chunk.too_long {
                found.push(format!("{} too long", chunk.first));
            }
            found.extend(chunk.lines().map(|(n, line)| format!("{n} {}", String::from_utf8_lossy(line))));
        }
        found
    }

    #[test]
    fn lines_have_numbers_however_they_arrive() {
        let text = b"\xef\xbb\xbfa\r\n\n  \nb\nccc\n\nd";
        for most in [1, 2, 100] {
            let expected = ["1 a", "4 b", "5 ccc", "7 d"];
            assert_eq!(shown(&text[..], 100, most), expected);
            assert_eq!(shown(Drip(text), 100, most), expected);
        }
        assert!(shown(&b""[..], 100, 5).is_empty() && shown(&b"\n\n"[..], 100, 5).is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let text = b"ab\nabcdef\nab\nabcdefg\nabcd";
        for most in [1, 100] {
            let expected = ["1 ab", "2 too long", "3 ab", "4 too long", "5 abcd"];
            assert_eq!(shown(Drip(text), 4, most), expected);
            assert_eq!(shown(&text[..], 4, most), expected);
        }
        assert_eq!(shown(&b"abcdef"[..], 4, 9), ["1 too long"]);
    }

    #[test]
    fn a_line_longer_than_a_block_is_one_line() {
        let long = "x".repeat(3 * super::BLOCK);
        let text = format!("a\n{long}\nb");
        assert_eq!(shown(text.as_bytes(), usize::MAX, 9), ["1 a".into(), format!("2 {long}"), "3 b".into()]);
        assert_eq!(shown(text.as_bytes(), super::BLOCK, 9), ["1 a", "2 too long", "3 b"]);
    }

    #[test]
    fn a_chunk_is_cut_after_records() {
        let cut = |text: &str, most| {
            let mut chunk = Chunk { first: 1, bytes: text.into(), too_long: false };
            let kept = chunk.cut(most);
            (kept, String::from_utf8(chunk.bytes).unwrap())
        };
        assert_eq!(cut("a\n\nb\nc\n", 2), (2, "a\n\nb\n".into()));
        assert_eq!(cut("a\nb", 2), (2, "a\nb".into()));
        assert_eq!(cut("a\nb", 9), (2, "a\nb".into()));
    }

    #[test]
    fn parts_do_not_depend_on_how_the_input_arrives() {
        let line = |n: u64| match n % 1000 {
            7 => "x".repeat(900),
            8 => "x".repeat(5000),
            9 => String::new(),
            _ => n.to_string(),
        };
        let text: String = (1..=20_000).map(|n| line(n) + "\n").collect();
        let cut = |input: &mut dyn Read| {
            let mut parts = Parts::new(input, 1000);
            let mut found = Vec::new();
            while let Some(part) = parts.next().unwrap() {
                found.push((part.first, part.too_long, part.bytes));
            }
            found
        };
        let whole = cut(&mut text.as_bytes());
        assert!(whole == cut(&mut Drip(text.as_bytes())));
        let mut next = 1;
        for (first, too_long, bytes) in &whole {
            assert_eq!((*first, *too_long), (next, (next % 1000) == 8));
            assert!(bytes.len() <= super::PART_BYTES);
            next += if *too_long { 1 } else { bytes.iter().filter(|byte| **byte == b'\n').count() as u64 };
        }
        assert_eq!(next, 20_001);
    }
}
