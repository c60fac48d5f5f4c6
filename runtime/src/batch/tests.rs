mod projected;
mod reduce;
mod rules;

use super::{Batch, Ending, Input, Summary};
use crate::{Cancel, Grants, Runtime};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

fn batch(source: &str) -> Batch {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let program = runtime.compile(source).unwrap();
    Batch::new(&runtime, &program).threads(3)
}

/// Runs a batch; returns the output, the failed lines with their reasons, and the summary.
fn ran(batch: &Batch, input: impl Read + Send + 'static) -> (String, Vec<(u64, &'static str)>, Summary) {
    let (mut output, mut failed) = (Vec::new(), Vec::new());
    let summary = batch.lines(input, &mut output, |line, failure| {
        failed.push((line, failure.reason()));
        Ok(())
    });
    (String::from_utf8(output).unwrap(), failed, summary)
}

fn numbers(count: usize) -> io::Cursor<String> {
    io::Cursor::new((0..count).map(|n| format!("{n}\n")).collect())
}

#[test]
fn lines_keep_their_order_and_failures_their_numbers() {
    let (output, failed, summary) =
        ran(&batch("(if (= 0 (mod data/row 1000)) (+ nil 1) data/row)"), numbers(5_000));
    let expected: String = (0..5_000).filter(|n| n % 1000 != 0).map(|n| format!("{n}\n")).collect();
    assert!(output == expected);
    assert_eq!(failed, [1, 1001, 2001, 3001, 4001].map(|line| (line, "type_error")));
    assert_eq!((summary.records, summary.results, summary.failures), (5_000, 4_995, 5));
    assert!(matches!(summary.ending, Ending::Complete));
}

#[test]
fn a_record_sees_nothing_of_the_one_before() {
    let batch = batch("(def seen (inc (if (= data/row 1) 41 0))) [seen data/x]")
        .grants(Grants::new().serde("x", &7).unwrap())
        .threads(1);
    assert_eq!(ran(&batch, &b"1\n2\n"[..]).0, "[42,7]\n[1,7]\n");
}

#[test]
fn a_batch_can_run_again_under_another_name() {
    let batch = batch("(inc data/n)").name("n").ordered(false);
    for _ in 0..2 {
        assert_eq!(ran(&batch, &b"1\n"[..]).0, "2\n");
        assert_eq!((batch.progress().results(), batch.progress().failures()), (1, 0));
    }
}

/// Reader that gives some text, then fails.
struct Breaks(io::Cursor<String>);

impl Read for Breaks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(io::Error::other("the disk is gone")),
            count => Ok(count),
        }
    }
}

#[test]
fn input_that_breaks_gives_what_came_before() {
    for ordered in [true, false] {
        let (output, _, summary) = ran(&batch("data/row").ordered(ordered), Breaks(numbers(100)));
        assert_eq!(output.lines().count(), 100);
        assert!(matches!(summary.ending, Ending::Unreadable(_)), "{summary:?}");
    }
}

/// Writer that accepts some bytes, then is closed.
struct Closes(usize);

impl Write for Closes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn output_that_closes_ends_an_endless_batch() {
    for ordered in [true, false] {
        let endless = io::repeat(b'1').take(3).chain(io::repeat(b'\n'));
        let twos = io::Cursor::new("2\n".repeat(1_000_000));
        let summary =
            batch("data/row").ordered(ordered).lines(twos.chain(endless), Closes(1_000), |_, _| Ok(()));
        assert!(matches!(summary.ending, Ending::Closed) && summary.records <= 500, "{summary:?}");
    }
}

/// Reader that never gives anything and never ends.
struct Silent;

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        loop {
            std::thread::park();
        }
    }
}

#[test]
fn a_cancelled_batch_does_not_wait_for_input() {
    for ordered in [true, false] {
        let cancel = Cancel::new();
        let batch = batch("data/row").ordered(ordered).cancel(&cancel);
        let mut output = Vec::new();
        let summary = std::thread::scope(|scope| {
            scope.spawn(|| {
                while batch.progress().results() < 10 {
                    std::thread::yield_now();
                }
                cancel.cancel();
            });
            batch.lines(Input::detached(numbers(10).chain(Silent)), &mut output, |_, _| Ok(()))
        });
        assert!(matches!(summary.ending, Ending::Cancelled), "{summary:?}");
        assert_eq!((summary.results, output.len()), (10, 20));
    }
}

#[test]
fn values_come_with_their_index() {
    for ordered in [true, false] {
        let mut seen = Vec::new();
        let summary = batch("(if (= data/row 7) (fail :seven) (* 2 data/row))")
            .ordered(ordered)
            .take(500)
            .map(0.., |index, result: Result<u64, _>| {
                seen.push((index, result.ok()));
                ControlFlow::Continue(())
            });
        if !ordered {
            seen.sort_unstable();
        }
        let expected: Vec<_> = (0..500).map(|n| (n, (n != 7).then_some(2 * n))).collect();
        assert!(seen == expected);
        assert_eq!((summary.results, summary.failures), (499, 1));
        assert!(matches!(summary.ending, Ending::Complete));
    }
}

#[test]
fn values_end_when_told() {
    let wanted = |index| if index < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let summary = batch("data/row").map(0.., |index, _: Result<u64, _>| wanted(index));
    assert!(matches!(summary.ending, Ending::Closed) && summary.records == 11, "{summary:?}");
    let summary = batch("(if (= data/row 9) (fail 9) 1)")
        .fail_fast(true)
        .map(0.., |_, _: Result<u64, _>| ControlFlow::Continue(()));
    assert!(matches!(summary.ending, Ending::Failed) && summary.records == 10, "{summary:?}");
}

