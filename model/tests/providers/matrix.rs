//! All faults of providers and networks, in every format, whole and in pieces. The expected outcomes are the table in
//! `docs/agents/models.md`, which this test reads.

use ptc_model::{
    Api, ChunkSink, HttpModel, HttpOptions, LlmError, LlmRequest, LlmResponse, Model, StopReason,
};
use ptc_testkit::provider::{Answer, Provider, head, json, stream_head, with_headers};
use ptc_testkit::wire::{End, Reply, Wire};
use std::time::{Duration, Instant};

pub fn api(wire: Wire) -> Api {
    match wire {
        Wire::Anthropic => Api::Anthropic,
        Wire::Chat => Api::Chat,
        Wire::Responses => Api::Responses,
        Wire::Gemini => Api::Gemini,
        Wire::Ollama => Api::Ollama,
    }
}

/// Function that makes an answer, streamed or not. None if the format has no such fault.
type Make = fn(Wire, bool) -> Option<Answer>;

const JSON: &str = "content-type: application/json\r\n";
/// Maximum size of a reply; larger than every proper reply here.
const MAX_BYTES: usize = 200_000;

fn hello(end: End) -> Reply {
    Reply::text("Hello, world").end(end)
}

fn says(end: End) -> Make {
    match end {
        End::Done => |_, _| Some(Answer::Says(hello(End::Done))),
        End::Cut => |_, _| Some(Answer::Says(hello(End::Cut))),
        End::Refused => |wire, _| wire.can_say(End::Refused).then(|| Answer::Says(hello(End::Refused))),
        End::Filtered => |wire, _| wire.can_say(End::Filtered).then(|| Answer::Says(hello(End::Filtered))),
    }
}

fn head_of(wire: Wire, streamed: bool) -> Vec<u8> {
    if streamed { stream_head(wire) } else { head(200, JSON) }
}

/// Returns a correct body.
fn body(wire: Wire, streamed: bool) -> Vec<u8> {
    let reply = hello(End::Done);
    match streamed {
        true => wire.events(&reply).iter().flat_map(|event| wire.frame(event)).collect(),
        false => wire.whole(&reply).to_string().into_bytes(),
    }
}

/// Returns the first half of an answer that announces its length, or that has whole pieces first.
fn half(wire: Wire, streamed: bool) -> Vec<u8> {
    let body = body(wire, streamed);
    let head = match streamed {
        true => stream_head(wire),
        false => head(200, &format!("{JSON}content-length: {}\r\n", body.len())),
    };
    [head, body[..body.len() / 2].to_vec()].concat()
}

/// Returns an answer with this body, or with these bytes as an event.
fn instead(wire: Wire, streamed: bool, bytes: &[u8]) -> Option<Answer> {
    let body = match (streamed, wire) {
        (true, Wire::Ollama) => [bytes, b"\n"].concat(),
        (true, _) => [b"data: ", bytes, b"\n\n"].concat(),
        (false, _) => bytes.to_vec(),
    };
    Some(Answer::Bytes([head_of(wire, streamed), body].concat()))
}

/// Returns bytes that readers of replies skip.
fn nothing(wire: Wire, streamed: bool) -> &'static [u8] {
    match (streamed, wire) {
        (true, Wire::Ollama) => b"\n",
        (true, _) => b":\n",
        (false, _) => b" ",
    }
}

fn status(wire: Wire, status: u16) -> Option<Answer> {
    Some(json(status, &wire.error(status, "some_error", "No")))
}

