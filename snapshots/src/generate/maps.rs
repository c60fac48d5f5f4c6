//! Generation of maps.

use super::{Generator, Type};

impl Generator<'_> {
    pub(super) fn map_expr(&mut self, inner: &Type) -> String {
        let map = Type::Map(Box::new(inner.clone()));
        match self.pick(14) {
            0 => {
                let keys = [":a", ":b", ":c", "\"s\"", "7"];
                let n = self.pick(keys.len() + 1);
                let entries: Vec<String> =
                    keys[..n].iter().map(|key| format!("{key} {}", self.expr(inner))).collect();
                format!("{{{}}}", entries.join(" "))
            }
            1 | 2 => format!("(assoc {} {} {})", self.expr(&map), self.map_key(), self.expr(inner)),
            3 => format!("(dissoc {} {})", self.expr(&map), self.map_key()),
            4 => format!("(merge {} {})", self.expr(&map), self.expr(&map)),
            5 => {
                let f = self.function(std::slice::from_ref(inner), inner);
                format!("(update {} {} {f})", self.expr(&map), self.map_key())
            }
            6 => {
                let f = self.function(std::slice::from_ref(inner), inner);
                format!("(update-vals {} {f})", self.expr(&map))
            }
            7 => {
                let from = self.scalar();
                let name = self.name("p");
                let list = self.expr(&Type::List(Box::new(from.clone())));
                let pair =
                    self.with(vec![(name.clone(), from)], |g| format!("[{} {}]", g.map_key(), g.expr(inner)));
                format!("(into {{}} (map (fn [{name}] {pair}) {list}))")
            }
            8 => {
                let key = self.map_key();
                format!("(reduce (fn [m x] (assoc m (mod x 3) {key})) {} {})", self.expr(&map), self.ints())
            }
            9 => match inner {
                Type::List(item) => {
                    let key = self.scalar();
                    let f = self.function(std::slice::from_ref(item), &key);
                    format!("(group-by {f} {})", self.expr(inner))
                }
                Type::Int => format!("(frequencies {})", self.expr(&Type::List(Box::new(Type::Any)))),
                _ => {
                    let list = self.expr(&Type::List(Box::new(inner.clone())));
                    format!("(zipmap [:a :b :c] {list})")
                }
            },
            10 => format!("(select-keys {} [{} {}])", self.expr(&map), self.map_key(), self.map_key()),
            11 => format!("(hash-map {} {})", self.map_key(), self.expr(inner)),
            12 => self.looped(&map),
            _ => format!("(conj {} [{} {}])", self.expr(&map), self.map_key(), self.expr(inner)),
        }
    }

    /// Generates a map's key: usually a keyword, now and then another value.
    fn map_key(&mut self) -> String {
        match self.pick(8) {
            0 => self.one_of(&["\"a\"", "\"k_1\"", "3", "3.0", "nil", "[1]"]).to_string(),
            1 => {
                let some = self.scalar();
                self.expr(&some)
            }
            _ => self.key(),
        }
    }
}
