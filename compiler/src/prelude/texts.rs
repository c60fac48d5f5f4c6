//! Check of the texts that `source` shows against the source they claim to come from.

use super::draft::drafts;
use super::parts::CompiledDefinition;
use crate::meter::Meter;
use crate::parse::parse_metered;
use bumpalo::Bump;
use ptc_bytecode::{Effects, ExportRecord, Limits, Returns};
use std::collections::{HashMap, HashSet};

/// Start of the line that lists other definitions a definition uses.
pub(super) const USES: &str = ";; uses ";

/// Returns the first line of a text: visibility, effect and arity of the definition. A helper has no `record`.
pub(super) fn heading(definition: &CompiledDefinition, record: Option<&ExportRecord>) -> String {
    let visibility = record.map_or("private", |record| record.visibility.name());
    let mut head = format!(";; {}: {visibility}", definition.reference);
    if let Some(record) = record.filter(|record| record.effect != Effects::Unknown) {
        head.push_str(&format!(", {}", record.effect.name()));
    }
    let is_rest = definition.params.iter().any(|params| params.iter().any(|name| name == "&"));
    let arities: Vec<String> = definition.params.iter().map(|params| params.len().to_string()).collect();
    match (definition.constant, is_rest) {
        (true, _) => head.push_str(", constant"),
        (false, true) => head.push_str(", variadic"),
        (false, false) => head.push_str(&format!(", arity {}", arities.join(" or "))),
    }
    head + " (effective)\n"
}

/// True if every text is the one its definition in these sources would have. The sources are read and not compiled,
/// so nothing in them runs; a list of used definitions is only checked against definitions with a text.
///
/// ```
/// use ptc_compiler::prelude::{Compiled, compile, file_of, texts_fit};
/// let source = "(ns crm) (defn- clean [id] (str id)) (defn find [id] (clean id))";
/// let limits = ptc_bytecode::Limits::default();
/// let meter = ptc_compiler::Meter::new(&limits, &|| false);
/// let (known, used) = Default::default();
/// let namespaces = compile(source, &limits, &known, &used, true, &meter)?;
/// let mut file = file_of(&[Compiled::new(source, namespaces)], Vec::new(), &used)?;
/// let sources = [source.to_string()];
/// assert!(texts_fit(&sources, &file.manifest.exports, &file.rendered));
/// file.rendered[0].1 = file.rendered[0].1.replace("str", "trim");
/// assert!(!texts_fit(&sources, &file.manifest.exports, &file.rendered));
/// # Ok::<(), ptc_compiler::prelude::PreludeError>(())
/// ```
pub fn fit(sources: &[String], exports: &[ExportRecord], rendered: &[(String, String)]) -> bool {
    let exports: HashMap<String, &ExportRecord> = exports.iter().map(|e| (e.reference(), e)).collect();
    let shown: HashSet<&str> = rendered.iter().map(|(name, _)| name.as_str()).collect();
    let limits = Limits::default();
    let meter = Meter::new(&limits, &|| false);
    let mut expected: HashMap<String, Expected> = HashMap::new();
    for source in sources {
        if source.len() as u64 > limits.source_bytes {
            return false;
        }
        let arena = Bump::new();
        let Ok(text) = parse_metered(source, &arena, &limits, &meter, &mut Vec::new()) else { return false };
        let Ok(drafts) = drafts(&text, &arena) else { return false };
        for read in drafts.iter().flat_map(|draft| &draft.definitions) {
            let definition = read.to_compiled(Returns::default());
            let record = exports.get(&definition.reference).copied();
            if definition.private == record.is_some() {
                return false;
            }
            let head = heading(&definition, record);
            expected.insert(definition.reference, Expected { head, form: definition.rendered });
        }
    }
    rendered.iter().all(|(name, text)| expected.get(name).is_some_and(|expected| expected.is(text, &shown)))
}

/// The parts of a text that follow from the source.
struct Expected {
    head: String,
    form: String,
}

impl Expected {
    fn is(&self, text: &str, shown: &HashSet<&str>) -> bool {
        let Some(rest) = text.strip_prefix(self.head.as_str()) else { return false };
        let Some((names, form)) = rest.strip_prefix(USES).and_then(|rest| rest.split_once('\n')) else {
            return rest == self.form;
        };
        let names = names.strip_prefix("(source ").and_then(|names| names.strip_suffix(')'));
        form == self.form
            && names.is_some_and(|names| names.split(") (source ").all(|name| shown.contains(name)))
    }
}
