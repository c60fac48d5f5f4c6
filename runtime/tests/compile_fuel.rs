//! Compiling has its own budget: every stage pays, no shape of source gets around it, and the same source takes the
//! same units every time.
#![allow(missing_docs)]

use ptc_runtime::{Failure, Grants, Limits, Program, Runtime};
use std::time::Instant;

fn runtime(limits: Limits) -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads").limits(limits)
}

/// Repeats `item` as often as it fits into a source of `bytes`.
fn fill(bytes: usize, open: &str, item: &str, close: &str) -> String {
    format!("{open}{}{close}", item.repeat(bytes.saturating_sub(open.len() + close.len()) / item.len()))
}

/// Joins items made from their number, as many as fit into a source of `bytes`.
fn number(bytes: usize, open: &str, item: impl Fn(usize) -> String, close: &str) -> String {
    let mut source = open.to_string();
    for i in 0.. {
        let next = item(i);
        if source.len() + next.len() + close.len() > bytes {
            break;
        }
        source.push_str(&next);
    }
    source + close
}

/// Shapes that took more than linear time before they were paid for.
fn shapes(bytes: usize) -> Vec<(&'static str, String)> {
    let names = |n: usize| (0..n).map(|i| format!("a{i} ")).collect::<String>();
    let deep = |open: &str, close: &str, n: usize, inside: &str| {
        format!("{}{inside}{}", open.repeat(n), close.repeat(n))
    };
    let (half, some) = (bytes / 2, (bytes / 60).min(3_000));
    let all = vec![
        ("nested_sets", number(bytes, "#{", |i| format!("{} ", deep("#{", "}", 20, &i.to_string())), "}")),
        ("set_of_maps", number(bytes, "#{", |i| format!("{{:a {{:b {i}}}}} "), "}")),
        ("set_of_vectors", number(bytes, "#{", |i| format!("[[{i}]] "), "}")),
        ("map_of_sets", number(bytes, "{", |i| format!("#{{#{{{i}}}}} 1 "), "}")),
        ("sets_inside_sets", deep("#{1 ", "}", 60, &number(bytes - 400, "", |i| format!("[{i}] "), ""))),
        ("shadowed_let", fill(bytes, &fill(half, "(let [", "x 1 ", "] [")[..], "y ", "])")),
        ("wide_let", fill(bytes, &format!("(let [{}] [", names(some).replace(' ', " 1 ")), "a0 ", "])")),
        (
            "unknown_in_let",
            number(bytes, &fill(half, "(let [", "x 1 ", "] ["), |i| format!("n{} ", i % 9_000), "])"),
        ),
        ("captures", {
            let bind = names(some).replace(' ', " 1 ");
            let open = format!("(let [{bind}] {}[", "(fn [] ".repeat(30));
            fill(bytes, &open, &names(some / 10), &format!("]{})", ")".repeat(30)))
        }),
        ("many_functions", {
            let bind = names(some / 4).replace(' ', " 1 ");
            fill(bytes, &format!("(let [{bind}] ["), &format!("(fn [] [{}]) ", names(some / 4)), "])")
        }),
        ("loop_bindings", {
            let bind = names(some).replace(' ', " 1 ");
            let last = fill(half, "[", &format!("a{} ", some - 1), "]");
            format!("(loop [{bind}] (if a0 (recur {last} {}) 1))", names(some - 1))
        }),
        (
            "nested_loops",
            deep("(loop [i 0] (when (< i 9) ", " (recur (inc i))))", 25, &fill(half, "[", "(+ i 7.5) ", "]")),
        ),
        (
            "nots",
            fill(bytes, "[", &format!("{} ", deep("(not ", ")", 50, "x")), "]").replacen(
                "[",
                "(let [x 1] [",
                1,
            ) + ")",
        ),
        ("nearly_constant", deep("[", " (inc 1)]", 50, &fill(half, "[", "1 ", "]"))),
        ("asserts", deep("(assert ", ")", 60, &fill(half, "[", "1 ", "]"))),
        ("letfns", {
            let inner = deep("(letfn [(f [] ", ") (g [] (f))] (g))", 20, &fill(half, "[", "1 ", "]"));
            format!("(let [x 1] {inner})")
        }),
        ("defaults", {
            let inside = fill(bytes / 8, "[", "1 ", "]");
            deep("(loop [{:keys [a] :or {a ", "}} {} b 1] a)", 15, &inside)
        }),
        ("members", fill(bytes, "[", "core/zzzz ", "]")),
        ("methods", number(bytes, "[", |i| format!("(.zz{} 1) ", i % 9_000), "]")),
        ("unknown_names", number(bytes, "[", |i| format!("zz{} ", i % 9_000), "]")),
        ("unknown_calls", number(bytes, "", |i| format!("(zz{} 1) ", i % 9_000), "")),
        ("wrong_counts", {
            let arities: String = (50..99).map(|n| format!("([{}] 1) ", names(n))).collect();
            fill(bytes, &format!("(defn f {arities}) "), "(f) ", "")
        }),
        ("cases", number(bytes, "(case 1 ", |i| format!("[[{i}]] {i} "), ")")),
        ("conditions", fill(bytes, "(cond ", "false 1 ", ")")),
        ("threads", fill(bytes, "(-> 1 ", "(+ 1) ", ")")),
        ("strings", number(bytes, "[", |i| format!("\"text {i}\" "), "]")),
        ("short_functions", fill(bytes, "[", "#(+ % 1 %2) ", "]")),
        ("one_short_function", fill(bytes, "#(+ ", "% ", ")")),
        ("patterns", fill(bytes, "(let [", "[[a b] {:keys [c d]}] [] ", "] a)")),
    ];
    for (name, source) in &all {
        assert!(source.len() <= 1_000_000, "{name} has {} bytes", source.len());
    }
    all
}

