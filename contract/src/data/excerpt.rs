//! Values cut to the room of a reply: the whole value, or an excerpt that is itself a value.
//!
//! An excerpt keeps the first items of lists, the first characters of texts and, while there is room, all keys of
//! maps. Omissions are counted beside it and never marked inside it, so any reader of values can read an excerpt.

use super::print::show_whole;
use super::{Shown, Tree, View, show_public_cut};
use ptc_bytecode::{Datum, Node};
use serde_json::{Value, json};

/// Levels of collections that replies show. JSON readers commonly stop at 128.
const MAX_DEPTH: usize = 64;
/// Omissions reported with their place; all others are only counted.
const MAX_NAMED: usize = 5;
/// Maximum bytes of a number, name or pattern in an excerpt. Longer ones are left out: half a number is a wrong number.
const MAX_ATOM_BYTES: usize = 1_000;

/// Limits that are tried one after the other until a value fits.
const STEPS: [Step; 12] = [
    Step { items: 2_000, entries: 2_000, chars: 16_384, depth: MAX_DEPTH },
    Step { items: 1_000, entries: 1_000, chars: 8_192, depth: MAX_DEPTH },
    Step { items: 500, entries: 500, chars: 4_096, depth: 32 },
    Step { items: 200, entries: 200, chars: 2_000, depth: 16 },
    Step { items: 100, entries: 100, chars: 1_000, depth: 16 },
    Step { items: 50, entries: 100, chars: 500, depth: 8 },
    Step { items: 20, entries: 100, chars: 200, depth: 8 },
    Step { items: 10, entries: 100, chars: 100, depth: 6 },
    Step { items: 5, entries: 50, chars: 50, depth: 5 },
    Step { items: 2, entries: 20, chars: 20, depth: 4 },
    Step { items: 1, entries: 5, chars: 10, depth: 2 },
    Step { items: 0, entries: 0, chars: 0, depth: 1 },
];

#[derive(Clone, Copy)]
struct Step {
    items: usize,
    entries: usize,
    chars: usize,
    depth: usize,
}

/// A value that an excerpt holds only in part.
#[derive(Clone, PartialEq, Debug)]
pub struct Omission {
    /// Printed keys and indexes that lead from the whole to this value.
    path: Vec<String>,
    /// Number of units that the excerpt keeps.
    kept: usize,
    /// Number of units in the whole value.
    total: usize,
    unit: Unit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Items,
    Entries,
    Characters,
    /// Characters of a printed value other than text, as `str` writes it.
    Printed,
}

/// Everything that an excerpt leaves out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Omissions {
    named: Vec<Omission>,
    count: usize,
}

/// A value, or an excerpt of it, that fits into a reply.
///
/// ```
/// use ptc_contract::data::Excerpt;
/// let rows = serde_json::json!({"rows": (0..50_000).collect::<Vec<i32>>()});
/// let rows = ptc_runtime::bridge::json_to_datum(&rows)?;
/// let (_, left_out) = Excerpt::of(&rows, 2_000).cut.unwrap();
/// assert_eq!(left_out.in_words(), "49500 of 50000 items at [\"rows\"]");
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Excerpt {
    /// Printed value, or printed excerpt of it.
    pub text: String,
    /// The excerpt and what it leaves out; None if the value is whole.
    pub cut: Option<(Datum, Omissions)>,
}

impl Excerpt {
    /// Returns the value, or as much of it as fits into `most` bytes of text.
    pub fn of(value: &Datum, most: usize) -> Excerpt {
        let tree = Tree::new(value);
        if let Some(text) = printed(tree.root(), most) {
            return Excerpt { text, cut: None };
        }
        for step in STEPS {
            let mut cutter =
                Cutter { step, most, nodes: Vec::new(), bytes: 0, left_out: Omissions::default() };
            cutter.copy(tree.root(), 0, &mut Some(Vec::new()));
            let Some(datum) = Datum::new(cutter.nodes).filter(|_| cutter.bytes <= most) else { continue };
            if let Some(text) = printed(Tree::new(&datum).root(), most) {
                return Excerpt { text, cut: Some((datum, cutter.left_out)) };
            }
        }
        // Reached only if the limit is a few bytes.
        let omission = Omission { path: Vec::new(), kept: 0, total: value.nodes().len(), unit: Unit::Items };
        let left_out = Omissions { named: vec![omission], count: 1 };
        Excerpt { text: "nil".to_string(), cut: Some((Datum::scalar(Node::Nil), left_out)) }
    }
}

