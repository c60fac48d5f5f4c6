//! `ptc mcp` in front of other servers, as a client meets it.

use crate::serving::Server;
use crate::{command, config, entry, file, good, mixed, ptc, trial};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("the_tools_of_servers_are_not_its_own", the_tools_of_servers_are_not_its_own),
        trial(
            "descriptions_show_as_much_of_the_catalogue_as_asked",
            descriptions_show_as_much_of_the_catalogue_as_asked,
        ),
        trial("only_the_value_goes_back", only_the_value_goes_back),
        trial("accounting_is_where_the_profile_puts_it", accounting_is_where_the_profile_puts_it),
        trial("a_failure_still_tells_what_was_fetched", a_failure_still_tells_what_was_fetched),
        trial("metrics_of_a_session_are_of_one_program", metrics_of_a_session_are_of_one_program),
        trial("lookups_have_a_budget_of_their_own", lookups_have_a_budget_of_their_own),
        trial("a_server_that_is_not_there_stops_the_start", a_server_that_is_not_there_stops_the_start),
        trial("what_cannot_be_configured_stops_the_start", what_cannot_be_configured_stops_the_start),
        trial("without_servers_there_is_nothing_to_call", without_servers_there_is_nothing_to_call),
        trial("the_surface_stays_the_same_when_servers_die", the_surface_stays_the_same_when_servers_die),
    ]
}

pub fn serve(config: &str, flags: &[&str]) -> Server {
    Server::start(command(&[&["mcp", "--upstreams-config", config], flags].concat()))
}

