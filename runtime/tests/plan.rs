//! Plans: a program that runs with its writes listed instead of sent, and the run that carries them out.

use ptc_runtime::effects::{CarriedPlan, FileLedger, Ledger, Oversight, Plan, PlanEnd, Planner};
use ptc_runtime::{Effects, Failure, Grants, Outcome, Runtime, ToolError, Tools};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// A server that writes down what it was told to do.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Vec<i64>>>);

impl Server {
    fn runtime(&self) -> Runtime {
        let (writes, more) = (self.0.clone(), self.0.clone());
        let number = |args: &Value| args["n"].as_i64().ok_or_else(|| ToolError::new("`n` is a number"));
        let tools = Tools::new()
            .with("write", move |args| {
                let n = number(&args.json()?)?;
                writes.lock().unwrap().push(n);
                Ok(json!({"ok": n % 3 != 0, "n": n}))
            })
            .with("store", move |args| {
                let n = number(&args.json()?)?;
                more.lock().unwrap().push(n);
                Ok(if n % 2 == 0 { Value::Null } else { json!(n) })
            })
            .with("read", move |args| Ok(number(&args.json()?)? * 7 % 5))
            .effect("read", Effects::Read)
            .effect("write", Effects::Write);
        Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools)
    }

    fn take(&self) -> Vec<i64> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn planned(runtime: &Runtime, source: &str) -> (Plan, Result<Outcome, Failure>) {
    let planner = Planner::new();
    let grants = Grants::new().overseen(Oversight::new().plan(&planner), "run");
    let ended = runtime.eval(source, &grants);
    let end = ended.as_ref().map(drop).map_err(Clone::clone);
    (planner.plan(source, &end), ended)
}

fn numbers(plan: &Plan) -> Vec<i64> {
    plan.writes.iter().map(|write| write.args["n"].as_i64().unwrap()).collect()
}

/// The plan of a program of one line: its writes, and the write whose answer ended it.
fn plan_of(source: &str) -> (Vec<i64>, Option<String>) {
    let server = Server::default();
    let (plan, _) = planned(&server.runtime(), source);
    assert!(server.take().is_empty(), "a plan sends nothing: {source}");
    let end = plan
        .end
        .as_ref()
        .map(|end| end.write.as_ref().map_or_else(|| end.reason.clone(), |id| id.key().to_string()));
    (numbers(&plan), end)
}

const ANSWER: &str = "(let [r (tool/write {:n 1})] ";

