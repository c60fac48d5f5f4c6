//! Rows of the builtin table: each example gives the result after `;=>`, and core functions have the arities of
//! the table.
#![allow(missing_docs)]

use ptc_bytecode::{BUILTINS, Body, decode};
use ptc_runtime::{Grants, Limits, Runtime};
use ptc_snapshots::{canon, runtime};

/// Returns the problem of a row's example, if there is one.
fn fault_of(runtime: &Runtime, example: &str) -> Option<String> {
    let Some((call, wanted)) = example.split_once(" ;=> ") else {
        return Some("the example has no `;=>`".into());
    };
    let outcome = runtime.eval(call, &Grants::new());
    match (outcome, wanted.strip_prefix("fails ")) {
        (Err(failure), Some(reason)) if failure.reason() == reason => None,
        (Err(failure), _) => Some(failure.to_string()),
        (Ok(outcome), Some(reason)) => Some(format!("did not fail with {reason} but gave {outcome:?}")),
        (Ok(outcome), None) => match outcome.print() {
            // Values are compared as printed, but the order of maps and sets is free.
            Ok(got) if canon::same(&got, wanted) == Ok(true) => None,
            Ok(got) => Some(format!("gave {got}")),
            Err(fault) => Some(fault.to_diagnostic().to_text("")),
        },
    }
}

#[test]
fn examples_give_what_they_say() {
    let runtime = runtime();
    let mut wrong = Vec::new();
    for row in BUILTINS.iter().filter(|row| !row.name.starts_with('%')) {
        if let Some(fault) = fault_of(&runtime, row.example) {
            wrong.push(format!("{}: {}\n    {fault}", row.name, row.example));
        }
    }
    assert!(wrong.is_empty(), "{} examples are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_row_has_a_doc_and_the_example_uses_it() {
    for row in BUILTINS {
        assert!(row.doc.ends_with('.'), "the doc of {} is no sentence: {}", row.name, row.doc);
        if !row.name.starts_with('%') {
            assert!(row.example.contains(row.name), "the example of {} is about something else", row.name);
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = BUILTINS.iter().map(|row| row.name).collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        assert_ne!(pair[0], pair[1], "listed twice");
    }
}

/// Checks the messages of all builtins for wrong arguments: internal functions of the library must not appear.
#[test]
fn messages_name_no_internals() {
    let runtime = runtime().limits(Limits { fuel: 100_000, ..Limits::default() });
    let wrong = ["5", "nil", "\"a\"", ":k", "[1]", "{:a 1}", "inc"];
    let mut told = Vec::new();
    for row in BUILTINS.iter().filter(|row| !row.name.starts_with('%')) {
        for (first, second) in wrong.iter().flat_map(|first| wrong.iter().map(move |second| (first, second)))
        {
            let calls = [
                format!("({} {first})", row.name),
                format!("({} {first} {second})", row.name),
                format!("({} {second} {first} {second})", row.name),
                format!("(apply {} [{first} {second}])", row.name),
            ];
            for call in calls {
                if let Err(failure) = runtime.eval(&call, &Grants::new()) {
                    let message = &failure.diagnostic().message;
                    if message.contains("`%") || failure.reason() == "internal_error" {
                        told.push(format!("{call}: {message}"));
                    }
                }
            }
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// The compiler checks calls against the table, so its arities must be those of the functions.
#[test]
fn core_functions_take_what_the_table_says() {
    let core = decode(ptc_preludes::core()).expect("the core library");
    for row in BUILTINS.iter().filter(|row| row.body == Body::Core) {
        let export = core.exports.iter().find(|export| &*export.name == row.name);
        let export = export.unwrap_or_else(|| panic!("{} is not in the core library", row.name));
        let arities = &core.functions[export.function as usize].arities;
        let least = arities.iter().map(|arity| arity.required).min().unwrap_or(0);
        let most = arities.iter().map(|arity| arity.required).max().unwrap_or(0);
        let open = arities.iter().any(|arity| arity.rest);
        assert_eq!(row.min, u32::from(least), "least arguments of {}", row.name);
        assert_eq!(row.max, (!open).then_some(u32::from(most)), "most arguments of {}", row.name);
    }
}
