//! Properties of signatures and models, for any text and any type.
#![allow(missing_docs)]

use proptest::prelude::*;
use ptc_bytecode::{Datum, Node};
use ptc_contract::Signature;
use ptc_contract::signature::{Field, Literal, Num, Pred, Type, Validation, extract_return_spec};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z_][a-z0-9_]{0,6}", 1 => "[A-Za-z][a-z-]{0,5}[a-z]", 1 => "[ -~]{1,6}"]
}

fn num() -> impl Strategy<Value = Num> {
    prop_oneof![
        any::<i64>().prop_map(Num::Int),
        (-1e9..1e9_f64).prop_map(Num::Float),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Num::Float)
    ]
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        "[a-z-]{1,8}".prop_map(Literal::Str),
        "\\PC{0,6}".prop_map(Literal::Str),
        "[a-z][a-z-]{0,6}".prop_map(Literal::Keyword),
        num().prop_map(Literal::Num),
        any::<bool>().prop_map(Literal::Bool),
        Just(Literal::Nil),
    ]
}

fn refined() -> impl Strategy<Value = Type> {
    let bounds = proptest::collection::vec(
        prop_oneof![
            num().prop_map(Pred::Gt),
            num().prop_map(Pred::Ge),
            num().prop_map(Pred::Lt),
            num().prop_map(Pred::Le)
        ],
        1..4,
    );
    let lengths = proptest::collection::vec(
        prop_oneof![
            (0..99_u64).prop_map(Pred::Min),
            (0..99_u64).prop_map(Pred::Max),
            "[a-z.\"]{0,5}".prop_map(Pred::Re)
        ],
        1..4,
    );
    prop_oneof![
        (prop_oneof![Just(Type::Int), Just(Type::Float)], bounds)
            .prop_map(|(ty, preds)| Type::And(Box::new(ty), preds)),
        lengths.prop_map(|preds| Type::And(Box::new(Type::String), preds)),
    ]
}

fn fields(inner: impl Strategy<Value = Type>) -> impl Strategy<Value = Vec<Field>> {
    proptest::collection::vec((name(), inner), 0..4).prop_map(|fields| {
        let mut seen = std::collections::HashSet::new();
        fields
            .into_iter()
            .filter(|(name, _)| seen.insert(name.replace('-', "_")))
            .map(|(name, ty)| Field::new(name, ty))
            .collect()
    })
}

fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::String),
        Just(Type::Int),
        Just(Type::Float),
        Just(Type::Bool),
        Just(Type::Keyword),
        Just(Type::Any),
        Just(Type::Map),
        Just(Type::DateTime),
        Just(Type::Nil),
        proptest::collection::vec(literal(), 1..4).prop_map(Type::Enum),
        refined(),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let plain = inner.clone().prop_map(|ty| match ty {
            Type::Optional(inner) => *inner,
            other => other,
        });
        prop_oneof![
            inner.clone().prop_map(|ty| Type::List(Box::new(ty))),
            fields(inner.clone()).prop_map(|fields| Type::Record { fields, closed: false }),
            plain.clone().prop_map(|ty| Type::Optional(Box::new(ty))),
            proptest::collection::vec(plain.prop_filter("one choice", |ty| !matches!(ty, Type::Or(_))), 2..4)
                .prop_map(Type::Or),
        ]
    })
}

