//! Natives for strings: parts, pieces, case, tests.

use super::args::{arg, each, growing_room, text, whole};
use super::text::{display, display_in, finish};
use ptc_vm::{CHAR_STEPS, Call, Fault, Heap, Ref, Stop, Value};
use unicode_segmentation::UnicodeSegmentation;

/// Returns the byte where grapheme `i` of a text begins; its length if there are fewer.
pub fn byte_at(heap: &Heap, r: Ref, i: usize) -> usize {
    let text = heap.str(r);
    if heap.text_is_ascii(r) {
        return i.min(text.len());
    }
    heap.charge(text.len() * CHAR_STEPS);
    text.grapheme_indices(true).nth(i).map_or(text.len(), |(at, _)| at)
}

/// Counts the graphemes that begin before byte `at`.
pub fn grapheme_at(heap: &Heap, r: Ref, at: usize) -> usize {
    if heap.text_is_ascii(r) {
        return at;
    }
    heap.charge(heap.text_bytes_len(r) * CHAR_STEPS);
    heap.str(r).grapheme_indices(true).take_while(|(i, _)| *i < at).count()
}

/// Pays for reading the text of argument `n`.
pub fn pay_text(call: &mut Call<'_>, n: usize) -> Result<Ref, Stop> {
    let r = text(call, n)?;
    let len = call.heap.str(r).len();
    call.pay_items(len / 8)?;
    Ok(r)
}

/// `(subs s start)`, `(subs s start end)`
pub fn subs(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let start = whole(call, 2)?;
    let end = if call.args.len() > 2 { whole(call, 3)? } else { i64::MAX };
    let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else {
        return call.heap.new_str("");
    };
    if start >= end {
        return call.heap.new_str("");
    }
    let (from, to) = (byte_at(call.heap, r, start), byte_at(call.heap, r, end));
    call.heap.new_substr(r, from, to)
}

/// `(join coll)`, `(join sep coll)`
pub fn join(call: &mut Call<'_>) -> Result<Value, Stop> {
    let coll = call.args.len();
    let mut separator = String::new();
    if coll == 2 {
        display(call, arg(call, 1), &mut separator)?;
    }
    let mut out = String::new();
    let mut first = true;
    each(call, coll, |heap, item| {
        if !first {
            out.push_str(&separator);
        }
        first = false;
        display_in(heap, item, &mut out)?;
        growing_room(heap, 1, out.len())
    })?;
    finish(call, &out)
}

/// Records a piece of a text. Pieces may take more memory than the text, so room is checked on the way.
fn cut(heap: &Heap, cuts: &mut Vec<(usize, usize)>, from: usize, to: usize) -> Result<(), Stop> {
    cuts.push((from, to));
    if cuts.len().is_multiple_of(1024) { growing_room(heap, cuts.len(), 0) } else { Ok(()) }
}

/// `(split s sep)`, `(split s sep limit)`
pub fn split(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = pay_text(call, 1)?;
    let limit = if call.args.len() > 2 { whole(call, 3)? } else { 0 };
    let separator = match arg(call, 2) {
        Value::Str(s) if call.heap.str(s).is_empty() => String::new(),
        Value::Str(s) if call.heap.text_len(s) == 1 => call.heap.str(s).to_string(),
        Value::Str(_) => {
            return Err(Fault::type_error(
                "`split` needs a regex or one character, but argument 2 is a longer string",
            )
            .hint("`(split s #\", \")`")
            .into());
        }
        Value::Regex(pattern) => return super::regex::split_by(call, r, pattern, limit),
        _ => return Err(call.wrong_type(2, "a regex or one character")),
    };
    let text = call.heap.str(r);
    let most = usize::try_from(limit).ok().filter(|n| *n > 0).unwrap_or(usize::MAX);
    let mut cuts = Vec::new();
    let mut from = 0;
    if separator.is_empty() {
        // Cuts between every two graphemes.
        call.heap.charge(text.len() * CHAR_STEPS);
        for (at, _) in text.grapheme_indices(true).skip(1).take(most - 1) {
            cut(call.heap, &mut cuts, from, at)?;
            from = at;
        }
    } else {
        for (at, found) in text.match_indices(&separator).take(most - 1) {
            cut(call.heap, &mut cuts, from, at)?;
            from = at + found.len();
        }
    }
    cuts.push((from, text.len()));
    pieces(call, r, cuts, limit)
}

/// Makes strings of parts of a text; without a limit, empty ones at the end are dropped, unless the text was never cut.
pub fn pieces(call: &mut Call<'_>, r: Ref, mut cuts: Vec<(usize, usize)>, limit: i64) -> Result<Value, Stop> {
    if limit == 0 && cuts.len() > 1 {
        while cuts.last().is_some_and(|(from, to)| from == to) {
            cuts.pop();
        }
    }
    call.pay_items(cuts.len())?;
    call.heap.new_parts(r, &cuts)
}

