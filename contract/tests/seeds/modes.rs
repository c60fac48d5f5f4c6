//! Signatures at work: coercion, modes, messages, keys.

use crate::contracts::{data, sig};
use ptc_bytecode::{Datum, Node};
use ptc_contract::keys::normalize_keys;
use ptc_contract::signature::{Validation, list_errors};
use ptc_runtime::bridge::datum_to_json;
use serde_json::{Value, json};

fn coerced(signature: &str, args: Value) -> (Value, Vec<String>) {
    let checked = sig(signature).check_input(&data(args), Validation::Enabled).unwrap();
    (datum_to_json(&checked.value).unwrap(), checked.warnings)
}

fn refused(signature: &str, args: Value) -> Vec<String> {
    let rejected = sig(signature).check_input(&data(args), Validation::Enabled).unwrap_err();
    rejected.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn inputs_are_coerced_then_validated() {
    let (args, warnings) = coerced("(id :int, name :string) -> :bool", json!({"id": "42", "name": "Alice"}));
    assert_eq!(args, json!({"id": 42, "name": "Alice"}));
    assert_eq!(warnings, [r#"id: coerced string "42" to int"#]);
    let errors = refused("(id :int, name :string) -> :bool", json!({"id": "4x", "name": 7}));
    assert_eq!(errors, [r#"id: expected int, got string "4x""#, "name: expected string, got int 7"]);
}

#[test]
fn s002_coercion_rules() {
    let one = |ty: &str, value: Value| {
        let (args, warnings) = coerced(&format!("(x {ty}) -> :any"), json!({"x": value}));
        (args["x"].clone(), warnings)
    };
    assert_eq!(one(":int", json!("42")).0, json!(42));
    assert_eq!(one(":int", json!("-5")).0, json!(-5));
    assert_eq!(
        one(":float", json!("3.25")),
        (json!(3.25), vec![r#"x: coerced string "3.25" to float"#.to_string()])
    );
    assert_eq!(one(":float", json!("1e3")).0, json!(1000.0));
    assert_eq!(
        one(":bool", json!("true")),
        (json!(true), vec![r#"x: coerced string "true" to bool"#.to_string()])
    );
    assert_eq!(one(":float", json!(42)), (json!(42.0), vec![]), "silent");
    assert_eq!(one(":string|:int", json!("7")), (json!("7"), vec![]), "what fits is left alone");
    assert_eq!(one(":int|:bool", json!("7")).0, json!(7));
    for (ty, value) in [
        (":int", json!(42.0)),
        (":int", json!(true)),
        (":int", json!("")),
        (":int", json!("1_0")),
        (":float", json!("inf")),
        (":float", json!("1.5x")),
        (":bool", json!("yes")),
        (":bool", json!(1)),
        (":string", json!(5)),
        (":datetime", json!("2024-05-01T08:00:00")),
        (":int[>0]", json!("-3")),
    ] {
        assert_eq!(
            refused(&format!("(x {ty}) -> :any"), json!({"x": value.clone()})).len(),
            1,
            "{ty} {value}"
        );
    }
}

#[test]
fn coercion_of_keywords_and_dates() {
    let at = |ty: &str, node: Node| {
        let args = Datum::new(vec![Node::Str("x".into()), node, Node::Map(1)]).unwrap();
        let checked = sig(&format!("(x {ty}) -> :any")).check_input(&args, Validation::Enabled).unwrap();
        (checked.value.nodes()[1].clone(), checked.warnings.join(";"))
    };
    let text = |text: &str| Node::Str(text.into());
    assert_eq!(
        at(":string", Node::Keyword("hot".into())),
        (text("hot"), "x: coerced keyword :hot to string".into())
    );
    assert_eq!(
        at(":keyword", text("hot")),
        (Node::Keyword("hot".into()), "x: coerced string \"hot\" to keyword".into())
    );
    assert_eq!(at(":datetime", text("1970-01-01T00:00:01Z")), (Node::Instant(1_000_000), String::new()));
    let (node, warning) = at(":datetime", text("1970-01-01T02:00:00+02:00"));
    assert_eq!(node, Node::Instant(0));
    assert_eq!(warning, "x: coerced string \"1970-01-01T02:00:00+02:00\" to datetime");
    assert_eq!(at(":string", Node::Instant(0)).0, text("1970-01-01T00:00:00Z"));
    assert_eq!(at(":string", Node::Day(1)).0, text("1970-01-02"));
    assert_eq!(at(":enum[low high]", Node::Keyword("low".into())), (text("low"), String::new()));
}

#[test]
fn s002_coercion_in_nested_structures() {
    let (args, warnings) =
        coerced("(rows [{id :int, name :string}]) -> :any", json!({"rows": [{"id": "42", "name": "Alice"}]}));
    assert_eq!(args, json!({"rows": [{"id": 42, "name": "Alice"}]}));
    assert_eq!(warnings, [r#"rows[0].id: coerced string "42" to int"#]);
}

#[test]
fn undeclared_keys_are_kept() {
    let (args, _) = coerced("(id :int) -> :any", json!({"id": "1", "more": {"deep": ["x"]}}));
    assert_eq!(args, json!({"id": 1, "more": {"deep": ["x"]}}));
}

#[test]
fn outputs_are_not_coerced() {
    let signature = sig("{count :int, items [:string]}");
    assert!(
        signature.check_output(&data(json!({"count": 5, "items": ["a", "b"]})), Validation::Enabled).is_ok()
    );
    let rejected = signature
        .check_output(&data(json!({"count": "5", "items": ["a"]})), Validation::Enabled)
        .unwrap_err();
    assert_eq!(rejected.errors[0].to_string(), r#"count: expected int, got string "5""#);
}

#[test]
fn s002_the_four_modes() {
    let signature = sig("(n :int) -> {count :int}");
    let wrong = data(json!({"count": "x"}));
    let extra = data(json!({"count": 1, "more": 2}));
    let output = |mode, value| signature.check_output(value, mode);
    assert!(output(Validation::Enabled, &wrong).is_err() && output(Validation::Enabled, &extra).is_ok());
    let told = output(Validation::WarnOnly, &wrong).unwrap();
    assert_eq!(told.tolerated[0].to_string(), r#"count: expected int, got string "x""#);
    assert!(output(Validation::Disabled, &wrong).unwrap().tolerated.is_empty());
    assert!(output(Validation::Strict, &wrong).is_err() && output(Validation::Strict, &extra).is_err());

    let quoted = data(json!({"n": "7"}));
    assert_eq!(
        datum_to_json(&signature.check_input(&quoted, Validation::WarnOnly).unwrap().value).unwrap(),
        json!({"n": 7})
    );
    assert_eq!(signature.check_input(&quoted, Validation::Disabled).unwrap().value, quoted);
    let bad = data(json!({"n": [], "x": 1}));
    assert_eq!(signature.check_input(&bad, Validation::WarnOnly).unwrap().tolerated.len(), 1);
    assert_eq!(signature.check_input(&bad, Validation::Strict).unwrap_err().errors.len(), 2);
    assert_eq!(serde_json::to_value(Validation::WarnOnly).unwrap(), json!("warn_only"));
}

#[test]
fn fields_of_a_return() {
    let signature = sig("() -> {:count :int :note :string?}");
    let output = |json, mode| signature.check_output(&data(json), mode).is_ok();
    assert!(output(json!({"count": 5, "extra": "bonus"}), Validation::Enabled));
    assert!(!output(json!({"count": 5, "extra": "bonus"}), Validation::Strict));
    assert!(output(json!({"count": 5, "note": null}), Validation::Strict));
    assert!(!output(json!({"note": "x"}), Validation::Enabled));
}

#[test]
fn s002_error_messages_have_paths() {
    let signature = sig("(results [{customer {id :int}, amount :float}], limit :int) -> :any");
    let args = data(json!({"limit": "10", "results": [
        {"customer": {"id": "abc"}, "amount": 1}, {"customer": {"id": 1}, "amount": 2.5}, {"customer": {"id": 2}, "amount": null}]}));
    let rejected = signature.check_input(&args, Validation::Enabled).unwrap_err();
    assert_eq!(
        rejected.lines(),
        "Tool validation errors:\n- results[0].customer.id: expected int, got string \"abc\"\n- results[2].amount: expected float, got nil\n\
         Tool validation warnings:\n- limit: coerced string \"10\" to int"
    );
    assert_eq!(list_errors("Tool validation errors:", &[] as &[String]), "");
}

#[test]
fn messages_keep_firewalled_values_out() {
    let signature = sig("{_card {token :int}}");
    let errors = signature.validate(&data(json!({"_card": {"token": "tok-4711"}})));
    assert_eq!(errors[0].to_string(), "_card.token: expected int, got string <Firewalled>");
}

#[test]
fn s002_string_keys_at_the_tool_boundary() {
    let nested = Datum::new(vec![
        Node::Keyword("user".into()),
        Node::Keyword("profile".into()),
        Node::Keyword("name".into()),
        Node::Str("Alice".into()),
        Node::Map(1),
        Node::Map(1),
        Node::Map(1),
    ])
    .unwrap();
    let normalized = normalize_keys(&nested);
    assert_eq!(datum_to_json(&normalized).unwrap(), json!({"user": {"profile": {"name": "Alice"}}}));
    assert!(normalized.nodes().iter().all(|node| !matches!(node, Node::Keyword(_))));
}

#[test]
fn s002_key_normalization() {
    let sent = Datum::new(vec![
        Node::Keyword("user-name".into()),
        Node::Str("Alice".into()),
        Node::Keyword("created-at".into()),
        Node::Str("2024-01-01".into()),
        Node::Map(2),
    ])
    .unwrap();
    let received = datum_to_json(&normalize_keys(&sent)).unwrap();
    assert_eq!(received, json!({"user_name": "Alice", "created_at": "2024-01-01"}));
}

#[test]
fn errors_of_a_long_list_are_bounded() {
    let rows: Vec<Value> = (0..100_000).map(|_| json!({"id": "x"})).collect();
    let errors = sig("[{id :int}]").validate(&data(json!(rows)));
    assert_eq!(errors.len(), 20);
}