/// Prints a value, if its text takes at most `most` bytes.
fn printed(view: View<'_>, most: usize) -> Option<String> {
    let limits = Shown { chars: most, string: most, depth: MAX_DEPTH, ..Shown::default() };
    let (text, is_cut) = show_whole(view, limits);
    (!is_cut && text.len() <= most).then_some(text)
}

/// Copies a value within the limits of a step.
struct Cutter {
    step: Step,
    most: usize,
    nodes: Vec<Node>,
    /// Lower bound of the bytes that the copy takes when printed.
    bytes: usize,
    left_out: Omissions,
}

impl Cutter {
    /// Copies one value, at most as deep as the step allows. `path` is None below sets, which `get-in` cannot enter.
    fn copy(&mut self, view: View<'_>, depth: usize, path: &mut Option<Vec<String>>) {
        if self.bytes > self.most {
            return;
        }
        self.bytes += 2;
        let is_deep = depth >= self.step.depth;
        match view.node() {
            Node::Vector(total) => {
                let kept = self.kept(view, self.step.items, is_deep, path, Unit::Items);
                for (i, item) in view.children().into_iter().take(kept).enumerate() {
                    self.below(item, depth, path, || i.to_string());
                }
                self.nodes.push(Node::Vector((*total).min(kept as u32)));
            }
            Node::Set(total) => {
                let kept = self.kept(view, self.step.items, is_deep, path, Unit::Items);
                for item in view.children().into_iter().take(kept) {
                    self.copy(item, depth + 1, &mut None);
                }
                self.nodes.push(Node::Set((*total).min(kept as u32)));
            }
            Node::Map(total) => {
                let kept = self.kept(view, self.step.entries, is_deep, path, Unit::Entries);
                for (key, value) in view.entries().into_iter().take(kept) {
                    // A cut key would make a different entry.
                    self.nodes.extend_from_slice(key.nodes());
                    self.bytes += key.nodes().iter().map(atom_bytes).sum::<usize>();
                    self.below(value, depth, path, || {
                        show_public_cut(key, Shown { chars: 200, depth: 4, ..Shown::default() }).0
                    });
                }
                self.nodes.push(Node::Map((*total).min(kept as u32)));
            }
            Node::Str(text) => match text.char_indices().nth(self.step.chars) {
                Some((end, _)) => {
                    self.leave_out(path, self.step.chars, text.chars().count(), Unit::Characters);
                    self.bytes += end;
                    self.nodes.push(Node::Str(text[..end].into()));
                }
                None => {
                    self.bytes += text.len();
                    self.nodes.push(Node::Str(text.clone()));
                }
            },
            node if atom_bytes(node) > MAX_ATOM_BYTES => {
                self.leave_out(path, 0, atom_bytes(node), Unit::Printed);
                self.nodes.push(Node::Nil);
            }
            node => self.nodes.push(node.clone()),
        }
    }

    fn below(
        &mut self,
        view: View<'_>,
        depth: usize,
        path: &mut Option<Vec<String>>,
        step: impl FnOnce() -> String,
    ) {
        // Only named omissions need their path.
        if self.left_out.named.len() >= MAX_NAMED {
            return self.copy(view, depth + 1, &mut None);
        }
        if let Some(path) = path {
            path.push(step());
        }
        self.copy(view, depth + 1, path);
        if let Some(path) = path {
            path.pop();
        }
    }

    /// Returns how many items or entries of a collection are copied.
    fn kept(
        &mut self,
        view: View<'_>,
        most: usize,
        is_deep: bool,
        path: &Option<Vec<String>>,
        unit: Unit,
    ) -> usize {
        let total = view.len();
        let kept = if is_deep { 0 } else { most.min(total) };
        if kept < total {
            self.leave_out(path, kept, total, unit);
        }
        kept
    }

    fn leave_out(&mut self, path: &Option<Vec<String>>, kept: usize, total: usize, unit: Unit) {
        self.left_out.count += 1;
        if let Some(path) = path.as_ref().filter(|_| self.left_out.named.len() < MAX_NAMED) {
            self.left_out.named.push(Omission { path: path.clone(), kept, total, unit });
        }
    }
}

