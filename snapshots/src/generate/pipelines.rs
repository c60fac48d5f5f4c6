//! Programs about pipelines: loops that walk each other's results, over every kind of collection, some of which fault or
//! print half way, so that work done in another order is found.

use super::Generator;

/// The program about pipelines these bytes stand for.
///
/// ```
/// use ptc_snapshots::generate::pipeline_program;
/// assert_eq!(pipeline_program(&[1, 2, 3]), pipeline_program(&[1, 2, 3]));
/// ```
pub fn pipeline_program(bytes: &[u8]) -> String {
    let mut generator = Generator::new(bytes, false);
    let source = generator.source();
    let pipelines: Vec<String> = (0..1 + generator.pick(3)).map(|_| generator.whole_pipeline()).collect();
    format!(
        "(def k 3)\n(let [kept [1 2] low 2 xs {source}]\n  (println \"begins\")\n  [{} kept])",
        pipelines.join("\n   ")
    )
}

impl Generator<'_> {
    fn source(&mut self) -> String {
        match self.pick(10) {
            0..3 => format!("(range {})", [5, 40, 300][self.pick(3)]),
            3 => "[1 2 3 4 5 6 7 8 9 10]".into(),
            4 => "[1 2.5 3 nil 5]".into(),
            5 => "(vec (concat (range 50) [\"x\"] (range 50)))".into(),
            6 => "{1 2, 3 4, 5 6}".into(),
            7 => "[]".into(),
            8 => "(mapv (fn [i] {:id i :n (* 7 i) :tag (if (even? i) \"a\" \"b\")}) (range 40))".into(),
            _ => ["\"some text\"", "nil", "7", "#{1 2 3}", "(list 1 2 3)", "(sorted-set 3 1 2)"]
                [self.pick(6)]
            .into(),
        }
    }

    /// A pipeline, its result used in some way.
    fn whole_pipeline(&mut self) -> String {
        let stages = 1 + self.pick(5);
        let mut inner = match self.pick(4) {
            0 => format!("(range {})", [3, 30, 200][self.pick(3)]),
            _ => "xs".into(),
        };
        if self.rarely(5) {
            inner = format!("(vec {inner})");
        }
        for _ in 0..stages {
            inner = self.pipeline_stage(&inner);
        }
        match self.pick(8) {
            0..4 => self.folded_pipeline(&inner),
            4 => format!("(count {inner})"),
            5 => format!("(try {inner} (catch Exception e (:kind (ex-data e))))"),
            6 => format!("(loop [i 0 acc []] (if (< i 4) (recur (inc i) (conj acc {inner})) acc))"),
            _ => inner,
        }
    }

    fn pipeline_stage(&mut self, coll: &str) -> String {
        let (test, value) = (self.test_of_x(), self.value_of_x());
        match self.pick(9) {
            0..3 => format!("(map (fn [x] {value}) {coll})"),
            3 => format!("(mapv (fn [x] {value}) {coll})"),
            4 | 5 => format!("(filter (fn [x] {test}) {coll})"),
            6 => format!("(remove (fn [x] {test}) {coll})"),
            7 => format!("(keep (fn [x] (if {test} {value})) {coll})"),
            _ => ["(take 20 COLL)", "(map inc COLL)", "(sort COLL)", "(drop 2 COLL)"][self.pick(4)]
                .replace("COLL", coll),
        }
    }

    fn folded_pipeline(&mut self, coll: &str) -> String {
        let value = self.value_of_x();
        match self.pick(9) {
            0 | 1 => format!("(reduce (fn [acc x] (+ acc {value})) 0 {coll})"),
            2 => format!("(reduce (fn [acc x] (conj acc {value})) kept {coll})"),
            3 => format!("(reduce (fn [acc x] (assoc acc {value} x)) {{}} {coll})"),
            4 => format!("(reduce (fn [acc x] (if (= x 77) (reduced acc) (+ acc 1))) 0 {coll})"),
            5 => format!("(reduce (fn [acc x] (if {} (+ acc 1) acc)) 0 {coll})", self.test_of_x()),
            6 => format!("(reduce + {coll})"),
            7 => format!("(reduce (fn [acc x] (max acc (if (number? x) x 0))) 0 {coll})"),
            _ => format!("(frequencies {coll})"),
        }
    }

    fn test_of_x(&mut self) -> String {
        match self.pick(10) {
            0 => "(even? x)".into(),
            1 => "(> x 5)".into(),
            2 => "(and (number? x) (> x low))".into(),
            3 => "(= 1 (mod x k))".into(),
            4 => "(:tag x)".into(),
            5 => "(= \"a\" (:tag x))".into(),
            6 => "(> (:n x) 40)".into(),
            7 => "(not= x 4)".into(),
            8 => "(or (nil? x) (< x 100))".into(),
            _ => "(contains? #{1 2 3 4} x)".into(),
        }
    }

    fn value_of_x(&mut self) -> String {
        match self.pick(18) {
            0 => "(* x x)".into(),
            1 => "(+ x 1)".into(),
            2 => "(inc x)".into(),
            3 => "(- 20 x)".into(),
            4 => "(let [y (* 2 x) z (+ y k)] (- z low))".into(),
            5 => "(if (even? x) (quot x 2) (+ 1 (* 3 x)))".into(),
            6 => "(/ 10 (- x 30))".into(),
            7 => "(quot 100 (- x 3))".into(),
            8 => "[x (str x)]".into(),
            9 => "{:n x :tag \"a\"}".into(),
            10 => "(assoc x :z 1)".into(),
            11 => "(:n x)".into(),
            12 => "(get-in x [:n] 5)".into(),
            13 => "(str \"v\" x \"-\" low)".into(),
            14 => "(do (println x) x)".into(),
            15 => "(nth kept (mod x 2))".into(),
            16 => "(reduce + (map (fn [y] (* y x)) (range 4)))".into(),
            _ => "x".into(),
        }
    }
}
