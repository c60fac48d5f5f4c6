//! Generates programs that both languages should answer alike, from bytes: equal bytes give equal programs, and
//! fewer or smaller bytes give smaller ones.

use super::tables::{PRODUCTIONS, STATEMENTS};
use super::template::{Part, read};
use super::types::{Bindings, Type, parse};
use std::sync::LazyLock;

/// A template for an expression of a type.
struct Production {
    result: Type,
    parts: Vec<Part>,
}

fn productions(table: &[(&str, &str)]) -> Vec<Production> {
    let row = |(result, text): &(&str, &str)| Production { result: parse(&mut &**result), parts: read(text) };
    table.iter().map(row).collect()
}

static TABLE: LazyLock<Vec<Production>> =
    LazyLock::new(|| PRODUCTIONS.iter().flat_map(|table| productions(table)).collect());
static EFFECTS: LazyLock<Vec<Vec<Part>>> =
    LazyLock::new(|| STATEMENTS.iter().map(|text| read(text)).collect());

/// Generator of one program.
pub struct Generator<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) locals: Vec<(String, Type)>,
    pub(super) functions: Vec<(String, Vec<Type>, Type)>,
    names: usize,
    pub(super) in_short_fn: bool,
    pub(super) depth: usize,
    pub(super) max_depth: usize,
    pub(super) spent: usize,
}

/// Returns the bytes for the program of this seed.
pub fn bytes(seed: u64) -> Vec<u8> {
    let mut more = crate::generate::bytes(seed);
    more.extend(crate::generate::bytes(!seed));
    more
}

/// Generates the program for these bytes.
///
/// ```
/// use ptc_snapshots::clojure::program;
/// assert_eq!(program(&[]), "3");
/// assert_eq!(program(&[9, 8, 7, 250, 17]), program(&[9, 8, 7, 250, 17]));
/// ```
pub fn program(bytes: &[u8]) -> String {
    let mut g = Generator {
        bytes,
        locals: vec![],
        functions: vec![],
        names: 0,
        in_short_fn: false,
        depth: 0,
        max_depth: 4,
        spent: 0,
    };
    let (definitions, results, prints) = (g.pick(3), 1 + g.pick(7), g.pick(6) == 5);
    // Each part gets its share of the bytes, so that the first does not use up all of them.
    let parts = definitions + results + usize::from(prints);
    let rest = std::mem::take(&mut g.bytes);
    let mut shares = rest.chunks((rest.len() / parts).max(1)).chain(std::iter::repeat(&[][..]));
    let mut forms: Vec<String> = Vec::new();
    for _ in 0..definitions {
        g.bytes = shares.next().unwrap_or_default();
        let form = g.definition();
        forms.push(form);
    }
    if prints {
        g.bytes = shares.next().unwrap_or_default();
        let row = &EFFECTS[g.pick(EFFECTS.len())];
        let form = g.fill(row, &mut Bindings::new());
        forms.push(form);
    }
    let mut values: Vec<String> = Vec::new();
    for _ in 0..results {
        g.bytes = shares.next().unwrap_or_default();
        // Shallow programs show most of what they compute.
        g.max_depth = 2 + g.pick(4);
        let wanted = g.some_type(2);
        let value = g.expr(&wanted);
        values.push(value);
    }
    forms.push(if results == 1 { values.remove(0) } else { format!("[{}]", values.join("\n ")) });
    forms.join("\n")
}

