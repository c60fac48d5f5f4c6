//! What hosts let through of preludes: rules of agents' files and of servers, and who may write preludes.

use crate::process::finish;
use crate::serving::Server;
use crate::{Ran, file, ptc};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const SHOP: &str = "(ns shop \"Prices.\")\n(def rate 19)\n(defn gross \"With tax.\" [n] (* n 2))\n(defn order [id] (tool/call {:server \"erp\" :tool \"order\" :args {:id id}}))\n";

fn shop(test: &str) -> String {
    file(&format!("policies/{test}/shop.clj"), SHOP)
}

fn serve(flags: &[&str], variables: &[(&str, &str)]) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command.arg("mcp").args(flags).envs(variables.iter().copied());
    Server::start(command)
}

fn refused(flags: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command.arg("mcp").args(flags);
    finish(command, b"")
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().expect("a text")
}

#[test]
fn a_server_shows_what_its_rules_let_through() {
    let shop = shop("server");
    let prelude = ["--prelude", &*shop, "--sessions"];
    let hidden = [
        (vec!["--prelude-hide", "shop/gross"], vec![]),
        (vec!["--prelude-hide=shop/g*"], vec![]),
        (vec![], vec![("PTC_MCP_PRELUDE_HIDE", "shop/gross")]),
    ];
    for (flags, variables) in hidden {
        let mut server = serve(&[&prelude[..], &flags].concat(), &variables);
        let session = server.call("lisp_session_start", json!({}))["structuredContent"]["session_id"].clone();
        for (tool, id) in [("lisp_eval", None), ("lisp_session_eval", Some(&session))] {
            let mut eval = |program: &str| {
                let mut args = json!({"program": program});
                if let Some(id) = id {
                    args["session_id"] = id.clone();
                }
                server.call(tool, args)
            };
            let called = eval("(shop/gross 2)");
            assert_eq!(called["isError"], true, "{called}");
            assert!(text(&called).contains("`shop/gross` is not an export of `shop`"), "{called}");
            assert!(
                text(&eval("(sort (keys (ns-publics 'shop)))")).starts_with("user=> [\"order\" \"rate\"]")
            );
            assert!(text(&eval("shop/rate")).starts_with("user=> 19"));
        }
        assert_eq!(server.hang_up().0, Some(0));
    }
    let mut server = serve(&[&prelude[..], &["--prelude-hide-writes"]].concat(), &[]);
    let names = server.call("lisp_eval", json!({"program": "(sort (keys (ns-publics 'shop)))"}));
    assert!(text(&names).starts_with("user=> [\"gross\" \"rate\"]"), "{names}");
    let mut server = serve(&[&prelude[..], &["--prelude-discoverable", "shop/gross"]].concat(), &[]);
    let found =
        server.call("lisp_eval", json!({"program": "[(:visibility (meta 'shop/gross)) (shop/gross 2)]"}));
    assert!(text(&found).starts_with("user=> [\"discoverable\" 4]"), "{found}");
    let any =
        file("policies/server/any.clj", "(ns any)\n(defn call [s t] (tool/call {:server s :tool t}))\n");
    let ran = refused(&["--prelude", &any, "--prelude-deny-dynamic"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("any/call may call any upstream operation"), "{ran:?}");
}

#[test]
fn an_agents_file_narrows_its_preludes() {
    let shop = shop("agent");
    let agent = |policy: &str| {
        let text =
            format!("prompt = \"Price\"\nmax_turns = 1\npreludes = [\"shop.clj\"]\npolicy = {policy}\n");
        file("policies/agent/agent.toml", text)
    };
    let run = |policy: &str, program: &str| {
        let model = ptc_model::Scripted::new([program]);
        let options = ptc_agent::RunOptions::new().llm(ptc_agent::tools::LlmRef::client(model.clone()));
        let made = ptc_agent::Agent::from_file(agent(policy)).expect("an agent");
        let ended = ptc_agent::run(&made, &options);
        (ended, model.requests()[0].system.clone())
    };
    let (ended, told) = run("{}", "(return (shop/gross 2))");
    assert_eq!(ended.unwrap().json().unwrap(), 4);
    assert!(told.contains("shop/gross (gross n)") && told.contains("shop/order"), "{told}");
    for policy in ["{ hide = [\"shop/gross\"] }", "{ hide = [\"shop/g*\"] }"] {
        let (ended, told) = run(policy, "(return (shop/gross 2))");
        assert!(ended.unwrap_err().fail.unwrap().message.contains("`shop/gross` is not an export of `shop`"));
        assert!(!told.contains("shop/gross") && told.contains("shop/order"), "{told}");
    }
    let (ended, told) = run("{ discoverable = [\"shop/gross\"] }", "(return (shop/gross 2))");
    assert!(ended.is_ok() && !told.contains("shop/gross"), "{told}");
    let (ended, told) = run("{ hide_writes = true }", "(return (sort (keys (ns-publics 'shop))))");
    assert_eq!(ended.unwrap().json().unwrap(), json!(["gross", "rate"]));
    assert!(!told.contains("shop/order"), "{told}");
    // A rule that fits nothing is a mistake, which a check finds.
    let checked = ptc(&["agent", "check", &agent("{ hide = [\"shop/gros\"] }")]);
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.err.contains("`shop/gros`, which no attached prelude exports"), "{checked:?}");
    assert!(checked.err.contains("did you mean `shop/gross`?"), "{checked:?}");
    assert_eq!(ptc(&["agent", "check", &agent("{ hide = [\"shop/gross\"] }")]).code, 0);
    assert!(Path::new(&shop).exists());
}

