//! Generation of expressions of every type: scalars here; lists, maps and functions in their own files.

use super::{Generator, MAX_DEPTH, Type};

impl Generator<'_> {
    /// Generates an expression of the wanted type.
    pub(super) fn expr(&mut self, wanted: &Type) -> String {
        if self.depth >= MAX_DEPTH || self.bytes.is_empty() {
            let from_scope = self.pick(2) == 1;
            let local = if from_scope { self.local(wanted) } else { None };
            return local.unwrap_or_else(|| self.leaf(wanted));
        }
        self.depth += 1;
        let text = self.expr_at(wanted);
        self.depth -= 1;
        text
    }

    /// Generates a constant in an expression's place.
    fn leaf(&mut self, wanted: &Type) -> String {
        let literal = self.literal(wanted);
        if self.asks && self.rarely(3) { format!("(tool/id {{:x {literal}}})") } else { literal }
    }

    fn expr_at(&mut self, wanted: &Type) -> String {
        // Sometimes another type than wanted, so that faults are covered.
        if self.rarely(90) {
            let other = self.some_type(1);
            return self.expr(&other);
        }
        match self.pick(14) {
            0 | 1 => self.leaf(wanted),
            2..=4 => self.local(wanted).unwrap_or_else(|| self.leaf(wanted)),
            5 => self.control(wanted),
            6 => self.binding(wanted),
            7 => self.known_call(wanted),
            8 => self.picked_out(wanted),
            _ => self.operation(wanted),
        }
    }

    /// Generates a call of a function with this result type.
    fn operation(&mut self, wanted: &Type) -> String {
        match wanted {
            Type::Int => self.int_expr(),
            Type::Float => self.float_expr(),
            Type::Bool => self.bool_expr(),
            Type::Str => self.str_expr(),
            Type::Key => {
                let string = self.one_of(&["\"a\"", "\"b\"", "\"xyz\""]);
                format!("(keyword {string})")
            }
            Type::Any => {
                let some = self.some_type(1);
                self.expr(&some)
            }
            Type::List(inner) => self.list_expr(inner),
            Type::Map(inner) => self.map_expr(inner),
            Type::Set(inner) => self.set_expr(inner),
        }
    }

    pub(super) fn ints(&mut self) -> String {
        self.expr(&Type::List(Box::new(Type::Int)))
    }

    /// Generates a number suitable as a count or index.
    pub(super) fn small(&mut self) -> String {
        if self.rarely(4) { self.expr(&Type::Int) } else { self.pick(5).to_string() }
    }

    fn two(&mut self, wanted: &Type) -> String {
        let a = self.expr(wanted);
        let b = self.expr(wanted);
        format!("{a} {b}")
    }

    fn int_expr(&mut self) -> String {
        match self.pick(18) {
            0..=2 => {
                let op = self.one_of(&["+", "-", "*", "max", "min"]);
                format!("({op} {})", self.two(&Type::Int))
            }
            3 => {
                let op = self.one_of(&["inc", "dec", "abs", "-", "+"]);
                format!("({op} {})", self.expr(&Type::Int))
            }
            4 => {
                let op = self.one_of(&["quot", "rem", "mod"]);
                format!("({op} {})", self.two(&Type::Int))
            }
            5 => {
                let some = self.some_type(1);
                let coll = match some {
                    Type::List(_) | Type::Map(_) | Type::Set(_) | Type::Str => some,
                    other => Type::List(Box::new(other)),
                };
                format!("(count {})", self.expr(&coll))
            }
            6 => format!("({} {})", self.one_of(&["reduce +", "apply +", "apply max 0", "sum"]), self.ints()),
            7 => self.fold(&Type::Int),
            8 => format!("(get {} {} {})", self.ints(), self.small(), self.expr(&Type::Int)),
            9 => format!("(nth {} {} {})", self.ints(), self.small(), self.int()),
            10 => {
                let map = self.expr(&Type::Map(Box::new(Type::Int)));
                match self.pick(3) {
                    0 => format!("({} {map} {})", self.key(), self.int()),
                    1 => format!("(get {map} {} {})", self.key(), self.int()),
                    _ => format!("({map} {} {})", self.key(), self.int()),
                }
            }
            11 => format!("(compare {})", self.two(&Type::Int)),
            12 => {
                let op = self.one_of(&["round", "floor", "ceil", "trunc"]);
                format!("({op} {})", self.expr(&Type::Float))
            }
            13 => format!("({} {})", self.one_of(&["or", "and"]), self.two(&Type::Int)),
            14 => self.looped(&Type::Int),
            15 => {
                let (f, n) = (self.function(&[Type::Int], &Type::Int), self.expr(&Type::Int));
                format!("({f} {n})")
            }
            16 => format!("(+ {} {})", self.two(&Type::Int), self.expr(&Type::Int)),
            _ => {
                let f = self.function(&[Type::Int], &Type::Int);
                format!("(:n (update {{:n {}}} :n {f}))", self.int())
            }
        }
    }

    fn float_expr(&mut self) -> String {
        match self.pick(6) {
            0 | 1 => format!("(/ {})", self.two(&Type::Int)),
            2 => format!("({} {})", self.one_of(&["+", "-", "*", "/", "max", "min"]), self.two(&Type::Float)),
            3 => format!("(double {})", self.expr(&Type::Int)),
            4 => {
                let (a, b) = (self.expr(&Type::Float), self.expr(&Type::Int));
                format!("({} {a} {b})", self.one_of(&["+", "*", "mod", "rem", "quot"]))
            }
            _ => {
                let op = self.one_of(&["inc", "dec", "-", "abs", "sqrt"]);
                format!("({op} {})", self.expr(&Type::Float))
            }
        }
    }

    fn bool_expr(&mut self) -> String {
        match self.pick(12) {
            0 | 1 => {
                let op = self.one_of(&["<", ">", "<=", ">=", "=", "not=", "=="]);
                let some = self.scalar();
                format!("({op} {})", self.two(&some))
            }
            2 => {
                let op =
                    self.one_of(&["even?", "odd?", "zero?", "pos?", "neg?", "int?", "number?", "pos-int?"]);
                format!("({op} {})", self.expr(&Type::Int))
            }
            3 => format!("(not {})", self.expr(&Type::Bool)),
            4 => format!("({} {})", self.one_of(&["and", "or"]), self.two(&Type::Bool)),
            5 => {
                let op = self.one_of(&[
                    "nil?", "some?", "string?", "keyword?", "map?", "vector?", "set?", "coll?", "fn?",
                ]);
                format!("({op} {})", self.expr(&Type::Any))
            }
            6 => {
                let some = self.some_type(2);
                format!("(= {})", self.two(&some))
            }
            7 => {
                let op = self.one_of(&["every?", "not-any?", "not-every?"]);
                let f = self.function(&[Type::Int], &Type::Bool);
                format!("({op} {f} {})", self.ints())
            }
            8 => format!("(contains? {} {})", self.expr(&Type::Map(Box::new(Type::Any))), self.key()),
            9 => {
                let inner = self.scalar();
                let set = self.expr(&Type::Set(Box::new(inner.clone())));
                format!("(contains? {set} {})", self.expr(&inner))
            }
            10 => {
                let some = Type::List(Box::new(Type::Any));
                format!("({} {})", self.one_of(&["empty?", "boolean", "seqable?"]), self.expr(&some))
            }
            _ => format!("(< {} {})", self.two(&Type::Int), self.expr(&Type::Int)),
        }
    }

    fn str_expr(&mut self) -> String {
        match self.pick(7) {
            0 | 1 => {
                let (a, b) = (self.expr(&Type::Str), self.expr(&Type::Any));
                format!("(str {a} {b})")
            }
            2 => {
                let some = self.some_type(2);
                format!("({} {})", self.one_of(&["str", "pr-str"]), self.expr(&some))
            }
            3 => format!("(subs {} {} {})", self.expr(&Type::Str), self.small(), self.small()),
            4 => format!("(name {})", self.expr(&Type::Key)),
            5 => format!("({} {})", self.one_of(&["upper-case", "lower-case"]), self.expr(&Type::Str)),
            _ => format!("(join \",\" {})", self.expr(&Type::List(Box::new(Type::Any)))),
        }
    }

    pub(super) fn scalar(&mut self) -> Type {
        self.some_type(0)
    }

    /// Generates an expression that takes a value of this type out of a collection; it may be missing.
    fn picked_out(&mut self, wanted: &Type) -> String {
        let list = Type::List(Box::new(wanted.clone()));
        match self.pick(5) {
            0 => format!("({} {})", self.one_of(&["first", "last", "second", "peek"]), self.expr(&list)),
            1 => format!("(nth {} {})", self.expr(&list), self.small()),
            2 => format!("({} {})", self.key(), self.expr(&Type::Map(Box::new(wanted.clone())))),
            3 => {
                let value = self.expr(wanted);
                let key = self.key();
                format!("(get-in {{:x {{{key} {value}}}}} [:x {key}])")
            }
            _ => format!("({} {})", self.expr(&list), self.small()),
        }
    }

    fn control(&mut self, wanted: &Type) -> String {
        let test = self.expr(&Type::Bool);
        match self.pick(6) {
            0 | 1 => format!("(if {test} {})", self.two(wanted)),
            2 => {
                let first = self.expr(wanted);
                let other_test = self.expr(&Type::Bool);
                format!(
                    "(cond {test} {first} {other_test} {} :else {})",
                    self.expr(wanted),
                    self.expr(wanted)
                )
            }
            3 => format!("(do (println {test} {}) {})", self.expr(&Type::Any), self.expr(wanted)),
            4 => format!("(when {test} {})", self.expr(wanted)),
            _ => {
                let value = self.expr(&Type::Any);
                let name = self.name("v");
                let then = self.with(vec![(name.clone(), Type::Any)], |g| g.expr(wanted));
                format!("(if-let [{name} {value}] {then} {})", self.expr(wanted))
            }
        }
    }

    fn known_call(&mut self, wanted: &Type) -> String {
        let fitting: Vec<_> =
            self.functions.iter().filter(|known| known.result == *wanted).cloned().collect();
        if fitting.is_empty() {
            return self.operation(wanted);
        }
        let known = &fitting[self.pick(fitting.len())];
        let mut params = known.params.clone();
        // Occasionally with the wrong number of arguments.
        if self.rarely(40) {
            params.pop();
        }
        let args: Vec<String> = params.iter().map(|param| self.expr(param)).collect();
        format!("({} {})", known.name, args.join(" "))
    }
}
