//! The contract between the parts of PTC: instructions, artifacts, builtins, limits and diagnostics. The compiler
//! writes these types, the VM runs them, tools list and check them.
//!
//! This crate neither compiles nor runs anything: it depends on none of the others and does no I/O.
//!
//! ```
//! use ptc_bytecode::{Artifact, decode, encode, lookup, verify};
//!
//! let library = Artifact { imports: vec!["count".into()], ..Artifact::default() };
//! let verified = verify(decode(&encode(&library)).unwrap()).unwrap();
//! assert_eq!(verified.builtins(), [lookup("count").unwrap()]);
//! ```
#![forbid(unsafe_code)]

mod artifact;
mod authority;
mod builtins;
pub mod calendar;
mod codes;
mod constants;
mod container;
mod datum;
mod decode;
mod diag;
mod disasm;
mod effects;
mod encode;
mod exceptions;
mod fingerprint;
mod flow;
mod forms;
mod hashing;
mod header;
mod isa;
mod join;
mod last_use;
mod limits;
mod liveness;
mod manifest;
mod media;
mod namespaces;
mod nearest;
mod parameters;
mod regset;
mod returns;
mod span;
pub mod text;
mod trace;
mod uses;
mod verify;

pub use artifact::{Arity, Artifact, CodeBlock, Const, Export, Function, ToolName};
pub use authority::{Authority, Reach};
pub use builtins::{BUILTINS, Body, Builtin, BuiltinId, Cost, Effect, Elements, Inline, Veil, lookup};
pub use codes::Code;
pub use constants::{CONSTANTS, Constant, Literal, constant};
pub use container::{Container, Section, kind, seal, seal_for};
pub use datum::{Datum, Node};
pub use decode::{decode, decode_prelude, embedded_sources, read_manifest};
pub use diag::{Diagnostic, Fix, MAX_SHOWN_WARNINGS, Subject, shown_warnings, warning_lines};
pub use disasm::disassemble;
pub use encode::{PreludeFile, code_bytes, encode, encode_prelude};
pub use exceptions::{catches, exception_class, exception_classes};
pub use fingerprint::{abi, fingerprint};
pub use forms::{FORMS, FormName, FormRow};
pub use hashing::{HashSecret, KeyedHasher, KeyedState, fix_hash_secret_for_measuring};
pub use header::{FORMAT_VERSION, Header, MAGIC};
pub use isa::{OPS, Op, OpRow, Operand};
pub use join::Join;
pub use last_use::mark_last_uses;
pub use limits::{LIMITS, LimitRow, Limits, Unit};
pub use liveness::Liveness;
pub use manifest::{
    Component, Effects, ExportRecord, ImportRecord, Manifest, NamespaceRecord, Target, Totals, Visibility,
    hex,
};
pub use media::{Media, MediaKind};
pub use namespaces::{
    Meaning, NAMESPACES, Namespace, PROTECTED, is_definition_name, is_namespace_name, namespace, qualified,
    reserved_namespace,
};
pub use nearest::{likeness, nearest};
pub use regset::RegSet;
pub use returns::{Key, Returned, Returns};
pub use span::{Place, Span, place_of};
pub use trace::{CallFrame, Trace};
pub use uses::{UseRecord, used_as, used_export};
pub use verify::{BlockFacts, Verified, VerifiedPrelude, check_texts, verify, verify_prelude};
