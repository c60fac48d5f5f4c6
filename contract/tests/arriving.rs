//! Texts that arrive in pieces, and the values that must not appear in them.
#![allow(missing_docs)]

use proptest::prelude::*;
use ptc_contract::firewall::Secrets;
use ptc_runtime::bridge::json_to_datum;
use serde_json::json;

fn secrets(texts: &[&str]) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.learn(&json_to_datum(&json!({"_all": texts})).unwrap());
    secrets
}

/// Returns what is shown of a text that arrives in these pieces.
fn shown(secrets: &mut Secrets, pieces: &[String]) -> String {
    let (mut held, mut shown) = (String::new(), String::new());
    for piece in pieces {
        held.push_str(piece);
        let rest = held.split_off(secrets.settled(&held));
        shown.push_str(&secrets.redact(&held));
        held = rest;
    }
    shown + &secrets.redact(&held)
}

#[test]
fn the_longer_of_two_values_is_waited_for() {
    let mut secrets = secrets(&["secret", "secret-and-more"]);
    assert_eq!(secrets.settled("x secret"), 2);
    assert_eq!(secrets.settled("x secret-and"), 2);
    assert_eq!(secrets.settled("x secret, "), 10);
    assert_eq!(secrets.settled("x secret-and-more"), 17);
}

#[test]
fn nothing_is_held_back_without_values() {
    assert_eq!(Secrets::default().settled("anything"), 8);
}

proptest! {
    /// Checks that the pieces of a text, however cut, show the same as the whole text.
    #[test]
    fn pieces_show_what_the_whole_does(
        parts in proptest::collection::vec("(abcabc|abcabcabd|bcabcä|…|\"|[a-cä ]{1,3})", 0..12),
        cuts in proptest::collection::vec(1_usize..4, 1..8),
    ) {
        let mut secrets = secrets(&["abcabc", "abcabcabd", "bcabcä"]);
        let text: Vec<char> = parts.concat().chars().collect();
        let mut pieces = Vec::new();
        let (mut at, mut cuts) = (0, cuts.iter().cycle());
        while at < text.len() {
            let end = (at + cuts.next().unwrap_or(&1)).min(text.len());
            pieces.push(text[at..end].iter().collect());
            at = end;
        }
        let whole = secrets.redact(&text.iter().collect::<String>());
        prop_assert_eq!(shown(&mut secrets, &pieces), whole);
    }
}
