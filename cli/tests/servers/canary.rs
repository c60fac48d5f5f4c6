//! A credential that servers tell wherever they can is in nothing that `ptc` writes: outputs, errors, traces, cassettes,
//! checkpoints, artifacts. Every byte is looked at, for every form of it.

use crate::agents::Mission;
use crate::fixture::forms;
use crate::{Ran, TOKEN, entry, file, ptc, ptc_with, trial, web};
use libtest_mimic::Trial;
use serde_json::json;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("no_command_shows_a_credential", no_command_shows_a_credential),
        trial("no_program_shows_a_credential", no_program_shows_a_credential),
        trial("no_repl_shows_a_credential", no_repl_shows_a_credential),
        trial("no_mission_keeps_a_credential", no_mission_keeps_a_credential),
        trial("no_artifact_keeps_a_credential", no_artifact_keeps_a_credential),
        trial("no_server_shows_or_keeps_a_credential", no_server_shows_or_keeps_a_credential),
    ]
}

/// Fails if any form of the token is in there, also after another round of escaping.
#[track_caller]
fn clean(what: &str, bytes: &[u8]) {
    for form in forms(TOKEN).iter().flat_map(|form| forms(form)).chain(forms(TOKEN)) {
        let found = bytes.windows(form.len()).any(|window| window == form.as_bytes());
        assert!(!found, "{what} shows {form}:\n{}", String::from_utf8_lossy(bytes));
    }
}

#[track_caller]
fn clean_run(what: &str, ran: &Ran) {
    clean(what, ran.out.as_bytes());
    clean(what, ran.err.as_bytes());
}

/// Looks at every file below a folder; gives how many there are.
fn clean_folder(folder: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            count += clean_folder(&path);
        } else {
            clean(&path.display().to_string(), &std::fs::read(&path).expect("a file"));
            count += 1;
        }
    }
    count
}

/// A child, a server over HTTP and an API, which all know the token and tell it.
fn telling(name: &str) -> String {
    let address = web::start();
    let document = file(&format!("{name}/api.json"), web::document(&address).to_string());
    let insecure = |mut entry: serde_json::Value| {
        entry["allow_insecure_http"] = json!(true);
        entry["allow_insecure_auth"] = json!(true);
        entry
    };
    let bearer = json!([{"scheme": "bearer", "binding": "pat"}]);
    let basic = json!([{"scheme": "basic", "binding": "pair"}]);
    let text = json!({
        "credentials": {
            "pat": {"source": "env", "var": "CANARY_TOKEN"},
            "pair": {"source": "literal", "value": format!("ada:{TOKEN}")},
        },
        "upstreams": {
            "odd": entry("--misbehaving-server"),
            "web": insecure(json!({"transport": "mcp_http", "url": format!("{address}/mcp"), "auth": bearer})),
            "pair": insecure(json!({"transport": "mcp_http", "url": format!("{address}/mcp"), "auth": basic})),
            "api": insecure(json!({"transport": "openapi", "base_url": address, "schema_file": document, "auth": bearer,
                "include_operations": ["things", "denied", "broken", "missing"]})),
        },
    });
    file(&format!("{name}/servers.json"), text.to_string())
}

/// Tools that tell it in their answers, and those that tell it in a failure.
const TELL: [&str; 4] = ["odd/tell", "web/tell", "pair/tell", "api/things"];
const FAIL: [&str; 13] = [
    "odd/fail",
    "odd/refuse",
    "odd/die",
    "web/fail",
    "web/denied",
    "web/broken",
    "web/odd",
    "pair/fail",
    "pair/denied",
    "pair/broken",
    "api/denied",
    "api/broken",
    "api/missing",
];

