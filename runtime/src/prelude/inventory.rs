//! Inventory: the part of an agent's prompt that lists the exports of preludes.

use super::Prelude;
use super::attached::{Attached, AttachedPrelude};
use super::effects::KnownEffects;
use ptc_bytecode::{Effects, ExportRecord, NamespaceRecord, Visibility};
use std::cmp::Reverse;

/// Exports per namespace that keep their doc strings as long as these fit.
const WITH_DOCS: usize = 5;
/// Maximum tokens of the whole text.
const MAX_TOKENS: usize = 1024;
/// Bytes per token, about right for English and code.
const TOKEN_BYTES: usize = 4;

/// Tool usage of a run so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// Number of calls made.
    pub made: u64,
    /// Number of calls that failed.
    pub failed: u64,
}

/// Options for the inventory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inventory {
    /// Tool usage to show at the end, if given.
    pub calls: Option<Calls>,
    /// Budget for the whole text, in tokens of four bytes. As many exports are shown as fit; doc strings are
    /// dropped first.
    pub max_tokens: usize,
}

impl Default for Inventory {
    fn default() -> Inventory {
        Inventory { calls: None, max_tokens: MAX_TOKENS }
    }
}

impl Inventory {
    /// Renders the inventory of these preludes, as attached to a run without known tools.
    pub fn of(self, preludes: &[Prelude]) -> Option<String> {
        let known = KnownEffects::default();
        let of = |prelude: &Prelude, index: usize| {
            let export = prelude.exports().get(index)?;
            Some((export.visibility, known.shown(export)))
        };
        let sections = |prelude| Section::all_of(prelude, |index| of(prelude, index));
        render(preludes.iter().flat_map(sections).collect(), self)
    }

    fn max_bytes(&self) -> usize {
        self.max_tokens.saturating_mul(TOKEN_BYTES)
    }
}

impl Prelude {
    /// Renders the inventory of its exports for prompts; None if none is for prompts. Equal preludes give equal texts.
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
        how.of(std::slice::from_ref(self))
    }
}

impl Attached {
    /// Renders the inventory of the exports the host lets through, with the effects of tools and servers. Every
    /// prompt and listing of attached preludes uses this text.
    pub(crate) fn inventory(&self, how: Inventory) -> Option<String> {
        let of = |part: &AttachedPrelude, index: usize| Some((part.visibility(index)?, part.effect(index)));
        let parts = self.parts().iter();
        let sections = parts.flat_map(|part| Section::all_of(part.prelude(), |index| of(part, index)));
        render(sections.collect(), how)
    }
}

/// A namespace with its exports for prompts, the most useful first.
struct Section<'p> {
    namespace: &'p NamespaceRecord,
    exports: Vec<(&'p ExportRecord, Effects)>,
}

impl<'p> Section<'p> {
    /// Returns the namespaces of a prelude that have exports for prompts.
    fn all_of(
        prelude: &'p Prelude,
        shown: impl Fn(usize) -> Option<(Visibility, Effects)>,
    ) -> Vec<Section<'p>> {
        let of = |namespace: &'p NamespaceRecord| {
            let members = prelude.exports().iter().enumerate();
            let members = members.filter(|(_, export)| export.namespace == namespace.name);
            let mut exports: Vec<(&ExportRecord, Effects)> = members
                .filter_map(|(i, export)| match shown(i)? {
                    (Visibility::Prompt, effect) => Some((export, effect)),
                    (Visibility::Discoverable, _) => None,
                })
                .collect();
            exports.sort_by_key(|(export, _)| rank(export));
            (!exports.is_empty()).then_some(Section { namespace, exports })
        };
        prelude.namespaces().iter().filter_map(of).collect()
    }
}

/// Ranks exports in a section. Functions come before constants, since functions are the point of a namespace;
/// exports with a doc string come before those without.
fn rank(export: &ExportRecord) -> (bool, Reverse<bool>, &str) {
    let has_doc = export.doc.as_deref().is_some_and(|doc| !doc.trim().is_empty());
    (export.is_constant(), Reverse(has_doc), &export.symbol)
}

/// Renders as many exports of each namespace as fit the budget. Doc strings are dropped before the fifth export of
/// a namespace, and exports before the frame.
fn render(mut sections: Vec<Section<'_>>, how: Inventory) -> Option<String> {
    sections.sort_by(|a, b| a.namespace.name.cmp(&b.namespace.name));
    let sections = &sections[..];
    let longest = sections.iter().map(|section| section.exports.len()).max()?;
    let fits = |docs: bool, most: usize| {
        Some(write(sections, how.calls, docs, most)).filter(|text| text.len() <= how.max_bytes())
    };
    let with_docs = most_that_fit(WITH_DOCS.min(longest), longest, |most| fits(true, most));
    let found = with_docs.or_else(|| most_that_fit(0, longest, |most| fits(false, most)));
    Some(found.unwrap_or_else(|| {
        let mut text = write(sections, how.calls, false, 0);
        text.truncate(text.floor_char_boundary(how.max_bytes()));
        text
    }))
}

/// Finds, by bisection between these counts, the text with the most exports per namespace that fits.
fn most_that_fit(least: usize, most: usize, fits: impl Fn(usize) -> Option<String>) -> Option<String> {
    if let Some(all) = fits(most) {
        return Some(all);
    }
    let mut best = fits(least)?;
    let (mut fitting, mut too_many) = (least, most);
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        match fits(middle) {
            Some(text) => (best, fitting) = (text, middle),
            None => too_many = middle,
        }
    }
    Some(best)
}

fn write(sections: &[Section<'_>], calls: Option<Calls>, docs: bool, most: usize) -> String {
    let mut out = String::from(";; -- host capabilities: call as (ns/name ...) --\n");
    for Section { namespace, exports } in sections {
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
    out
}

fn line(export: &ExportRecord, effect: Effects, docs: bool) -> String {
    let doc = export.doc.as_deref().map(one_line).filter(|doc| docs && !doc.is_empty());
    let doc = doc.map_or(String::new(), |doc| format!(" - {doc}"));
    format!("  {} {} [{}]{doc}\n", export.reference(), export.signatures().join(" "), effect.name())
}

/// Joins a text into one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
