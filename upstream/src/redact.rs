//! Removal of secrets from every text that leaves the process, in whatever form they appear.
//!
//! This is the second line of defence: secrets are kept in one place only, but servers may echo them.

mod text;

use crate::credentials::Secret;
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Replacement for a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Maximum length of a secret, in bytes.
pub const MAX_SECRET: usize = 16 * 1024;

/// Maximum length of all secrets together, in bytes.
pub const MAX_TOTAL: usize = 512 * 1024;

/// Minimum length of a secret to search for, in bytes: shorter ones would be found everywhere.
pub const MIN_SECRET: usize = 4;

/// Search for all known secrets.
///
/// ```
/// use ptc_upstream::credentials::Secret;
/// use ptc_upstream::redact::Redactor;
/// let redactor = Redactor::new();
/// redactor.register("pat", &Secret::new("s3cr3t/value"))?;
/// assert_eq!(redactor.scrub("got s3cr3t/value"), "got [REDACTED]");
/// assert_eq!(redactor.scrub("?key=s3cr3t%2Fvalue"), "?key=[REDACTED]");
/// # Ok::<(), ptc_upstream::redact::TooLong>(())
/// ```
#[derive(Default)]
pub struct Redactor {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// Current secret of each binding, and its predecessor.
    known: BTreeMap<String, VecDeque<Secret>>,
    automaton: Option<Arc<AhoCorasick>>,
}

/// Error for secrets that exceed a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong(&'static str);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for TooLong {}

/// Result of registering a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// The secret is searched for.
    Searched,
    /// The secret is too short to search for; warn the host.
    TooShort,
}

impl Redactor {
    /// Creates a redactor that knows no secrets.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// Registers a secret; call this before its first use. The previous secret of this name is still searched for.
    pub fn register(&self, binding: &str, secret: &Secret) -> Result<Registered, TooLong> {
        if secret.expose().len() > MAX_SECRET {
            return Err(TooLong("a secret may have at most 16 KiB"));
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let kept: usize = state.known.values().flatten().map(|known| known.expose().len()).sum();
        if kept + secret.expose().len() > MAX_TOTAL {
            return Err(TooLong("all secrets together may have at most 512 KiB"));
        }
        let known = state.known.entry(binding.to_string()).or_default();
        if !known.contains(secret) {
            known.push_front(secret.clone());
            known.truncate(2);
            // Built on next use, so that a start with many secrets builds it once.
            state.automaton = None;
        }
        let is_short = secret.expose().len() < MIN_SECRET;
        Ok(if is_short { Registered::TooShort } else { Registered::Searched })
    }

    /// Returns the automaton that finds all known secrets; None if there are none.
    fn automaton(&self) -> Option<Arc<AhoCorasick>> {
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if state.automaton.is_some() || state.known.is_empty() {
                return state.automaton.clone();
            }
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.automaton.is_none() {
            let forms: BTreeSet<String> = state.known.values().flatten().flat_map(forms).collect();
            // Standard matching, because overlapping matches are needed: no end of a match may remain. The
            // limits on secrets keep the number of states far below the maximum.
            let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&forms);
            state.automaton = automaton.ok().map(Arc::new);
        }
        state.automaton.clone()
    }

    /// Returns the text with secrets replaced.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.automaton() {
            Some(automaton) => scrub_text(&automaton, text),
            None => Cow::Borrowed(text),
        }
    }

    /// Returns the value with secrets replaced, also in keys of maps.
    ///
    /// ```
    /// use ptc_upstream::{credentials::Secret, redact::Redactor};
    /// use serde_json::json;
    /// let redactor = Redactor::new();
    /// redactor.register("pat", &Secret::new("hunter22"))?;
    /// let clean = redactor.scrub_json(json!({"hunter22": ["is hunter22", 1]}));
    /// assert_eq!(clean, json!({"[REDACTED]": ["is [REDACTED]", 1]}));
    /// # Ok::<(), ptc_upstream::redact::TooLong>(())
    /// ```
    pub fn scrub_json(&self, value: Value) -> Value {
        match self.automaton() {
            Some(automaton) => scrub_value(&automaton, value),
            None => value,
        }
    }
}

