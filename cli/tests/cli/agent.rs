//! `ptc agent`: missions from files, offline.

use crate::{Ran, file, ptc, ptc_with};
use ptc_agent::plan::{Execution, Plan, PlanStep};
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions};
use ptc_contract::template::OnMissing;
use ptc_model::{Recorder, Scripted};
use ptc_testkit::provider;
use ptc_testkit::wire::Reply;
use serde_json::json;
use std::path::Path;

const ORDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/orders.toml");
const LETTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/letter.toml");
const CASSETTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/orders.jsonl");
const DATA: [&str; 4] = ["--input", "country=DE", "--input", "today=2031-04-03"];

/// The mission of the example.
fn orders(more: &[&str]) -> Ran {
    let args: Vec<&str> = ["agent", "run", ORDERS, "--replay", CASSETTE]
        .into_iter()
        .chain(DATA)
        .chain(more.iter().copied())
        .collect();
    ptc(&args)
}

/// A cassette of an agent that a test builds as a command would.
pub fn cassette(name: &str, agent: &Agent, run: RunOptions, replies: &[&str]) -> String {
    let path = file(name, "");
    let recorder = Recorder::create(Scripted::new(replies.iter().copied()), &path).expect("a cassette");
    let _ = ptc_agent::run(agent, &run.llm(LlmRef::client(recorder)));
    path
}

