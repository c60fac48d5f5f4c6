//! Comparison of printed values for the corpus: both texts are parsed, the order of map entries and set members
//! does not matter, and floats may differ in the last digits.
//!
//! The rules are those of the corpus's own `canon.py`; lists count as vectors.

use std::cmp::Ordering;

/// A printed value.
#[derive(Clone, PartialEq, Debug)]
pub enum Printed {
    /// A string.
    Str(String),
    /// An integer as decimal digits, without leading zeros.
    Int(String),
    /// A float.
    Float(f64),
    /// A vector, list or sequence.
    Vector(Vec<Printed>),
    /// A map.
    Map(Vec<(Printed, Printed)>),
    /// A set.
    Set(Vec<Printed>),
    /// A pattern's source.
    Regex(String),
    /// A function, equal to any other function.
    Function,
    /// A word compared literally: `nil`, keywords, symbols, vars, special floats, durations.
    Word(String),
}

use Printed::{Float, Function, Int, Map, Regex, Set, Str, Vector, Word};

/// Returns whether two printed values are equal.
///
/// ```
/// use ptc_snapshots::canon::same;
/// assert_eq!(same("{:a 1 :b (2.0)}", "{:b [2.0000000000001], :a 1}"), Ok(true));
/// assert_eq!(same("2", "2.0"), Ok(false));
/// assert!(same("[1", "[1]").is_err());
/// ```
pub fn same(a: &str, b: &str) -> Result<bool, String> {
    Ok(equal(&parse(a)?, &parse(b)?))
}

/// Parses one printed value.
pub fn parse(text: &str) -> Result<Printed, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip();
    if reader.at < text.len() { Err(format!("trailing text: {}", reader.rest())) } else { Ok(value) }
}

fn equal(a: &Printed, b: &Printed) -> bool {
    match (a, b) {
        (Float(x), Float(y)) => close(*x, *y),
        (Vector(a), Vector(b)) => all_equal(a, b),
        (Set(a), Set(b)) => all_equal(&in_order(a, show), &in_order(b, show)),
        (Map(a), Map(b)) => {
            let key = |entry: &(Printed, Printed)| show(&entry.0);
            let (a, b) = (in_order(a, key), in_order(b, key));
            a.len() == b.len() && a.iter().zip(&b).all(|(x, y)| equal(&x.0, &y.0) && equal(&x.1, &y.1))
        }
        (Float(_) | Vector(_) | Set(_) | Map(_), _) => false,
        _ => a == b,
    }
}

fn all_equal(a: &[Printed], b: &[Printed]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| equal(x, y))
}

fn in_order<T: Clone>(items: &[T], key: impl Fn(&T) -> String) -> Vec<T> {
    let mut items: Vec<(String, T)> = items.iter().map(|item| (key(item), item.clone())).collect();
    items.sort_by(|a, b| a.0.cmp(&b.0));
    items.into_iter().map(|(_, item)| item).collect()
}

/// Returns whether two floats differ by at most 1e-9 times the larger of both and 1; for values below 1e-6,
/// times the larger of both.
fn close(x: f64, y: f64) -> bool {
    let (apart, large, small) = ((x - y).abs(), x.abs().max(y.abs()), x.abs().min(y.abs()));
    x == y || apart <= 1e-9 * large.max(1.0) && (small > 1e-6 || apart <= 1e-9 * large || apart < 1e-12)
}

