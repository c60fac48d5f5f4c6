//! `ptc explain`.

use crate::ptc;

#[test]
fn explain_shows_example_reason_and_fix() {
    let ran = ptc(&["explain", "E0302"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let at = |part: &str| ran.out.find(part).unwrap_or_else(|| panic!("{part}: {ran:?}"));
    assert!(ran.out.starts_with("E0302 type_error\n"), "{ran:?}");
    assert!(at("\nExample\n") < at("error[E0302]") && at("\nWhy\n") < at("\nFix\n"), "{ran:?}");
    assert!(!ran.out.contains("```") && !ran.out.contains('\u{1b}'), "no marks, no colour in pipes");
}

#[test]
fn explain_takes_reasons_in_any_case_and_several() {
    let one = ptc(&["explain", "E0302"]).out;
    for word in ["type_error", "Type-Error", "e0302", "302"] {
        assert_eq!(ptc(&["explain", word]).out, one, "{word}");
    }
    let two = ptc(&["explain", "surplus_bracket", "e0302"]).out;
    assert!(two.starts_with("W1001 surplus_bracket\n") && two.ends_with(&one), "{two}");
    let value = ptc(&["explain", "--json", "W1001", "type_error"]).json();
    assert_eq!(value["codes"][0]["reason"], "surplus_bracket");
    assert_eq!(value["codes"][1]["code"], "E0302");
    assert!(value["codes"][1]["page"].as_str().is_some_and(|page| page.starts_with("# E0302 type_error\n")));
}

#[test]
fn explain_without_a_code_lists_all() {
    let ran = ptc(&["explain"]);
    assert_eq!(ran.code, 0);
    let value = ptc(&["explain", "--json"]).json();
    let codes = value["codes"].as_array().expect("codes");
    assert_eq!(ran.out.lines().count(), codes.len());
    for (line, code) in ran.out.lines().zip(codes) {
        let has = |member: &str| code[member].as_str().is_some_and(|text| line.contains(text));
        assert!(has("code") && has("reason") && has("summary") && code.get("page").is_none(), "{line}");
    }
}

#[test]
fn an_unknown_code_is_a_usage_error_with_near_ones() {
    let ran = ptc(&["explain", "E0302", "tpye_error"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("`tpye_error`") && ran.err.contains("did you mean `type_error`"), "{ran:?}");
    assert!(ptc(&["explain", "E0999"]).err.contains("`ptc explain` lists all codes"));
    let told = ptc(&["explain", "memory", "--json"]);
    assert_eq!(told.code, 2);
    assert!(told.json()["error"]["hint"].as_str().is_some_and(|hint| hint.contains("`memory_exceeded`")));
}
