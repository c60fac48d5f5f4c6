//! Calls that need a person's approval: asked on the stream of the call, or by the client between two calls.

use crate::bank::{pay, server_with_bank};
use crate::pipe::{Pipe, text};
use ptc_mcp::service::Service;
use serde_json::{Value, json};

/// Performs a handshake with these capabilities.
async fn handshake(pipe: &mut Pipe, capabilities: Value) {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
    pipe.ask(0, "initialize", params).await;
}

async fn answer(pipe: &mut Pipe, question: &Value, result: Value) {
    pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"approve": true}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_says_yes_and_the_program_goes_on_where_it_was() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    let program = format!("(let [n (count (range 40)) r {}] (println \"n\" n) [(:value r) n])", pay(7));
    pipe.eval(1, &program).await;
    let question = pipe.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["approve"]["type"], "boolean");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("pay") && message.contains("bank") && message.contains("{\"eur\":7}"),
        "{message}"
    );
    // The program is suspended, so others may run.
    assert_eq!(server.running(), 0);
    assert!(bank.paid().is_empty());
    answer(&mut pipe, &question, yes()).await;
    let told = pipe.next().await.unwrap();
    assert_eq!(told["result"]["isError"], false, "{told}");
    assert!(text(&told).contains(r#"[{"paid" 7} 40]"#), "{told}");
    assert!(text(&told).contains("n 40"));
    assert_eq!(bank.paid(), [7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_whose_client_is_asked_are_open_and_hold_memory() {
    // One open program at a time.
    let (server, _bank) = server_with_bank(&["--max-open-calls=1"]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    pipe.eval(1, &pay(7)).await;
    assert_eq!(pipe.next().await.unwrap()["method"], "elicitation/create");
    pipe.eval(2, "1").await;
    assert!(text(&pipe.next().await.unwrap()).starts_with("busy: "));

    // Each holds 1.6 MB plus its data while a person is asked.
    let flags = ["--max-all-programs-bytes=16000000", "--program-memory-limit-bytes=5000000"];
    let (server, bank) = server_with_bank(&flags);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    let program =
        format!("(let [rows (mapv inc (range 100000))] [(count data/x) (:message {}) (count rows)])", pay(1));
    let call = json!({"name": "lisp_eval", "arguments": {"program": program, "context": {"x": "x".repeat(400_000)}}});
    let mut questions = 0;
    let told = loop {
        pipe.request(questions + 1, "tools/call", call.clone()).await;
        let next = pipe.next().await.unwrap();
        if next["method"] != "elicitation/create" {
            break next;
        }
        questions += 1;
        assert!(questions < 20, "they hold more than there is");
    };
    assert!(questions > 1 && told.to_string().contains("memory"), "{questions}: {told}");
    assert!(bank.paid().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn anything_but_a_clear_yes_is_a_no_and_the_program_is_told_as_a_value() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {"form": {}}})).await;
    let answers = [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"approve": "true"}}),
        json!("yes"),
    ];
    for (n, said) in answers.into_iter().enumerate() {
        pipe.eval(n as u64 + 1, &format!("(select-keys {} [:ok :reason])", pay(7))).await;
        let question = pipe.next().await.unwrap();
        answer(&mut pipe, &question, said).await;
        let told = pipe.next().await.unwrap();
        assert_eq!(text(&told), "user=> {:ok false :reason :approval_denied}", "{told}");
    }
    pipe.eval(8, &format!("(:message {})", pay(7))).await;
    let question = pipe.next().await.unwrap();
    answer(&mut pipe, &question, json!({"action": "accept", "content": {"approve": false}})).await;
    let told = pipe.next().await.unwrap();
    assert!(text(&told).contains("the person did not tick"), "{told}");
    pipe.eval(9, &format!("(:message {})", pay(7))).await;
    let question = pipe.next().await.unwrap();
    pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no"}}))
        .await;
    assert!(text(&pipe.next().await.unwrap()).contains("could not ask"));
    assert!(bank.paid().is_empty());
}