#[test]
fn moving_an_unknown_value_goes_on_and_looking_at_it_ends_the_plan() {
    let moves = [
        "(tool/store {:n 2}) r)",
        "(do [r {:a r} (conj [1] r) (assoc {} :k r)] (tool/store {:n 2})))",
        "(def kept r) (tool/store {:n 2}) kept)",
        "(let [f (fn [] r)] (f) (tool/store {:n 2})))",
        "(count [r 1]) (first [1 r]) (nth [r] 0) (tool/store {:n 2}))",
        "(let [a (atom r)] (reset! a [r]) (deref a) (tool/store {:n 2})))",
        "(println \"made\" r) (tool/store {:n 2}))",
        "(mapv (fn [x] [x r]) [1 2]) (tool/store {:n 2}))",
        "(reduce conj [] [r r]) (tool/store {:n 2}))",
        "(reverse (concat [r] [1])) (into [] (map (fn [x] x) [r])) (tool/store {:n 2}))",
        "(zipmap [:a :b] (mapv identity [1 2])) (tool/store {:n 2}))",
        "(if (= 1 1) (tool/store {:n 2}) r))",
        "(pmap (fn [n] (tool/store {:n n}) r) [2]))",
        "(get {:a r :b 1} :b) (:b {:a r :b 1}) (tool/store {:n 2}))",
        "(merge {:a r} {:b 1}) (tool/store {:n 2}))",
    ];
    for rest in moves {
        assert_eq!(plan_of(&format!("{ANSWER}{rest}")), (vec![1, 2], None), "{rest}");
    }
    let looks = [
        "(if r (tool/store {:n 2}) 1))",
        "(when-not r (tool/store {:n 2})))",
        "(if (nil? r) 1 (tool/store {:n 2})))",
        "(if (some? r) (tool/store {:n 2}) 1))",
        "(if (:ok r) (tool/store {:n 2}) 1))",
        "(if (= r 1) 1 (tool/store {:n 2})))",
        "(if (= [r] [1]) 1 (tool/store {:n 2})))",
        "(if (= {:a r} {:a 1}) 1 (tool/store {:n 2})))",
        "(str r) (tool/store {:n 2}))",
        "(str [r]) (tool/store {:n 2}))",
        "(+ r 1) (tool/store {:n 2}))",
        "(< r 1) (tool/store {:n 2}))",
        "(get r :n) (tool/store {:n 2}))",
        "(get-in {:a r} [:a :n]) (tool/store {:n 2}))",
        "(count r) (tool/store {:n 2}))",
        "(r) (tool/store {:n 2}))",
        "({:a 1} r) (tool/store {:n 2}))",
        "(#{1} [r]) (tool/store {:n 2}))",
        "(tool/store {:n r}))",
        "(tool/store r))",
        "(tool/read {:n [r]}) (tool/store {:n 2}))",
        "#{r} (tool/store {:n 2}))",
        "{r 1} (tool/store {:n 2}))",
        "(hash-map r 1) (tool/store {:n 2}))",
        "(contains? #{1} r) (tool/store {:n 2}))",
        "(filter :ok [r]) (tool/store {:n 2}))",
        "(mapv :ok [r]) (tool/store {:n 2}))",
        "(remove nil? [r]) (tool/store {:n 2}))",
        "(keep identity [r]) (tool/store {:n 2}))",
        "(every? identity [r]) (tool/store {:n 2}))",
        "(some identity [r]) (tool/store {:n 2}))",
        "(sort [r 1]) (tool/store {:n 2}))",
        "(distinct [r 1]) (tool/store {:n 2}))",
        "(frequencies [r]) (tool/store {:n 2}))",
        "(group-by :ok [r]) (tool/store {:n 2}))",
        "(json/generate-string [r]) (tool/store {:n 2}))",
        "(flatten [[r]]) (tool/store {:n 2}))",
        "(and r (tool/store {:n 2})))",
        "(or r (tool/store {:n 2})))",
        "(case r 1 2 (tool/store {:n 2})))",
        "(let [{:keys [n]} r] (tool/store {:n 2})))",
        "(let [[a] r] (tool/store {:n 2})))",
        "(doseq [x r] x) (tool/store {:n 2}))",
        "(loop [x r] (if x (recur nil) 1)) (tool/store {:n 2}))",
        "(try (if r 1 2) (catch Exception e 3)) (tool/store {:n 2}))",
        "(try (throw (ex-info \"x\" {:r r})) (catch Exception e (:n (:r (ex-data e))))) (tool/store {:n 2}))",
        "(pmap (fn [x] (:n x)) [r]) (tool/store {:n 2}))",
        "(apply + [r 1]) (tool/store {:n 2}))",
        "(let [a (atom r)] (swap! a :n) (tool/store {:n 2})))",
        "(let [f (fn [] r)] (if (f) (tool/store {:n 2}) 1)))",
        "(not r) (tool/store {:n 2}))",
        "(vector? r) (tool/store {:n 2}))",
        "(def kept r) (if kept (tool/store {:n 2}) 1))",
    ];
    for rest in looks {
        let (writes, end) = plan_of(&format!("{ANSWER}{rest}"));
        assert_eq!((writes, end.as_deref()), (vec![1], Some("1")), "{rest}");
    }
}

#[test]
fn the_plan_names_the_place_of_each_write_and_of_its_end() {
    let server = Server::default();
    let source =
        "(tool/write {:n 1})\n(let [r (tool/store {:n 2})]\n  (when (:ok r)\n    (tool/write {:n 3})))";
    let (plan, ended) = planned(&server.runtime(), source);
    let places: Vec<_> =
        plan.writes.iter().map(|write| (write.tool.as_str(), write.line, write.column)).collect();
    assert_eq!(places, [("write", Some(1), Some(1)), ("store", Some(2), Some(9))]);
    assert_eq!(plan.writes[1].effect, "unknown");
    let PlanEnd { reason, write, line, .. } = plan.end.unwrap();
    assert_eq!((reason.as_str(), write.unwrap().key(), line), ("unknown_answer", "2", Some(3)));
    assert_eq!(ended.unwrap_err().reason(), "unknown_answer");
}