#[test]
fn the_example_runs_without_a_key() {
    let ran = orders(&[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("\"refund\" 63.0") && ran.out.contains("Dear Edsger and Ada"), "{ran:?}");
    let ran = orders(&["--verbose"]);
    for part in [
        "turn 1\n",
        "turn 3\n",
        "    letter, turn 1\n",
        "tool/find_orders {\"country\":\"DE\"} => [{",
        "tool/write_letter",
        "| 4 orders to DE",
        "requests",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains('\u{1b}'), "no colours and no spinner in pipes");
    let json = orders(&["--json"]).json();
    assert_eq!(
        (&json["ok"], &json["json"]["late"][1]["action"], &json["turns"]),
        (&true.into(), &"refund".into(), &3.into())
    );
    assert_eq!(json["usage"]["tree"]["turns"], 4);
}

#[test]
fn replies_go_to_standard_error_as_they_arrive() {
    let quiet = orders(&[]);
    let ran = orders(&["--stream"]);
    assert_eq!((ran.code, &ran.out), (0, &quiet.out), "the result is the same");
    for part in [
        "turn 1\n  ",
        "(def orders (tool/find_orders {:country data/country}))\n",
        "tool/find_orders {\"country\":\"DE\"} => [{",
        "\n    letter, turn 1\n",
        "| 4 orders to DE",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(ran.err.matches("(def orders").count(), 1, "each reply is shown once: {}", ran.err);
    assert!(!ran.err.contains('\u{1b}'), "no colours and no spinner in pipes");
    let json = orders(&["--stream", "--json"]);
    assert!(json.err.contains("turn 1\n"), "{json:?}");
    assert_eq!(json.json()["ok"], true);
}

#[test]
fn a_failed_mission_says_why_and_what_to_do() {
    let ran = orders(&["--max-turns", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("error: llm_error: ") && ran.err.contains("not in the cassette"), "{ran:?}");
    let ran = ptc(&["agent", "run", LETTER, "--input", "customers=[\"Ada\"]", "--input", "days=3"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("error: llm_required: ") && ran.err.contains("hint: name a model with --llm"),
        "{ran:?}"
    );
    let json = orders(&["--max-turns", "1", "--json"]).json();
    assert_eq!((&json["ok"], &json["error"]["kind"]), (&false.into(), &"llm_error".into()));
    assert!(json["error"]["hint"].is_string());
}

/// A mission whose provider answers this, again and again.
fn provided(name: &str, answer: provider::Answer, more: &[&str]) -> (Ran, usize) {
    let server = provider::Provider::start(vec![answer; 4]);
    let agent = file(&format!("agent/{name}.toml"), "prompt = \"Count\"\nllm_retry = {base_delay = 1}\n");
    let model = format!("openai-compat:{}|m", server.url);
    let ran = ptc(&[&["agent", "run", &agent, "--llm", &model], more].concat());
    (ran, server.asked().len())
}

#[test]
fn errors_of_providers_have_class_status_and_attempts() {
    let answer = |status| provider::json(status, &json!({"error": {"message": "No", "type": "x"}}));
    for (status, class, attempts, said) in [
        (400, "client_error", 1, "1 attempt"),
        (401, "client_error", 1, "1 attempt"),
        (403, "client_error", 1, "1 attempt"),
        (404, "client_error", 1, "1 attempt"),
        (429, "rate_limit", 3, "3 attempts"),
        (503, "server_error", 3, "3 attempts"),
    ] {
        let (ran, asked) = provided("refused", answer(status), &[]);
        assert_eq!((ran.code, asked), (1, attempts), "{ran:?}");
        let wanted = format!("error: llm_error: No\n class: {class}, status {status}, {said}\n");
        assert!(ran.err.contains(&wanted), "{ran:?}");
        let details = provided("refused", answer(status), &["--json"]).0.json()["error"]["details"].clone();
        assert_eq!(
            (&details["class"], &details["status"], &details["attempts"]),
            (&json!(class), &json!(status), &json!(attempts))
        );
    }
}

#[test]
fn missions_of_the_repl_tell_as_much_of_a_provider() {
    let no = provider::json(401, &json!({"error": {"message": "No", "type": "x"}}));
    let server = provider::Provider::start([no]);
    let model = format!("openai-compat:{}|m", server.url);
    let ran = ptc_with(&["repl", "--llm", &model], b"/subagent \"Count\"\n");
    assert_eq!((ran.code, server.asked().len()), (1, 1), "{ran:?}");
    assert!(
        ran.err.contains("error: llm_error: No\n class: client_error, status 401, 1 attempt\n"),
        "{ran:?}"
    );
}

#[test]
fn a_refusal_of_the_model_is_a_reason_of_its_own() {
    let reply = |finish: &str, message: serde_json::Value| {
        provider::json(200, &json!({"choices": [{"finish_reason": finish, "message": message}]}))
    };
    let refusal = || reply("stop", json!({"content": null, "refusal": "I will not count."}));
    let (ran, asked) = provided("model-refused", refusal(), &[]);
    assert_eq!((ran.code, asked), (1, 1));
    assert!(ran.err.contains("error: model_refused: I will not count.\n hint: "), "{ran:?}");
    let json = provided("model-refused", refusal(), &["--json"]).0.json();
    assert_eq!(
        (&json["error"]["kind"], &json["error"]["message"]),
        (&json!("model_refused"), &json!("I will not count."))
    );
    let trace = file("agent/filtered.jsonl", "");
    let filtered = reply("content_filter", json!({"content": ""}));
    let (ran, _) = provided("filtered", filtered, &["--trace", &trace]);
    assert!(ran.err.contains("error: reply_filtered: "), "{ran:?}");
    let trace = std::fs::read_to_string(trace).expect("a trace");
    assert!(trace.contains(r#""stop":"filtered""#) && trace.contains("reply_filtered"), "{trace}");
}

#[test]
fn prompt_caching_by_flag_and_by_file() {
    let reply = Reply::text("```clojure\n(return 3)\n```");
    for (name, setting, flags) in [
        ("cached-no", "", &[][..]),
        ("cached-flag", "", &["--prompt-cache"][..]),
        ("cached-file", "prompt_cache = true\n", &[][..]),
    ] {
        let server = provider::Provider::start([provider::Answer::Says(reply.clone())]);
        let agent = file(&format!("agent/{name}.toml"), format!("prompt = \"Count\"\n{setting}"));
        // Behind OpenRouter, these models want to be asked.
        let model = format!("openai-compat:{}|anthropic/claude", server.url);
        let trace = file(&format!("agent/{name}.jsonl"), "");
        let args = ["agent", "run", &agent, "--llm", &model, "--json", "--trace", &trace];
        let json = ptc(&[&args[..], flags].concat()).json();
        assert_eq!((&json["ok"], &json["usage"]["cache_read_tokens"]), (&json!(true), &json!(8)), "{json}");
        assert!(std::fs::read_to_string(trace).expect("a trace").contains(r#""cache_read_tokens":8"#));
        let marked = &server.asked()[0].body["messages"][0]["content"][0]["cache_control"];
        assert_eq!(marked.is_object(), name != "cached-no", "{name}");
    }
}

#[test]
fn what_is_given_wrongly_ends_with_2() {
    let list = file("agent/list.json", "[1]");
    let bad = file("agent/bad.json", "{");
    let table = file("agent/models.toml", "[models.x]\nadapter = \"nobody\"\nmodel = \"m\"\n");
    for (args, part) in [
        (&["run", "no/such.toml"][..], "cannot read no/such.toml"),
        (&["run", &bad], "is not valid JSON"),
        (&["run", ORDERS], "--input country=… --input today=…"),
        (&["run", ORDERS, "--context", &list], "must hold an object"),
        (&["run", ORDERS, "--input", "country"], "NAME="),
        (&["run", LETTER, "--input", "customers=3", "--input", "days=3"], "customers: expected list"),
        (&["run", LETTER, "--input", "customers=[]", "--input", "days=1", "--replay", "no/such"], "no/such"),
        (
            &["run", LETTER, "--input", "customers=[]", "--input", "days=1", "--replay", &list],
            "not a cassette",
        ),
        (&["run", LETTER, "--input", "customers=[]", "--input", "days=1", "--llm", "haikuu"], "haiku"),
        (&["run", LETTER, "--input", "customers=[]", "--input", "days=1", "--models", &table], "nobody"),
        (
            &["run", LETTER, "--input", "customers=[]", "--input", "days=1", "--plan", &bad],
            "is not valid JSON",
        ),
        (&["run", LETTER, "--replay", "a", "--record", "b"], "cannot be used with"),
        (&["check", "no/such.toml"], "cannot read"),
        (&["replay", "no/such.jsonl"], "no/such.jsonl"),
    ] {
        let all: Vec<&str> = std::iter::once("agent").chain(args.iter().copied()).collect();
        let ran = ptc(&all);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains(part), "{args:?}: {part}: {}", ran.err);
    }
}

#[test]
fn a_check_names_file_and_line_of_every_problem() {
    file("agent/places/find.clj", "(def a 1)\n(frist data/rows)\n");
    file("agent/places/child.toml", "prompt = \"Say {{what}}\"\nsignature = \"(what :string) -> :strng\"\n");
    let agent = file(
        "agent/places/agent.toml",
        "prompt = \"Ask\"\n\n[tools.find]\nprogram = \"find.clj\"\n\n[tools.child]\nagent = \"child.toml\"\n\n\
         [tools.rate]\nanswr = 1\nsignature = \":strin\"\ncache = \"yes\"\n",
    );
    let ran = ptc(&["agent", "check", &agent]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    for part in [
        "agent.toml: 4 problems",
        "find.clj:2:2: invalid_tool: the tool `find`: its program does not compile:\n",
        "child.toml:2:1: invalid_signature: the tool `child`: ",
        "agent.toml:10:1: invalid_tool: the tool `rate`: there is no key `answr`; did you mean `answer`?",
        "agent.toml:12:1: invalid_tool: the tool `rate`: `cache` cannot be read: invalid type: string \"yes\"",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    // An unknown key of a JSON file stands where its value does.
    let agent = file("agent/places/agent.json", "{\"prompt\": \"Ask\",\n \"max_turn\": 3}");
    let ran = ptc(&["agent", "check", &agent]);
    assert!(ran.err.contains("agent.json:2:14: invalid_option"), "{ran:?}");
    let ran = ptc(&["agent", "run", &agent]);
    assert!(ran.code == 2 && ran.err.contains("agent.json:2:14: invalid_option"), "{ran:?}");
}

#[test]
fn a_check_tells_everything_at_once() {
    let wrong = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/wrong.toml");
    let ran = ptc(&["agent", "check", wrong]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    for part in [
        "did you mean `max_turns`",
        "`timeout` must be at least 1",
        "reserved",
        ":strin",
        "search.json",
        "problems",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(ran.err.contains("wrong.toml:4:1: invalid_option: there is no option `max_turn`"), "{ran:?}");
    let json = ptc(&["agent", "check", wrong, "--json"]);
    assert!(json.json()["errors"].as_array().is_some_and(|errors| errors.len() >= 5), "{json:?}");
    let first = &json.json()["errors"][0];
    assert_eq!((&first["key"], &first["line"], &first["column"]), (&json!("max_turn"), &json!(4), &json!(1)));
    let ran = ptc(&["agent", "check", ORDERS]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in
        ["(country :string, today :string) -> ", "find_orders(country :string?)", "(an agent)", "5 turns"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let ran = ptc(&["agent", "check", LETTER, "--input", "days=many"]);
    assert!(ran.code == 1 && ran.err.contains("days: expected int"), "{ran:?}");
    let ran =
        ptc(&["agent", "check", LETTER, "--input", "customers=[\"Ada\"]", "--input", "days=3", "--prompt"]);
    assert!(
        ran.out.contains("<mission>\nWrite to data/customers") && ran.out.contains("data/days"),
        "{ran:?}"
    );
    let named = file("agent/named.toml", "prompt = \"x\"\nllm = \"haikuu\"\n");
    let ran = ptc(&["agent", "check", &named]);
    assert!(ran.code == 1 && ran.err.contains("model_not_found"), "{ran:?}");
}

#[test]
fn files_that_name_themselves_are_refused() {
    let own = file("agent/loop.toml", "prompt = \"x\"\n[tools.again]\nagent = \"loop.toml\"\n");
    let ran = ptc(&["agent", "check", &own]);
    assert!(ran.code == 1 && ran.err.contains("refers to itself"), "{ran:?}");
}

#[test]
fn a_trace_is_played_again_and_a_change_is_found() {
    let trace = file("agent/play/run.jsonl", "");
    std::fs::remove_file(&trace).expect("a place for the trace");
    assert_eq!(orders(&["--trace", &trace]).code, 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = std::fs::metadata(&trace).expect("a trace");
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "a trace is for its user only");
    }
    let ran = ptc(&["agent", "replay", &trace]);
    ran.expect(0, "same: 3 turns, 4 requests, 1 tool call, and the result\n");
    assert_eq!(ptc(&["agent", "replay", &trace, "--json"]).json()["same"], true);

    let folder = Path::new(ORDERS).parent().expect("a folder");
    let other = std::fs::read_to_string(ORDERS).expect("the example").replace("above 40", "above 50");
    let other = other.replace("letter.toml", &folder.join("letter.toml").display().to_string());
    let other = other.replace("find_orders.clj", &folder.join("find_orders.clj").display().to_string());
    let other = file("agent/other.toml", other);
    let ran = ptc(&["agent", "replay", &trace, "--agent", &other]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in ["differs: turn 1 of `orders`: the request", "-Anything above 40", "+Anything above 50"] {
        assert!(ran.out.contains(part), "{part}: {ran:?}");
    }

    let text = std::fs::read_to_string(&trace).expect("a trace");
    let forged = text
        .replace("\\\"customer\\\":\\\"Ada\\\"", "x")
        .replace("\"customer\":\"Ada\"", "\"customer\":\"Eve\"");
    let forged = file("agent/forged.jsonl", forged);
    let ran = ptc(&["agent", "replay", &forged]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("differs: turn ") && ran.out.contains("Eve"), "{ran:?}");

    let cut = file("agent/cut.jsonl", text.lines().take(8).collect::<Vec<_>>().join("\n"));
    let ran = ptc(&["agent", "replay", &cut]);
    assert!(ran.code == 2 && ran.err.contains("ends before the mission does"), "{ran:?}");
    let broken = file("agent/broken.jsonl", format!("{text}{{\n"));
    let ran = ptc(&["agent", "replay", &broken]);
    assert!(ran.code == 2 && ran.err.contains("damaged"), "{ran:?}");
}

#[test]
fn a_mission_goes_on_from_a_checkpoint() {
    let text = "prompt = \"Add up\"\nmax_turns = 4\nllm_retry = { max_attempts = 1 }\n";
    let path = file("agent/add.toml", text);
    let agent = Agent::from_file(&path).expect("an agent");
    let replies = ["(defn twice [x] (* 2 x))", "(return (twice 21))"];
    let whole = cassette("agent/add.jsonl", &agent, RunOptions::new(), &replies);
    let lines = std::fs::read_to_string(&whole).expect("a cassette");
    let half = file("agent/half.jsonl", lines.lines().take(2).collect::<Vec<_>>().join("\n"));
    let folder = format!("{path}.checkpoints");
    let _ = std::fs::remove_dir_all(&folder);
    let ran = ptc(&["agent", "run", &path, "--replay", &half, "--checkpoint", &folder]);
    assert!(ran.code == 1 && ran.err.contains("all are used"), "{ran:?}");
    let ran = ptc(&["agent", "run", &path, "--replay", &whole, "--resume", &folder]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "42\n"), "{ran:?}");
    assert_eq!(ran.err, "warning: not used from the cassette: 1 request\n");
    let ran = ptc(&[
        "agent",
        "run",
        LETTER,
        "--input",
        "customers=[]",
        "--input",
        "days=1",
        "--replay",
        &whole,
        "--resume",
        &folder,
    ]);
    assert!(ran.code == 1 && ran.err.contains("belongs to another agent"), "{ran:?}");
}

#[test]
fn a_saved_plan_is_resumed_and_kept_up_to_date() {
    let text = "prompt = \"Follow the plan\"\nllm_retry = { max_attempts = 1 }\n";
    let path = file("agent/follow.toml", text);
    let steps = || [PlanStep::new("load", "Load the orders"), PlanStep::new("sum", "Sum them")];
    let mut plan = Plan::new("Orders", steps());
    plan.record(
        Execution::new("2031-04-02T08:00:01Z", "failed").step("load", "44 rows").failed("sum", "no prices"),
    );
    let saved = file("agent/plan.json", plan.to_json().expect("a plan"));
    let agent = Agent::from_file(&path)
        .and_then(|agent| agent.with(|agent| agent.plan(plan.items())))
        .expect("an agent");
    let replies = ["(step-done \"sum\" \"3 sums\") 3", "(return 3)"];
    let whole = cassette("agent/follow.jsonl", &agent, RunOptions::new(), &replies);
    let lines = std::fs::read_to_string(&whole).expect("a cassette");
    let asked = "- [x] load: Load the orders (44 rows)\\n- [ ] sum: Sum them (failed before: no prices)";
    assert!(lines.contains(asked), "{lines}");
    let half = file("agent/follow-half.jsonl", lines.lines().take(2).collect::<Vec<_>>().join("\n"));

    // A mission that ends in the middle: what it did is done.
    let trace = file("agent/follow/run.jsonl", "");
    let ran = ptc(&["agent", "run", &path, "--replay", &half, "--plan", &saved, "--trace", &trace]);
    assert!(ran.code == 1 && ran.err.contains("all are used"), "{ran:?}");
    let now = Plan::load(&saved).expect("a plan");
    let results: Vec<Option<&str>> = now.steps.iter().map(|step| step.result.as_deref()).collect();
    assert_eq!((results, now.remaining().count()), (vec![Some("44 rows"), Some("3 sums")], 0));
    assert_eq!((now.history.len(), now.history[1].status.as_str()), (2, "llm_error"));
    // A trace has the plan as it was.
    let ran = ptc(&["agent", "replay", &trace]);
    assert!(!ran.err.contains("the request"), "{ran:?}");

    // A list of texts is only read; a file that is no plan is told, and nothing runs.
    let list = file("agent/list.plan.json", "[\"Load the orders\"]");
    let ran = ptc(&["agent", "run", &path, "--replay", &whole, "--plan", &list]);
    assert!(ran.code == 1 && ran.err.contains("cassette"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&list).expect("a list"), "[\"Load the orders\"]");
    for wrong in ["{\"version\": 1, \"title\": \"x\"}", "{\"version\": 9, \"title\": \"x\", \"steps\": []}"] {
        let bad = file("agent/wrong.plan.json", wrong);
        let ran = ptc(&["agent", "run", &path, "--replay", &whole, "--plan", &bad]);
        assert!(
            ran.code == 2 && ran.err.contains("--plan: `") && ran.err.contains("this is not a plan"),
            "{ran:?}"
        );
        assert_eq!(std::fs::read_to_string(&bad).expect("the file"), wrong);
    }
}

#[test]
fn a_plan_that_is_gone_at_the_end_is_told() {
    let path = file("agent/gone.toml", "prompt = \"Follow the plan\"\nllm_retry = {base_delay = 1}\n");
    let saved = file(
        "agent/gone.json",
        Plan::new("Orders", [PlanStep::new("load", "Load")]).to_json().expect("a plan"),
    );
    let said = |text: &str| json!({"choices": [{"finish_reason": "stop", "message": {"content": text}}]});
    let deletes = saved.clone();
    let address = ptc_testkit::http::serve(move |_, stream| {
        let _ = std::fs::remove_file(&deletes);
        ptc_testkit::http::write(
            stream,
            200,
            &[],
            &said("(step-done \"load\" \"44 rows\") (return 44)").to_string(),
        )
    });
    let model = format!("openai-compat:{address}/v1|m");
    let ran = ptc(&["agent", "run", &path, "--llm", &model, "--plan", &saved]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "44\n"), "{ran:?}");
    let told = "warning: --plan: the plan `";
    assert!(
        ran.err.contains(told) && ran.err.contains("done, but not in the file: load (44 rows)"),
        "{ran:?}"
    );
    assert!(!Path::new(&saved).exists());
}

#[test]
fn tools_of_files_and_of_the_command_line() {
    let text = "prompt = \"Look\"\n[tools.rows]\nsignature = \"() -> [:int]\"\nanswer = [1, 2]\n[tools.half]\nsource = \"(if data/n (quot data/n 2) (fail \\\"no n\\\"))\"\n";
    let path = file("agent/tools.toml", text);
    let agent = Agent::from_file(&path).expect("an agent");
    let replies = ["(tool/half {})", "(return [(tool/rows) (tool/half {:n 9})])"];
    let recorded = cassette("agent/tools.jsonl", &agent, RunOptions::new(), &replies);
    let ran = ptc(&["agent", "run", &path, "--replay", &recorded, "-v"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "[[1 2] 4]\n"), "{ran:?}");
    assert!(ran.err.contains("tool/half {} => error: no n"), "{ran:?}");
    let ran = ptc(&["agent", "run", &path, "--replay", &recorded, "--stub", "rows=[7]"]);
    ran.expect(0, "[[7] 4]\n");
    let trace = file("agent/tools/run.jsonl", "");
    ptc(&["agent", "run", &path, "--replay", &recorded, "--stub", "rows=[7]", "--trace", &trace]);
    assert_eq!(ptc(&["agent", "replay", &trace]).code, 0);
}

#[test]
fn firewalled_data_is_in_no_trace() {
    let text = "prompt = \"Use the key\"\n[tools.open]\nanswer = true\n";
    let path = file("agent/secret.toml", text);
    let agent = Agent::from_file(&path).expect("an agent");
    let run = RunOptions::new().context(&json!({"_key": "hunter2-hunter2"})).expect("data");
    let recorded = cassette("agent/secret.jsonl", &agent, run, &["(return (tool/open {:key data/_key}))"]);
    let trace = file("agent/secret/run.jsonl", "");
    let ran = ptc(&[
        "agent",
        "run",
        &path,
        "--replay",
        &recorded,
        "--trace",
        &trace,
        "--input",
        "_key=hunter2-hunter2",
    ]);
    ran.expect(0, "true\n");
    assert!(!std::fs::read_to_string(&trace).expect("a trace").contains("hunter2"));
    let ran = ptc(&["agent", "replay", &trace]);
    assert!(ran.code == 2 && ran.err.contains("trace_firewalled = true"), "{ran:?}");
}

/// Seed 001, CLI commands: `/subagent` and `/subagent:verbose`.
#[test]
fn s001_subagent_commands_of_the_repl() {
    let ran = ptc_with(&["repl"], b"/subagent\n/subagent \"Count\"\n(+ 1 1)\n");
    ran.expect(1, "2\n");
    assert!(ran.err.contains("what is the mission?") && ran.err.contains("ptc repl --llm"), "{ran:?}");
    let ran = ptc_with(&["repl", "--llm", "nobody:x"], b"/subagent \"Count\"\n");
    assert!(ran.code == 1 && ran.err.contains("model_not_found"), "{ran:?}");

    let builder =
        Agent::builder().prompt("Count the rows").name("SubAgent").on_missing_template(OnMissing::Keep);
    let agent =
        builder.tool(Tool::answering("more", &json!([4])).expect("a tool")).build().expect("an agent");
    let run =
        RunOptions::new().context(&json!({"rows": [1, 2]})).expect("data").define("n", &1).expect("data");
    let replies = ["(return {:count (+ n (count data/rows) (count (tool/more)))})"];
    let recorded = cassette("agent/repl.jsonl", &agent, run, &replies);
    let args = ["repl", "--replay", &recorded, "--data", "rows=[1,2]", "--stub", "more=[4]"];
    let ran = ptc_with(&args, b"(def n 1)\n/subagent \"Count the rows\"\n(:count *1)\n");
    ran.expect(
        0,
        "#'n\n[SubAgent] Executing: (return {:count (+ n (count data/rows) (count (tool/more)))})\n[SubAgent] Result: {\"count\" 4}\n4\n",
    );
    let ran = ptc_with(&args, b"(def n 1)\n/subagent:verbose \"Count the rows\"\n");
    ran.expect(0, "#'n\n[SubAgent] Result: {\"count\" 4}\n");
    assert!(ran.err.contains("turn 1\n") && ran.err.contains("tool/more {} => [4]"), "{ran:?}");
}

#[test]
fn a_limit_in_dollars_is_refused_where_it_would_not_hold() {
    let agent = file("costly.toml", "prompt = \"Count\"\nllm = \"main\"\nmax_cost_usd = 0.0001\n");
    let model = "[models.main]\nadapter = \"anthropic\"\nmodel = \"claude\"\n";
    let unpriced = file("unpriced.toml", model);
    for command in [&["agent", "check"][..], &["agent", "run"]] {
        let ran = ptc(&[command, &[&agent, "--models", &unpriced]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert!(ran.err.contains("the model `main` has no prices"), "{ran:?}");
        assert!(ran.err.contains("prices = { input = 1.0, output = 5.0 }"), "{ran:?}");
    }
    let priced = file("priced.toml", format!("{model}prices = {{ input = 1.0, output = 5.0 }}\n"));
    assert_eq!(ptc(&["agent", "check", &agent, "--models", &priced]).code, 0);
    let tokens =
        file("tokens.toml", "prompt = \"Count\"\nllm = \"main\"\nmax_cost_usd = 0.1\ntoken_limit = 9000\n");
    assert_eq!(ptc(&["agent", "check", &tokens, "--models", &unpriced]).code, 0);
}
