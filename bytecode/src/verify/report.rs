//! Messages about broken rules: the function, the instruction, and the difference between found and expected.

use super::facts::BlockFacts;
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::disasm::{cut, snake_case};
use crate::text::is_hidden;

/// Maximum characters of a name in a message: names come from the file.
const NAME_CHARS: usize = 40;

/// Makes the error for an artifact that breaks a rule of its format.
pub fn invalid(code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::without_span(code, message)
        .hint("compile the source again; if the new file is refused too, please report it as a bug")
}

/// Makes the error for an artifact that was sound when made, but needs something this version lacks.
pub fn stale(message: impl Into<String>) -> Diagnostic {
    Diagnostic::without_span(Code::UnresolvedBuiltin, message).hint("recompile it with this version of ptc")
}

/// Quotes a name from the file in backquotes.
pub fn quoted(name: &str) -> String {
    let clean: String = name.chars().map(|c| if is_hidden(c) { '·' } else { c }).collect();
    format!("`{}`", cut(&clean, NAME_CHARS))
}

/// Names a function by its name, or by its number.
pub fn function_name(artifact: &Artifact, function: usize) -> String {
    match artifact.functions.get(function).and_then(|f| f.name.as_deref()) {
        Some(name) => quoted(name),
        None => format!("`fn#{function}`"),
    }
}

/// Makes the error for a code block as a whole.
pub fn in_block(
    code: Code,
    artifact: &Artifact,
    facts: BlockFacts,
    what: impl std::fmt::Display,
) -> Diagnostic {
    invalid(code, format!("in {}: {what}", function_name(artifact, facts.function as usize)))
}

/// Makes the error for one instruction.
pub fn at_op(
    code: Code,
    artifact: &Artifact,
    block: usize,
    facts: BlockFacts,
    pc: usize,
    what: impl std::fmt::Display,
) -> Diagnostic {
    let name = artifact.blocks[block].ops.get(pc).map_or_else(String::new, |op| snake_case(op.name()));
    let function = function_name(artifact, facts.function as usize);
    invalid(code, format!("in {function}, instruction {pc} ({name}): {what}"))
}
