//! Fields that no model sees: those whose name begins with `_`. Programs and hosts have them in full; everything that
//! becomes part of a request, a trace or a log passes through here first. Programs run with the firewall on
//! ([`ptc_runtime::Grants::firewall`]): the VM marks such values and everything derived from them, never prints them,
//! and says which parts of outgoing data are marked. Here those parts are replaced, together with values under
//! firewalled keys.
//!
//! Data from outside carries no mark. A second line of defence searches texts for any string, number or date of six or
//! more characters that is known to be the value of a firewalled key, in case a tool quotes its arguments.

mod arriving;

use crate::data::{Action, Role, Tree, View, rewrite};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use ptc_bytecode::text::{write_day, write_float, write_instant};
use ptc_bytecode::{Datum, Media, Node};
use ptc_runtime::Frozen;
pub use ptc_runtime::{FIREWALLED, is_firewalled};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex};

/// Minimum characters of a value that is searched for. Shorter ones would match unrelated words.
const SHORTEST: usize = 6;

/// Maximum number of values of one run that texts are searched for, and their maximum total bytes.
const MAX_SECRETS: usize = 100_000;
const MAX_SECRET_BYTES: usize = 16 << 20;

/// Maximum bytes of shared data that is searched. Shared parts count each time they are met, so without a limit a
/// small value could take all memory.
const MAX_SEARCHED_BYTES: usize = 64 << 20;

/// Copies data, replacing the values of firewalled keys and everything derived from them, at any depth.
///
/// ```
/// use ptc_runtime::bridge::{datum_to_json, json_to_datum};
/// use serde_json::json;
/// let full = json_to_datum(&json!({"count": 2, "_ids": [7, 9], "rows": [{"_token": "x"}]}))?;
/// let public = datum_to_json(&ptc_contract::firewall::redact(&full))?;
/// assert_eq!(public, json!({"count": 2, "_ids": "<Firewalled>", "rows": [{"_token": "<Firewalled>"}]}));
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn redact(datum: &Datum) -> Datum {
    if !has_firewalled(datum) {
        return datum.clone();
    }
    rewrite(datum, |role, view| match is_secret(role, view) {
        true => Action::Replace(Node::Str(FIREWALLED.into())),
        false => Action::Keep,
    })
}

