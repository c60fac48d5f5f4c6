//! Lines of bounded length. Longer lines are counted and searched for their id, but not kept.

use crate::transport::inflow::Inflow;
use crate::transport::scan::Scan;
use rmcp::model::RequestId;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Buffer memory kept between lines, in bytes.
const KEPT: usize = 64 * 1024;

/// Reader of lines.
pub(super) struct Lines<'i, R> {
    reader: R,
    max: usize,
    line: Vec<u8>,
    /// Budget for bytes that are read but not kept.
    inflow: &'i Inflow,
}

/// One line.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Line<'l> {
    /// A complete line, without its line break.
    Whole(&'l [u8]),
    /// A line that was too long: its length, and the request it would have answered.
    TooLong { bytes: u64, id: Option<RequestId> },
}

impl<'i, R: AsyncBufRead + Unpin> Lines<'i, R> {
    pub(super) fn new(reader: R, max: u64, inflow: &'i Inflow) -> Lines<'i, R> {
        Lines { reader, max: usize::try_from(max).unwrap_or(usize::MAX), line: Vec::new(), inflow }
    }

    /// Returns the next line; None at the end.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line<'_>>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        loop {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                return Ok(if self.line.is_empty() { None } else { Some(Line::Whole(&self.line)) });
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let text = &piece[..end.unwrap_or(piece.len())];
            if self.line.len() + text.len() > self.max {
                return self.skip().await.map(Some);
            }
            self.line.extend_from_slice(text);
            let used = text.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(Line::Whole(&self.line)));
            }
        }
    }

    /// Skips the rest of a line that is too long.
    async fn skip(&mut self) -> std::io::Result<Line<'_>> {
        let mut scan = Scan::default();
        let mut bytes = self.line.len() as u64;
        scan.feed(&self.line);
        self.line = Vec::new();
        loop {
            let piece = self.reader.fill_buf().await?;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let text = &piece[..end.unwrap_or(piece.len())];
            scan.feed(text);
            bytes += text.len() as u64;
            let done = end.is_some() || piece.is_empty();
            let used = text.len() + usize::from(end.is_some());
            self.reader.consume(used);
            // Such a line may never end.
            self.inflow.pace(0, used as u64).await;
            if done {
                return Ok(Line::TooLong { bytes, id: scan.id() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    /// Reads all lines through a buffer of this size.
    async fn read(text: &str, max: u64, buffer: usize) -> Vec<String> {
        let inflow = Inflow::new("test");
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text.as_bytes()), max, &inflow);
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.expect("bytes in memory") {
            read.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong { bytes, id } => format!("{bytes} bytes for {id:?}"),
            });
        }
        read
    }

    #[tokio::test]
    async fn what_is_too_long_is_skipped_and_the_next_line_is_whole() {
        let text = "{\"id\":1}\n\n{\"result\":\"xxxxxxxxxxxxxxxxxxxx\",\"id\":2}\n{\"id\":3}";
        let expected = ["{\"id\":1}", "", "40 bytes for Some(Number(2))", "{\"id\":3}"];
        for buffer in 1..text.len() + 2 {
            assert_eq!(read(text, 20, buffer).await, expected, "through {buffer} bytes");
        }
        assert_eq!(read(&"x".repeat(30), 20, 7).await, ["30 bytes for None"]);
    }
}
