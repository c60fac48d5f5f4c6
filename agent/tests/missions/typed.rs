//! Rust types at both ends of a mission: arguments and answers of tools, and the result.

use crate::kit::{agent, told, value, with};
use ptc_agent::definition::Transport;
use ptc_agent::mission::{run_as, run_as_async};
use ptc_agent::tools::{Expose, Tool};
use ptc_agent::{RunOptions, run};
use ptc_model::{LlmResponse, Output, Scripted, ToolCall};
use ptc_runtime::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Deserialize, JsonSchema)]
struct Query {
    country: String,
    limit: Option<usize>,
}

#[derive(Serialize, Deserialize, JsonSchema, PartialEq, Debug)]
struct Order {
    country: String,
    id: u32,
}

fn find_orders() -> Tool {
    Tool::typed_async("find_orders", |query: Query, _| async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        if query.country == "??" {
            return Err(ToolError::new("no such country").hint("write NO or SE"));
        }
        assert_ne!(query.country, "panic", "a country that is none");
        let order = |id| Order { id, country: query.country.clone() };
        Ok((0..query.limit.unwrap_or(2) as u32).map(order).collect::<Vec<_>>())
    })
}

#[test]
fn an_async_tool_takes_and_gives_rust_types() {
    let tool = find_orders();
    assert_eq!(tool.signature_text(), "(country :string, limit :int?) -> [{country :string, id :int}]");
    let program = "(return (pmap #(count (tool/find_orders {:country \"NO\" :limit %})) [1 2 3]))";
    let agent = agent("Count").tool(tool).build().unwrap();
    assert_eq!(value(&run(&agent, &with(&Scripted::new([program]))).unwrap()), json!([1, 2, 3]));
}

#[test]
fn an_async_tool_in_a_call_of_the_model_itself() {
    let call = ToolCall::read(Some("a"), "find_orders", "{\"country\": \"NO\"}");
    let model = Scripted::new([LlmResponse::calls([call]), "Two.".into()]);
    let agent = agent("Count").output(Output::Text).tool(find_orders().expose(Expose::Native));
    let step = run(&agent.build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), "Two.");
    assert!(told(&model, 2).contains("\"country\":\"NO\""), "{}", told(&model, 2));
}

#[test]
fn what_an_async_tool_fails_with_is_told_and_ends_nothing() {
    for (args, expected) in [
        ("{:country \"??\"}", "no such country"),
        ("{:country \"panic\"}", "the tool panicked: "),
        ("{:country 7}", "`tool/find_orders` refuses its arguments"),
        ("{:limit 7}", "without `:country`"),
    ] {
        let model = Scripted::new([format!("(tool/find_orders {args})"), "(return 1)".into()]);
        let agent = agent("Count").tool(find_orders()).build().unwrap();
        let step = run(&agent, &with(&model)).unwrap();
        assert_eq!(step.usage.turns, 2);
        assert!(told(&model, 2).contains(expected), "{args}: {}", told(&model, 2));
    }
}

#[test]
fn arguments_that_the_signature_lets_through_are_still_read_as_the_type() {
    #[derive(Deserialize, JsonSchema)]
    struct Small {
        n: u8,
    }
    let tool = Tool::typed_async("small", |small: Small, _| async move { Ok(small.n) });
    let model = Scripted::new(["(tool/small {:n 300})", "(return 1)"]);
    run(&agent("Count").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert!(told(&model, 2).contains("bad arguments"), "{}", told(&model, 2));
}

#[test]
fn a_type_that_no_signature_can_say_is_told_when_the_agent_is_built() {
    #[derive(Deserialize, JsonSchema)]
    struct Tree {
        #[allow(dead_code)]
        below: Vec<Tree>,
    }
    let tool = Tool::typed_async("tree", |_: Tree, _| async { Ok(1) });
    let error = agent("Count").tool(tool).build().unwrap_err();
    assert_eq!(error.reason.name(), "invalid_signature");
    assert!(error.message.contains("the signature of the tool `tree`"), "{error}");
}

#[test]
fn a_call_that_nobody_waits_for_is_dropped_where_it_waits() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let gone = Arc::<AtomicBool>::default();
    let seen = gone.clone();
    let slow = Tool::typed_async("slow", move |_: Query, _| {
        let gone = Gone(gone.clone());
        async move {
            std::future::pending::<()>().await;
            drop(gone);
            Ok(1)
        }
    });
    let model = Scripted::new(["(tool/slow {:country \"NO\"})", "(return 1)"]);
    run(&agent("Wait").tool(slow.timeout(20)).build().unwrap(), &with(&model)).unwrap();
    assert!(told(&model, 2).contains("no result within 20 ms"), "{}", told(&model, 2));
    assert!(seen.load(Ordering::SeqCst));
}