/// Copies data as models and traces see it: firewalled values are replaced, media become what `place` returns.
///
/// ```
/// use ptc_runtime::bridge::{datum_to_json, json_to_datum};
/// use serde_json::json;
/// let image = json!({"type": "image", "mimeType": "image/png", "data": "iVBORw=="});
/// let full = json_to_datum(&json!({"photo": image, "_photo": image}))?;
/// let public = ptc_contract::firewall::redact_with(&full, &mut |media| media.to_string());
/// assert_eq!(datum_to_json(&public)?, json!({"photo": "<image image/png, 4 bytes>", "_photo": "<Firewalled>"}));
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn redact_with(datum: &Datum, place: &mut dyn FnMut(Media<'_>) -> String) -> Datum {
    if !may_have_media(datum) {
        return redact(datum);
    }
    // `rewrite` works from the end, but `place` is called in the order of the data.
    let mut found = Vec::new();
    rewrite(datum, |role, view| match (is_secret(role, view), view.media()) {
        (false, None) => Action::Keep,
        (false, Some(_)) => {
            found.push(view.index());
            Action::Replace(Node::Nil)
        }
        (true, _) => Action::Replace(Node::Nil),
    });
    let tree = Tree::new(datum);
    let words = found.iter().rev().filter_map(|at| Some((*at, place(tree.at(*at).media()?))));
    let words: HashMap<usize, String> = words.collect();
    rewrite(datum, |role, view| match (is_secret(role, view), words.get(&view.index())) {
        (true, _) => Action::Replace(Node::Str(FIREWALLED.into())),
        (false, Some(words)) => Action::Replace(Node::Str(words.as_str().into())),
        (false, None) => Action::Keep,
    })
}

/// Copies data for records of the host: images and documents become placeholders, nothing else is replaced.
pub fn without_media(datum: &Datum) -> Datum {
    if !may_have_media(datum) {
        return datum.clone();
    }
    rewrite(datum, |_, view| match view.media_or_veiled() {
        Some(media) => Action::Replace(Node::Str(media.to_string().into())),
        None => Action::Keep,
    })
}

/// Returns whether data could hold images or documents. Most holds none and is shared instead of copied.
fn may_have_media(datum: &Datum) -> bool {
    let is_key = |node: &Node| matches!(node, Node::Str(text) | Node::Keyword(text) if &**text == "mimeType");
    datum.nodes().iter().any(is_key)
}

/// Copies data, replacing what a program derived from firewalled values but not values under firewalled keys: for texts
/// that both the host and models get, such as failure messages.
pub fn redact_marked(datum: &Datum) -> Datum {
    if datum.veiled().is_empty() {
        return datum.clone();
    }
    rewrite(datum, |role, view| match (role, view.is_veiled()) {
        (Role::Value(key), _) if is_hidden(key) => Action::KeepWhole,
        (_, true) => Action::Replace(Node::Str(FIREWALLED.into())),
        _ => Action::Keep,
    })
}

/// Returns whether models must not see this value.
fn is_secret(role: Role<'_>, view: View<'_>) -> bool {
    view.is_veiled() || matches!(role, Role::Value(key) if is_hidden(key))
}

/// Key that wraps a marked value (one that a program derived from firewalled values) in JSON.
const MARK: &str = "ptc:firewalled";

/// Suffix of [`MARK`] in a program's own map that has only this key, added once per wrapping.
const OWN: &str = "'";

/// Returns whether a key is [`MARK`], with or without suffixes of [`OWN`].
fn is_mark(name: &str) -> bool {
    name.strip_prefix(MARK).is_some_and(|rest| rest.trim_start_matches(OWN).is_empty())
}

/// Returns the key of a map with one entry, if it reads like a mark.
fn mark_like(view: View<'_>) -> Option<(usize, &str)> {
    match view.entries()[..] {
        [(key, _)] => key.name().filter(|name| is_mark(name)).map(|name| (key.index(), name)),
        _ => None,
    }
}

fn renamed(node: &Node, name: &str) -> Node {
    match node {
        Node::Keyword(_) => Node::Keyword(name.into()),
        _ => Node::Str(name.into()),
    }
}

/// Prepares data for JSON: each marked value gets a map around it. Values under firewalled keys need none.
pub fn wrap_marked(datum: &Datum) -> Datum {
    let could_be = |node: &Node| matches!(node, Node::Str(name) | Node::Keyword(name) if is_mark(name));
    if datum.veiled().is_empty() && !datum.nodes().iter().any(could_be) {
        return datum.clone();
    }
    let tree = Tree::new(datum);
    let maps = (0..datum.nodes().len()).filter(|at| matches!(datum.nodes()[*at], Node::Map(1)));
    let own: HashMap<usize, String> = maps
        .filter_map(|at| mark_like(tree.at(at)))
        .map(|(key, name)| (key, format!("{name}{OWN}")))
        .collect();
    let mut by_key = vec![false; datum.nodes().len()];
    for view in (0..datum.nodes().len()).map(|at| tree.at(at)) {
        let hidden = view.entries().into_iter().filter(|(key, _)| is_hidden(*key));
        hidden.for_each(|(_, value)| by_key[value.index()] = true);
    }
    let marked: Vec<usize> =
        datum.veiled().iter().map(|place| *place as usize).filter(|place| !by_key[*place]).collect();
    let mut opens = vec![0; datum.nodes().len()];
    marked.iter().for_each(|place| opens[place + 1 - tree.at(*place).size()] += 1);
    let mut nodes = Vec::with_capacity(datum.nodes().len() + 2 * marked.len());
    for (at, node) in datum.nodes().iter().enumerate() {
        nodes.extend(std::iter::repeat_n(Node::Str(MARK.into()), opens[at]));
        nodes.push(own.get(&at).map_or_else(|| node.clone(), |name| renamed(node, name)));
        nodes.extend(marked.binary_search(&at).is_ok().then_some(Node::Map(1)));
    }
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil))
}

