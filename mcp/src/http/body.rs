//! Request bodies: read at the client's pace, unless that is too slow, and within a shared memory budget.

use super::respond::plain;
use crate::settings::Settings;
use crate::weight;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use ptc_runtime::{Pool, Reservation};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Bytes of every body that are not counted, so that small messages get through whatever large ones use. The
/// limit on connections bounds their sum.
const FREE: usize = 16 << 10;

/// Time over which the pace of a body is measured.
const WINDOW: Duration = Duration::from_secs(5);

/// Reserves the memory for a body of this size; false if not enough is left.
fn grow(reservation: &mut Reservation, size: usize) -> bool {
    reservation.set(size.saturating_sub(FREE) as u64)
}

/// A body being read.
struct Reading {
    body: Body,
    /// Bytes received, and (`most`) the maximum.
    length: usize,
    most: usize,
    deadline: Instant,
    /// End of the current window, and (`due`) the bytes required by then.
    window_end: Instant,
    due: usize,
    /// Minimum number of bytes per window.
    share: usize,
}

/// Reason why a body is not read to its end.
enum Trouble {
    TooLong,
    Late,
    Broken,
}

impl Reading {
    fn new(settings: &Settings, request: Request) -> Reading {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let share = count(settings.http_min_body_bytes_per_second.saturating_mul(WINDOW.as_secs()));
        let now = Instant::now();
        Reading {
            body: request.into_body(),
            length: 0,
            most: count(settings.http_max_body_bytes.unwrap_or(settings.max_frame_bytes)),
            deadline: now + Duration::from_millis(settings.http_request_timeout_ms),
            window_end: now + WINDOW,
            due: share,
            share,
        }
    }

    /// Returns the next piece; None at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Trouble> {
        // A declared length is checked before anything arrives.
        if self.length == 0 && self.body.size_hint().lower() > self.most as u64 {
            return Err(Trouble::TooLong);
        }
        loop {
            let frame = match timeout_at(self.deadline.min(self.window_end), self.body.frame()).await {
                Err(_) => return Err(Trouble::Late),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Trouble::Broken),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            if data.len() > self.most - self.length {
                return Err(Trouble::TooLong);
            }
            self.length += data.len();
            if self.length >= self.due {
                self.window_end = Instant::now() + WINDOW;
                self.due = self.length.saturating_add(self.share);
            }
            return Ok(Some(data));
        }
    }

    fn refusal(&self, trouble: Trouble) -> Box<Response> {
        Box::new(match trouble {
            Trouble::TooLong => {
                let message = format!("the message is longer than {} bytes", self.most);
                plain(StatusCode::PAYLOAD_TOO_LARGE, &message)
            }
            Trouble::Late => plain(StatusCode::REQUEST_TIMEOUT, "the message did not arrive in time"),
            Trouble::Broken => plain(StatusCode::BAD_REQUEST, "the message could not be read"),
        })
    }

    /// Reads the rest next to the response and discards it: a client that is still sending would find the
    /// connection closed before it could read why it was refused.
    fn discard(mut self) {
        tokio::spawn(async move { while let Ok(Some(_)) = self.next().await {} });
    }
}

/// Discards the body of a refused request.
pub fn discard(settings: &Settings, request: Request) {
    Reading::new(settings, request).discard();
}

/// Reads a body, if it is not too long, arrives in time, and its sender's share has memory for the parsed message.
pub async fn read(
    pool: &Arc<Pool>,
    settings: &Settings,
    request: Request,
) -> Result<(Vec<u8>, Reservation), Box<Response>> {
    let mut reading = Reading::new(settings, request);
    let mut reservation = pool.reserve();
    let mut bytes = Vec::new();
    loop {
        match reading.next().await {
            Ok(Some(data)) if grow(&mut reservation, reading.length) => bytes.extend_from_slice(&data),
            Ok(Some(_)) => {
                reading.discard();
                return Err(busy());
            }
            Ok(None) => break,
            Err(trouble) => return Err(reading.refusal(trouble)),
        }
    }
    if bytes.is_empty() {
        return Err(Box::new(plain(StatusCode::BAD_REQUEST, "the body is empty: send a message")));
    }
    let weight = bytes.len().saturating_add(weight::of_text(&bytes));
    let most = pool.most();
    if weight.saturating_sub(FREE) as u64 > most {
        let message = format!(
            "the message would take {weight} bytes of memory, but at most {most} are allowed; send less at \
             once"
        );
        return Err(Box::new(plain(StatusCode::PAYLOAD_TOO_LARGE, &message)));
    }
    match grow(&mut reservation, weight) {
        true => Ok((bytes, reservation)),
        false => Err(busy()),
    }
}

fn busy() -> Box<Response> {
    let message = "other messages use all the memory for messages; try again soon";
    let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, message);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    Box::new(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_bodies_come_through_whatever_large_ones_take() {
        let pool = Pool::new(128 << 10);
        let (mut first, mut second) = (pool.reserve(), pool.reserve());
        assert!(grow(&mut first, 50_000) && grow(&mut first, FREE + (128 << 10)));
        assert!(grow(&mut second, FREE) && !grow(&mut second, FREE + 1));
        drop(first);
        assert!(grow(&mut second, FREE + (128 << 10)));
        drop(second);
        assert_eq!(pool.used(), 0);
    }
}
