//! Extraction of programs from replies: fenced blocks, with or without text around them, and programs without a fence.

use serde::{Deserialize, Serialize};

/// Treatment of several blocks in one reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MultipleBlocks {
    /// Runs them one after the other, in one `do`.
    #[default]
    Do,
    /// Sends the reply back.
    Reject,
}

/// A program found in a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Source to run.
    pub program: String,
    /// Part of the reply to keep in the history: only the block, if the text around it can go.
    pub kept: String,
}

/// Reason why no program was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoProgram {
    /// The reply holds no program.
    NotFound,
    /// The reply holds several programs where one is allowed.
    Several(usize),
}

impl NoProgram {
    /// Returns the reason's name in results.
    pub fn reason(self) -> &'static str {
        match self {
            NoProgram::NotFound => "no_code_found",
            NoProgram::Several(_) => "multiple_code_blocks",
        }
    }
}

/// Tags of code blocks in the language.
const TAGS: &[&str] = &["clojure", "lisp", "clj", "ptc-lisp"];

/// Returns the program in a reply.
///
/// ```
/// use ptc_agent::protocol::{MultipleBlocks, extract_program};
/// let reply = "I will count.\n```clojure\n(count data/rows)\n```\nThat is all.";
/// let found = extract_program(reply, MultipleBlocks::Do).unwrap();
/// assert_eq!(found.program, "(count data/rows)");
/// assert_eq!(found.kept, "```clojure\n(count data/rows)\n```");
/// ```
pub fn extract_program(reply: &str, several: MultipleBlocks) -> Result<Found, NoProgram> {
    let text = reply.replace("\r\n", "\n").replace('\r', "\n");
    let (blocks, _) = fenced(&text);
    let mut bodies: Vec<String> =
        blocks.iter().filter(|block| TAGS.contains(&&*block.tag)).map(|block| block.body.clone()).collect();
    let is_tagged = !bodies.is_empty();
    if bodies.is_empty() {
        bodies = blocks
            .iter()
            .filter(|block| block.body.trim_start().starts_with('('))
            .map(|b| b.body.clone())
            .collect();
    }
    if bodies.is_empty() {
        bodies = spans(&text);
    }
    if bodies.is_empty() && clean(text.trim()).trim_start().starts_with('(') {
        bodies.push(text.trim().to_string());
    }
    match &bodies[..] {
        [] => Err(NoProgram::NotFound),
        [body] => {
            let program = clean(body.trim());
            let kept = if is_tagged { format!("```clojure\n{}\n```", body.trim()) } else { text.clone() };
            Ok(Found { program, kept })
        }
        several_bodies if several == MultipleBlocks::Reject => Err(NoProgram::Several(several_bodies.len())),
        several_bodies => {
            let joined: Vec<String> = several_bodies.iter().map(|body| clean(body.trim())).collect();
            Ok(Found { program: format!("(do\n{}\n)", joined.join("\n")), kept: text.clone() })
        }
    }
}

/// Returns whether a reply has a fenced program and no open fence, so that a cut can only have removed text.
///
/// ```
/// use ptc_agent::protocol::has_whole_program;
/// assert!(has_whole_program("```clojure\n(return 1)\n```\nThis gives"));
/// assert!(!has_whole_program("```clojure\n(def a 1)\n```\nThen:\n```clojure\n(return"));
/// assert!(!has_whole_program("(return 1)"));
/// ```
pub fn has_whole_program(reply: &str) -> bool {
    let text = reply.replace("\r\n", "\n").replace('\r', "\n");
    let (blocks, is_open) = fenced(&text);
    !is_open && blocks.iter().any(|block| TAGS.contains(&&*block.tag))
}

struct Block {
    tag: String,
    body: String,
}

/// Returns fenced blocks, and whether the last one was left open. A fence inside a longer line belongs to its text.
fn fenced(text: &str) -> (Vec<Block>, bool) {
    let mut blocks = Vec::new();
    // Tag, number of opening backticks, and lines.
    let mut open: Option<(String, usize, Vec<&str>)> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        match &mut open {
            None => {
                let after = trimmed.trim_start_matches('`');
                let ticks = trimmed.len() - after.len();
                if ticks >= 3 && !after.contains('`') && after.split_whitespace().count() <= 1 {
                    open = Some((after.trim().to_lowercase(), ticks, Vec::new()));
                }
            }
            Some((tag, ticks, lines)) => {
                let is_fence = trimmed.len() == *ticks && trimmed.bytes().all(|b| b == b'`');
                if is_fence || trimmed == "</clojure>" || trimmed == "</lisp>" {
                    blocks.push(Block { tag: std::mem::take(tag), body: lines.join("\n") });
                    open = None;
                } else {
                    lines.push(line);
                }
            }
        }
    }
    let is_open = open.is_some();
    // A reply that was cut after a whole program is as good as a complete one.
    if let Some((tag, _, lines)) = open {
        let body = lines.join("\n");
        if is_balanced(&body) {
            blocks.push(Block { tag, body });
        }
    }
    (blocks, is_open)
}

/// Returns the contents of `<clojure>…</clojure>` and `<lisp>…</lisp>`.
fn spans(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [("<clojure>", "</clojure>"), ("<lisp>", "</lisp>")] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((body, behind)) = after.split_once(close) else { break };
            if !body.trim().is_empty() {
                found.push(body.to_string());
            }
            rest = behind;
        }
    }
    found
}

/// Returns whether every bracket is closed, outside strings and comments.
fn is_balanced(source: &str) -> bool {
    let mut open = Vec::new();
    let mut any = false;
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        match c {
            '(' | '[' | '{' => {
                any = true;
                open.push(c);
            }
            ')' | ']' | '}' => {
                let wanted = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(wanted) {
                    return false;
                }
            }
            ';' => {
                chars.by_ref().find(|c| *c == '\n');
            }
            '\\' => {
                chars.next();
            }
            '"' => {
                let mut closed = false;
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => {
                            chars.next();
                        }
                        '"' => {
                            closed = true;
                            break;
                        }
                        _ => {}
                    }
                }
                if !closed {
                    return false;
                }
            }
            _ => {}
        }
    }
    any && open.is_empty()
}

/// Removes mistakes of models and chat windows: invisible characters, odd spaces, typographic quotes outside strings.
fn clean(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut in_string = false;
    // A string opened by a typographic quote is closed by one.
    let mut is_curly = false;
    let mut is_escaped = false;
    for found in source.chars() {
        let c = match found {
            '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' if !in_string => continue,
            '\u{FEFF}' => continue,
            '\u{00A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
                if !in_string =>
            {
                ' '
            }
            '\u{201C}' | '\u{201D}' | '\u{201E}' if !in_string || is_curly => '"',
            '\u{2018}' | '\u{2019}' if !in_string => '\'',
            c => c,
        };
        if c == '"' && !is_escaped {
            in_string = !in_string;
            is_curly = in_string && found != '"';
        }
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
    }
    out
}