/// Restores data from [`wrap_marked`].
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// use ptc_contract::firewall::{unwrap_marked, wrap_marked};
/// let pair = Datum::new(vec![Node::Int(1), Node::Int(7), Node::Vector(2)]).unwrap().with_veiled(vec![1]);
/// let back = unwrap_marked(&wrap_marked(&pair));
/// assert_eq!((back.nodes(), back.veiled()), (pair.nodes(), pair.veiled()));
/// // A program may have a map that looks like a mark.
/// let own = Datum::new(vec![Node::Str("ptc:firewalled".into()), Node::Int(5), Node::Map(1)]).unwrap();
/// let back = unwrap_marked(&wrap_marked(&own));
/// assert_eq!((back.nodes(), back.veiled()), (own.nodes(), own.veiled()));
/// ```
pub fn unwrap_marked(datum: &Datum) -> Datum {
    let tree = Tree::new(datum);
    let mut dropped = vec![false; datum.nodes().len()];
    let mut marked = vec![false; datum.nodes().len()];
    let mut own: HashMap<usize, &str> = HashMap::new();
    let maps = (0..datum.nodes().len()).filter(|at| matches!(datum.nodes()[*at], Node::Map(1)));
    for at in maps {
        let Some((key, name)) = mark_like(tree.at(at)) else { continue };
        if let Some(name) = name.strip_suffix(OWN) {
            own.insert(key, name);
            continue;
        }
        (dropped[at], dropped[key]) = (true, true);
        // A wrapper may directly hold another one; then the inner one's value counts.
        let mut inner = at - 1;
        while dropped[inner] {
            inner -= 1;
        }
        marked[inner] = true;
    }
    if !dropped.contains(&true) && own.is_empty() {
        return datum.clone();
    }
    let (mut nodes, mut veiled) = (Vec::new(), Vec::new());
    for (at, node) in datum.nodes().iter().enumerate().filter(|(at, _)| !dropped[*at]) {
        veiled.extend(marked[at].then_some(nodes.len() as u32));
        nodes.push(own.get(&at).map_or_else(|| node.clone(), |name| renamed(node, name)));
    }
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil)).with_veiled(veiled)
}

/// Replaces the values of firewalled keys in JSON, at any depth.
pub fn redact_json(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(object) => Value::Object(
            object
                .iter()
                .map(|(key, value)| {
                    let value = if is_firewalled(key) { FIREWALLED.into() } else { redact_json(value) };
                    (key.clone(), value)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(redact_json).collect()),
        other => other.clone(),
    }
}

fn has_firewalled(datum: &Datum) -> bool {
    !datum.veiled().is_empty()
        || datum
            .nodes()
            .iter()
            .any(|node| matches!(node, Node::Str(name) | Node::Keyword(name) if is_firewalled(name)))
}

fn is_hidden(key: View<'_>) -> bool {
    key.name().is_some_and(is_firewalled)
}

/// Values that must not appear in any text of a run. Grows as data with firewalled keys is met.
///
/// ```
/// use ptc_contract::firewall::Secrets;
/// use ptc_runtime::bridge::json_to_datum;
/// let mut secrets = Secrets::default();
/// secrets.learn(&json_to_datum(&serde_json::json!({"_card": {"token": "tok-84711"}}))?);
/// assert_eq!(secrets.redact("charged tok-84711 twice"), "charged <Firewalled> twice");
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
#[derive(Clone, Default)]
pub struct Secrets {
    texts: BTreeSet<String>,
    bytes: usize,
    /// Flag: there were more values than can be searched for.
    overflowed: bool,
    /// Search for the first characters of each value; rebuilt after new values came. Searching for whole values would
    /// need an automaton as large as all of them.
    heads: Option<AhoCorasick>,
}

/// Secrets shared by a mission and its child agents.
pub type SharedSecrets = Arc<Mutex<Secrets>>;

/// Shows the number of values, never the values.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({} texts)", self.texts.len())
    }
}

