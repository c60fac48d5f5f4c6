//! `ptc doc` and `ptc apropos`.

use crate::ptc;

#[test]
fn doc_shows_calls_words_and_an_example() {
    let ran = ptc(&["doc", "str/join"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in ["(join sep coll)", "separator", ";=> \"1, 2\"", "clojure.string"] {
        assert!(ran.out.contains(part), "{part}: {ran:?}");
    }
    assert!(!ran.out.contains('\u{1b}'), "no colour in pipes");
    assert!(ptc(&["doc", "->>"]).out.starts_with("(->> "));
    let value = ptc(&["doc", "let", "--json"]).json();
    assert_eq!((value["ok"].as_bool(), value["kind"].as_str()), (Some(true), Some("form")));
}

#[test]
fn doc_of_a_namespace_lists_its_members() {
    let ran = ptc(&["doc", "clojure.walk"]);
    assert!(ran.code == 0 && ran.out.contains("postwalk"), "{ran:?}");
    let found = ptc(&["doc", "clojure.walk", "--json"]).json();
    assert!(found["found"].as_array().is_some_and(|found| found.len() > 2));
}

#[test]
fn an_unknown_name_is_exit_code_one_with_a_near_name() {
    let ran = ptc(&["doc", "fliter"]);
    ran.expect(1, "");
    assert!(ran.err.contains("did you mean `filter`?"), "{ran:?}");
    let value = ptc(&["doc", "fliter", "--json"]);
    assert_eq!(value.code, 1);
    assert_eq!(value.json()["error"]["hint"], "did you mean `filter`?");
    ptc(&["apropos", "zzzz"]).expect(1, "");
    assert_eq!(ptc(&["doc"]).code, 2);
    assert_eq!(ptc(&["apropos"]).code, 2);
}

#[test]
fn apropos_ranks_and_cuts() {
    let ran = ptc(&["apropos", "sort", "--limit", "2"]);
    assert_eq!(ran.out.lines().count(), 2);
    assert!(ran.code == 0 && ran.out.starts_with("sort "), "{ran:?}");
    let value = ptc(&["apropos", "group", "by", "--json"]).json();
    assert_eq!(value["found"][0]["ref"], "group-by");
}
