//! Generated correct programs: records, and typical questions about them.

use super::Right;
use ptc_runtime::Runtime;
use serde_json::{Map, Value, json};

/// A kind of records: text fields, numbers, a flag and a number that some records lack, and a list of parts.
struct Entity {
    data: &'static str,
    texts: [(&'static str, &'static [&'static str]); 2],
    numbers: [&'static str; 2],
    flag: &'static str,
    optional: &'static str,
    parts: &'static str,
    part_numbers: [&'static str; 2],
    inner: (&'static str, &'static str),
}

const ENTITIES: &[Entity] = &[
    Entity {
        data: "orders",
        texts: [
            ("status", &["paid", "open", "refunded"]),
            ("customer", &["ada", "grace", "linus", "margaret"]),
        ],
        numbers: ["total", "shipping_cost"],
        flag: "archived",
        optional: "discount",
        parts: "lines",
        part_numbers: ["quantity", "unit_price"],
        inner: ("address", "city"),
    },
    Entity {
        data: "tickets",
        texts: [("priority", &["low", "high", "urgent"]), ("assignee", &["kim", "lee", "sam"])],
        numbers: ["age_days", "replies"],
        flag: "escalated",
        optional: "rating",
        parts: "comments",
        part_numbers: ["votes", "length"],
        inner: ("reporter", "team"),
    },
    Entity {
        data: "machines",
        texts: [("region", &["eu-west", "us-east"]), ("kind", &["web", "db", "cache", "queue"])],
        numbers: ["cpu", "memory_mb"],
        flag: "drained",
        optional: "restarts",
        parts: "disks",
        part_numbers: ["used_gb", "size_gb"],
        inner: ("owner", "group"),
    },
    Entity {
        data: "employees",
        texts: [("department", &["sales", "legal", "research"]), ("grade", &["a", "b", "c"])],
        numbers: ["salary", "years"],
        flag: "on_leave",
        optional: "bonus",
        parts: "projects",
        part_numbers: ["hours", "rate"],
        inner: ("manager", "office"),
    },
];

/// A pseudo-random sequence from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<'t, T: ?Sized>(&mut self, items: &[&'t T]) -> &'t T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// Generates this many correct programs.
pub fn generated(runtime: &Runtime, count: usize) -> Vec<Right> {
    let mut all = Vec::new();
    for seed in 0.. {
        let mut chance = Chance(seed);
        let entity = &ENTITIES[chance.below(ENTITIES.len() as u64) as usize];
        let rows = rows(entity, &mut chance);
        let program = program(entity, &mut chance);
        let data = vec![(entity.data.to_string(), rows.to_string())];
        let mut right = Right { name: format!("generated {seed}"), program, data, answer: String::new() };
        // A program that fails is not correct, whatever the reason.
        if let Ok(outcome) = runtime.eval(&right.program, &right.grants())
            && let Ok(answer) = outcome.print()
        {
            right.answer = answer;
            all.push(right);
        }
        if all.len() == count || seed > 10 * count as u64 {
            break;
        }
    }
    all
}

fn rows(entity: &Entity, chance: &mut Chance) -> Value {
    let row = |chance: &mut Chance, id: u64| {
        let mut row = Map::new();
        row.insert("id".into(), id.into());
        for (name, values) in entity.texts {
            row.insert(name.into(), chance.of(values).into());
        }
        for name in entity.numbers {
            row.insert(name.into(), (1 + chance.below(500)).into());
        }
        if chance.below(3) == 0 {
            row.insert(entity.flag.into(), (chance.below(2) == 0).into());
        }
        match chance.below(4) {
            0 => _ = row.insert(entity.optional.into(), chance.below(9).into()),
            1 => _ = row.insert(entity.optional.into(), Value::Null),
            _ => {}
        }
        let part = |chance: &mut Chance| {
            let [a, b] = entity.part_numbers;
            json!({a: 1 + chance.below(9), b: 1 + chance.below(50)})
        };
        let parts: Vec<Value> = (0..chance.below(4)).map(|_| part(chance)).collect();
        row.insert(entity.parts.into(), parts.into());
        let (inner, name) = entity.inner;
        row.insert(inner.into(), json!({name: chance.of(&["north", "south"])}));
        Value::Object(row)
    };
    (0..3 + chance.below(10)).map(|id| row(chance, id)).collect()
}

/// Generates a question about the records.
fn program(entity: &Entity, chance: &mut Chance) -> String {
    let fill = |text: &str, chance: &mut Chance| -> String {
        let (text_field, values) = entity.texts[chance.below(2) as usize];
        let number = entity.numbers[chance.below(2) as usize];
        let [part_a, part_b] = entity.part_numbers;
        text.replace("TEXT", text_field)
            .replace("VALUE", chance.of(values))
            .replace("NUM", number)
            .replace("FLAG", entity.flag)
            .replace("OPT", entity.optional)
            .replace("PARTS", entity.parts)
            .replace("PA", part_a)
            .replace("PB", part_b)
            .replace("INNER", entity.inner.0)
            .replace("NAME", entity.inner.1)
            .replace("LIMIT", &chance.below(400).to_string())
    };
    let mut rows = format!("data/{}", entity.data);
    for _ in 0..chance.below(3) {
        rows = fill(chance.of(CHOOSE), chance).replace("ROWS", &rows);
    }
    fill(chance.of(ASK), chance).replace("ROWS", &rows)
}

/// Expressions that select some of the rows.
const CHOOSE: &[&str] = &[
    "(filter #(> (:NUM %) LIMIT) ROWS)",
    "(filter (fn [r] (= (:TEXT r) \"VALUE\")) ROWS)",
    "(remove :FLAG ROWS)",
    "(filter :FLAG ROWS)",
    "(filter (comp pos? :NUM) ROWS)",
    "(filter (fn [{:keys [NUM]}] (< NUM LIMIT)) ROWS)",
    "(sort-by :NUM ROWS)",
    "(sort-by (juxt :TEXT :id) ROWS)",
    "(take 5 (reverse (sort-by :NUM ROWS)))",
    "(vec (distinct ROWS))",
    "(filterv #(seq (:PARTS %)) ROWS)",
    "(filter #(= \"north\" (get-in % [:INNER :NAME])) ROWS)",
    "(remove (fn [r] (nil? (:OPT r))) ROWS)",
    "(map #(assoc % :id (inc (:id %))) ROWS)",
    "(->> ROWS (filter #(contains? % :TEXT)) (drop 1))",
];

/// Questions about the selected rows.
const ASK: &[&str] = &[
    "(count ROWS)",
    "(sum-by :NUM ROWS)",
    "(reduce + (map :NUM ROWS))",
    "(apply max 0 (map :NUM ROWS))",
    "(map #(select-keys % [:id :TEXT]) ROWS)",
    "(frequencies (map :TEXT ROWS))",
    "(update-vals (group-by :TEXT ROWS) count)",
    "(update-vals (group-by :TEXT ROWS) (fn [rs] (sum-by :NUM rs)))",
    "(into {} (map (juxt :id :NUM) ROWS))",
    "(for [r ROWS] {:key (:TEXT r) :n (* 2 (:NUM r))})",
    "(for [r ROWS :when (:FLAG r) p (:PARTS r)] (* (:PA p) (:PB p)))",
    "(mapv (fn [{:keys [id TEXT] :as r}] [id TEXT (:NUM r)]) ROWS)",
    "(let [top (first (sort-by :NUM ROWS))] [(:id top) (:TEXT top)])",
    "(sum-by #(* (:PA %) (:PB %)) (mapcat :PARTS ROWS))",
    "(reduce (fn [acc r] (update acc (:TEXT r) (fnil + 0) (:NUM r))) {} ROWS)",
    "(let [index (reduce (fn [acc r] (assoc acc (:id r) r)) {} ROWS)] (map (fn [id] (:TEXT (get index id))) (keys index)))",
    "(some #(when (= (:TEXT %) \"VALUE\") (:id %)) ROWS)",
    "(map (fn [r] (:double (assoc r :double (* 2 (:NUM r))))) ROWS)",
    "(sum-by #(or (:OPT %) 0) ROWS)",
    "(count (keep :OPT ROWS))",
    "(map #(get % :OPT 0) ROWS)",
    "(distinct (map #(get-in % [:INNER :NAME]) ROWS))",
    "(loop [left ROWS total 0] (if (empty? left) total (recur (rest left) (+ total (:NUM (first left))))))",
    "(map (fn [[k rs]] {:key k :ids (map :id rs)}) (group-by :TEXT ROWS))",
    "(defn worth [r] (reduce + 0 (map #(* (:PA %) (:PB %)) (:PARTS r)))) (max-by worth ROWS)",
    "(let [{:keys [NUM TEXT] :or {NUM 0 TEXT \"none\"}} (first ROWS)] [NUM TEXT])",
    "(->> ROWS (map :PARTS) (map count) (reduce + 0))",
    "(map #(-> % (dissoc \"FLAG\" \"OPT\") (update :NUM inc)) ROWS)",
    "(every? #(>= (:NUM %) 0) ROWS)",
    "(if-let [r (first ROWS)] (str (:TEXT r) \"-\" (:id r)) \"nothing\")",
    "(map (fn [r] (if (:FLAG r) :flagged (:TEXT r))) ROWS)",
    "(reduce-kv (fn [acc k rs] (assoc acc k (avg-by :NUM rs))) {} (group-by :TEXT ROWS))",
    "(partition-all 2 (map :id ROWS))",
    "(zipmap (map :id ROWS) (map :TEXT ROWS))",
    "(pmap (fn [r] (+ (:NUM r) (count (:PARTS r)))) ROWS)",
    "(count (filter (every-pred :TEXT (comp even? :NUM)) ROWS))",
    "(map #(cond (> (:NUM %) LIMIT) :large (:FLAG %) :flagged :else (:TEXT %)) ROWS)",
    "(try (reduce + (map :NUM ROWS)) (catch Exception e 0))",
];