fn datum() -> impl Strategy<Value = Datum> {
    let leaf = prop_oneof![
        Just(vec![Node::Nil]),
        any::<bool>().prop_map(|b| vec![Node::Bool(b)]),
        any::<i64>().prop_map(|n| vec![Node::Int(n)]),
        any::<f64>().prop_map(|x| vec![Node::Float(x)]),
        "\\PC{0,8}".prop_map(|s| vec![Node::Str(s.into())]),
        prop_oneof![Just("42"), Just("-1.5"), Just("true"), Just("1970-01-01T00:00:00+01:00")]
            .prop_map(|s| vec![Node::Str(s.into())]),
        "[a-z-]{1,5}".prop_map(|s| vec![Node::Keyword(s.into())]),
    ];
    let tree = leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| {
                let n = items.len() as u32;
                items.into_iter().flatten().chain([Node::Vector(n)]).collect()
            }),
            proptest::collection::vec((name(), inner), 0..4).prop_map(|entries| {
                let n = entries.len() as u32;
                let parts = entries
                    .into_iter()
                    .flat_map(|(name, value)| [Node::Keyword(name.into())].into_iter().chain(value));
                parts.chain([Node::Map(n)]).collect()
            }),
        ]
    });
    tree.prop_map(|nodes| Datum::new(nodes).expect("one value"))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = Signature::parse(&text);
        let _ = extract_return_spec(&text);
    }

    #[test]
    fn text_of_the_right_pieces_is_read_or_refused(parts in proptest::collection::vec(prop_oneof![
        Just("("), Just(")"), Just("["), Just("]"), Just("{"), Just("}"), Just("->"), Just(":int"), Just(":enum"), Just("?"),
        Just("|"), Just("a"), Just(":a"), Just(" "), Just(","), Just(".."), Just(">"), Just("3"), Just("-1.5"), Just("\"x\""),
        Just("[:=>"), Just(":map"), Just(":cat"), Just("re"), Just("min"), Just(":"), Just("\\"), Just("é"),
    ], 0..30)) {
        let text: String = parts.concat();
        if let Ok(signature) = Signature::parse(&text) {
            prop_assert_eq!(Signature::parse(&signature.to_string()).unwrap(), signature);
        }
    }

    #[test]
    fn what_is_rendered_reads_back(params in fields(types()), returns in types()) {
        let signature = Signature { params, returns };
        let text = signature.to_string();
        prop_assert_eq!(Signature::parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?, signature);
    }

    #[test]
    fn malli_reads_back(params in fields(types()), returns in types()) {
        let signature = Signature { params, returns };
        let data = signature.to_malli();
        prop_assert_eq!(Signature::from_malli(&data).map_err(|e| TestCaseError::fail(e.to_string()))?, signature);
    }

    #[test]
    fn schemas_of_types_are_schemas(ty in types()) {
        let schema = ty.to_json_schema();
        prop_assert!(Type::from_json_schema(&schema).is_ok(), "{schema}");
    }

    #[test]
    fn what_coercion_lets_through_fits(ty in types(), value in datum()) {
        if let Ok(checked) = ty.coerce(&value, Validation::Enabled) {
            let errors = ty.check(&checked.value, false);
            prop_assert!(errors.is_empty(), "{ty}: {errors:?}");
        }
        if ty.check(&value, false).is_empty() {
            prop_assert!(ty.coerce(&value, Validation::Enabled).is_ok());
        }
    }
}

/// Generates data with a canary at a random place under a firewalled key, and harmless data around it.
fn with_canary() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::json;
    let harmless = prop_oneof![
        any::<i32>().prop_map(|n| json!(n)),
        "[a-z ]{0,12}".prop_map(|s| json!(s)),
        Just(json!(["a", {"b": 1}])),
    ];
    let hidden = prop_oneof![
        Just(json!("CANARY-0815-4711")),
        Just(json!(["x", "CANARY-0815-4711"])),
        Just(json!({"deep": [{"er": "CANARY-0815-4711"}]})),
        Just(json!({"CANARY-0815-4711": true})),
        Just(json!("CANARY-0815-4711 \n \"quoted\" ".repeat(100))),
    ];
    (hidden, proptest::collection::vec(("[a-z]{1,5}", harmless, 0..3_u8), 0..5)).prop_map(
        |(hidden, steps)| {
            let mut value = json!({"_hidden": hidden, "said": "before"});
            for (name, harmless, how) in steps {
                value = match how {
                    0 => json!({name: value, "other": harmless}),
                    1 => json!({name: [harmless, value]}),
                    _ => json!({"rows": [value.clone(), value], name: harmless}),
                };
            }
            value
        },
    )
}

