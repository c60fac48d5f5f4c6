//! The manifest of a prelude: its namespaces, its exports, and what it needs.
//!
//! A manifest in a file is a claim. [`verify_prelude`](crate::verify_prelude) recomputes what it can from the bytecode,
//! and refuses a file whose manifest differs.

use crate::encode::to_bytes;
use crate::uses::UseRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The manifest of a prelude.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the compiler that wrote it.
    pub compiler: String,
    /// Number of the instruction set: see [`abi`](crate::abi).
    pub abi: u32,
    /// SHA-256 of the source; for a bundle, of the hashes of its components in order.
    pub source_hash: [u8; 32],
    /// SHA-256 of namespaces and exports: changes when the part that programs see, or its requirements, change.
    pub interface_hash: [u8; 32],
    /// SHA-256 of the code section.
    pub code_hash: [u8; 32],
    /// Namespaces, sorted by name.
    pub namespaces: Vec<NamespaceRecord>,
    /// Exports, in the order of the source.
    pub exports: Vec<ExportRecord>,
    /// Sources it was compiled from, if there were several.
    pub components: Vec<Component>,
    /// Builtins the code calls, sorted by name.
    pub imports: Vec<ImportRecord>,
    /// Size of the code.
    pub totals: Totals,
    /// Namespaces of other preludes that the code calls, sorted by name. In a file they have a section of their own.
    #[serde(skip)]
    pub uses: Vec<UseRecord>,
}

impl Manifest {
    /// Computes the identity of the whole: changes with the source, the interface, the code, the preludes it uses
    /// or the instruction set. For a verified manifest it covers everything that decides a program's results.
    pub fn artifact_hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update("ptc-art-2");
        hash.update(self.abi.to_le_bytes());
        hash.update(self.source_hash);
        hash.update(self.interface_hash);
        hash.update(self.code_hash);
        // The code section lists the function of each export, but not its constant: without these, two constants
        // could trade places under the same hash.
        let constants = self.exports.iter().filter_map(|export| match export.target {
            Target::Data(id) => Some(id),
            Target::Function(_) | Target::Made(_) => None,
        });
        hash.update(to_bytes(&constants.collect::<Vec<u32>>()));
        hash.update(to_bytes(&self.uses));
        hash.finalize().into()
    }

    /// Computes [`Manifest::interface_hash`].
    pub fn computed_interface_hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update("ptc-iface-1");
        hash.update(to_bytes(&self.namespaces));
        for export in &self.exports {
            let ExportRecord { namespace, symbol, params, doc, visibility, effect, provider_ref, .. } =
                export;
            let seen = (namespace, symbol, export.kind(), params, doc, visibility, effect);
            let needs =
                (provider_ref, &export.requires, &export.tool_refs, export.dynamic, &export.data_keys);
            hash.update(to_bytes(&(seen, needs)));
        }
        for used in &self.uses {
            hash.update(to_bytes(&used.namespace));
        }
        hash.finalize().into()
    }

    /// True if programs see the same interface in both, effects aside: those are the compiler's judgement, and a
    /// later compiler may judge better.
    pub fn has_interface_of(&self, other: &Manifest) -> bool {
        let is_same = |(a, b): (&ExportRecord, &ExportRecord)| {
            a.is_constant() == b.is_constant()
                && *a == ExportRecord { effect: a.effect, target: a.target, ..b.clone() }
        };
        let uses = |manifest: &Manifest| -> Vec<(String, [u8; 32])> {
            manifest.uses.iter().map(|used| (used.namespace.clone(), used.interface_hash)).collect()
        };
        self.namespaces == other.namespaces
            && uses(self) == uses(other)
            && self.exports.len() == other.exports.len()
            && self.exports.iter().zip(&other.exports).all(is_same)
    }

    /// Computes [`Manifest::source_hash`] for a prelude of several sources.
    pub fn bundle_hash(components: &[Component]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for component in components {
            hash.update(component.source_hash);
        }
        hash.finalize().into()
    }
}

/// Formats a hash as lowercase hexadecimal.
///
/// ```
/// assert!(ptc_bytecode::hex(&[0xab; 32]).starts_with("abab"));
/// ```
pub fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One namespace of a prelude.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamespaceRecord {
    /// Name of the namespace.
    pub name: String,
    /// Doc string, if there is one.
    pub doc: Option<String>,
    /// Default visibility of its exports.
    pub visibility: Visibility,
}

/// The places where an export is listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Visibility {
    /// In the prompt and by discovery.
    Prompt,
    /// By discovery only.
    Discoverable,
}

impl Visibility {
    /// Returns the name as in the source, without the colon.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Prompt => "prompt",
            Visibility::Discoverable => "discoverable",
        }
    }
}

