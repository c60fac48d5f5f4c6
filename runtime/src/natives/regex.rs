//! Natives for regular expressions.

use super::args::{arg, growing_room, refuse, text, whole};
use super::pattern::{Engine, Meter, Purpose, Refused, Searcher, Span};
use super::string::pieces;
use super::text::finish;
use ptc_vm::{Call, Ref, Stop, TextKind, Value};
use std::sync::Arc;

/// Returns argument `n` as a compiled pattern.
fn pattern(call: &mut Call<'_>, n: usize, whole: bool) -> Result<Arc<Engine>, Stop> {
    match arg(call, n) {
        Value::Regex(r) => compile(call, r, whole, Purpose::Use),
        _ => Err(call.wrong_type(n, "a regex (`(re-pattern s)` makes one)")),
    }
}

fn compile(call: &mut Call<'_>, r: Ref, whole: bool, purpose: Purpose) -> Result<Arc<Engine>, Stop> {
    let name = call.name();
    let mut meter = Meter::of(call);
    Engine::of(meter.heap.str(r), whole, purpose, &mut meter).map_err(|refused| stop(name, refused))
}

fn stop(name: &str, refused: Refused) -> Stop {
    match refused {
        Refused::Words(problem) => refuse(format!("`{name}`: {problem}")),
        Refused::Stopped(stop) => stop,
    }
}

/// Returns the matches of a pattern in a text, each with its groups; at most `most`.
fn matches(call: &mut Call<'_>, engine: &Engine, r: Ref, most: usize) -> Result<Vec<Vec<Span>>, Stop> {
    let mut found = Vec::new();
    each_match(call, engine, r, most, |searcher, meter, text, at| {
        let Some(spans) = searcher.groups(meter, text, at)? else { return Ok(None) };
        let Some(Some(whole)) = spans.first().copied() else { return Ok(None) };
        let n = spans.len();
        found.push(spans);
        Ok(Some((whole, n)))
    })?;
    Ok(found)
}

/// Returns the places of the matches of a pattern in a text; at most `most`.
fn places(call: &mut Call<'_>, engine: &Engine, r: Ref, most: usize) -> Result<Vec<(usize, usize)>, Stop> {
    let mut found = Vec::new();
    let name = call.name();
    let mut meter = Meter::of(call);
    let text = meter.heap.str(r);
    let all = engine.searcher().find_all(&mut meter, text, most, &mut found);
    if all.and_then(|all| meter.settle().map(|()| all)).map_err(|refused| stop(name, refused))? {
        return Ok(found);
    }
    each_match(call, engine, r, most, |searcher, meter, text, at| {
        let place = searcher.find(meter, text, at)?;
        found.extend(place);
        Ok(place.map(|place| (place, 1)))
    })?;
    Ok(found)
}

/// Calls `find` with a text and the place to continue at until it finds nothing more. `find` returns the place of a
/// match and the number of its parts.
fn each_match(
    call: &mut Call<'_>,
    engine: &Engine,
    r: Ref,
    most: usize,
    mut find: impl FnMut(
        &mut Searcher<'_>,
        &mut Meter<'_>,
        &str,
        usize,
    ) -> Result<Option<((usize, usize), usize)>, Refused>,
) -> Result<(), Stop> {
    let name = call.name();
    let mut meter = Meter::of(call);
    let mut searcher = engine.searcher();
    let text = meter.heap.str(r);
    let (mut cells, mut at) = (0, 0);
    for _ in 0..most {
        let next = find(&mut searcher, &mut meter, text, at).map_err(|refused| stop(name, refused))?;
        let Some(((from, to), parts)) = next else { break };
        // After an empty match the search continues after the next character.
        at = if to > from { to } else { to + text[to..].chars().next().map_or(1, char::len_utf8) };
        cells += 4 * parts;
        growing_room(meter.heap, cells, 0)?;
        if at > text.len() {
            break;
        }
    }
    meter.settle().map_err(|refused| stop(name, refused))
}

/// Makes a value of a match: a string, or a vector of the whole and the groups, nil for those that took no part.
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
    compile(call, r, false, Purpose::Make)?;
    call.heap.retext(r, TextKind::Regex)
}

