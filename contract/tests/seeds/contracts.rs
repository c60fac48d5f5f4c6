//! Signatures: their notation and meaning.

use ptc_bytecode::{Datum, Node};
use ptc_contract::Signature;
use ptc_contract::signature::{Style, Type, extract_return_spec};
use ptc_contract::template::Template;
use ptc_runtime::bridge::json_to_datum;
use serde_json::{Value, json};

pub fn sig(text: &str) -> Signature {
    Signature::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn data(json: Value) -> Datum {
    json_to_datum(&json).unwrap()
}

/// Returns the errors of a result, as lines.
fn errors(text: &str, json: Value) -> Vec<String> {
    sig(text).validate(&data(json)).iter().map(ToString::to_string).collect()
}

fn fits(text: &str, json: Value) -> bool {
    errors(text, json).is_empty()
}

fn refused(text: &str) -> String {
    Signature::parse(text).expect_err(text).to_string()
}

#[test]
fn s002_arrow_notation() {
    let text = "(query :string, limit :int) -> {count :int, items [{id :int}]}";
    let signature = sig(text);
    let params: Vec<(&str, String)> =
        signature.params.iter().map(|param| (&*param.name, param.ty.to_string())).collect();
    assert_eq!(params, [("query", ":string".to_string()), ("limit", ":int".to_string())]);
    assert_eq!(signature.to_string(), text);
    assert_eq!(signature.returns.to_string(), "{count :int, items [{id :int}]}");
}

#[test]
fn s002_output_only_is_the_same_as_no_inputs() {
    let full = sig("() -> {name :string, price :float}");
    assert_eq!(full, sig("{name :string, price :float}"));
    assert_eq!(full, sig("-> {name :string, price :float}"));
}

#[test]
fn s002_primitive_types() {
    assert!(fits(":string", json!("")) && !fits(":string", json!(1)));
    assert!(fits(":int", json!(-1)) && !fits(":int", json!(1.5)) && !fits(":int", json!(true)));
    assert!(fits(":float", json!(-0.5)) && fits(":float", json!(3)) && !fits(":float", json!("3")));
    assert!(fits(":bool", json!(false)) && fits(":boolean", json!(true)) && !fits(":bool", json!(0)));
    assert!(fits(":any", json!(null)) && fits(":any", json!([1, {"a": 2}])));
    let keyword = Datum::scalar(Node::Keyword("pending".into()));
    assert!(sig(":keyword").validate(&keyword).is_empty());
    assert!(
        fits(":keyword", json!("active"))
            && !fits(":keyword", json!("not one"))
            && !fits(":keyword", json!(1))
    );
}

#[test]
fn s002_guessed_type_names_get_the_right_one() {
    assert!(refused("(items :list) -> :bool").contains("write `[:type]`"));
    assert!(refused(":array").contains("write `[:type]`"));
    assert!(refused(":tuple").contains("name the parts"));
    assert!(refused(":object").contains("`{field :type}`, or `:map`"));
    assert!(refused(":strng").contains("did you mean `:string`?"));
    assert!(refused("string").contains("`:string`"));
    sig("(items [:any]) -> :bool");
    sig("(items [:string]) -> :bool");
}

#[test]
fn s002_lists() {
    assert!(fits("[:int]", json!([1, 2])) && fits("[:int]", json!([])) && !fits("[:int]", json!(["a"])));
    assert!(fits("[:string]", json!(["a"])) && fits("[:map]", json!([{}, {"a": 1}])));
    assert!(fits("[{id :int, name :string}]", json!([{"id": 1, "name": "x"}])));
    assert_eq!(errors("[{id :int}]", json!([{"id": 1}, {}])), ["[1].id: expected int, got nil"]);
}

#[test]
fn s002_maps_with_typed_fields() {
    assert!(fits("{customer {id :int, name :string}}", json!({"customer": {"id": 1, "name": "a"}})));
    assert_eq!(
        errors("{customer {id :int, name :string}}", json!({"customer": {"id": "1"}})),
        [r#"customer.id: expected int, got string "1""#, "customer.name: expected string, got nil"]
    );
    assert_eq!(errors("{id :int, name :string}", json!({"id": 1})), ["name: expected string, got nil"]);
    assert!(fits(":map", json!({"any": ["thing"]})) && !fits(":map", json!([])));
    assert_eq!(errors("{id :int}", json!("x")), [r#"expected map, got string "x""#]);
}

#[test]
fn s002_optional_fields() {
    let text = "{id :int, email :string?}";
    assert!(fits(text, json!({"id": 1})) && fits(text, json!({"id": 1, "email": null})));
    assert_eq!(errors(text, json!({"id": 1, "email": 5})), ["email: expected string, got int 5"]);
}

#[test]
fn parameters_have_names_and_types() {
    let signature = sig("(user {id :int, name :string}, limit :int) -> [{order_id :int}]");
    assert_eq!(signature.param("user").unwrap().ty.field("name").unwrap().ty, Type::String);
    let schema = signature.params_json_schema();
    assert_eq!(schema["properties"]["limit"], json!({"type": "integer"}));
    assert_eq!(schema["required"], json!(["user", "limit"]));
    assert!(signature.to_string().starts_with("(user {id :int, name :string}, limit :int)"), "{signature}");
    let unknown = |prompt: &str| Template::parse(prompt).unwrap().check(&signature.params).len();
    assert_eq!((unknown("{{user.name}}: {{limit}}"), unknown("{{user.nam}}: {{limt}}")), (0, 2));
}

#[test]
fn s002_hyphens_in_programs_underscores_in_signatures() {
    let signature = sig("(user_id :int) -> {order_count :int, is_active :bool}");
    let returned = Datum::new(vec![
        Node::Keyword("order-count".into()),
        Node::Int(5),
        Node::Keyword("is-active".into()),
        Node::Bool(true),
        Node::Map(2),
    ])
    .unwrap();
    assert!(signature.validate(&returned).is_empty());
    assert_eq!(signature.returns.render(Style::Kebab), "{order-count :int, is-active :bool}");
}

#[test]
fn s002_complex_nested_signature_over_lines() {
    let signature = sig("
        (query :string, options {limit :int?, sort :string?}) ->
        {results [{id :int, score :float, metadata :map}], total :int}
    ");
    assert_eq!(
        signature.to_string(),
        "(query :string, options {limit :int?, sort :string?}) -> {results [{id :int, score :float, metadata :map}], total :int}"
    );
}

#[test]
fn s002_firewalled_fields_are_hidden_from_callers() {
    let signature = sig("{summary :string, _raw_data [:map]}");
    assert_eq!(signature.returns.render(Style::Public), "{summary :string}");
    assert_eq!(signature.firewalled(), ["_raw_data [:map]"]);
    let full = json!({"summary": "s", "_raw_data": [{"a": 1}]});
    assert!(fits("{summary :string, _raw_data [:map]}", full));
}

#[test]
fn s002_edge_cases() {
    assert_eq!(sig(":any"), sig("() -> :any"));
    assert!(fits("{}", json!({})) && fits("{}", json!({"a": 1})) && !fits("{}", json!([])));
    assert!(refused("[]").contains("a list needs the type of its items") && refused("[]").contains("[:any]"));
    assert!(fits("[:any]", json!([1, "a", null])));
    assert!(fits("[{}]", json!([{}, {"a": 1}])) && !fits("[{}]", json!([1])));
    assert!(refused("").contains("the signature is empty"));
    assert!(refused(" \n").contains("the signature is empty"));
}

#[test]
fn s002_nesting() {
    let deep = "{user {profile {settings {theme {colors {primary :string}}}}}}";
    let value = json!({"user": {"profile": {"settings": {"theme": {"colors": {"primary": 1}}}}}});
    assert_eq!(
        errors(deep, value),
        ["user.profile.settings.theme.colors.primary: expected string, got int 1"]
    );
    let levels = |n: usize| format!("{}:int{}", "[".repeat(n), "]".repeat(n));
    sig(&levels(60));
    assert!(refused(&levels(100)).contains("deeper than 64"));
    assert!(refused(&"[".repeat(30_000)).contains("deeper than 64"));
}

#[test]
fn s002_enums() {
    let signature = sig("(status :enum[pending active closed]) -> {ok :bool}");
    assert!(signature.validate_input(&data(json!({"status": "active"}))).is_empty());
    let keyword =
        Datum::new(vec![Node::Keyword("status".into()), Node::Keyword("active".into()), Node::Map(1)]);
    assert!(signature.validate_input(&keyword.unwrap()).is_empty());
    let errors = signature.validate_input(&data(json!({"status": "open"})));
    assert_eq!(errors[0].to_string(), r#"status: expected one of pending active closed, got string "open""#);
    assert_eq!(
        signature.params_json_schema()["properties"]["status"]["enum"],
        json!(["pending", "active", "closed"])
    );
}

#[test]
fn s002_unions() {
    let text = "{value :string|:int}";
    assert!(fits(text, json!({"value": "a"})) && fits(text, json!({"value": 1})));
    assert_eq!(errors(text, json!({"value": true})), ["value: expected string or int, got bool true"]);
    assert!(sig("(value :string|:int?) -> :any").params[0].ty.is_optional());
}

#[test]
fn s002_refinements() {
    let signature = sig("(page :int[>0], limit :int[1..100]) -> [{id :int}]");
    assert!(signature.validate_input(&data(json!({"page": 1, "limit": 100}))).is_empty());
    let errors = signature.validate_input(&data(json!({"page": 0, "limit": 101})));
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["page: expected int >0, got int 0", "limit: expected int >=1 <=100, got int 101"]);
    assert!(fits(":string[1..3]", json!("abc")) && !fits(":string[1..3]", json!("")));
    assert!(fits(":float[>=0.5 <1]", json!(0.5)) && !fits(":float[>=0.5 <1]", json!(1)));
    assert!(fits(r#":string[re "^a+$"]"#, json!("aaa")) && !fits(r#":string[re "^a+$"]"#, json!("b")));
}

#[test]
fn s002_types_of_rust_functions() {
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Args {
        text: String,
        count: i64,
        ratio: f32,
        flag: bool,
        extra: std::collections::HashMap<String, i32>,
        names: Vec<String>,
        inner: Inner,
        maybe: Option<u8>,
        any: serde_json::Value,
        level: Level,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    enum Level {
        Low,
        High,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        key: String,
    }
    let signature = Signature::of_fn::<Args, bool>().unwrap();
    assert_eq!(
        signature.to_string(),
        "(text :string, count :int, ratio :float, flag :bool, extra :map, names [:string], inner {key :string}, any :any, level :enum[Low High], maybe :int?) -> :bool"
    );
}

#[test]
fn types_that_no_signature_expresses() {
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Tree {
        children: Vec<Tree>,
    }
    assert!(Signature::of::<Tree>().unwrap_err().to_string().contains("contains itself"));
    assert!(
        Signature::of::<(i32, String)>()
            .unwrap_err()
            .to_string()
            .contains("cannot be expressed in a signature")
    );
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    enum Answer {
        Ok(i32),
        Error(String),
    }
    assert!(Signature::of::<Vec<(Answer, bool)>>().is_err());
}

#[test]
fn s001_shorthand_with_colons() {
    assert_eq!(sig("{:id :int :name :string}"), sig("{id :int, name :string}"));
    assert_eq!(sig("{:id :int :email :string?}"), sig("{id :int, email :string?}"));
    assert_eq!(sig("{:count :int :items [:string]?}").to_string(), "() -> {count :int, items [:string]?}");
    assert_eq!(
        sig("{:user {:id :int :profile {:bio :string}}}").to_string(),
        "() -> {user {id :int, profile {bio :string}}}"
    );
}

#[test]
fn s001_a_list_is_never_an_optional() {
    assert!(
        fits("{tags [:string]}", json!({"tags": ["a"]})) && fits("{tags [:string]}", json!({"tags": []}))
    );
    for no_list in [json!({}), json!({"tags": null}), json!({"tags": "a"})] {
        assert!(!fits("{tags [:string]}", no_list.clone()), "{no_list}");
    }
    for none in [json!({}), json!({"items": null})] {
        assert!(fits("{items [:string]?}", none.clone()) && fits("{items :string?}", none));
    }
    assert!(!fits("{items [:string]?}", json!({"items": "a"})));
}

#[test]
fn s001_malli_enum() {
    let signature = sig(r#"[:=> [:cat :string] [:map [:status [:enum "pending" "active" "closed"]]]]"#);
    assert_eq!(signature.to_string(), "(arg1 :string) -> {status :enum[pending active closed]}");
    assert!(signature.validate(&data(json!({"status": "active"}))).is_empty());
    assert!(!signature.validate(&data(json!({"status": "open"}))).is_empty());
}

#[test]
fn s001_malli_union() {
    let signature = sig("[:=> [:cat :int] [:or :string :nil]]");
    assert_eq!(signature.to_string(), "(arg1 :int) -> :string|:nil");
    assert!(
        signature.validate(&data(json!(null))).is_empty() && !signature.validate(&data(json!(1))).is_empty()
    );
}

#[test]
fn s001_malli_constraints() {
    let signature = sig("[:=> [:cat] [:map [:score [:and :int [:> 0] [:< 100]]]]]");
    assert_eq!(signature.to_string(), "() -> {score :int[>0 <100]}");
    let errors = signature.validate(&data(json!({"score": 100})));
    assert_eq!(errors[0].to_string(), "score: expected int >0 <100, got int 100");
    let fits = |score: Value| signature.validate(&data(json!({"score": score}))).is_empty();
    assert_eq!([json!(0), json!(1), json!(99), json!(1.5)].map(fits), [false, true, true, false]);
}

#[test]
fn s001_malli_as_data_of_programs_and_json() {
    let text = r#"[:=> [:catn [:q :string] [:n {:optional true} :int]] [:vector [:map [:id :int]]]]"#;
    let from_json = json!([":=>", [":catn", [":q", ":string"], [":n", {":optional": true}, ":int"]],
        [":vector", [":map", [":id", ":int"]]]]);
    let signature = Signature::from_malli(&data(from_json)).unwrap();
    assert_eq!(signature, sig(text));
    assert_eq!(signature.to_string(), "(q :string, n :int?) -> [{id :int}]");
    // The shorthand converts to the same data.
    assert_eq!(Signature::from_malli(&signature.to_malli()).unwrap(), signature);
    // A keyword that text cannot express would make a signature that nobody can read back.
    let odd = json!([":=>", [":cat"], [":enum", ":%num", "a"]]);
    let error = Signature::from_malli(&data(odd)).unwrap_err();
    assert!(error.to_string().contains("a keyword of an enum is a name"), "{error}");
}

#[test]
fn s001_extracts_the_return_part() {
    assert_eq!(extract_return_spec("(q :string) -> {count :int, _ids [:int]}"), "{count :int, _ids [:int]}");
    assert_eq!(extract_return_spec("{field :type}"), "{field :type}");
    assert_eq!(extract_return_spec("-> [:int]"), "[:int]");
    assert_eq!(extract_return_spec("[:=> [:cat] [:map [:a :int]]]"), "{a :int}");
}

#[test]
fn s001_handles_nested_signature_types() {
    let signature =
        sig("(user {name :string, tags [{id :int}]}) -> {found [{user {name :string, ages [:int]?}}]}");
    assert_eq!(signature.params[0].ty.to_string(), "{name :string, tags [{id :int}]}");
    let schema = &signature.params_json_schema()["properties"]["user"]["properties"];
    assert_eq!(schema["tags"]["items"]["properties"]["id"], json!({"type": "integer"}));
    let lines = |errors: Vec<_>| errors.iter().map(ToString::to_string).collect::<Vec<String>>();
    let input = data(json!({"user": {"name": "Ann", "tags": [{"id": 1}, {"id": "2x"}]}}));
    assert_eq!(
        lines(signature.validate_input(&input)),
        [r#"user.tags[1].id: expected int, got string "2x""#]
    );
    let output = data(json!({"found": [{"user": {"name": "Ann"}}, {"user": {"name": 7, "ages": [1, "2"]}}]}));
    assert_eq!(
        lines(signature.validate(&output)),
        [
            "found[1].user.name: expected string, got int 7",
            r#"found[1].user.ages[1]: expected int, got string "2""#
        ]
    );
}

#[test]
fn malformed_signatures_say_where_and_what() {
    for (text, said) in [
        ("(a :int", "a `(` without its `)`"),
        ("(a :int)", "parameters need a result"),
        ("a :int -> :any", "expected a type, but found `a`"),
        (":int -> :any", "parameters belong in parentheses"),
        ("{a}", "`a` has no type"),
        ("{a? :int}", "the `?` belongs after the type of `a`"),
        ("{a :int, a :string}", "`a` occurs twice"),
        ("{a_b :int, a-b :string}", "occurs twice"),
        ("{1 :int}", "expected a name, but found `1`"),
        ("[:int :string]", "a list has one type"),
        (":enum", "`:enum` needs its values"),
        (":enum[]", "of no values"),
        (":int[5..1]", "nothing lies between"),
        (":int[]", "empty conditions"),
        (":bool[>1]", "`>1` does not apply to `:bool`"),
        (":string[re \"(\"]", "not a pattern"),
        (":int extra", "is left over"),
        ("{a \"", "without its closing"),
        (":", "needs a name"),
        ("{id: :int}", "names have no colon after them"),
        ("(a :int) => :any", "write `->`"),
        ("%", "is not allowed here"),
        (":int[>99999999999999999999]", "not a number that fits"),
        ("[:=> [:cat]]", "has two parts"),
        ("[:=> [:cat :weird] :any]", "not a known type"),
        ("[:=> [:cat] [:map]", "a bracket without its"),
    ] {
        assert!(refused(text).contains(said), "{text}: {}", refused(text));
    }
    assert!(refused(&"a".repeat(70_000)).contains("65536 bytes"));
}

#[test]
fn hostile_signatures_are_read_or_refused() {
    let half = "x".repeat(10);
    for text in [
        ":int|".repeat(13_000) + ":int",
        format!(":enum[{}]", "a ".repeat(30_000)),
        format!("{{{}}}", (0..5_000).map(|n| format!("f{n} :int ")).collect::<String>()),
        format!(":int[{}]", ">1 ".repeat(20_000)),
        format!(
            "{{{}}}",
            (0..2_000).map(|n| format!("f{n} :string[re \"(a{{50}}){{50}}{half}\"] ")).collect::<String>()
        ),
        "(".repeat(60_000),
        "{a ".repeat(20_000),
        "\"".repeat(60_001),
        format!("[:=> [:cat] {}", "[:vector ".repeat(6_000)),
        format!("[:=> [:cat] {}:int{}]", "[:vector ".repeat(5_000), "]".repeat(5_000)),
        "?".repeat(60_000),
        ":a".repeat(30_000),
    ] {
        if let Ok(signature) = Signature::parse(&text) {
            assert_eq!(Signature::parse(&signature.to_string()).unwrap(), signature);
        }
    }
    // References can name one part many times over.
    let defs: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
        })
        .chain([("d40".to_string(), json!({"type": "string"}))])
        .collect();
    let bomb = json!({"$ref": "#/$defs/d0", "$defs": defs});
    assert!(Signature::from_json_schema(&bomb).unwrap_err().message.contains("over 10000 parts"));
    let patterns: serde_json::Map<String, Value> =
        (0..500).map(|n| (format!("f{n}"), json!({"type": "string", "pattern": "^a{200}$"}))).collect();
    let many = json!({"type": "object", "properties": patterns});
    assert!(Signature::from_json_schema(&many).unwrap_err().message.contains("patterns"));
}
