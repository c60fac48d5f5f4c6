//! Natives that find and replace strings in strings.

use super::args::{arg, text, whole};
use super::string::{byte_at, grapheme_at, pay_text};
use super::text::finish;
use ptc_vm::{Call, Stop, Value};

/// `(index-of s part)`, `(index-of s part from)`
pub fn index_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, part) = (text(call, 1)?, text(call, 2)?);
    let from = if call.args.len() > 2 { whole(call, 3)? } else { 0 };
    let from = byte_at(call.heap, r, usize::try_from(from).unwrap_or(0));
    let found = call.heap.str(r)[from..].find(call.heap.str(part));
    Ok(match found {
        Some(at) => Value::Int(grapheme_at(call.heap, r, from + at) as i64),
        None => Value::Nil,
    })
}

/// `(last-index-of s part)`, `(last-index-of s part from)`
pub fn last_index_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, part) = (text(call, 1)?, text(call, 2)?);
    let from = if call.args.len() > 2 { whole(call, 3)? } else { i64::MAX };
    let Ok(from) = usize::try_from(from) else { return Ok(Value::Nil) };
    let (text, part) = (call.heap.str(r), call.heap.str(part));
    // The match may begin at `from` at the latest, so it ends at most its length later.
    let start = byte_at(call.heap, r, from);
    let mut end = (start + part.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Ok(match text[..end].rfind(part) {
        Some(at) => Value::Int(grapheme_at(call.heap, r, at) as i64),
        None => Value::Nil,
    })
}

/// `(%replace-text s match replacement most)`
pub fn replace(call: &mut Call<'_>) -> Result<Value, Stop> {
    let most = usize::try_from(whole(call, 4)?).unwrap_or(usize::MAX);
    let r = pay_text(call, 1)?;
    if !matches!(arg(call, 3), Value::Str(_)) {
        let fault = call.misfit(3, "a string or a function");
        return Err(match arg(call, 3) {
            Value::Nil => fault.hint("`(or s \"\")` supplies a default"),
            _ => fault,
        }
        .into());
    }
    let part = match arg(call, 2) {
        Value::Str(part) => part,
        Value::Regex(pattern) => return super::regex::replace_by(call, r, pattern, most),
        _ => return Err(call.wrong_type(2, "a string or a regex")),
    };
    let by = text(call, 3)?;
    // A search begins by reading the pattern, and there are two searches.
    call.pay_items(call.heap.str(part).len() / 4)?;
    let (text, part, by) = (call.heap.str(r), call.heap.str(part), call.heap.str(by));
    let matches = text.matches(part).take(most).count();
    call.heap.room(1, matches.saturating_mul(by.len()).saturating_add(text.len()))?;
    let out = text.replacen(part, by, matches);
    finish(call, &out)
}
