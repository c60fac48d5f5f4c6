//! Words without their endings.

use rust_stemmers::{Algorithm, Stemmer};
use std::sync::LazyLock;

/// Longest word that is stemmed, in bytes: the stemmer's work grows with it.
const LONGEST: usize = 40;

/// Returns the stem of a word in lower case: of `invoices`, `invoicing` and `invoice` the same.
pub(super) fn stem(word: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.len() > LONGEST || !bare.is_ascii() { bare.to_string() } else { ENGLISH.stem(bare).into_owned() }
}