fn first_match(call: &mut Call<'_>, whole: bool) -> Result<Value, Stop> {
    let engine = pattern(call, 1, whole)?;
    let r = text(call, 2)?;
    match matches(call, &engine, r, 1)?.first() {
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
    let r = text(call, 2)?;
    let found = matches(call, &engine, r, usize::MAX)?;
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
    let r = text(call, 2)?;
    split_with(call, r, &engine, 0)
}

/// Splits a text at matches, for `split`.
pub fn split_by(call: &mut Call<'_>, r: Ref, pattern: Ref, limit: i64) -> Result<Value, Stop> {
    let engine = compile(call, pattern, false, Purpose::Use)?;
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

/// Replaces matches in a text by argument 3, in which `$1` is a group and `\` quotes.
pub fn replace_by(call: &mut Call<'_>, r: Ref, pattern: Ref, most: usize) -> Result<Value, Stop> {
    let engine = compile(call, pattern, false, Purpose::Use)?;
    let by = text(call, 3)?;
    // Each byte may be a separate part.
    call.pay_items(call.heap.str(by).len())?;
    growing_room(call.heap, 2 * call.heap.str(by).len(), 0)?;
    let found = matches(call, &engine, r, most)?;
    let parts = replacement(call.heap.str(by), engine.groups());
    let source = call.heap.str(r);
    let mut out = String::new();
    let mut begin = 0;
    for spans in &found {
        let Some(Some((from, to))) = spans.first() else { continue };
        let filled = || parts.iter().map(|part| part.fill(source, spans));
        // Computed twice, so that a text that does not fit is never begun.
        call.budget.pay_items(2 * parts.len())?;
        let len = filled().fold(from - begin, |sum: usize, text| sum.saturating_add(text.len()));
        growing_room(call.heap, 1, out.len().saturating_add(len))?;
        call.budget.pay_items(len / 8)?;
        out.push_str(&source[begin..*from]);
        out.extend(filled());
        begin = *to;
    }
    let rest = &source[begin..];
    growing_room(call.heap, 1, out.len().saturating_add(rest.len()))?;
    out.push_str(rest);
    finish(call, &out)
}

/// Returns argument `n` as a pattern, which may be text, as for methods of strings.
fn pattern_text(call: &Call<'_>, n: usize) -> Result<Ref, Stop> {
    match arg(call, n) {
        Value::Regex(r) => Ok(r),
        _ => text(call, n),
    }
}

/// `(.replaceAll s pattern replacement)`: replaces up to `most` matches.
pub fn replace_in(call: &mut Call<'_>, most: usize) -> Result<Value, Stop> {
    let (r, pattern) = (text(call, 1)?, pattern_text(call, 2)?);
    replace_by(call, r, pattern, most)
}

/// `(.split s pattern)`, `(.split s pattern limit)`
pub fn split_by_text(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, pattern) = (text(call, 1)?, pattern_text(call, 2)?);
    let limit = if call.args.len() > 2 { whole(call, 3)? } else { 0 };
    split_by(call, r, pattern, limit)
}

/// `(.matches s pattern)`
pub fn matches_text(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, pattern) = (text(call, 1)?, pattern_text(call, 2)?);
    let engine = compile(call, pattern, true, Purpose::Use)?;
    let found = places(call, &engine, r, 1)?;
    Ok(Value::bool(!found.is_empty()))
}

/// A part of a replacement.
enum Part<'a> {
    Text(&'a str),
    Group(usize),
}

impl<'a> Part<'a> {
    /// Returns the text of this part for a match of `source`.
    fn fill(&self, source: &'a str, groups: &[Span]) -> &'a str {
        match self {
            Part::Text(text) => text,
            Part::Group(group) => match groups.get(*group) {
                Some(Some((from, to))) => &source[*from..*to],
                _ => "",
            },
        }
    }
}

/// Parses a replacement for a pattern with `groups` groups, the whole match included.
fn replacement(by: &str, groups: usize) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    // Start of the text that is not yet in a part.
    let mut begin = 0;
    let mut chars = by.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            parts.push(Part::Text(&by[begin..at]));
            // Quoted characters are always text.
            begin = at + 1;
            chars.next();
        } else if c == '$'
            && let Some(mut group) = chars.peek().and_then(|(_, c)| c.to_digit(10))
        {
            parts.push(Part::Text(&by[begin..at]));
            chars.next();
            // Further digits belong to it as long as there is such a group.
            while let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(10)) {
                let longer = group.saturating_mul(10).saturating_add(digit);
                if longer as usize >= groups {
                    break;
                }
                group = longer;
                chars.next();
            }
            parts.push(Part::Group(group as usize));
            begin = chars.peek().map_or(by.len(), |(at, _)| *at);
        }
    }
    parts.push(Part::Text(&by[begin..]));
    parts.retain(|part| !matches!(part, Part::Text("")));
    parts
}

/// `(%match-parts s match most)`: returns the text between matches and the matches in turn, beginning and ending
/// with text, for replacement by a function.
pub fn match_parts(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let most = usize::try_from(whole(call, 3)?).unwrap_or(usize::MAX);
    let found = match arg(call, 2) {
        Value::Str(part) => {
            call.pay_items((call.heap.str(r).len() + call.heap.str(part).len()) / 8)?;
            let (source, part) = (call.heap.str(r), call.heap.str(part));
            let mut found = Vec::new();
            for (at, part) in source.match_indices(part).take(most) {
                call.budget.pay_items(4)?;
                found.push(vec![Some((at, at + part.len()))]);
                growing_room(call.heap, 4 * found.len(), 0)?;
            }
            found
        }
        Value::Regex(pattern) => {
            let engine = compile(call, pattern, false, Purpose::Use)?;
            matches(call, &engine, r, most)?
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
        Value::Str(r) | Value::Regex(r) => compile(call, r, false, Purpose::Use)?,
        _ => return Err(call.wrong_type(1, "a regex or a string")),
    };
    let r = text(call, 2)?;
    let group = if call.args.len() > 2 { whole(call, 3)? } else { 1 };
    let found = matches(call, &engine, r, 1)?;
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
