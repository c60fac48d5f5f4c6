//! Programs about accumulators: loops that change a collection step by step, in every way a step can be written, and that
//! keep some of the values in between, so that a value which changes under its holder is found.

use super::{Generator, Type};

/// What is built up.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Vector,
    Map,
    Set,
    /// A map of vectors, maps and sets.
    Nested,
}

/// The accumulating program these bytes stand for. Its value holds every collection that was kept on the way, beside the text
/// it had when it was kept.
///
/// ```
/// use ptc_snapshots::generate::accumulating_program;
/// assert_eq!(accumulating_program(&[1, 2, 3]), accumulating_program(&[1, 2, 3]));
/// ```
pub fn accumulating_program(bytes: &[u8]) -> String {
    write(bytes, false)
}

/// A program like those of [`accumulating_program`], in which some numbers are what `tool/id` answers when it is given them as
/// `x`: so the run waits in the middle of the loop.
pub fn asking_accumulating_program(bytes: &[u8]) -> String {
    write(bytes, true)
}

fn write(bytes: &[u8], asks: bool) -> String {
    let mut generator = Generator::new(bytes, asks);
    let kinds = [Kind::Vector, Kind::Map, Kind::Set, Kind::Nested];
    let mut forms = Vec::new();
    let mut helpers = Vec::new();
    for kind in kinds {
        let (name, step) = (generator.name("h"), generator.step(kind, "a", &[]));
        forms.push(format!("(defn {name} [a x] {step})"));
        helpers.push((name, kind));
    }
    let loops: Vec<String> = (0..1 + generator.pick(3)).map(|_| generator.accumulation(&helpers)).collect();
    forms.push(format!("[{}]", loops.join(" ")));
    forms.join("\n")
}

