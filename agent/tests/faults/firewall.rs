//! Leaks of firewalled values: canaries are planted wherever data enters a mission, and may come out at one place only,
//! the result that the host gets.

use ptc_agent::definition::{PlanItem, PromptParts};
use ptc_agent::tools::{LlmRef, LlmTool, Tool};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::{LlmRequest, Reply, Scripted};
use ptc_runtime::ToolError;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Canaries, one per place, so that a leak shows its source.
const CONTEXT: &str = "canary-context-0001";
const DEEP: &str = "canary-deep-0002";
const NUMBER: i64 = 902_174_553_003;
const MEMORY: &str = "canary-memory-0004";
const ANSWER: &str = "canary-answer-0005";
const CHILD: &str = "canary-child-0006";
const MADE: &str = "canary-made-0007";
const FAILED: &str = "canary-failed-0008";
const ARGUMENT: &str = "canary-argument-0009";
const TASK: &str = "canary-task-0010";

fn canaries() -> Vec<String> {
    let texts = [CONTEXT, DEEP, MEMORY, ANSWER, CHILD, MADE, FAILED, ARGUMENT, TASK];
    texts.iter().map(|text| text.to_string()).chain([NUMBER.to_string()]).collect()
}

#[test]
fn nothing_firewalled_leaves_but_in_the_result() {
    let lookup = Tool::new("lookup", |_, _| Ok(json!({"n": 1, "_token": ANSWER})))
        .signature("(q :string?) -> {n :int, _token :string}");
    let refuse = Tool::new("refuse", |args, _| -> Result<(), ToolError> {
        Err(ToolError::new(format!("cannot take {}", args.json()?)))
    });
    let child = Agent::builder()
        .prompt("Look at {{what}}")
        .signature("(what :string, _key :string?) -> {n :int, _found :string}")
        .build()
        .unwrap();
    let judge =
        LlmTool::new("Is {{text}} polite?", "(text :string, note :string) -> {polite :bool}").unwrap();
    let agent = Agent::builder()
        .prompt("Work on {{_secret}} and {{rows}} and {{name}}")
        .signature("(rows :any, name :string, _secret :string) -> :any")
        .tool(lookup)
        .tool(refuse)
        .tool(Tool::agent("child", child))
        .tool(Tool::llm("judge", judge))
        .journaling(true)
        .llm_query(true)
        .plan(PlanItem::list(["one"]))
        .system_prompt(PromptParts { prefix: Some("Be brief.".to_string()), ..PromptParts::default() })
        .max_turns(20)
        .turn_budget(60)
        .build()
        .unwrap();
    let ok = |text: &'static str| Reply::from(format!("```clojure\n{text}\n```"));
    let model = Scripted::new([
        // Printed, returned as a value, put into texts.
        ok("(println data/_secret) (println data/rows) {:a data/_secret :rows data/rows}"),
        ok(
            "(def _kept data/_secret) (def kept {:_x data/_secret :shown (str \"<\" data/_secret \">\")}) kept",
        ),
        ok("(str \"number \" (:_n (first data/rows)) \" memory \" _old)"),
        // Tools: results, arguments, errors.
        ok("(def found (tool/lookup {})) found"),
        ok("(println (:_token found)) (tool/lookup {:q (:_token found)})"),
        ok("(tool/refuse {:_arg \"canary-argument-0009\" :open data/_secret})"),
        // Errors that quote values.
        ok("(+ 1 data/_secret)"),
        ok("(assert false (str \"because \" data/_secret))"),
        ok("(return (throw-away data/_secret))"),
        // Missions below.
        ok("(def below (tool/child {:what data/name :_key data/_secret})) below"),
        Reply::from("```clojure\n(println data/_key) (return {:n 1 :_found \"canary-child-0006\"})\n```"),
        ok("(tool/judge {:text (:_found below) :note data/_secret})"),
        Reply::from("{\"polite\": true}"),
        ok("(tool/llm-query {:prompt \"Say {{x}}\" :x data/_secret})"),
        Reply::from("fine"),
        // The journal and the plan.
        ok(
            "(task \"_hidden\" \"canary-task-0010\") (task \"shown\" {:_v \"canary-task-0010\"}) (step-done \"1\" (str data/_secret)) 1",
        ),
        // Values that a program makes itself.
        ok("(def made {:_m \"canary-made-0007\"}) (println (:_m made)) {:copy (:_m made)}"),
        ok("(return {:_out [data/_secret (:_m made) (:_token found)] :n 1})"),
    ]);
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let seen = events.clone();
    let tracer = Tracer::new().with(move |event: &Event| seen.lock().unwrap().push(event.clone()));
    let options = RunOptions::new()
        .context(&json!({
            "_secret": CONTEXT, "name": "tea",
            "rows": [{"_n": NUMBER, "deep": {"_d": [{"x": DEEP}]}, "open": 1}],
        }))
        .unwrap()
        .define("_old", MEMORY)
        .unwrap()
        .tracer(tracer)
        .llm(LlmRef::client(model.clone()));
    let step = run(&agent, &options).unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns.last()));

    assert_eq!(step.json().unwrap()["_out"], json!([CONTEXT, MADE, ANSWER]));
    assert_eq!(model.left(), 0);
    let requests: Vec<String> =
        model.requests().iter().map(|request: &LlmRequest| serde_json::to_string(request).unwrap()).collect();
    // Programs repeat the model's own words, so these canaries are no leak there.
    let own = [CHILD, MADE, ARGUMENT, TASK];
    for canary in canaries() {
        for (i, request) in model.requests().iter().enumerate() {
            let told: Vec<&str> = std::iter::once(request.system.as_str())
                .chain(
                    request
                        .messages
                        .iter()
                        .filter(|message| message.role != ptc_model::Role::Assistant)
                        .map(|message| message.content.as_str()),
                )
                .collect();
            let told = told.join("\n");
            assert!(!told.contains(&canary), "request {i} tells {canary}:\n{told}");
        }
        if !own.contains(&canary.as_str()) {
            assert!(requests.iter().all(|request| !request.contains(&canary)), "{canary}");
        }
        for event in events.lock().unwrap().iter() {
            // A model's own words are in its replies and programs, and in no event of a tool.
            let has_words = !event.kind.name().starts_with("tool.");
            if has_words && own.contains(&canary.as_str()) {
                continue;
            }
            let text = format!("{:?} {}", event, serde_json::to_string(&event.data).unwrap());
            assert!(!text.contains(&canary), "the event {} tells {canary}:\n{text}", event.kind.name());
        }
    }
}

