//! The part of an agent's prompt that tells what a prelude offers.

use super::effects::KnownEffects;
use super::{Attached, Prelude};
use ptc_bytecode::{Effects, ExportRecord, Visibility};

/// Exports shown in full for each namespace.
const SHOWN: usize = 5;
/// The whole text, in bytes.
const MAX_BYTES: usize = 4 << 10;

/// How a run has used tools so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// Calls made.
    pub made: u64,
    /// Calls that failed.
    pub failed: u64,
}

/// How to write the inventory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inventory {
    /// Shown at the end, if given.
    pub calls: Option<Calls>,
    /// The most bytes; doc strings go first.
    pub max_bytes: usize,
}

impl Default for Inventory {
    fn default() -> Inventory {
        Inventory { calls: None, max_bytes: MAX_BYTES }
    }
}

impl Prelude {
    /// The inventory of its exports for prompts; None if none is for prompts. The same prelude gives
    /// the same text.
    ///
    /// ```
    /// # use ptc_runtime::{Prelude, Runtime};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let prelude = Prelude::compile(&runtime, "(ns crm \"CRM helpers.\") (defn find \"Finds one.\" [id] id)")?;
    /// assert_eq!(prelude.inventory(Default::default()).unwrap(), "\
    /// ;; -- host capabilities: call as (ns/name ...) --
    /// ;; crm - CRM helpers.
    ///   crm/find (find id) [pure] - Finds one.
    /// ;; Explore: (ns-publics 'ns) (dir 'ns) (doc 'ns/name) (apropos \"word\"); code: (source 'ns/name)
    /// ");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inventory(&self, how: Inventory) -> Option<String> {
        // As attached to a run that knows nothing of its tools.
        let known = KnownEffects::default();
        let shown = |index: usize| {
            let export = self.exports().get(index)?;
            Some((export.visibility, known.shown(export)))
        };
        render(self, shown, how)
    }
}

impl Attached {
    /// The inventory of what the host lets through, with effects as tools and servers tell them. Every prompt and
    /// listing of an attached prelude is this text.
    pub(crate) fn inventory(&self, how: Inventory) -> Option<String> {
        render(self.prelude(), |index| Some((self.visibility(index)?, self.effect(index))), how)
    }
}

/// Doc strings are dropped before entries, and entries before the frame.
fn render(
    prelude: &Prelude,
    shown: impl Fn(usize) -> Option<(Visibility, Effects)>,
    how: Inventory,
) -> Option<String> {
    let mut last = None;
    for (docs, most) in [(true, SHOWN), (false, SHOWN), (false, 1), (false, 0)] {
        let text = write(prelude, &shown, how.calls, docs, most)?;
        if text.len() <= how.max_bytes {
            return Some(text);
        }
        last = Some(text);
    }
    last.map(|mut text| {
        let mut end = how.max_bytes.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    })
}

fn write(
    prelude: &Prelude,
    shown: &impl Fn(usize) -> Option<(Visibility, Effects)>,
    calls: Option<Calls>,
    docs: bool,
    most: usize,
) -> Option<String> {
    let mut out = String::from(";; -- host capabilities: call as (ns/name ...) --\n");
    let mut any = false;
    for namespace in prelude.namespaces() {
        let mut exports: Vec<(&ExportRecord, Effects)> = prelude
            .exports()
            .iter()
            .enumerate()
            .filter(|(_, export)| export.namespace == namespace.name)
            .filter_map(|(i, export)| match shown(i)? {
                (Visibility::Prompt, effect) => Some((export, effect)),
                (Visibility::Discoverable, _) => None,
            })
            .collect();
        if exports.is_empty() {
            continue;
        }
        any = true;
        exports.sort_by(|(a, _), (b, _)| a.symbol.cmp(&b.symbol));
        let doc = namespace.doc.as_deref().map(one_line).filter(|doc| docs && !doc.is_empty());
        let doc = doc.map_or(String::new(), |doc| format!(" - {doc}"));
        out.push_str(&format!(";; {}{doc}\n", namespace.name));
        for (export, effect) in exports.iter().take(most) {
            out.push_str(&line(export, *effect, docs));
        }
        if exports.len() > most {
            let more = exports.len() - most;
            out.push_str(&format!("  ;; +{more} more: (ns-publics '{})\n", namespace.name));
        }
    }
    if let Some(Calls { made, failed }) = calls {
        out.push_str(&format!(";; tool calls made: {made}, tool call errors: {failed}\n"));
    }
    out.push_str(
        ";; Explore: (ns-publics 'ns) (dir 'ns) (doc 'ns/name) (apropos \"word\"); code: (source 'ns/name)\n",
    );
    any.then_some(out)
}

fn line(export: &ExportRecord, effect: Effects, docs: bool) -> String {
    let doc = export.doc.as_deref().map(one_line).filter(|doc| docs && !doc.is_empty());
    let doc = doc.map_or(String::new(), |doc| format!(" - {doc}"));
    format!("  {} {} [{}]{doc}\n", export.reference(), export.signatures().join(" "), effect.name())
}

/// A text on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
