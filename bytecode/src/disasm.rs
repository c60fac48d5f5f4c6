//! The listing of an artifact, as people review it and golden snapshots hold it.
//!
//! Works on any artifact, verified or not: ids that do not exist are marked.

mod operands;
mod text;

pub(crate) use text::{cut, snake_case};

use crate::artifact::{Arity, Artifact, CodeBlock};
use crate::span::Place;
use std::fmt::Write;

/// Column at which the source position is printed.
const POSITION_COLUMN: usize = 48;

/// Lists the instructions of an artifact, function by function. With the source, lines also show their source
/// position when it changes.
///
/// ```
/// use ptc_bytecode::{Arity, Artifact, CodeBlock, Function, Op, Span, disassemble};
/// let ops = vec![Op::Enter { fuel: 2 }, Op::AddInt { dst: 2, a: 1, said: 3, imm: 1 }, Op::Return { src: 2 }];
/// let program = Artifact {
///     blocks: vec![CodeBlock { regs: 3, params: 1, ops, spans: vec![(1, Span::new(9, 16))] }],
///     functions: vec![Function {
///         name: Some("next".into()),
///         doc: None,
///         captures: 0,
///         arities: vec![Arity { required: 1, rest: false, block: 0, params: "n".into() }],
///     }],
///     ..Artifact::default()
/// };
/// assert_eq!(disassemble(&program, Some("(fn [n]\n (inc n))")), "\
/// fn#0 next [n]  regs=3 params=1
///     0  enter           fuel=2
///     1  add_int         r2 ← r1 + 1              ; 2:2
///     2  return          r2
/// ");
/// ```
pub fn disassemble(artifact: &Artifact, source: Option<&str>) -> String {
    let places = source.map(Lines::of);
    let mut exported: Vec<Vec<&str>> = vec![Vec::new(); artifact.functions.len()];
    for export in &artifact.exports {
        if let Some(names) = exported.get_mut(export.function as usize) {
            names.push(&export.name);
        }
    }
    let mut out = String::new();
    let mut listed = vec![false; artifact.blocks.len()];
    for (index, function) in artifact.functions.iter().enumerate() {
        for arity in &function.arities {
            separate(&mut out);
            function_head(&mut out, artifact, index, arity, &exported[index]);
            if let Some(block) = artifact.blocks.get(arity.block as usize) {
                listed[arity.block as usize] = true;
                code(&mut out, artifact, block, places.as_ref());
            }
        }
    }
    for (index, block) in artifact.blocks.iter().enumerate().filter(|(index, _)| !listed[*index]) {
        separate(&mut out);
        let _ = writeln!(out, "block {index}, of no function  regs={} params={}", block.regs, block.params);
        code(&mut out, artifact, block, places.as_ref());
    }
    out
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

fn function_head(out: &mut String, artifact: &Artifact, index: usize, arity: &Arity, exported: &[&str]) {
    let function = &artifact.functions[index];
    let _ = write!(out, "fn#{index}");
    if let Some(name) = &function.name {
        let _ = write!(out, " {}", text::name(name));
    }
    let _ = write!(out, " [{}] ", text::name(&arity.params));
    match artifact.blocks.get(arity.block as usize) {
        Some(block) => {
            let _ = write!(out, " regs={} params={}", block.regs, block.params);
        }
        None => {
            let _ = write!(out, " block={}?", arity.block);
        }
    }
    if function.captures > 0 {
        let _ = write!(out, " captures={}", function.captures);
    }
    if artifact.entry == u32::try_from(index).ok() {
        out.push_str(" entry");
    }
    for name in exported {
        let _ = write!(out, " export={}", text::name(name));
    }
    out.push('\n');
}

fn code(out: &mut String, artifact: &Artifact, block: &CodeBlock, places: Option<&Lines<'_>>) {
    let mut is_target = vec![false; block.ops.len()];
    for to in block.ops.iter().filter_map(|op| op.target()) {
        if let Some(mark) = is_target.get_mut(to as usize) {
            *mark = true;
        }
    }
    let mut spans = block.spans.iter().peekable();
    let mut shown = None;
    for (pc, op) in block.ops.iter().enumerate() {
        let mark = if is_target[pc] { ">" } else { "" };
        let mut line = format!(
            "{:>5}  {:<14}  {}",
            format!("{mark}{pc}"),
            snake_case(op.name()),
            operands::show(artifact, op)
        );
        line.truncate(line.trim_end().len());
        let mut span = None;
        while let Some((_, here)) = spans.next_if(|(at, _)| *at as usize <= pc) {
            span = Some(*here);
        }
        if let (Some(places), Some(span)) = (places, span)
            && shown != Some(span)
        {
            let place = places.at(span.start);
            let pad = POSITION_COLUMN.saturating_sub(line.chars().count()).max(2);
            let _ = write!(line, "{:pad$}; {}:{}", "", place.line, place.column);
            shown = Some(span);
        }
        out.push_str(&line);
        out.push('\n');
    }
}

/// Lines and columns of a source, found without counting lines anew for each instruction.
struct Lines<'s> {
    source: &'s str,
    line_starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    fn of(source: &'s str) -> Lines<'s> {
        let line_starts =
            std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { source, line_starts }
    }

    fn at(&self, offset: u32) -> Place {
        let mut offset = (offset as usize).min(self.source.len());
        while !self.source.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1];
        Place { line: line as u32, column: self.source[start..offset].chars().count() as u32 + 1 }
    }
}