/// Effect of a call on the world outside the program. Ordered by strength: pure, read, unknown, write.
///
/// ```
/// use ptc_bytecode::Effects;
/// assert!(Effects::Pure < Effects::Read && Effects::Read < Effects::Unknown && Effects::Unknown < Effects::Write);
/// assert!(Effects::Unknown.may_write() && !Effects::Read.may_write());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Effects {
    // Files hold the position of a variant, so new ones go to the end and the order is `strength`.
    /// Only reads.
    Read,
    /// Not known.
    Unknown,
    /// Changes something.
    Write,
    /// Reaches no tool at all.
    Pure,
}

impl Effects {
    /// Returns the name as in metadata, without the colon.
    pub fn name(self) -> &'static str {
        match self {
            Effects::Pure => "pure",
            Effects::Read => "read",
            Effects::Unknown => "unknown",
            Effects::Write => "write",
        }
    }

    /// True for a call that has to be treated as a write: it writes, or its effect is unknown. Every guard, ledger
    /// and read-only mode decides by this.
    pub fn may_write(self) -> bool {
        self > Effects::Read
    }

    fn strength(self) -> u8 {
        match self {
            Effects::Pure => 0,
            Effects::Read => 1,
            Effects::Unknown => 2,
            Effects::Write => 3,
        }
    }
}

impl Ord for Effects {
    fn cmp(&self, other: &Effects) -> std::cmp::Ordering {
        self.strength().cmp(&other.strength())
    }
}

impl PartialOrd for Effects {
    fn partial_cmp(&self, other: &Effects) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The definition behind an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Target {
    /// A function, by its number.
    Function(u32),
    /// A constant of data, by its number among the constants of the code.
    Data(u32),
    /// A constant that holds functions: the function without parameters that makes it.
    Made(u32),
}

/// One public export.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExportRecord {
    /// Namespace it belongs to.
    pub namespace: String,
    /// Name within the namespace.
    pub symbol: String,
    /// Parameters of each arity as they are shown; `&` comes before a rest parameter. Empty for a constant.
    pub params: Vec<Vec<String>>,
    /// Doc string, if there is one.
    pub doc: Option<String>,
    /// Places where it is listed.
    pub visibility: Visibility,
    /// Effect as far as the source tells: `:read` or `:write` if the author says so, pure if it reaches no tool,
    /// else unknown until attached to a run that knows the effects of its tools.
    pub effect: Effects,
    /// The only operation behind it, if there is exactly one.
    pub provider_ref: Option<String>,
    /// Grants needed before anything runs: `tool:x`, `upstream:server/tool`. Sorted.
    pub requires: Vec<String>,
    /// Tools it may call, by the names they are granted under. Sorted.
    pub tool_refs: Vec<String>,
    /// True if it calls upstream operations that are only known at run time.
    pub dynamic: bool,
    /// Granted data it reads. Sorted.
    pub data_keys: Vec<String>,
    /// Function or constant it stands for.
    pub target: Target,
}

impl ExportRecord {
    /// Returns `ns/name`, as programs write it.
    pub fn reference(&self) -> String {
        format!("{}/{}", self.namespace, self.symbol)
    }

    /// True for a constant.
    pub fn is_constant(&self) -> bool {
        !matches!(self.target, Target::Function(_))
    }

    /// Returns "function" or "constant".
    pub fn kind(&self) -> &'static str {
        if self.is_constant() { "constant" } else { "function" }
    }

    /// True if an arity takes any number of further arguments.
    pub fn is_variadic(&self) -> bool {
        self.params.iter().any(|params| params.iter().any(|name| name == "&"))
    }

    /// Returns the fewest arguments it takes.
    pub fn min_arity(&self) -> usize {
        let fixed = |params: &Vec<String>| params.iter().take_while(|name| *name != "&").count();
        self.params.iter().map(fixed).min().unwrap_or(0)
    }

    /// Returns its calls, one for each arity: `(find-invoice id)`; for a constant, its name.
    pub fn signatures(&self) -> Vec<String> {
        if self.is_constant() {
            return vec![self.symbol.clone()];
        }
        let call = |params: &Vec<String>| match params.is_empty() {
            true => format!("({})", self.symbol),
            false => format!("({} {})", self.symbol, params.join(" ")),
        };
        self.params.iter().map(call).collect()
    }
}

/// One source of a prelude that has several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Component {
    /// Id given by the host.
    pub id: String,
    /// Version given by the host, if any.
    pub version: Option<u64>,
    /// Hash that the host expected of its source; the actual hash if it expected none.
    pub checksum: String,
    /// SHA-256 of its source.
    pub source_hash: [u8; 32],
    /// Namespaces it declares, sorted.
    pub namespaces: Vec<String>,
    /// Origin, if the host named one.
    pub origin: Option<String>,
}

/// A builtin the code calls, and the argument counts it took when the code was compiled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImportRecord {
    /// Name of the builtin.
    pub name: String,
    /// Fewest arguments.
    pub min: u32,
    /// Most arguments.
    pub max: Option<u32>,
}

/// The size of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Most registers used by one function.
    pub registers: u16,
    /// Number of functions.
    pub functions: u32,
    /// Number of instructions.
    pub instructions: u32,
    /// Number of constants.
    pub constants: u32,
}
