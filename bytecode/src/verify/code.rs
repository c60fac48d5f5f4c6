//! Checks every operand of every instruction: ids that exist, registers inside the frame, jumps that land on an
//! `Enter`, and the rules of single instructions.

use super::facts::BlockFacts;
use super::report::{at_op, in_block};
use super::tables;
use crate::artifact::{Artifact, CodeBlock, Const};
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::flow::attempts;
use crate::isa::{Op, Operand};

/// Checks one code block.
pub fn check(artifact: &Artifact, block: usize, facts: BlockFacts) -> Result<(), Diagnostic> {
    let code = &artifact.blocks[block];
    let wrong = |kind: Code, pc: usize, what: String| at_op(kind, artifact, block, facts, pc, what);
    let (Some(first), Some(last)) = (code.ops.first(), code.ops.last()) else {
        return Err(in_block(Code::BadFunction, artifact, facts, "there are no instructions"));
    };
    if u32::try_from(code.ops.len()).is_err() {
        return Err(in_block(
            Code::BadFunction,
            artifact,
            facts,
            "there are more instructions than 32 bits can count",
        ));
    }
    if !first.is_enter() {
        return Err(wrong(Code::BadControlFlow, 0, "code must start with `enter`".into()));
    }
    if !last.ends_block() {
        return Err(wrong(Code::BadControlFlow, code.ops.len() - 1, "code must not run past its end".into()));
    }
    let tried = tried(&code.ops);
    check_spans(code).map_err(|what| in_block(Code::BadFunction, artifact, facts, what))?;
    for (pc, op) in code.ops.iter().enumerate() {
        ids(artifact, code, op)
            .or_else(|| registers(code, op))
            .or_else(|| own_function(facts, op))
            .or_else(|| special(artifact, code, facts, op))
            .map_or(Ok(()), |what| Err(wrong(Code::BadInstruction, pc, what)))?;
        jump(pc, op, code)
            .or_else(|| attempt(pc, op, &tried))
            .map_or(Ok(()), |what| Err(wrong(Code::BadControlFlow, pc, what)))?;
    }
    Ok(())
}

fn check_spans(code: &CodeBlock) -> Result<(), &'static str> {
    if !code.spans.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return Err("source positions are out of order");
    }
    if code.spans.last().is_some_and(|(pc, _)| *pc as usize >= code.ops.len()) {
        return Err("a source position belongs to no instruction");
    }
    match code.spans.iter().all(|(_, span)| span.start <= span.end) {
        true => Ok(()),
        false => Err("a source position ends before it starts"),
    }
}

/// Finds an id outside its table.
fn ids(artifact: &Artifact, code: &CodeBlock, op: &Op) -> Option<String> {
    let mut wrong = None;
    op.operands(|_, operand| {
        let (id, count, what) = match operand {
            Operand::Const(id) => (id, artifact.consts.len(), "constant"),
            Operand::Code(id) => (id, artifact.functions.len(), "function"),
            Operand::Def(id) => (id, artifact.defs.len(), "definition"),
            Operand::Import(id) => (id, artifact.imports.len(), "import"),
            Operand::Tool(id) => (id, artifact.tools.len(), "tool"),
            Operand::Target(id) => (id, code.ops.len(), "instruction"),
            _ => return,
        };
        if id as usize >= count {
            wrong = Some(format!("names {what} {id}, but there are {count}"));
        }
    });
    wrong
}

/// Finds a register outside the frame.
fn registers(code: &CodeBlock, op: &Op) -> Option<String> {
    let visible = code.regs.min(256);
    let mut highest = 0;
    op.reads(|run| highest = highest.max(if run.count == 0 { 0 } else { run.end() }));
    op.writes(|run| highest = highest.max(run.end()));
    (highest > visible).then(|| format!("uses register {}, but the frame has {visible}", highest - 1))
}

/// Finds a write over the running function in `r0`, through which captures are found.
fn own_function(facts: BlockFacts, op: &Op) -> Option<String> {
    let mut writes_it = false;
    op.writes(|run| writes_it |= run.first == 0);
    (writes_it && facts.captures > 0)
        .then(|| "writes register 0, which holds the function and what it captured".into())
}

fn jump(pc: usize, op: &Op, code: &CodeBlock) -> Option<String> {
    let to = op.target()? as usize;
    if !code.ops[to].is_enter() {
        return Some(format!("jumps to instruction {to}, which is not an `enter`"));
    }
    if matches!(op, Op::Try { .. }) && !code.ops.get(pc + 1).is_some_and(Op::is_enter) {
        return Some("is not followed by an `enter`".to_string());
    }
    (to > pc && op.is_back_edge()).then(|| format!("jumps forward to instruction {to}"))
}

