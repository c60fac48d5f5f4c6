//! Tests of reads, as text: `:total of data/orders each`.

use super::{Of, PathId, Reads, Step};
use crate::{Options, Scope, resolve_source};
use bumpalo::Bump;
use ptc_bytecode::{Limits, ToolName};

fn reads(source: &str) -> Reads {
    let arena = Bump::new();
    let scope = Scope::default().with_defs(["before"]);
    let program = resolve_source(source, &scope, &Limits::default(), Options::default(), &arena);
    super::reads(&program.expect("it resolves"), None, &arena)
}

fn path(reads: &Reads, id: PathId) -> String {
    let path = &reads.paths[id.0 as usize];
    let step = match &path.step {
        Step::Data(name) => return format!("data/{name}"),
        Step::Definition(name) => return name.to_string(),
        Step::Answer(ToolName::Named(name)) => return format!("tool/{name}"),
        Step::Answer(ToolName::Upstream { server, tool }) => return format!("{server}/{tool}"),
        Step::Field(key) => key.to_string(),
        Step::Each => "each".to_string(),
        Step::Nth(at) => at.to_string(),
        Step::Values => "values".to_string(),
    };
    format!("{} {step}", self::path(reads, path.parent.expect("only beginnings have none")))
}

/// Formats the lookups of a program in the order of its text; `?` marks fields whose absence is handled, `…`
/// lookups in unknown values.
fn lookups(source: &str) -> Vec<String> {
    let reads = reads(source);
    let one = |lookup: &super::Lookup| {
        let of = lookup.of.iter().map(|of| match of {
            Of::Path(id) => path(&reads, *id),
            Of::Made { keys, .. } => {
                format!("{{{}}}", keys.iter().map(|key| key.to_string()).collect::<Vec<_>>().join(" "))
            }
        });
        let mut of: Vec<String> = of.collect();
        of.extend(lookup.is_open.then(|| "…".to_string()));
        format!("{}{} of {}", lookup.key, if reads.is_guarded(lookup) { "?" } else { "" }, of.join(", "))
    };
    reads.lookups.iter().map(one).collect()
}

#[track_caller]
fn check(source: &str, wanted: &[&str]) {
    assert_eq!(lookups(source), wanted, "{source}");
}

#[test]
fn fields_of_data() {
    check("(:name data/user)", &[":name of data/user"]);
    check("(get data/user \"name\")", &["\"name\" of data/user"]);
    check("(data/user :name)", &[":name of data/user"]);
    check("(get-in data/user [:address :city])", &[":address of data/user", ":city of data/user :address"]);
    check("(-> data/user :address :city)", &[":address of data/user", ":city of data/user :address"]);
    check("(:total before)", &[":total of before"]);
    check("(:id (tool/find {:q 1}))", &[":id of tool/find"]);
}

#[test]
fn elements() {
    check("(map :total data/orders)", &[":total of data/orders each"]);
    check("(:total (first data/orders))", &[":total of data/orders 0"]);
    check(
        "(->> data/orders (sort-by :day) reverse (take 3) (mapv :id))",
        &[":day of data/orders each", ":id of data/orders each"],
    );
    check(
        "(for [o data/orders i (:items o)] (:price i))",
        &[":items of data/orders each", ":price of data/orders each :items each"],
    );
    check("(doseq [o data/orders] (println (:id o)))", &[":id of data/orders each"]);
    check("(mapcat :items data/orders)", &[":items of data/orders each"]);
    check("(map (fn [[k v]] (:n v)) data/by-name)", &[":n of data/by-name each 1"]);
    check("(map :n (vals data/by-name))", &[":n of data/by-name values"]);
    check(
        "(update-vals (group-by :city data/people) (fn [ps] (map :age ps)))",
        &[":city of data/people each", ":age of data/people each"],
    );
    check(
        "(let [g (group-by :d data/rows)] (for [[k rs] g :let [ns (keep :n rs)] :when (seq ns)] [k 1]))",
        &[":d of data/rows each", ":n? of data/rows each"],
    );
    check("(map #(dissoc % :id) data/rows)", &[":id of data/rows each"]);
    check("(map (juxt :id :name) data/rows)", &[":id of data/rows each", ":name of data/rows each"]);
    check("(max-by :age data/people)", &[":age of data/people each"]);
}

#[test]
fn bindings_and_functions() {
    check("(let [{:keys [a] b :bee} data/x] [a b])", &[":a of data/x", ":bee of data/x"]);
    check("(defn price [i] (:price i)) (map price data/items)", &[":price of data/items each"]);
    check("(defn price [i] (:price i)) (price data/a) (price data/b)", &[":price of data/a, data/b"]);
    check("(map (fn [{:keys [id]}] id) data/rows)", &[":id of data/rows each"]);
    check("(map #(:id %) data/rows)", &[":id of data/rows each"]);
    check("(reduce (fn [sum row] (+ sum (:n row))) 0 data/rows)", &[":n of data/rows each"]);
    check(
        "(loop [rows data/rows sum 0] (if (seq rows) (recur (rest rows) (+ sum (:n (first rows)))) sum))",
        &[":n of data/rows each"],
    );
    // A tree: a recursive function may be anywhere in it.
    check(
        "(defn labels [t] (cons (:label t) (mapcat labels (:children t)))) (labels data/tree)",
        &[":label of data/tree, …", ":children of data/tree, …"],
    );
    // The caller is unknown.
    check("(defn f [r] (:id r))", &[":id of …"]);
}

