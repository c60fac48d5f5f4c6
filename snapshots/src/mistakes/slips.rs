//! Slips: correct programs with one mistake.

use super::Right;
use bumpalo::Bump;
use ptc_compiler::{Form, FormKind, parse};
use ptc_runtime::Limits;
use serde_json::Value;
use std::collections::BTreeSet;

/// Kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A wrong letter in a field of the data.
    Field,
    /// A wrong letter in the name of granted data.
    Data,
    /// A wrong letter in the name of a function.
    Function,
    /// The last two arguments of a call swapped.
    Order,
    /// One argument too many.
    Arity,
    /// A string in place of a number.
    Type,
    /// nil in place of a number.
    Nil,
    /// A closing bracket missing, or one too many.
    Bracket,
    /// A wrong letter in a string that is compared.
    Literal,
}

impl Kind {
    /// All kinds of mistakes.
    pub const ALL: &'static [Kind] = &[
        Kind::Field,
        Kind::Data,
        Kind::Function,
        Kind::Order,
        Kind::Arity,
        Kind::Type,
        Kind::Nil,
        Kind::Bracket,
        Kind::Literal,
    ];
}

/// A program with a slip.
#[derive(Clone, Debug)]
pub struct Slip {
    /// Kind of the mistake.
    pub kind: Kind,
    /// Source of the program.
    pub program: String,
    /// The correct name.
    pub right_name: String,
}

/// Returns all programs made by adding one slip to a correct program.
///
/// # Panics
///
/// If the program does not parse, so that it is not correct.
pub fn slips(right: &Right) -> Vec<Slip> {
    let mut fields = BTreeSet::new();
    for (_, json) in &right.data {
        collect_keys(&serde_json::from_str(json).unwrap_or_default(), &mut fields);
    }
    let arena = Bump::new();
    let forms = parse(&right.program, &arena, &Limits::default()).expect("a right program parses");
    let mut slips = Slips { program: &right.program, fields, all: Vec::new() };
    forms.iter().for_each(|form| slips.visit(form, Around::Anything));
    slips.brackets();
    slips.all
}

/// Position of a form in its parent.
#[derive(Clone, Copy)]
enum Around<'a> {
    Anything,
    /// The function of a call.
    Callee,
    /// An argument of a call.
    Argument(&'a str),
    /// A key of a map literal, which is written and not looked up.
    Key,
}

struct Slips<'p> {
    program: &'p str,
    /// Names of fields of the data.
    fields: BTreeSet<String>,
    all: Vec<Slip>,
}

