//! `ptc agent test`: cases of an agent, with what they should come to.

use crate::agent::cassette;
use crate::{Ran, file, ptc};
use ptc_agent::{Agent, RunOptions};
use ptc_testkit::provider;
use serde_json::{Value, json};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/orders_test.toml");
const SUM: &str =
    "prompt = \"Add {{a}} and {{b}}\"\nsignature = \"(a :int, b :int) -> {sum :int, _pin :string?}\"\n";

/// A folder with the agent [`SUM`], cassettes `NAME.jsonl` of these replies for 1 and 2, and these cases.
fn tested(folder: &str, replies: &[(&str, &[&str])], cases: &str, more: &[&str]) -> Ran {
    let agent = file(&format!("agent-testing/{folder}/sum.toml"), SUM);
    for (name, replies) in replies {
        let run = RunOptions::new().context(&json!({"a": 1, "b": 2})).expect("data");
        let agent = Agent::from_file(&agent).expect("an agent");
        cassette(&format!("agent-testing/{folder}/{name}.jsonl"), &agent, run, replies);
    }
    let cases = file(&format!("agent-testing/{folder}/cases.toml"), format!("agent = \"sum.toml\"\n{cases}"));
    ptc(&[&["agent", "test", &cases], more].concat())
}

/// A case for 1 and 2.
fn case(name: &str, rest: &str) -> String {
    format!("[[cases]]\nname = \"{name}\"\ninputs = {{a = 1, b = 2}}\n{rest}\n")
}

const GOOD: (&str, &[&str]) = ("good", &["(return {:sum (+ data/a data/b)})"]);

#[test]
fn the_example_passes_without_a_key() {
    let ran = ptc(&["agent", "test", CASES]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.out.contains("late orders in Germany  ok") && ran.out.contains("1 passed, 0 failed"),
        "{ran:?}"
    );
}

#[test]
fn cases_show_expected_and_got() {
    let cases = [
        case("right", "cassette = \"good.jsonl\"\nexpect = {sum = 3.0}"),
        case("wrong", "cassette = \"good.jsonl\"\nexpect = {sum = 4}"),
        case("checked", "cassette = \"good.jsonl\"\ncheck = \"(= (:sum data/result) (+ (:a data/inputs) (:b data/inputs)))\""),
        case("unchecked", "cassette = \"good.jsonl\"\ncheck = \"(is (= 5 (:sum data/result)))\""),
        case("falsy", "cassette = \"good.jsonl\"\ncheck = \"(neg? (:sum data/result))\""),
    ]
    .concat();
    let ran = tested("values", &[GOOD], &cases, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "right      ok    ",
        "wrong      FAIL  ",
        "checked    ok    ",
        "unchecked  FAIL  ",
        "falsy      FAIL  ",
        "expected  {\"sum\" 4}\n  got       {\"sum\" 3}\n  [\"sum\"]: expected 4, got 3\n",
        "expected  5\n",
        "got       3\n",
        "check is not true:",
        "2 passed, 3 failed",
    ] {
        assert!(ran.out.contains(part), "{part}:\n{}", ran.out);
    }
    let json = tested("values", &[GOOD], &cases, &["--json"]).json();
    assert_eq!(
        (&json["ok"], &json["cases"][0]["ok"], &json["cases"][0]["turns"]),
        (&json!(false), &json!(true), &json!(1))
    );
    assert!(json["cases"][0]["tokens"].as_u64().is_some() && json["cases"][0]["problem"].is_null());
    assert_eq!(json["cases"][1]["problem"]["is_failure"], true);
}

#[test]
fn limits_and_expected_failures_decide() {
    let slow: (&str, &[&str]) = ("slow", &["(+ 1 2)", "(return {:sum 3})"]);
    let fails: (&str, &[&str]) = ("fails", &["(fail {:reason :no_data :message \"nothing\"})"]);
    let cases = [
        case("quick", "cassette = \"slow.jsonl\"\nexpect = {sum = 3}\nmax_turns = 1"),
        case("fails", "cassette = \"fails.jsonl\"\nfails = \"no_data\""),
        case("other", "cassette = \"fails.jsonl\"\nfails = \"timeout\""),
        case("value", "cassette = \"slow.jsonl\"\nfails = \"no_data\""),
        case("failed", "cassette = \"fails.jsonl\"\nexpect = {sum = 3}"),
    ]
    .concat();
    let ran = tested("limits", &[slow, fails], &cases, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "quick: took 2 turns, but at most 1 allowed",
        "fails   ok    ",
        "other: expected timeout, got no_data: nothing",
        "value: expected no_data, got a value",
        "failed  ERROR ",
        "failed: no_data: nothing",
    ] {
        assert!(ran.out.contains(part), "{part}:\n{}", ran.out);
    }
}

