//! Replies that arrive as JSON, one value in each line.

use futures_util::{Stream, StreamExt};

/// Cuts a stream of bytes into lines. Whoever makes the stream bounds it.
pub(super) struct Lines<S> {
    bytes: S,
    /// What has arrived and is not given away yet.
    kept: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where there is no end of a line.
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

    /// The next line with its end, which the last one need not have.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, E>> {
        loop {
            if let Some(at) = self.kept[self.seen..].iter().position(|byte| *byte == b'\n') {
                let end = self.seen + at;
                let line = self.kept[self.start..=end].to_vec();
                (self.start, self.seen) = (end + 1, end + 1);
                return Some(Ok(line));
            }
            // Only here, so that many short lines in one piece are not moved again and again.
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