impl Slips<'_> {
    fn visit(&mut self, form: &Form<'_>, around: Around<'_>) {
        match form.kind {
            FormKind::List(items) | FormKind::ShortFn(items) => {
                let callee = match items.first().map(|first| first.kind) {
                    Some(FormKind::Symbol(name)) => name,
                    _ => "",
                };
                for (i, item) in items.iter().enumerate() {
                    self.visit(item, if i == 0 { Around::Callee } else { Around::Argument(callee) });
                }
                self.arguments(callee, items);
            }
            FormKind::Vector(items) | FormKind::Set(items) => {
                items.iter().for_each(|item| self.visit(item, Around::Anything));
            }
            FormKind::Map(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.visit(item, if i % 2 == 0 { Around::Key } else { Around::Anything });
                }
            }
            FormKind::Quote(inner) => self.visit(inner, Around::Anything),
            FormKind::Symbol(name) => match (name.strip_prefix("data/"), around) {
                (Some(data), _) => self.misspell(Kind::Data, form, "data/", data, ""),
                (None, Around::Callee) => self.misspell(Kind::Function, form, "", name, ""),
                _ => {}
            },
            FormKind::Keyword(name) => {
                let is_written = match around {
                    Around::Key => true,
                    Around::Argument(callee) => matches!(callee, "assoc" | "assoc-in" | "conj" | "hash-map"),
                    _ => false,
                };
                if !is_written && self.fields.contains(&spelled(name)) {
                    self.misspell(Kind::Field, form, ":", name, "");
                }
            }
            FormKind::Str(text) if matches!(around, Around::Argument("=" | "not=")) => {
                self.misspell(Kind::Literal, form, "\"", text, "\"");
            }
            FormKind::Int(n) => {
                for (kind, wrong) in [(Kind::Type, "\"many\""), (Kind::Nil, "nil")] {
                    self.replace(kind, form, wrong, &n.to_string());
                }
            }
            _ => {}
        }
    }

    fn replace(&mut self, kind: Kind, form: &Form<'_>, text: &str, right_name: &str) {
        let (start, end) = (form.span.start as usize, form.span.end as usize);
        let program = format!("{}{text}{}", &self.program[..start], &self.program[end..]);
        self.all.push(Slip { kind, program, right_name: right_name.to_string() });
    }

    fn misspell(&mut self, kind: Kind, form: &Form<'_>, before: &str, name: &str, after: &str) {
        for wrong in misspelt(name, u64::from(form.span.start)) {
            // A slip that gives another existing name makes another correct program.
            if !self.fields.contains(&spelled(&wrong)) {
                self.replace(kind, form, &format!("{before}{wrong}{after}"), name);
            }
        }
    }

    fn brackets(&mut self) {
        let program = self.program;
        let mut slip = |program: String| {
            self.all.push(Slip { kind: Kind::Bracket, program, right_name: ")".to_string() });
        };
        slip(format!("{program})"));
        if let Some(at) = program.rfind(')') {
            slip(format!("{}{}", &program[..at], &program[at + 1..]));
        }
    }

    /// Adds calls with the last two arguments swapped, and with one too many.
    fn arguments(&mut self, callee: &str, items: &[Form<'_>]) {
        let [first, .., a, b] = items else { return };
        let is_free = matches!(
            callee,
            "" | "+"
                | "*"
                | "="
                | "not="
                | "max"
                | "min"
                | "and"
                | "or"
                | "str"
                | "recur"
                | "do"
                | "vector"
                | "concat"
        );
        if is_free || ptc_bytecode::lookup(callee).is_none() || a.span.end <= first.span.start {
            return;
        }
        let text = |form: &Form<'_>| form.span.text(self.program).to_string();
        let (x, y) = (text(a), text(b));
        let between = &self.program[a.span.end as usize..b.span.start as usize];
        let both = Form {
            span: ptc_bytecode::Span::new(a.span.start as usize, b.span.end as usize),
            kind: FormKind::Nil,
        };
        let (swapped, surplus) = (format!("{y}{between}{x}"), format!("{x}{between}{y} {y} {y} {y}"));
        if x != y {
            self.replace(Kind::Order, &both, &swapped, callee);
        }
        self.replace(Kind::Arity, &both, &surplus, callee);
    }
}

fn spelled(name: &str) -> String {
    name.replace('-', "_")
}

fn collect_keys(json: &Value, keys: &mut BTreeSet<String>) {
    match json {
        Value::Object(map) => {
            for (key, value) in map {
                keys.insert(spelled(key));
                collect_keys(value, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

/// Returns a name with one letter wrong, in three ways.
fn misspelt(name: &str, seed: u64) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() < 3 || !letters.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '?'))
    {
        return Vec::new();
    }
    let at = 1 + (seed as usize * 7 + letters.len()) % (letters.len() - 1);
    let mut dropped = letters.clone();
    dropped.remove(at);
    let mut swapped = letters.clone();
    swapped.swap(at - 1, at);
    let mut replaced = letters.clone();
    replaced[at] = if letters[at] == 'x' { 'q' } else { 'x' };
    let wrong: BTreeSet<String> =
        [dropped, swapped, replaced].into_iter().map(|word| word.into_iter().collect()).collect();
    wrong.into_iter().filter(|wrong| wrong != name).collect()
}
