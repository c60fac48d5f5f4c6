//! Artifacts, the compiler's output: functions, their code, constants and the names they import.

use crate::datum::Datum;
use crate::isa::Op;
use crate::span::Span;
use serde::{Deserialize, Serialize};

/// A compiled program or library. Plain data; [`verify`](crate::verify) turns it into something
/// that may run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Artifact {
    /// SHA-256 of the source text.
    pub source_hash: [u8; 32],
    /// Functions; `MakeClosure` and exports name them by index.
    pub functions: Vec<Function>,
    /// Code of all functions, one block per arity; an [`Arity`] refers to its block by index.
    pub blocks: Vec<CodeBlock>,
    /// Constants; `Const` names them by index.
    pub consts: Vec<Const>,
    /// Builtins by name, so that a new builtin breaks no artifact.
    pub imports: Vec<Box<str>>,
    /// Definitions of the user namespace that the code reads or writes.
    pub defs: Vec<Box<str>>,
    /// Tools the code names.
    pub tools: Vec<ToolName>,
    /// The function that runs the program; None for a library.
    pub entry: Option<u32>,
    /// Functions a library offers.
    pub exports: Vec<Export>,
}

/// A tool as code names it.
///
/// The table, not what a program computes, says which operation of which server a call goes to, so what an artifact
/// may reach is known without following values.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ToolName {
    /// A tool the host grants by this name. `call` is the one that reaches upstream servers.
    Named(Box<str>),
    /// `(tool/call {:server "crm" :tool "get_user" …})` with both written out: calls the host's tool `call` with
    /// this `server` and `tool`, whatever the arguments say.
    Upstream {
        /// Name of the server.
        server: Box<str>,
        /// Name of the server's operation.
        tool: Box<str>,
    },
}

impl ToolName {
    /// The name the host grants it by.
    pub fn granted_as(&self) -> &str {
        match self {
            ToolName::Named(name) => name,
            ToolName::Upstream { .. } => ToolName::CALL,
        }
    }

    /// The tool that reaches upstream servers.
    pub const CALL: &'static str = "call";
}

impl std::fmt::Display for ToolName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ToolName::Named(name) => f.write_str(name),
            ToolName::Upstream { server, tool } => write!(f, "call {server}/{tool}"),
        }
    }
}

/// A function: one block of code per arity; all arities share the captured values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Name of the function, if it has one.
    pub name: Option<Box<str>>,
    /// Doc string, if there is one.
    pub doc: Option<Box<str>>,
    /// Number of values the function captures.
    pub captures: u16,
    /// Arities: fixed ones by rising parameter count, then at most one with a rest parameter.
    pub arities: Vec<Arity>,
}

/// One arity of a function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arity {
    /// Parameters before any rest parameter.
    pub required: u8,
    /// True if further arguments are collected into the register after the required ones, as a vector or nil.
    pub rest: bool,
    /// Code of this arity, an index into [`Artifact::blocks`].
    pub block: u32,
    /// Parameters as they print: `x y`, `a & r`, patterns as `_`.
    pub params: Box<str>,
}

/// Straight code with jumps, and the source span of each instruction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CodeBlock {
    /// Number of registers and wide slots the code uses, `r0` and parameters included.
    pub regs: u16,
    /// Number of parameters, held in `r1…`, the rest parameter included.
    pub params: u8,
    /// Instructions in order.
    pub ops: Vec<Op>,
    /// Spans by rising instruction index; each holds until the next.
    pub spans: Vec<(u32, Span)>,
}

impl CodeBlock {
    /// The source span of instruction `pc`.
    pub fn span_at(&self, pc: usize) -> Option<Span> {
        let after = self.spans.partition_point(|(at, _)| *at as usize <= pc);
        after.checked_sub(1).map(|i| self.spans[i].1)
    }
}

/// A constant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Const {
    /// An integer too large for `LoadInt`.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(Box<str>),
    /// A keyword, without its colon.
    Keyword(Box<str>),
    /// Any other constant value: large integers, patterns, symbols, whole collections.
    Data(Datum),
    /// The distinct keys of a map literal, a vector of scalars, in order; shared by all maps made from that literal.
    Keys(Datum),
}

/// A function of a library, callable by name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Export {
    /// Name that programs call it by.
    pub name: Box<str>,
    /// The exported function, an index into [`Artifact::functions`]; it captures nothing.
    pub function: u32,
}
