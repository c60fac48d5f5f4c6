use super::{Breaks, numbers};
use crate::batch::{Batch, Ending, Reducer, Summary};
use crate::{Cancel, Failure, Grants, Limits, Runtime, Tools};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn reduce(source: &str) -> Batch<Reducer> {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    Batch::reduce(&runtime, source).unwrap()
}

type Value = Result<Option<String>, Failure>;

fn ran(batch: &Batch<Reducer>, input: impl Read + Send + 'static) -> (Value, Vec<u64>, Summary) {
    let mut failed = Vec::new();
    let (value, summary) = batch.fold(input, |line, _| {
        failed.push(line);
        Ok(())
    });
    (value.map(|outcome| outcome.map(|outcome| outcome.json().unwrap())), failed, summary)
}

const SUM: &str = "(def init 0) (defn step [a row] (+ a row)) (defn combine [a b] (+ a b))";

#[test]
fn the_value_does_not_depend_on_the_threads() {
    // The operations are neither associative nor commutative, so any other order would show.
    let source = "(def init 1)
                  (defn step [a row] (mod (+ (* 31 a) row) 1000003))
                  (defn combine [a b] (mod (+ (* 17 a) (* 3 b)) 1000003))";
    let value = |threads| {
        let (value, _, summary) = ran(&reduce(source).threads(threads), numbers(50_000));
        assert_eq!((summary.records, summary.results), (50_000, 50_000));
        assert!(matches!(summary.ending, Ending::Complete));
        value.unwrap()
    };
    let one = value(1);
    assert!(one.is_some());
    assert!([2, 3, 8].into_iter().all(|threads| value(threads) == one));
}

#[test]
fn a_fold_in_parts_is_the_whole_fold() {
    let sum: u64 = (0..50_000).sum();
    let (value, failed, _) = ran(&reduce(SUM).threads(3), numbers(50_000));
    assert_eq!((value.unwrap(), failed.len()), (Some(sum.to_string()), 0));
    let words = "(def init {})
                 (defn step [counts row] (update counts (mod row 7) (fnil inc 0)))
                 (defn combine [a b] (merge-with + a b))
                 (defn finish [counts] (vec (sort (vals counts))))";
    let (value, ..) = ran(&reduce(words).threads(3), numbers(70_000));
    assert_eq!(value.unwrap().unwrap(), "[10000,10000,10000,10000,10000,10000,10000]");
}

#[test]
fn records_that_fail_are_left_out_and_told_in_order() {
    let bad = |n: u64| n.is_multiple_of(1000) || (20_000..20_010).contains(&n);
    let line = |n: u64| match n {
        _ if !bad(n) => format!("{n}\n"),
        20_005 => "1,2\n".to_string(),
        20_006 => "{\n".to_string(),
        _ => "\"no number\"\n".to_string(),
    };
    let text: String = (1..=30_000).map(line).collect();
    let wanted: u64 = (1..=30_000).filter(|n| !bad(*n)).sum();
    for threads in [1, 3] {
        let (value, failed, summary) = ran(&reduce(SUM).threads(threads), io::Cursor::new(text.clone()));
        assert_eq!(value.unwrap(), Some(wanted.to_string()));
        assert_eq!(failed, (1..=30_000).filter(|n| bad(*n)).collect::<Vec<_>>());
        assert_eq!((summary.results, summary.failures), (30_000 - 39, 39));
    }
}

#[test]
fn rows_that_fail_cost_little_more_than_rows_that_do_not() {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    let tools = Tools::new().with("step", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(0)
    });
    let source = "(def init 0) (defn step [a row] (tool/step {}) (+ a row)) (defn combine [a b] (+ a b))";
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools);
    let batch = Batch::reduce(&runtime, source).unwrap();
    let lines: String = (1..=1000).map(|n| if n % 20 == 0 { "null\n" } else { "1\n" }).collect();
    let (value, failed, _) = ran(&batch, io::Cursor::new(lines));
    assert_eq!((value.unwrap(), failed.len()), (Some("950".into()), 50));
    // Each row is folded up to the row that fails, then again without it; that row also on its own.
    let steps = steps.load(Ordering::Relaxed);
    assert!(steps <= 2 * 1000 + 50, "{steps} steps for 1000 rows");
}

