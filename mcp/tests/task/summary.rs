//! Description of what tasks can do, byte for byte.

use crate::world::{READS, Shop, World, planner, tool, upstream, with_file};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_agent::RunOptions;
use ptc_mcp::task::capabilities;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{About, Client, Fault, Health, Options, Reply, Request, Snapshot, Tool, Upstream};
use serde_json::json;
use std::sync::Arc;

struct Listed(Vec<Tool>);

impl Client for Listed {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        async { Ok(self.0.clone()) }.boxed()
    }

    fn call(&self, _: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        std::future::pending().boxed()
    }

    fn health(&self) -> Health {
        Health::Ready
    }

    fn generation(&self) -> u64 {
        0
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

fn servers(servers: &[(&str, &[&str])], snapshot: Snapshot) -> Upstream {
    let clients = servers.iter().map(|(name, tools)| {
        let tools = tools
            .iter()
            .map(|name| Tool { output_schema: Some(json!({"type": "string"})), ..tool(name, None) });
        let client: Arc<dyn Client> = Arc::new(Listed(tools.collect()));
        ((*name).to_string(), About::default(), client)
    });
    let options = Options { snapshot, ..Options::default() };
    Upstream::of_clients(clients, Redactor::new().into(), options).unwrap()
}

#[test]
fn a_list_is_clipped_where_it_must_be_and_nowhere_else() {
    let upstream = servers(&[("b", &["yonder", "x"]), ("a", &["two", "one"]), ("c", &[])], Snapshot::Frozen);
    let whole = "- a: one->string, two->string\n- b: x->string, yonder->string\n- c: no tools";
    let two = "- a: one->string, two->string\n- b: x->string, yonder->string";
    let told = |most| capabilities(upstream.catalogue(), most);
    assert_eq!(told(whole.len()), whole);
    assert_eq!(told(whole.len() - 1), two);
    assert_eq!(told(two.len() - 1), "- a: one->string, two->string\n- b: x->string, (+1 more)");
    assert_eq!(told(46), "- a: one->string, two->string\n- b: (+2 more)");
    assert_eq!(told(28), "- a: one->string, (+1 more)");
    assert_eq!(told("- a: (+2 more)".len()), "- a: (+2 more)");
    assert_eq!(told("- a: (+2 more)".len() - 1), "");
    for most in 0..=whole.len() {
        assert!(told(most).len() <= most, "{most}");
    }
    let long =
        servers(&[("a", &["a_tool_with_quite_a_long_name"]), ("b", &[]), ("c", &[])], Snapshot::Frozen);
    let clipped = "- a: (+1 more)\n- (+2 more servers)";
    assert_eq!(capabilities(long.catalogue(), clipped.len()), clipped);
    assert_eq!(capabilities(long.catalogue(), clipped.len() - 1), "- a: (+1 more)");
}

#[test]
fn servers_that_are_not_known_are_named_all_the_same() {
    let upstream = servers(&[("a", &["one"])], Snapshot::Live);
    assert_eq!(capabilities(upstream.catalogue(), 800), "- a: not loaded");
}

#[test]
fn tools_are_told_with_what_they_give() {
    let upstream = upstream(&Arc::new(Shop::default()));
    let told = capabilities(upstream.catalogue(), 800);
    assert_eq!(
        told,
        "- shop: hang->unknown, orders->{:orders array?}, pay->unknown, poke->unknown, stick->unknown, tell->unknown"
    );
}

#[test]
fn a_catalogue_that_is_looked_up_is_not_told() {
    let lazy = World::new(&[READS, &["--catalog-mode=lazy"]], [""; 0]);
    let planner = lazy.server.host().tasks().unwrap();
    assert_eq!(planner.capabilities(), "The servers and their tools are looked up while a task is done.");
}

#[test]
fn an_operator_has_the_last_word_if_it_is_short() {
    let flag = with_file("agentic-capability-summary", "summary.md", " Orders, and canary-3f9c1a77e2.\n");
    let world = World::new(&[READS, &[&*flag]], [""; 0]);
    assert_eq!(world.server.host().tasks().unwrap().capabilities(), "Orders, and [REDACTED].");
    let models = || RunOptions::new().llm("x");
    let short = planner(&[READS, &[&*flag, "--agentic-capability-summary-max-bytes=9"]].concat(), models());
    let error = short.err().unwrap();
    assert!(
        error.ends_with("it has 30 bytes, more than --agentic-capability-summary-max-bytes 9"),
        "{error}"
    );
    let missing = planner(&[READS, &["--agentic-capability-summary=no/such"]].concat(), models());
    assert!(missing.err().unwrap().starts_with("--agentic-capability-summary: no/such: "));
}