/// Returns for each instruction the number of the attempt it is in, 0 for none.
fn tried(ops: &[Op]) -> Vec<u32> {
    let mut tried = Vec::new();
    for (i, range) in attempts(ops).enumerate() {
        tried.resize(ops.len(), 0);
        let end = range.end.min(ops.len());
        tried[range.start.min(end)..end].fill(i as u32 + 1);
    }
    tried
}

/// Finds an attempt that is not a forward jump of its own, and a jump into one: an attempt is entered where it begins.
fn attempt(pc: usize, op: &Op, tried: &[u32]) -> Option<String> {
    if tried.is_empty() && !matches!(op, Op::Attempt { .. }) {
        return None;
    }
    let number = |pc: usize| tried.get(pc).copied().unwrap_or(0);
    let to = op.target()? as usize;
    if matches!(op, Op::Attempt { .. }) {
        let is_inside = number(pc) != 0 || number(to) != 0;
        return (to <= pc || is_inside)
            .then(|| "begins an attempt that goes back, or is part of another".into());
    }
    (number(to) != 0 && number(to) != number(pc))
        .then(|| format!("jumps to instruction {to}, inside an attempt"))
}

/// Checks the rules of single instructions.
fn special(artifact: &Artifact, code: &CodeBlock, facts: BlockFacts, op: &Op) -> Option<String> {
    match *op {
        Op::LoadWide { slot, .. } | Op::StoreWide { slot, .. } => wide_slot(code, slot),
        Op::Capture { index, .. } => (index >= facts.captures)
            .then(|| format!("reads capture {index}, but the function has {}", facts.captures)),
        Op::MakeClosure { n, code: function, .. } => {
            let captures = artifact.functions[function as usize].captures;
            (u16::from(n) != captures)
                .then(|| format!("captures {n} values, but function {function} takes {captures}"))
        }
        Op::Try { n, .. } => (n != 0).then(|| format!("calls a function with {n} values, but takes none")),
        Op::Apply { n: 0, .. } => Some("needs a collection of arguments, but has no argument".into()),
        Op::Const { id, .. } => matches!(artifact.consts[id as usize], Const::Keys(_))
            .then(|| format!("loads constant {id}, which is a list of keys and not a value")),
        Op::GetData { key, .. } => (!matches!(artifact.consts[key as usize], Const::Str(_)))
            .then(|| format!("needs a string, but constant {key} is something else")),
        Op::GetKey { key, .. } => (!is_key(&artifact.consts[key as usize]))
            .then(|| format!("needs a scalar key, but constant {key} is a collection")),
        // As a value, it could be called with arguments for another operation.
        Op::LoadTool { tool, .. } => {
            matches!(artifact.tools[tool as usize], crate::artifact::ToolName::Upstream { .. })
                .then(|| format!("takes tool {tool} as a value, which is an operation to be called"))
        }
        Op::GetHistory { nth, .. } => {
            (!(1..=3).contains(&nth)).then(|| format!("asks for result {nth}, but 1 to 3 are kept"))
        }
        Op::NewMap { n, .. } => {
            (n % 2 != 0).then(|| format!("makes a map of {n} values, but they come in pairs"))
        }
        Op::NewRecord { n, id, .. } => match &artifact.consts[id as usize] {
            Const::Keys(keys) => {
                let count = keys.nodes().len() - 1;
                (usize::from(n) != count).then(|| format!("has {n} values for {count} keys"))
            }
            _ => Some(format!("needs a list of keys, but constant {id} is something else")),
        },
        _ => None,
    }
}

fn wide_slot(code: &CodeBlock, slot: u16) -> Option<String> {
    match code.regs {
        regs if (256..regs).contains(&slot) => None,
        0..=256 => Some(format!("uses wide slot {slot}, but its frame has none")),
        regs => Some(format!("uses wide slot {slot}, but its frame has 256 to {}", regs - 1)),
    }
}

fn is_key(constant: &Const) -> bool {
    match constant {
        Const::Int(_) | Const::Float(_) | Const::Str(_) | Const::Keyword(_) => true,
        Const::Data(datum) => matches!(datum.nodes(), [only] if tables::is_scalar(only)),
        Const::Keys(_) => false,
    }
}
