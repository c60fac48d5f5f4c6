//! Inventory of a mission's data, one line per key: name, type, a sample, a description.

use super::{NOTICE, Source, untrusted};
use crate::attachments::Attachments;
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::PromptLimit;
use ptc_contract::data::{Shown, Tree, View};
use ptc_contract::firewall::{FIREWALLED, Secrets, is_firewalled};
use ptc_contract::signature::{Field, Signature, Type, find};
use std::collections::BTreeMap;

/// Maximum characters of one sample.
const SAMPLE: usize = 2000;

/// Input for the lines of an inventory.
pub(super) struct Inventory<'i> {
    pub context: View<'i>,
    /// Sources of types; the first that knows a name wins.
    pub types: Vec<&'i [Field]>,
    /// Sources of descriptions; the first that knows a name wins.
    pub descriptions: Vec<&'i BTreeMap<String, String>>,
    pub definitions: &'i [(String, Datum)],
    pub limit: PromptLimit,
}

/// Returns the lines for the keys of a context, sorted; types come from `signature` where it has them.
///
/// ```
/// use ptc_contract::{data::{PromptLimit, Tree}, Signature};
/// use ptc_agent::prompt::inventory;
/// let context = ptc_runtime::bridge::json_to_datum(&serde_json::json!({"rows": [1, 2, 3], "_key": "k", "who": "Ann"}))?;
/// let signature = Signature::parse("(who :string) -> :any").unwrap();
/// let lines = inventory(Tree::new(&context).root(), Some(&signature), PromptLimit { list: 2, ..PromptLimit::default() });
/// assert_eq!(lines, "\
/// data/_key  ; string, sample: <Firewalled>
/// data/rows  ; list[3], sample: [1 2 …(+1 items)] [2 of 3 items shown; full data in data/rows]
/// data/who  ; :string, sample: \"Ann\"");
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn inventory(context: View<'_>, signature: Option<&Signature>, limit: PromptLimit) -> String {
    let types = signature.map(|signature| &signature.params[..]).into_iter().collect();
    let inventory = Inventory { context, types, descriptions: Vec::new(), definitions: &[], limit };
    inventory.lines(&mut Secrets::default(), &mut Attachments::default()).join("\n")
}

impl Inventory<'_> {
    /// Returns the section of the prompt, marked as data; None without data. Images and documents in it are attached.
    pub fn section(&self, secrets: &mut Secrets, attachments: &mut Attachments) -> Option<String> {
        let lines = self.lines(secrets, attachments);
        if lines.is_empty() {
            return None;
        }
        let public = secrets.redact(&lines.join("\n"));
        Some(format!("## Data\n\n{}\n\n{}", NOTICE.trim(), untrusted(Source::Data, &public)))
    }

    fn lines(&self, secrets: &mut Secrets, attachments: &mut Attachments) -> Vec<String> {
        let mut entries: Vec<(&str, View<'_>)> = self
            .context
            .entries()
            .into_iter()
            .filter_map(|(key, value)| Some((key.name()?, value)))
            .collect();
        entries.sort_by(|a, b| a.0.cmp(b.0));
        let line = |(name, value)| self.line(name, value, secrets, attachments);
        let mut lines: Vec<String> = entries.into_iter().map(line).collect();
        lines.extend(self.definitions.iter().map(|(name, value)| {
            let tree = Tree::new(value);
            format!("{name}  ; {}, defined earlier", type_label(tree.root()))
        }));
        lines
    }

    fn line(
        &self,
        name: &str,
        value: View<'_>,
        secrets: &mut Secrets,
        attachments: &mut Attachments,
    ) -> String {
        let field = self.types.iter().find_map(|fields| find(fields, name));
        let ty = field.map_or_else(|| type_label(value), |field| field.ty.to_string());
        let sample = match is_firewalled(name) {
            true => FIREWALLED.to_string(),
            false => self.sample(name, value, secrets, attachments),
        };
        let described = self.descriptions.iter().find_map(|known| known.get(name));
        let described = described.or(field.and_then(|field| field.description.as_ref()));
        let described = described.map_or(String::new(), |text| format!(" -- {}", text.replace('\n', " ")));
        format!("data/{name}  ; {ty}, sample: {sample}{described}")
    }

    fn sample(
        &self,
        name: &str,
        value: View<'_>,
        secrets: &mut Secrets,
        attachments: &mut Attachments,
    ) -> String {
        let shown = Shown { items: self.limit.list, string: self.limit.string, chars: SAMPLE, depth: 6 };
        let text = attachments.show(value, shown, secrets);
        let note = match value.node() {
            Node::Vector(n) | Node::Map(n) | Node::Set(n) if *n as usize > self.limit.list => {
                format!(" [{} of {n} items shown; full data in data/{name}]", self.limit.list)
            }
            Node::Str(text) if text.len() > self.limit.string => {
                format!(" [{} of {} bytes shown; full data in data/{name}]", self.limit.string, text.len())
            }
            _ => String::new(),
        };
        format!("{text}{note}")
    }
}

/// Returns the kind of a value in one word, with its size.
///
/// ```
/// use ptc_contract::data::Tree;
/// use ptc_agent::prompt::type_label;
/// let datum = ptc_runtime::bridge::json_to_datum(&serde_json::json!([1, 2])).unwrap();
/// assert_eq!(type_label(Tree::new(&datum).root()), "list[2]");
/// ```
pub fn type_label(view: View<'_>) -> String {
    if let Some(media) = view.media() {
        return media.kind.name().to_string();
    }
    match view.node() {
        Node::Vector(n) => format!("list[{n}]"),
        Node::Map(n) => format!("map[{n}]"),
        Node::Set(n) => format!("set[{n}]"),
        Node::Int(_) | Node::Big(_) => "integer".to_string(),
        Node::Bool(_) => "boolean".to_string(),
        _ => view.kind().to_string(),
    }
}

/// Returns the fields that a context signature has types for: those of the part after the arrow.
pub(super) fn context_fields(signature: &Signature) -> &[Field] {
    match signature.returns.required() {
        Type::Record { fields, .. } => fields,
        _ => &[],
    }
}
