//! Regexes. Patterns are compiled once per thread and kept for a while; what needs looking around
//! or back goes to a second engine that counts its steps.

use super::args::{arg, growing_room, refuse, text, whole};
use super::pattern::{Engine, Refused, Span};
use super::string::{pay_text, pieces};
use super::text::finish;
use ptc_vm::{Call, Heap, Ref, STEP_BYTES, Stop, TextKind, Value};
use std::rc::Rc;

/// Argument `n` as a compiled pattern.
fn pattern(call: &Call<'_>, n: usize, whole: bool) -> Result<Rc<Engine>, Stop> {
    match arg(call, n) {
        Value::Regex(r) => compile(call, r, whole),
        _ => Err(call.wrong_type(n, "a regex (`(re-pattern s)` makes one)")),
    }
}

fn compile(call: &Call<'_>, r: Ref, whole: bool) -> Result<Rc<Engine>, Stop> {
    Engine::of(call.heap.str(r), whole).map_err(|problem| refuse(format!("`{}`: {problem}", call.name())))
}

/// All matches of a pattern in a text, each with its groups if wanted; at most `most`.
fn matches(
    call: &mut Call<'_>,
    engine: &Engine,
    r: Ref,
    groups: bool,
    most: usize,
) -> Result<Vec<Vec<Span>>, Stop> {
    let mut found = Vec::new();
    each_match(call, engine, r, most, |heap, text, at| {
        let Some(spans) = engine.search(heap, text, at, groups)? else { return Ok(None) };
        let Some(Some(whole)) = spans.first().copied() else { return Ok(None) };
        let n = spans.len();
        found.push(spans);
        Ok(Some((whole, n)))
    })?;
    Ok(found)
}

/// Matches looked for before they are paid for.
const AT_ONCE: usize = 1024;

/// Where all matches of a pattern in a text are; at most `most`.
fn places(call: &mut Call<'_>, engine: &Engine, r: Ref, most: usize) -> Result<Vec<(usize, usize)>, Stop> {
    let mut found = Vec::new();
    if let Some(scan) = engine.scan() {
        // A word has some eight letters; what is not needed costs nothing.
        found.reserve(most.min(call.heap.str(r).len() / 8).min(1 << 16));
        let mut at = Some(0);
        while let Some(from) = at
            && found.len() < most
        {
            let before = found.len();
            at = scan.find_some(call.heap.str(r), from, (most - before).min(AT_ONCE), &mut found);
            call.pay_items(engine.price() * (found.len() - before + 1))?;
            growing_room(call.heap, 4 * found.len(), 0)?;
        }
        return Ok(found);
    }
    each_match(call, engine, r, most, |heap, text, at| {
        let place = engine.find(heap, text, at)?;
        found.extend(place);
        Ok(place.map(|place| (place, 1)))
    })?;
    Ok(found)
}

/// Calls `find` with a text and where to go on until it finds nothing more. It gives the place of a match
/// and the number of its parts.
fn each_match(
    call: &mut Call<'_>,
    engine: &Engine,
    r: Ref,
    most: usize,
    mut find: impl FnMut(&Heap, &str, usize) -> Result<Option<((usize, usize), usize)>, Refused>,
) -> Result<(), Stop> {
    let (mut cells, mut at) = (0, 0);
    for _ in 0..most {
        call.pay_items(engine.price())?;
        let text = call.heap.str(r);
        // How much of the rest was looked at is not known; it may be all of it, for each match.
        call.heap.owe((text.len() - at) / STEP_BYTES);
        call.heap.look()?;
        let next = find(call.heap, text, at).map_err(|refused| match refused {
            Refused::Words(problem) => refuse(format!("`{}`: {problem}", call.name())),
            Refused::Late(fault) => fault.into(),
        })?;
        let Some(((from, to), parts)) = next else { break };
        // After an empty match the search goes on behind the next character.
        at = if to > from { to } else { to + text[to..].chars().next().map_or(1, char::len_utf8) };
        let is_end = at > text.len();
        cells += 4 * parts;
        growing_room(call.heap, cells, 0)?;
        if is_end {
            break;
        }
    }
    Ok(())
}

