//! Generation of lists and sets, mostly by higher-order functions.

use super::{Generator, Type};

impl Generator<'_> {
    pub(super) fn list_expr(&mut self, inner: &Type) -> String {
        let list = Type::List(Box::new(inner.clone()));
        match self.pick(22) {
            0 => {
                let n = self.pick(4);
                let items: Vec<String> = (0..n).map(|_| self.expr(inner)).collect();
                format!("[{}]", items.join(" "))
            }
            1..=3 => {
                let from = self.scalar();
                let f = self.function(std::slice::from_ref(&from), inner);
                let op = self.one_of(&["map", "mapv", "pmap", "keep"]);
                format!("({op} {f} {})", self.expr(&Type::List(Box::new(from))))
            }
            4 | 5 => {
                let f = self.function(std::slice::from_ref(inner), &Type::Bool);
                let op = self.one_of(&["filter", "remove", "filterv", "take-while", "drop-while"]);
                format!("({op} {f} {})", self.expr(&list))
            }
            6 => format!("(conj {} {})", self.expr(&list), self.expr(inner)),
            7 => format!("(into {} {})", self.expr(&list), self.expr(&list)),
            8 => {
                let op = self.one_of(&["take", "drop", "take-last", "drop-last"]);
                format!("({op} {} {})", self.small(), self.expr(&list))
            }
            9 => {
                let op =
                    self.one_of(&["reverse", "distinct", "rest", "sort", "vec", "butlast", "dedupe", "next"]);
                format!("({op} {})", self.expr(&list))
            }
            10 => format!("(concat {} {})", self.expr(&list), self.expr(&list)),
            11 => self.sorted(inner),
            12 => self.comprehension(inner),
            13 => {
                let (f, a, b) = (self.function(&[Type::Int, Type::Int], inner), self.ints(), self.ints());
                format!("({} {f} {a} {b})", self.one_of(&["map", "mapv"]))
            }
            14 => {
                let f = self.function(&[Type::Int, inner.clone()], inner);
                format!("(map-indexed {f} {})", self.expr(&list))
            }
            15 => {
                let f = self.function(&[Type::Int], &list);
                format!("(mapcat {f} {})", self.ints())
            }
            16 => format!("(vals {})", self.expr(&Type::Map(Box::new(inner.clone())))),
            17 => format!("(vec {})", self.expr(&Type::Set(Box::new(inner.clone())))),
            18 => format!("(assoc {} {} {})", self.expr(&list), self.small(), self.expr(inner)),
            19 => format!("(cons {} {})", self.expr(inner), self.expr(&list)),
            20 => self.looped(&list),
            _ => match inner {
                Type::Int => {
                    let (a, b) = (self.small(), self.small());
                    match self.pick(3) {
                        0 => format!("(range {a})"),
                        1 => format!("(range {a} (+ {a} {b}))"),
                        _ => format!("(range {a} -3 -2)"),
                    }
                }
                Type::Key => format!("(keys {})", self.expr(&Type::Map(Box::new(Type::Any)))),
                Type::List(_) => {
                    format!("({} 2 {})", self.one_of(&["partition-all", "partition"]), self.expr(inner))
                }
                _ => format!("(repeat {} {})", self.small(), self.expr(inner)),
            },
        }
    }

    /// Generates a sort, only with consistent comparators: others leave the result undefined.
    fn sorted(&mut self, inner: &Type) -> String {
        let list = self.expr(&Type::List(Box::new(inner.clone())));
        match self.pick(6) {
            0 => format!("(sort {list})"),
            1 => format!("(sort {} {list})", self.one_of(&[">", "<", "compare"])),
            2 => {
                format!("(sort (fn [a b] (compare {})) {list})", self.one_of(&["a b", "b a", "[a 1] [b 1]"]))
            }
            3 => format!("(sort (fn [a b] (neg? (compare {}))) {list})", self.one_of(&["a b", "b a"])),
            _ => {
                let from = self.scalar();
                let key = self.function(std::slice::from_ref(inner), &from);
                let order = self.one_of(&["", "> ", "(fn [a b] (compare b a)) "]);
                format!("(sort-by {key} {order}{list})")
            }
        }
    }

    /// Generates a `for` with one or two clauses and perhaps a modifier.
    fn comprehension(&mut self, inner: &Type) -> String {
        let (item, coll) = self.pattern();
        let (names, pattern) = item;
        let coll = self.expr(&coll);
        self.with(names, |g| {
            let modifier = match g.pick(5) {
                0 => format!(" :when {}", g.expr(&Type::Bool)),
                1 => format!(" :while {}", g.expr(&Type::Bool)),
                _ => String::new(),
            };
            if g.rarely(3) {
                let name = g.name("y");
                let more = g.ints();
                let body = g.with(vec![(name.clone(), Type::Int)], |g| g.expr(inner));
                format!("(for [{pattern} {coll}{modifier} {name} {more}] {body})")
            } else {
                format!("(for [{pattern} {coll}{modifier}] {})", g.expr(inner))
            }
        })
    }

    pub(super) fn set_expr(&mut self, inner: &Type) -> String {
        let set = Type::Set(Box::new(inner.clone()));
        let list = Type::List(Box::new(inner.clone()));
        match self.pick(6) {
            0 | 1 => format!("(set {})", self.expr(&list)),
            2 => format!("(conj {} {})", self.expr(&set), self.expr(inner)),
            3 => format!("(into {} {})", self.expr(&set), self.expr(&list)),
            4 => {
                let op = self.one_of(&["union", "intersection", "difference"]);
                format!("({op} {} {})", self.expr(&set), self.expr(&set))
            }
            _ => format!("(disj {} {})", self.expr(&set), self.expr(inner)),
        }
    }
}
