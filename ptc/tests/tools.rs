//! Rust functions as tools of engines and agents.

use ptc::agent::definition::Transport;
use ptc::agent::tools::{Expose, LlmRef, Tool};
use ptc::agent::{Agent, RunOptions, run};
use ptc::model::{Output, Scripted};
use ptc::prelude::*;
use ptc::{Prelude, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::{Arc, Mutex};

#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Debug)]
struct Order {
    country: String,
    id: u32,
}

fn order(id: u32, country: &str) -> Order {
    Order { id, country: country.to_string() }
}

/// Finds the orders of a country.
///
/// The newest come first.
#[ptc::tool(effect = "read")]
async fn find_orders(
    /// Two letters, such as NO.
    country: String,
    /// Most orders to find.
    limit: Option<usize>,
) -> Vec<Order> {
    tokio_free_wait().await;
    [1, 2, 3].map(|id| order(id, &country)).into_iter().take(limit.unwrap_or(usize::MAX)).collect()
}

/// Waits once, under any executor.
async fn tokio_free_wait() {
    let mut is_first = true;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        match std::mem::take(&mut is_first) {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(()),
        }
    })
    .await;
}

#[derive(Debug)]
struct NoSuchOrder(u32);

impl std::fmt::Display for NoSuchOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no order {}", self.0)
    }
}

/// Cancels an order.
#[ptc::tool(name = "cancel-order", effect = "write")]
fn cancel_order(#[serde(default = "nobody")] by: String, id: u32) -> Result<String, NoSuchOrder> {
    if id > 3 { Err(NoSuchOrder(id)) } else { Ok(format!("order {id} was cancelled by {by}")) }
}

fn nobody() -> String {
    "nobody".to_string()
}

#[ptc::tool]
fn ping() {}

#[ptc::tool]
fn breaks(why: String) -> u8 {
    panic!("{why}")
}

#[ptc::tool]
fn hinted(r#type: String) -> Result<u8, ToolError> {
    Err(ToolError::new(format!("no {}", r#type)).hint("there is tea"))
}

/// A shop with state of its own.
#[derive(Default)]
struct Shop {
    sold: Mutex<Vec<String>>,
}

impl Shop {
    /// Sells one thing, and says how many were sold.
    #[ptc::tool]
    async fn sell(&self, what: String) -> usize {
        tokio_free_wait().await;
        let mut sold = self.sold.lock().expect("no panic");
        sold.push(what);
        sold.len()
    }

    #[ptc::tool]
    pub fn sold(&self) -> Vec<String> {
        self.sold.lock().expect("no panic").clone()
    }
}

fn engine() -> Engine {
    let engine =
        Engine::new().expect("an engine").with_tool(find_orders_tool()).with_tool(cancel_order_tool());
    engine.with_tool(ping_tool()).with_tool(breaks_tool()).with_tool(hinted_tool())
}

#[test]
fn functions_are_tools_of_programs() -> Result<(), Failure> {
    let engine = engine();
    let orders: Vec<Order> = engine.eval("(tool/find_orders {:country \"NO\" :limit 2})")?;
    assert_eq!(orders, [order(1, "NO"), order(2, "NO")]);
    let ids = engine.eval_async::<Vec<u32>>(
        "(mapcat (fn [c] (map :id (tool/find_orders {:country c}))) [\"NO\" \"SE\"])",
    );
    assert_eq!(pollster::block_on(ids)?, [1, 2, 3, 1, 2, 3]);
    assert_eq!(engine.eval::<String>("(tool/cancel-order {:id 3})")?, "order 3 was cancelled by nobody");
    assert_eq!(engine.eval::<Option<u8>>("(tool/ping {})")?, None);
    // The functions are still there, to be called and tested.
    assert_eq!(pollster::block_on(find_orders("FI".into(), Some(1))), [order(1, "FI")]);
    assert!(cancel_order(nobody(), 4).is_err());
    Ok(())
}

#[test]
fn errors_and_panics_of_functions_are_errors_of_tools() {
    for (program, told) in [
        ("(tool/cancel-order {:id 9})", "there is no order 9"),
        ("(tool/breaks {:why \"the roof\"})", "the roof"),
        ("(tool/hinted {:type \"milk\"})", "no milk"),
    ] {
        let failure = engine().run(program).unwrap_err();
        assert_eq!(failure.reason(), "tool_error", "{program}");
        assert!(failure.to_string().contains(told), "{failure}");
    }
    let failure = engine().run("(tool/hinted {:type \"milk\"})").unwrap_err();
    assert!(failure.to_string().contains("there is tea"), "{failure}");
}

#[test]
fn a_program_that_does_not_fit_the_types_stops_before_a_call() {
    for (program, told) in [
        ("(tool/find_orders {:limit 2})", "called without `:country`"),
        ("(tool/find_orders {:country 7})", "`:country`"),
        ("(tool/cancel-order {:id \"three\"})", "`:id`"),
    ] {
        let failure = engine().run(program).unwrap_err();
        assert!(failure.to_string().contains(told), "{program}: {failure}");
        assert_eq!(failure.reason(), "refused_arguments", "{program}: {failure}");
    }
}

#[test]
fn the_compiler_s_view_of_arguments_is_the_function_s() {
    // Rules that no schema states are reported by the deserialiser of the arguments.
    let failure = engine().run("(tool/cancel-order {:id (- 0 1)})").unwrap_err();
    assert_eq!(failure.reason(), "tool_error");
    assert!(failure.to_string().contains("bad arguments"), "{failure}");
}

#[test]
fn what_a_tool_says_of_itself() {
    let tool = find_orders_tool();
    assert_eq!(tool.name(), "find_orders");
    let takes = tool.takes();
    assert_eq!(takes["properties"]["country"]["description"], "Two letters, such as NO.");
    assert_eq!(takes["properties"]["limit"]["description"], "Most orders to find.");
    assert_eq!(takes["required"], json!(["country"]));
    assert_eq!(tool.answers()["type"], "array");

    let tool = Tool::from(tool);
    assert_eq!(tool.signature_text(), "(country :string, limit :int?) -> [{country :string, id :int}]");
    assert_eq!(tool.description.as_deref(), Some("Finds the orders of a country.\n\nThe newest come first."));
    assert_eq!(tool.effect, ptc::agent::tools::Effect::Read);
    assert_eq!(Tool::from(ping_tool()).description, None);
    assert_eq!(Tool::from(cancel_order_tool()).signature_text(), "(id :int, by :string?) -> :string");
    assert_eq!(hinted_tool().takes()["required"], json!(["type"]));
}

#[test]
fn effects_are_those_of_the_functions() -> Result<(), Failure> {
    let engine = engine();
    let effect = |body: &str| {
        let source = format!("(ns shop) (defn go [] {body})");
        let prelude = Prelude::compile(engine.runtime(), &source).expect("a prelude");
        let attached = engine.clone().attach(&prelude).expect("its tools are there");
        attached.runtime().export_effect("shop/go").expect("an export").name().to_string()
    };
    assert_eq!(effect("(tool/find_orders {:country \"NO\"})"), "read");
    assert_eq!(effect("(tool/cancel-order {:id 1})"), "write");
    assert_eq!(effect("(tool/ping {})"), "unknown");
    Ok(())
}

#[test]
fn methods_are_tools_of_their_value() -> Result<(), Failure> {
    let shop = Arc::new(Shop::default());
    let engine = Engine::new()?.with_tool(shop.sell_tool()).with_tool(shop.sold_tool());
    assert_eq!(engine.eval::<usize>("(tool/sell {:what \"tea\"}) (tool/sell {:what \"cake\"})")?, 2);
    assert_eq!(*shop.sold.lock().expect("no panic"), ["tea", "cake"]);
    assert_eq!(engine.eval::<Vec<String>>("(tool/sold {})")?, ["tea", "cake"]);
    let other = Engine::new()?.with_tool(Arc::new(Shop::default()).sold_tool());
    assert_eq!(other.eval::<usize>("(count (tool/sold {}))")?, 0);
    Ok(())
}

#[test]
fn the_same_functions_are_tools_of_agents() {
    let shop = Arc::new(Shop::default());
    let agent = Agent::builder()
        .prompt("Sell")
        .tool(find_orders_tool())
        .tool(shop.sell_tool())
        .tool(Tool::from(breaks_tool()).timeout(1000))
        .build()
        .expect("an agent");
    let model = Scripted::new([
        "(tool/breaks {:why \"the roof\"})",
        "(tool/sell {:what (:country (first (tool/find_orders {:country \"NO\"})))}) (return (tool/sell {:what \"tea\"}))",
    ]);
    let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone()))).expect("a result");
    assert_eq!(step.get::<usize>().expect("a number"), 2);
    assert_eq!(*shop.sold.lock().expect("no panic"), ["NO", "tea"]);
    let requests = model.requests();
    assert!(requests[1].messages.last().expect("feedback").content.contains("the tool panicked: the roof"));
    let system = &requests[0].system;
    let all = format!("{system}{}", requests[0].messages[0].content);
    assert!(all.contains("Finds the orders of a country."), "{all}");
    assert!(all.contains("find_orders(country :string, limit :int?)"), "{all}");
}

