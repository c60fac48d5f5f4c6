//! Text → signature, in each notation. The data to check follow a line `---`, as JSON.

use crate::kit::{files, texts};
use ptc_contract::signature::{Signature, SignatureError, Style, Type, Validation, extract_return_spec};
use ptc_runtime::Datum;
use ptc_runtime::bridge::json_to_datum;
use serde_json::Value;

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let (text, data) = text.split_once("\n---\n").unwrap_or((text, ""));
    let data: Option<Datum> =
        serde_json::from_str::<Value>(data).ok().and_then(|json| json_to_datum(&json).ok());
    let _ = extract_return_spec(text);
    match Signature::parse(text) {
        Ok(signature) => check(&signature, data.as_ref()),
        Err(error) => brief(&error),
    }
    let Ok(schema) = serde_json::from_str::<Value>(text) else { return };
    for read in [Signature::from_json_schema(&schema), Signature::from_tool_schemas(&schema, Some(&schema))] {
        match read {
            Ok(signature) => check(&signature, data.as_ref()),
            Err(error) => brief(&error),
        }
    }
    if let Ok(malli) = json_to_datum(&schema) {
        match Signature::from_malli(&malli) {
            Ok(signature) => check(&signature, data.as_ref()),
            Err(error) => brief(&error),
        }
    }
}

fn brief(error: &SignatureError) {
    assert!(error.to_string().len() < 4_000, "{error}");
}

fn check(signature: &Signature, data: Option<&Datum>) {
    let text = signature.to_string();
    // A schema may be too large for the text of a signature.
    if text.len() <= ptc_contract::signature::MAX_TEXT {
        assert_eq!(Signature::parse(&text).as_ref(), Ok(signature), "{text}");
    }
    let malli = signature.to_malli();
    assert_eq!(Signature::from_malli(&malli).as_ref(), Ok(signature), "{text}");
    for style in [Style::Canonical, Style::Kebab, Style::Public] {
        let _ = signature.render(style);
    }
    let _ = signature.firewalled();
    let ty = &signature.returns;
    let schema = ty.to_json_schema();
    assert!(Type::from_json_schema(&schema).is_ok(), "{text}: {schema}");
    let _ = (signature.params_json_schema(), ty.sample_text());
    let sample = ty.sample();
    for value in [Some(&sample), data].into_iter().flatten() {
        if let Ok(checked) = ty.coerce(value, Validation::Enabled) {
            let errors = ty.check(&checked.value, false);
            assert!(errors.is_empty(), "{text}: {errors:?}");
        }
        if ty.check(value, false).is_empty() {
            assert!(ty.coerce(value, Validation::Enabled).is_ok(), "{text}");
        }
        let _ = signature.check_input(value, Validation::Enabled);
        let _ = signature.check_output(value, Validation::Enabled);
        let _ = signature.validate(value);
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(&[
        "(query :string, limit :int?) -> [{id :int, title :string}]\n---\n[{\"id\": \"7\", \"title\": \"x\"}]",
        "(n :int[>0]) -> {tags [:string]?, level :enum[low high \"very high\"], _secret :any}",
        "-> :int[1..9] | :string[re \"a+\"] | nil\n---\n\"aa\"",
        "[:=> [:cat [:map [:a :int]]] [:map [:b {:optional true} [:maybe [:vector :string]]]]]",
        "{when :datetime, k :keyword, m :map, f :float[>=0.5 <1], s :string[min 1 max 5]}\n---\n{\"f\": 1, \"s\": \"\"}",
        r##"{"type":"object","properties":{"n":{"type":"integer","minimum":1},"o":{"$ref":"#/$defs/o"}},"required":["n"],"$defs":{"o":{"anyOf":[{"type":"null"},{"enum":["a",1]}]}}}"##,
        r#"[":=>", [":cat"], [":or", ":int", [":enum", "a", 1]]]"#,
    ]);
    seeds.extend(files("examples/agents", ".toml"));
    seeds
}