/// A match as a value: a string, or a vector of the whole and the groups, nil for those that took
/// no part.
fn match_value(call: &mut Call<'_>, r: Ref, spans: &[Span]) -> Result<Value, Stop> {
    let mut parts = Vec::with_capacity(spans.len());
    for span in spans {
        parts.push(match span {
            Some((from, to)) => call.heap.new_substr(r, *from, *to)?,
            None => Value::Nil,
        });
    }
    match parts[..] {
        [only] => Ok(only),
        _ => call.heap.new_vec(&parts),
    }
}

/// `(re-pattern x)`
pub fn re_pattern(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Regex(_) = arg(call, 1) {
        return Ok(arg(call, 1));
    }
    let r = text(call, 1)?;
    compile(call, r, false)?;
    call.heap.retext(r, TextKind::Regex)
}

fn first_match(call: &mut Call<'_>, whole: bool) -> Result<Value, Stop> {
    let engine = pattern(call, 1, whole)?;
    let r = pay_text(call, 2)?;
    match matches(call, &engine, r, true, 1)?.first() {
        Some(spans) => match_value(call, r, spans),
        None => Ok(Value::Nil),
    }
}

/// `(re-find re s)`
pub fn re_find(call: &mut Call<'_>) -> Result<Value, Stop> {
    first_match(call, false)
}

/// `(re-matches re s)`
pub fn re_matches(call: &mut Call<'_>) -> Result<Value, Stop> {
    first_match(call, true)
}

/// `(re-seq re s)`
pub fn re_seq(call: &mut Call<'_>) -> Result<Value, Stop> {
    let engine = pattern(call, 1, false)?;
    let r = pay_text(call, 2)?;
    let found = matches(call, &engine, r, true, usize::MAX)?;
    if found.is_empty() {
        return Ok(Value::Nil);
    }
    let mut all = Vec::with_capacity(found.len());
    for spans in &found {
        all.push(match_value(call, r, spans)?);
    }
    call.heap.new_vec(&all)
}

/// `(re-split re s)`
pub fn re_split(call: &mut Call<'_>) -> Result<Value, Stop> {
    let engine = pattern(call, 1, false)?;
    let r = pay_text(call, 2)?;
    split_with(call, r, &engine, 0)
}

/// The pieces of a text between matches: `split`.
pub fn split_by(call: &mut Call<'_>, r: Ref, pattern: Ref, limit: i64) -> Result<Value, Stop> {
    let engine = compile(call, pattern, false)?;
    split_with(call, r, &engine, limit)
}

fn split_with(call: &mut Call<'_>, r: Ref, engine: &Engine, limit: i64) -> Result<Value, Stop> {
    let most = usize::try_from(limit).ok().filter(|n| *n > 0).unwrap_or(usize::MAX);
    // One more, since an empty match at the start cuts nothing off.
    let found = places(call, engine, r, most)?;
    let len = call.heap.str(r).len();
    let mut cuts = Vec::with_capacity(found.len() + 1);
    let mut begin = 0;
    for (from, to) in found {
        if to == 0 || (from == to && from == len) {
            continue;
        }
        if cuts.len() + 1 >= most {
            break;
        }
        cuts.push((begin, from));
        begin = to;
    }
    cuts.push((begin, len));
    pieces(call, r, cuts, limit)
}

/// A text with matches replaced by argument 3, in which `$1` is a group and `\` quotes.
pub fn replace_by(call: &mut Call<'_>, r: Ref, pattern: Ref, most: usize) -> Result<Value, Stop> {
    let engine = compile(call, pattern, false)?;
    let by = text(call, 3)?;
    let found = matches(call, &engine, r, true, most)?;
    let (source, by) = (call.heap.str(r), call.heap.str(by));
    let mut out = String::with_capacity(source.len());
    let mut begin = 0;
    for spans in &found {
        let Some(Some((from, to))) = spans.first() else { continue };
        out.push_str(&source[begin..*from]);
        expand(by, source, spans, &mut out);
        begin = *to;
        growing_room(call.heap, 1, out.len())?;
    }
    out.push_str(&source[begin..]);
    finish(call, &out)
}

