//! Generation of literals.

use super::generator::Generator;
use super::types::Type;

/// Fields of a record, with their types.
pub const FIELDS: &[(&str, Type)] = &[
    ("id", Type::Int),
    ("title", Type::Word),
    ("qty", Type::Index),
    ("dept", Type::Key),
    ("price", Type::Float),
    ("ok", Type::Bool),
];

impl Generator<'_> {
    /// Generates a literal; its parts may be expressions.
    pub(super) fn literal(&mut self, of: &Type) -> String {
        match of {
            Type::Int | Type::Var(_) => match self.vary(12) {
                0..=7 => self.vary(13).to_string(),
                8 => self.vary(2000).to_string(),
                9 | 10 => format!("-{}", 1 + self.vary(20)),
                _ => self.some_of(&["100", "1000000", "-7", "255", "3000000000"]).to_string(),
            },
            Type::Index => self.vary(8).to_string(),
            Type::Float => self
                .some_of(&["0.0", "1.0", "0.5", "2.5", "-1.5", "3.25", "10.0", "1.0E7", "0.001", "-0.25"])
                .into(),
            Type::Word => self
                .some_of(&["\"\"", "\"a\"", "\"b\"", "\"ab\"", "\"xyz\"", "\"Foo\"", "\"a b\"", "\"z9\""])
                .into(),
            Type::Str => self
                .some_of(&[
                    "\"\"",
                    "\"a\"",
                    "\"abc\"",
                    "\"a,b,c\"",
                    "\"Hello World\"",
                    "\" pad \"",
                    "\"x1y22\"",
                    "\"aab\"",
                    "\"one two  three\"",
                    "\"A-b_c\"",
                    "\"q\\\"t\"",
                    "\"l1\\nl2\"",
                    "\"12\"",
                    "\"-3.5\"",
                ])
                .into(),
            Type::Char => self.some_of(&["\\a", "\\b", "\\Z", "\\space", "\\1", "\\-"]).into(),
            Type::Key => self.some_of(&[":a", ":b", ":c", ":d", ":x", ":id", ":name", ":k2"]).into(),
            Type::Bool | Type::Test => self.some_of(&["true", "false"]).into(),
            Type::Nil => "nil".into(),
            Type::Opt(inner) => {
                if self.vary(3) == 0 {
                    "nil".into()
                } else {
                    self.literal(inner)
                }
            }
            Type::Record => self.record(),
            Type::Vec(item) | Type::Seq(item) => {
                let items: Vec<String> =
                    (0..[2, 1, 3, 0, 4, 5][self.vary(6)]).map(|_| self.item(item)).collect();
                format!("[{}]", items.join(" "))
            }
            Type::Pair(a, b) => format!("[{} {}]", self.item(a), self.item(b)),
            Type::Set(item) => {
                let items = (0..[2, 1, 3, 0, 4][self.vary(5)]).map(|_| self.literal(item)).collect();
                format!("#{{{}}}", distinct(items).join(" "))
            }
            Type::Map(key, value) => {
                let keys: Vec<String> =
                    distinct((0..[2, 1, 3, 0, 4][self.vary(5)]).map(|_| self.literal(key)).collect());
                let entries: Vec<String> =
                    keys.into_iter().map(|key| format!("{key} {}", self.item(value))).collect();
                format!("{{{}}}", entries.join(" "))
            }
            Type::Xform(a, b) if a == b => "(map identity)".into(),
            Type::Xform(a, b) => {
                let f = self.function(std::slice::from_ref(a), b);
                format!("(map {f})")
            }
        }
    }

    /// Generates an item of a collection literal.
    pub(super) fn item(&mut self, of: &Type) -> String {
        if self.pick(6) == 5 { self.expr(of) } else { self.literal(of) }
    }

    pub(super) fn record(&mut self) -> String {
        let mut entries = Vec::new();
        for (field, of) in FIELDS {
            // A field may be absent or nil.
            match self.vary(12) {
                11 => {}
                10 => entries.push(format!(":{field} nil")),
                _ => entries.push(format!(":{field} {}", self.literal(of))),
            }
        }
        format!("{{{}}}", entries.join(" "))
    }
}

fn distinct(items: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
