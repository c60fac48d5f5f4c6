//! Fields that no model sees: those whose name begins with `_`. Programs and hosts have them in
//! full; everything that becomes part of a request, a trace or a log goes through here first.
//!
//! Programs run with the firewall up ([`ptc_runtime::Grants::firewall`]), so the machine marks such values and all that
//! is made of them: it never prints them, and data that leaves it says which parts are marked. Here those parts are
//! replaced, and values under firewalled keys with them.
//!
//! Data from outside carries no mark. A second line looks for it in texts: any string, number or date of six or
//! more characters that is known to stand under a firewalled key, as when a tool quotes what it was given.

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

/// Shorter texts would hit words that have nothing to do with the value.
const SHORTEST: usize = 6;

/// How many values of one run are looked for in texts, and how many bytes they may have together.
const MAX_SECRETS: usize = 100_000;
const MAX_SECRET_BYTES: usize = 16 << 20;

/// How large data is that is searched. Shared parts count each time they are met, so without a limit a small
/// value could take all memory.
const MAX_SEARCHED_BYTES: usize = 64 << 20;

/// A copy with the values of firewalled keys, and what was made of such values, replaced at any depth.
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

/// A copy as models and traces have it: what is firewalled is replaced, and images and documents by what `place` says.
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
    // Copies are made from the end, and the caller is asked in the order of the data.
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

/// A copy for records of the host: images and documents are placeholders, and nothing else is replaced.
pub fn without_media(datum: &Datum) -> Datum {
    if !may_have_media(datum) {
        return datum.clone();
    }
    rewrite(datum, |_, view| match view.media_or_veiled() {
        Some(media) => Action::Replace(Node::Str(media.to_string().into())),
        None => Action::Keep,
    })
}

/// Whether data could have images or documents in it: most has none, and is shared as it is.
fn may_have_media(datum: &Datum) -> bool {
    let is_key = |node: &Node| matches!(node, Node::Str(text) | Node::Keyword(text) if &**text == "mimeType");
    datum.nodes().iter().any(is_key)
}

/// A copy with what a program made of firewalled values replaced, and values under firewalled keys left: for texts that
/// both the host and models get, like the message of a failure.
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

/// Whether no model may see this value.
fn is_secret(role: Role<'_>, view: View<'_>) -> bool {
    view.is_veiled() || matches!(role, Role::Value(key) if is_hidden(key))
}

/// The key under which data that has to be written as JSON keeps what a program made of firewalled values.
const MARK: &str = "ptc:firewalled";

/// Stands behind [`MARK`] in a map of a program's own that has only this key, once for each time it was wrapped.
const OWN: &str = "'";

/// Whether a key is [`MARK`], by itself or as a program's own.
fn is_mark(name: &str) -> bool {
    name.strip_prefix(MARK).is_some_and(|rest| rest.trim_start_matches(OWN).is_empty())
}

/// The key of a map with one entry, if it reads like a mark.
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

/// Data as JSON can keep it: each marked value in a map of its own. Values under firewalled keys need no such map.
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

/// The reverse of [`wrap_marked`].
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
        // A wrapper may hold another one: then the value of the inner one is meant.
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

/// The same for JSON.
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

/// The values that must not appear in any text of a run. Grows as data with firewalled keys is met.
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
    /// Whether there were more values than can be looked for.
    overflowed: bool,
    /// Finds where one might begin, by its first characters; made again when new ones came. Searching
    /// for whole values would need an automaton as large as all of them.
    heads: Option<AhoCorasick>,
}

/// The values of a run and of everything below it.
pub type SharedSecrets = Arc<Mutex<Secrets>>;

/// How many there are; never what they are.
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
        // Each value is looked at once, however firewalled keys nest.
        rewrite(datum, |role, view| match is_secret(role, view) {
            true => {
                self.learn_all(view);
                Action::Replace(Node::Nil)
            }
            false => Action::Keep,
        });
    }

    /// Remembers a value that has a firewalled name of its own: a key of the context, a definition.
    pub fn learn_named(&mut self, name: &str, datum: &Datum) {
        if is_firewalled(name) {
            self.learn_all(Tree::new(datum).root());
        }
        self.learn(datum);
    }

    /// The same for shared data. Data that is too large to be searched may hold anything, so from then on
    /// texts are not trusted.
    pub fn learn_frozen(&mut self, name: Option<&str>, value: &Frozen) {
        match value.to_datum(MAX_SEARCHED_BYTES) {
            Ok(datum) => self.learn_named(name.unwrap_or_default(), &datum),
            Err(_) => self.overflowed = true,
        }
    }

    fn learn_all(&mut self, view: View<'_>) {
        // Names of fields are words like `address`, and stand in texts that have nothing to do with this value.
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
            // Printed inside quotes, some characters look different.
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

    /// Whether there is anything to look for.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether some values could not be remembered; texts of the run are then better left out.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Whether a text holds such a value, or may.
    pub fn hides(&mut self, text: &str) -> bool {
        self.overflowed || (!self.is_empty() && self.redact(text) != text)
    }

    /// The text without the values, and without the beginning of one that is cut off by `…`.
    pub fn redact(&mut self, text: &str) -> String {
        if self.texts.is_empty() {
            return text.to_string();
        }
        self.find_heads();
        match &self.heads {
            Some(heads) => self.without(heads, text),
            // Too many to be found: nothing of the text can be trusted.
            None => FIREWALLED.to_string(),
        }
    }

    /// Makes `heads` for the values there are now.
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
        // The next mark of a cut, and where what stands before it ends without quotes: looked for once for each mark.
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

    /// How long the longest value is that `text` begins with: no tail of a longer one is left standing.
    fn whole(&self, text: &str) -> Option<usize> {
        let mut key = text;
        loop {
            // Of all values in order, one that begins the key stands before it or is it.
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

    /// Whether a value begins with what was seen before it was cut.
    fn beginning(&self, seen: &str) -> Option<usize> {
        let next = self.texts.range::<str, _>((Bound::Included(seen), Bound::Unbounded)).next()?;
        (!seen.is_empty() && next.starts_with(seen)).then_some(seen.len())
    }
}

/// Whether a key is the name of a field, and not data like an address or an id.
fn is_field_name(key: &str) -> bool {
    key.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '-'))
}

/// The first characters of a text.
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
