//! What the compiler makes: functions, their code, constants and the names they import.

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
    /// Code of all functions; a frame names its block by index.
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
/// The table, not what a program computes, says which operation of which server a call goes to: so
/// what an artifact may reach can be read off it without following values around.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ToolName {
    /// A tool the host grants by this name. `call` is the one that reaches upstream servers.
    Named(Box<str>),
    /// `(tool/call {:server "crm" :tool "get_user" …})` with both written out: the host's tool `call`,
    /// with `server` and `tool` set to these whatever the arguments say.
    Upstream {
        /// The server.
        server: Box<str>,
        /// Its operation.
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

/// A function: one block of code per arity, sharing what they captured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its name, if it has one.
    pub name: Option<Box<str>>,
    /// Its doc string.
    pub doc: Option<Box<str>>,
    /// How many values it captures.
    pub captures: u16,
    /// Its arities: fixed ones by rising parameter count, then at most one with a rest parameter.
    pub arities: Vec<Arity>,
}

/// One arity of a function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arity {
    /// Parameters before any rest parameter.
    pub required: u8,
    /// Whether further arguments are collected into the register behind them: a vector, or nil.
    pub rest: bool,
    /// Its code, an index into [`Artifact::blocks`].
    pub block: u32,
    /// Parameters as they print: `x y`, `a & r`, patterns as `_`.
    pub params: Box<str>,
}

/// Straight code with jumps, and where each instruction came from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CodeBlock {
    /// Registers and wide slots it uses, `r0` and parameters included.
    pub regs: u16,
    /// Parameters in `r1…`, the rest parameter included.
    pub params: u8,
    /// The instructions.
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
    /// The distinct keys of a map literal, a vector of scalars, in order; shared by all maps made
    /// from it.
    Keys(Datum),
}

/// A function of a library, callable by name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Export {
    /// Its name.
    pub name: Box<str>,
    /// The function, an index into [`Artifact::functions`]; it captures nothing.
    pub function: u32,
}