/// Returns a text by which entries are sorted, so that both sides have one order.
fn show(value: &Printed) -> String {
    let all = |items: &[Printed]| items.iter().map(show).collect::<Vec<_>>().join(" ");
    match value {
        Str(text) => format!("{text:?}"),
        Int(digits) => digits.clone(),
        Float(x) => format!("{x:?}"),
        Vector(items) => format!("[{}]", all(items)),
        Set(items) => {
            let mut items: Vec<String> = items.iter().map(show).collect();
            items.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
            format!("#{{{}}}", items.join(" "))
        }
        Map(entries) => {
            let mut entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{} {}", show(key), show(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(" "))
        }
        Regex(source) => format!("#\"{source}\""),
        Function => "#fn".to_string(),
        Word(word) => word.clone(),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

/// Maximum nesting depth of compared values; no case of the corpus nests as deeply.
const MAX_DEPTH: usize = 500;

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        let blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | ',');
        self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
    }

    /// Skips `prefix` if the text continues with it; returns whether it does.
    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        self.at += if found { prefix.len() } else { 0 };
        found
    }

    fn value(&mut self) -> Result<Printed, String> {
        self.skip();
        match self.peek().ok_or("unexpected end")? {
            '"' => {
                self.at += 1;
                self.string().map(Str)
            }
            '[' | '(' => {
                let close = if self.take("[") {
                    "]"
                } else {
                    self.at += 1;
                    ")"
                };
                self.items(close).map(Vector)
            }
            '{' => {
                self.at += 1;
                let items = self.items("}")?;
                if items.len() % 2 == 1 {
                    return Err("a map with an odd number of forms".into());
                }
                Ok(Map(items.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()))
            }
            '#' => self.dispatch(),
            _ => self.word(),
        }
    }

    fn items(&mut self, close: &str) -> Result<Vec<Printed>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("nested too deep".into());
        }
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.take(close) {
                self.depth -= 1;
                return Ok(items);
            }
            items.push(self.value()?);
        }
    }

    /// Reads a string whose opening quote has already been read.
    fn string(&mut self) -> Result<String, String> {
        let mut out = String::new();
        loop {
            let c = self.peek().ok_or("unterminated string")?;
            self.at += c.len_utf8();
            if c == '"' {
                return Ok(out);
            }
            out.push(if c == '\\' { self.escape()? } else { c });
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let c = self.peek().ok_or("unterminated string")?;
        self.at += c.len_utf8();
        Ok(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'e' => '\u{1b}',
            'a' => '\u{7}',
            '0' => '\0',
            '\\' | '"' | '#' => c,
            'u' => {
                let digits = self.rest().get(..4).ok_or("a cut \\u escape")?;
                self.at += 4;
                let code = u32::from_str_radix(digits, 16).map_err(|_| format!("bad escape \\u{digits}"))?;
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(format!("bad escape \\{c}")),
        })
    }

    /// Reads a value that starts with `#`.
    fn dispatch(&mut self) -> Result<Printed, String> {
        if self.take("#{") {
            return self.items("}").map(Set);
        }
        if self.take("#\"") {
            return self.regex();
        }
        for special in ["##-Inf", "##Inf", "##NaN"] {
            if self.take(special) {
                return Ok(Word(special.into()));
            }
        }
        if self.rest().starts_with("#'") {
            self.at += 2;
            let name = self.plain();
            return Ok(Word(format!("#'{name}")));
        }
        if self.take("#fn") {
            if self.rest().starts_with('[') {
                self.up_to(']')?;
            }
            return Ok(Function);
        }
        if self.rest().starts_with("#<") {
            self.up_to('>')?;
            return Ok(Function);
        }
        if self.rest().starts_with("#duration[") {
            return self.up_to(']').map(|text| Word(text.into()));
        }
        Err(format!("unknown syntax at {}", self.rest()))
    }

    fn regex(&mut self) -> Result<Printed, String> {
        let start = self.at;
        loop {
            let c = self.peek().ok_or("unterminated pattern")?;
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(Regex(self.text[start..self.at - 1].into())),
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                _ => {}
            }
        }
    }

    /// Returns the text up to and including `end`.
    fn up_to(&mut self, end: char) -> Result<&'t str, String> {
        let len = self.rest().find(end).ok_or_else(|| format!("no `{end}`"))? + 1;
        let text = &self.rest()[..len];
        self.at += len;
        Ok(text)
    }

    /// Returns the text up to the next delimiter.
    fn plain(&mut self) -> &'t str {
        let ends = |c: char| " \t\r\n,[](){}\"#;".contains(c);
        let len = self.rest().find(ends).unwrap_or(self.rest().len());
        let text = &self.rest()[..len];
        self.at += len;
        text
    }

    fn word(&mut self) -> Result<Printed, String> {
        let word = self.plain();
        if word.is_empty() {
            return Err(format!("stray {}", self.rest()));
        }
        let unsigned = word.trim_start_matches(['+', '-']);
        if word.len() - unsigned.len() > 1 || !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Word(word.into()));
        }
        let number = word.trim_end_matches('N');
        if unsigned.trim_end_matches('N').bytes().all(|b| b.is_ascii_digit()) {
            let digits = unsigned.trim_end_matches('N').trim_start_matches('0');
            let digits = if digits.is_empty() { "0" } else { digits };
            let sign = if word.starts_with('-') && digits != "0" { "-" } else { "" };
            return Ok(Int(format!("{sign}{digits}")));
        }
        number.parse().map(Float).map_err(|_| format!("bad number {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, same};

    #[test]
    fn order_and_notation_do_not_matter() {
        for (a, b) in [
            ("#{3 1 2}", "#{1 2 3}"),
            ("{:b {2 3, 1 2} :a 1}", "{:a 1 :b {1 2 2 3}}"),
            ("1.0E10", "10000000000.0"),
            ("[0.1 nil]", "(0.10000000001 nil)"),
            ("#fn[x y]", "#fn"),
            ("#<fn f>", "#fn"),
            ("\"\\u0041\\n\"", "\"A\\n\""),
            ("007", "7N"),
        ] {
            assert_eq!(same(a, b), Ok(true), "{a} {b}");
        }
    }

    #[test]
    fn differences_are_seen() {
        for (a, b) in [
            ("1", "1.0"),
            ("0.1", "0.1001"),
            ("[1 2]", "[2 1]"),
            ("#{1}", "[1]"),
            ("{:a 1}", "{:a 2}"),
            ("\"a\"", ":a"),
            ("##Inf", "##-Inf"),
            ("1e-7", "1.1e-7"),
            ("#'a", "#'b"),
        ] {
            assert_eq!(same(a, b), Ok(false), "{a} {b}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "[", "{1}", "\"a", "#?", "1 2", "12ab", ")", "\"\\q\""] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
