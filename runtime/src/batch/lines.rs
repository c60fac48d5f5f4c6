//! Splitter of a byte stream into chunks of whole lines; it holds at most a block or one line.

use super::cut::Cut;
use super::pace::Pace;
use super::rows::Block;
use memchr::{memchr_iter, memrchr};
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes requested per read. Handing over a block wakes several threads, which should not cost more than its records.
const BLOCK: usize = 512 << 10;

/// Number of lines wanted from which on a block is handed over as a whole.
const MANY: usize = 1024;

/// Maximum blocks that are kept to be used again.
const MOST_USED: usize = 64;

/// Most bytes that a block may have for its chunks to share it. A chunk of a larger one, which a long line left behind, is
/// copied, so as not to keep all of it.
const SHARED: usize = 4 * BLOCK;

/// A chunk of whole lines: a part of a block that it shares with others.
#[derive(Clone, Default)]
pub(super) struct Chunk {
    /// Number of the first line, from 1.
    pub first: u64,
    block: Arc<Vec<u8>>,
    /// Place of the lines, each but perhaps the last with its line end; empty for a line that is too long.
    range: Range<usize>,
    /// True if the only line of this chunk is longer than allowed.
    pub too_long: bool,
}

impl Chunk {
    /// Returns the bytes of the lines.
    pub fn bytes(&self) -> &[u8] {
        &self.block[self.range.clone()]
    }

    /// Iterates over the lines that are not blank, with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let bytes = self.bytes();
        let ends = memchr_iter(b'\n', bytes).chain(Some(bytes.len()));
        let mut start = 0;
        let lines = ends.map(move |end| {
            let line = bytes[start..end].trim_ascii();
            start = end + 1;
            line
        });
        (self.first..).zip(lines).filter(|(_, line)| !line.is_empty())
    }

    /// Drops everything after the first `most` lines that are not blank; returns the number of those kept.
    pub fn cut(&mut self, most: u64) -> u64 {
        if self.too_long {
            return most.min(1);
        }
        let (mut kept, mut start) = (0, 0);
        let bytes = self.bytes();
        for end in memchr_iter(b'\n', bytes).chain(Some(bytes.len())) {
            if kept == most {
                break;
            }
            let Some(line) = bytes.get(start..end) else { break };
            kept += u64::from(!line.trim_ascii().is_empty());
            start = end + 1;
        }
        self.range.end = self.range.end.min(self.range.start + start);
        kept
    }

    /// Takes off the first `bytes`, which are `lines` whole lines.
    fn split_off_start(&mut self, bytes: usize, lines: u64) -> Chunk {
        let middle = self.range.start + bytes;
        let start = Chunk { range: self.range.start..middle, ..self.clone() };
        self.range.start = middle;
        self.first += lines;
        start
    }
}

/// Reader of chunks of lines.
pub(super) struct Lines<R> {
    input: R,
    /// Bytes read: `block[start..end]` is not delivered yet, and `block[start..searched]` has no line end. Chunks share it, so
    /// only a block without chunks is written to.
    block: Arc<Vec<u8>>,
    /// Earlier blocks, to be used again once all of their chunks are gone.
    used: Vec<Arc<Vec<u8>>>,
    start: usize,
    searched: usize,
    end: usize,
    /// Number of the line at `start`.
    line: u64,
    max_line: usize,
    /// True before the first line.
    is_start: bool,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Makes a reader whose lines are numbered from `first` on.
    pub fn new(input: R, max_line: usize, first: u64) -> Lines<R> {
        Lines {
            input,
            block: Arc::new(vec![0; BLOCK]),
            used: Vec::new(),
            start: 0,
            searched: 0,
            end: 0,
            line: first,
            max_line,
            is_start: true,
            ended: false,
        }
    }

    /// Returns the number of the line after those of all chunks so far.
    pub fn number(&self) -> u64 {
        self.line
    }