/// `(split-lines s)`
pub fn split_lines(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let text = call.heap.str(r);
    let mut cuts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('\n') {
        let end = if text[from..at].ends_with('\r') { at - 1 } else { at };
        cut(call.heap, &mut cuts, from, end)?;
        from = at + 1;
    }
    cuts.push((from, text.len()));
    // Priced by lines, too: a text may consist of line ends.
    call.pay_items(cuts.len())?;
    pieces(call, r, cuts, 0)
}

/// True for a blank of `trim` and `blank?`: Unicode white space that may break a line.
pub fn is_blank(c: char) -> bool {
    (c.is_whitespace() && !matches!(c, '\u{A0}' | '\u{2007}' | '\u{202F}' | '\u{85}'))
        || ('\u{1C}'..='\u{1F}').contains(&c)
}

/// Returns the part of argument 1 that `cut` leaves.
fn trimmed(call: &mut Call<'_>, cut: fn(&str) -> &str) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let text = call.heap.str(r);
    let kept = cut(text);
    if kept.len() == text.len() {
        return Ok(Value::Str(r));
    }
    let from = kept.as_ptr() as usize - text.as_ptr() as usize;
    let to = from + kept.len();
    call.heap.new_substr(r, from, to)
}

/// `(trim s)`
pub fn trim(call: &mut Call<'_>) -> Result<Value, Stop> {
    trimmed(call, |text| text.trim_matches(is_blank))
}

/// `(triml s)`
pub fn triml(call: &mut Call<'_>) -> Result<Value, Stop> {
    trimmed(call, |text| text.trim_start_matches(is_blank))
}

/// `(trimr s)`
pub fn trimr(call: &mut Call<'_>) -> Result<Value, Stop> {
    trimmed(call, |text| text.trim_end_matches(is_blank))
}

/// `(trim-newline s)`
pub fn trim_newline(call: &mut Call<'_>) -> Result<Value, Stop> {
    trimmed(call, |text| text.trim_end_matches(['\n', '\r']))
}

/// `(blank? s)`
pub fn blank_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Nil = arg(call, 1) {
        return Ok(Value::True);
    }
    let r = text(call, 1)?;
    Ok(Value::bool(call.heap.str(r).chars().all(is_blank)))
}

/// Returns the text of argument 1, other values except nil in their `str` form.
fn any_text(call: &mut Call<'_>) -> Result<String, Stop> {
    match arg(call, 1) {
        Value::Str(_) | Value::Nil => {
            let r = text(call, 1)?;
            let len = call.heap.str(r).len();
            call.heap.room(1, len)?;
            Ok(call.heap.str(r).to_string())
        }
        other => {
            let mut out = String::new();
            display(call, other, &mut out)?;
            Ok(out)
        }
    }
}

/// `(upper-case s)`
pub fn upper_case(call: &mut Call<'_>) -> Result<Value, Stop> {
    let text = any_text(call)?;
    finish(call, &text.to_uppercase())
}

/// `(lower-case s)`
pub fn lower_case(call: &mut Call<'_>) -> Result<Value, Stop> {
    let text = any_text(call)?;
    finish(call, &text.to_lowercase())
}

/// `(str/re-quote-replacement s)`
pub fn re_quote_replacement(call: &mut Call<'_>) -> Result<Value, Stop> {
    let text = any_text(call)?;
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '$') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    finish(call, &quoted)
}

/// `(capitalize s)`
pub fn capitalize(call: &mut Call<'_>) -> Result<Value, Stop> {
    let text = any_text(call)?;
    let first = text.graphemes(true).next().unwrap_or_default();
    let capitalized = first.to_uppercase() + &text[first.len()..].to_lowercase();
    finish(call, &capitalized)
}

/// `(str/reverse s)`
pub fn reverse(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let text = call.heap.str(r);
    call.heap.room(1, text.len())?;
    call.heap.charge(text.len() * CHAR_STEPS);
    let turned: String = text.graphemes(true).rev().collect();
    finish(call, &turned)
}

/// Tests the text of argument 1, of any type, against a string.
fn test(call: &mut Call<'_>, holds: fn(&str, &str) -> bool) -> Result<Value, Stop> {
    let part = text(call, 2)?;
    if let Value::Str(_) | Value::Nil = arg(call, 1) {
        let whole = text(call, 1)?;
        return Ok(Value::bool(holds(call.heap.str(whole), call.heap.str(part))));
    }
    let whole = any_text(call)?;
    Ok(Value::bool(holds(&whole, call.heap.str(part))))
}

/// `(starts-with? s prefix)`
pub fn starts_with_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    test(call, |whole, part| whole.starts_with(part))
}

/// `(ends-with? s suffix)`
pub fn ends_with_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    test(call, |whole, part| whole.ends_with(part))
}

/// `(includes? s part)`
pub fn includes_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    test(call, |whole, part| whole.contains(part))
}