impl Generator<'_> {
    /// Returns a choice below `n`; the first if the bytes are used up.
    pub(super) fn pick(&mut self, n: usize) -> usize {
        let mut next = || match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                usize::from(*first)
            }
            None => 0,
        };
        let high = if n > 64 { next() << 8 } else { 0 };
        (high + next()) % n.max(1)
    }

    /// Returns a choice below `n` as [`Self::pick`] does, but keeps varying after the bytes are used up: a
    /// program of equal numbers and empty collections shows little.
    pub(super) fn vary(&mut self, n: usize) -> usize {
        if self.bytes.is_empty() {
            self.spent += 1;
            return self.spent * 7 % 11 % n.max(1);
        }
        self.pick(n)
    }

    pub(super) fn some_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.vary(texts.len())]
    }

    pub(super) fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.pick(texts.len())]
    }

    pub(super) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn some_type(&mut self, depth: usize) -> Type {
        let smaller = depth.saturating_sub(1);
        match self.pick(if depth == 0 { 10 } else { 22 }) {
            0 | 1 => Type::Int,
            2 => Type::Str,
            3 => Type::Key,
            4 => Type::Bool,
            5 => Type::Float,
            6 => Type::Index,
            7 => Type::Word,
            8 => Type::Record,
            9 => Type::Int,
            10..=12 => Type::Seq(Box::new(self.some_type(smaller))),
            13..=15 => Type::Vec(Box::new(self.some_type(smaller))),
            16 | 17 => Type::Map(Box::new(self.var_type('K')), Box::new(self.some_type(smaller))),
            18 => Type::Set(Box::new(self.var_type('S'))),
            19 => Type::Pair(Box::new(self.some_type(smaller)), Box::new(self.some_type(smaller))),
            20 => Type::Char,
            _ => Type::Opt(Box::new(self.some_type(smaller))),
        }
    }

    pub(super) fn var_type(&mut self, name: char) -> Type {
        match name {
            'K' => [Type::Key, Type::Index, Type::Word][self.pick(3)].clone(),
            'S' => [Type::Int, Type::Str, Type::Key, Type::Float, Type::Index][self.pick(5)].clone(),
            'N' => [Type::Int, Type::Float][self.pick(2)].clone(),
            _ => self.some_type(if self.depth > 3 { 0 } else { 1 }),
        }
    }

    pub(super) fn bind(&mut self, of: &Type, bound: &mut Bindings) -> Type {
        let mut missing = Vec::new();
        variables(of, &mut missing);
        for name in missing {
            if !bound.iter().any(|(known, _)| *known == name) {
                let chosen = self.var_type(name);
                bound.push((name, chosen));
            }
        }
        of.under(bound)
    }

    /// Runs `write` with these locals in scope.
    pub(super) fn with<T>(&mut self, locals: Vec<(String, Type)>, write: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.locals.len();
        self.locals.extend(locals);
        let text = write(self);
        self.locals.truncate(known);
        text
    }

    /// Returns a local of a suitable type; later ones come first.
    pub(super) fn local(&mut self, wanted: &Type) -> Option<String> {
        let fits = |(_, known): &&(String, Type)| known.serves(wanted, &mut Bindings::new());
        // Only the latest local of a name is visible.
        let mut names: Vec<String> = Vec::new();
        for (at, local) in self.locals.iter().enumerate().rev() {
            let is_shadowed = self.locals[at + 1..].iter().any(|(name, _)| *name == local.0);
            if fits(&local) && !is_shadowed {
                names.push(local.0.clone());
            }
        }
        if names.is_empty() { None } else { Some(names[self.pick(names.len())].clone()) }
    }

    /// Generates an expression of the wanted type.
    pub(super) fn expr(&mut self, wanted: &Type) -> String {
        if self.depth >= self.max_depth || self.bytes.is_empty() {
            let from_scope = self.bytes.is_empty() || self.pick(4) != 0;
            let local = if from_scope { self.local(wanted) } else { None };
            return local.unwrap_or_else(|| self.literal(wanted));
        }
        self.depth += 1;
        let text = match self.pick(16) {
            0 | 1 => self.literal(wanted),
            2..=5 => self.local(wanted).unwrap_or_else(|| self.produced(wanted)),
            6 | 7 => self.known_call(wanted),
            _ => self.produced(wanted),
        };
        self.depth -= 1;
        text
    }

    pub(super) fn produced(&mut self, wanted: &Type) -> String {
        // Sometimes another type than wanted, so that faults are covered.
        if self.pick(200) == 199 {
            let other = match self.some_type(1) {
                // Their known differences would hide all others.
                Type::Char | Type::Set(_) => Type::Nil,
                other => other,
            };
            return self.expr(&other);
        }
        let fitting: Vec<(&Production, Bindings)> = TABLE
            .iter()
            .filter_map(|row| {
                let mut bound = Bindings::new();
                row.result.serves(wanted, &mut bound).then_some((row, bound))
            })
            .collect();
        if fitting.is_empty() {
            return self.literal(wanted);
        }
        // Rows that fit every type would crowd out the others.
        let own = fitting.iter().filter(|(row, _)| !matches!(row.result, Type::Var(_))).count();
        let at =
            if own > 0 && self.pick(3) > 0 { self.pick(own) } else { own + self.pick(fitting.len() - own) };
        let is_own = |row: &Production| !matches!(row.result, Type::Var(_));
        let (mine, general): (Vec<_>, Vec<_>) = fitting.into_iter().partition(|(row, _)| is_own(row));
        let mut all = mine;
        all.extend(general);
        let last = all.len() - 1;
        let (row, mut bound) = all.swap_remove(at.min(last));
        self.fill(&row.parts, &mut bound)
    }

    pub(super) fn fill(&mut self, parts: &[Part], bound: &mut Bindings) -> String {
        let mut names: Vec<(char, String)> = Vec::new();
        let mut text = String::new();
        for part in parts {
            let mut fresh =
                |g: &mut Self, letter: char| match names.iter().find(|(known, _)| *known == letter) {
                    Some((_, name)) => name.clone(),
                    None => {
                        let name = g.name(&letter.to_string());
                        names.push((letter, name.clone()));
                        name
                    }
                };
            match part {
                Part::Text(plain) => text += plain,
                Part::Name(letter) => text += &fresh(self, *letter),
                Part::Count => text += &self.count(),
                Part::Expr(scope, of) => {
                    let mut locals = Vec::new();
                    for (letter, of) in scope {
                        let of = self.bind(of, bound);
                        locals.push((fresh(self, *letter), of));
                    }
                    let of = self.bind(of, bound);
                    text += &self.with(locals, |g| g.expr(&of));
                }
                Part::Function(params, result) => {
                    let params: Vec<Type> = params.iter().map(|param| self.bind(param, bound)).collect();
                    let result = self.bind(result, bound);
                    text += &self.function(&params, &result);
                }
            }
        }
        text
    }

    pub(super) fn count(&mut self) -> String {
        match self.pick(12) {
            11 => format!("(mod {} 7)", self.expr(&Type::Int)),
            10 => self.one_of(&["0", "10", "-1"]).to_string(),
            n => (1 + n % 5).to_string(),
        }
    }

    pub(super) fn known_call(&mut self, wanted: &Type) -> String {
        let fits = |known: &&(String, Vec<Type>, Type)| known.2.serves(wanted, &mut Bindings::new());
        let fitting: Vec<_> = self.functions.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return self.produced(wanted);
        }
        let (name, params, _) = &fitting[self.pick(fitting.len())];
        let args: Vec<String> = params.iter().map(|param| format!(" {}", self.expr(param))).collect();
        format!("({name}{})", args.concat())
    }
}

fn variables(of: &Type, found: &mut Vec<char>) {
    match of {
        Type::Var(name) => found.push(*name),
        Type::Vec(a) | Type::Seq(a) | Type::Set(a) | Type::Opt(a) => variables(a, found),
        Type::Map(a, b) | Type::Pair(a, b) | Type::Xform(a, b) => {
            variables(a, found);
            variables(b, found);
        }
        _ => {}
    }
}