#[test]
fn a_plan_is_carried_out_as_it_is_or_not_at_all() {
    let server = Server::default();
    let runtime = server.runtime();
    let source = "(mapv (fn [n] (tool/write {:n n})) (range 1 (+ 2 (tool/read {:n 1}))))";
    let (plan, _) = planned(&runtime, source);
    let text = plan.to_json();
    let plan = Plan::from_json(&text).unwrap();
    let carry = |plan: &Plan, source: &str| {
        let carried = CarriedPlan::new(plan.clone(), None).unwrap();
        let grants = Grants::new().overseen(Oversight::new().carry_out(&carried), "run");
        let ended = runtime.eval(source, &grants).map(drop).map_err(|failure| failure.reason());
        (ended, server.take(), carried.left().len())
    };
    assert_eq!(carry(&plan, source), (Ok(()), vec![1, 2, 3], 0));
    // Other arguments, another tool, one more, one less, another order.
    assert_eq!(carry(&plan, &source.replace("{:n n}", "{:n (* n n)}")), (Err("plan_differs"), vec![1], 2));
    assert_eq!(carry(&plan, &source.replace("tool/write", "tool/store")).1, Vec::<i64>::new());
    assert_eq!(carry(&plan, &source.replace("(+ 2", "(+ 3")), (Err("plan_differs"), vec![1, 2, 3], 0));
    assert_eq!(carry(&plan, &source.replace("(+ 2", "(+ 1")), (Ok(()), vec![1, 2], 1));
    assert_eq!(carry(&plan, "(mapv (fn [n] (tool/write {:n n})) [2 1 3])").1, Vec::<i64>::new());
    assert!(plan.mismatch(source, None).is_none());
    assert!(plan.mismatch("(tool/write {:n 1})", None).unwrap().contains("another program"));
    assert!(plan.mismatch(source, Some("data")).unwrap().contains("other data"));
    // A plan whose shown arguments are not those of its hash: somebody was to be deceived.
    let forged = Plan::from_json(&text.replacen(r#""n": 1"#, r#""n": 100"#, 1)).unwrap();
    assert_eq!(carry(&forged, source), (Err("plan_differs"), vec![], 3));
    // A program cannot catch it, and goes on with nothing.
    let caught = "(try (tool/write {:n 9}) (catch Exception e 1)) (tool/write {:n 2})";
    assert_eq!(carry(&plan, caught), (Err("plan_differs"), vec![], 3));
}

#[test]
fn firewalled_arguments_are_compared_by_a_keyed_hash() {
    let server = Server::default();
    let runtime = server.runtime();
    let source = "(tool/write {:n 1 :to \"ada\" :pin (:_pin data/user)})";
    let grants = |pin: &str| {
        let user = format!(r#"{{"_pin": "{pin}"}}"#);
        Grants::new().json("user", &user).unwrap().firewall(true)
    };
    let planner = Planner::new();
    let ended = runtime.eval(source, &grants("1234").overseen(Oversight::new().plan(&planner), "run"));
    let plan = planner.plan(source, &ended.map(drop));
    assert!(plan.is_keyed() && !plan.to_json().contains("1234"), "{}", plan.to_json());
    assert_eq!(plan.writes[0].args, json!({"n": 1, "to": "ada", "pin": "<Firewalled>"}));
    assert!(CarriedPlan::new(plan.clone(), None).unwrap_err().contains("key is missing"));
    for (pin, made) in [("1234", vec![1]), ("1235", vec![])] {
        let carried = CarriedPlan::new(plan.clone(), Some(planner.key())).unwrap();
        let _ = runtime.eval(source, &grants(pin).overseen(Oversight::new().carry_out(&carried), "run"));
        assert_eq!(server.take(), made);
    }
}

#[test]
fn what_the_ledger_has_is_known_to_a_plan() {
    let server = Server::default();
    let runtime = server.runtime();
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(FileLedger::open(folder.path().join("effects.ledger")).unwrap());
    let source = "(when (:ok (tool/write {:n 1})) (when (:ok (tool/write {:n 2})) (tool/write {:n 4})))";
    // Planning and doing in turns, until there is nothing left to do.
    for (round, made) in [vec![1], vec![2], vec![4]].into_iter().enumerate() {
        let planner = Planner::new();
        let oversight = Oversight::new().record(ledger.clone());
        let ended = runtime.eval(source, &Grants::new().overseen(oversight.clone().plan(&planner), "run"));
        let plan = planner.plan(source, &ended.map(drop));
        assert_eq!((numbers(&plan), plan.end.is_none()), (made.clone(), round == 2));
        assert!(server.take().is_empty());
        let carried = CarriedPlan::new(plan, None).unwrap();
        let done = runtime.eval(source, &Grants::new().overseen(oversight.carry_out(&carried), "run"));
        assert_eq!((server.take(), done.is_ok()), (made, round == 2));
    }
}

/// Small programs, made from a number.
struct Maker {
    state: u64,
    /// Number of the next write.
    n: i64,
}

impl Maker {
    fn below(&mut self, most: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % most
    }

    fn write(&mut self, more: &str) -> String {
        self.n += 10;
        let tool = if self.below(2) == 0 { "write" } else { "store" };
        match more {
            "" => format!("(tool/{tool} {{:n {}}})", self.n),
            more => format!("(tool/{tool} {{:n (+ {} {more})}})", self.n),
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.below(5) {
                0 | 1 => self.write(""),
                2 => format!("(tool/read {{:n {}}})", self.below(9)),
                3 => self.below(5).to_string(),
                _ => "x".to_string(),
            };
        }
        let one = self.expression(depth - 1);
        match self.below(20) {
            0 => format!("(do {one} {})", self.expression(depth - 1)),
            1 => format!("(let [x {one}] {})", self.expression(depth - 1)),
            2 => format!(
                "(if (< 2 (tool/read {{:n {}}})) {one} {})",
                self.below(9),
                self.expression(depth - 1)
            ),
            3 => {
                let write = self.write("i");
                format!("(mapv (fn [i] {write} {one}) (range (tool/read {{:n {}}})))", self.below(9))
            }
            4 => {
                let write = self.write("i");
                format!("(pmap (fn [i] [{write} {one}]) [1 2 3])")
            }
            5 => format!("{{:a {one} :b {}}}", self.expression(depth - 1)),
            6 => format!("[{one} {}]", self.expression(depth - 1)),
            7 => format!("(:a {{:a {one} :b 1}})"),
            8 => format!("(get [{one} 1] {})", self.below(2)),
            9 => format!("(conj [] {one})"),
            10 => format!("(try {one} (catch Exception e {}))", self.expression(depth - 1)),
            11 => format!("(let [k (atom {one})] (deref k))"),
            12 => format!("(first (reverse [{one} {}]))", self.expression(depth - 1)),
            13 => format!("(reduce (fn [a b] (conj a b)) [] [{one} 1])"),
            // These look.
            14 => format!("(if {one} {} 0)", self.expression(depth - 1)),
            15 => format!("(str {one})"),
            16 => format!("(= {one} 1)"),
            17 => format!("(or {one} {})", self.expression(depth - 1)),
            18 => format!("(filter some? [{one}])"),
            _ => format!("(tool/store {{:n (count [{one}])}})"),
        }
    }
}

#[test]
fn a_plan_lists_the_writes_of_the_run_or_says_what_it_cannot_know() {
    let server = Server::default();
    let runtime = server.runtime();
    let (mut whole, mut ended, mut listed) = (0, 0, 0);
    for seed in 0..600 {
        let mut maker = Maker { state: seed * 7919 + 1, n: 0 };
        let (first, second) = (maker.expression(3), maker.expression(3));
        let source = format!("(let [x 1] {first} {second})");
        let (plan, of_plan) = planned(&runtime, &source);
        assert!(server.take().is_empty(), "a plan sends nothing: {source}");
        let real = runtime.eval(&source, &Grants::new());
        let made = server.take();
        let sorted = |mut numbers: Vec<i64>| {
            numbers.sort_unstable();
            numbers
        };
        let (planned, is_parallel) = (numbers(&plan), source.contains("pmap"));
        listed += planned.len();
        match &plan.end {
            None => {
                whole += 1;
                match is_parallel {
                    false => assert_eq!(planned, made, "{source}"),
                    true => assert_eq!(sorted(planned), sorted(made), "{source}"),
                }
                // It says the same again when it is carried out.
                let carried = CarriedPlan::new(plan, None).unwrap();
                let grants = Grants::new().overseen(Oversight::new().carry_out(&carried), "run");
                let again = runtime.eval(&source, &grants).map(|outcome| outcome.print().unwrap());
                assert_eq!(again.ok(), real.ok().map(|outcome| outcome.print().unwrap()), "{source}");
                assert!(carried.left().is_empty(), "{source}");
                server.take();
            }
            Some(end) => {
                ended += 1;
                assert_eq!(end.reason, of_plan.unwrap_err().reason());
                // A program may also fail for a reason of its own, in both runs.
                if end.reason != "unknown_answer" {
                    assert_eq!(real.unwrap_err().reason(), end.reason, "{source}");
                } else {
                    assert!(end.write.is_some() && end.line.is_some(), "{source}");
                }
                match is_parallel {
                    false => assert_eq!(planned, made[..planned.len()], "{source}"),
                    true => assert!(planned.iter().all(|n| made.contains(n)), "{source}"),
                }
            }
        }
    }
    assert!(
        whole >= 200 && ended >= 100 && listed >= 600,
        "{whole} whole plans, {ended} ended, {listed} writes"
    );
}