#[test]
fn cassettes_that_do_not_fit_are_told() {
    let cases = [
        "[[cases]]\nname = \"changed\"\ninputs = {a = 7, b = 2}\ncassette = \"good.jsonl\"\nexpect = {sum = 9}\n".to_string(),
        case("gone", "cassette = \"gone.jsonl\"\nexpect = {sum = 3}"),
        case("empty", "cassette = \"empty.jsonl\"\nexpect = {sum = 3}"),
    ]
    .concat();
    file("agent-testing/cassettes/empty.jsonl", "");
    let ran = tested("cassettes", &[GOOD], &cases, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "changed: llm_error: this request is not in the cassette",
        "hint: the agent, its data or ptc changed",
        "record the cassette with --record",
        "0 passed, 3 failed",
    ] {
        assert!(ran.out.contains(part), "{part}:\n{}", ran.out);
    }
}

#[test]
fn firewalled_results_are_hidden() {
    let secret: (&str, &[&str]) = ("secret", &["(return {:sum 3 :_pin \"4711\"})"]);
    let cases = [
        case("value", "cassette = \"secret.jsonl\"\nexpect = {sum = 4, _pin = \"4711\"}"),
        case("check", "cassette = \"secret.jsonl\"\ncheck = \"(is (= 1 (:_pin data/result)))\""),
        case(
            "print",
            "cassette = \"secret.jsonl\"\ncheck = \"(println (:_pin data/result)) (is (= {} data/result))\"",
        ),
        case("throw", "cassette = \"secret.jsonl\"\ncheck = \"(throw (ex-info (:_pin data/result) {}))\""),
        case("same", "cassette = \"secret.jsonl\"\nexpect = {sum = 3, _pin = \"4711\"}"),
    ]
    .concat();
    let junit = file("agent-testing/secret/junit.xml", "");
    for more in [&[][..], &["--json"], &["--junit", &junit]] {
        let ran = tested("secret", &[secret], &cases, more);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(!ran.out.contains("4711") && !ran.err.contains("4711"), "{ran:?}");
        assert!(ran.out.contains("<Firewalled>"), "{ran:?}");
    }
    assert!(!std::fs::read_to_string(junit).unwrap().contains("4711"));
}