/// Preludes are written where the operator allows for it, there is a store, and the session was started for it; nobody
/// else sees the namespace or its tools.
#[test]
fn preludes_are_written_where_the_operator_and_the_session_say_so() {
    let shop = shop("writing");
    let store = ["--sessions", "--prelude-store-seed", &*shop];
    let start = |server: &mut Server, args: Value| server.call("lisp_session_start", args);
    let writing = || json!({"mode": "write_capable"});
    for (flags, why) in [
        (&store[..], "--sessions-allow-prelude-write"),
        (&["--sessions", "--sessions-allow-prelude-write"], "this server has none"),
    ] {
        let mut server = serve(flags, &[]);
        let answer = start(&mut server, writing());
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(answer.to_string().contains(why), "{answer}");
    }
    let mut server = serve(&[&store[..], &["--sessions-allow-prelude-write"]].concat(), &[]);
    let id = |answer: Value| answer["structuredContent"]["session_id"].clone();
    let reader = id(start(&mut server, json!({})));
    let writer = id(start(&mut server, writing()));
    let mut eval = |id: &Value, program: &str| {
        server.call("lisp_session_eval", json!({"session_id": id, "program": program}))
    };
    for program in ["(prelude/list)", "(tool/prelude_store_list {})", "(doc 'prelude/write)"] {
        assert_eq!(eval(&reader, program)["isError"], true, "{program}");
    }
    let seen = eval(&reader, "(count (filter #{\"prelude\"} (all-ns)))");
    assert!(text(&seen).starts_with("user=> 0"), "{seen}");
    assert_eq!(eval(&writer, "(tool/prelude_store_list {})")["isError"], true);
    let write = "(get (prelude/write {:id \"made\" :source \"(ns made) (def x 41)\"}) \"status\")";
    assert!(text(&eval(&writer, write)).starts_with("user=> \"ok\""));
    let next = id(server.call("lisp_session_start", json!({"preludes": ["made"]})));
    let found = server.call("lisp_session_eval", json!({"session_id": next, "program": "(inc made/x)"}));
    assert!(text(&found).starts_with("user=> 42"), "{found}");
}