fn no_command_shows_a_credential() {
    let config = telling("canary/commands");
    let at = ["--upstreams-config", &config];
    for mode in ["live", "frozen"] {
        for json in [&[][..], &["--json"]] {
            let ran = ptc(&[&["upstream", "list", "--catalog-snapshot-mode", mode], json, &at[..]].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            assert!(ran.out.contains("[REDACTED]"), "the servers do tell it: {ran:?}");
            clean_run("list", &ran);
        }
    }
    for (tool, code) in TELL.iter().map(|tool| (tool, 0)).chain(FAIL.iter().map(|tool| (tool, 1))) {
        for json in [&[][..], &["--json"]] {
            let ran = ptc(&[&["upstream", "doc", tool], json, &at[..]].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            clean_run(tool, &ran);
            let ran = ptc(&[&["upstream", "call", tool], json, &at[..]].concat());
            assert_eq!(ran.code, code, "{tool}: {ran:?}");
            clean_run(tool, &ran);
        }
    }
}

/// Programs over all tools, each of which shows what it got in another way.
fn programs() -> Vec<String> {
    let quoted =
        |tools: &[&str]| tools.iter().map(|tool| format!("\"{tool}\"")).collect::<Vec<_>>().join(" ");
    let (tell, fail) = (quoted(&TELL), quoted(&FAIL));
    let call = "(fn [t] (let [[s n] (clojure.string/split t #\"/\")] (tool/call {:server s :tool n})))";
    let mut all: Vec<String> = [
        format!("(map {call} [{tell}])"),
        format!("(pmap {call} [{fail}])"),
        format!("(do (println (map {call} [{tell}])) 1)"),
        format!("(fail (map {call} [{tell} {fail}]))"),
        format!("(fail (str (map {call} [{tell} {fail}])))"),
        format!("(+ 1 (first (map {call} [{tell}])))"),
        format!("(do (doall (map {call} [{tell}])) (map doc [{tell}]))"),
        format!("(map meta [{tell}])"),
        format!("(json/generate-string (map {call} [{tell}]))"),
        // Sent back, it is in an error of ours.
        format!("(let [v (str ({call} \"web/tell\"))] (tool/call {{:server v :tool v}}))"),
        format!("(let [v (str ({call} \"web/tell\"))] (tool/call {{:server \"web\" :tool v}}))"),
        format!("(let [v (str ({call} \"web/tell\"))] (tool/call {{:server \"web\" :tool \"tell\" :args {{v inc}}}}))"),
        format!("(let [v (str ({call} \"web/tell\"))] (dir v))"),
    ]
    .into();
    all.extend(["(tool/servers)", "(map dir [\"odd\" \"web\" \"pair\" \"api\"])"].map(String::from));
    all.push("(apropos \"tell canary asks\" {:load true :limit 50})".to_string());
    all
}

fn no_program_shows_a_credential() {
    let config = telling("canary/programs");
    for program in programs() {
        for json in [&[][..], &["--json"]] {
            let ran = ptc(&[&["eval", "-e", &program, "--upstreams-config", &config], json].concat());
            assert!(ran.code < 2, "{ran:?}");
            clean_run(&program, &ran);
        }
    }
}

fn no_repl_shows_a_credential() {
    let config = telling("canary/repl");
    let input: String = programs().iter().map(|program| format!("{program}\n*1\n")).collect();
    let input = input + ":turns\n:tools\n:inventory\n";
    for json in [&[][..], &["--json"], &["--echo"]] {
        let ran = ptc_with(&[&["repl", "--upstreams-config", &config], json].concat(), input.as_bytes());
        assert!(ran.out.contains("[REDACTED]"), "{ran:?}");
        clean_run("repl", &ran);
    }
}

fn no_mission_keeps_a_credential() {
    // Without the server that dies: how long it rests is told, and differs from run to run.
    let programs: Vec<String> =
        programs().iter().take(3).map(|program| program.replace("\"odd/die\"", "")).collect();
    let mut replies: Vec<&str> = programs.iter().map(String::as_str).collect();
    let answer = "(return (map tool/call [{:server \"odd\" :tool \"tell\"} {:server \"web\" :tool \"tell\"} \
                  {:server \"odd\" :tool \"fail\"}]))";
    replies.push(answer);
    let config = telling("canary/mission");
    let mission = Mission::with("canary/mission", &config, &replies);
    // What the model was asked, as it was recorded; turns after the first hold what servers answered.
    let cassette = std::fs::read(&mission.cassette).expect("a cassette");
    assert!(String::from_utf8_lossy(&cassette).contains("[REDACTED]"));
    clean("prompts", &cassette);
    let folder = Path::new(&mission.cassette).parent().expect("a folder").join("kept");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let at = |name: &str| folder.join(name).display().to_string();
    for more in [&["--verbose"][..], &["--json"]] {
        let (trace, checkpoints) = (at("trace.jsonl"), at("checkpoints"));
        let kept = ["--trace", &trace, "--checkpoint", &checkpoints];
        let ran = mission.run(&[more, &kept].concat());
        assert!(ran.code == 0 && ran.out.contains("[REDACTED]"), "{ran:?}");
        clean_run("agent run", &ran);
    }
    assert!(clean_folder(&folder) >= 2, "a trace and a checkpoint");
    for form in ["show", "chrome"] {
        clean_run("trace", &ptc(&["trace", form, &at("trace.jsonl")]));
    }
}

fn no_artifact_keeps_a_credential() {
    let config = telling("canary/artifact");
    let store = Path::new(&config).parent().expect("a folder").join("store");
    let _ = std::fs::remove_dir_all(&store);
    let place = store.display().to_string();
    let program = "(let [v (str (:value (tool/call {:server \"odd\" :tool \"tell\"})))] \
                   (:version (prelude/write {:id \"kept\" :source (str \"(ns kept) (defn told [] \" (pr-str v) \")\")})))";
    let ran = ptc(&["eval", "-e", program, "--upstreams-config", &config, "--prelude-write", &place]);
    assert_eq!(ran.code, 0, "{ran:?}");
    clean_run("eval", &ran);
    assert!(clean_folder(&store) > 0);
}

fn no_server_shows_or_keeps_a_credential() {
    let config = telling("canary/server");
    let folder = Path::new(&config).parent().expect("a folder").join("kept");
    let _ = std::fs::remove_dir_all(&folder);
    let at = |name: &str| folder.join(name).display().to_string();
    let (traces, turns, kept) = (at("traces"), at("turns"), at("sessions"));
    for profile in ["slim", "structured", "debug"] {
        let flags = [
            "--response-profile",
            profile,
            "--sessions",
            "--debug-tool",
            "--client-log",
            "--log-level=debug",
        ];
        let files = [
            "--trace-dir",
            &traces,
            "--trace-payloads=full",
            "--turn-log-dir",
            &turns,
            "--session-dir",
            &kept,
        ];
        let mut server = crate::mcp::serve(&config, &[&flags[..], &files].concat());
        server.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
        server.ask("tools/list", json!({}));
        let id = server.call("lisp_session_start", json!({}))["structuredContent"]["session_id"].take();
        for program in programs() {
            server.call("lisp_eval", json!({"program": program, "output_schema": {"type": "string"}}));
            server.call("lisp_eval", json!({"program": program}));
            server.call(
                "lisp_session_eval",
                json!({"session_id": id, "program": format!("(def kept {program})")}),
            );
            server.call("lisp_session_eval", json!({"session_id": id, "program": "[kept *1 (str kept)]"}));
        }
        for view in ["overview", "memory", "prints", "tool_calls", "history", "limits"] {
            server.call("lisp_session_inspect", json!({"session_id": id, "view": view}));
        }
        let recent = server.call("lisp_debug", json!({"op": "recent", "limit": 100}));
        server.call("lisp_debug", json!({"op": "stats"}));
        for call in recent["structuredContent"]["calls"].as_array().into_iter().flatten() {
            server.call("lisp_debug", json!({"op": "get", "request_id": call["request_id"]}));
        }
        let said = std::mem::take(&mut server.said);
        let (code, log) = server.hang_up();
        assert_eq!(code, Some(0), "{log}");
        assert!(said.contains("[REDACTED]"), "the servers do tell it");
        clean("answers", said.as_bytes());
        clean("log", log.as_bytes());
    }
    assert!(clean_folder(&folder) > 50, "traces, turns and sessions");
}
