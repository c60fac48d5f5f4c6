//! `--upstreams-config` on `run`, `eval` and `repl`.

use crate::{file, good, mixed, ptc, ptc_with, trial};
use libtest_mimic::Trial;
use serde_json::json;

fn a_tool_comes_from_one_place() {
    let config = crate::good("one-place/servers");
    let ran = crate::ptc(&["eval", "-e", "1", "--upstreams-config", &config, "--stub", "call=1"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("tool/call comes from both --stub call and the servers of --upstreams-config"),
        "{ran:?}"
    );
    let ran = crate::ptc(&["eval", "-e", "1", "--stub", "a=1", "--stub", "a=2"]);
    assert!(ran.code == 2 && ran.err.contains("--stub gives `a` twice"), "{ran:?}");
}

pub fn tests() -> Vec<Trial> {
    vec![
        trial("a_tool_comes_from_one_place", a_tool_comes_from_one_place),
        trial("programs_call_servers", programs_call_servers),
        trial("json_tells_calls_and_metrics", json_tells_calls_and_metrics),
        trial("faults_of_the_world_are_values_and_faults_of_programs_end_them", faults),
        trial("budgets_are_flags", budgets_are_flags),
        trial("a_slow_server_does_not_outlast_the_program", a_slow_server_does_not_outlast_the_program),
        trial("the_repl_has_servers", the_repl_has_servers),
        trial("preludes_are_checked_against_servers", preludes_are_checked_against_servers),
        trial(
            "a_missing_operation_is_found_before_anything_is_called",
            a_missing_operation_is_found_before_anything_is_called,
        ),
        trial("what_takes_no_servers_says_so", what_takes_no_servers_says_so),
    ]
}

const READ: &str = r#"(get-in (tool/call {:server "fs" :tool "read_text_file" :args {:path "notes.md"}}) [:value "content"])"#;

fn programs_call_servers() {
    let config = good("programs");
    let program = file("programs/read.clj", READ);
    ptc(&["run", &program, "--upstreams-config", &config]).expect(0, "\"remember the milk\"\n");
    ptc(&["eval", "-e", READ, "--upstreams-config", &config]).expect(0, "\"remember the milk\"\n");
    ptc_with(&["eval", "--upstreams-config", &config], READ.as_bytes()).expect(0, "\"remember the milk\"\n");
    let mut by_variable = crate::command(&["run", &program]);
    by_variable.env("PTC_UPSTREAMS", &config);
    crate::finish(by_variable, b"").expect(0, "\"remember the milk\"\n");
    let many = format!("(count (filter #(= % \"remember the milk\") (pmap (fn [_] {READ}) (range 50))))");
    ptc(&["eval", "-e", &many, "--upstreams-config", &config]).expect(0, "50\n");
}

fn json_tells_calls_and_metrics() {
    let config = good("metrics");
    let program =
        r#"(count (:value (tool/call {:server "fs" :tool "read_text_file" :args {:path "orders.json"}})))"#;
    let json = ptc(&["eval", "-e", program, "--upstreams-config", &config, "--json"]).json();
    assert_eq!((&json["ok"], &json["json"]), (&json!(true), &json!(1)));
    let call = &json["upstream_calls"][0];
    assert_eq!((&call["server"], &call["status"]), (&json!("fs"), &json!("ok")));
    let metrics = &json["ptc_metrics"];
    assert_eq!((&metrics["final_result_bytes"], &metrics["upstream_ok_count"]), (&json!(1), &json!(1)));
    assert_eq!(metrics["upstream_result_bytes"], call["result_bytes"]);
    // Nothing was called, so there is nothing to tell.
    let json = ptc(&["eval", "-e", "1", "--upstreams-config", &config, "--json"]).json();
    assert_eq!((&json["upstream_calls"], &json["ptc_metrics"]), (&json!([]), &json!(null)));
}

fn faults() {
    let config = mixed("faults");
    let eval = |program: &str| ptc(&["eval", "-e", program, "--upstreams-config", &config]);
    let all = r#"(map (fn [[server tool]] (:reason (tool/call {:server server :tool tool})))
                     [["gone" "x"] ["odd" "fail"] ["odd" "refuse"] ["fs" "list_directory"]])"#;
    let ran = eval(&all.replace(r#" ["fs" "list_directory"]"#, ""));
    ran.expect(0, "[:upstream_unavailable :tool_error :upstream_error]\n");
    let ran = eval(all);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(
        ran.err.contains("tool 'fs.list_directory' rejected args: missing required args path"),
        "{ran:?}"
    );
    assert!(ran.err.contains(" hint: it takes {:path string}\n"), "{ran:?}");
    let ran = eval(r#"(fail (:message (tool/call {:server "odd" :tool "fail"})))"#);
    assert!(ran.code == 1 && ran.err.contains("it broke: [REDACTED]"), "{ran:?}");
    // A server that died is there again for the next program, and the others never noticed.
    let ran =
        eval(&format!(r#"[(:reason (tool/call {{:server "odd" :tool "die"}})) {}]"#, super::runs::READ));
    ran.expect(0, "[:upstream_unavailable \"remember the milk\"]\n");
}

fn budgets_are_flags() {
    let config = good("budgets");
    let calls = r#"(map #(:reason %) (pmap tool/call (repeat 4 {:server "fs" :tool "list_directory" :args {:path ""}})))"#;
    let ran = ptc(&["eval", "-e", calls, "--upstreams-config", &config, "--max-tool-calls", "3"]);
    assert_eq!(ran.out.matches(":cap_exhausted").count(), 1, "{ran:?}");
    let looks = "[(count (dir 'fs)) (dir 'fs)]";
    let ran = ptc(&["eval", "-e", looks, "--upstreams-config", &config, "--max-catalog-ops", "1"]);
    ran.expect(0, "[2 nil]\n");
    let long = "[(count (dir 'fs)) (doc 'fs/read_text_file)]";
    let ran = ptc(&["eval", "-e", long, "--upstreams-config", &config, "--max-catalog-result-bytes", "40B"]);
    ran.expect(0, "[1 nil]\n");
    for (flag, value) in [
        ("--max-tool-calls", "0"),
        ("--max-catalog-ops", "many"),
        ("--upstream-call-timeout-ms", "-1"),
        ("--catalog-snapshot-mode", "cold"),
        ("--upstream-boot-policy", "hope"),
        ("--catalog-mode", "eager"),
    ] {
        let given = format!("{flag}={value}");
        let ran = ptc(&["eval", "-e", "1", "--upstreams-config", &config, &given]);
        assert!(ran.code == 2 && ran.err.contains(flag) && ran.err.contains(value), "{ran:?}");
    }
}

fn a_slow_server_does_not_outlast_the_program() {
    let config = mixed("slow");
    let wait = r#"(:reason (tool/call {:server "odd" :tool "wait" :args {:ms 600000}}))"#;
    let ran = ptc(&["eval", "-e", wait, "--upstreams-config", &config, "--timeout", "2s"]);
    ran.expect(0, ":timeout\n");
}

fn the_repl_has_servers() {
    let config = mixed("repl");
    let input = format!(
        "(map :name (tool/servers))\n(dir 'fs)\n{READ}\n(def r (tool/call {{:server \"odd\" :tool \"tell\"}}))\n\
         (get-in r [:value \"all\"])\n(tool/call {{:server \"fs\" :tool \"x\"}})\n:tools\n(:ok r)\n"
    );
    let ran = ptc_with(&["repl", "--upstreams-config", &config], input.as_bytes());
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            1,
            "[\"fs\" \"gone\" \"odd\"]\n\
             [\"list_directory - List the files\" \"read_text_file - Read a text file\"]\n\
             \"remember the milk\"\n#'r\n\"[REDACTED] [REDACTED] [REDACTED] [REDACTED]\"\n\
             tool/call, to the servers fs, gone, odd\ntrue\n"
        ),
        "{ran:?}"
    );
    assert!(ran.err.contains("no tool 'x' in upstream 'fs'") && ran.err.contains("it has: "), "{ran:?}");
    // Each input has its own budget.
    let twice = format!("{READ}\n{READ}\n");
    let ran = ptc_with(&["repl", "--upstreams-config", &config, "--max-tool-calls", "1"], twice.as_bytes());
    ran.expect(0, "\"remember the milk\"\n\"remember the milk\"\n");
    let ran = ptc(&["repl", "-e", READ, "--upstreams-config", &config]);
    ran.expect(0, "\"remember the milk\"\n");
}

fn preludes_are_checked_against_servers() {
    let config = good("preludes");
    let prelude = |tool: &str| {
        let text = format!(
            "(ns files) (defn text [path] (tool/call {{:server \"fs\" :tool \"{tool}\" :args {{:path path}}}}))"
        );
        file(&format!("preludes/{tool}.clj"), text)
    };
    let call = "(:ok (files/text \"notes.md\"))";
    let eval = |prelude: &str| {
        ptc(&[
            "eval",
            "-e",
            call,
            "-p",
            prelude,
            "--upstreams-config",
            &config,
            "--catalog-snapshot-mode",
            "frozen",
        ])
    };
    eval(&prelude("read_text_file")).expect(0, "true\n");
    let ran = eval(&prelude("read_any_file"));
    assert!(ran.code != 0 && ran.err.contains("upstream:fs/read_any_file"), "{ran:?}");
}

/// In every mode, and before the first step of the program has been sent anywhere.
fn a_missing_operation_is_found_before_anything_is_called() {
    let config = mixed("missing");
    let prelude = |name: &str, server: &str, tool: &str| {
        let call =
            |server: &str, tool: &str| format!("(tool/call {{:server \"{server}\" :tool \"{tool}\"}})");
        let text = format!(
            "(ns adm) (defn first-step [] {}) (defn next-step [] {})",
            call("odd", "write"),
            call(server, tool)
        );
        file(&format!("missing/{name}.clj"), text)
    };
    let program = "(do (adm/first-step) (adm/next-step))";
    let run = |prelude: &str, more: &[&str]| {
        let args = ["eval", "-e", program, "-p", prelude, "--upstreams-config", &config, "--json"];
        ptc(&[&args, more].concat())
    };
    let modes: [&[&str]; 3] = [
        &[],
        &["--catalog-snapshot-mode", "live"],
        &["--catalog-snapshot-mode", "frozen", "--upstream-boot-policy", "degrade"],
    ];
    for mode in modes {
        let ran = run(&prelude("absent", "fs", "no_such_tool"), mode);
        assert!(ran.code != 0 && ran.out.contains("prelude_attach_failed"), "{mode:?}: {ran:?}");
        assert!(ran.out.contains("adm/next-step requires upstream:fs/no_such_tool"), "{mode:?}: {ran:?}");
        // A server that cannot be started has no tools that could be counted on.
        let ran = run(&prelude("gone", "gone", "x"), mode);
        assert!(
            ran.code != 0 && ran.out.contains("the tools of `gone` cannot be listed"),
            "{mode:?}: {ran:?}"
        );
    }
    // What is all there runs.
    let ran = run(&prelude("there", "fs", "list_directory"), &[]);
    assert!(!ran.out.contains("prelude_attach_failed"), "{ran:?}");
}

fn what_takes_no_servers_says_so() {
    let config = good("jsonl");
    let ran = ptc(&["eval", "--jsonl", "--upstreams-config", &config]);
    assert!(
        ran.code == 2 && ran.err.contains("'--jsonl' cannot be used with '--upstreams-config <FILE>'"),
        "{ran:?}"
    );
    for command in
        [&["run", "x.clj"][..], &["eval"], &["repl"], &["agent", "run", "x.toml"], &["upstream", "list"]]
    {
        let help = ptc(&[command, &["--help-all"]].concat()).out;
        assert!(help.contains("--upstreams-config <FILE>") && help.contains("--catalog-mode"), "{help}");
    }
}
