//! Uses among sources of preludes: requirements, the order of compilation, and the interface that others see.

use super::assemble::Compiled;
use super::draft::{Draft, drafts};
use super::parts::{CompiledNamespace, PreludeError, unreadable};
use super::used::Used;
use crate::form::{Form, FormKind};
use crate::interface::{Held, Interface, Shape};
use crate::meter::Meter;
use crate::parse::parse_metered;
use bumpalo::Bump;
use ptc_bytecode::{Code, Datum, Diagnostic, Limits, Reach, Returns, namespace, nearest};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The namespaces of a source and those of other sources that it requires, both in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// Namespaces it declares.
    pub declares: Vec<String>,
    /// Namespaces it requires, without those of the language and its own.
    pub requires: Vec<String>,
}

/// Reads the namespaces that a source declares and requires, without compiling it.
///
/// ```
/// use ptc_compiler::{Meter, prelude::outline};
/// let limits = ptc_bytecode::Limits::default();
/// let source = "(ns billing (:require [crm :as c] [clojure.string :as s])) (defn due [id] (c/find id))";
/// let found = outline(source, &limits, &Meter::new(&limits, &|| false))?;
/// assert_eq!((found.declares, found.requires), (vec!["billing".to_string()], vec!["crm".to_string()]));
/// # Ok::<(), ptc_compiler::prelude::PreludeError>(())
/// ```
pub fn outline(source: &str, limits: &Limits, meter: &Meter<'_>) -> Result<Outline, PreludeError> {
    if source.len() as u64 > limits.source_bytes {
        // Compiling the source reports its size.
        return Ok(Outline::default());
    }
    let arena = Bump::new();
    let text = parse_metered(source, &arena, limits, meter, &mut Vec::new()).map_err(unreadable)?;
    let drafts = drafts(&text, &arena)?;
    let declares: Vec<String> = drafts.iter().map(|draft| draft.header.name.to_string()).collect();
    let mut requires: Vec<String> = Vec::new();
    for name in drafts.iter().flat_map(|draft| draft.header.required()) {
        let is_known = |names: &[String]| names.iter().any(|known| known == name);
        if namespace(name).is_none() && !is_known(&declares) && !is_known(&requires) {
            requires.push(name.to_string());
        }
    }
    Ok(Outline { declares, requires })
}

/// Returns whether a text is the source of a prelude: a namespace, then nothing but definitions.
pub fn is_source(text: &str, limits: &Limits, meter: &Meter<'_>) -> bool {
    let arena = Bump::new();
    let Ok(text) = parse_metered(text, &arena, limits, meter, &mut Vec::new()) else { return false };
    let head = |form: &Form<'_>| match form.kind {
        FormKind::List([Form { kind: FormKind::Symbol(head), .. }, ..]) => head.to_string(),
        _ => String::new(),
    };
    let heads: Vec<String> = text.forms.iter().map(head).collect();
    let is_definition = |head: &String| matches!(head.as_str(), "ns" | "def" | "defn" | "defn-");
    heads.first().is_some_and(|head| head == "ns") && heads.iter().all(is_definition)
}

