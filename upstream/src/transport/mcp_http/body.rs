//! Response bodies, counted while they arrive and before they are parsed.

use crate::transport::inflow::Inflow;
use crate::transport::ticket::Ticket;
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::Response;
use std::fmt;
use std::sync::Arc;

/// Size limit of a body, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cap {
    /// Limit for the whole body.
    Total(u64),
    /// Limit for the bytes between two blank lines: for streams that stay open.
    Event(u64),
}

/// Reason why a body ended too early.
#[derive(Debug)]
pub(super) enum BodyError {
    TooLarge,
    Connection(String),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::TooLarge => f.write_str("too many bytes"),
            BodyError::Connection(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for BodyError {}

/// Account that a body's bytes are counted on.
pub(super) enum Account {
    /// The call the body belongs to.
    Call(Arc<Ticket>),
    /// The server, for unsolicited bytes.
    Server(Arc<Inflow>),
}

/// Streams the pieces of a body, up to the one that exceeds the limit.
pub(super) fn counted(
    response: Response,
    cap: Cap,
    account: Option<Account>,
) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
    let meter = Meter { cap, count: 0, blank: true };
    let pieces = response.bytes_stream();
    stream::unfold(Some((pieces, meter, account)), |state| async move {
        let (mut pieces, mut meter, account) = state?;
        match pieces.next().await? {
            Ok(piece) => {
                match &account {
                    Some(Account::Call(ticket)) => ticket.count(piece.len() as u64),
                    Some(Account::Server(inflow)) => inflow.pace(0, piece.len() as u64).await,
                    None => {}
                }
                match meter.fits(&piece) {
                    true => Some((Ok(piece), Some((pieces, meter, account)))),
                    false => Some((Err(BodyError::TooLarge), None)),
                }
            }
            Err(error) => Some((Err(BodyError::Connection(ptc_web::why(error))), None)),
        }
    })
}

/// Reads the whole body.
pub(super) async fn whole(
    response: Response,
    max: u64,
    ticket: Option<Arc<Ticket>>,
) -> Result<Vec<u8>, BodyError> {
    let mut pieces = std::pin::pin!(counted(response, Cap::Total(max), ticket.map(Account::Call)));
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece?);
    }
    Ok(bytes)
}

struct Meter {
    cap: Cap,
    count: u64,
    /// True if the current line is empty so far.
    blank: bool,
}

impl Meter {
    fn fits(&mut self, piece: &[u8]) -> bool {
        let max = match self.cap {
            Cap::Total(max) => {
                self.count += piece.len() as u64;
                return self.count <= max;
            }
            Cap::Event(max) => max,
        };
        for byte in piece {
            self.count += 1;
            match byte {
                b'\n' if self.blank => self.count = 0,
                b'\n' => self.blank = true,
                b'\r' => {}
                _ => self.blank = false,
            }
            if self.count > max {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_in_all_or_per_event() {
        let mut total = Meter { cap: Cap::Total(10), count: 0, blank: true };
        assert!(total.fits(b"12345"));
        assert!(total.fits(b"67890"));
        assert!(!total.fits(b"1"));
        for text in ["data: 123\n\ndata: 456\n\n", "data: 123\r\n\r\ndata: 456\r\n\r\n"] {
            let mut event = Meter { cap: Cap::Event(13), count: 0, blank: true };
            assert!(text.bytes().all(|byte| event.fits(&[byte])), "{text:?}");
            assert!(!event.fits(b"data: 1234567890"));
        }
    }
}