#[test]
fn a_live_model_is_recorded_and_played_again() {
    let reply = json!({
        "choices": [{"finish_reason": "stop", "message": {"content": "(return {:sum 3})"}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    });
    let server = provider::Provider::start(vec![provider::json(200, &reply); 3]);
    let model = format!("openai-compat:{}|m", server.url);
    let cases = case("recorded", "cassette = \"new.jsonl\"\nexpect = {sum = 3}");
    let ran = tested("live", &[], &cases, &["--record", "--llm", &model]);
    assert_eq!((ran.code, server.asked().len()), (0, 1), "{ran:?}");
    let ran = tested("live", &[], &cases, &["--json"]);
    assert_eq!((ran.code, server.asked().len()), (0, 1), "nothing is asked: {ran:?}");
    assert_eq!(ran.json()["cases"][0]["tokens"], 15);
    let dear = case("dear", "cassette = \"new.jsonl\"\nexpect = {sum = 3}\nmax_tokens = 14");
    let ran = tested("live", &[], &dear, &[]);
    assert!(ran.code == 1 && ran.out.contains("dear: took 15 tokens, but at most 14 allowed"), "{ran:?}");
    let ran = tested("live", &[], &cases, &["--live", "--llm", &model]);
    assert_eq!((ran.code, server.asked().len()), (0, 2), "{ran:?}");
    let ran = tested("live", &[], &case("no cassette", "expect = {sum = 3}"), &["--record", "--llm", &model]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--record: `no cassette` has no cassette"), "{ran:?}");
}

#[test]
fn stubs_stand_in_for_tools() {
    let agent = "prompt = \"Ask\"\nsignature = \"() -> :int\"\n[tools.rate]\nsignature = \"() -> :int\"\nanswer = 1\n";
    let agent = file("agent-testing/stubs/rate.toml", agent);
    let agent = Agent::from_file(&agent).expect("an agent");
    cassette("agent-testing/stubs/rate.jsonl", &agent, RunOptions::new(), &["(return (tool/rate))"]);
    let cases = "agent = \"rate.toml\"\nstubs = {rate = 19}\n[[cases]]\nname = \"rate\"\ncassette = \"rate.jsonl\"\nexpect = 19\n";
    let cases = file("agent-testing/stubs/cases.toml", cases);
    let ran = ptc(&["agent", "test", &cases]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = ptc(&["agent", "test", &cases, "--stub", "rate=7"]);
    assert!(ran.code == 1 && ran.out.contains("got       7"), "{ran:?}");
}

#[test]
fn a_case_has_stubs_of_its_own() {
    let agent = "prompt = \"Ask\"\nsignature = \"() -> :int\"\n[tools.rate]\nsignature = \"() -> :int\"\nanswer = 1\n";
    let agent = file("agent-testing/case-stubs/rate.toml", agent);
    let agent = Agent::from_file(&agent).expect("an agent");
    cassette("agent-testing/case-stubs/rate.jsonl", &agent, RunOptions::new(), &["(return (tool/rate))"]);
    let cases = "agent = \"rate.toml\"\nstubs = {rate = 19}\n\
        [[cases]]\nname = \"all\"\ncassette = \"rate.jsonl\"\nexpect = 19\n\
        [[cases]]\nname = \"own\"\ncassette = \"rate.jsonl\"\nstubs = {rate = 7}\nexpect = 7\n";
    let cases = file("agent-testing/case-stubs/cases.toml", cases);
    let ran = ptc(&["agent", "test", &cases]);
    assert!(ran.code == 0 && ran.out.contains("2 passed, 0 failed"), "{ran:?}");
    let ran = ptc(&["agent", "test", &cases, "--stub", "rate=7"]);
    assert!(ran.code == 1 && ran.out.contains("1 passed, 1 failed"), "the flag is for all cases: {ran:?}");
}

#[test]
fn a_stub_has_the_shape_that_its_tool_declares() {
    let agent = "prompt = \"Ask\"\n[tools.rate]\nsignature = \"() -> {percent :int}\"\nanswer = {percent = 1}\n\
        [tools.free]\nsignature = \"() -> :int\"\nvalidation = \"disabled\"\nanswer = 1\n";
    let agent = file("agent-testing/shapes/rate.toml", agent);
    let ran = ptc(&["agent", "check", &agent, "--stub", "rate={\"percent\":\"19\"}"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    let told =
        "this is not a `{percent :int}`, the result of `rate`: percent: expected int, got string \"19\"";
    assert!(ran.err.contains(&format!("--stub rate: {told}")), "{ran:?}");
    assert_eq!(
        ptc(&["agent", "check", &agent, "--stub", "rate={\"percent\":19}", "--stub", "free=\"x\""]).code,
        0
    );
    let cases = "agent = \"rate.toml\"\n[[cases]]\nname = \"a\"\nexpect = 1\n[cases.stubs]\nrate = {percent = \"19\"}\n";
    let cases = file("agent-testing/shapes/cases.toml", cases);
    let ran = ptc(&["agent", "test", &cases]);
    assert!(ran.code == 2 && ran.err.contains(&format!("cases.toml:6:1: {told}")), "{ran:?}");
    // A text without the quotes of JSON.
    let ran = ptc(&["eval", "-e", "1", "--stub", "name=Ada"]);
    assert!(ran.code == 2 && ran.err.contains("a text needs quotes of its own: 'name=\"Ada\"'"), "{ran:?}");
}

#[test]
fn costs_are_told_where_prices_are_known() {
    let reply = json!({
        "choices": [{"finish_reason": "stop", "message": {"content": "(return {:sum 3})"}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500}
    });
    let server = provider::Provider::start(vec![provider::json(200, &reply); 2]);
    let models = format!(
        "[models.m]\nadapter = \"openai_compat\"\nmodel = \"m\"\nbase_url = \"{}\"\nprices = {{input = 1.0, output = 4.0}}\n",
        server.url
    );
    let models = file("agent-testing/costs/models.toml", models);
    let case = case("priced", "cassette = \"new.jsonl\"\nexpect = {sum = 3}");
    let ran = tested("costs", &[], &case, &["--record", "--llm", "m", "--models", &models]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("1 passed, 0 failed, 1500 tokens, $0.003000\n"), "{ran:?}");
    // What was recorded has its cost, too.
    let json = tested("costs", &[], &case, &["--json"]).json();
    assert_eq!((&json["cost_usd"], &json["cases"][0]["cost_usd"]), (&json!(0.003), &json!(0.003)));
    assert_eq!(json["tokens"], 1500);
}

#[test]
fn all_that_is_wrong_with_cases_is_told_before_a_model_is_asked() {
    let server = provider::Provider::start(Vec::new());
    let model = format!("openai-compat:{}|m", server.url);
    file("agent-testing/early/far.clj", "(is (= 1\n  (frist data/result)))");
    let cases = "stub = 1\n\
        [[cases]]\nname = \"a\"\ncheck = \"(oops\"\n\
        [[cases]]\nname = \"b\"\ncheck_file = \"far.clj\"\n\
        [[cases]]\nname = \"c\"\nexpect = 1\nmax_turn = 3\nmax_tokens = \"many\"\n";
    let ran = tested("early", &[], cases, &["--llm", &model]);
    assert_eq!((ran.code, ran.out.as_str(), server.asked().len()), (2, "", 0), "{ran:?}");
    for part in [
        "cases.toml: 5 problems",
        "cases.toml:2:1: there is no key `stub`; did you mean `stubs`?",
        "cases.toml:5:1: `check` of `a` does not compile:\n",
        "far.clj:2:4: `check_file` of `b` does not compile:\n",
        "cases.toml:12:1: there is no key `max_turn`; did you mean `max_turns`?",
        "cases.toml:13:1: `max_tokens` cannot be read: invalid type: string \"many\", expected a whole number",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[test]
fn a_junit_report_has_every_case() {
    let junit = file("agent-testing/junit/report.xml", "");
    let cases = [
        case("right", "cassette = \"good.jsonl\"\nexpect = {sum = 3}"),
        case("<wrong>", "cassette = \"good.jsonl\"\nexpect = {sum = 4}"),
    ]
    .concat();
    assert_eq!(tested("junit", &[GOOD], &cases, &["--junit", &junit]).code, 1);
    let xml = std::fs::read_to_string(junit).unwrap();
    for part in [
        "<testsuites tests=\"2\" failures=\"1\" errors=\"0\">",
        "<testcase classname=\"cases\" name=\"right\" time=\"",
        "name=\"&lt;wrong&gt;\"",
        "<failure message=\"the value is not the expected one\">",
    ] {
        assert!(xml.contains(part), "{part}:\n{xml}");
    }
}

#[test]
fn files_that_are_no_cases_are_told() {
    for (cases, part) in [
        ("", "the file has no cases"),
        ("[[cases]]\nname = \"a\"\n", "`a` does not check the result"),
        ("[[cases]]\nname = \"a\"\nexpected = 1\n", "there is no key `expected`; did you mean `expect`?"),
        ("[[cases]]\nname = \"a\"\nexpect = 1\nfails = \"x\"\n", "has `fails`"),
        (
            "[[cases]]\nname = \"a\"\nexpect = 1\n[[cases]]\nname = \"a\"\nexpect = 1\n",
            "two cases called `a`",
        ),
        ("[[cases]\n", "is not valid TOML"),
        ("[[cases]]\nname = \"a\"\ncheck_file = \"no-such.clj\"\n", "no-such.clj"),
    ] {
        let ran = tested("wrong", &[], cases, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{cases}: {ran:?}");
        assert!(ran.err.contains(part), "{cases}: {ran:?}");
    }
    assert_eq!(ptc(&["agent", "test", "no/such.toml"]).code, 2);
    let gone =
        file("agent-testing/gone/cases.toml", "agent = \"gone.toml\"\n[[cases]]\nname = \"a\"\nexpect = 1\n");
    let ran = ptc(&["agent", "test", &gone]);
    assert!(ran.code == 2 && ran.err.contains("gone.toml"), "{ran:?}");
    let ran = tested(
        "filter",
        &[GOOD],
        &case("a", "cassette = \"good.jsonl\"\nexpect = {sum = 3}"),
        &["--filter", "b"],
    );
    assert!(ran.code == 2 && ran.err.contains("none of 1 case has `b` in its name"), "{ran:?}");
    let missing =
        "[[cases]]\nname = \"a\"\ninputs = {a = 1}\ncassette = \"good.jsonl\"\nexpect = {sum = 3}\n";
    let ran = tested("inputs", &[GOOD], missing, &["--json"]);
    let json: Value = ran.json();
    assert!(
        ran.code == 1 && json["cases"][0]["problem"]["message"].as_str().unwrap().contains("{{b}}"),
        "{json}"
    );
}
