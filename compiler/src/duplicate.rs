//! Finding equal forms: repeated keys of map literals, members of set literals, `case` constants.
//!
//! Forms are equal by structure: order inside maps and sets does not matter, vectors and lists are
//! alike, `0.0` is `-0.0`; regexes, `#(…)` and NaN equal nothing. Rather than comparing trees, which
//! is quadratic for unordered ones, each form gets a 128-bit fingerprint. It is not keyed: whoever
//! finds two forms that collide only gets their own program refused.

use crate::form::{Form, FormKind};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The first form that equals an earlier one, as (earlier, repeated).
pub(crate) fn find<'f, 'a: 'f>(
    forms: impl ExactSizeIterator<Item = &'f Form<'a>> + Clone,
) -> Option<(&'f Form<'a>, &'f Form<'a>)> {
    // Nearly every literal is short and keyed by keywords or strings: compare those in pairs.
    if forms.len() <= 12 && forms.clone().all(|form| short_text(form).is_some()) {
        for (i, form) in forms.clone().enumerate() {
            if let Some(first) = forms.clone().take(i).find(|other| short_text(other) == short_text(form)) {
                return Some((first, form));
            }
        }
        return None;
    }
    let mut prints: Vec<(u128, usize, &'f Form<'a>)> =
        forms.enumerate().filter_map(|(i, form)| Some((fingerprint(form)?, i, form))).collect();
    prints.sort_unstable_by_key(|(print, i, _)| (*print, *i));
    let repeated = prints.windows(2).filter(|pair| pair[0].0 == pair[1].0).min_by_key(|pair| pair[1].1)?;
    Some((repeated[0].2, repeated[1].2))
}

fn short_text<'a>(form: &Form<'a>) -> Option<(u8, &'a str)> {
    match form.kind {
        FormKind::Keyword(name) => Some((0, name)),
        FormKind::Str(text) => Some((1, text)),
        FormKind::Symbol(name) => Some((2, name)),
        _ => None,
    }
}

/// `None` for forms that equal nothing. Recursion is bounded by the nesting limit.
fn fingerprint(form: &Form<'_>) -> Option<u128> {
    let ordered = |tag: u8, forms: &[Form<'_>]| -> Option<u128> {
        let prints: Option<Vec<u128>> = forms.iter().map(fingerprint).collect();
        Some(mix(tag, prints?))
    };
    // A sum does not depend on order.
    let unordered = |tag: u8, parts: &[Form<'_>], width: usize| -> Option<u128> {
        let mut sum = 0u128;
        for part in parts.chunks(width) {
            sum = sum.wrapping_add(ordered(8, part)?);
        }
        Some(mix(tag, sum))
    };
    Some(match form.kind {
        FormKind::Nil => mix(1, ()),
        FormKind::Bool(b) => mix(2, b),
        FormKind::Int(n) => mix(3, n),
        FormKind::BigInt(digits) => mix(4, digits),
        FormKind::Float(x) if x.is_nan() => return None,
        FormKind::Float(x) => mix(5, (x + 0.0).to_bits()),
        FormKind::Str(text) => mix(6, text),
        FormKind::Keyword(name) => mix(7, name),
        FormKind::Inst(text) => mix(9, text),
        FormKind::Symbol(name) => mix(10, name),
        FormKind::VarRef(name) => mix(11, name),
        FormKind::List(items) | FormKind::Vector(items) => ordered(12, items)?,
        FormKind::Map(items) => unordered(13, items, 2)?,
        FormKind::Set(items) => unordered(14, items, 1)?,
        FormKind::Quote(form) => mix(15, fingerprint(form)?),
        FormKind::Special(special) => mix(16, special),
        FormKind::Builtin(name) => mix(17, name),
        FormKind::Regex(_) | FormKind::ShortFn(_) => return None,
    })
}

fn mix(tag: u8, value: impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, tag, &value).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