/// Returns a program's call of the bank with a note.
fn pay_with(note: &str) -> String {
    format!(r#"(tool/call {{:server "bank" :tool "pay" :args {{:eur 7 :note {note} :z "the end"}}}})"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_all_that_would_be_sent() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    // Padding hides nothing, and control characters do not change how the rest is shown.
    let note = r#"(str (apply str (repeat 5000 " ")) "gnp.eciovni\u202e\u200b\u007f\n\n\n")"#;
    pipe.eval(1, &pay_with(note)).await;
    let question = pipe.next().await.unwrap();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("with\n{\n  \"eur\": 7,\n  \"note\": \"     "), "{message}");
    assert!(message.contains(r"gnp.eciovni\u202e\u200b\u007f\n\n\n"), "{message}");
    assert!(message.ends_with("\"z\": \"the end\"\n}"), "{message}");
    assert!(!message.chars().any(|c| c != '\n' && ptc_bytecode::text::is_hidden(c)), "{message}");
    answer(&mut pipe, &question, yes()).await;
    assert!(text(&pipe.next().await.unwrap()).contains(":ok true"));
    assert_eq!(bank.paid(), [7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_to_show_is_not_asked_about() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    pipe.eval(1, &pay_with(r#"(apply str (repeat 17000 "x"))"#)).await;
    let told = pipe.next().await.unwrap();
    assert!(text(&told).contains(":reason :approval_denied"), "{told}");
    assert!(text(&told).contains("too large to be approved") && text(&told).contains("16384"), "{told}");
    assert!(bank.paid().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_reads_needs_nobody() {
    let (server, _bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    pipe.eval(1, r#"(:value (tool/call {:server "bank" :tool "balance"}))"#).await;
    assert_eq!(text(&pipe.next().await.unwrap()), r#"user=> {"balance" 100}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_ask_is_told_so() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({})).await;
    pipe.eval(1, &format!("(:message {})", pay(7))).await;
    assert!(text(&pipe.next().await.unwrap()).contains("cannot ask for it"));
    assert!(bank.paid().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn branches_are_asked_about_one_by_one() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    let program = r#"(pmap (fn [n] (:ok (tool/call {:server "bank" :tool "pay" :args {:eur n}}))) [1 2 3])"#;
    pipe.eval(1, program).await;
    for _ in 0..3 {
        let question = pipe.next().await.unwrap();
        let is_two = question["params"]["message"].as_str().unwrap().contains("{\"eur\":2}");
        answer(&mut pipe, &question, if is_two { json!({"action": "decline"}) } else { yes() }).await;
    }
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> [true false true]");
    assert_eq!(bank.paid(), [1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_takes_its_question_back() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    pipe.eval(1, &pay(7)).await;
    let question = pipe.next().await.unwrap();
    pipe.notify("notifications/cancelled", json!({"requestId": 1})).await;
    let taken = pipe.next().await.unwrap();
    assert_eq!(
        (&taken["method"], &taken["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    // The answer comes too late, without effect.
    answer(&mut pipe, &question, yes()).await;
    assert_eq!(pipe.ask(2, "ping", json!({})).await["id"], 2);
    assert_eq!((server.running(), bank.paid()), (0, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_waited_for_longer_than_the_settings_say() {
    let (server, bank) = server_with_bank(&["--approval-timeout-ms", "50"]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    pipe.eval(1, &format!("(:message {})", pay(7))).await;
    let told: Vec<Value> =
        vec![pipe.next().await.unwrap(), pipe.next().await.unwrap(), pipe.next().await.unwrap()];
    assert_eq!(told[0]["method"], "elicitation/create");
    assert_eq!(told[1]["method"], "notifications/cancelled");
    assert!(text(&told[2]).contains("nobody approved the call within 50 ms"), "{told:?}");
    assert!(bank.paid().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_keeps_what_a_program_defined_before_and_after_its_approval() {
    let (server, bank) = server_with_bank(&["--sessions"]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    let begin = json!({"name": "lisp_session_start", "arguments": {}});
    let id = pipe.ask(1, "tools/call", begin).await["result"]["structuredContent"]["session_id"].clone();
    let eval = |program: String| json!({"name": "lisp_session_eval", "arguments": {"session_id": id, "program": program}});
    pipe.ask(2, "tools/call", eval("(defn vat [x] (* 2 x))".into())).await;
    pipe.request(3, "tools/call", eval(format!("(def a (vat 4)) (def r {}) (def b (vat a))", pay(5)))).await;
    let question = pipe.next().await.unwrap();
    // Meanwhile the session is busy.
    let other = pipe.ask(4, "tools/call", eval("1".into())).await;
    assert!(text(&other).contains("session_busy"), "{other}");
    answer(&mut pipe, &question, yes()).await;
    let told = pipe.next().await.unwrap();
    assert_eq!(told["result"]["isError"], false, "{told}");
    let kept = pipe.ask(5, "tools/call", eval("[a b (:ok r)]".into())).await;
    assert!(text(&kept).contains("[8 16 true]"), "{kept}");
    assert_eq!(bank.paid(), [5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_closed_meanwhile_pays_nothing() {
    let (server, bank) = server_with_bank(&["--sessions"]);
    let mut pipe = Pipe::to(&server);
    handshake(&mut pipe, json!({"elicitation": {}})).await;
    let begin = json!({"name": "lisp_session_start", "arguments": {}});
    let id = pipe.ask(1, "tools/call", begin).await["result"]["structuredContent"]["session_id"].clone();
    let eval = json!({"name": "lisp_session_eval", "arguments": {"session_id": id, "program": pay(5)}});
    pipe.request(2, "tools/call", eval).await;
    let question = pipe.next().await.unwrap();
    pipe.ask(3, "tools/call", json!({"name": "lisp_session_close", "arguments": {"session_id": id}})).await;
    answer(&mut pipe, &question, yes()).await;
    let told = pipe.next().await.unwrap();
    assert!(text(&told).contains("session_closed"), "{told}");
    assert!(bank.paid().is_empty());
}

/// Builds a call of the revision without handshake.
fn modern(program: &str, capabilities: Value) -> Value {
    json!({
        "name": "lisp_eval",
        "arguments": {"program": program},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
    })
}

fn again(call: &Value, asked: &Value, responses: Value) -> Value {
    let mut call = call.clone();
    call["requestState"] = asked["requestState"].clone();
    call["inputResponses"] = responses;
    call
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_handshake_the_client_asks_and_calls_again() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let program = format!("[(:value {}) (:reason {})]", pay(3), pay(4));
    let call = modern(&program, json!({"elicitation": {}}));
    let first = pipe.ask(1, "tools/call", call.clone()).await["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert!(first["inputRequests"]["approve-1"]["params"]["message"].as_str().unwrap().contains("\"eur\":3"));
    assert_eq!(server.running(), 0);
    let second =
        pipe.ask(2, "tools/call", again(&call, &first, json!({"approve-1": yes()}))).await["result"].clone();
    assert_eq!(second["resultType"], "input_required", "{second}");
    assert_eq!(bank.paid(), [3]);
    let third = pipe.ask(3, "tools/call", again(&call, &second, json!({}))).await;
    assert_eq!(third["result"]["resultType"], "complete");
    assert_eq!(text(&third), r#"user=> [{"paid" 3} :approval_denied]"#);
    assert_eq!(bank.paid(), [3]);
    // Each `requestState` works only once.
    let replayed = pipe.ask(4, "tools/call", again(&call, &first, json!({"approve-1": yes()}))).await;
    assert_eq!(replayed["error"]["code"], -32602, "{replayed}");
    assert_eq!(bank.paid(), [3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_for_the_call_it_was_given_to() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let call = modern(&pay(3), json!({"elicitation": {}}));
    let first = pipe.ask(1, "tools/call", call.clone()).await["result"].clone();
    let other = modern(&pay(3000), json!({"elicitation": {}}));
    let refused = pipe.ask(2, "tools/call", again(&other, &first, json!({"approve-1": yes()}))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let invented = json!({"requestState": "ptcw_0000"});
    let refused = pipe.ask(3, "tools/call", again(&call, &invented, json!({"approve-1": yes()}))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(bank.paid().is_empty());
    let told = pipe.ask(4, "tools/call", again(&call, &first, json!({"approve-1": yes()}))).await;
    assert_eq!(told["result"]["isError"], false, "{told}");
    assert_eq!(bank.paid(), [3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_do_not_wait_without_number() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let call = modern(&format!("(:message {})", pay(1)), json!({"elicitation": {}}));
    for n in 0..64 {
        assert_eq!(pipe.ask(n, "tools/call", call.clone()).await["result"]["resultType"], "input_required");
    }
    let told = pipe.ask(64, "tools/call", call).await;
    assert!(text(&told).contains("too many programs are waiting"), "{told}");
    assert!(bank.paid().is_empty());
}