proptest! {
    #[test]
    fn a_firewalled_value_is_in_no_message(context in with_canary(), cut in 8..60_usize) {
        use ptc_agent::feedback::{Feedback, Progress};
        use ptc_contract::firewall::{redact, redact_json, Secrets};
        use ptc_agent::prompt::{preview_prompt, FormatOptions};
        use ptc_contract::data::PromptLimit;
        use ptc_agent::Agent;
        use ptc_contract::data::{show, Shown, Tree};
        let datum = ptc_runtime::bridge::json_to_datum(&context).unwrap();
        let limit = PromptLimit { string: cut, ..PromptLimit::default() };
        let names: Vec<String> = context.as_object().unwrap().keys().map(|key| format!("{{{{{key}}}}} {{{{#{key}}}}}{{{{.}}}}{{{{/{key}}}}}")).collect();
        for output in [ptc_model::Output::PtcLisp, ptc_model::Output::Text] {
            let agent = Agent::builder().prompt(names.join(" ")).output(output).prompt_limit(limit).build().unwrap();
            let preview = preview_prompt(&agent, &datum);
            prop_assert!(!format!("{preview:?}").contains("CANARY"), "{preview:?}");
        }
        let mut secrets = Secrets::default();
        secrets.learn(&datum);
        let printed = [show(Tree::new(&datum).root(), Shown::default()), show(Tree::new(&datum).root(), Shown { string: cut, ..Shown::default() })];
        let definitions = [("kept".to_string(), datum.clone())];
        let progress = Progress { result: Some(&datum), prints: &printed, definitions: &definitions, ..Progress::default() };
        let signature = Signature::parse("{rows [{_hidden {deep :int}}], a :int, _hidden :int}").unwrap();
        let errors = signature.validate(&datum);
        let text = Feedback::new(&mut secrets, limit, FormatOptions { feedback_max_chars: cut * 10, ..FormatOptions::default() })
            .progress(&progress)
            .bad_return(&signature.returns, &datum, &errors)
            .failed("type_error", &printed[0])
            .bad_final(&printed[1], "JSON", &printed[0])
            .finish(None);
        prop_assert!(!text.contains("CANARY"), "{text}");
        let public = format!("{:?}", redact(&datum));
        prop_assert!(!public.contains("CANARY"), "{public}");
        prop_assert!(!redact_json(&context).to_string().contains("CANARY"));
    }
}

/// Generates texts with words of tables, names and cassettes in them.
fn model_text() -> impl Strategy<Value = String> {
    let words = [
        "anthropic",
        "openai-compat",
        ":",
        "|",
        "http://",
        "[models.x]\n",
        "adapter = \"openai\"\n",
        "model = ",
        "\"m\"\n",
        "{\"cassette\":1}\n",
        "{\"request\":",
        "{}",
        "}",
        ",\"response\":",
        ",\"error\":",
        "haiku",
        "\n",
        "{\"kind\":\"timeout\",\"message\":\"x\"}",
        "[",
        "prices = ",
        "{input=",
        "1",
        "é",
        "default_provider=",
    ];
    let word = proptest::sample::select(words.to_vec()).prop_map(str::to_string);
    proptest::collection::vec(prop_oneof![4 => word, 1 => "\\PC{0,6}"], 0..14)
        .prop_map(|words| words.concat())
}

proptest! {
    /// Checks that names, tables, cassettes and arguments from anywhere are parsed or refused.
    #[test]
    fn any_text_is_a_model_or_an_error(text in model_text()) {
        use ptc_model::{ModelRegistry, Registry, RegistryConfig, Replay, ToolCall};
        if let Err(error) = Registry::default().env(|_| None).validate(&text) {
            prop_assert_eq!(error.reason(), "model_not_found");
        }
        if let Ok(config) = RegistryConfig::from_toml(&text) {
            prop_assert_eq!(config.check(), Ok(()));
        }
        if let Ok(replay) = Replay::parse(&text) {
            prop_assert!(replay.left() <= text.lines().count());
        }
        let call = ToolCall::read(Some("a"), "f", &text);
        let back: ToolCall = serde_json::from_value(serde_json::to_value(&call).unwrap()).unwrap();
        prop_assert_eq!(back, call);
    }

    /// Checks that a diff of any two requests stays short.
    #[test]
    fn a_mismatch_is_told_briefly(system in "\\PC{0,400}", prompt in "\\PC{0,400}", n in 0..40_usize) {
        use futures_util::FutureExt;
        use ptc_model::{LlmRequest, Message, Model, Recorder, Replay, Scripted};
        let mut cassette = Vec::new();
        let recorder = Recorder::to_writer(Scripted::new(["x"]), &mut cassette).unwrap();
        recorder.call(&LlmRequest::new("", "recorded")).now_or_never().unwrap().unwrap();
        drop(recorder);
        let replay = Replay::parse(std::str::from_utf8(&cassette).unwrap()).unwrap();
        let mut asked = LlmRequest::new(system, prompt);
        asked.tool_names = vec!["tool".to_string(); n];
        asked.messages.extend((0..n).map(|i| Message::user(i.to_string())));
        match replay.call(&asked).now_or_never().unwrap() {
            Ok(reply) => prop_assert_eq!(reply.text(), "x"),
            Err(error) => prop_assert!(error.message.chars().count() < 6000, "{}", error.message),
        }
    }
}
