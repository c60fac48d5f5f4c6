//! Programs are checked against declared and learned shapes of tools before they run.
#![allow(missing_docs)]

use ptc_runtime::{Grants, Known, Runtime, Shape, ToolShape, Tools, Upstream};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

/// Returns the code and message of an error, or the warnings of a result: `code: message; hint`.
fn told(runtime: &Runtime, source: &str) -> Result<Vec<String>, String> {
    let line = |diagnostic: &ptc_runtime::Diagnostic| {
        let hint = diagnostic.hint.as_deref().unwrap_or("");
        format!("{}: {}; {hint}", diagnostic.code.reason(), diagnostic.message)
    };
    match runtime.eval(source, &Grants::new()) {
        Ok(outcome) => Ok(outcome.warnings().iter().map(line).collect()),
        Err(failure) => Err(line(failure.diagnostic())),
    }
}

fn order() -> Value {
    json!({
        "type": "object", "required": ["id", "total"],
        "properties": {
            "id": {"type": "integer"}, "total": {"type": "number"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"stock_id": {"type": "string"}}}},
        },
    })
}

/// Makes `tool/orders` with this schema of its reply, and a counter of its calls.
fn orders(answers: &Value) -> (Runtime, Arc<AtomicU32>) {
    let takes = json!({
        "type": "object", "required": ["customer"],
        "properties": {"customer": {"type": "string"}, "limit": {"type": "integer"}},
    });
    let shape = ToolShape::new(Shape::of_json_schema(&takes), Shape::of_json_schema(answers));
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let tools = Tools::new()
        .with("orders", move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(json!([{"id": 1, "total": 5.5, "lines": [{"stock_id": "a"}], "extra": 1}]))
        })
        .shaped("orders", shape);
    (runtime().with_tools(tools), calls)
}

