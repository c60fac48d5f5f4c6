//! Typical programs against real servers: a read, a join of two, and many calls at once.

use ptc_runtime::{Limits, Runtime};
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{CallLimits, Options, ProgramOptions, Upstream};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Helper that unwraps a result, also from the map in which the filesystem server puts texts.
const UNWRAP: &str = r#"
(def unwrap
  (fn [r]
    (if (:ok r)
      (let [v (:value r)] (if (map? v) (get v "content" v) v))
      (fail (:message r)))))
"#;

/// Runs a program; returns its result as text, and `ptc_metrics`.
fn run(upstream: &Upstream, program: &str) -> (String, Value) {
    // The time limit of the aggregator, and some more for busy machines.
    let limits = Limits { timeout_ms: 60_000, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("a runtime").limits(limits);
    let run = upstream.run(&runtime, &format!("{UNWRAP}{program}"), &ProgramOptions::default());
    let result = run.result().unwrap_or_else(|| panic!("{}", run.error().unwrap_or_default()));
    let metrics = run.metrics().expect("metrics");
    println!(
        "{result}: {} bytes of {}, ratio {}",
        metrics["final_result_bytes"], metrics["upstream_result_bytes"], metrics["payload_reduction_ratio"]
    );
    (result, metrics)
}

pub fn run_all(node: &Path, folder: &Path) {
    let sandbox = tempfile::tempdir().expect("a folder");
    let root = sandbox.path().canonicalize().expect("a path");
    let shown = root.to_str().expect("a path");
    std::fs::write(root.join("notes.md"), "remember the milk").expect("a file");
    std::fs::write(root.join("watched-paths.txt"), "f2.txt\nf4.txt\n").expect("a file");
    for id in (101..=110).filter(|id| *id != 105) {
        let item = json!({"name": format!("item {id}"), "about": "x".repeat(500)});
        std::fs::write(root.join(format!("{id}.json")), item.to_string()).expect("a file");
    }
    let repository = root.join("repository");
    std::fs::create_dir(&repository).expect("a folder");
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done = std::process::Command::new("git").args(who).args(args).current_dir(&repository).output();
        assert!(done.expect("git").status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    for n in 1..=6 {
        std::fs::write(repository.join(format!("f{n}.txt")), "a line\n".repeat(200)).expect("a file");
        git(&["add", "."]);
        git(&["commit", "-q", "-m", &format!("touch {n}")]);
    }
    let script = folder.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let everything = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let python = folder.join("venv/bin/python");
    let config = json!({"upstreams": {
        "fs": {"transport": "mcp_stdio", "command": node, "args": [script, root], "handshake_timeout_ms": 60000},
        "narrow": {"transport": "mcp_stdio", "command": node, "args": [everything, "stdio"], "max_concurrency": 5,
            "handshake_timeout_ms": 60000},
        "usual": {"transport": "mcp_stdio", "command": node, "args": [everything, "stdio"], "handshake_timeout_ms": 60000},
        "wide": {"transport": "mcp_stdio", "command": node, "args": [everything, "stdio"], "max_concurrency": 50,
            "handshake_timeout_ms": 60000},
        "git": {"transport": "mcp_stdio", "command": python, "args": ["-m", "mcp_server_git"],
            "handshake_timeout_ms": 60000},
    }});
    let around = Surroundings::current();
    let config = Config::parse(&config.to_string(), &root, &around).expect("a configuration");
    let patience = Duration::from_secs(60);
    let limits = CallLimits { call_timeout: patience, ..CallLimits::default() };
    let options = Options { boot_deadline: patience, limits, ..Options::default() };
    let upstream = Upstream::start(&config, &around, options).unwrap_or_else(|error| panic!("{error}"));

    let read = r#"(unwrap (tool/call {:server "fs" :tool "read_text_file" :args {:path "ROOT/notes.md"}}))"#;
    assert_eq!(run(&upstream, &read.replace("ROOT", shown)).0, "\"remember the milk\"");

    let join = r#"
(def log (unwrap (tool/call {:server "git" :tool "git_log" :args {:repo_path "ROOT/repository" :max_count 50}})))
(def watch-set
  (set (clojure.string/split-lines
        (unwrap (tool/call {:server "fs" :tool "read_text_file" :args {:path "ROOT/watched-paths.txt"}})))))
(def commits
  (pmap (fn [sha] (unwrap (tool/call {:server "git" :tool "git_show"
                                      :args {:repo_path "ROOT/repository" :revision sha}})))
        (re-seq #"[0-9a-f]{40}" log)))
(def hits
  (filter (fn [commit] (some (fn [path] (clojure.string/includes? commit (str "+++ b/" path))) watch-set)) commits))
(clojure.string/join ", " (map (fn [commit] (re-find #"touch \d" commit)) hits))
"#;
    let (hits, metrics) = run(&upstream, &join.replace("ROOT", shown));
    assert_eq!(hits, "\"touch 4, touch 2\"");
    assert_eq!(metrics["upstream_ok_count"], 8, "{metrics}");
    assert!(metrics["payload_reduction_ratio"].as_f64().is_some_and(|ratio| ratio > 100.0), "{metrics}");

    let batch = r#"
(def items
  (pmap (fn [id] (tool/call {:server "fs" :tool "read_text_file" :args {:path (str "ROOT/" id ".json")}}))
        [101 102 103 104 105 106 107 108 109 110]))
(def good (map (fn [r] (json/parse-string (unwrap r))) (filter :ok items)))
[(map :name good) (map :reason (remove :ok items))]
"#;
    let (batch, metrics) = run(&upstream, &batch.replace("ROOT", shown));
    assert!(batch.contains("item 104\" \"item 106") && batch.contains(":tool_error"), "{batch}");
    assert_eq!((&metrics["upstream_ok_count"], &metrics["upstream_error_count"]), (&json!(9), &json!(1)));

    // Fifty calls of 100 ms each. The duration is printed, not checked: machines may be busy.
    for (server, slots) in [("narrow", 5), ("usual", 8), ("wide", 50)] {
        let call = format!(
            "(tool/call {{:server \"{server}\" :tool \"trigger-long-running-operation\" :args {{:duration 0.1 :steps 1}}}})"
        );
        run(&upstream, &format!("(:ok {call})"));
        let started = std::time::Instant::now();
        let (done, _) = run(&upstream, &format!("(count (filter :ok (pmap (fn [_] {call}) (range 50))))"));
        assert_eq!(done, "50");
        println!("50 calls of 100 ms, {slots} at a time: {} ms", started.elapsed().as_millis());
    }
    upstream.stop();
}