/// Returns the order in which the namespaces of a source are compiled: required ones first.
pub(super) fn order(drafts: &[Draft<'_>]) -> Result<Vec<usize>, PreludeError> {
    let places: HashMap<&str, usize> =
        drafts.iter().enumerate().map(|(i, draft)| (draft.header.name, i)).collect();
    let place = |name: &str| places.get(name).copied();
    let needs: Vec<Vec<usize>> =
        drafts.iter().map(|draft| draft.header.required().filter_map(place).collect()).collect();
    in_order(&needs).map_err(|circle| {
        let names: Vec<&str> = circle.iter().take(8).map(|i| drafts[*i].header.name).collect();
        let message = format!("namespaces require each other in a circle: {}", names.join(", "));
        let problem = Diagnostic::without_span(Code::InvalidNamespace, message).hint(BREAK_UP);
        PreludeError::new(problem).in_namespace(names.first().copied().unwrap_or_default())
    })
}

/// Hint for namespaces that require each other in a circle.
pub const BREAK_UP: &str = "put what both need into a namespace of its own, and require that from both";

/// Returns an order in which each item comes after those it needs, otherwise as given; on a circle, the numbers of
/// its items.
///
/// ```
/// use ptc_compiler::prelude::in_order;
/// assert_eq!(in_order(&[vec![2], vec![], vec![1]]), Ok(vec![1, 2, 0]));
/// assert_eq!(in_order(&[vec![1], vec![0], vec![], vec![0]]), Err(vec![0, 1]));
/// ```
pub fn in_order(needs: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (i, need) in needs.iter().enumerate().flat_map(|(i, all)| all.iter().map(move |need| (i, *need))) {
        needed_by[need].push(i);
    }
    let mut ready: BTreeSet<usize> = (0..needs.len()).filter(|i| open[*i] == 0).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(next) = ready.pop_first() {
        order.push(next);
        for i in &needed_by[next] {
            open[*i] -= 1;
            if open[*i] == 0 {
                ready.insert(*i);
            }
        }
    }
    let Some(stuck) = open.iter().position(|left| *left > 0) else { return Ok(order) };
    // Each stuck item needs another stuck one, so following them leads to a circle.
    let mut path = vec![stuck];
    loop {
        let last = path[path.len() - 1];
        let next = needs[last].iter().copied().find(|need| open[*need] > 0).unwrap_or(last);
        if let Some(start) = path.iter().position(|seen| *seen == next) {
            return Err(path.split_off(start));
        }
        path.push(next);
    }
}

/// Units of work per export that may be required.
const COMPARED: usize = 4;

/// Returns the exports that the definitions of a namespace can name, from the namespaces it requires. None if it
/// requires none.
pub(super) fn interface(
    draft: &Draft<'_>,
    used: &Used,
    compiled: &[Option<CompiledNamespace>],
    known: &BTreeMap<String, Datum>,
    meter: &Meter<'_>,
) -> Result<Option<Arc<Interface>>, PreludeError> {
    let required: Vec<&str> = draft.header.required().filter(|name| namespace(name).is_none()).collect();
    // Skipped when it cannot be paid for: the next definition ends the walk.
    if required.is_empty() || !meter.pay(COMPARED * (used.interface.names().count() + compiled.len())) {
        return Ok(None);
    }
    let own = compiled.iter().flatten().filter(|namespace| required.contains(&&*namespace.record.name));
    let own = own.fold(Interface::default(), |all, namespace| all.beside(&interface_of(namespace, known)));
    let others: Vec<&str> = required.iter().copied().filter(|name| !own.has_namespace(name)).collect();
    let all = used.interface.only(&others).beside(&own);
    match required.iter().find(|name| !all.has_namespace(name)) {
        None => Ok(Some(Arc::new(all))),
        Some(missing) => Err(unknown(draft, missing, used)),
    }
}

#[cold]
fn unknown(draft: &Draft<'_>, missing: &str, used: &Used) -> PreludeError {
    let name = draft.header.name;
    let span = draft.header.requires.first().map(|spec| spec.span).unwrap_or_default();
    let message = format!("`{name}` requires the namespace `{missing}`, which no prelude beside it declares");
    let hint = match nearest(missing, used.interface.namespaces()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("give the prelude that declares it, too: -p {missing}.clj, or in the list of sources")
        }
    };
    let problem = Diagnostic::error(Code::InvalidNamespace, span, message).hint(hint);
    PreludeError::new(problem).in_namespace(name)
}

/// Returns the interface of a namespace that others see.
pub(super) fn interface_of(namespace: &CompiledNamespace, known: &BTreeMap<String, Datum>) -> Interface {
    let public = namespace.definitions.iter().filter(|definition| !definition.private);
    let exports = public.map(|definition| {
        let arity = |params: &Vec<String>| match params.iter().position(|name| name == "&") {
            Some(rest) => (rest as u8, true),
            None => (params.len() as u8, false),
        };
        let held = match known.contains_key(&definition.reference) {
            true => Held::Value,
            false => Held::Made,
        };
        let shape = Shape {
            constant: definition.constant.then_some(held),
            arities: definition.params.iter().map(arity).collect(),
            tools: Vec::new(),
            returns: Returns::default(),
        };
        (&*definition.reference, shape)
    });
    Interface::new([&*namespace.record.name], exports)
}

/// Returns the exports that reach no tool, those of other preludes included.
pub(super) fn pure_of(sources: &[Compiled], used: &Used) -> BTreeSet<String> {
    let mut pure = used.pure.clone();
    // An older namespace of the same name says nothing about the new one.
    let own: BTreeSet<&str> =
        sources.iter().flat_map(|source| source.namespaces()).map(|space| &*space.record.name).collect();
    pure.retain(|name| name.split('/').next().is_none_or(|space| !own.contains(space)));
    let mut open: Vec<(&str, BTreeSet<Box<str>>)> = Vec::new();
    for source in sources {
        for namespace in source.namespaces() {
            let mut reach = Reach::of(&namespace.artifact);
            for (i, definition) in namespace.definitions.iter().enumerate().filter(|(_, d)| !d.private) {
                if source.knows(&definition.reference) {
                    pure.insert(definition.reference.clone());
                } else if let Some(found) = reach.whole(i as u32).filter(|found| found.tools.is_empty()) {
                    open.push((&definition.reference, found.uses.clone()));
                }
            }
        }
    }
    // Namespaces do not require each other in a circle, so each round settles at least one more.
    loop {
        let before = open.len();
        open.retain(|(name, uses)| {
            let is_pure = uses.iter().all(|used| pure.contains(&**used));
            if is_pure {
                pure.insert((*name).to_string());
            }
            !is_pure
        });
        if open.len() == before {
            return pure;
        }
    }
}