/// Approximate bytes of a scalar.
fn atom_bytes(node: &Node) -> usize {
    match node {
        Node::Big(text) | Node::Str(text) => text.len(),
        Node::Keyword(text) | Node::Symbol(text) | Node::Regex(text) | Node::Opaque(text) => text.len(),
        _ => 1,
    }
}

impl Omissions {
    /// Describes the omissions in words.
    pub fn in_words(&self) -> String {
        let mut words: Vec<String> = self.named.iter().map(Omission::in_words).collect();
        let more = self.count - self.named.len();
        if more > 0 {
            words.push(format!("parts of {more} more places"));
        }
        words.join(", ")
    }

    /// Describes the omissions as JSON.
    pub fn to_json(&self) -> Value {
        let row = |omission: &Omission| {
            json!({
                "path": format!("[{}]", omission.path.join(" ")), "kept": omission.kept,
                "of": omission.total, "unit": omission.unit.name(),
            })
        };
        self.named.iter().map(row).collect()
    }

    /// Returns the expression that reads the next part of the first omission from the value that `whole` names.
    pub fn fetch(&self, whole: &str) -> Option<String> {
        let Omission { path, kept, unit, .. } = self.named.first()?;
        let place = match path.is_empty() {
            true => whole.to_string(),
            false => format!("(get-in {whole} [{}])", path.join(" ")),
        };
        let next = (*kept).max(10);
        Some(match unit {
            Unit::Items => format!("(take {next} (drop {kept} {place}))"),
            Unit::Entries => format!("(into {{}} (take {next} (drop {kept} {place})))"),
            Unit::Characters => format!("(subs {place} {kept})"),
            Unit::Printed => format!("(subs (str {place}) 0 1000)"),
        })
    }
}

impl Omission {
    fn in_words(&self) -> String {
        let Omission { path, kept, total, unit } = self;
        let missing = total - kept;
        let place = if path.is_empty() { String::new() } else { format!(" at [{}]", path.join(" ")) };
        format!("{missing} of {total} {}{place}", unit.name())
    }
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Items => "items",
            Unit::Entries => "entries",
            Unit::Characters | Unit::Printed => "characters",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;
    use ptc_runtime::bridge::json_to_datum;
    use serde_json::{Value, json};

    fn excerpt(value: &Value, most: usize) -> Excerpt {
        Excerpt::of(&json_to_datum(value).unwrap(), most)
    }

    #[test]
    fn a_value_that_fits_is_whole() {
        let rows: Vec<Value> = (0..300).map(|i| json!({"id": i, "text": "x".repeat(50)})).collect();
        let whole = excerpt(&json!(rows), 32 << 10);
        assert!(whole.cut.is_none() && whole.text.matches("\"id\"").count() == 300);
    }

    #[test]
    fn whatever_is_large_has_an_excerpt_within_the_limit() {
        let mut deep = json!([1]);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        let keys: serde_json::Map<String, Value> =
            (0..9_000).map(|i| (format!("key{i}"), json!(i))).collect();
        let long_key: serde_json::Map<String, Value> = [("k".repeat(90_000), json!(1))].into_iter().collect();
        let hostile = [
            json!((0..100_000).collect::<Vec<i32>>()),
            json!("é\u{1}\"\\".repeat(30_000)),
            json!(vec![vec!["y".repeat(999); 99]; 99]),
            Value::Object(keys),
            Value::Object(long_key),
            deep,
        ];
        for value in &hostile {
            for most in [4, 100, 1_000, 32 << 10] {
                let shown = excerpt(value, most);
                assert!(shown.text.len() <= most, "{} > {most}", shown.text.len());
                let (datum, left_out) =
                    shown.cut.unwrap_or_else(|| panic!("whole in {most}: {}", shown.text));
                assert!(left_out.count > 0 && !left_out.in_words().is_empty());
                assert!(!shown.text.contains('…'), "marked inside: {}", shown.text);
                assert!(crate::data::to_json(&datum).is_ok());
            }
        }
    }

    #[test]
    fn what_is_missing_is_counted_and_can_be_fetched() {
        let rows = json!({"total": 1, "rows": (0..50_000).collect::<Vec<i32>>()});
        let (_, left_out) = excerpt(&rows, 2_000).cut.unwrap();
        assert_eq!(left_out.in_words(), "49500 of 50000 items at [\"rows\"]");
        assert_eq!(left_out.fetch("*1").unwrap(), "(take 500 (drop 500 (get-in *1 [\"rows\"])))");
    }
}