#[test]
fn no_records_give_what_it_begins_with() {
    assert_eq!(ran(&reduce(SUM), io::empty()).0.unwrap(), Some("0".into()));
    let finished = format!("{SUM} (defn finish [n] [:sum n])");
    assert_eq!(ran(&reduce(&finished), &b"\n\n"[..]).0.unwrap(), Some("[\"sum\",0]".into()));
    // Records exist, but all of them fail.
    assert_eq!(ran(&reduce(&finished), &b"null\n{\n"[..]).0.unwrap(), Some("[\"sum\",0]".into()));
}

#[test]
fn a_part_too_large_for_one_budget_is_folded_in_halves() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let limits = Limits { fuel: 20_000, memory_bytes: 200_000, ..Limits::default() };
    let batch = Batch::reduce(&runtime.limits(limits), SUM).unwrap();
    let (value, failed, _) = ran(&batch, numbers(20_000));
    assert_eq!((value.unwrap(), failed.len()), (Some((0..20_000_u64).sum::<u64>().to_string()), 0));
}

#[test]
fn granted_data_can_be_read() {
    let source =
        "(def init []) (defn step [a row] (conj a (get data/names row))) (defn combine [a b] (into a b))";
    let grants = Grants::new().serde("names", &["ann", "bob"]).unwrap();
    let (value, ..) = ran(&reduce(source).grants(grants), &b"1\n0\n"[..]);
    assert_eq!(value.unwrap().unwrap(), "[\"bob\",\"ann\"]");
}

#[test]
fn there_is_no_value_of_a_part_of_the_input() {
    let (value, _, summary) = ran(&reduce(SUM), Breaks(numbers(100)));
    assert!(matches!((value, summary.ending), (Ok(None), Ending::Unreadable(_))));
    let (value, failed, summary) = ran(&reduce(SUM).fail_fast(true), &b"1\nnull\nnull\n"[..]);
    assert!(matches!((value, summary.ending), (Ok(None), Ending::Failed)));
    assert_eq!(failed, [2]);
    let cancel = Cancel::new();
    cancel.cancel();
    let (value, _, summary) = ran(&reduce(SUM).cancel(&cancel), numbers(100_000));
    assert!(matches!((value, summary.ending), (Ok(None), Ending::Cancelled)));
}

#[test]
fn a_combine_that_fails_is_the_failure() {
    let source = "(def init 0) (defn step [a row] (+ a row)) (defn combine [a b] (str (/ a 0)))";
    let (value, ..) = ran(&reduce(source), numbers(20_000));
    assert_eq!(value.unwrap_err().reason(), "arithmetic_error");
}

#[test]
fn a_program_for_reducing_says_what_it_lacks() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let lacks = |source: &str| Batch::reduce(&runtime, source).map(|_| ()).unwrap_err().to_string();
    for (source, name) in
        [("1", "init"), ("(def init 0)", "step"), ("(def init 0) (defn step [a b] a)", "combine")]
    {
        assert!(lacks(source).contains(&format!("but not `{name}` here")), "{}", lacks(source));
    }
    assert!(lacks("(def init (").contains("E0"));
    let line = Batch::reduce(
        &runtime,
        "(def init 0)\n(defn step [a row]\n  (+ a (:n row)))\n(defn combine [a b] a)",
    );
    let mut places = Vec::new();
    let _ = line.unwrap().fold(&b"{}\n"[..], |_, failure| {
        places.push(failure.to_string());
        Ok(())
    });
    assert!(places[0].contains("(+ a (:n row))"), "{places:?}");
}
