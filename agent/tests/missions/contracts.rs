//! Contracts of missions and tools, in the four modes.

use crate::kit::{agent, failure, told, value, with};
use ptc_agent::run;
use ptc_agent::tools::Tool;
use ptc_contract::signature::Validation::{self, Disabled, Enabled, Strict, WarnOnly};
use ptc_model::Scripted;
use serde_json::{Value, json};

/// Returns the value and warnings of a mission whose program returns this.
fn returns(mode: Validation, signature: &str, program: &str) -> Result<(Value, Vec<String>), String> {
    let model = Scripted::new([program]);
    let agent = agent("Count").max_turns(1).signature(signature).signature_validation(mode).build().unwrap();
    match run(&agent, &with(&model)) {
        Ok(step) => Ok((value(&step), step.warnings.clone())),
        Err(step) => Err(step.fail.unwrap().to_string()),
    }
}

#[test]
fn four_modes_on_the_same_return() {
    let program = "(return {:count \"5\"})";
    for mode in [Enabled, Strict] {
        let error = returns(mode, "{count :int}", program).unwrap_err();
        assert!(
            error.starts_with("validation_error: ")
                && error.contains("count: expected int, got string \"5\"")
        );
    }
    let (value, warnings) = returns(WarnOnly, "{count :int}", program).unwrap();
    assert_eq!(
        (value, warnings),
        (json!({"count": "5"}), vec!["count: expected int, got string \"5\"".to_string()])
    );
    assert_eq!(returns(Disabled, "{count :int}", program).unwrap(), (json!({"count": "5"}), Vec::new()));
}

#[test]
fn fields_that_nobody_asked_for() {
    let program = "(return {:count 5 :extra \"bonus\"})";
    for mode in [Enabled, WarnOnly, Disabled] {
        assert_eq!(returns(mode, "{count :int}", program).unwrap().0, json!({"count": 5, "extra": "bonus"}));
    }
    assert!(returns(Strict, "{count :int}", program).unwrap_err().contains("extra"));
}

#[test]
fn fields_that_may_be_absent() {
    for program in ["(return {:id 1})", "(return {:id 1 :email nil})"] {
        assert!(returns(Strict, "{id :int, email :string?}", program).is_ok(), "{program}");
    }
    assert!(returns(Enabled, "{id :int}", "(return {})").unwrap_err().contains("id: expected int, got nil"));
}

#[test]
fn names_with_hyphens_keep_contracts_with_underscores() {
    let (value, _) =
        returns(Strict, "{order_count :int, is_active :bool}", "(return {:order-count 5 :is-active true})")
            .unwrap();
    assert_eq!(value, json!({"order_count": 5, "is_active": true}));
}

#[test]
fn a_bad_return_is_explained() {
    let model = Scripted::new([
        "(return {:order-rows [{:unit-price \"12\"} {:unit-price 3.5}]})",
        "(return {:order-rows [{:unit-price 12.0}]})",
    ]);
    let agent = agent("Sum").signature("{order_rows [{unit_price :float}]}").build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!({"order_rows": [{"unit_price": 12.0}]}));
    let told = told(&model, 2);
    assert!(told.contains("Expected: {order-rows [{unit-price :float}]}"), "{told}");
    assert!(told.contains("order_rows[0].unit_price: expected float, got string \"12\""), "{told}");
    assert!(told.contains("Received:") && told.contains("Return a corrected value"), "{told}");
    assert_eq!((step.usage.turns, step.usage.llm_requests, step.turns[0].success), (2, 2, false));
}

/// Calls `check` with these arguments, in this mode of the agent and the tool.
fn calls(mode: Validation, own: Option<Validation>, args: &str) -> (Value, String, Vec<String>) {
    let mut tool = Tool::new("check", |args, _| args.json()).signature("(id :int, name :string) -> :any");
    tool.validation = own;
    let model = Scripted::new([format!("(tool/check {args})"), "(return *1)".to_string()]);
    let agent = agent("Check").tool(tool).signature_validation(mode).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    let result = if step.turns[0].success { value(&step) } else { failure(&step, 1)["reason"].clone() };
    (result, told(&model, 2), step.warnings)
}

#[test]
fn four_modes_on_the_same_call() {
    let args = "{:id (str \"x\" 7) :name \"Ada\"}";
    for mode in [Enabled, Strict] {
        let (result, told, _) = calls(mode, None, args);
        assert_eq!(result, json!("validation_error"));
        assert!(told.contains("Tool validation errors:\n- id: expected int, got string \"x7\""), "{told}");
        // Literal arguments are refused before the program runs.
        let (result, told, _) = calls(mode, None, "{:id \"x7\" :name \"Ada\"}");
        assert_eq!(result, json!("validation_error"));
        assert!(
            told.contains(
                "`tool/check` refuses its arguments: it takes an integer as `:id`, but is given a text"
            ),
            "{told}"
        );
        assert!(told.contains("it takes {:id integer :name string}"), "{told}");
    }
    let (result, told, warnings) = calls(WarnOnly, None, args);
    assert_eq!(result, json!({"id": "x7", "name": "Ada"}));
    assert!(warnings.len() == 1 && told.contains("id: expected int"), "{told}");
    assert_eq!(calls(Disabled, None, args).0, json!({"id": "x7", "name": "Ada"}));
}

