//! Conditions for offering tasks.

use crate::world::{READS, World, call, planner, settings, with_file};
use ptc_agent::RunOptions;
use ptc_agent::tools::LlmRef;
use ptc_mcp::task::Wanted;
use ptc_mcp::{Planner, Settings};
use ptc_model::Scripted;
use serde_json::json;

#[test]
fn tasks_need_servers_and_somebody_who_answers_for_writes() {
    let wanted = |flags: &[&str], has_upstreams| Wanted::by(&settings(flags), has_upstreams);
    assert_eq!(wanted(&[], true), Ok(Wanted::No));
    assert_eq!(wanted(&["--agentic"], false), Ok(Wanted::WithoutServers));
    assert_eq!(wanted(&["--agentic", "--aggregator-read-only"], true), Ok(Wanted::Yes));
    assert_eq!(wanted(&["--agentic", "--agentic-allow-writes"], true), Ok(Wanted::Yes));
    let refused = wanted(&["--agentic"], true).unwrap_err();
    assert!(refused.contains("--aggregator-read-only") && refused.contains("--agentic-allow-writes"));
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    for (flags, told) in [
        (&["--agentic-allow-writes"][..], "--agentic-allow-writes has no effect without --agentic"),
        (
            &["--agentic-max-turns=0"],
            "--agentic-max-turns / PTC_MCP_AGENTIC_MAX_TURNS must be a positive integer, got: \"0\"",
        ),
        (
            &["--agentic-retry-turns=-1"],
            "--agentic-retry-turns / PTC_MCP_AGENTIC_RETRY_TURNS must be a whole number, got: \"-1\"",
        ),
        (
            &["--agentic-replay=a", "--agentic-record=b"],
            "--agentic-replay and --agentic-record cannot be used together",
        ),
    ] {
        let problems = Settings::resolve(flags.iter().copied(), |_| None).unwrap_err();
        assert_eq!(problems[0].to_string(), told);
    }
    assert_eq!(settings(&["--agentic-retry-turns=0"]).agentic_retry_turns, Some(0));
}

#[test]
fn a_planner_needs_a_model() {
    let error = planner(READS, RunOptions::new()).err().unwrap();
    assert_eq!(error, "--agentic needs a model: name one with --agentic-model");
    // A model without a key causes a warning, and does not prevent the start.
    let keyless = ptc_model::Registry::default().env(|_| None);
    let doubt =
        planner(READS, RunOptions::new().models(keyless).llm("anthropic:x")).unwrap().doubt().unwrap();
    assert!(doubt.contains("needs a key in the environment variable `ANTHROPIC_API_KEY`"), "{doubt}");
}

fn configured(name: &str, text: &str) -> Result<Planner, String> {
    let flag = with_file("agentic-subagent-config", &format!("{name}.json"), text);
    let models = RunOptions::new().llm(LlmRef::client(Scripted::new([""; 0])));
    planner(&[READS, &[&*flag]].concat(), models)
}

#[test]
fn keys_of_the_file_that_are_not_ours_to_take_fail() {
    let allowed = "allowed are max_turns, retry_turns, system_prompt";
    for key in
        ["tools", "signature", "output", "ptc_transport", "completion_mode", "trace_context", "_anything"]
    {
        let error = configured("reserved", &json!({key: 1}).to_string()).err().unwrap();
        assert!(error.ends_with(&format!("`{key}` is set by the server; {allowed}")), "{error}");
    }
    for (text, told) in [
        (r#"{"turns": 2}"#, &*format!("`turns` is unknown; {allowed}")),
        (
            r#"{"system_prompt": {"middle": ""}}"#,
            "`system_prompt.middle` is unknown; allowed are system_prompt.prefix, system_prompt.suffix",
        ),
        (r#"{"max_turns": 0}"#, "`max_turns` must be a whole number above zero, got 0"),
        (r#"{"retry_turns": -1}"#, "`retry_turns` must be a whole number, got -1"),
        (r#"{"system_prompt": "x"}"#, "`system_prompt` must be an object, got \"x\""),
        (r#"{"system_prompt": {"prefix": 1}}"#, "`system_prompt.prefix` must be a text, got 1"),
        ("[]", "it must be a JSON object"),
        ("{", "EOF while parsing an object at line 1 column 1"),
    ] {
        let error = configured("wrong", text).err().unwrap();
        assert!(error.starts_with("--agentic-subagent-config: ") && error.ends_with(told), "{error}");
    }
    let long = json!({"system_prompt": {"suffix": "x".repeat(4_097)}}).to_string();
    let error = configured("long", &long).err().unwrap();
    assert!(error.ends_with("`system_prompt.suffix` may have at most 4096 bytes, and has 4097"), "{error}");
    let missing =
        planner(&[READS, &["--agentic-subagent-config=no/such"]].concat(), RunOptions::new().llm("x"));
    assert!(missing.err().unwrap().starts_with("--agentic-subagent-config: no/such: "));
}

#[tokio::test]
async fn the_file_says_how_many_turns_and_what_the_model_is_told() {
    let text = r#"{"max_turns": 2, "retry_turns": 1, "system_prompt": {"prefix": "Be brief.", "suffix": "Be kind."}}"#;
    let flag = with_file("agentic-subagent-config", "good.json", text);
    let orders = call("orders");
    let world = World::new(&[READS, &[&*flag]], [orders.as_str(), "(inc nil)", "(return 1)"]);
    let told = world.task("Count").await;
    assert_eq!((&told["status"], &told["execution"]["turn_count"]), (&json!("ok"), &json!(3)), "{told}");
    let asked = world.asked(0);
    assert!(asked.starts_with("Be brief.\n") && asked.contains("\n\nBe kind."), "{asked}");
    // Flags take precedence.
    let world = World::new(
        &[READS, &[&*flag, "--agentic-max-turns=1", "--agentic-retry-turns=0"]],
        [orders.as_str(); 3],
    );
    assert_eq!(world.task("Count").await["reason"], "ptc_must_return_missing");
    assert_eq!(world.model.left(), 2);
}
