//! Generation of functions, patterns and definitions.

use super::functions::FUNCTIONS;
use super::generator::Generator;
use super::literals::FIELDS;
use super::template::{Part, read};
use super::types::{Bindings, Type, parse};
use std::sync::LazyLock;

struct Ready {
    params: Vec<Type>,
    result: Type,
    parts: Vec<Part>,
}

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

impl Generator<'_> {
    /// Generates a function value.
    pub(super) fn function(&mut self, params: &[Type], result: &Type) -> String {
        match self.pick(10) {
            0..=3 => {
                let fitting: Vec<(&Ready, Bindings)> = READY
                    .iter()
                    .filter_map(|row| {
                        let mut bound = Bindings::new();
                        let fits = row.params.len() == params.len()
                            && row.result.serves(result, &mut bound)
                            && row.params.iter().zip(params).all(|(mine, given)| {
                                // A variable takes any given type; for a plain type, the given type must serve as it.
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

    pub(super) fn lambda(&mut self, params: &[Type], result: &Type) -> String {
        let (list, names) = self.params(params);
        let body = self.with(names, |g| g.expr(result));
        format!("(fn [{list}] {body})")
    }

    /// Generates a parameter list for these types, with destructuring for some of them.
    pub(super) fn params(&mut self, types: &[Type]) -> (String, Vec<(String, Type)>) {
        let mut names = Vec::new();
        let list: Vec<String> = types.iter().map(|of| self.pattern(of, &mut names)).collect();
        (list.join(" "), names)
    }

    /// Generates a pattern for a value of this type.
    pub(super) fn pattern(&mut self, of: &Type, names: &mut Vec<(String, Type)>) -> String {
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

    pub(super) fn short_fn(&mut self, params: &[Type], result: &Type) -> String {
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
        // The highest placeholder determines the number of parameters.
        if body.starts_with('(') && body.contains(&last) && !last.is_empty() {
            format!("#{body}")
        } else {
            format!("#(do {last} {body})")
        }
    }

    /// Generates `(def …)` or `(defn …)`.
    pub(super) fn definition(&mut self) -> String {
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
                // Counts down by a recursive call that is not in tail position.
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
}