fn program(server: &mut Server, program: &str) -> Value {
    server.call("lisp_eval", json!({"program": program}))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn tools(server: &mut Server) -> Value {
    server.ask("tools/list", json!({}))["tools"].take()
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

const READ: &str = r#"(tool/call {:server "fs" :tool "read_text_file" :args {:path "notes.md"}})"#;

fn the_tools_of_servers_are_not_its_own() {
    let config = good("mcp/tools");
    let mut server = serve(&config, &[]);
    let listed = tools(&mut server);
    assert_eq!(names(&listed), ["lisp_eval"]);
    let hints = &listed[0]["annotations"];
    assert_eq!((&hints["readOnlyHint"], &hints["openWorldHint"]), (&json!(false), &json!(true)));
    let mut server = serve(&config, &["--aggregator-read-only", "--sessions", "--debug-tool"]);
    let listed = tools(&mut server);
    assert_eq!(names(&listed).len(), 9);
    assert_eq!(listed[0]["annotations"]["readOnlyHint"], true);
}

fn descriptions_show_as_much_of_the_catalogue_as_asked() {
    let config = good("mcp/catalogue");
    let told = |flags: &[&str]| {
        let listed = tools(&mut serve(&config, &[&["--sessions"], flags].concat()));
        let of = |name: &str| {
            let all = listed.as_array().expect("a list");
            let tool = all.iter().find(|tool| tool["name"] == name).expect("the tool");
            tool["description"].as_str().expect("a text").to_string()
        };
        (of("lisp_eval"), of("lisp_session_eval"))
    };
    for inline in [told(&[]), told(&["--catalog-mode=inline"])] {
        for text in [inline.0, inline.1] {
            let (hint, catalogue) = (text.find("apropos"), text.find("Configured upstream MCP servers:"));
            assert!(hint.is_some_and(|at| at < 400) && hint < catalogue, "{text}");
            assert!(
                text.contains("- fs: Files. 2 tools.")
                    && text.contains("- read_text_file - Read a text file"),
                "{text}"
            );
        }
    }
    for lazy in [told(&["--catalog-mode=lazy"]), told(&["--catalog-inline-max-tools=1"])] {
        for text in [lazy.0, lazy.1] {
            assert!(text.contains("fs") && !text.contains("read_text_file"), "{text}");
        }
    }
}

fn only_the_value_goes_back() {
    let mut server = serve(&good("mcp/value"), &[]);
    let answer = program(&mut server, &format!("(count (get (:value {READ}) \"content\"))"));
    assert_eq!(answer, json!({"isError": false, "content": [{"type": "text", "text": "user=> 17"}]}));
    let batch = program(
        &mut server,
        r#"(map :ok (pmap (fn [p] (tool/call {:server "fs" :tool "read_text_file" :args {:path p}})) ["notes.md" "none" "orders.json"]))"#,
    );
    assert_eq!(text(&batch), "user=> [true false true]");
    let wrong = program(&mut server, r#"(tool/call {:server "nowhere" :tool "x"})"#);
    assert_eq!(wrong["isError"], true);
    assert!(text(&wrong).contains("runtime_error: no upstream 'nowhere' configured"), "{wrong}");
}

fn accounting_is_where_the_profile_puts_it() {
    let config = good("mcp/profiles");
    let read = format!("(count (get (:value {READ}) \"content\"))");
    let mut debug = serve(&config, &["--response-profile=debug"]);
    let told = program(&mut debug, &read);
    let structured = &told["structuredContent"];
    assert_eq!(serde_json::from_str::<Value>(text(&told)).expect("the same as JSON"), *structured);
    let call = &structured["upstream_calls"][0];
    assert_eq!(
        (&call["server"], &call["tool"], &call["status"]),
        (&json!("fs"), &json!("read_text_file"), &json!("ok"))
    );
    assert_eq!((&call["oversize"], call["duration_ms"].is_u64()), (&json!(false), true));
    let metrics = &structured["ptc_metrics"];
    let bytes = call["result_bytes"].as_u64().expect("a number");
    assert_eq!((&metrics["schema_version"], &metrics["upstream_result_bytes"]), (&json!(1), &json!(bytes)));
    assert_eq!(metrics["final_result_bytes"], json!("user=> 17".len()));
    let ratio = (bytes as f64 / 9.0 * 100.0).round() / 100.0;
    assert_eq!(metrics["payload_reduction_ratio"].as_f64(), Some(ratio), "{metrics}");
    assert_eq!(metrics["baseline"]["optimistic"]["available"], false);

    let mut structured = serve(&config, &["--response-profile=structured", "--debug-tool"]);
    let told = program(&mut structured, &read);
    for key in ["upstream_calls", "upstream_results", "ptc_metrics"] {
        assert!(told["structuredContent"].get(key).is_none(), "{told}");
    }
    let recent = structured.call("lisp_debug", json!({"op": "recent"}));
    let entry = &recent["structuredContent"]["calls"][0];
    assert_eq!(entry["ptc_metrics"]["upstream_result_bytes"], json!(bytes), "{recent}");
    let stats = structured.call("lisp_debug", json!({"op": "stats"}));
    assert_eq!(stats["structuredContent"]["upstream_calls"]["total"], 1, "{stats}");
}

fn a_failure_still_tells_what_was_fetched() {
    let mut server = serve(&good("mcp/failure"), &["--response-profile=debug"]);
    let told = program(&mut server, &format!("(do {READ} (fail :no))"))["structuredContent"].take();
    assert_eq!((&told["status"], &told["reason"]), (&json!("error"), &json!("fail")));
    let metrics = &told["ptc_metrics"];
    assert_eq!(
        (&metrics["final_result_bytes"], &metrics["payload_reduction_ratio"]),
        (&json!(0), &Value::Null)
    );
    assert!(metrics["upstream_result_bytes"].as_u64() > Some(0));
    let world = program(
        &mut server,
        r#"(:reason (tool/call {:server "fs" :tool "read_text_file" :args {:path "none"}}))"#,
    );
    let call = &world["structuredContent"]["upstream_calls"][0];
    assert_eq!((&call["status"], &call["reason"]), (&json!("error"), &json!("tool_error")));
    assert!(call["error"].as_str().is_some_and(|error| error.contains("cannot read it")), "{call}");
    assert_eq!(world["structuredContent"]["ptc_metrics"]["upstream_result_bytes"], 0);
}

fn metrics_of_a_session_are_of_one_program() {
    let mut server = serve(&good("mcp/session"), &["--sessions", "--response-profile=debug"]);
    let id = server.call("lisp_session_start", json!({}))["structuredContent"]["session_id"].take();
    for _ in 0..3 {
        let told = server.call("lisp_session_eval", json!({"session_id": id, "program": READ}));
        assert_eq!(told["structuredContent"]["ptc_metrics"]["upstream_call_count"], 1, "{told}");
        assert_eq!(told["structuredContent"]["upstream_calls"].as_array().map(Vec::len), Some(1));
    }
    let seen = server.call("lisp_session_inspect", json!({"session_id": id, "view": "tool_calls"}));
    assert_eq!(seen["structuredContent"]["upstream_calls"].as_array().map(Vec::len), Some(3), "{seen}");
}

fn lookups_have_a_budget_of_their_own() {
    let flags = ["--max-catalog-ops-per-program=2", "--max-upstream-calls-per-program=1"];
    let mut server = serve(&good("mcp/lookups"), &flags);
    let told = program(
        &mut server,
        &format!(
            "[(count (dir \"fs\")) (string? (doc \"fs/read_text_file\")) (dir \"fs\") (:ok {READ}) (:reason {READ})]"
        ),
    );
    assert_eq!(text(&told), "user=> [2 true nil true :cap_exhausted]");
}

fn a_server_that_is_not_there_stops_the_start() {
    let config = mixed("mcp/gone");
    let ran = ptc(&["mcp", "--upstreams-config", &config]);
    assert!(ran.code != 0 && ran.out.is_empty() && ran.err.contains("gone"), "{ran:?}");
    let mut server = serve(&config, &["--upstream-boot-policy=degrade"]);
    let told =
        program(&mut server, r#"(map (fn [s] [(get s "name") (get s "catalog_loaded")]) (tool/servers))"#);
    assert_eq!(text(&told), r#"user=> [["fs" true] ["gone" false] ["odd" true]]"#);
}

fn what_cannot_be_configured_stops_the_start() {
    let own =
        json!({"me": {"transport": "mcp_stdio", "command": env!("CARGO_BIN_EXE_ptc"), "args": ["mcp"]}});
    let fake = json!({"f": {"transport": "fake"}});
    let mut unset = entry("--server");
    unset["env"] = json!({"TOKEN": "${NOBODY_SET_THIS}"});
    let mut bound = json!({"w": {"transport": "mcp_http", "url": "https://localhost/mcp"}});
    bound["w"]["auth"] = json!([{"scheme": "bearer", "binding": "nobody"}]);
    let cases = [
        (config("mcp/own", own), "me"),
        (config("mcp/fake", fake), "transport"),
        (config("mcp/unset", json!({"fs": unset})), "NOBODY_SET_THIS"),
        (config("mcp/bound", bound), "references unknown credential binding 'nobody'"),
        (file("mcp/broken.json", "{"), "not valid JSON"),
        ("mcp/there-is-none.json".to_string(), "there-is-none"),
    ];
    for (config, expected) in cases {
        let ran = ptc(&["mcp", "--upstreams-config", &config]);
        assert!(ran.code != 0 && ran.out.is_empty(), "{ran:?}");
        assert!(ran.err.contains(expected), "{expected}: {ran:?}");
    }
}

fn without_servers_there_is_nothing_to_call() {
    let mut server = Server::start(command(&["mcp"]));
    let told = program(&mut server, &format!("(do (println 1) {READ})"));
    assert_eq!(told["isError"], true);
    assert!(text(&told).starts_with("runtime_error"), "{told}");
    // It was refused before it ran.
    assert!(!text(&told).contains("<prints>"), "{told}");
}

fn the_surface_stays_the_same_when_servers_die() {
    let mut server = serve(&config("mcp/dies", json!({"odd": entry("--misbehaving-server")})), &[]);
    let before = tools(&mut server);
    let told = program(&mut server, r#"(:reason (tool/call {:server "odd" :tool "die"}))"#);
    assert_eq!(text(&told), "user=> :upstream_unavailable");
    assert_eq!(tools(&mut server), before);
    let told = program(&mut server, r#"(count (dir "odd"))"#);
    assert_eq!(text(&told), "user=> 8", "what was listed at the start");
}