#[test]
fn a_result_comes_with_what_its_program_was_warned_of() {
    let model = Scripted::new(["(return (count (filter #(= (:status %) \"payd\") data/rows)))"]);
    let agent = agent("Count").signature("(rows [:map]) -> :int").build().unwrap();
    let rows = json!({"rows": [{"status": "paid"}, {"status": "open"}]});
    let step = run(&agent, &with(&model).context(&rows).unwrap()).unwrap();
    assert_eq!(value(&step), json!(0));
    assert!(
        step.warnings.len() == 1 && step.warnings[0].contains("did you mean `\"paid\"`?"),
        "{:?}",
        step.warnings
    );
}

#[test]
fn a_tool_may_have_a_mode_of_its_own() {
    assert_eq!(calls(Enabled, Some(Disabled), "{:id \"x7\"}").0, json!({"id": "x7"}));
    assert_eq!(calls(Disabled, Some(Enabled), "{:id \"x7\"}").0, json!("validation_error"));
    assert_eq!(calls(Enabled, Some(Strict), "{:id 1 :name \"a\" :more 2}").0, json!("validation_error"));
    assert_eq!(calls(Enabled, None, "{:id 1 :name \"a\" :more 2}").0["more"], 2);
}

#[test]
fn what_was_coerced_is_told() {
    let (result, told, warnings) = calls(Enabled, None, "{:id \"42\" :name :ada}");
    assert_eq!(result, json!({"id": 42, "name": "ada"}));
    assert!(told.contains("Tool validation warnings:\n- id: coerced string \"42\" to int"), "{told}");
    assert!(warnings.contains(&"id: coerced string \"42\" to int".to_string()), "{warnings:?}");
}

#[test]
fn the_context_is_coerced_and_checked() {
    let model = Scripted::new(["(return (inc data/n))"]);
    let agent = agent("Add to {{n}}").signature("(n :int) -> :int").max_turns(1).build().unwrap();
    let step = run(&agent, &with(&model).context(&json!({"n": "41"})).unwrap()).unwrap();
    assert_eq!((value(&step), step.warnings.len()), (json!(42), 1));
    let step = run(&agent, &with(&model).context(&json!({"n": [1]})).unwrap()).unwrap_err();
    assert_eq!((step.reason(), model.requests().len()), ("validation_error", 1));
}

#[test]
fn strict_wants_everything_before_the_first_request() {
    let model = Scripted::new(["(return 1)"]);
    let strict = |builder: ptc_agent::AgentBuilder| builder.signature_validation(Strict).build().unwrap();
    let bare = strict(agent("Count").tool(Tool::new("load", |_, _| Ok(1))));
    let short = strict(agent("Count").signature("(n :int) -> :int"));
    for agent in [bare, short] {
        assert_eq!(run(&agent, &with(&model)).unwrap_err().reason(), "validation_error");
    }
    assert!(model.requests().is_empty());
    // In other modes a missing key is nil.
    let lenient = agent("Count").signature("(n :int) -> :int").build().unwrap();
    assert!(run(&lenient, &with(&model)).is_ok());
}

#[test]
fn data_that_nobody_has_is_told_with_the_nearest_name() {
    let model = Scripted::new(["(return (count data/ordrs))", "(return (count data/orders))"]);
    let agent =
        agent("Count").max_turns(2).signature("(orders [:int], note :string?) -> :int").build().unwrap();
    let options = with(&model).context(&json!({"orders": [1, 2], "_ids": [7]})).unwrap();
    let step = run(&agent, &options).unwrap();
    assert_eq!(value(&step), json!(2));
    let feedback = told(&model, 2);
    assert!(feedback.contains("`data/ordrs` was not granted"), "{feedback}");
    assert!(feedback.contains("did you mean `data/orders`?"), "{feedback}");
    assert!(!feedback.contains("_ids"), "{feedback}");
}

#[test]
fn a_parameter_that_was_left_out_is_nil() {
    let model = Scripted::new(["(return [data/note data/fail (count data/orders)])"]);
    let agent =
        agent("Count").max_turns(1).signature("(orders [:int], note :string?) -> :any").build().unwrap();
    let step = run(&agent, &with(&model).context(&json!({"orders": [1, 2]})).unwrap()).unwrap();
    assert_eq!(value(&step), json!([null, null, 2]));
}