/// Returns the units of a program, or of the work until it was refused.
fn units(compiled: &Result<Program, Failure>) -> u64 {
    compiled.as_ref().map_or_else(|failure| failure.compile_fuel, Program::compile_fuel)
}

/// Units correspond to time: no shape takes much longer per unit than others. Unpaid quadratic work would, by a
/// hundred times and more.
#[test]
fn no_source_takes_longer_than_it_pays_for() {
    let runtime = runtime(Limits { compile_ms: 600_000, ..Limits::default() });
    let mut measured = Vec::new();
    for (name, source) in shapes(150_000) {
        let started = Instant::now();
        let ended = runtime.compile(&source);
        let took = started.elapsed();
        let (units, reason) = (units(&ended), ended.as_ref().map_or_else(Failure::reason, |_| "ok"));
        assert!(units <= Limits::default().compile_fuel, "{name}");
        if std::env::var_os("PTC_SHOW_MEASURED").is_some() {
            println!("{name} of {} bytes: {reason}, {took:?}, {units} units", source.len());
        }
        measured.push((took.as_nanos() / u128::from(units), name));
    }
    measured.sort_unstable();
    let usual = measured[measured.len() / 2].0;
    for (nanos, name) in measured {
        assert!(nanos <= 16 * usual, "{name} takes {nanos} ns for a unit, others {usual}");
    }
}

#[test]
fn the_same_source_takes_the_same_units() {
    for (name, source) in shapes(20_000) {
        let all: Vec<u64> = (0..2).map(|_| units(&runtime(Limits::default()).compile(&source))).collect();
        assert!(all[0] == all[1] && all[0] > 0, "{name}: {all:?}");
    }
}

#[test]
fn a_budget_that_is_spent_ends_every_stage() {
    for (name, source) in shapes(20_000) {
        let whole = units(&runtime(Limits::default()).compile(&source));
        for part in [1, whole / 50, whole / 7, whole / 2, whole - whole / 10] {
            let small = runtime(Limits { compile_fuel: part, ..Limits::default() });
            let failure = small.compile(&source).map(|_| ()).expect_err(name);
            assert_eq!(failure.reason(), "compile_fuel_exceeded", "{name} with {part} of {whole}");
            assert_eq!(failure.compile_fuel, part, "{name}");
        }
        if whole == Limits::default().compile_fuel {
            continue;
        }
        let enough = runtime(Limits { compile_fuel: whole, ..Limits::default() });
        assert_eq!(units(&enough.compile(&source)), whole, "{name}");
        let reason = enough.compile(&source).map(|_| ()).map_err(|failure| failure.reason());
        assert_ne!(reason, Err("compile_fuel_exceeded"), "{name}");
    }
}

#[test]
fn the_error_names_the_limit_and_what_to_do() {
    let small = runtime(Limits { compile_fuel: 1_000, ..Limits::default() });
    let failure = small.compile(&fill(10_000, "[", "1 ", "]")).map(|_| ()).expect_err("too much");
    assert_eq!(
        failure.to_string(),
        "error[E0107] compile_fuel_exceeded: compiling the program takes more work than 1000 units (limits.compile_fuel)\n \
         hint: pass data in as granted data, and split what is left into several programs\n"
    );
    assert!(small.compile("(+ 1 2)").is_ok(), "the next program has a budget of its own");
}

#[test]
fn a_fresh_program_runs_on_the_fuel_of_one_compiled_before() {
    let runtime = runtime(Limits::default());
    let source = "(reduce + (map (fn [x] (* x x)) (range 100)))";
    let program = runtime.compile(source).expect("it compiles");
    let kept = |_| {
        let run = runtime.start(&program).expect("it starts");
        run.finish().expect("it runs")
    };
    let fresh = |_| runtime.eval(source, &Grants::new()).expect("it runs");
    let outcomes: Vec<_> = (0..2).map(kept).chain((0..2).map(fresh)).collect();
    let mut session = runtime.session();
    let in_session = session.eval(source).expect("it runs");
    for outcome in outcomes.iter().chain([&in_session]) {
        assert_eq!(outcome.fuel, outcomes[0].fuel);
        assert_eq!(outcome.compile_fuel, program.compile_fuel());
    }
}

#[test]
fn programs_of_normal_shape_are_far_from_the_limit() {
    let source = "(->> data/orders (filter #(> (:total %) 100)) (group-by :customer)
        (map (fn [[who orders]] {:who who :sum (reduce + (map :total orders))})) (sort-by :sum >) (take 10))";
    let program = runtime(Limits::default()).compile(source).expect("it compiles");
    let limit = Limits::default().compile_fuel;
    assert!(program.compile_fuel() * 10_000 < limit, "{} of {limit}", program.compile_fuel());
}