    /// Returns the next lines, at most `most` of them; None at the end. Takes the lines that are there instead of
    /// waiting for more, so that a slow writer gets its results.
    pub fn next(&mut self, most: usize) -> io::Result<Option<Chunk>> {
        loop {
            if let Some((end, count)) = self.all_lines(most) {
                return Ok(Some(self.take(end, count)));
            }
            let (mut end, mut count) = (self.start, 0);
            for at in memchr_iter(b'\n', &self.block[self.searched..self.end]).take(most) {
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

    /// Finds the end and the number of all whole lines of the block, if they are as many as wanted, and surely not too long.
    /// Counting them is much faster than finding each.
    fn all_lines(&self, most: usize) -> Option<(usize, u64)> {
        if most < MANY || self.end - self.start > self.max_line {
            return None;
        }
        let bytes = &self.block[self.searched..self.end];
        let end = self.searched + memrchr(b'\n', bytes)? + 1;
        let count = memchr_iter(b'\n', bytes).count();
        (count <= most).then_some((end, count as u64))
    }

    fn take(&mut self, end: usize, lines: u64) -> Chunk {
        let mut range = self.start..end;
        // Some programs put a byte order mark at the start of a UTF-8 file.
        if std::mem::take(&mut self.is_start) && self.block[range.clone()].starts_with(b"\xef\xbb\xbf") {
            range.start += 3;
        }
        let block = match self.block.len() > SHARED && range.len() < self.block.len() / 2 {
            true => {
                let copy = Arc::new(self.block[range.clone()].to_vec());
                range = 0..copy.len();
                copy
            }
            false => self.block.clone(),
        };
        let chunk = Chunk { first: self.line, block, range, too_long: false };
        self.start = end;
        self.searched = end;
        self.line += lines;
        chunk
    }

    fn too_long(&mut self) -> Chunk {
        self.is_start = false;
        self.line += 1;
        Chunk { first: self.line - 1, too_long: true, ..Chunk::default() }
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
            if let Some(at) = memchr::memchr(b'\n', &self.block[self.start..self.end]) {
                self.start += at + 1;
                self.searched = self.start;
                return Ok(());
            }
        }
    }

    /// Reads once into the block.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 || Arc::get_mut(&mut self.block).is_none() {
            self.change_block();
        }
        let Some(block) = Arc::get_mut(&mut self.block) else {
            return Err(io::Error::other("a block of input is shared"));
        };
        if self.end == block.len() {
            block.resize(2 * self.end, 0);
        }
        loop {
            match self.input.read(&mut block[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Moves the bytes that are left to the start of a block without chunks.
    fn change_block(&mut self) {
        let left = self.end - self.start;
        let free = self.used.iter_mut().position(|block| Arc::get_mut(block).is_some());
        let mut next = match free {
            Some(at) => self.used.swap_remove(at),
            None => Arc::default(),
        };
        if let Some(next) = Arc::get_mut(&mut next) {
            if next.len() < BLOCK.max(2 * left) {
                *next = vec![0; BLOCK.max(2 * left)];
            }
            next[..left].copy_from_slice(&self.block[self.start..self.end]);
        }
        let before = std::mem::replace(&mut self.block, next);
        // A long line's memory is released with its chunk.
        if before.len() <= SHARED && self.used.len() < MOST_USED {
            self.used.push(before);
        }
        (self.start, self.searched, self.end) = (0, self.searched - self.start, left);
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
    /// Makes a reader whose lines are numbered from `first` on.
    pub fn new(input: R, max_line: usize, first: u64) -> Parts<R> {
        Parts { lines: Lines::new(input, max_line, first), rest: None }
    }

    /// Returns the chunks of the next part; none at the end.
    pub fn next(&mut self) -> io::Result<Vec<Chunk>> {
        let mut part: Vec<Chunk> = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        loop {
            let more = match self.rest.take() {
                Some(rest) => Some(rest),
                None => self.lines.next(PART_LINES as usize)?,
            };
            let Some(mut more) = more else { return Ok(part) };
            if more.too_long {
                if part.is_empty() {
                    part.push(more);
                } else {
                    self.rest = Some(more);
                }
                return Ok(part);
            }
            let (mut lines, mut used) = (0, 0);
            for line in more.bytes().split_inclusive(|byte| *byte == b'\n') {
                if count == PART_LINES || (count > 0 && bytes + line.len() > PART_BYTES) {
                    break;
                }
                bytes += line.len();
                used += line.len();
                count += 1;
                lines += 1;
            }
            if used > 0 {
                part.push(more.split_off_start(used, lines));
            }
            if !more.bytes().is_empty() {
                self.rest = Some(more);
                return Ok(part);
            }
        }
    }
}

impl<R: Read> Cut for Parts<R> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        let chunks = Parts::next(self)?;
        Ok((!chunks.is_empty()).then_some(Block::Lines(chunks)))
    }

    fn number(&self) -> u64 {
        self.rest.as_ref().map_or(self.lines.number(), |rest| rest.first)
    }
}

/// Reader of chunks whose size follows the time that records take.
pub(super) struct Paced<R> {
    pub lines: Lines<R>,
    pub pace: Arc<Pace>,
}

impl<R: Read> Cut for Paced<R> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        let chunk = self.lines.next(self.pace.records())?;
        Ok(chunk.map(|chunk| Block::Lines(vec![chunk])))
    }

    fn number(&self) -> u64 {
        self.lines.number()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Parts};
    use std::io::Read;

    /// Reader that gives one byte at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(&mut into[..1])
        }
    }

    fn shown(input: impl Read, max_line: usize, most: usize) -> Vec<String> {
        let mut lines = Lines::new(input, max_line, 1);
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
            let mut chunk = Lines::new(text.as_bytes(), 99, 1).next(99).unwrap().unwrap();
            let kept = chunk.cut(most);
            (kept, String::from_utf8(chunk.bytes().to_vec()).unwrap())
        };
        assert_eq!(cut("a\n\nb\nc\n", 2), (2, "a\n\nb\n".into()));
        assert_eq!(cut("a\nb\n", 2), (2, "a\nb\n".into()));
        assert_eq!(cut("a\nb\n", 9), (2, "a\nb\n".into()));
        assert_eq!(cut("a\nb\n", 0), (0, String::new()));
        assert_eq!(cut("a", 1), (1, "a".into()));
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
            let mut parts = Parts::new(input, 1000, 1);
            let mut found = Vec::new();
            loop {
                let part = parts.next().unwrap();
                let Some(first) = part.first() else { return found };
                let bytes: Vec<u8> = part.iter().flat_map(|chunk| chunk.bytes()).copied().collect();
                found.push((first.first, first.too_long, bytes));
            }
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