impl Secrets {
    /// Remembers the strings and numbers under firewalled keys of `datum`.
    pub fn learn(&mut self, datum: &Datum) {
        if !has_firewalled(datum) {
            return;
        }
        // Each value is visited once, however deep firewalled keys nest.
        rewrite(datum, |role, view| match is_secret(role, view) {
            true => {
                self.learn_all(view);
                Action::Replace(Node::Nil)
            }
            false => Action::Keep,
        });
    }

    /// Remembers a value that has a firewalled name itself, such as a key of the context or a definition.
    pub fn learn_named(&mut self, name: &str, datum: &Datum) {
        if is_firewalled(name) {
            self.learn_all(Tree::new(datum).root());
        }
        self.learn(datum);
    }

    /// Remembers the firewalled values of shared data. Data too large to be searched may contain anything, so
    /// afterwards every text of the run counts as secret.
    pub fn learn_frozen(&mut self, name: Option<&str>, value: &Frozen) {
        match value.to_datum(MAX_SEARCHED_BYTES) {
            Ok(datum) => self.learn_named(name.unwrap_or_default(), &datum),
            Err(_) => self.overflowed = true,
        }
    }

    fn learn_all(&mut self, view: View<'_>) {
        // Names of fields are words like `address`, which also stand in unrelated texts.
        let names: HashSet<usize> = view
            .parts()
            .flat_map(|part| part.entries())
            .filter(|(key, _)| key.name().is_some_and(is_field_name))
            .map(|(key, _)| key.index())
            .collect();
        for part in view.parts().filter(|part| !names.contains(&part.index())) {
            let text = match part.node() {
                Node::Str(text) | Node::Keyword(text) | Node::Big(text) => text.to_string(),
                Node::Int(n) => n.to_string(),
                Node::Float(x) => {
                    let mut text = String::new();
                    write_float(*x, &mut text);
                    text
                }
                Node::Day(day) => {
                    let mut text = String::new();
                    write_day(i64::from(*day), &mut text);
                    text
                }
                Node::Instant(micros) => {
                    let mut text = String::new();
                    write_instant(*micros, &mut text);
                    text
                }
                _ => continue,
            };
            if text.chars().count() < SHORTEST || text == FIREWALLED || self.texts.contains(&text) {
                continue;
            }
            if self.texts.len() >= MAX_SECRETS || self.bytes + text.len() > MAX_SECRET_BYTES {
                self.overflowed = true;
                return;
            }
            self.bytes += text.len();
            self.heads = None;
            // Some characters change when a value is printed inside quotes.
            let mut quoted = String::new();
            ptc_bytecode::text::write_quoted(&text, &mut quoted);
            let quoted = quoted[1..quoted.len() - 1].to_string();
            if quoted != text {
                self.bytes += quoted.len();
                self.texts.insert(quoted);
            }
            self.texts.insert(text);
        }
    }

    /// Returns whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns whether some values could not be remembered; texts of the run are then better left out.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns whether a text holds such a value, or may hold one.
    pub fn hides(&mut self, text: &str) -> bool {
        self.overflowed || (!self.is_empty() && self.redact(text) != text)
    }

    /// Returns the text without the values, and without the beginning of one that is cut off by `…`.
    pub fn redact(&mut self, text: &str) -> String {
        if self.texts.is_empty() {
            return text.to_string();
        }
        self.find_heads();
        match &self.heads {
            Some(heads) => self.without(heads, text),
            // Too many values to search for: no part of the text can be trusted.
            None => FIREWALLED.to_string(),
        }
    }

