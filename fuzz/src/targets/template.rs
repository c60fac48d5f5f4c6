//! Text with `{{placeholders}}` → text. The data follow a line `---`, as JSON.

use crate::kit::{RUNTIME, is_too_much, texts};
use ptc_contract::Signature;
use ptc_contract::data::Tree;
use ptc_contract::template::{Filling, Template};
use ptc_runtime::bridge::json_to_datum;
use ptc_runtime::{Datum, Grants};
use serde_json::{Value, json};

/// Maximum length of a filled-in prompt in bytes, plus room for the value being written when the limit was reached.
const MOST: usize = (4 << 20) + (1 << 20);

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let (text, data) = text.split_once("\n---\n").unwrap_or((text, "{}"));
    let data: Value = serde_json::from_str(data).unwrap_or_else(|_| json!({"x": data}));
    let Ok(context) = json_to_datum(&data) else { return };
    let tree = Tree::new(&context);
    match Template::parse(text) {
        Ok(template) => {
            assert_eq!(template.source(), text);
            for filling in [Filling::text(), Filling::program(), Filling::literal()] {
                match template.fill(tree.root(), &filling) {
                    Ok(filled) => assert!(filled.len() <= MOST, "{} bytes", filled.len()),
                    Err(error) => assert!(error.to_string().len() < 4_000, "{error}"),
                }
            }
            let (names, missing) = (template.names(), template.missing(tree.root()));
            assert!(
                missing.iter().all(|name| name == "." || names.contains(name)),
                "{missing:?} of {names:?}"
            );
            if let Ok(signature) =
                Signature::parse("(x :string, rows [{id :int}], user {name :string}) -> :any")
            {
                let _ = (template.check(&signature.params), template.unused(&signature.params));
            }
        }
        Err(error) => assert!(error.to_string().len() < 4_000, "{error}"),
    }
    literal(&context, &data);
}

/// Checks that a value in a program is one literal: it reads back as that value, and none of it runs as code.
fn literal(value: &Datum, json: &Value) {
    let template = Template::parse("[{{x}}]").expect("a template");
    let Ok(context) = json_to_datum(&json!({"x": json})) else { return };
    let Ok(program) = template.fill(Tree::new(&context).root(), &Filling::literal()) else { return };
    let outcome = RUNTIME.eval(&program, &Grants::new());
    match outcome {
        Ok(outcome) => {
            let got = outcome.datum().expect("data");
            let nodes = got.nodes();
            assert_eq!(&nodes[..nodes.len() - 1], value.nodes(), "{program}");
            assert_eq!(nodes.last(), Some(&ptc_runtime::Node::Vector(1)), "{program}");
        }
        Err(failure) => {
            // Only exceeding the size of a program may cause a refusal.
            assert!(is_too_much(&failure), "{failure}\n{program}");
        }
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    texts(&[
        "Rate {{user.name}}:{{#tags}} {{.}}{{/tags}}{{^tags}}none{{/tags}}\n---\n{\"user\": {\"name\": \"Ann\"}, \"tags\": [\"a\", \"b\"]}",
        "{{x}} {{ x-y }} {{_hidden}} {{#rows}}{{#rows}}{{id}}{{/rows}}{{/rows}}\n---\n{\"x\": \"\\\" (fail 1) #\", \"x_y\": 1.5, \"_hidden\": 7, \"rows\": [{\"id\": 1}, {\"id\": null}]}",
        "no tags at all, {single} braces }} {{",
        "{{#a}}{{#b}}{{#c}}{{.}}{{/c}}{{/b}}{{/a}}\n---\n{\"a\": [[[1]]], \"b\": {\"c\": [true, false, \"\", -0.0, 1e300, 123456789012345678901]}}",
        "{{a.b.c}}\n---\n{\"a\": {\"b\": {\"c\": \"\\u0000\\u001f\\u007f\\u2028 \\\\ \\n\"}}}",
    ])
}
