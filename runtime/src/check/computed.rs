//! Checks of values that a program computes with before or after it calls tools, though none of them is a number: it
//! would fault, perhaps after a call that cannot be undone.

use super::paths::steps;
use super::report::origin;
use super::scan::Scan;
use ptc_bytecode::{Code, Diagnostic};
use ptc_compiler::Reads;
use ptc_compiler::reads::{Of, Operand};
use ptc_vm::Value;
use std::ops::ControlFlow;

/// Returns the error if there are values and none of them is a number.
pub(super) fn check(reads: &Reads, operand: &Operand, scan: &mut Scan<'_>) -> Option<Diagnostic> {
    if reads.paths.get(operand.path.0 as usize).is_none_or(|path| path.guarded) {
        return None;
    }
    let (mut has_nil, mut has_text, mut is_open) = (false, false, false);
    let visited = scan.visit(&steps(reads, operand.path), |_, value| {
        match value {
            Value::Nil => has_nil = true,
            Value::Str(_) | Value::Keyword(_) => has_text = true,
            _ => is_open = true,
        }
        if is_open { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if visited.is_err() || is_open {
        return None;
    }
    let kind = match (has_nil, has_text) {
        (false, false) => return None,
        (true, false) => "nil",
        (false, true) => "a text",
        (true, true) => "a text or nil",
    };
    let from = origin(reads, &[Of::Path(operand.path)]);
    let from = from.split_once(' ').map_or("", |(_, from)| from);
    let message = format!("`{}` needs numbers, but every value {from} is {kind}", operand.builtin);
    let told = Diagnostic::error(Code::TypeError, operand.span, message);
    Some(match has_text {
        true => told.hint("make numbers of texts with `parse-long` or `parse-double`"),
        false => told.hint("put a number in place of nil with `or`"),
    })
}
