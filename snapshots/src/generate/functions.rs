//! Generation of functions, definitions, bindings and loops.

use super::{Generator, Known, Type};

type Names = Vec<(String, Type)>;

impl Generator<'_> {
    /// Generates a function value from these parameters to that result.
    pub(super) fn function(&mut self, params: &[Type], result: &Type) -> String {
        let ready = ready_made(params, result);
        match self.pick(8) {
            0 | 1 if !ready.is_empty() => self.one_of(ready).to_string(),
            2 => {
                let fits = |known: &&Known| known.params == params && known.result == *result;
                match self.functions.iter().find(fits) {
                    Some(known) => known.name.clone(),
                    None => self.lambda(params, result),
                }
            }
            3 if !self.in_short_fn && params.len() <= 2 => self.short_fn(params, result),
            4 if params == [Type::Int] && *result == Type::Int => {
                let op = self.one_of(&["+", "*", "max", "-"]);
                format!("(partial {op} {})", self.expr(&Type::Int))
            }
            5 if params.len() == 1 => {
                let inner = self.function(params, result);
                let outer = self.function(std::slice::from_ref(result), result);
                format!("(comp {outer} {inner})")
            }
            _ => self.lambda(params, result),
        }
    }

    fn lambda(&mut self, params: &[Type], result: &Type) -> String {
        let names: Names = params.iter().map(|param| (self.name("x"), param.clone())).collect();
        let list: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let list = list.join(" ");
        let body = self.with(names, |g| g.expr(result));
        format!("(fn [{list}] {body})")
    }

    fn short_fn(&mut self, params: &[Type], result: &Type) -> String {
        self.in_short_fn = true;
        let names: Names =
            params.iter().enumerate().map(|(i, param)| (format!("%{}", i + 1), param.clone())).collect();
        let last = format!("%{}", params.len());
        let body = self.with(names, |g| g.expr(result));
        self.in_short_fn = false;
        // The highest placeholder determines the number of parameters.
        format!("#(do {last} {body})")
    }

    /// Generates `(def …)` or `(defn …)`.
    pub(super) fn definition(&mut self) -> String {
        let result = self.some_type(1);
        match self.pick(6) {
            0 => {
                let value = self.expr(&result);
                let name = self.name("d");
                self.locals.push((name.clone(), result));
                format!("(def {name} {value})")
            }
            1 => self.recursive_definition(&result),
            2 => {
                let name = self.name("f");
                let (a, rest) = (self.name("a"), self.name("r"));
                let locals = vec![(a.clone(), Type::Int), (rest.clone(), Type::List(Box::new(Type::Int)))];
                let body = self.with(locals, |g| g.expr(&result));
                let params = vec![Type::Int; 1 + self.pick(3)];
                self.functions.push(Known { name: name.clone(), params, result });
                format!("(defn {name} [{a} & {rest}] {body})")
            }
            3 => {
                let (name, a, b) = (self.name("f"), self.name("a"), self.name("b"));
                let one = self.with(vec![(a.clone(), Type::Int)], |g| g.expr(&result));
                let both = vec![(a.clone(), Type::Int), (b.clone(), Type::Any)];
                let two = self.with(both, |g| g.expr(&result));
                self.functions.push(Known {
                    name: name.clone(),
                    params: vec![Type::Int],
                    result: result.clone(),
                });
                let params = vec![Type::Int, Type::Any];
                self.functions.push(Known { name: name.clone(), params, result });
                format!("(defn {name} ([{a}] {one}) ([{a} {b}] {two}))")
            }
            _ => {
                let name = self.name("f");
                let n = self.pick(3);
                let mut params = Vec::new();
                let mut list = Vec::new();
                let mut locals = Names::new();
                for _ in 0..n {
                    let ((names, pattern), coll) = self.pattern();
                    let Type::List(item) = coll else { continue };
                    params.push(*item);
                    list.push(pattern);
                    locals.extend(names);
                }
                let body = self.with(locals, |g| g.expr(&result));
                self.functions.push(Known { name: name.clone(), params, result });
                format!("(defn {name} [{}] {body})", list.join(" "))
            }
        }
    }

    /// Generates a function that counts a parameter down, recursively in the middle or at the end.
    fn recursive_definition(&mut self, result: &Type) -> String {
        let (name, n) = (self.name("f"), self.name("n"));
        let scope = vec![(n.clone(), Type::Int)];
        let base = self.with(scope.clone(), |g| g.expr(result));
        let inner = self.name("s");
        let mut more = scope;
        more.push((inner.clone(), result.clone()));
        let step = self.with(more, |g| g.expr(result));
        self.functions.push(Known { name: name.clone(), params: vec![Type::Int], result: result.clone() });
        format!("(defn {name} [{n}] (if (< 0 {n} 7) (let [{inner} ({name} (dec {n}))] {step}) {base}))")
    }

    /// Generates a pattern with the names it binds, and the type of a list of values that it matches.
    pub(super) fn pattern(&mut self) -> ((Names, String), Type) {
        let list = |inner: Type| Type::List(Box::new(inner));
        match self.pick(6) {
            0 => {
                let (a, b, rest) = (self.name("a"), self.name("b"), self.name("r"));
                let names =
                    vec![(a.clone(), Type::Any), (b.clone(), Type::Any), (rest.clone(), list(Type::Int))];
                ((names, format!("[{a} {b} & {rest}]")), list(list(Type::Int)))
            }
            1 => {
                // `:keys` binds the names of the keys, so they may shadow outer ones.
                let default = self.expr(&Type::Int);
                let whole = self.name("m");
                let map = Type::Map(Box::new(Type::Int));
                let names = vec![
                    ("a".to_string(), Type::Int),
                    ("b".to_string(), Type::Any),
                    (whole.clone(), map.clone()),
                ];
                ((names, format!("{{:keys [a b] :or {{a {default}}} :as {whole}}}")), list(map))
            }
            2 => {
                let (a, b) = (self.name("a"), self.name("b"));
                let names = vec![(a.clone(), Type::Any), (b.clone(), Type::Any)];
                ((names, format!("{{{a} :a [{b}] :b}}")), list(Type::Map(Box::new(list(Type::Int)))))
            }
            _ => {
                let (name, some) = (self.name("x"), self.some_type(1));
                ((vec![(name.clone(), some.clone())], name), list(some))
            }
        }
    }

    pub(super) fn binding(&mut self, wanted: &Type) -> String {
        let ((names, pattern), coll) = self.pattern();
        let Type::List(item) = coll else { return self.literal(wanted) };
        let value = self.expr(&item);
        self.with(names, |g| {
            if g.rarely(3) {
                let other = g.name("l");
                let some = g.some_type(1);
                let second = g.expr(&some);
                let body = g.with(vec![(other.clone(), some)], |g| g.expr(wanted));
                format!("(let [{pattern} {value} {other} {second}] {body})")
            } else {
                format!("(let [{pattern} {value}] {})", g.expr(wanted))
            }
        })
    }

    /// Generates a loop of a few rounds that carries a value along.
    pub(super) fn looped(&mut self, wanted: &Type) -> String {
        let start = self.expr(wanted);
        let (i, acc) = (self.name("i"), self.name("acc"));
        let rounds = self.pick(5);
        let scope = vec![(i.clone(), Type::Int), (acc.clone(), wanted.clone())];
        // A placeholder of an enclosing `#(…)` may appear here, but none of our `recur`s can end up in one.
        let next = self.with(scope, |g| g.expr(wanted));
        match self.pick(3) {
            0 => format!(
                "(loop [{acc} {start} {i} 0] (cond (= {i} {rounds}) {acc} :else (recur {next} (inc {i}))))"
            ),
            1 => format!("((fn [{i} {acc}] (if (< {i} {rounds}) (recur (inc {i}) {next}) {acc})) 0 {start})"),
            _ => format!("(loop [{i} 0 {acc} {start}] (if (< {i} {rounds}) (recur (inc {i}) {next}) {acc}))"),
        }
    }

    /// Generates a `reduce` over integers.
    pub(super) fn fold(&mut self, wanted: &Type) -> String {
        let start = self.expr(wanted);
        let (acc, x) = (self.name("acc"), self.name("x"));
        let scope = vec![(acc.clone(), wanted.clone()), (x.clone(), Type::Int)];
        let next = self.with(scope, |g| g.expr(wanted));
        let next = if self.rarely(4) { format!("(if (> {x} 2) (reduced {acc}) {next})") } else { next };
        let xs = self.ints();
        format!("(reduce (fn [{acc} {x}] {next}) {start} {xs})")
    }
}

/// Returns builtins and keywords with these types.
fn ready_made(params: &[Type], result: &Type) -> &'static [&'static str] {
    match (params, result) {
        ([Type::Int], Type::Int) => &["inc", "dec", "-", "abs", "identity", "(constantly 4)", "(fnil inc 0)"],
        ([Type::Int, Type::Int], Type::Int) => &["+", "-", "*", "max", "min", "compare"],
        ([Type::Int], Type::Bool) => &[
            "even?",
            "odd?",
            "pos?",
            "neg?",
            "zero?",
            "#{1 2 3}",
            "(complement even?)",
            "(every-pred pos? odd?)",
        ],
        ([_], Type::Bool) => &["nil?", "some?", "string?", "not", "boolean", "#{1 \"a\" :a}", "{:a 1}"],
        ([_], Type::Str) => &["str", "pr-str"],
        ([Type::Map(_)], _) => &[":a", ":b", "(fn [{:keys [a]}] a)"],
        ([_], Type::Any) => &["identity", "vector", ":a", "(juxt identity str)"],
        _ => &[],
    }
}
