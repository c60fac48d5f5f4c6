//! Detection of equal forms: repeated keys of map literals, members of set literals, `case` constants.
//!
//! Forms are equal by structure: order inside maps and sets does not matter, vectors and lists are alike, `0.0` is
//! `-0.0`; regexes, `#(…)` and NaN equal nothing. Comparing trees is quadratic for unordered ones, so each form gets a
//! 128-bit fingerprint instead. It is not keyed: an author who finds two colliding forms only gets their own program
//! refused.

use crate::form::{Form, FormKind};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fingerprints of the collections seen so far, each computed once: a literal inside ten others is compared in all
/// of them.
#[derive(Default)]
pub(crate) struct Fingerprints {
    /// Fingerprints by the address of a collection's elements.
    known: HashMap<usize, Option<u128>>,
    work: usize,
}

/// Maximum number of names that are compared in pairs.
const FEW: usize = 12;

/// Units of work for a fingerprint, without the bytes of its text.
const FINGERPRINT: usize = 16;

impl Fingerprints {
    /// Finds the first form that equals an earlier one, as (earlier, repeated).
    pub(crate) fn find<'f, 'a: 'f>(
        &mut self,
        forms: impl ExactSizeIterator<Item = &'f Form<'a>> + Clone,
    ) -> Option<(&'f Form<'a>, &'f Form<'a>)> {
        // Nearly every literal is short and keyed by keywords or strings, which are compared in pairs.
        if forms.len() <= FEW {
            let mut texts = SmallVec::<[(u8, &str); FEW]>::new();
            texts.extend(forms.clone().map_while(short_text));
            if texts.len() == forms.len() {
                let repeats = |i: &usize| texts[..*i].contains(&texts[*i]);
                let again = (1..texts.len()).find(repeats)?;
                let first = texts.iter().position(|text| *text == texts[again])?;
                return Some((forms.clone().nth(first)?, forms.clone().nth(again)?));
            }
        }
        let mut prints: Vec<(u128, usize, &'f Form<'a>)> =
            forms.enumerate().filter_map(|(i, form)| Some((self.of(form)?, i, form))).collect();
        prints.sort_unstable_by_key(|(print, i, _)| (*print, *i));
        let repeated =
            prints.windows(2).filter(|pair| pair[0].0 == pair[1].0).min_by_key(|pair| pair[1].1)?;
        Some((repeated[0].2, repeated[1].2))
    }

    /// Returns the units of work done so far.
    pub(crate) fn work(&self) -> usize {
        self.work
    }

    /// Computes the fingerprint of a form; `None` for forms that equal nothing. Recursion is bounded by the nesting
    /// limit.
    fn of(&mut self, form: &Form<'_>) -> Option<u128> {
        self.work += FINGERPRINT;
        Some(match form.kind {
            FormKind::Nil => mix(1, ()),
            FormKind::Bool(b) => mix(2, b),
            FormKind::Int(n) => mix(3, n),
            FormKind::BigInt(digits) => self.text(4, digits),
            FormKind::Float(x) if x.is_nan() => return None,
            FormKind::Float(x) => mix(5, (x + 0.0).to_bits()),
            FormKind::Str(text) => self.text(6, text),
            FormKind::Keyword(name) => self.text(7, name),
            FormKind::Inst(text) => self.text(9, text),
            FormKind::Symbol(name) => self.text(10, name),
            FormKind::VarRef(name) => self.text(11, name),
            FormKind::List(items) | FormKind::Vector(items) => {
                self.once(items, |this| this.ordered(12, items))?
            }
            FormKind::Map(items) => self.once(items, |this| this.unordered(13, items, 2))?,
            FormKind::Set(items) => self.once(items, |this| this.unordered(14, items, 1))?,
            FormKind::Quote(form) => mix(15, self.of(form)?),
            FormKind::Special(special) => mix(16, special),
            FormKind::Builtin(name) => mix(17, name),
            FormKind::Regex(_) | FormKind::ShortFn(_) => return None,
        })
    }

    fn text(&mut self, tag: u8, text: &str) -> u128 {
        self.work += text.len() / 4;
        mix(tag, text)
    }

    /// Computes the fingerprint of a collection once and keeps it for enclosing collections. Copies of a form share
    /// their elements, which do not move while this is used.
    fn once(&mut self, items: &[Form<'_>], make: impl FnOnce(&mut Self) -> Option<u128>) -> Option<u128> {
        if items.is_empty() {
            return make(self);
        }
        let place = items.as_ptr() as usize;
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let print = make(self);
        self.known.insert(place, print);
        print
    }

    fn ordered(&mut self, tag: u8, forms: &[Form<'_>]) -> Option<u128> {
        let prints: Option<Vec<u128>> = forms.iter().map(|form| self.of(form)).collect();
        Some(mix(tag, prints?))
    }

    /// Combines fingerprints by a sum, which does not depend on order.
    fn unordered(&mut self, tag: u8, parts: &[Form<'_>], width: usize) -> Option<u128> {
        let mut sum = 0u128;
        for part in parts.chunks(width) {
            sum = sum.wrapping_add(self.ordered(8, part)?);
        }
        Some(mix(tag, sum))
    }
}

#[inline]
fn short_text<'a>(form: &Form<'a>) -> Option<(u8, &'a str)> {
    match form.kind {
        FormKind::Keyword(name) => Some((0, name)),
        FormKind::Str(text) => Some((1, text)),
        FormKind::Symbol(name) => Some((2, name)),
        _ => None,
    }
}

fn mix(tag: u8, value: impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, tag, &value).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