impl Generator<'_> {
    /// A loop of some kind around a step.
    fn accumulation(&mut self, helpers: &[(String, Kind)]) -> String {
        let kind = [Kind::Vector, Kind::Map, Kind::Set, Kind::Nested][self.pick(4)];
        let seed = self.seed(kind);
        let n = [3, 12, 20, 45, 90, 400][self.pick(6)];
        let step = self.step(kind, "acc", helpers);
        // What is kept stands beside its text at that time.
        let every = [1, 2, 5, 17][self.pick(4)];
        let keep = format!("(if (= 0 (mod x {every})) (conj kept [(pr-str acc) acc]) kept)");
        let told =
            "(let [same (every? (fn [[text value]] (= text (pr-str value))) kept)] [same acc (count kept)])";
        match self.pick(9) {
            0 => format!("(reduce (fn [acc x] {step}) {seed} (range {n}))"),
            1 => format!(
                "(let [before {seed} after (reduce (fn [acc x] {step}) before (range {n}))] [before after])"
            ),
            2 => format!("(loop [acc {seed} x 0] (if (< x {n}) (recur {step} (inc x)) acc))"),
            3 | 4 => {
                format!("(loop [acc {seed} kept [] x 0] (if (< x {n}) (recur {step} {keep} (inc x)) {told}))")
            }
            5 => format!(
                "(let [[acc kept] (reduce (fn [[acc kept] x] (let [new {step}] [new {keep}])) [{seed} []] (range {n}))] {told})"
            ),
            6 => format!("(reduce-kv (fn [acc x y] {step}) {seed} (vec (range {n})))"),
            7 => format!(
                "(let [f (fn [acc x] {step}) kept (reductions f {seed} (range {}))] [(count kept) (last kept) (nth kept 1)])",
                n.min(45)
            ),
            _ => {
                let inner = self.step(kind, "acc", helpers);
                format!(
                    "(reduce (fn [acc y] (if (even? y) (reduce (fn [acc x] {step}) acc (range {})) (let [x y] {inner}))) {seed} (range 6))",
                    n / 3
                )
            }
        }
    }

    fn seed(&mut self, kind: Kind) -> String {
        match (kind, self.pick(6)) {
            (Kind::Vector, 0 | 1) => "[]".into(),
            (Kind::Vector, 2) => "[1 2 3]".into(),
            (Kind::Vector, 3) => "(vec (repeat 40 0))".into(),
            (Kind::Vector, 4) => "(into [] (range 33))".into(),
            (Kind::Vector, _) => "(reduce conj [] (range 100))".into(),
            (Kind::Map, 0 | 1) => "{}".into(),
            (Kind::Map, 2) => "{:a 1 :b 2}".into(),
            (Kind::Map, 3) => "(zipmap (range 17) (range))".into(),
            // The fuel of a sorted collection depends on how its tree is balanced, which a snapshot changes.
            (Kind::Map, 4) if !self.asks => "(sorted-map 1 2)".into(),
            (Kind::Map, _) => "(into {} (map (fn [i] [i (* i i)]) (range 60)))".into(),
            (Kind::Set, 0 | 1) => "#{}".into(),
            (Kind::Set, 2) => "#{1 2}".into(),
            (Kind::Set, 3) => "(set (range 17))".into(),
            (Kind::Set, 4) if !self.asks => "(sorted-set 5)".into(),
            (Kind::Set, _) => "(set (range 0 90 3))".into(),
            (Kind::Nested, 0..3) => "{:v [] :m {} :s #{}}".into(),
            (Kind::Nested, 3) => "{:v [[1 2] [3]] :m {:k {:l 1}} :s #{[1 2]}}".into(),
            (Kind::Nested, _) => {
                "{:v (vec (repeat 35 0)) :m (zipmap (range 20) (range)) :s (set (range 20))}".into()
            }
        }
    }

    /// A number that the step may put in: mostly of `x`.
    fn number(&mut self) -> String {
        let number = self.plain_number();
        if self.asks && self.rarely(3) {
            return format!("(if (= 0 (mod x 11)) (tool/id {{:x {number}}}) {number})");
        }
        number
    }

    fn plain_number(&mut self) -> String {
        match self.pick(6) {
            0 => "x".into(),
            1 => "(* x x)".into(),
            2 => "(mod x 7)".into(),
            3 => "(- 50 x)".into(),
            4 => "(mod (* 7 x) 23)".into(),
            _ => self.pick(20).to_string(),
        }
    }

    fn key_of_x(&mut self) -> String {
        match self.pick(8) {
            0 => "[(mod x 5) x]".into(),
            1 => "(str \"k\" (mod x 30))".into(),
            2 => ":a".into(),
            3 => "(keyword (str \"k\" (mod x 4)))".into(),
            4 => "inc".into(),
            _ => self.number(),
        }
    }

    /// What one step makes of `acc`.
    fn step(&mut self, kind: Kind, acc: &str, helpers: &[(String, Kind)]) -> String {
        self.depth += 1;
        let text = if self.depth > 5 { self.change(kind, acc) } else { self.any_step(kind, acc, helpers) };
        self.depth -= 1;
        text
    }

    fn any_step(&mut self, kind: Kind, acc: &str, helpers: &[(String, Kind)]) -> String {
        let test = self.one_of(&["(even? x)", "(< x 20)", "(= 0 (mod x 3))", "(> x 35)"]);
        match self.pick(16) {
            0 => format!("(if {test} {} {})", self.step(kind, acc, helpers), self.step(kind, acc, helpers)),
            1 => format!("(if {test} {} {acc})", self.step(kind, acc, helpers)),
            2 => {
                let name = self.name("t");
                let first = self.step(kind, acc, helpers);
                format!("(let [{name} {first}] {})", self.step(kind, &name, helpers))
            }
            3 => {
                // Two values from one.
                let name = self.name("t");
                let first = self.step(kind, acc, helpers);
                let other = self.step(kind, acc, helpers);
                format!("(let [{name} {first} o {other}] (if (= (count o) (count {name})) {name} o))")
            }
            4 => {
                let name = self.name("o");
                let changed = self.step(kind, acc, helpers);
                format!("(let [{name} {acc} n {changed}] (if (and {test} (not= n {name})) n {name}))")
            }
            5 => match helpers.iter().find(|(_, of)| *of == kind) {
                Some((name, _)) => format!("({name} {acc} {})", self.number()),
                None => self.change(kind, acc),
            },
            6 => format!("(-> {acc} ((fn [a] {})))", self.step(kind, "a", helpers)),
            7 => {
                let step = self.step(kind, acc, helpers);
                format!("(do (println (count {acc})) {step})")
            }
            8 => {
                let name = self.name("t");
                let step = self.step(kind, acc, helpers);
                format!("(let [{name} (fn [] {acc})] (if {test} {step} ({name})))")
            }
            9 => {
                let step = self.step(kind, acc, helpers);
                format!(
                    "(try (if {test} (let [n {step}] (if (= x 4) (/ n 0) n)) {acc}) (catch Exception e {acc}))"
                )
            }
            10 => format!("(first [{} {acc}])", self.step(kind, acc, helpers)),
            11 => format!("(second (pmap (fn [i] {}) [{} x]))", self.change(kind, acc), self.number()),
            _ => self.change(kind, acc),
        }
    }

    /// One change.
    fn change(&mut self, kind: Kind, acc: &str) -> String {
        match kind {
            Kind::Vector => self.vector_change(acc),
            Kind::Map => self.map_change(acc),
            Kind::Set => self.set_change(acc),
            Kind::Nested => self.nested_change(acc),
        }
    }

    fn vector_change(&mut self, acc: &str) -> String {
        let at = format!("(mod {} (max 1 (count {acc})))", self.number());
        let n = self.number();
        match self.pick(16) {
            0..=3 => format!("(conj {acc} {n})"),
            4..=6 => format!("(assoc {acc} {at} {n})"),
            7 => {
                format!("(if (empty? {acc}) {acc} (update {acc} {at} (fn [y] (if (number? y) (+ y {n}) y))))")
            }
            8 => format!("(if (empty? {acc}) {acc} (pop {acc}))"),
            9 => format!("(into {acc} [{n} x])"),
            10 => format!("(conj {acc} {n} (count {acc}))"),
            11 => format!("(if (empty? {acc}) [x] (assoc {acc} 0 {n} (dec (count {acc})) x))"),
            12 => format!("(assoc {acc} (count {acc}) (nth {acc} {at} nil))"),
            13 => format!("(if (< 30 (count {acc})) (subvec {acc} {}) (conj {acc} [x {acc}]))", self.pick(4)),
            14 => format!("(conj (vec (rest {acc})) {n})"),
            _ => format!("(vec (map (fn [y] (if (number? y) (mod (+ 1 y) 97) y)) {acc}))"),
        }
    }

    fn map_change(&mut self, acc: &str) -> String {
        let (k, n) = (self.key_of_x(), self.number());
        match self.pick(14) {
            0..=3 => format!("(assoc {acc} {k} {n})"),
            4 => format!("(dissoc {acc} {k})"),
            5 | 6 => format!("(update {acc} {k} (fnil inc 0))"),
            7 => format!("(update {acc} {k} (fn [old] [x (count {acc})]))"),
            8 => format!("(merge {acc} {{{k} {n}}})"),
            9 => format!("(conj {acc} [{k} {n}])"),
            10 => format!("(into {acc} {{:z {n}}})"),
            11 => format!("(assoc {acc} {k} {n} :w x)"),
            12 => format!("(dissoc {acc} {n} {k})"),
            _ => format!("(assoc {acc} {n} (if (contains? {acc} {k}) (get {acc} {k}) (count {acc})))"),
        }
    }

    fn set_change(&mut self, acc: &str) -> String {
        let (k, n) = (self.key_of_x(), self.number());
        match self.pick(10) {
            0..=3 => format!("(conj {acc} {k})"),
            4 => format!("(disj {acc} {n})"),
            5 => format!("(if (contains? {acc} {n}) {acc} (conj {acc} {n}))"),
            6 => format!("(into {acc} [{n} {k}])"),
            7 => format!("(if ({acc} {n}) (disj {acc} {n}) (conj {acc} {k}))"),
            8 => format!("(disj {acc} {n} {k} x)"),
            _ => format!("(conj {acc} {n} {k})"),
        }
    }

    fn nested_change(&mut self, acc: &str) -> String {
        match self.pick(8) {
            0 => format!("(update {acc} :v (fn [v] {}))", self.vector_change("v")),
            1 => format!("(update {acc} :m (fn [m] {}))", self.map_change("m")),
            2 => format!("(update {acc} :s (fn [s] {}))", self.set_change("s")),
            3 => format!("(assoc-in {acc} [:m {} :q] {})", self.number(), self.number()),
            4 => format!("(update-in {acc} [:v (count (:v {acc}))] (fn [old] {}))", self.number()),
            5 => format!("(assoc {acc} :v {})", self.vector_change(&format!("(:v {acc})"))),
            6 => format!("(update-in {acc} [:n :m] (fnil conj #{{}}) {})", self.key_of_x()),
            _ => {
                let some = Type::Int;
                format!("(assoc {acc} {} {})", self.key_of_x(), self.expr(&some))
            }
        }
    }
}