impl Redactor {
    /// Returns valid JSON text with secrets replaced, also in keys, however they are escaped.
    ///
    /// ```
    /// use ptc_upstream::{credentials::Secret, redact::Redactor};
    /// let redactor = Redactor::new();
    /// redactor.register("pat", &Secret::new("hunter22"))?;
    /// let clean = redactor.scrub_json_text(r#"{"\u0068unter22": ["is hunter22", 1]}"#);
    /// assert_eq!(clean, r#"{"[REDACTED]": ["is [REDACTED]", 1]}"#);
    /// # Ok::<(), ptc_upstream::redact::TooLong>(())
    /// ```
    pub fn scrub_json_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.automaton() {
            Some(automaton) => text::scrub(&automaton, text),
            None => Cow::Borrowed(text),
        }
    }
}

fn scrub_text<'t>(automaton: &AhoCorasick, text: &'t str) -> Cow<'t, str> {
    let mut spans: Vec<(usize, usize)> =
        automaton.find_overlapping_iter(text).map(|found| (found.start(), found.end())).collect();
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_unstable();
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    let mut spans = spans.into_iter().peekable();
    while let Some((start, mut end)) = spans.next() {
        while let Some((_, more)) = spans.next_if(|(next, _)| *next < end) {
            end = end.max(more);
        }
        clean.push_str(&text[done..start]);
        clean.push_str(REDACTED);
        done = end;
    }
    clean.push_str(&text[done..]);
    Cow::Owned(clean)
}

fn scrub_value(automaton: &AhoCorasick, value: Value) -> Value {
    match value {
        Value::String(text) => match scrub_text(automaton, &text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(clean) => Value::String(clean),
        },
        Value::Array(items) => items.into_iter().map(|item| scrub_value(automaton, item)).collect(),
        Value::Object(map) => {
            let clean = |(key, value): (String, Value)| {
                let key = match scrub_text(automaton, &key) {
                    Cow::Borrowed(_) => key,
                    Cow::Owned(clean) => clean,
                };
                (key, scrub_value(automaton, value))
            };
            Value::Object(map.into_iter().map(clean).collect())
        }
        // A number containing a secret becomes a string, because `[REDACTED]` is not a number.
        Value::Number(number) => match scrub_text(automaton, &number.to_string()) {
            Cow::Borrowed(_) => Value::Number(number),
            Cow::Owned(clean) => Value::String(clean),
        },
        other => other,
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Redactor").field("bindings", &state.known.keys().collect::<Vec<_>>()).finish()
    }
}

/// Characters of a URL component that may stay unescaped.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns all forms in which a secret may appear in a text.
fn forms(secret: &Secret) -> Vec<String> {
    let plain = secret.expose();
    if plain.len() < MIN_SECRET {
        return Vec::new();
    }
    let mut forms = vec![plain.to_string()];
    for set in [NON_ALPHANUMERIC, UNRESERVED] {
        let encoded = utf8_percent_encode(plain, set).to_string();
        forms.push(encoded.replace("%20", "+"));
        forms.push(lower_escapes(&encoded));
        forms.push(encoded);
    }
    let escaped = json_escaped(plain);
    forms.push(escaped.replace('/', "\\/"));
    forms.push(ascii_escaped(&escaped));
    forms.push(json_escaped(&escaped));
    forms.push(escaped);
    forms.extend(base64_forms(plain));
    forms
}

/// Returns percent-encoding in lower case: `%2F` becomes `%2f`.
fn lower_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text.push('%');
        text.push_str(&digits.to_ascii_lowercase());
        text.push_str(rest);
    }
    text
}

fn json_escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_string()
}

/// Escapes non-ASCII characters as JSON writers limited to ASCII do.
fn ascii_escaped(text: &str) -> String {
    let mut units = [0; 2];
    text.chars().fold(String::new(), |mut ascii, c| {
        match c.is_ascii() {
            true => ascii.push(c),
            false => {
                c.encode_utf16(&mut units).iter().for_each(|unit| ascii.push_str(&format!("\\u{unit:04x}")))
            }
        }
        ascii
    })
}