#[test]
fn a_failure_tells_the_host_and_not_the_model_above() {
    let child =
        Agent::builder().prompt("Look").signature("(_key :string) -> :int").max_turns(1).build().unwrap();
    let agent = Agent::builder().prompt("Do").tool(Tool::agent("child", child)).build().unwrap();
    let model = Scripted::new([
        "(tool/child {:_key data/_k})",
        "(fail {:reason :no :message (str \"saw \" data/_key)})",
        "(return 1)",
    ]);
    let options =
        RunOptions::new().context(&json!({"_k": FAILED})).unwrap().llm(LlmRef::client(model.clone()));
    let step = run(&agent, &options).unwrap();
    assert_eq!(step.child_steps[0].reason(), "no");
    let told = serde_json::to_string(&model.requests()).unwrap();
    assert!(!told.contains(FAILED), "{told}");
}

#[test]
fn a_trace_shows_firewalled_values_only_if_the_agent_says_so() {
    for shown in [false, true] {
        let agent = Agent::builder().prompt("Do").trace_firewalled(shown).build().unwrap();
        let model = Scripted::new(["(println data/_k) (return 1)"]);
        let events: Arc<Mutex<String>> = Arc::default();
        let seen = events.clone();
        let tracer = Tracer::new().with(move |event: &Event| {
            seen.lock().unwrap().push_str(&serde_json::to_string(&event.data).unwrap());
        });
        let options = RunOptions::new().context(&json!({"_k": CONTEXT})).unwrap().tracer(tracer);
        run(&agent, &options.llm(LlmRef::client(model))).unwrap();
        assert_eq!(events.lock().unwrap().contains(CONTEXT), shown);
    }
}
