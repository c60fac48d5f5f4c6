//! Calls of any builtin with any arguments: most of them faults, and all of them answered alike.

use super::{Generator, Type};
use ptc_bytecode::{BUILTINS, Builtin, Effect};

impl Generator<'_> {
    /// A call of some builtin, or a value of any kind.
    pub(super) fn wild(&mut self, depth: usize) -> String {
        if depth == 0 || self.pick(4) == 0 {
            return match self.pick(6) {
                0 => self.one_of(CALLABLE).to_string(),
                1 => self.local(&Type::Any).unwrap_or_else(|| "nil".to_string()),
                _ => {
                    let some = self.some_type(2);
                    self.literal(&some)
                }
            };
        }
        let rows: Vec<&Builtin> = BUILTINS.iter().filter(|row| is_callable(row)).collect();
        let row = rows[(self.pick(256) * 256 + self.pick(256)) % rows.len()];
        // Arguments are counted before the program runs, so that a wrong number would end it.
        let most = row.max.unwrap_or(row.min + 2).min(row.min + 2);
        let n = row.min as usize + self.pick((most - row.min) as usize + 1);
        let args: Vec<String> = (0..n)
            .map(|i| match self.pick(5) {
                0 if i == 0 => {
                    let name = self.name("w");
                    let body = self.with(vec![(name.clone(), Type::Any)], |g| g.wild(depth - 1));
                    format!("(fn [{name}] {body})")
                }
                1 if i == 0 => self.one_of(CALLABLE).to_string(),
                _ => self.wild(depth - 1),
            })
            .collect();
        format!("({} {})", row.name, args.join(" "))
    }
}

/// Values that can be called, and one that cannot.
const CALLABLE: &[&str] = &[
    "inc",
    "str",
    ":a",
    "{:a 1 2 3}",
    "#{1 :a}",
    "+",
    "(fn [a b] [a b])",
    "(fn [& more] more)",
    "identity",
    "count",
    "first",
    "=",
    "<",
    "[1 2]",
    "nil",
    "(partial + 1)",
    "(comp str inc)",
    "vector",
    "even?",
    "(constantly nil)",
];

/// Builtins that a program can name and that neither print nor run for long.
fn is_callable(row: &Builtin) -> bool {
    let slow = [
        "repeat",
        "repeatedly",
        "range",
        "combinations",
        "bit-shift-left",
        "bit-set",
        "bit-flip",
        "trampoline",
    ];
    !row.name.starts_with('%') && row.effect == Effect::Pure && !slow.contains(&row.name)
}