const ROWS: &[(&str, Make)] = &[
    ("answers", |w, s| says(End::Done)(w, s)),
    ("answers a few bytes at a time", |wire, streamed| {
        let bytes = [head_of(wire, streamed), body(wire, streamed)].concat();
        Some(Answer::Slow(bytes.chunks(7).map(<[u8]>::to_vec).collect()))
    }),
    ("answers in one piece, even if asked for a stream", |wire, _| {
        Some(json(200, &wire.whole(&hello(End::Done))))
    }),
    ("stops at its token limit", |w, s| says(End::Cut)(w, s)),
    ("refuses", |w, s| says(End::Refused)(w, s)),
    ("holds the reply back", |w, s| says(End::Filtered)(w, s)),
    ("answers 400", |wire, _| status(wire, 400)),
    ("answers 401", |wire, _| status(wire, 401)),
    ("answers 404", |wire, _| status(wire, 404)),
    ("answers 429", |wire, _| status(wire, 429)),
    ("answers 429 and says how long to wait", |wire, _| {
        let body = wire.error(429, "rate_limit_error", "Slow down").to_string();
        Some(with_headers(429, "retry-after: 7\r\n", &body))
    }),
    ("answers 500", |wire, _| status(wire, 500)),
    ("answers 529", |wire, _| status(wire, 529)),
    ("answers 502 with a page", |_, _| Some(with_headers(502, "", "<html>Bad gateway</html>"))),
    ("answers 200 with an overload error", |wire, streamed| {
        // Ollama's errors have no names.
        let error = wire.error(529, "overloaded_error", "Overloaded").to_string();
        (wire != Wire::Ollama).then(|| instead(wire, streamed, error.as_bytes()))?
    }),
    ("answers 200 with an error that has no name", |wire, streamed| {
        instead(wire, streamed, wire.error(500, "", "It broke").to_string().as_bytes())
    }),
    ("answers 200 with nothing", |wire, streamed| Some(Answer::Bytes(head_of(wire, streamed)))),
    ("hangs up at once", |_, _| Some(Answer::Bytes(Vec::new()))),
    ("hangs up in the middle of a reply", |wire, streamed| Some(Answer::Bytes(half(wire, streamed)))),
    ("says nothing", |_, _| Some(Answer::Stuck(Vec::new()))),
    ("says nothing after its headers", |wire, streamed| Some(Answer::Stuck(head_of(wire, streamed)))),
    ("falls silent in the middle of a reply", |wire, streamed| Some(Answer::Stuck(half(wire, streamed)))),
    ("sends padding slowly, without end", |wire, streamed| {
        let drops = std::iter::repeat_n(nothing(wire, streamed).to_vec(), 20_000);
        Some(Answer::Slow(std::iter::once(head_of(wire, streamed)).chain(drops).collect()))
    }),
    ("sends padding fast, without end", |wire, streamed| {
        Some(Answer::Endless(head_of(wire, streamed), nothing(wire, streamed).repeat(1000)))
    }),
    ("sends text without end", |wire, streamed| {
        let reply = Reply::text(&"many words ".repeat(200));
        let flood = match streamed {
            // Repeats all events but the last ones.
            true => {
                let events = wire.events(&reply);
                events[..events.len() - 2].iter().flat_map(|event| wire.frame(event)).collect()
            }
            false => b"[\"many words\", ".to_vec(),
        };
        Some(Answer::Endless(head_of(wire, streamed), flood))
    }),
    ("sends headers without end", |_, _| {
        Some(Answer::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-more: more\r\n".repeat(100)))
    }),
    ("sends an error without end", |_, _| Some(Answer::Endless(head(500, ""), b"no ".repeat(1000)))),
    ("answers with something that is not JSON", |wire, streamed| instead(wire, streamed, b"Hello")),
    ("answers with half of its JSON", |wire, streamed| instead(wire, streamed, b"{\"content\": [")),
    ("answers with bytes that are not text", |wire, streamed| {
        instead(wire, streamed, b"{\"a\": \"\xff\xfe\"}")
    }),
    ("answers with JSON of another shape", |wire, streamed| instead(wire, streamed, b"{\"x\": 1}")),
    ("answers with lists in lists in lists", |wire, streamed| {
        instead(wire, streamed, "[".repeat(100_000).as_bytes())
    }),
    ("answers from another address", |_, _| {
        Some(with_headers(307, "location: http://127.0.0.1:9/steal\r\n", ""))
    }),
    ("does not speak HTTP", |_, _| Some(Answer::Bytes(b"\x16\x03\x01 no HTTP at all".to_vec()))),
];

/// Returns the rows of the page: name of the fault, and its outcome whole and streamed.
fn documented() -> Vec<(String, [String; 2])> {
    let page = include_str!("../../../docs/agents/models.md");
    let table =
        page.split_once("| A provider that … | Whole | In pieces |\n|---|---|---|\n").expect("the table").1;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0].to_string(), [cells[1].to_string(), cells[2].to_string()])
    })
    .collect()
}

/// Returns the outcome of a call, in the words of the page.
fn outcome(result: &Result<LlmResponse, LlmError>) -> String {
    match result {
        Ok(reply) => match &reply.stop {
            Some(StopReason::EndTurn) if reply.text() == "Hello, world" => "reply".to_string(),
            Some(stop) => format!("reply, `{}`", serde_json::to_value(stop).unwrap().as_str().unwrap()),
            None => format!("a reply without a reason: {reply:?}"),
        },
        Err(error) => match error.retry_after {
            Some(wait) if wait == Duration::from_secs(7) => format!("`{}`, after that time", error.class()),
            _ => format!("`{}`", error.class()),
        },
    }
}

async fn call(wire: Wire, streamed: bool, answer: Answer, name: &str) -> Result<LlmResponse, LlmError> {
    let server = Provider::start([answer.clone(), answer]);
    let options = HttpOptions::new(api(wire), "m").base_url(&server.url).max_response_bytes(MAX_BYTES);
    let mut request = LlmRequest::new("s", "p");
    request.stream = streamed.then(|| ChunkSink::new(|_| ()));
    let is_silent =
        name.starts_with("says nothing") || name.starts_with("falls silent") || name.contains("slowly");
    let millis = if is_silent { 300 } else { 60_000 };
    request.deadline = Some(Instant::now() + Duration::from_millis(millis));
    let model = HttpModel::new(options).unwrap();
    // Not a measurement: a call that has not ended after ten minutes never will.
    let called = tokio::time::timeout(Duration::from_secs(600), model.call(&request));
    called.await.unwrap_or_else(|_| panic!("{wire:?}: a provider that {name}: the call has no end"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_provider_does_ends_as_the_page_says() {
    let documented = documented();
    let names: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    let rows: Vec<&str> = ROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, rows, "docs/agents/models.md");
    let mut calls = Vec::new();
    for ((name, make), (_, wanted)) in ROWS.iter().zip(&documented) {
        for wire in Wire::ALL {
            for (streamed, wanted) in [false, true].into_iter().zip(wanted) {
                let Some(answer) = make(wire, streamed) else { continue };
                let wanted = wanted.clone();
                calls.push(tokio::spawn(async move {
                    let result = call(wire, streamed, answer, name).await;
                    let was = outcome(&result);
                    (was != wanted).then(|| {
                        format!("{wire:?}, streamed {streamed}: a provider that {name}: {was}, not {wanted}: {result:?}")
                    })
                }));
            }
        }
    }
    let mut wrong = Vec::new();
    for call in calls {
        wrong.extend(call.await.unwrap());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
