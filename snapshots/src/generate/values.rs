//! Generation of literals, and of plain data for reading and printing.

use super::{Generator, Type};

const INTS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "-1",
    "-2",
    "10",
    "17",
    "100",
    "-13",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
];
const FLOATS: &[&str] = &[
    "0.5", "1.0", "2.0", "-1.5", "0.0", "-0.0", "3.25", "1e10", "1.5e-7", "100.0", "##Inf", "##-Inf", "##NaN",
];
const STRINGS: &[&str] = &[
    r#""""#,
    r#""a""#,
    r#""b""#,
    r#""hello world""#,
    r#""Zoë""#,
    r#""e\u0301x""#,
    r#""👩‍👧!""#,
    r#""q\"\\\n""#,
    r#""k-1""#,
    r#""10""#,
];
const KEYS: &[&str] = &[":a", ":b", ":c", ":k-1", ":k_1", ":name", ":a/b"];

impl Generator<'_> {
    pub(super) fn int(&mut self) -> String {
        // Mostly small ones, so that counts and indexes stay useful.
        let n = if self.rarely(8) { INTS.len() } else { 10 };
        self.one_of(&INTS[..n]).to_string()
    }

    pub(super) fn key(&mut self) -> String {
        let n = if self.rarely(6) { KEYS.len() } else { 3 };
        self.one_of(&KEYS[..n]).to_string()
    }

    /// Generates a constant of the wanted type, with simple ones first.
    pub(super) fn literal(&mut self, wanted: &Type) -> String {
        match wanted {
            Type::Int => self.int(),
            Type::Float => {
                let n = if self.rarely(6) { FLOATS.len() } else { 7 };
                self.one_of(&FLOATS[..n]).to_string()
            }
            Type::Bool => self.one_of(&["true", "false"]).to_string(),
            Type::Str => self.one_of(STRINGS).to_string(),
            Type::Key => self.key(),
            Type::Any => match self.pick(3) {
                0 => "nil".to_string(),
                1 => self.int(),
                _ => self.literal(&Type::Str),
            },
            Type::List(inner) => {
                let n = self.pick(5);
                format!("[{}]", self.literals(inner, n))
            }
            Type::Set(inner) => {
                let n = self.pick(3);
                format!("#{{{}}}", self.literals(inner, n))
            }
            Type::Map(inner) => {
                let n = self.pick(4);
                let keys = [":a", ":b", ":c"];
                let entries: Vec<String> =
                    keys[..n].iter().map(|key| format!("{key} {}", self.literal(inner))).collect();
                format!("{{{}}}", entries.join(" "))
            }
        }
    }

    fn literals(&mut self, inner: &Type, n: usize) -> String {
        let items: Vec<String> = (0..n).map(|_| self.literal(inner)).collect();
        items.join(" ")
    }

    fn datum(&mut self, depth: usize) -> String {
        match self.pick(if depth == 0 { 8 } else { 12 }) {
            0 => self.one_of(&["nil", "true", "false"]).to_string(),
            1 => {
                let n = INTS.len();
                self.one_of(&INTS[..n]).to_string()
            }
            2 => self.bytes_as_int().to_string(),
            3 => self.float(),
            4 => self.literal(&Type::Str),
            5 => self.text(),
            6 | 7 => self.one_of(KEYS).to_string(),
            8 | 9 => format!("[{}]", self.data(depth)),
            10 => format!("(hash-set {})", self.data(depth)),
            _ => {
                let n = self.pick(4);
                let entries: Vec<String> =
                    (0..n).map(|_| format!("{} {}", self.datum(depth - 1), self.datum(depth - 1))).collect();
                format!("(hash-map {})", entries.join(" "))
            }
        }
    }

    fn data(&mut self, depth: usize) -> String {
        let n = self.pick(5);
        let items: Vec<String> = (0..n).map(|_| self.datum(depth - 1)).collect();
        items.join(" ")
    }

    fn bytes_as_int(&mut self) -> i64 {
        (0..8).fold(0, |acc, _| acc << 8 | self.pick(256) as i64)
    }

    /// Generates any float except NaN, which cannot be read back as an equal value.
    fn float(&mut self) -> String {
        let x = f64::from_bits(self.bytes_as_int() as u64);
        if x.is_finite() { format!("{x:e}") } else { "##-Inf".to_string() }
    }

    /// Generates a string of any characters, including those that must be escaped.
    fn text(&mut self) -> String {
        let n = self.pick(6);
        let mut out = String::from("\"");
        for _ in 0..n {
            let code = (self.pick(256) << 8 | self.pick(256)) as u32;
            match char::from_u32(if self.rarely(3) { code } else { code % 160 }) {
                Some('"') => out.push_str("\\\""),
                Some('\\') => out.push_str("\\\\"),
                Some(c) => out.push(c),
                None => out.push('\u{1F468}'),
            }
        }
        out.push('"');
        out
    }
}

/// Generates an expression whose value is plain data of every kind, without NaN.
pub fn datum(bytes: &[u8]) -> String {
    Generator::new(bytes, false).datum(4)
}
