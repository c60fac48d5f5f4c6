//! Invalid, oversized and duplicate messages, and recovery after them.

use crate::pipe::{ENDLESS, Pipe, text};
use crate::server;
use serde_json::json;

#[tokio::test]
async fn a_line_that_is_too_long_is_passed_over_and_the_next_is_served() {
    let mut pipe = Pipe::to(&server(&["--max-frame-bytes=1000"]));
    pipe.raw(&[b'x'; 100_000]).await;
    pipe.raw(b"\n").await;
    let answer = pipe.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32700)));
    assert_eq!(pipe.ask(1, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn text_survives_in_both_directions() {
    let mut pipe = Pipe::to(&server(&[]));
    pipe.eval("schlüssel-日本", r#"(str "größe — 日本語 🦀 " "\u00e9")"#).await;
    let answer = pipe.next().await.unwrap();
    assert_eq!(answer["id"], "schlüssel-日本");
    assert_eq!(text(&answer), r#"user=> "größe — 日本語 🦀 é""#);
}

#[tokio::test]
async fn what_is_no_message_is_answered_as_such() {
    let mut pipe = Pipe::to(&server(&[]));
    for (line, id, code) in [
        (&b"\xff\xfe{}\n"[..], json!(null), -32700),
        (b"{\"jsonrpc\":\n", json!(null), -32700),
        (b"[]\n", json!(null), -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", json!(null), -32600),
        (b"3\n", json!(null), -32600),
        (b"{\"id\":7,\"method\":\"ping\"}\n", json!(7), -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}\n", json!(7), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7}\n", json!(7), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", json!(null), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", json!(null), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":[1]}\n", json!(8), -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{}}\n", json!(8), -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"resources/list\"}\n", json!(9), -32601),
    ] {
        pipe.raw(line).await;
        let answer = pipe.next().await.unwrap();
        let shown = String::from_utf8_lossy(line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{shown}");
    }
    assert_eq!(pipe.ask("still", "ping", json!({})).await["id"], "still");
}

#[tokio::test]
async fn the_end_of_a_line_may_be_of_either_kind() {
    let mut pipe = Pipe::to(&server(&[]));
    pipe.raw(b"\r\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n").await;
    assert_eq!(pipe.next().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn notifications_are_never_answered() {
    let mut pipe = Pipe::to(&server(&[]));
    pipe.notify("notifications/initialized", json!({})).await;
    pipe.notify("no/such/thing", json!({})).await;
    pipe.notify("tools/call", json!({"name": "lisp_eval", "arguments": {"program": "(println 1)"}})).await;
    pipe.notify("notifications/cancelled", json!({})).await;
    pipe.notify("notifications/cancelled", json!({"requestId": null})).await;
    pipe.notify("notifications/cancelled", json!({"requestId": 99})).await;
    pipe.send(&json!({"jsonrpc": "2.0", "id": 5, "result": {}})).await;
    assert_eq!(pipe.ask(1, "ping", json!({})).await["id"], 1);
    assert_eq!(pipe.hang_up().await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn an_id_that_is_in_flight_is_refused_and_the_first_goes_on() {
    let mut pipe = Pipe::to(&server(&[
        "--program-timeout-ms=600000",
        "--max-concurrent-calls=3",
        "--max-queued-calls=0",
    ]));
    pipe.eval(1, ENDLESS).await;
    let again = pipe.ask(1, "ping", json!({})).await;
    assert_eq!(again["error"]["code"], -32600);
    assert!(again["error"]["message"].as_str().unwrap().contains("already in flight"), "{again}");
    // A string id differs from the number it looks like.
    assert_eq!(pipe.ask("1", "ping", json!({})).await, json!({"jsonrpc": "2.0", "id": "1", "result": {}}));
    pipe.notify("notifications/cancelled", json!({"requestId": 1})).await;
    // All permits are available again: the maximum number of programs can run.
    for id in 2..5 {
        pipe.eval(id, ENDLESS).await;
    }
    pipe.eval(5, "1").await;
    assert!(text(&pipe.next().await.unwrap()).starts_with("busy: "));
}
