//! Memory accounting under `pmap`: a generated program ends the same way on any number of threads, whether or not it is
//! written to bytes at every call. Its ending, place, fuel and reported bytes are all compared.
//!
//! `PTC_TEST_PROGRAMS=20000 cargo test -p ptc-runtime --test accounts` tries more programs, `PTC_TEST_SEED` others.

use ptc_runtime::json::freeze_json;
use ptc_runtime::{
    Datum, Grants, Limits, Node, PendingCall, Program, Runtime, Step, ToolAnswer, ToolError, Tools,
};
use rayon::ThreadPool;
use std::collections::BTreeMap;

/// A random number generator that is the same on every machine (xorshift*).
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }
}

/// Generator of programs that hold and drop data of their own, arguments and replies.
struct Author {
    dice: Dice,
    /// Names in scope, all bound to data.
    scope: Vec<String>,
    names: usize,
    /// Number of enclosing `pmap`s.
    forks: usize,
    /// Number of parts still allowed.
    parts: usize,
}

impl Author {
    fn program(&mut self) -> String {
        let mut text = String::new();
        for n in 0..self.dice.below(3) {
            let data = self.data(2);
            text.push_str(&format!("(def d{n} {data})\n"));
            self.scope.push(format!("d{n}"));
        }
        let body = self.data(4);
        match self.dice.below(3) {
            0 => text + &body,
            1 => text + &format!("(count {body})"),
            _ => text + &format!("(let [last {body}] [(count last) last])"),
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Generates an expression in a scope with one more name.
    fn with(&mut self, name: &str, depth: usize) -> String {
        self.scope.push(name.to_string());
        let data = self.data(depth);
        self.scope.pop();
        data
    }

    /// Picks a number of items.
    fn size(&mut self) -> usize {
        self.dice.pick(&[1, 3, 10, 40, 150, 600])
    }

    /// Generates an expression whose value is a collection or a text.
    fn data(&mut self, depth: usize) -> String {
        self.parts = self.parts.saturating_sub(1);
        let depth = if self.parts == 0 { 0 } else { depth };
        let size = self.size();
        if depth == 0 {
            return match self.dice.below(7) {
                0 => format!("(vec (range {size}))"),
                1 => format!("(vec (repeat {size} data/text))"),
                2 => format!("(str data/text {size})"),
                3 => format!("(tool/page {{:n {size}}})"),
                4 => format!("(tool/list {{:n {size}}})"),
                _ => match self.scope.len() {
                    0 => "data/rows".to_string(),
                    n => self.scope[self.dice.below(n)].clone(),
                },
            };
        }
        let less = depth - 1;
        match self.dice.below(14) {
            0 => format!("(mapv (fn [x] [x {size}]) {})", self.data(less)),
            1 | 2 => {
                let (name, value) = (self.name(), self.data(less));
                format!("(let [{name} {value}] {})", self.with(&name, less))
            }
            3 => format!("(vec (take {size} {}))", self.data(less)),
            4 => format!("{{:a {} :b {}}}", self.data(less), self.data(less)),
            5 => format!("(do (tool/put {{:a {}}}) {})", self.data(less), self.data(less)),
            6 => format!("[(count {}) {}]", self.data(less), self.data(less)),
            7 => {
                let (name, times) = (self.name(), self.dice.below(6));
                let body = self.with(&name, less);
                format!(
                    "(loop [i 0 {name} []] (if (= i {times}) {name} (recur (inc i) (conj {name} {body}))))"
                )
            }
            8 => {
                let (name, times) = (self.name(), self.dice.below(8));
                let body = self.with(&name, less);
                format!("(loop [i 0 {name} []] (if (= i {times}) {name} (recur (inc i) {body})))")
            }
            9 => format!("(vec (repeat {} (str data/text {})))", self.dice.below(9), self.data(less)),
            10 if self.dice.below(8) == 0 => format!("(+ 1 {})", self.data(less)),
            11 if self.forks < 2 => {
                self.forks += 1;
                let branches = [self.data(less), self.data(less), self.data(less)];
                self.forks -= 1;
                format!("(pcalls (fn [] {}) (fn [] {}) (fn [] {}))", branches[0], branches[1], branches[2])
            }
            _ if self.forks < 2 => {
                let (name, items) = (self.name(), 1 + self.dice.below(9));
                self.forks += 1;
                let body = self.with(&name, less);
                self.forks -= 1;
                let items = match self.dice.below(3) {
                    0 => format!("(vec (take {items} {}))", self.data(0)),
                    _ => format!("(mapv (fn [i] [i]) (range {items}))"),
                };
                format!("(pmap (fn [{name}] {body}) {items})")
            }
            _ => self.data(less),
        }
    }
}

/// One program with everything that decides its ending.
struct Case {
    source: String,
    limits: Limits,
    seed: u64,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut dice = Dice::new(seed);
        let limits = Limits {
            memory_bytes: dice.pick(&[10_000, 30_000, 80_000, 200_000, 1_000_000]),
            granted_bytes: dice.pick(&[20_000, 40_000, 80_000, 150_000, 500_000]),
            fuel: dice.pick(&[3_000, 100_000, 1_000_000, 1_000_000, 1_000_000]),
            parallel_in_flight: dice.pick(&[1, 2, 3, 8, 64]),
            tool_calls: dice.pick(&[0, 0, 0, 0, 12]),
            timeout_ms: 3_600_000,
            ..Limits::default()
        };
        let mut author = Author { dice, scope: Vec::new(), names: 0, forks: 0, parts: 30 };
        Case { source: author.program(), limits, seed }
    }

    /// Runs it and describes its ending. The dice, equal in all runs, decide which calls are answered before it
    /// goes on.
    fn ending(&self, runtime: &Runtime, program: &Program, grants: &Grants, is_saved: bool) -> String {
        let mut dice = Dice::new(!self.seed);
        let mut run = match runtime.start_with(program, grants) {
            Ok(run) => run,
            Err(failure) => return format!("not started: {failure}"),
        };
        loop {
            let calls = match run.step() {
                Step::Done(Ok(outcome)) => {
                    let (text, _) = outcome.print_start(300).unwrap();
                    return format!("{text}, {} fuel, {} calls", outcome.fuel, outcome.tool_calls);
                }
                Step::Done(Err(failure)) => return format!("{failure}, {} fuel", failure.fuel),
                Step::NeedsTools(calls) => calls,
            };
            if is_saved {
                let bytes = run.snapshot().unwrap_or_else(|failure| panic!("{failure}\n{self}"));
                run = runtime.load(&bytes, grants).unwrap_or_else(|failure| panic!("{failure}\n{self}"));
            }
            let first = dice.below(calls.len());
            let most = match dice.below(3) {
                0 => 1,
                1 => calls.len(),
                _ => 1 + dice.below(calls.len()),
            };
            for call in calls.iter().cycle().skip(first).take(most) {
                run.answer(&call.id, answer(call)).unwrap_or_else(|failure| panic!("{failure}\n{self}"));
            }
        }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {}, {:?}", self.seed, self.limits)?;
        f.write_str(&self.source)
    }
}

/// Answers a call, depending on its arguments only.
fn answer(call: &PendingCall) -> Result<ToolAnswer, ToolError> {
    let size = call.args.nodes().iter().find_map(|node| match node {
        Node::Int(n) => Some(*n as usize),
        _ => None,
    });
    let size = size.unwrap_or(0);
    match &*call.name {
        "page" => {
            let rows: Vec<String> = (0..size).map(|i| format!(r#"{{"id":{i},"tags":["a",{i}]}}"#)).collect();
            Ok(ToolAnswer::Frozen(freeze_json(format!("[{}]", rows.join(",")), u64::MAX).unwrap()))
        }
        "list" => ToolAnswer::from_serialize(&vec!["some text"; size.min(600)]),
        _ => {
            let size = Datum::clone(&call.args).nodes().len().to_string();
            ToolAnswer::from_serialize(&size)
        }
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |value| value.parse().expect(variable))
}

#[test]
fn programs_end_alike_on_any_number_of_threads_and_saved_or_not() {
    let (programs, first) = (number("PTC_TEST_PROGRAMS", 200), number("PTC_TEST_SEED", 1));
    let pools: Vec<ThreadPool> = [1, 2, 8]
        .into_iter()
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
        .collect();
    let text = "some text of a page ".repeat(20);
    let grants = Grants::new().serde("text", &text).unwrap().serde("rows", &vec![vec![1, 2]; 50]).unwrap();
    let names = ["page", "list", "put"].into_iter();
    let tools = names.fold(Tools::new(), |tools, name| tools.with(name, |_| Ok(0)));
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools);
    let (mut kinds, mut different) = (BTreeMap::<String, u64>::new(), Vec::new());
    for seed in first..first + programs {
        let case = Case::new(seed);
        let runtime = runtime.clone().limits(case.limits);
        let program = runtime.compile(&case.source).unwrap_or_else(|failure| panic!("{failure}\n{case}"));
        let ending = |is_saved: bool| case.ending(&runtime, &program, &grants, is_saved);
        let expected = pools[0].install(|| ending(false));
        let kind = match expected.split_once("error[") {
            Some((_, rest)) => rest.split(':').next().unwrap_or_default().to_string(),
            None => "a value".to_string(),
        };
        *kinds.entry(kind).or_default() += 1;
        for (pool, is_saved) in [(1, false), (2, false), (0, true), (1, true), (2, true)] {
            let found = pools[pool].install(|| ending(is_saved));
            if found != expected {
                different.push(format!("{case}\nexpected: {expected}\nfound {pool} {is_saved}: {found}\n"));
                break;
            }
        }
    }
    println!("{kinds:?}");
    assert!(
        different.is_empty(),
        "{} of {programs} differ; {}",
        different.len(),
        different[..different.len().min(5)].join("\n")
    );
    // The programs are only useful if they reach the limits.
    assert!(kinds.get("E0402] memory_exceeded").is_some_and(|n| *n * 10 > programs), "{kinds:?}");
    assert!(kinds.get("a value").is_some_and(|n| *n * 10 > programs), "{kinds:?}");
}