/// Descriptions of parameters appear wherever a model sees the tool.
#[test]
fn doc_comments_of_parameters_reach_models() {
    let told = |builder: ptc::agent::AgentBuilder| {
        let model = Scripted::new(["(return 1)"]);
        let agent =
            builder.tool(Tool::from(find_orders_tool()).expose(Expose::Both)).build().expect("an agent");
        let _ = run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone())));
        model.requests().remove(0)
    };
    let words = || Agent::builder().prompt("Sell").output(Output::Text);
    let combined = words().ptc_transport(Some(Transport::ToolCall));
    for request in [told(Agent::builder().prompt("Sell")), told(combined.clone())] {
        let system = request.system;
        assert!(system.contains("\n  country: Two letters, such as NO.\n"), "{system}");
        assert!(system.contains("\n  limit: Most orders to find."), "{system}");
    }
    for request in [told(words()), told(combined)] {
        let tool = request.tools.iter().find(|tool| tool.name == "find_orders").expect("it is offered");
        assert_eq!(tool.description, "Finds the orders of a country.\n\nThe newest come first.");
        let properties = &tool.parameters["properties"];
        assert_eq!(properties["country"]["description"], "Two letters, such as NO.");
        assert_eq!(properties["limit"]["description"], "Most orders to find.");
        assert_eq!(tool.parameters["required"], json!(["country"]));
    }
}

#[test]
fn closures_over_types_are_tools_too() -> Result<(), Failure> {
    #[derive(Deserialize, JsonSchema)]
    struct Item {
        of: String,
    }
    let prices = Arc::new(std::collections::HashMap::from([("tea".to_string(), 3)]));
    let price = ToolDefinition::new_async("price", move |item: Item| {
        let prices = prices.clone();
        async move { prices.get(&item.of).copied().ok_or_else(|| ToolError::new(format!("no {}", item.of))) }
    });
    let engine = Engine::new()?.with_tool(price.description("What something costs."));
    assert_eq!(engine.eval::<i32>("(tool/price {:of \"tea\"})")?, 3);
    assert!(engine.run("(tool/price {:of \"gold\"})").unwrap_err().to_string().contains("no gold"));
    Ok(())
}
