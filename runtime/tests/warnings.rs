//! Warnings accompany every result of a program, whatever its ending and wherever it resumes.
#![allow(missing_docs)]

use ptc_runtime::{Evaluator, Grants, Runtime, Step, Tools, warning_lines};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

fn reasons(warnings: &[ptc_runtime::Diagnostic]) -> Vec<&'static str> {
    warnings.iter().map(|warning| warning.code.reason()).collect()
}

#[test]
fn outcomes_and_failures_have_them() {
    let run = |source: &str| runtime().eval(source, &Grants::new());
    assert_eq!(reasons(run("(+ 1 2))").unwrap().warnings()), ["surplus_bracket"]);
    assert!(run("(+ 1 2)").unwrap().warnings().is_empty());
    for source in ["(+ 1 nil))", "(fail 1))", "(nope))", "1) (+ 1", "data/none)"] {
        assert_eq!(reasons(run(source).unwrap_err().warnings()), ["surplus_bracket"], "{source}");
    }
    assert!(run("(+ 1 nil)").unwrap_err().warnings().is_empty());
}

#[test]
fn every_run_of_a_program_and_every_turn_has_them() {
    let runtime = runtime();
    let mut evaluator = Evaluator::new(&runtime, &runtime.compile("(inc data/row))").unwrap());
    for n in 0..3 {
        assert_eq!(evaluator.serde("row", &n).unwrap().warnings().len(), 1);
    }
    let mut session = runtime.session();
    assert_eq!(session.eval("(def x 1))").unwrap().warnings().len(), 1);
    assert!(session.eval("x").unwrap().warnings().is_empty());
}

/// A saved run is not compiled again, and still carries its warnings.
#[test]
fn they_survive_a_snapshot() {
    let runtime = runtime().with_tools(Tools::new().declared("answer"));
    let mut run = runtime.start(&runtime.compile("(tool/answer {}))").unwrap()).unwrap();
    assert!(matches!(run.step(), Step::NeedsTools(_)));
    let bytes = run.snapshot().unwrap();
    let mut run = runtime.load(&bytes, &Grants::new()).unwrap();
    let id = run.pending()[0].id.clone();
    run.resume(&id, &41).unwrap();
    let Step::Done(Ok(outcome)) = run.step() else { panic!("it ends") };
    let lines = warning_lines(outcome.warnings(), outcome.source());
    assert!(lines[0].contains("this `)` closes nothing, so it was skipped (line 1, column 17)"), "{lines:?}");
    // Warnings cannot be forged: a reason that is no warning, or a place outside the text, is refused.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(text(&bytes).contains("surplus_bracket"));
    let forged = |from: &[u8], to: &[u8]| {
        assert_eq!(from.len(), to.len());
        let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
        let mut forged = bytes.clone();
        forged[at..at + to.len()].copy_from_slice(to);
        runtime.load(&forged, &Grants::new()).unwrap_err().to_string()
    };
    for (from, to) in [(&b"surplus_bracket"[..], &b"surplus_brackex"[..]), (b"[16,17]", b"[16,77]")] {
        assert!(forged(from, to).contains("its warnings are damaged"));
    }
}