/// Argument `n` as a pattern, which may be text: the methods of strings take theirs so.
fn pattern_text(call: &Call<'_>, n: usize) -> Result<Ref, Stop> {
    match arg(call, n) {
        Value::Regex(r) => Ok(r),
        _ => text(call, n),
    }
}

/// `(.replaceAll s pattern replacement)`, up to `most` matches.
pub fn replace_in(call: &mut Call<'_>, most: usize) -> Result<Value, Stop> {
    let (r, pattern) = (pay_text(call, 1)?, pattern_text(call, 2)?);
    replace_by(call, r, pattern, most)
}

/// `(.split s pattern)`, `(.split s pattern limit)`
pub fn split_by_text(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, pattern) = (pay_text(call, 1)?, pattern_text(call, 2)?);
    let limit = if call.args.len() > 2 { whole(call, 3)? } else { 0 };
    split_by(call, r, pattern, limit)
}

/// `(.matches s pattern)`
pub fn matches_text(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, pattern) = (pay_text(call, 1)?, pattern_text(call, 2)?);
    let engine = compile(call, pattern, true)?;
    let found = matches(call, &engine, r, false, 1)?;
    Ok(Value::bool(!found.is_empty()))
}

/// Appends a replacement text with its groups filled in.
fn expand(by: &str, source: &str, groups: &[Span], out: &mut String) {
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
                if let Some(Some((from, to))) = groups.get(group as usize) {
                    out.push_str(&source[*from..*to]);
                }
            }
            _ => out.push(c),
        }
    }
}

/// `(%match-parts s match most)`: the text between matches and the matches in turn, beginning and
/// ending with text; for replacement by a function.
pub fn match_parts(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = pay_text(call, 1)?;
    let most = usize::try_from(whole(call, 3)?).unwrap_or(usize::MAX);
    let found = match arg(call, 2) {
        Value::Str(part) => {
            let (source, part) = (call.heap.str(r), call.heap.str(part));
            let mut found = Vec::new();
            for (at, part) in source.match_indices(part).take(most) {
                found.push(vec![Some((at, at + part.len()))]);
                growing_room(call.heap, 4 * found.len(), 0)?;
            }
            found
        }
        Value::Regex(pattern) => {
            let engine = compile(call, pattern, false)?;
            matches(call, &engine, r, true, most)?
        }
        _ => return Err(call.wrong_type(2, "a string or a regex")),
    };
    let len = call.heap.str(r).len();
    let mut parts = Vec::with_capacity(found.len() * 2 + 1);
    let mut begin = 0;
    for spans in &found {
        let Some(Some((from, to))) = spans.first() else { continue };
        parts.push(call.heap.new_substr(r, begin, *from)?);
        parts.push(match_value(call, r, spans)?);
        begin = *to;
    }
    parts.push(call.heap.new_substr(r, begin, len)?);
    call.heap.new_vec(&parts)
}

/// `(extract pattern s)`, `(extract pattern s group)`
pub fn extract(call: &mut Call<'_>) -> Result<Value, Stop> {
    let engine = match arg(call, 1) {
        Value::Str(r) | Value::Regex(r) => compile(call, r, false)?,
        _ => return Err(call.wrong_type(1, "a regex or a string")),
    };
    let r = pay_text(call, 2)?;
    let group = if call.args.len() > 2 { whole(call, 3)? } else { 1 };
    let found = matches(call, &engine, r, true, 1)?;
    let spans = found.first().and_then(|spans| spans.get(usize::try_from(group).ok()?).copied().flatten());
    match spans {
        Some((from, to)) => call.heap.new_substr(r, from, to),
        None => Ok(Value::Nil),
    }
}

/// `(extract-int pattern s)`, `(extract-int pattern s group)`, `(extract-int pattern s group default)`
pub fn extract_int(call: &mut Call<'_>) -> Result<Value, Stop> {
    let found = match extract(call)? {
        Value::Str(r) => call.heap.str(r).parse::<i64>().ok(),
        _ => None,
    };
    Ok(found.map_or(arg(call, 4), Value::Int))
}
