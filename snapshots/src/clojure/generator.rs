//! Writes programs both languages should answer alike, from bytes: the same bytes give the same
//! program, fewer or smaller bytes a smaller one.

use super::functions::FUNCTIONS;
use super::tables::{PRODUCTIONS, STATEMENTS};
use super::template::{Part, read};
use super::types::{Bindings, Type, parse};
use std::sync::LazyLock;

/// A way to write something of a type.
struct Production {
    result: Type,
    parts: Vec<Part>,
}

struct Ready {
    params: Vec<Type>,
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
static READY: LazyLock<Vec<Ready>> = LazyLock::new(|| {
    let row = |(signature, text): &(&str, &str)| {
        let (mut params, mut result) = signature.split_once('>').expect("a function type");
        let mut types = Vec::new();
        while !params.is_empty() {
            types.push(parse(&mut params));
        }
        Ready { params: types, result: parse(&mut result), parts: read(text) }
    };
    FUNCTIONS.iter().map(row).collect()
});

/// The fields of a record.
const FIELDS: &[(&str, Type)] = &[
    ("id", Type::Int),
    ("title", Type::Word),
    ("qty", Type::Index),
    ("dept", Type::Key),
    ("price", Type::Float),
    ("ok", Type::Bool),
];

/// Writes one program.
pub struct Generator<'b> {
    bytes: &'b [u8],
    locals: Vec<(String, Type)>,
    functions: Vec<(String, Vec<Type>, Type)>,
    names: usize,
    in_short_fn: bool,
    depth: usize,
    max_depth: usize,
    spent: usize,
}

/// Bytes for the program of this seed.
pub fn bytes(seed: u64) -> Vec<u8> {
    let mut more = crate::generate::bytes(seed);
    more.extend(crate::generate::bytes(!seed));
    more
}

