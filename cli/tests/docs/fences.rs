//! Compiles every `prelude` fence, and runs every `clojure` fence with the last prelude of its page. A fence is one session, cut into programs at its `;=>` lines:
//!
//! ```text
//! ; data/n = [1, 2]            grants data, as JSON
//! ; tool/price = 3             grants a tool that always answers this
//! ; takes/price = {"type": …}  the JSON Schema of its arguments
//! ; prelude = paged            attaches a prelude that comes with ptc
//! (map inc data/n) ;=> [2 3]   the value, as printed or as an expression for it
//! (+ 1 nil) ;=> fails type_error
//! (+ 1 2)) ;=> warns surplus_bracket
//! ```

use crate::examples::{self, Example};
use crate::{Fence, fences, pages};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptc_runtime::{
    Attach, Failure, Grants, LoadOptions, Outcome, Prelude, Runtime, Session, Shape, ToolShape, Tools,
};
use std::path::Path;

#[test]
fn every_example_holds() {
    let var = |name| std::env::var(name).unwrap_or_default();
    let runtime = Runtime::with_core(ptc_preludes::core())
        .expect("the core library loads")
        .optimize(var("PTC_TEST_OPTIMIZE") != "0")
        .stress(var("PTC_TEST_STRESS") == "1");
    let mut checked = 0;
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    for (path, page) in pages() {
        let mut prelude = None;
        for fence in &fences(&page) {
            match fence.language {
                "prelude" => {
                    let source = fence.lines.join("\n");
                    let compiled = Prelude::compile(&runtime, &source);
                    let place = || format!("{}:{}", path.display(), fence.first + 1);
                    prelude = Some(compiled.unwrap_or_else(|error| panic!("{}: {error}", place())));
                }
                "clojure" => {
                    let mut example = Example::new(&path, fence.first + 1);
                    checked += check(&runtime, prelude.as_ref(), &path, fence, &mut example, &mut wrong);
                    found.push(example);
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} examples are wrong:\n\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 100, "only {checked} examples were found");
    examples::write(&found);
}

/// Checks one fence; gives how many results it states.
fn check(
    runtime: &Runtime,
    prelude: Option<&Prelude>,
    path: &Path,
    fence: &Fence<'_>,
    example: &mut Example,
    wrong: &mut Vec<String>,
) -> usize {
    let (mut grants, mut tools) = (Grants::new(), Tools::new());
    for line in &fence.lines {
        if let Some((name, json)) = given(line, "; data/") {
            grants = grants.json(name, json).expect(line);
            example.data.insert(name.to_string(), serde_json::from_str(json).expect(line));
        }
        if let Some((name, json)) = given(line, "; tool/") {
            let answer: serde_json::Value = serde_json::from_str(json).expect(line);
            example.tools.insert(name.to_string(), answer.clone());
            tools = tools.with(name, move |_| Ok(answer.clone()));
        }
        if let Some((name, schema)) = given(line, "; takes/") {
            let schema: serde_json::Value = serde_json::from_str(schema).expect(line);
            example.takes.insert(name.to_string(), schema.clone());
            tools = tools.shaped(name, ToolShape::new(Shape::of_json_schema(&schema), Shape::Anything));
        }
    }
    let shipped = fence.lines.iter().find_map(|line| line.strip_prefix("; prelude = "));
    let shipped = shipped.map(|name| {
        let (_, bytes) = ptc_preludes::shipped().into_iter().find(|(known, _)| *known == name).expect(name);
        Prelude::load(runtime, bytes, &LoadOptions::default()).expect(name)
    });
    let prelude = shipped.as_ref().or(prelude);
    example.prelude = prelude.map(|prelude| STANDARD.encode(prelude.to_bytes()));
    let runtime = runtime.clone().with_tools(tools);
    let attached = prelude.map(|prelude| runtime.attach(prelude, &Attach::new()).expect("it fits"));
    let mut session = attached.as_ref().unwrap_or(&runtime).session().with_grants(grants);
    let mut program = String::new();
    let mut stated = 0;
    for (i, line) in fence.lines.iter().enumerate() {
        let (code, expected) =
            line.split_once(";=>").map_or((*line, None), |(code, rest)| (code, Some(rest.trim())));
        program.push_str(code);
        program.push('\n');
        let last = i + 1 == fence.lines.len();
        if expected.is_none() && !last {
            continue;
        }
        stated += usize::from(expected.is_some());
        let gave = session.eval(&program);
        example.add(&program, &gave);
        if let Err(got) = holds(&session, gave, expected) {
            let place = format!("{}:{}", path.display(), fence.first + i + 1);
            wrong.push(format!(
                "{place}\n{}\nexpected {}\ngot {got}\n",
                program.trim(),
                expected.unwrap_or("any value")
            ));
        }
        program.clear();
    }
    stated
}

/// `name` and JSON of a line such as `; data/name = JSON`.
fn given<'line>(line: &'line str, prefix: &str) -> Option<(&'line str, &'line str)> {
    line.strip_prefix(prefix)?.split_once(" = ")
}

/// Compares what a program gave; what came instead if it was not what was expected.
fn holds(session: &Session, outcome: Result<Outcome, Failure>, expected: Option<&str>) -> Result<(), String> {
    if let Some(reason) = expected.and_then(|text| text.strip_prefix("fails ")) {
        return match outcome {
            Err(failure) if failure.reason() == reason => Ok(()),
            Err(failure) => Err(failure.to_string()),
            Ok(outcome) => Err(outcome.print().unwrap_or_default()),
        };
    }
    if let Some(reason) = expected.and_then(|text| text.strip_prefix("warns ")) {
        let outcome = outcome.map_err(|failure| failure.to_string())?;
        let mut warnings = outcome.warnings().iter();
        return match warnings.any(|warning| warning.code.reason() == reason) {
            true => Ok(()),
            false => Err(format!("{:?}", outcome.warnings())),
        };
    }
    let value =
        outcome.map_err(|failure| failure.to_string())?.print().map_err(|fault| format!("{fault:?}"))?;
    let Some(expected) = expected else { return Ok(()) };
    // Written another way (with commas, say), it is the same value if it prints the same.
    let same = value == expected
        || session
            .clone()
            .eval(expected)
            .is_ok_and(|outcome| outcome.print().is_ok_and(|text| text == value));
    if same { Ok(()) } else { Err(value) }
}