#[test]
fn made_maps() {
    check("(:b {:a 1})", &[":b of {:a}"]);
    check("(:a {:a 1})", &[]);
    check("(map :sum (map (fn [r] {:id (:id r)}) data/rows))", &[":sum of {:id}", ":id of data/rows each"]);
    check("(:id (assoc (first data/rows) :n 1))", &[":id of data/rows 0"]);
    check("(:n (assoc (first data/rows) :n 1))", &[]);
    check("(:n (merge (first data/rows) {:n 1}))", &[]);
    check("(:b (select-keys data/x [:a]))", &[":b of {:a}", ":a of data/x"]);
}

#[test]
fn guards() {
    check("(or (:nick data/u) (:name data/u))", &[":nick? of data/u", ":name? of data/u"]);
    check("(if (:vip data/u) 1 2)", &[":vip? of data/u"]);
    check("(when-let [a (:address data/u)] (:city a))", &[":address? of data/u", ":city of data/u :address"]);
    check("(get data/u :age 0)", &[":age? of data/u"]);
    check("(:age data/u 0)", &[":age? of data/u"]);
    check("(let [{:keys [age] :or {age 0}} data/u] age)", &[":age? of data/u"]);
    check("(remove :archived data/rows)", &[":archived? of data/rows each"]);
    check("(filter (fn [r] (:open r)) data/rows)", &[":open? of data/rows each"]);
    check("(filter (fn [r] (= (:state r) \"open\")) data/rows)", &[":state of data/rows each"]);
    check("(keep :phone data/rows)", &[":phone? of data/rows each"]);
    check("(contains? data/u :age)", &[":age? of data/u"]);
    check("(filter #(nil? (:end %)) data/rows)", &[":end? of data/rows each"]);
    check("(filter #(= nil (:end %)) data/rows)", &[":end? of data/rows each"]);
    check("(map (fnil inc 0) (map :n data/rows))", &[":n? of data/rows each"]);
    // A group may be missing.
    check("(get (group-by :state data/rows) \"late\")", &["\"late\"? of …", ":state of data/rows each"]);
    check("(:late (frequencies (map :state data/rows)))", &[":late? of …", ":state of data/rows each"]);
}

#[test]
fn what_is_not_known() {
    check("(:a (json/parse-string data/text))", &[":a of …"]);
    check("(:a (or data/x {:b 1}))", &[":a of …"]);
    check("(map (fn [k] (k data/row)) [:a :b])", &[]);
    check("(map (fn [n] (:price (get data/prices n))) [1 2])", &[":price of data/prices values"]);
}

#[test]
fn a_long_program_is_known_in_part() {
    let calls = "(f data/x) ".repeat(3_000);
    let reads = reads(&format!("(defn f [x] (:a x) (:b x) (:c x)) {calls}"));
    assert!(reads.lookups.iter().all(|lookup| lookup.is_open));
    let deep = format!("{}data/x{}", "(:a ".repeat(60), ")".repeat(60));
    assert_eq!(lookups(&deep).len(), 60);
}

/// Makes bindings that each contain the previous one several times.
fn doubled(first: &str, next: impl Fn(&str) -> String, times: usize) -> String {
    let one = |at: usize| format!("v{} {}", at + 1, next(&format!("v{at}")));
    format!("v0 {first} {}", (0..times).map(one).collect::<Vec<_>>().join(" "))
}

#[test]
fn shared_parts_are_not_written_out() {
    // Shared maps whose expansion to a tree would have more nodes than there are atoms.
    let maps = doubled("{:x (inc 1)}", |v| format!("{{:p {v} :q {v}}}"), 300);
    reads(&format!("(let [{maps}] (if (odd? data/n) v300 v299) (:p (if (odd? data/n) v300 v300)))"));
    let again = doubled("{:x (inc 1)}", |v| format!("{{:p {v} :q {v}}}"), 300).replace('v', "w");
    reads(&format!("(let [{maps} {again}] (:p (if (odd? data/n) v300 w300)))"));
    let lists = doubled("[#(:a %)]", |v| format!("[{v} {v}]"), 300);
    reads(&format!("(let [{lists}] (data/f v300))"));
    let functions = doubled("(juxt inc dec)", |v| format!("(juxt {v} {v})"), 300);
    reads(&format!("(let [{functions}] (v300 1) (map v300 data/rows))"));
    let chain = doubled("inc", |v| format!("(comp {v} dec)"), 3_000);
    reads(&format!("(let [{chain}] (v3000 data/n))"));
}

#[test]
fn large_arguments_are_told_in_part() {
    let wide =
        |of: &str| format!("{{{}}}", (0..64).map(|i| format!(":k{i} {of}")).collect::<Vec<_>>().join(" "));
    let calls: String = (0..300).map(|i| format!("(tool/x {{:n{i} c}})")).collect();
    let reads = reads(&format!("(let [a {} b {} c {}] {calls})", wide("data/n"), wide("a"), wide("b")));
    fn nodes(given: &super::Given) -> usize {
        match given {
            super::Given::Map { fields, .. } => {
                1 + fields.iter().map(|(_, given)| nodes(given)).sum::<usize>()
            }
            _ => 1,
        }
    }
    assert_eq!(reads.calls.len(), 300);
    let told: usize = reads.calls.iter().map(|call| nodes(&call.args)).sum();
    assert!(told < 50_000, "{told} parts");
}

#[test]
fn large_maps_have_keys_that_are_data() {
    let wide: String = (0..1_000).map(|i| format!(":k{i} (inc {i}) ")).collect();
    check(&format!("(:total {{{wide}}})"), &[":total? of …"]);
    let narrow: String = (0..250).map(|i| format!(":k{i} (inc {i}) ")).collect();
    let merged = "(merge m m) ".repeat(2_000);
    reads(&format!("(let [m {{{narrow}}}] {merged})"));
}