/// The program these bytes stand for.
///
/// ```
/// use ptc_snapshots::clojure::program;
/// assert_eq!(program(&[]), "0");
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
    // Every part gets its share, so that the first does not use up all.
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
    /// A choice below `n`; the first when the bytes are used up.
    fn pick(&mut self, n: usize) -> usize {
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

    /// As [`Self::pick`], but goes on when the bytes are used up: a program of equal numbers and
    /// empty collections tells little.
    fn vary(&mut self, n: usize) -> usize {
        if self.bytes.is_empty() {
            self.spent += 1;
            return self.spent * 7 % 11 % n.max(1);
        }
        self.pick(n)
    }

    fn some_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.vary(texts.len())]
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.pick(texts.len())]
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn some_type(&mut self, depth: usize) -> Type {
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

    fn var_type(&mut self, name: char) -> Type {
        match name {
            'K' => [Type::Key, Type::Index, Type::Word][self.pick(3)].clone(),
            'S' => [Type::Int, Type::Str, Type::Key, Type::Float, Type::Index][self.pick(5)].clone(),
            'N' => [Type::Int, Type::Float][self.pick(2)].clone(),
            _ => self.some_type(if self.depth > 3 { 0 } else { 1 }),
        }
    }

    fn bind(&mut self, of: &Type, bound: &mut Bindings) -> Type {
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

    /// Writes with these locals in scope.
    fn with<T>(&mut self, locals: Vec<(String, Type)>, write: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.locals.len();
        self.locals.extend(locals);
        let text = write(self);
        self.locals.truncate(known);
        text
    }

    /// A local that serves, later ones first.
    fn local(&mut self, wanted: &Type) -> Option<String> {
        let fits = |(_, known): &&(String, Type)| known.serves(wanted, &mut Bindings::new());
        // Only the latest local of a name is seen.
        let mut names: Vec<String> = Vec::new();
        for (at, local) in self.locals.iter().enumerate().rev() {
            let is_shadowed = self.locals[at + 1..].iter().any(|(name, _)| *name == local.0);
            if fits(&local) && !is_shadowed {
                names.push(local.0.clone());
            }
        }
        if names.is_empty() { None } else { Some(names[self.pick(names.len())].clone()) }
    }

    /// An expression that is meant to give `wanted`.
    fn expr(&mut self, wanted: &Type) -> String {
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

    fn produced(&mut self, wanted: &Type) -> String {
        // Something else than wanted, so that faults are met.
        if self.pick(200) == 199 {
            let other = match self.some_type(1) {
                // Their differences would be all that is seen.
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
        // Rows that fit everything would drown the others.
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

    fn fill(&mut self, parts: &[Part], bound: &mut Bindings) -> String {
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

    fn count(&mut self) -> String {
        match self.pick(12) {
            11 => format!("(mod {} 7)", self.expr(&Type::Int)),
            10 => self.one_of(&["0", "10", "-1"]).to_string(),
            n => (1 + n % 5).to_string(),
        }
    }

    /// A function value.
    fn function(&mut self, params: &[Type], result: &Type) -> String {
        match self.pick(10) {
            0..=3 => {
                let fitting: Vec<(&Ready, Bindings)> = READY
                    .iter()
                    .filter_map(|row| {
                        let mut bound = Bindings::new();
                        let fits = row.params.len() == params.len()
                            && row.result.serves(result, &mut bound)
                            && row.params.iter().zip(params).all(|(mine, given)| {
                                // A variable takes what is given; a plain type must be served by it.
                                match mine {
                                    Type::Var(_) => mine.serves(given, &mut bound),
                                    _ => {
                                        given.serves(&mine.under(&bound), &mut Bindings::new())
                                            || mine.serves(given, &mut bound)
                                    }
                                }
                            });
                        fits.then_some((row, bound))
                    })
                    .collect();
                if fitting.is_empty() {
                    return self.lambda(params, result);
                }
                let last = fitting.len();
                let (row, mut bound) = fitting.into_iter().nth(self.pick(last)).expect("one of them");
                self.fill(&row.parts, &mut bound)
            }
            4 => {
                let fits = |known: &&(String, Vec<Type>, Type)| known.1 == params && known.2 == *result;
                match self.functions.iter().find(fits) {
                    Some(known) => known.0.clone(),
                    None => self.lambda(params, result),
                }
            }
            5 | 6 if !self.in_short_fn => self.short_fn(params, result),
            7 if params.len() == 1 && self.depth < self.max_depth => {
                self.depth += 1;
                let middle = self.some_type(0);
                let inner = self.function(params, &middle);
                let outer = self.function(&[middle], result);
                self.depth -= 1;
                format!("(comp {outer} {inner})")
            }
            8 if self.depth < self.max_depth => {
                self.depth += 1;
                let first = self.some_type(0);
                let value = self.expr(&first);
                let mut all = vec![first];
                all.extend_from_slice(params);
                let inner = self.function(&all, result);
                self.depth -= 1;
                format!("(partial {inner} {value})")
            }
            _ => self.lambda(params, result),
        }
    }

    fn lambda(&mut self, params: &[Type], result: &Type) -> String {
        let (list, names) = self.params(params);
        let body = self.with(names, |g| g.expr(result));
        format!("(fn [{list}] {body})")
    }

    /// A parameter list for these types, some of them taken apart.
    fn params(&mut self, types: &[Type]) -> (String, Vec<(String, Type)>) {
        let mut names = Vec::new();
        let list: Vec<String> = types.iter().map(|of| self.pattern(of, &mut names)).collect();
        (list.join(" "), names)
    }

    /// A pattern for a value of this type.
    fn pattern(&mut self, of: &Type, names: &mut Vec<(String, Type)>) -> String {
        let plain = self.name("x");
        let opt = |of: &Type| Type::Opt(Box::new(of.clone()));
        let deep = names.len() < 6 && self.pick(2) == 1;
        match of {
            Type::Pair(a, b) if deep => {
                let (a, b) = (self.pattern(a, names), self.pattern(b, names));
                format!("[{a} {b}]")
            }
            Type::Vec(item) | Type::Seq(item) if deep => {
                let rest = self.name("r");
                names.push((plain.clone(), opt(item)));
                match self.pick(4) {
                    0 => format!("[{plain}]"),
                    1 => {
                        names.push((rest.clone(), of.clone()));
                        format!("[{plain} :as {rest}]")
                    }
                    2 => {
                        let second = self.name("y");
                        names.push((second.clone(), opt(item)));
                        names.push((rest.clone(), Type::Opt(Box::new(Type::Seq(item.clone())))));
                        format!("[{plain} {second} & {rest}]")
                    }
                    _ => {
                        names.push((rest.clone(), Type::Opt(Box::new(Type::Seq(item.clone())))));
                        format!("[{plain} & {rest}]")
                    }
                }
            }
            Type::Record if deep => {
                let (one, two) = (&FIELDS[self.pick(FIELDS.len())], &FIELDS[self.pick(FIELDS.len())]);
                names.push((one.0.to_string(), one.1.clone()));
                match self.pick(3) {
                    0 => format!("{{:keys [{}]}}", one.0),
                    1 => {
                        names.push((plain.clone(), two.1.clone()));
                        format!("{{{plain} :{} :keys [{}]}}", two.0, one.0)
                    }
                    _ => {
                        names.push((plain.clone(), Type::Record));
                        let default = self.literal(&one.1);
                        format!("{{:keys [{0}] :or {{{0} {default}}} :as {plain}}}", one.0)
                    }
                }
            }
            Type::Map(key, value) if deep && **key == Type::Key => {
                let default = self.literal(value);
                let letter = self.one_of(&["a", "b", "c"]).to_string();
                names.push((letter.clone(), (**value).clone()));
                names.push((plain.clone(), of.clone()));
                format!("{{:keys [{letter}] :or {{{letter} {default}}} :as {plain}}}")
            }
            _ => {
                names.push((plain.clone(), of.clone()));
                plain
            }
        }
    }

    fn short_fn(&mut self, params: &[Type], result: &Type) -> String {
        self.in_short_fn = true;
        let many = params.len() > 1;
        let names: Vec<(String, Type)> = params
            .iter()
            .enumerate()
            .map(|(i, param)| (if many { format!("%{}", i + 1) } else { "%".into() }, param.clone()))
            .collect();
        let last = names.last().map_or(String::new(), |(name, _)| name.clone());
        let body = self.with(names, |g| g.expr(result));
        self.in_short_fn = false;
        // The highest placeholder says how many parameters there are.
        if body.starts_with('(') && body.contains(&last) && !last.is_empty() {
            format!("#{body}")
        } else {
            format!("#(do {last} {body})")
        }
    }

    /// `(def …)` or `(defn …)`.
    fn definition(&mut self) -> String {
        let result = self.some_type(1);
        let name = self.name("f");
        match self.pick(8) {
            0 => {
                let value = self.expr(&result);
                self.locals.push((name.clone(), result));
                format!("(def {name} {value})")
            }
            1 => {
                let (a, b) = (self.some_type(1), self.some_type(0));
                let (one, names) = self.params(std::slice::from_ref(&a));
                let first = self.with(names, |g| g.expr(&result));
                let both = [a.clone(), b.clone()];
                let (two, names) = self.params(&both);
                let second = self.with(names, |g| g.expr(&result));
                self.functions.push((name.clone(), vec![a], result.clone()));
                self.functions.push((name.clone(), both.to_vec(), result));
                format!("(defn {name} ([{one}] {first}) ([{two}] {second}))")
            }
            2 => {
                let (a, item) = (self.some_type(1), self.some_type(0));
                let rest = self.name("r");
                let (list, mut names) = self.params(std::slice::from_ref(&a));
                names.push((rest.clone(), Type::Opt(Box::new(Type::Seq(Box::new(item.clone()))))));
                let body = self.with(names, |g| g.expr(&result));
                let mut params = vec![a];
                params.extend(vec![item; self.pick(3)]);
                self.functions.push((name.clone(), params, result));
                format!("(defn {name} [{list} & {rest}] {body})")
            }
            3 => {
                // Counts down, by a call in the middle.
                let (n, inner) = (self.name("n"), self.name("s"));
                let base = self.with(vec![(n.clone(), Type::Int)], |g| g.expr(&result));
                let scope = vec![(n.clone(), Type::Int), (inner.clone(), result.clone())];
                let step = self.with(scope, |g| g.expr(&result));
                self.functions.push((name.clone(), vec![Type::Int], result));
                format!(
                    "(defn {name} [{n}] (if (< 0 {n} 6) (let [{inner} ({name} (dec {n}))] {step}) {base}))"
                )
            }
            _ => {
                let params: Vec<Type> = (0..1 + self.pick(3)).map(|_| self.some_type(1)).collect();
                let (list, names) = self.params(&params);
                let body = self.with(names, |g| g.expr(&result));
                self.functions.push((name.clone(), params, result));
                format!("(defn {name} [{list}] {body})")
            }
        }
    }

    fn known_call(&mut self, wanted: &Type) -> String {
        let fits = |known: &&(String, Vec<Type>, Type)| known.2.serves(wanted, &mut Bindings::new());
        let fitting: Vec<_> = self.functions.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return self.produced(wanted);
        }
        let (name, params, _) = &fitting[self.pick(fitting.len())];
        let args: Vec<String> = params.iter().map(|param| format!(" {}", self.expr(param))).collect();
        format!("({name}{})", args.concat())
    }

    /// A value written out; its parts may be expressions.
    fn literal(&mut self, of: &Type) -> String {
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

    /// A part of a written collection.
    fn item(&mut self, of: &Type) -> String {
        if self.pick(6) == 5 { self.expr(of) } else { self.literal(of) }
    }

    fn record(&mut self) -> String {
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