#[test]
fn a_field_that_a_closed_schema_does_not_have_stops_the_program_before_its_first_call() {
    let mut closed = order();
    closed["additionalProperties"] = json!(false);
    let (runtime, calls) = orders(&json!({"type": "array", "items": closed}));
    let source = "(def all (tool/orders {:customer \"a\"})) (sum-by :totl all)";
    assert_eq!(
        told(&runtime, source).unwrap_err(),
        "unknown_field: no record in the result of `tool/orders` has `:totl`; did you mean `:total`?"
    );
    // With a schema, an unknown field is an error even without a similar one.
    assert_eq!(
        told(&runtime, "(map :weight (tool/orders {:customer \"a\"}))").unwrap_err(),
        "unknown_field: no record in the result of `tool/orders` has `:weight`; there is `:id`, `:lines`, `:total`"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    // A program that handles nil may read it.
    let guarded = "(map #(or (:weight %) 0) (tool/orders {:customer \"a\"}))";
    assert_eq!(told(&runtime, guarded), Ok(Vec::new()));
    assert_eq!(told(&runtime, "(map :total (tool/orders {:customer \"a\"}))"), Ok(Vec::new()));
}

#[test]
fn a_schema_that_leaves_room_only_warns_and_only_if_the_field_was_not_there_after_all() {
    let (runtime, calls) = orders(&json!({"type": "array", "items": order()}));
    let source = "(map :totl (tool/orders {:customer \"a\"}))";
    let warning = "undeclared_field: no record in the result of `tool/orders` is known to have `:totl`; \
                   did you mean `:total`?";
    assert_eq!(told(&runtime, source), Ok(vec![warning.to_string()]));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let nested = "(mapcat #(map :stok_id (:lines %)) (tool/orders {:customer \"a\"}))";
    assert!(told(&runtime, nested).unwrap()[0].contains("`:lines` of the result of `tool/orders`"));
    // Undeclared, unlike any other field, and present.
    assert_eq!(told(&runtime, "(map :extra (tool/orders {:customer \"a\"}))"), Ok(Vec::new()));
    // Undeclared and similar to another field, but present.
    let tools = Tools::new().with("one", |_| Ok(json!({"total": 1, "totals": 2})));
    let shape = ToolShape::new(Shape::Anything, Shape::of_json_schema(&order()));
    let runtime = crate::runtime().with_tools(tools.shaped("one", shape));
    assert_eq!(told(&runtime, "(:totals (tool/one {}))"), Ok(Vec::new()));
    assert_eq!(told(&runtime, "(:totale (tool/one {}))").unwrap().len(), 1);
}

#[test]
fn arguments_that_a_tool_refuses_are_found_before_it_is_called() {
    let (runtime, calls) = orders(&json!({}));
    let cases = [
        (
            "(tool/orders {:limit 3})",
            "`tool/orders` refuses its arguments: it is called without `:customer`, which it needs",
        ),
        (
            "(tool/orders)",
            "`tool/orders` refuses its arguments: it is called without `:customer`, which it needs",
        ),
        (
            "(tool/orders {:customer 7})",
            "`tool/orders` refuses its arguments: it takes a text as `:customer`, but is given a number",
        ),
        (
            "(tool/orders {:customer nil})",
            "`tool/orders` refuses its arguments: it takes a text as `:customer`, but is given nil",
        ),
        (
            "(tool/orders {:customer \"a\" :limit \"many\"})",
            "`tool/orders` refuses its arguments: it takes an integer as `:limit`, but is given a text",
        ),
        (
            "(let [ask (fn [n] (tool/orders {:customer \"a\" :limit n}))] (map ask [1 2]) (ask [3]))",
            "`tool/orders` refuses its arguments: it takes an integer as `:limit`, but is given a list",
        ),
    ];
    for (source, message) in cases {
        let wanted = format!("refused_arguments: {message}; it takes {{:customer string :limit integer?}}");
        assert_eq!(told(&runtime, source), Err(wanted), "{source}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let warned = told(&runtime, "(tool/orders {:customer \"a\" :limt 3})").unwrap();
    assert_eq!(warned, ["undeclared_field: `tool/orders` takes no `:limt`; did you mean `:limit`?"]);
    let right = [
        "(tool/orders {:customer \"a\" :limit nil})",
        "(tool/orders {:customer \"a\" :limit \"3\"})",
        "(tool/orders {\"customer\" \"a\" :other 1})",
        "(tool/orders (assoc (first [{:limit 1}]) :customer \"a\"))",
        "(try (tool/orders {}) (catch Exception e nil))",
    ];
    for source in right {
        assert_eq!(told(&runtime, source), Ok(Vec::new()), "{source}");
    }
}

/// A fault after a call may leave work half done.
#[test]
fn what_certainly_cannot_be_computed_stops_a_program_that_calls_tools() {
    let tools = Tools::new().with("send", |_| Ok(1));
    let runtime = runtime().with_tools(tools);
    let rows = r#"[{"name": "a", "n": null, "size": 3}, {"name": "b", "n": null, "size": null}]"#;
    let told = |source: &str| {
        let outcome = runtime.eval(source, &Grants::new().json("rows", rows).unwrap());
        outcome.map(|_| ()).map_err(|failure| failure.diagnostic().message.to_string())
    };
    let sends = |body: &str| format!("(tool/send {{:x 1}}) {body}");
    let before = |body: &str| told(&sends(body)).unwrap_err();
    assert_eq!(
        before("(map #(+ 1 (:name %)) data/rows)"),
        "`+` needs numbers, but every value at `:name` of `data/rows` is a text"
    );
    assert_eq!(
        before("(defn f [r] (inc (:n r))) (f (first data/rows))"),
        "`inc` needs numbers, but every value at `:n` of `data/rows` is nil"
    );
    // Some values are numbers, the program checks first, the code may not run, or it handles nil.
    for body in [
        "(map #(if (:n %) (+ 1 (:n %)) 0) data/rows)",
        "(map #(+ 1 (or (:n %) 0)) data/rows)",
        "(when (> (count data/rows) 10) (inc (:name (first data/rows))))",
        "(try (inc (:name (first data/rows))) (catch Exception e 0))",
        "(reduce + (map :name (take 1 data/rows)))",
        "(inc (:size (first data/rows)))",
    ] {
        assert_eq!(told(&sends(body)), Ok(()), "{body}");
    }
}

#[test]
fn a_comparison_of_different_kinds_is_told() {
    let rows = r#"[{"id": "7", "total": 3}, {"id": "8", "total": null}]"#;
    let told = |source: &str| -> Vec<String> {
        let outcome = runtime().eval(source, &Grants::new().json("rows", rows).unwrap()).unwrap();
        outcome.warnings().iter().map(|warning| warning.message.to_string()).collect()
    };
    let text = "these are never equal: every value at `:id` of `data/rows` is a text, and none a number";
    assert_eq!(told("(filter #(= (:id %) 7) data/rows)"), [text]);
    assert_eq!(told("(filter #(not= 7 (:id %)) data/rows)"), [text]);
    assert_eq!(
        told("(filter #(> (:id %) 7) data/rows)"),
        [text.replace("these are never equal", "this is never true")]
    );
    let number = "this is never true: every value at `:total` of `data/rows` is a number, and none a text";
    assert_eq!(told("(filter #(< (:total %) \"3\") data/rows)"), [number]);
    assert_eq!(told("(> (count data/rows) \"1\")"), ["this is never true: a number is compared with a text"]);
    assert_eq!(
        told("(filter #(> (:total %) nil) data/rows)"),
        ["this is never true: nothing is more or less than nil"]
    );
    for right in [
        "(filter #(= (:id %) \"7\") data/rows)",
        "(filter #(> (:id %) \"7\") data/rows)",
        "(filter #(= (:total %) nil) data/rows)",
        "(filter #(> (:total %) 2) data/rows)",
        "(filter #(> (parse-long (:id %)) 7) data/rows)",
    ] {
        assert!(told(right).is_empty(), "{right}: {:?}", told(right));
    }
}

#[test]
fn answers_of_a_tool_that_says_nothing_are_learned() {
    let tools = Tools::new().with("user", |_| Ok(json!({"name": "Ada", "_pin": 1}))).with("count", |_| Ok(3));
    let runtime = runtime().with_tools(tools);
    // Nothing is known before the first call, so the run itself warns.
    let first = told(&runtime, "(:nmae (tool/user {}))").unwrap();
    assert!(first[0].starts_with("absent_field: "), "{first:?}");
    let second = told(&runtime, "(:nmae (tool/user {}))").unwrap();
    assert_eq!(
        second,
        [
            "undeclared_field: no map as the result of `tool/user` is known to have `:nmae`; did you mean `:name`?"
        ]
    );
    assert_eq!(told(&runtime, "(+ 1 (tool/count {}))"), Ok(Vec::new()));
    // Names that are for programs only appear in no message.
    assert_eq!(
        told(&runtime, "(:_pim (tool/user {}))").unwrap().iter().filter(|line| line.contains("_pin")).count(),
        0
    );
    // Another tool of the same name does not inherit the learned shape.
    let other = Tools::new().with("user", |_| Ok(json!({"nmae": 1})));
    assert_eq!(told(&runtime.with_tools(other), "(:nmae (tool/user {}))"), Ok(Vec::new()));
}

struct Crm;

impl Upstream for Crm {
    fn operation(&self, _: &str, _: &str) -> Known {
        Known::Present(ptc_runtime::Effects::Read)
    }

    fn tool_shape(&self, server: &str, tool: &str) -> Option<ToolShape> {
        let takes = json!({
            "type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"],
            "additionalProperties": false,
        });
        let shape = ToolShape::new(Shape::of_json_schema(&takes), Shape::of_json_schema(&order()));
        ((server, tool) == ("crm", "order")).then_some(shape)
    }
}

#[test]
fn calls_of_servers_are_held_against_their_schemas() {
    let answer = |_| Ok(json!({"ok": true, "value": {"id": 1, "total": 2}}));
    let runtime = runtime().with_tools(Tools::new().with("call", answer)).with_upstream(Arc::new(Crm));
    let call = |args: &str| format!("(tool/call {{:server \"crm\" :tool \"order\" :args {args}}})");
    let wrong = |source: &str| told(&runtime, source).unwrap_err();
    assert_eq!(
        wrong(&call("{}")),
        "runtime_error: tool 'crm.order' rejected args: missing required args id; it takes {:id integer}"
    );
    assert_eq!(
        wrong(&call("{:id 1 :idd 1}")),
        "runtime_error: tool 'crm.order' rejected args: it takes no `:idd`; did you mean `:id`?"
    );
    // The reply is inside an envelope, which is often forgotten.
    assert_eq!(
        wrong(&format!("(:total {})", call("{:id 1}"))),
        "unknown_field: no map as the result of `crm.order` has `:total`; \
         there is `:ok`, `:value`, `:value_kind`, `:reason`, `:message`, `:raw`"
    );
    let warned = told(&runtime, &format!("(:totl (:value {}))", call("{:id 1}"))).unwrap();
    assert!(warned[0].contains("did you mean `:total`?"), "{warned:?}");
    let right = format!("(let [r {}] (if (:ok r) (:total (:value r)) (:reason r)))", call("{:id 1}"));
    assert_eq!(told(&runtime, &right), Ok(Vec::new()));
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {
        "type": "object", "properties": {"b": {"$ref": "#/$defs/a"}, "c": {"$ref": "#/$defs/a"}},
    }}});
    let shape = Shape::of_json_schema(&schema);
    assert!(matches!(shape, Shape::Record(_)));
    let endless = json!({"$ref": "#"});
    assert_eq!(Shape::of_json_schema(&endless), Shape::Anything);
}
