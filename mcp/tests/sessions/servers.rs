//! Programs in sessions that call servers.

use crate::world::{World, debug, logged, object, refused, slim};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_mcp::tools::session_eval;
use ptc_mcp::{Profile, Reason};
use ptc_runtime::Cancel;
use ptc_upstream::credentials::Secret;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{About, Client, Fault, Health, Options, Reply, Request, Tool, Upstream};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CANARY: &str = "canary-3f9c1a77e2";

/// A server that echoes a secret, fails or never replies.
#[derive(Default)]
struct Shop {
    asked: AtomicUsize,
}

impl Client for Shop {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let tool = |name: &str| Tool {
            name: name.into(),
            description: None,
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: None,
            provenance: None,
        };
        async move { Ok(vec![tool("echo"), tool("fail"), tool("hang")]) }.boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        async move {
            let result = match &*request.tool {
                "echo" => json!({"content": [], "structuredContent": {"said": format!("it is {CANARY}")}}),
                "fail" => json!({"isError": true, "content": [{"type": "text", "text": "no"}]}),
                _ => std::future::pending().await,
            };
            Ok(Reply::new(&result))
        }
        .boxed()
    }

    fn health(&self) -> Health {
        Health::Ready
    }

    fn generation(&self) -> u64 {
        0
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

fn world() -> (World, Arc<Shop>) {
    world_in(None)
}

fn world_in(folder: Option<String>) -> (World, Arc<Shop>) {
    let shop = Arc::new(Shop::default());
    let redactor = Arc::new(Redactor::new());
    redactor.register("pat", &Secret::new(CANARY)).unwrap();
    let client: Arc<dyn Client> = shop.clone();
    let clients = [("shop".to_string(), About::default(), client)];
    let upstream = Upstream::of_clients(clients, redactor, Options::default()).unwrap();
    let set = |settings: &mut ptc_mcp::Settings| {
        settings.program_timeout_ms = Some(60_000);
        settings.turn_log_dir = folder.as_ref().map(|folder| format!("{folder}/turns"));
        settings.session_dir = folder;
    };
    (World::made(set, Some(upstream), |builder| builder), shop)
}

fn call(tool: &str) -> String {
    format!("(tool/call {{:server \"shop\" :tool \"{tool}\" :args {{}}}})")
}

#[test]
fn calls_are_counted_for_each_program_and_kept_for_the_session() {
    let (world, _) = world();
    let id = world.begin();
    let two = world.eval(&id, &format!("(def a {}) {}", call("echo"), call("echo")));
    assert_eq!(debug(&two)["ptc_metrics"]["upstream_call_count"], 2);
    assert!(slim(&two).ends_with("[stored: a; turn upstream calls: 2]"), "{}", slim(&two));
    let one = world.eval(&id, &call("fail"));
    let shown = debug(&one);
    assert_eq!(shown["ptc_metrics"]["upstream_call_count"], 1);
    assert_eq!(shown["upstream_calls"].as_array().unwrap().len(), 1);
    let none = world.eval(&id, "1");
    assert!(debug(&none).get("ptc_metrics").is_none());
    assert_eq!(world.view(&id, "tool_calls")["upstream_calls"].as_array().unwrap().len(), 3);
    assert_eq!(world.view(&id, "tool_calls")["tool_calls"], json!([]));
}

#[test]
fn what_was_called_is_told_though_nothing_was_kept() {
    let (world, shop) = world();
    let id = world.begin();
    let payload = world.eval(&id, &format!("(def a {}) (+ 1 nil)", call("echo")));
    refused(&payload, Reason::RuntimeError);
    assert_eq!(debug(&payload)["upstream_calls"].as_array().unwrap().len(), 1);
    assert!(slim(&payload).ends_with("[rolled back; turn upstream calls: 1]"), "{}", slim(&payload));
    assert_eq!(shop.asked.load(Ordering::SeqCst), 1);
    assert_eq!(world.view(&id, "tool_calls")["upstream_calls"], json!([]));
}

#[test]
fn secrets_are_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let (world, _) = world_in(Some(folder.path().display().to_string()));
    let id = world.begin();
    let programs = [
        format!("(def a {0}) (println (:value a)) {0}", call("echo")),
        format!("(fail (:value {}))", call("echo")),
        "a".to_string(),
        "(get a :value)".to_string(),
    ];
    for program in programs {
        let payload = world.eval(&id, &program);
        for profile in Profile::ALL {
            let shown = payload.reply(profile).to_json().to_string();
            assert!(!shown.contains(CANARY), "{shown}");
        }
    }
    for view in ["overview", "memory", "prints", "tool_calls", "history", "limits"] {
        let shown = world.view(&id, view).to_string();
        assert!(!shown.contains(CANARY), "{shown}");
    }
    assert!(world.view(&id, "memory").to_string().contains("[REDACTED]"));
    world.sessions.close_all();
    let lines = logged(&folder.path().join("turns"));
    let turn = lines.iter().find(|line| line["event"] == "turn").unwrap();
    let call = &turn["data"]["tool_calls"][0];
    assert_eq!(
        (&call["server"], &call["tool"], &call["outcome"]),
        (&json!("shop"), &json!("echo"), &json!("ok"))
    );
    assert_eq!(call["args_hash"].as_str().unwrap().len(), 64);
    assert!(lines.len() >= 4 && !format!("{lines:?}").contains(CANARY));
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_dir() { Vec::new() } else { std::fs::read(path).unwrap() };
        assert!(!holds(&bytes, CANARY.as_bytes()));
        // A session's file contains its machine in this form.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let machine = text.split("\"machine\":\"").nth(1).and_then(|rest| rest.split('"').next());
        if let Some(machine) = machine {
            let machine = BASE64_STANDARD.decode(machine).unwrap();
            assert!(holds(&machine, b"[REDACTED]") && !holds(&machine, CANARY.as_bytes()));
        }
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn close_does_not_wait_for_servers() {
    let (world, shop) = world();
    let id = world.begin();
    let args = object(json!({"session_id": id, "program": call("hang")}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    let running = std::thread::spawn(move || reserved.eval(&Cancel::new()));
    while shop.asked.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    world.close(json!({"session_id": id}));
    refused(&running.join().unwrap(), Reason::SessionClosed);
}

#[test]
fn a_kept_function_calls_in_the_budget_of_who_runs_it() {
    let (world, _) = world();
    let id = world.begin();
    world.value(&id, &format!("(defn ask [] (:ok {}))", call("echo")));
    assert_eq!(world.value(&id, "(ask)"), "true");
    let payload = world.eval(&id, "[(ask) (ask)]");
    assert_eq!(debug(&payload)["ptc_metrics"]["upstream_call_count"], 2);
}

#[test]
fn a_program_whose_state_is_not_kept_has_saved_nothing() {
    let (world, _) = world();
    let id = world.begin();
    let program = format!("(def big (.repeat \"x\" 300000)) {}", call("echo"));
    let payload = world.eval(&id, &program);
    refused(&payload, Reason::SessionLimitExceeded);
    let metrics = &debug(&payload)["ptc_metrics"];
    assert_eq!((&metrics["upstream_call_count"], &metrics["final_result_bytes"]), (&json!(1), &json!(0)));
    assert_eq!(metrics["payload_reduction_ratio"], json!(null));
}

#[test]
fn a_program_learns_what_it_has_left() {
    let (world, _) = world();
    let id = world.begin();
    let left = "(let [left (budget/remaining)] [(:upstream-calls left) (:catalog-ops left) (< 0 (:timeout-ms left) 60001)])";
    assert_eq!(world.value(&id, left), "[50 25 true]");
    assert_eq!(world.value(&id, &format!("(do {} {left})", call("echo"))), "[49 25 true]");
}
