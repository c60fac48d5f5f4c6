//! Search over tools that exist, with questions that people would ask. `search/README.md` tells where they come from.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_runtime::{Limits, Runtime};
use ptc_upstream::redact::Redactor;
use ptc_upstream::{
    About, Client, Fault, Health, Options, ProgramOptions, Reply, Request, Snapshot, Tool, Upstream,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

struct Server(Vec<Tool>);

impl Client for Server {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let tools = self.0.clone();
        async move { Ok(tools) }.boxed()
    }

    fn call(&self, _: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        async { Ok(Reply::new(&json!({}))) }.boxed()
    }

    fn health(&self) -> Health {
        Health::Ready
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

fn tool(name: &str, about: &str, args: &str) -> Tool {
    let properties: Map<String, Value> = args.split(' ').map(|name| (name.to_string(), json!({}))).collect();
    Tool {
        name: name.to_string(),
        description: Some(about.to_string()),
        input_schema: json!({"type": "object", "properties": properties}),
        output_schema: None,
        annotations: None,
        provenance: None,
    }
}

/// Starts servers with the tools of the set, `times` times over.
fn start(times: usize) -> Upstream {
    let mut servers: BTreeMap<String, Vec<Tool>> = BTreeMap::new();
    for line in include_str!("search/tools.tsv").lines() {
        let [server, name, about, args] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        for copy in 0..times {
            let server = if copy == 0 { server.to_string() } else { format!("{server}{copy}") };
            servers.entry(server).or_default().push(tool(name, about, args));
        }
    }
    let client = |(name, tools): (String, Vec<Tool>)| {
        (name, About::default(), Arc::new(Server(tools)) as Arc<dyn Client>)
    };
    let options = Options { snapshot: Snapshot::Frozen, ..Options::default() };
    let redactor = Arc::new(Redactor::new());
    Upstream::of_clients(servers.into_iter().map(client), redactor, options).expect("servers")
}

fn run(upstream: &Upstream, program: &str) -> String {
    let limits = Limits { timeout_ms: 60_000, fuel: 1 << 40, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("a runtime").limits(limits);
    let run = upstream.run(&runtime, program, &ProgramOptions::default());
    run.result().unwrap_or_else(|| run.error().unwrap_or_default())
}

/// Returns the references that `apropos` gives for a question.
fn found(upstream: &Upstream, question: &str) -> Vec<String> {
    let program = format!(
        "(json/generate-string (map #(first (clojure.string/split % #\" - \")) (apropos {question:?} {{:limit 5}})))"
    );
    let text: String = serde_json::from_str(&run(upstream, &program)).expect("text");
    serde_json::from_str(&text).expect("a list")
}

struct Question {
    part: &'static str,
    kind: &'static str,
    text: &'static str,
    answers: Vec<&'static str>,
}

fn questions() -> Vec<Question> {
    let question = |line: &'static str| {
        let [part, kind, text, answers] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        Question { part, kind, text, answers: answers.split(' ').collect() }
    };
    include_str!("search/questions.tsv").lines().map(question).collect()
}

/// Of five tools shown, one is right for at least 92 % of the questions with words of the tool. Paraphrases are found less often:
/// the aim is 75 %, which words alone do not reach; the limit here keeps what is reached.
#[test]
fn questions_find_their_tools() {
    let upstream = start(1);
    let mut scores: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for question in questions() {
        let found = found(&upstream, question.text);
        let is_found = found.iter().any(|reference| question.answers.contains(&&**reference));
        let (right, all) = scores.entry((question.kind, question.part)).or_default();
        *right += usize::from(is_found);
        *all += 1;
        // Those of the sealed part stay unseen.
        if !is_found && question.part == "tuned" {
            missed.push(format!("{} → {}, but {}", question.text, question.answers[0], found.join(" ")));
        }
    }
    if std::env::var_os("PTC_TEST_MISSED").is_some() {
        println!("{}", missed.join("\n"));
    }
    for ((kind, part), (right, all)) in &scores {
        println!("{kind}, {part}: {right} of {all}, {:.1} %", 100.0 * *right as f64 / *all as f64);
    }
    for ((kind, part), (right, all)) in scores {
        let wanted = if kind == "words" { 92 } else { 45 };
        assert!(right * 100 >= wanted * all, "{kind}, {part}: {right} of {all}");
    }
}

#[test]
fn plurals_and_abbreviations_are_found() {
    let tools = (0..200).map(|n| tool(&format!("get_invoice_{n}"), "One bill.", "id")).collect::<Vec<_>>();
    let mut tools = tools;
    tools.push(tool("repo_get", "Get a repository.", "owner"));
    let servers = [("s".to_string(), About::default(), Arc::new(Server(tools)) as Arc<dyn Client>)];
    let options = Options { snapshot: Snapshot::Frozen, ..Options::default() };
    let upstream = Upstream::of_clients(servers, Arc::new(Redactor::new()), options).expect("a server");
    assert_eq!(found(&upstream, "invoices").len(), 5);
    assert_eq!(found(&upstream, "repositories"), ["s/repo_get"]);
    assert_eq!(found(&upstream, "invc")[0], "s/get_invoice_0");
}

/// Prints what a search over 10,000 tools costs; the limit leaves room for an unoptimized build on a busy machine.
#[test]
fn ten_thousand_tools_are_searched_quickly() {
    let upstream = start(4);
    run(&upstream, "(apropos \"first\")");
    let queries = ["list pull requests", "invoices", "how do I refund a payment of a customer"];
    let calls: Vec<String> = queries.iter().map(|query| format!("(apropos {query:?})")).collect();
    let begun = Instant::now();
    run(&upstream, &format!("(dotimes [_ 8] {})", calls.join(" ")));
    let each = begun.elapsed() / 24;
    println!("{each:?} for each search over 10,320 tools");
    assert!(each.as_millis() < 250, "{each:?}");
}
