//! What a prelude says about itself: its namespaces, what it exports, and what it needs.
//!
//! The manifest of a file is a claim. [`verify_prelude`](crate::verify_prelude) recomputes from the
//! bytecode what can be recomputed, and refuses a file whose manifest says otherwise.

use crate::encode::to_bytes;
use crate::uses::UseRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The manifest of a prelude.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the compiler that wrote it.
    pub compiler: String,
    /// See [`abi`](crate::abi).
    pub abi: u32,
    /// SHA-256 of the source; of a bundle, of the hashes of its components in order.
    pub source_hash: [u8; 32],
    /// SHA-256 of namespaces and exports: changes when what programs see or what is needed changes.
    pub interface_hash: [u8; 32],
    /// SHA-256 of the code section.
    pub code_hash: [u8; 32],
    /// By name.
    pub namespaces: Vec<NamespaceRecord>,
    /// In the order of the source.
    pub exports: Vec<ExportRecord>,
    /// The sources it was made of, if there were several.
    pub components: Vec<Component>,
    /// The builtins the code calls, by name.
    pub imports: Vec<ImportRecord>,
    /// How large the code is.
    pub totals: Totals,
    /// The namespaces of other preludes that the code calls, by name. In a file they have a section of their own.
    #[serde(skip)]
    pub uses: Vec<UseRecord>,
}

impl Manifest {
    /// The identity of the whole: changes with the source, the interface, the code, what it uses or the instruction
    /// set. Of a manifest that was verified, it covers everything that decides what programs get.
    pub fn artifact_hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update("ptc-art-2");
        hash.update(self.abi.to_le_bytes());
        hash.update(self.source_hash);
        hash.update(self.interface_hash);
        hash.update(self.code_hash);
        // The code section lists the function of each export, but not its constant: without these, two constants could
        // trade places under the same hash.
        let constants = self.exports.iter().filter_map(|export| match export.target {
            Target::Data(id) => Some(id),
            Target::Function(_) | Target::Made(_) => None,
        });
        hash.update(to_bytes(&constants.collect::<Vec<u32>>()));
        hash.update(to_bytes(&self.uses));
        hash.finalize().into()
    }

    /// What [`Manifest::interface_hash`] must be.
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

    /// Checks that programs see the same in both, effects aside: those are the compiler's judgement, and a later
    /// compiler may judge better.
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

    /// What [`Manifest::source_hash`] must be for a prelude of several sources.
    pub fn bundle_hash(components: &[Component]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for component in components {
            hash.update(component.source_hash);
        }
        hash.finalize().into()
    }
}

/// A hash as lowercase hexadecimal.
///
/// ```
/// assert!(ptc_bytecode::hex(&[0xab; 32]).starts_with("abab"));
/// ```
pub fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One namespace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamespaceRecord {
    /// Its name.
    pub name: String,
    /// Its doc string.
    pub doc: Option<String>,
    /// What its exports have unless they say otherwise.
    pub visibility: Visibility,
}

/// Where an export is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Visibility {
    /// In the prompt and by discovery.
    Prompt,
    /// By discovery only.
    Discoverable,
}

impl Visibility {
    /// As the source spells it, without the colon.
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
    /// It only looks.
    Read,
    /// Nobody knows.
    Unknown,
    /// It changes something.
    Write,
    /// It reaches no tool at all.
    Pure,
}

impl Effects {
    /// As metadata spells it, without the colon.
    pub fn name(self) -> &'static str {
        match self {
            Effects::Pure => "pure",
            Effects::Read => "read",
            Effects::Unknown => "unknown",
            Effects::Write => "write",
        }
    }

    /// True for a call that has to be treated as a write: it writes, or nobody knows. Every guard, ledger and
    /// read-only mode decides by this.
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

/// What an export is.
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
    /// Its namespace.
    pub namespace: String,
    /// Its name in the namespace.
    pub symbol: String,
    /// Parameters of each arity as they are shown; `&` stands before a rest parameter. Empty for a
    /// constant.
    pub params: Vec<Vec<String>>,
    /// Its doc string.
    pub doc: Option<String>,
    /// Where it is shown.
    pub visibility: Visibility,
    /// Effect as far as the source tells: `:read` or `:write` if the author says so, pure if it reaches no
    /// tool, else unknown until it is attached to a run that knows the effects of its tools.
    pub effect: Effects,
    /// The one operation behind it, if there is one.
    pub provider_ref: Option<String>,
    /// What must be granted before anything runs: `tool:x`, `upstream:server/tool`. Sorted.
    pub requires: Vec<String>,
    /// The tools it may call, by the names they are granted under. Sorted.
    pub tool_refs: Vec<String>,
    /// Whether it calls upstream operations that only a run knows.
    pub dynamic: bool,
    /// The granted data it reads. Sorted.
    pub data_keys: Vec<String>,
    /// What it is.
    pub target: Target,
}

impl ExportRecord {
    /// `ns/name`, as programs write it.
    pub fn reference(&self) -> String {
        format!("{}/{}", self.namespace, self.symbol)
    }

    /// Whether it is a constant.
    pub fn is_constant(&self) -> bool {
        !matches!(self.target, Target::Function(_))
    }

    /// "function" or "constant".
    pub fn kind(&self) -> &'static str {
        if self.is_constant() { "constant" } else { "function" }
    }

    /// Whether an arity takes any number of further arguments.
    pub fn is_variadic(&self) -> bool {
        self.params.iter().any(|params| params.iter().any(|name| name == "&"))
    }

    /// The fewest arguments it takes.
    pub fn min_arity(&self) -> usize {
        let fixed = |params: &Vec<String>| params.iter().take_while(|name| *name != "&").count();
        self.params.iter().map(fixed).min().unwrap_or(0)
    }

    /// How it is called, one for each arity: `(find-invoice id)`; a constant is its name.
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

/// One source of several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Component {
    /// What the host calls it.
    pub id: String,
    /// Its version there, if it has one.
    pub version: Option<u64>,
    /// What the host expected the hash of its source to be; the hash unless it said so.
    pub checksum: String,
    /// SHA-256 of its source.
    pub source_hash: [u8; 32],
    /// The namespaces it declares, sorted.
    pub namespaces: Vec<String>,
    /// Where it came from, if the host said so.
    pub origin: Option<String>,
}

/// A builtin the code calls, and how many arguments it took when the code was compiled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImportRecord {
    /// Its name.
    pub name: String,
    /// Fewest arguments.
    pub min: u32,
    /// Most arguments.
    pub max: Option<u32>,
}

/// How large the code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// The most registers one function uses.
    pub registers: u16,
    /// Functions.
    pub functions: u32,
    /// Instructions.
    pub instructions: u32,
    /// Constants.
    pub constants: u32,
}
