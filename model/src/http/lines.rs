//! Replies that arrive as JSON lines.

use futures_util::{Stream, StreamExt};

/// Splitter of a byte stream into lines. The creator of the stream bounds its size.
pub(super) struct Lines<S> {
    bytes: S,
    /// Bytes that have arrived and are not returned yet.
    kept: Vec<u8>,
    /// Start of the next line.
    start: usize,
    /// Position up to which no line ends.
    seen: usize,
}

impl<S, B, E> Lines<S>
where
    S: Stream<Item = Result<B, E>> + Unpin,
    B: AsRef<[u8]>,
{
    pub fn new(bytes: S) -> Lines<S> {
        Lines { bytes, kept: Vec::new(), start: 0, seen: 0 }
    }

    /// Returns the next line with its line end, which the last one may lack.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, E>> {
        loop {
            if let Some(at) = self.kept[self.seen..].iter().position(|byte| *byte == b'\n') {
                let end = self.seen + at;
                let line = self.kept[self.start..=end].to_vec();
                (self.start, self.seen) = (end + 1, end + 1);
                return Some(Ok(line));
            }
            // Only here, so that many short lines in one piece are not moved once per line.
            self.kept.drain(..self.start);
            (self.start, self.seen) = (0, self.kept.len());
            match self.bytes.next().await {
                Some(Ok(more)) => self.kept.extend_from_slice(more.as_ref()),
                Some(Err(error)) => return Some(Err(error)),
                None if self.kept.is_empty() => return None,
                None => {
                    self.seen = 0;
                    return Some(Ok(std::mem::take(&mut self.kept)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn lines(pieces: &[&str]) -> Vec<String> {
        let bytes = futures_util::stream::iter(pieces.iter().map(|piece| Ok::<_, ()>(piece.as_bytes())));
        let mut lines = Lines::new(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next().now_or_never().expect("all bytes are there") {
            all.push(String::from_utf8(line.unwrap()).unwrap());
        }
        all
    }

    #[test]
    fn lines_in_any_pieces() {
        assert_eq!(lines(&[]), [""; 0]);
        assert_eq!(lines(&["a\nbc\n", "\n"]), ["a\n", "bc\n", "\n"]);
        assert_eq!(lines(&["a", "b", "\nc", "d"]), ["ab\n", "cd"]);
        assert_eq!(lines(&["a\nb\nc", "\n"]), ["a\n", "b\n", "c\n"]);
    }
}
