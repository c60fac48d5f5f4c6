//! Lines of bounded length from a stream: the rest of a longer line is skipped, not kept.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// One line, without its line break.
#[derive(PartialEq, Eq, Debug)]
pub enum Line {
    /// A complete line.
    Whole(Vec<u8>),
    /// A line that was too long.
    TooLong,
}

/// Reader of a stream's lines.
pub struct Lines<R> {
    input: BufReader<R>,
    most: u64,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(input: R, most: u64) -> Lines<R> {
        Lines { input: BufReader::with_capacity(64 << 10, input), most }
    }

    /// Returns the next line; None at the end, also for a last line without line break.
    pub async fn next(&mut self) -> Option<Line> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let chunk = self.input.fill_buf().await.ok().filter(|chunk| !chunk.is_empty())?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            is_too_long |= (line.len() + part.len()) as u64 > self.most;
            if is_too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            let used = end.map_or(part.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if is_too_long {
            return Some(Line::TooLong);
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(Line::Whole(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_end_with_a_newline_and_have_a_longest() {
        let long = [b'x'; 200_000];
        let input = [&b"a\r\n\n"[..], &long, b"\nnext\n", &[b'y'; 9], b"\n", &[b'z'; 8], b"\nrest"].concat();
        let mut lines = Lines::new(&input[..], 8);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await {
            seen.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        let expected =
            [whole("a"), whole(""), Line::TooLong, whole("next"), Line::TooLong, whole("zzzzzzzz")];
        assert_eq!(seen, expected);
    }
}
