//! Names of keys on both sides of the border: programs write `:user-id`, hosts and JSON write `user_id`. Also the
//! canonical form of arguments, which decides whether two calls are equal.

mod cache;
mod spelling;

pub use cache::{CacheKey, args_hash, canonical_cache_key};
pub use spelling::{kebab_key, normalize_key, same};

use crate::data::{Action, Role, Shown, Tree, rewrite, show};
use ptc_bytecode::{Datum, Node};
use std::collections::HashSet;

/// Converts data as it leaves a program: at any depth, keys become strings with `_` for `-`, and keywords among the
/// values become strings. If two keys become equal, the later entry counts.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// use serde_json::json;
/// let datum = Datum::new(vec![
///     Node::Keyword("is-active".into()), Node::Keyword("yes".into()), Node::Map(1),
/// ]).unwrap();
/// let out = ptc_contract::keys::normalize_keys(&datum);
/// assert_eq!(ptc_runtime::bridge::datum_to_json(&out)?, json!({"is_active": "yes"}));
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn normalize_keys(datum: &Datum) -> Datum {
    let renamed = rewrite(datum, |role, view| match (role, view.node()) {
        (Role::Key, Node::Str(name)) if !name.contains('-') => Action::Keep,
        (Role::Key, Node::Str(name) | Node::Keyword(name)) => {
            Action::Replace(Node::Str(normalize_key(name).into()))
        }
        // Keys of other kinds become their printed text.
        (Role::Key, _) => Action::Replace(Node::Str(show(view, Shown::default()).into())),
        (_, Node::Keyword(name)) => Action::Replace(Node::Str(name.clone())),
        _ => Action::Keep,
    });
    without_repeats(renamed)
}

/// Keeps the last of several entries with the same key.
fn without_repeats(datum: Datum) -> Datum {
    let tree = Tree::new(&datum);
    let mut dropped: Vec<(usize, usize)> = Vec::new();
    let mut fewer: Vec<(usize, u32)> = Vec::new();
    for (i, node) in datum.nodes().iter().enumerate() {
        let Node::Map(count) = node else { continue };
        let mut seen = HashSet::new();
        let mut left = *count;
        for (key, value) in tree.at(i).entries().into_iter().rev() {
            if key.name().is_some_and(|name| !seen.insert(name)) {
                dropped.push((key.index(), value.index()));
                left -= 1;
            }
        }
        if left < *count {
            fewer.push((i, left));
        }
    }
    if fewer.is_empty() {
        return datum;
    }
    let mut keep = vec![true; datum.nodes().len()];
    for (key, value) in dropped {
        keep[key..=value].fill(false);
    }
    let mut nodes = datum.nodes().to_vec();
    for (at, left) in fewer {
        nodes[at] = Node::Map(left);
    }
    let mut veiled = Vec::new();
    let mut kept = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.into_iter().enumerate().filter(|(at, _)| keep[*at]) {
        veiled.extend(datum.is_veiled(at).then_some(kept.len() as u32));
        kept.push(node);
    }
    Datum::new(kept).unwrap_or_else(|| Datum::scalar(Node::Nil)).with_veiled(veiled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::bridge::{datum_to_json, json_to_datum};
    use serde_json::json;

    fn normalized(json: serde_json::Value) -> serde_json::Value {
        datum_to_json(&normalize_keys(&json_to_datum(&json).unwrap())).unwrap()
    }

    #[test]
    fn keys_at_any_depth() {
        let got = normalized(json!({"user-id": 1, "rows": [{"is-ok": true}], "a": {"b-c": {"d-e": "x-y"}}}));
        assert_eq!(got, json!({"user_id": 1, "rows": [{"is_ok": true}], "a": {"b_c": {"d_e": "x-y"}}}));
    }

    #[test]
    fn other_kinds_of_keys_are_printed() {
        let datum = Datum::new(vec![
            Node::Int(1),
            Node::Nil,
            Node::Int(2),
            Node::Int(3),
            Node::Vector(2),
            Node::Bool(true),
            Node::Map(2),
        ])
        .unwrap();
        assert_eq!(datum_to_json(&normalize_keys(&datum)).unwrap(), json!({"1": null, "[2 3]": true}));
    }

    #[test]
    fn the_later_of_two_spellings_counts() {
        let datum = Datum::new(vec![
            Node::Keyword("user-id".into()),
            Node::Keyword("a-b".into()),
            Node::Int(9),
            Node::Map(1),
            Node::Keyword("user_id".into()),
            Node::Int(2),
            Node::Map(2),
        ])
        .unwrap();
        assert_eq!(datum_to_json(&normalize_keys(&datum)).unwrap(), json!({"user_id": 2}));
    }
}