/// A report on orders.
#[derive(Deserialize, JsonSchema, PartialEq, Debug)]
struct Report {
    /// Orders that are late.
    late: u32,
    worst: Option<Order>,
}

#[test]
fn a_result_is_the_type_that_was_asked_for() {
    let model =
        Scripted::new(["(return {:late \"many\"})", "(return {:late 2 :worst {:id 7 :country \"NO\"}})"]);
    let agent = agent("Look at {{city}}").signature("(city :string) -> :any").build().unwrap();
    let options = with(&model).context(&json!({"city": "Oslo"})).unwrap();
    let done = run_as::<Report>(&agent, &options).unwrap();
    let worst = Some(Order { id: 7, country: "NO".into() });
    assert_eq!((done.value, done.step.usage.turns), (Report { late: 2, worst }, 2));
    assert_eq!(done.step.signature, "(city :string) -> {late :int, worst {country :string, id :int}?}");
    let first = model.requests()[0].system.clone() + &told(&model, 1);
    assert!(first.contains("late") && first.contains("Orders that are late."), "the model knows: {first}");
    assert!(told(&model, 2).contains("late: expected int"), "{}", told(&model, 2));
    // The agent itself is unchanged.
    assert_eq!(agent.signature().to_string(), "(city :string) -> :any");
}

#[tokio::test]
async fn a_typed_result_of_an_agent_that_answers_in_words() {
    let model = Scripted::new(["It is {\"late\": 1}."]);
    let one_turn = agent("Look").output(Output::Text).max_turns(1).build().unwrap();
    let done = run_as_async::<Report>(&one_turn, &with(&model)).await.unwrap();
    assert_eq!(done.value, Report { late: 1, worst: None });
    let model = Scripted::new(["Fine."]);
    let agent = agent("Look").ptc_transport(Some(Transport::ToolCall)).output(Output::Text).build().unwrap();
    assert_eq!(run_as_async::<String>(&agent, &with(&model)).await.unwrap().value, "Fine.");
}

#[test]
fn a_mission_without_a_result_is_an_error() {
    let error = run_as::<Report>("Look", &RunOptions::new()).unwrap_err();
    assert_eq!(error.step.reason(), "llm_required");
    let error = run_as::<Report>("Look", &with(&Scripted::new(["(fail {:reason :gone :message \"m\"})"])));
    assert_eq!(error.unwrap_err().to_string(), "gone: m");
}

#[test]
fn a_type_that_is_no_result_is_told_before_a_model_is_asked() {
    #[derive(Deserialize, JsonSchema, Debug)]
    struct Tree {
        #[allow(dead_code)]
        below: Vec<Tree>,
    }
    let model = Scripted::new(["(return 1)"]);
    let error = run_as::<Tree>("Look", &with(&model)).unwrap_err();
    assert_eq!((error.step.reason(), model.left()), ("invalid_signature", 1));
    assert!(error.to_string().contains("the Rust type `Tree` cannot be the result of an agent"), "{error}");
}

#[test]
fn a_value_that_fits_the_signature_and_not_the_type_is_an_error_that_hides_what_is_firewalled() {
    #[derive(Deserialize, JsonSchema, Debug)]
    struct Small {
        #[allow(dead_code)]
        n: u8,
    }
    let error = run_as::<Small>("Look", &with(&Scripted::new(["(return {:n 300})"]))).unwrap_err();
    assert_eq!(error.step.reason(), "validation_error");
    assert!(error.to_string().contains("Small`: ") && error.to_string().contains("300"), "{error}");
    assert_eq!(value(&error.step), json!({"n": 300}), "what the mission did is not lost");

    #[derive(Deserialize, JsonSchema, Debug)]
    struct Hidden {
        #[allow(dead_code)]
        _pin: u8,
    }
    let error = run_as::<Hidden>("Look", &with(&Scripted::new(["(return {:_pin 4711})"]))).unwrap_err();
    assert_eq!(error.step.reason(), "validation_error");
    assert!(!error.to_string().contains("4711") && error.to_string().contains("firewalled"), "{error}");
}