#[test]
fn results_far_larger_than_their_records_arrive_whole() {
    let batch = batch("(vec (range 20000))");
    let (output, _, summary) = ran(&batch, numbers(200));
    assert_eq!((summary.results, output.lines().count()), (200, 200));
    assert!(output.lines().all(|line| line.ends_with(",19999]")));
}

#[test]
fn members_are_data_of_their_own() {
    let batch = batch("[data/id data/x (:id data/row) data/unit-price]")
        .grants(Grants::new().serde("x", &7).unwrap())
        .fields(true)
        .threads(1);
    // A member of the previous record is gone; granted data comes first; `-` reads `_`.
    let input = &b"{\"id\":1,\"x\":2,\"unit_price\":3}\n{\"y\":5,\"id\":4}\n[1]\n{}\n"[..];
    let (output, failed, _) = ran(&batch, input);
    // A member missing from a record is nil.
    assert_eq!(output, "[1,7,1,3]\n[4,7,4,null]\n[null,7,null,null]\n");
    assert_eq!(failed, [(3, "invalid_data")]);
    assert!(batch.warnings().is_empty(), "some record had each");
}

#[test]
fn what_all_records_lack_is_told_at_the_end() {
    let rows = &b"{\"total\":1}\n{\"total\":2,\"note\":\"x\"}\n"[..];
    for threads in [1, 4] {
        let told = |program: &str, fields: bool| -> Vec<String> {
            let batch = batch(program).fields(fields).threads(threads);
            let _ = ran(&batch, rows);
            let line = |warning: &crate::Diagnostic| {
                format!("{warning}; {}", warning.hint.clone().unwrap_or_default())
            };
            batch.warnings().iter().map(line).collect()
        };
        let totl = "absent_field: `:totl` was not found in any map; did you mean `:total`?";
        assert_eq!(told("(:totl data/row)", false), [totl]);
        // The program also fails because of it.
        assert_eq!(told("(+ 1 (:totl data/row))", false), [totl]);
        let data = "absent_field: `data/totl` is not a member of any record, so it is nil; did you mean \
                    `data/total`?";
        assert_eq!(told("data/totl", true), [data]);
        // The second record has the field.
        assert_eq!(told("[(:note data/row)]", false), [""; 0]);
        assert_eq!(told("data/note", true), [""; 0]);
        assert_eq!(told("(or (:totl data/row) 0)", false), [""; 0]);
    }
}

#[test]
fn rules_are_told_what_all_records_lack_each_at_its_place() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let rules = || {
        [
            ("guarded", "(if (:totl data/row) 1 2)"),
            ("right", "(:total data/row)"),
            ("wrong", "  (:totl data/row)"),
            // A failing program takes its machine with it.
            ("fails", "(+ 1 (:nmae data/row))"),
            ("member", "data/totl"),
            ("some", "[(:note data/row) data/note]"),
        ]
        .map(|(name, source)| (name, runtime.compile(source).unwrap()))
    };
    let rows = &b"{\"total\":1,\"name\":2}\n{\"total\":2,\"name\":3,\"note\":\"x\"}\n"[..];
    for threads in [1, 4] {
        let batch = Batch::rules(&runtime, rules()).fields(true).threads(threads);
        let _ = batch.lines(rows, &mut Vec::new(), |_, _, _| Ok(()));
        let told = |rule: &str| -> Vec<(u32, Option<String>)> {
            let told = batch.warnings_of(rule).into_iter();
            told.map(|told| (told.span.expect("a place").start, told.hint)).collect()
        };
        let hint = |near: &str| Some(format!("did you mean `{near}`?"));
        assert_eq!(told("wrong"), [(3, hint(":total"))]);
        assert_eq!(told("fails"), [(6, hint(":name"))]);
        assert_eq!(told("member"), [(0, hint("data/total"))]);
        for right in ["guarded", "right", "some", "nobody"] {
            assert_eq!(told(right), [], "{right}");
        }
    }
}

#[test]
fn folds_are_told_what_all_records_lack() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let program = "(def init {:n 0})
                   (defn step [total row] (let [x (+ (:amont row) 1)] (merge-with + total {:n (:amount row)})))
                   (defn combine [a b] (merge-with + a b))";
    // Every part fails, down to its halves and single records.
    for threads in [1, 4] {
        let batch = Batch::reduce(&runtime, program).unwrap().threads(threads);
        let (_, summary) = batch.fold(&b"{\"amount\":1}\n{\"amount\":2}\n"[..], |_, _| Ok(()));
        assert_eq!(summary.failures, 2);
        let told: Vec<_> = batch.warnings().into_iter().map(|told| told.hint).collect();
        assert_eq!(told, [Some("did you mean `:amount`?".to_string())]);
    }
}

#[test]
fn a_member_called_row_is_that_member() {
    let (output, ..) = ran(&batch("data/row").fields(true), &b"{\"row\":1}\n"[..]);
    assert_eq!(output, "1\n");
}

#[test]
fn shared_answers_of_tools_do_not_add_up() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let limits = crate::Limits { granted_bytes: 100_000, ..crate::Limits::default() };
    let runtime = runtime.limits(limits);
    let program = runtime.compile("(count (tool/rows {}))").unwrap();
    let rows = crate::json::freeze_json(format!("[{}1]", "1,".repeat(999)), 1 << 20).unwrap();
    let tools = crate::Tools::new().with_answer("rows", move |_| Ok(crate::ToolAnswer::Frozen(rows.clone())));
    let (output, failed, _) = ran(&Batch::new(&runtime.with_tools(tools), &program).threads(1), numbers(100));
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(output, "1000\n".repeat(100));
}
