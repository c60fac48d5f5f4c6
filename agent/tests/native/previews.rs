//! Previews of results for models, while the whole is kept for programs.

use crate::{answers, calls, combined, with};
use ptc_agent::run;
use ptc_agent::tools::{Expose, NativePreview, Tool};
use ptc_model::Scripted;
use serde_json::{Value, json};

/// Returns the preview of this result, and the warnings of the run.
fn preview(result: Value, kind: Option<NativePreview>) -> (Value, Vec<String>) {
    let tool = Tool::new("load", move |_, _| Ok(result.clone())).expose(Expose::Both).cache(true);
    let tool = match kind {
        Some(kind) => tool.native_result(kind),
        None => tool,
    };
    let agent = combined("Think").tool(tool).build().unwrap();
    let model = Scripted::new([calls(&[("a", "load", json!({"b": 2, "a": ["x"]}))]), "ok".into()]);
    let step = run(&agent, &with(&model)).unwrap();
    (answers(&step.messages.unwrap())[0].1.clone(), step.warnings)
}

fn outline(result: Value) -> Value {
    let (mut preview, _) = preview(result, None);
    let object = preview.as_object_mut().unwrap();
    assert_eq!(object.remove("status"), Some(json!("ok")));
    assert_eq!(object.remove("full_result_cached"), Some(json!(true)));
    assert_eq!(
        object.remove("cache_hint"),
        Some(json!(
            "Call lisp_eval and then call (tool/load {:a [\"x\"] :b 2}) to process the full cached result."
        ))
    );
    preview
}

#[test]
fn s000_outlines() {
    let array = |items: Value| json!({"type": "array", "items": items});
    assert_eq!(outline(json!([])), json!({"result_count": 0, "schema": array(json!({}))}));
    assert_eq!(
        outline(json!([{"a": 1, "b": false}, {"a": 2, "b": true}])),
        json!({"result_count": 2, "sample_keys": ["a", "b"],
            "schema": array(json!({"type": "object", "properties": {"a": "integer", "b": "boolean"}}))})
    );
    assert_eq!(
        outline(json!([{"a": 1}, {"b": 2}])),
        json!({"result_count": 2, "schema": array(json!({"type": "object"}))})
    );
    assert_eq!(
        outline(json!(["x", "y"])),
        json!({"result_count": 2, "schema": array(json!({"type": "string"}))})
    );
    assert_eq!(outline(json!(["x", 1])), json!({"result_count": 2, "schema": array(json!({"type": "any"}))}));
    assert_eq!(
        outline(json!({"n": null, "x": 2.5})),
        json!({"sample_keys": ["n", "x"], "schema": {"type": "object", "properties": {"n": "null", "x": "number"}}})
    );
    assert_eq!(outline(json!({})), json!({"sample_keys": [], "schema": {"type": "object"}}));
    assert_eq!(outline(json!(false)), json!({"schema": {"type": "boolean"}}));
    assert_eq!(outline(json!("secret text")), json!({"schema": {"type": "string"}}));
}

#[test]
fn many_properties_are_cut() {
    let wide: serde_json::Map<String, Value> = (0..30).map(|i| (format!("k{i:02}"), json!(i))).collect();
    let shown = outline(Value::Object(wide));
    assert_eq!(shown["schema"]["properties"].as_object().unwrap().len(), 20);
    assert_eq!(shown["schema"]["truncated"], true);
}

#[test]
fn s000_rows() {
    let rows: Vec<Value> = (0..50).map(|i| json!({"id": i, "_key": "hidden-value"})).collect();
    let (shown, _) = preview(json!(rows), Some(NativePreview::Rows { limit: 3 }));
    assert_eq!(shown["rows"].as_array().unwrap().len(), 3);
    assert_eq!(shown["rows"][1], json!({"id": 1, "_key": "<Firewalled>"}));
    assert_eq!(shown["result_count"], 50);
    assert!(shown["schema"].is_object() && shown["sample_keys"].is_array());
    let (scalar, _) = preview(json!(7), Some(NativePreview::Rows { limit: 3 }));
    assert!(scalar.get("rows").is_none());
    // Rows are shown unchanged; twenty of them unless the file sets a limit.
    let rows: Vec<Value> = (0..50).map(|i| json!({"id": i, "tags": [null, 2.5, {"deep": "x"}]})).collect();
    let file = |rows: Vec<Value>, native_result: Value| {
        let file = json!({"prompt": "Think", "output": "text", "ptc_transport": "tool_call", "tools": {"load": {
            "signature": "() -> :any", "answer": rows, "expose": "both", "cache": true, "native_result": native_result,
        }}});
        let model = Scripted::new([calls(&[("a", "load", json!({}))]), "ok".into()]);
        let step = run(&ptc_agent::Agent::from_json(&file).unwrap(), &with(&model)).unwrap();
        answers(&step.messages.unwrap())[0].1.clone()
    };
    assert_eq!(file(rows.clone(), json!({"preview": "rows"}))["rows"], json!(rows[..20]));
    assert_eq!(file(rows.clone(), json!({"preview": "rows", "limit": 5}))["rows"], json!(rows[..5]));
    assert_eq!(file(rows.clone(), json!({"preview": "metadata"})).get("rows"), None);
    assert_eq!(file(rows[..2].to_vec(), json!({"preview": "rows"}))["rows"], json!(rows[..2]));
}

#[test]
fn s000_a_preview_of_ones_own() {
    let custom = |f: fn(&ptc_bytecode::Datum) -> Value| Some(NativePreview::custom(f));
    let (shown, warnings) = preview(json!([1, 2]), custom(|_| json!({"top": 2, "status": "mine"})));
    assert_eq!((&shown["top"], &shown["status"]), (&json!(2), &json!("ok")), "universal fields win");
    assert!(warnings.is_empty());
    let (shown, warnings) = preview(json!([1, 2]), custom(|_| panic!("no")));
    assert_eq!(shown["result_count"], 2);
    assert!(warnings[0].contains("`load`") && warnings[0].contains("raised"), "{warnings:?}");
    let (shown, warnings) = preview(json!([1, 2]), custom(|_| json!([1])));
    assert_eq!(shown["result_count"], 2);
    assert!(warnings[0].contains("non_map"), "{warnings:?}");
    // A map with keys other than text has no JSON form.
    let unusable = NativePreview::custom(|_| std::collections::BTreeMap::from([((1, 2), 3)]));
    let (shown, warnings) = preview(json!([1, 2]), Some(unusable));
    assert_eq!(shown["result_count"], 2);
    assert!(warnings[0].contains("non_encodable"), "{warnings:?}");
    // Programs have the answer even if the preview fails.
    let tool = Tool::new("load", |_, _| Ok(json!([1, 2]))).expose(Expose::Both).cache(true);
    let tool = tool.native_result(custom(|_| panic!("no")).unwrap());
    let model = Scripted::new([
        calls(&[("a", "load", json!({}))]),
        crate::eval("b", "(return (tool/load {}))"),
        "ok".into(),
    ]);
    let step = run(&combined("Think").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(answers(&step.messages.unwrap())[1].1["result"], "user=> [1 2]");
}