    /// Builds `heads` for the current values.
    fn find_heads(&mut self) {
        if self.heads.is_none() {
            let heads: BTreeSet<&str> = self.texts.iter().map(|text| first(text, SHORTEST)).collect();
            let kind = Some(AhoCorasickKind::ContiguousNFA);
            self.heads =
                AhoCorasick::builder().kind(kind).match_kind(MatchKind::LeftmostFirst).build(heads).ok();
        }
    }

    fn without(&self, heads: &AhoCorasick, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        let mut look = 0;
        // The next `…`, and where the text before it ends without quotes: found once for each mark.
        let (mut ellipsis, mut unquoted) = (0, 0);
        while let Some(found) = heads.find(Input::new(text).range(look..)) {
            let start = found.start();
            if ellipsis <= start {
                ellipsis = text[start..].find('…').map_or(usize::MAX, |len| start + len);
                unquoted = text.get(..ellipsis).map_or(0, |seen| seen.trim_end_matches('"').len());
            }
            let cut = text.get(start..unquoted);
            match self.whole(&text[start..]).or(cut.and_then(|seen| self.beginning(seen))) {
                Some(len) => {
                    out.push_str(&text[copied..start]);
                    out.push_str(FIREWALLED);
                    copied = start + len;
                    look = copied;
                }
                None => look = start + text[start..].chars().next().map_or(1, char::len_utf8),
            }
        }
        out.push_str(&text[copied..]);
        out
    }

    /// Returns the length of the longest value that `text` begins with, so that no tail of a longer value remains.
    fn whole(&self, text: &str) -> Option<usize> {
        let mut key = text;
        loop {
            // In sorted order, a value that the key begins with is the key itself or stands before it.
            let near = self.texts.range::<str, _>((Bound::Unbounded, Bound::Included(key))).next_back()?;
            let common = near.bytes().zip(key.bytes()).take_while(|(a, b)| a == b).count();
            if common == near.len() {
                return Some(common);
            }
            let common = (0..=common).rev().find(|at| key.is_char_boundary(*at)).unwrap_or(0);
            if common == 0 {
                return None;
            }
            key = &key[..common];
        }
    }

    /// Returns the length of `seen`, the text before a cut, if a value begins with it.
    fn beginning(&self, seen: &str) -> Option<usize> {
        let next = self.texts.range::<str, _>((Bound::Included(seen), Bound::Unbounded)).next()?;
        (!seen.is_empty() && next.starts_with(seen)).then_some(seen.len())
    }
}

/// Returns whether a key is the name of a field rather than data such as an address or an id.
fn is_field_name(key: &str) -> bool {
    key.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '-'))
}

