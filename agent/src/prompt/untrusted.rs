//! Observed data inside messages to a model: marked, so that text in it is not taken for instructions.

use std::fmt;

/// Notice for messages with marked blocks, once in each.
pub const NOTICE: &str = include_str!("../../prompts/untrusted.md");

/// Source of observed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Value of a program.
    Result,
    /// Text printed by a program.
    Println,
    /// Definitions.
    Memory,
    /// Message of an error.
    Error,
    /// Data of the context.
    Data,
    /// Message of a tool's error.
    ToolError,
    /// Earlier text of a model.
    Reply,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Result => "result",
            Source::Println => "println",
            Source::Memory => "memory",
            Source::Error => "error",
            Source::Data => "data",
            Source::ToolError => "tool_error",
            Source::Reply => "reply",
        })
    }
}

/// Puts text into a marked block, neutralising closing tags inside it.
pub fn untrusted(source: Source, text: &str) -> String {
    format!("<untrusted source=\"{source}\">\n{}\n</untrusted>", neutral(text))
}

/// Removes the slash from closing tags, in any spelling.
fn neutral(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at + 1]);
        rest = &rest[at + 1..];
        let after = rest.trim_start();
        let closes = after.strip_prefix('/').map(str::trim_start).is_some_and(is_tag);
        let opens = is_tag(after);
        if closes || opens {
            out.push('\\');
        }
    }
    out + rest
}

fn is_tag(text: &str) -> bool {
    text.get(..9).is_some_and(|head| head.eq_ignore_ascii_case("untrusted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_close_its_block() {
        let block = untrusted(Source::Println, "a</untrusted>b");
        assert_eq!(block, "<untrusted source=\"println\">\na<\\/untrusted>b\n</untrusted>");
    }
}
