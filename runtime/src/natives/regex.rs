//! Regexes: patterns are compiled once per thread and kept for a while.

use super::args::{growing_room, refuse, text};
use super::string::pieces;
use super::text::finish;
use ptc_vm::{Call, Ref, Stop, Value};
use regex::Regex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Patterns kept per thread; all are forgotten when there are more.
const KEPT: usize = 64;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Rc<Regex>>> = RefCell::new(HashMap::new());
}

/// The pattern, compiled. `\d`, `\w` and `\s` mean ASCII, as the language says.
fn compile(call: &Call<'_>, pattern: Ref) -> Result<Rc<Regex>, Stop> {
    let source = call.heap.str(pattern);
    let known = COMPILED.with_borrow(|kept| kept.get(source).cloned());
    if let Some(known) = known {
        return Ok(known);
    }
    let compiled = regex::RegexBuilder::new(&ascii_classes(source))
        .size_limit(1 << 20)
        .build()
        .map_err(|error| refuse(format!("`{}`: bad pattern: {error}", call.name())))?;
    let compiled = Rc::new(compiled);
    COMPILED.with_borrow_mut(|kept| {
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(source.to_string(), compiled.clone());
    });
    Ok(compiled)
}

/// Spells the classes that are ASCII here and Unicode in the engine.
fn ascii_classes(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(c @ ('d' | 'w' | 's')) => {
                let class = match c {
                    'd' => "0-9",
                    'w' => "a-zA-Z0-9_",
                    _ => " \\t\\n\\x0B\\f\\r",
                };
                // Valid inside brackets too: classes nest.
                out.push_str(&format!("[{class}]"));
            }
            Some('D') => out.push_str("[^0-9]"),
            Some('W') => out.push_str("[^a-zA-Z0-9_]"),
            Some('S') => out.push_str("[^ \\t\\n\\x0B\\f\\r]"),
            Some('b') => out.push_str("(?-u:\\b)"),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

/// The pieces of a text between matches.
pub fn split_by(call: &mut Call<'_>, r: Ref, pattern: Ref, limit: i64) -> Result<Value, Stop> {
    let regex = compile(call, pattern)?;
    let text = call.heap.str(r);
    let most = usize::try_from(limit).ok().filter(|n| *n > 0).unwrap_or(usize::MAX);
    let mut cuts = Vec::new();
    let mut from = 0;
    for found in regex.find_iter(text) {
        // No piece is cut off by an empty match at either end.
        if found.is_empty() && (found.start() == 0 || found.start() == text.len()) {
            continue;
        }
        if found.start() == 0 && found.end() == 0 {
            continue;
        }
        if cuts.len() + 1 >= most {
            break;
        }
        cuts.push((from, found.start()));
        from = found.end();
    }
    cuts.push((from, text.len()));
    pieces(call, r, cuts, limit)
}

/// A text with matches replaced by argument 3, in which `$1` is a group and `\` quotes.
pub fn replace_by(call: &mut Call<'_>, r: Ref, pattern: Ref, most: usize) -> Result<Value, Stop> {
    let regex = compile(call, pattern)?;
    let by = text(call, 3)?;
    let (source, by) = (call.heap.str(r), call.heap.str(by));
    let mut out = String::with_capacity(source.len());
    let mut from = 0;
    for groups in regex.captures_iter(source).take(most) {
        let Some(whole) = groups.get(0) else { continue };
        out.push_str(&source[from..whole.start()]);
        expand(by, &groups, &mut out);
        from = whole.end();
        growing_room(call.heap, 1, out.len())?;
    }
    out.push_str(&source[from..]);
    finish(call, &out)
}

/// Appends a replacement text with its groups filled in.
fn expand(by: &str, groups: &regex::Captures<'_>, out: &mut String) {
    let mut chars = by.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' => {
                let Some(mut group) = chars.peek().and_then(|c| c.to_digit(10)) else {
                    out.push('$');
                    continue;
                };
                chars.next();
                // More digits belong to it as long as there is such a group.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group.saturating_mul(10).saturating_add(digit);
                    if longer as usize >= groups.len() {
                        break;
                    }
                    group = longer;
                    chars.next();
                }
                out.push_str(groups.get(group as usize).map_or("", |found| found.as_str()));
            }
            _ => out.push(c),
        }
    }
}