/// Returns the Base64 forms of a secret inside a longer encoded text: one per offset modulo three, without the
/// characters that depend on the neighbours.
fn base64_forms(plain: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for (offset, foreign) in [(0, 0), (1, 2), (2, 3)] {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(plain.as_bytes());
        let shared = usize::from(bytes.len() % 3 != 0);
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            // Two thirds of a short secret would be found everywhere.
            if let Some(own) = encoded.get(foreign..encoded.len() - shared).filter(|own| own.len() >= 6) {
                forms.push(own.to_string());
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowing(secrets: &[&str]) -> Redactor {
        let redactor = Redactor::new();
        for (n, secret) in secrets.iter().enumerate() {
            redactor.register(&n.to_string(), &Secret::new(*secret)).unwrap();
        }
        redactor
    }

    #[test]
    fn overlapping_secrets_leave_nothing_behind() {
        let redactor = knowing(&["abcdef", "cdefghij", "abcd"]);
        assert_eq!(redactor.scrub("x abcdefghij y abcd"), "x [REDACTED] y [REDACTED]");
        assert_eq!(redactor.scrub("abcdabcd"), "[REDACTED][REDACTED]");
    }

    #[test]
    fn encoded_forms_are_found() {
        let secret = "pä ss\"wo/rd";
        let redactor = knowing(&[secret]);
        let base64 = |text: String| STANDARD_NO_PAD.encode(text);
        let texts = [
            json_escaped(secret),
            json_escaped(&json_escaped(secret)),
            "p\\u00e4 ss\\\"wo/rd".to_string(),
            "pä ss\\\"wo\\/rd".to_string(),
            "p%C3%A4%20ss%22wo%2Frd".to_string(),
            "p%c3%a4%20ss%22wo%2frd".to_string(),
            "p%C3%A4+ss%22wo%2Frd".to_string(),
        ];
        for text in texts {
            assert_eq!(redactor.scrub(&format!("<{text}>")), "<[REDACTED]>");
        }
        for text in
            [secret.to_string(), format!("u:{secret}"), format!("me:{secret}!"), format!("abc{secret}")]
        {
            let encoded = base64(text);
            assert!(redactor.scrub(&encoded).contains(REDACTED), "{encoded}");
        }
    }

    #[test]
    fn text_of_json_is_scrubbed_as_its_data_is() {
        let redactor = knowing(&["hunter22", "12345678"]);
        for text in [
            r#"{"a": ["hunter22", "x hunter22 y"], "hunter22": {"n": 12345678}}"#,
            r#"["\u0068\u0075nter22", "hunter2\u0032", "\"hunter22\\"]"#,
            r#"[-12345678, 123456789, 1.2345678e7, 12345678.5, 1234567, 1e3, "12345678"]"#,
            r#"["clean", "a \"b\" \\", 0, -1.5e-3, null, true, {"": []}]"#,
        ] {
            let clean: Value = serde_json::from_str(&redactor.scrub_json_text(text)).unwrap();
            assert_eq!(clean, redactor.scrub_json(serde_json::from_str(text).unwrap()), "{text}");
        }
        assert!(matches!(redactor.scrub_json_text(r#"["clean", 12, "\n"]"#), Cow::Borrowed(_)));
        // A lone surrogate must not stop the search in the rest.
        assert!(!redactor.scrub_json_text(r#"["\ud800\u0068unter22"]"#).contains("unter22"));
    }

    #[test]
    fn bounds_are_kept() {
        let redactor = knowing(&["abc"]);
        assert_eq!(redactor.scrub("abc"), "abc");
        assert_eq!(redactor.register("s", &Secret::new("abc")), Ok(Registered::TooShort));
        assert!(redactor.register("l", &Secret::new("x".repeat(MAX_SECRET + 1))).is_err());
        for n in 0..32 {
            let secret = format!("{n:04}").repeat(MAX_SECRET / 4 - 4);
            redactor.register(&format!("b{n}"), &Secret::new(secret)).unwrap();
        }
        assert!(redactor.register("last", &Secret::new("y".repeat(MAX_SECRET))).is_err());
    }

    #[test]
    fn the_secret_before_the_current_one_is_still_known() {
        let redactor = Redactor::new();
        for secret in ["first-one", "second-one", "third-one"] {
            redactor.register("pat", &Secret::new(secret)).unwrap();
        }
        assert_eq!(redactor.scrub("third-one second-one first-one"), "[REDACTED] [REDACTED] first-one");
    }
}
