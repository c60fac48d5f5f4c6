//! Firewalled values never reach clients, whatever a program or an approval does with them.

use crate::bank::server_with_bank;
use crate::pipe::{Pipe, text};
use crate::server;
use serde_json::{Value, json};

fn user() -> Value {
    json!({"u": {"_mail": "ada@engine.uk", "_short": "q7z", "_args": {"eur": 7}, "name": "Ada"}})
}

fn eval(program: &str, schema: Option<Value>) -> Value {
    let mut args = json!({"program": program, "context": user()});
    if let Some(schema) = schema {
        args["output_schema"] = schema;
    }
    json!({"name": "lisp_eval", "arguments": args})
}

fn assert_untold(told: &Value) {
    let told = told.to_string();
    assert!(!told.contains("ada@") && !told.contains("q7z"), "{told}");
}

#[tokio::test]
async fn a_schema_that_does_not_fit_quotes_no_firewalled_value() {
    let mut pipe = Pipe::to(&server(&[]));
    let pattern = json!({"type": "string", "pattern": "^x"});
    let told = pipe.ask(1, "tools/call", eval("(:_mail data/u)", Some(pattern))).await;
    assert!(text(&told).contains("a firewalled part of the value does not fit the schema"), "{told}");
    assert_untold(&told);
    // Other values appear as usual.
    let named = json!({"type": "object", "properties": {"name": {"type": "integer"}}});
    let told = pipe.ask(2, "tools/call", eval("data/u", Some(named))).await;
    assert!(text(&told).contains("return.name: expected an integer, got a string"), "{told}");
    assert_untold(&told);
    // Matching the schema does not reveal the value either.
    let fits = json!({"type": "string", "pattern": "^ada"});
    let told = pipe.ask(3, "tools/call", eval("(:_mail data/u)", Some(fits))).await;
    assert_eq!(told["result"]["isError"], false, "{told}");
    assert_untold(&told);
}

#[tokio::test]
async fn names_of_a_call_cannot_be_firewalled() {
    let (server, _bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let calls = [
        r#"(tool/call {:server (:_short data/u) :tool "balance"})"#,
        r#"(tool/call {:server "bank" :tool (:_short data/u)})"#,
        r#"(tool/call {:server "bank" :tool "balance" (:_short data/u) 1})"#,
        r#"(tool/call (assoc (:_args data/u) :server "bank" :tool "balance"))"#,
    ];
    for (n, call) in calls.into_iter().enumerate() {
        let told = pipe.ask(n as u64, "tools/call", eval(call, None)).await;
        assert!(told["result"]["isError"] == true && text(&told).contains("cannot be firewalled"), "{told}");
        assert_untold(&told);
    }
    // Arguments may be firewalled.
    let call = r#"(:ok (tool/call {:server "bank" :tool "balance" :args (:_args data/u)}))"#;
    let told = pipe.ask(9, "tools/call", eval(call, None)).await;
    assert_eq!(text(&told), "user=> true");
}

/// A call whose arguments the program hides from the person who is asked.
const BLIND: &str = r#"(let [hide (fn [x] (:_ {:_ x}))]
    (:message (tool/call {:server "bank" :tool "pay" :args {:eur (hide 7)}})))"#;

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_about_what_they_cannot_see() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}});
    pipe.ask(0, "initialize", params).await;
    let key =
        r#"(:message (tool/call {:server "bank" :tool "pay" :args {:eur 7 (keyword (:_short data/u)) 1}}))"#;
    let own = r#"(:message (tool/call {:server "bank" :tool "pay" :args {:eur 7 :_to "evil"}}))"#;
    for (n, program) in [BLIND, key, own].into_iter().enumerate() {
        let told = pipe.ask(n as u64 + 1, "tools/call", eval(program, None)).await;
        assert!(text(&told).contains("its arguments hold firewalled values"), "{told}");
        assert_untold(&told);
    }
    assert!(bank.paid().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_asks_by_itself_cannot_agree_to_it_either() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let program = r#"(let [hide (fn [x] (:_ {:_ x}))]
        (pmap (fn [n] (:ok (tool/call {:server "bank" :tool "pay" :args {:eur (if (= n 1) (hide n) n)}}))) [1 2]))"#;
    let mut call = eval(program, None);
    call["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut asked = pipe.ask(1, "tools/call", call.clone()).await["result"].clone();
    for id in 2..5 {
        if asked["resultType"] != "input_required" {
            break;
        }
        for (_, request) in asked["inputRequests"].as_object().unwrap() {
            assert!(request["params"]["message"].as_str().unwrap().contains(r#"{"eur":2}"#), "{asked}");
        }
        let yes = json!({"action": "accept", "content": {"approve": true}});
        let mut again = call.clone();
        again["requestState"] = asked["requestState"].clone();
        again["inputResponses"] = json!({"approve-1": yes, "approve-2": yes});
        asked = pipe.ask(id, "tools/call", again).await["result"].clone();
    }
    assert_eq!(asked["content"][0]["text"], "user=> [false true]", "{asked}");
    assert_eq!(bank.paid(), [2]);
}

#[tokio::test]
async fn traces_and_records_are_without_firewalled_data_of_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("traces");
    let server = server(&["--trace-dir", dir.to_str().unwrap(), "--trace-payloads=full", "--debug-tool"]);
    let mut pipe = Pipe::to(&server);
    pipe.ask("a", "tools/call", eval("(count (:_mail data/u))", None)).await;
    let debug = json!({"name": "lisp_debug", "arguments": {"op": "get", "request_id": "a"}});
    let told = pipe.ask("b", "tools/call", debug).await;
    assert!(told.to_string().contains("Ada"), "{told}");
    assert_untold(&told);
    server.traces().unwrap().flush();
    let mut written = String::new();
    for entry in std::fs::read_dir(&dir).unwrap() {
        written += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    assert!(written.contains("\"name\":\"Ada\"") && written.contains("<Firewalled>"), "{written}");
    assert!(!written.contains("ada@") && !written.contains("q7z"), "{written}");
}
