//! Templates: permitted tags, their checks, and the filled text.

use crate::contracts::{data, sig};
use ptc_contract::data::Tree;
use ptc_contract::template::{Filling, OnMissing, Template, TemplateStyle};
use serde_json::{Value, json};

fn template(text: &str) -> Template {
    Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fill(text: &str, context: Value) -> String {
    template(text).fill(Tree::new(&data(context)).root(), &Filling::text()).unwrap()
}

fn in_program(text: &str, context: Value, style: TemplateStyle) -> String {
    let filling = Filling { style, ..Filling::program() };
    template(text).fill(Tree::new(&data(context)).root(), &filling).unwrap()
}

fn checked(text: &str, signature: &str) -> Vec<String> {
    template(text).check(&sig(signature).params).iter().map(ToString::to_string).collect()
}

#[test]
fn s002_which_placeholders_are_valid() {
    for (valid, name) in [
        ("{{name}}", "name"),
        ("{{user.name}}", "user.name"),
        ("{{user.address.city}}", "user.address.city"),
        ("{{user-name}}", "user-name"),
        ("{{user_name}}", "user_name"),
        ("{{ name }}", "name"),
    ] {
        assert_eq!(template(valid).names(), [name], "{valid}");
    }
    for (invalid, said) in [
        ("{{123}}", "begin with a letter"),
        ("{{}}", "has no name"),
        ("{{ }}", "has no name"),
        ("{{a..b}}", "is not a name"),
        ("{{a b}}", "is not a name"),
        ("{{name", "without its `}}`"),
        ("{{#a}}", "is not closed"),
        ("{{#a}}{{/b}}", "closes the section `a`"),
        ("{{/a}}", "closes no section"),
        ("{{{a}}}", "nothing is escaped"),
        ("{{> part}}", "no partials"),
        ("{{=<% %>=}}", "cannot be changed"),
    ] {
        let error = Template::parse(invalid).expect_err(invalid).to_string();
        assert!(error.contains(said), "{invalid}: {error}");
    }
    let nested = |n| format!("{}x{}", "{{#a}}".repeat(n), "{{/a}}".repeat(n));
    template(&nested(20));
    assert!(Template::parse(&nested(21)).unwrap_err().message.contains("deeper than 20"));
    let error = Template::parse("one\ntwo {{9}}").unwrap_err();
    assert_eq!((error.line, error.column), (2, 5));
}

#[test]
fn placeholders_are_checked_through_types() {
    let signature = "(user {name :string}, topic :string) -> {count :int}";
    assert!(checked("Find emails for {{user.name}} about {{topic}}", signature).is_empty());
    assert!(checked("{{user-name}}", "(user_name :string) -> :any").is_empty());
    assert_eq!(
        checked("{{user.nam}}", signature),
        ["`{{user.nam}}`: `user` has no field `nam`; did you mean `name`? (line 1, column 1)"]
    );
    assert_eq!(checked("{{other}} {{more}}", signature).len(), 2);
    assert_eq!(checked("{{topic}}", "{count :int}").len(), 1, "a signature without inputs has none to match");
    assert!(checked("{{topic.x}}", signature)[0].contains("is `:string`, which has no field"));
    assert!(checked("{{m.deep.er}}", "(m :map) -> :any").is_empty());
}

#[test]
fn sections_are_checked_through_types() {
    let signature = "(rows [{id :int, tags [:string]}], names [:string], who :string) -> :any";
    assert!(
        checked(
            "{{#rows}}{{id}} {{who}} {{#tags}}{{.}}{{/tags}}{{/rows}}{{#names}}{{.}}{{/names}}",
            signature
        )
        .is_empty()
    );
    assert!(checked("{{#rows}}{{nope}}{{/rows}}", signature)[0].contains("is not a field of the items"));
    assert!(checked("{{#rows}}{{.}}{{/rows}}", signature)[0].contains("use their names"));
    assert!(checked("{{.}}", signature)[0].contains("outside of any section"));
    assert!(checked("{{rows.id}}", signature)[0].contains("is a list: go over it"));
    assert_eq!(template("{{who}}").unused(&sig(signature).params), ["rows", "names"]);
}

#[test]
fn s001_values_and_nested_access() {
    assert_eq!(
        fill("Hi {{user.name}} ({{user.id}})", json!({"user": {"name": "Ann", "id": 7}})),
        "Hi Ann (7)"
    );
    assert_eq!(fill("{{user-name}} {{user_name}}", json!({"user_name": "Ann"})), "Ann Ann");
    assert_eq!(fill("{{a}} {{b}} {{c}}", json!({"a": 1.5, "b": true, "c": null})), "1.5 true ");
    assert_eq!(fill("{{a}}", json!({"a": "<b> & \"c\""})), "<b> & \"c\"", "nothing is escaped");
}

#[test]
fn s001_lists_and_empty_lists() {
    let text = "Classify: {{#items}}[{{subject}}]{{/items}}.";
    assert_eq!(fill(text, json!({"items": [{"subject": "a"}, {"subject": "b"}]})), "Classify: [a][b].");
    assert_eq!(fill(text, json!({"items": []})), "Classify: .");
    assert_eq!(fill(text, json!({})), "Classify: .");
}

#[test]
fn sections_inverted_sections_and_comments() {
    assert_eq!(fill("{{^rows}}none{{/rows}}", json!({"rows": []})), "none");
    assert_eq!(fill("{{^rows}}none{{/rows}}", json!({"rows": [1]})), "");
    assert_eq!(fill("{{#user}}{{name}}{{/user}}", json!({"user": {"name": "Ann"}})), "Ann");
    assert_eq!(
        fill("{{#on}}yes{{/on}}{{#off}}no{{/off}}{{#e}}no{{/e}}", json!({"on": 0, "off": false, "e": ""})),
        "yes"
    );
    assert_eq!(
        fill("{{#a}}{{x}}{{y}}{{/a}}", json!({"a": [{"x": 1}], "x": 8, "y": 9})),
        "19",
        "inner names first"
    );
    assert_eq!(fill("a{{! a comment }}b", json!({})), "ab");
    let text = "Rows:\n  {{#rows}}\n- {{.}}\n  {{/rows}}\n{{! done }}\nEnd";
    assert_eq!(fill(text, json!({"rows": [1, 2]})), "Rows:\n- 1\n- 2\nEnd");
}

#[test]
fn missing_placeholders_are_named() {
    let text = template("Find {{topic}} for {{user.name}}");
    let context = data(json!({"user": {}}));
    let tree = Tree::new(&context);
    assert_eq!(text.missing(tree.root()), ["topic", "user.name"]);
    let error = text.fill(tree.root(), &Filling::program()).unwrap_err();
    assert_eq!(error.to_string(), "the context has no value for `{{topic}}` (line 1, column 6)");
    let keep = Filling { on_missing: OnMissing::Keep, ..Filling::program() };
    assert_eq!(text.fill(tree.root(), &keep).unwrap(), "Find {{topic}} for {{user.name}}");
}

#[test]
fn large_values_become_references_in_programs() {
    let context =
        json!({"rows": [1, 2, 3], "user": {"home": {"city": "Oslo"}}, "long": "x".repeat(2000), "n": 5});
    let text = "{{rows}} {{user.home}} {{user.home.city}} {{n}} {{long}}";
    assert_eq!(
        in_program(text, context.clone(), TemplateStyle::Value),
        "data/rows (:home data/user) Oslo 5 data/long"
    );
    assert_eq!(
        in_program("{{n}} {{user.home.city}}", context.clone(), TemplateStyle::Reference),
        "data/n (get-in data/user [:home :city])"
    );
    let shown = fill("{{rows}} {{long}}", context);
    assert!(shown.starts_with("[1 2 3] xxx") && shown.ends_with("… [1000 of 2000 bytes shown]"));
}

#[test]
fn firewalled_values_never_appear_in_templates() {
    let context =
        json!({"_ids": [4711, 4712], "user": {"_token": "tok-1", "name": "Ann"}, "rows": [{"_k": "deep"}]});
    let text = "{{_ids}} {{user._token}} {{user}} {{#_ids}}{{.}}{{/_ids}} {{#rows}}{{_k}}{{/rows}}";
    let shown = fill(text, context);
    assert_eq!(
        shown,
        "<Firewalled> <Firewalled> {\"_token\" <Firewalled> \"name\" \"Ann\"} <Firewalled> <Firewalled>"
    );
}

#[test]
fn hostile_templates_end() {
    let list: Vec<u32> = (0..1000).collect();
    let text = format!("{}x{}", "{{#a}}".repeat(20), "{{/a}}".repeat(20));
    let error =
        template(&text).fill(Tree::new(&data(json!({"a": list}))).root(), &Filling::text()).unwrap_err();
    assert!(error.message.contains("a million parts"));
    assert!(Template::parse(&"{{#a}}".repeat(150_000)).is_err());
    let many = "{{a}} ".repeat(150_000);
    assert_eq!(fill(&many, json!({"a": 1})).len(), 300_000);
}