/// Returns the first characters of a text.
fn first(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::bridge::json_to_datum;
    use serde_json::json;

    #[test]
    fn texts_lose_strings_and_numbers_but_not_short_ones() {
        let mut secrets = Secrets::default();
        secrets.learn(
            &json_to_datum(&json!({"_a": ["hidden-value", 1234567, 12, 2.25e9, "ab"], "b": "public-value"}))
                .unwrap(),
        );
        let text = secrets.redact("hidden-value 1234567 12 2.25E9 ab public-value");
        assert_eq!(text, "<Firewalled> <Firewalled> 12 <Firewalled> ab public-value");
    }

    #[test]
    fn names_of_fields_are_words_and_no_secrets() {
        let mut secrets = Secrets::default();
        let user = json!({"_user": {"address": "Baker Street", "ada@engine.uk": {"city-name": 1}}});
        secrets.learn(&json_to_datum(&user).unwrap());
        let text = secrets.redact("The address and city-name of ada@engine.uk: Baker Street");
        assert_eq!(text, "The address and city-name of <Firewalled>: <Firewalled>");
    }

    #[test]
    fn texts_for_hosts_and_models_keep_what_stands_under_firewalled_keys() {
        let nodes = vec![
            Node::Str("_list".into()),
            Node::Int(1),
            Node::Int(2),
            Node::Vector(2),
            Node::Str("list".into()),
            Node::Int(3),
            Node::Vector(1),
            Node::Map(2),
        ];
        let datum = Datum::new(nodes).unwrap().with_veiled(vec![1, 3, 6]);
        let told = redact_marked(&datum);
        assert_eq!(
            ptc_runtime::bridge::datum_to_json(&told).unwrap(),
            json!({"_list": [1, 2], "list": "<Firewalled>"})
        );
        assert_eq!(told.veiled(), [1, 3]);
    }

    #[test]
    fn values_are_found_as_they_are_quoted() {
        let mut secrets = Secrets::default();
        secrets.learn_named("_note", &json_to_datum(&json!("line one\nline \"two\"")).unwrap());
        assert_eq!(secrets.redact(r#"got "line one\nline \"two\"""#), r#"got "<Firewalled>""#);
        assert_eq!(secrets.redact("got line one\nline \"two\""), "got <Firewalled>");
    }

    #[test]
    fn longer_values_win() {
        let mut secrets = Secrets::default();
        secrets.learn(&json_to_datum(&json!({"_a": ["secret", "secret-and-more"]})).unwrap());
        assert_eq!(secrets.redact("x secret-and-more y secret"), "x <Firewalled> y <Firewalled>");
    }

    #[test]
    fn what_is_left_of_a_cut_value_goes_too() {
        let mut secrets = Secrets::default();
        secrets.learn(&json_to_datum(&json!({"_a": "canary-of-some-length"})).unwrap());
        assert_eq!(secrets.redact("x canary-of-s…(+13 chars)"), "x <Firewalled>…(+13 chars)");
        assert_eq!(secrets.redact("[\"canary-of\"…(+3 bytes)]"), "[\"<Firewalled>\"…(+3 bytes)]");
        assert_eq!(secrets.redact("canary-or not…"), "canary-or not…");
        assert_eq!(secrets.redact("a canary… b canary-of… c"), "a <Firewalled>… b <Firewalled>… c");
    }

    #[test]
    fn many_values_with_one_beginning() {
        let ids: Vec<String> = (0..20_000).map(|n| format!("customer-{n:05}")).collect();
        let mut secrets = Secrets::default();
        secrets.learn(&json_to_datum(&json!({"_ids": ids})).unwrap());
        let text = "customer-00007, customer-1999, customer-19999x, customer-99999";
        assert_eq!(secrets.redact(text), "<Firewalled>, customer-1999, <Firewalled>x, customer-99999");
        assert_eq!(secrets.redact(&"customer-".repeat(10_000)).len(), 90_000);
    }

    #[test]
    fn many_beginnings_before_many_quotes() {
        let mut secrets = Secrets::default();
        secrets.learn(&json_to_datum(&json!({"_token": "tok-84711"})).unwrap());
        let text = format!("{}{}", "tok-84".repeat(200_000), "\"".repeat(4_000_000));
        assert_eq!(secrets.settled(&text), 6 * 199_999, "it may be the last one");
        assert_eq!(secrets.settled(&format!("{text} and")), text.len() + " and".len());
        let redacted = secrets.redact(&format!("{text}…"));
        assert!(redacted.contains("tok-84<Firewalled>\"\""), "the last one is cut");
    }

    #[test]
    fn keyword_keys_and_depth() {
        let mut nodes = vec![Node::Keyword("_k".into()), Node::Str("canary-1".into()), Node::Map(1)];
        nodes.extend((0..10_000).map(|_| Node::Vector(1)));
        let datum = Datum::new(nodes).unwrap();
        let public = redact(&datum);
        assert_eq!(public.nodes()[1], Node::Str(FIREWALLED.into()));
        assert_eq!(public.nodes().len(), datum.nodes().len());
    }
}
