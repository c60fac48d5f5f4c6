//! A saved run goes on with the prelude it was saved with, and with no other.

use super::common::*;
use ptc_runtime::{Attach, Failure, Grants, Prelude, Run, Runtime, Step, Tools};

const SHOP: &str = "(ns shop) (defn price [x] (* 2 (tool/price {:of x})))";
const CHANGED: &str = "(ns shop) (defn price [x] (* 3 (tool/price {:of x})))";

fn tools() -> Tools {
    Tools::new().with("price", |_| Ok(1))
}

fn with(prelude: &Prelude) -> Runtime {
    runtime().with_tools(tools()).attach(prelude, &Attach::new()).unwrap()
}

/// Starts this program and saves the run while it waits for a tool.
fn saved(runtime: &Runtime, program: &str) -> Vec<u8> {
    let mut run = runtime.start(&runtime.compile(program).unwrap()).unwrap();
    let Step::NeedsTools(_) = run.step() else { panic!("it waits") };
    run.snapshot().unwrap()
}

fn refusal(loaded: Result<Run, Failure>) -> String {
    let failure = loaded.expect_err("this must not go on");
    assert_eq!(failure.reason(), "snapshot_invalid", "{failure}");
    failure.to_string()
}

#[test]
fn a_saved_run_goes_on_with_its_own_prelude_only() {
    let (shop, changed, other) = (compiled(SHOP), compiled(CHANGED), compiled("(ns other) (def x 1)"));
    let bytes = saved(&with(&shop), "(shop/price 7)");
    for (now, found) in [
        (runtime(), "but no prelude is attached".to_string()),
        (
            with(&changed),
            format!("but the prelude `shop` (artifact {}) is attached", changed.artifact_hash()),
        ),
        (with(&other), format!("but the prelude `other` (artifact {}) is attached", other.artifact_hash())),
    ] {
        let message = refusal(now.load(&bytes, &Grants::new()));
        let expected = format!("saved with the prelude `shop` (artifact {})", shop.artifact_hash());
        assert!(message.contains(&expected) && message.contains(&found), "{message}");
        assert!(message.contains("attach what it was saved with"), "{message}");
    }
    let mut run = with(&shop).load(&bytes, &Grants::new()).unwrap();
    let call = run.pending().remove(0);
    run.resume(&call.id, &21).unwrap();
    let Step::Done(Ok(outcome)) = run.step() else { panic!("it ends") };
    assert_eq!(outcome.print().unwrap(), "42");
    assert_eq!(outcome.prelude_trace().unwrap().artifact_hash, shop.artifact_hash());
}

#[test]
fn a_run_without_a_prelude_does_not_go_on_with_one() {
    let bytes = saved(&runtime(), "(tool/price {})");
    let message = refusal(with(&compiled(SHOP)).load(&bytes, &Grants::new()));
    assert!(message.contains("saved with no prelude, but the prelude `shop`"), "{message}");
    assert!(runtime().load(&bytes, &Grants::new()).is_ok());
}

/// The envelope of a saved run names its preludes as text: changing the names does not change its code.
#[test]
fn a_saved_run_cannot_pass_its_code_off_as_another_prelude() {
    let (shop, changed) = (compiled(SHOP), compiled(CHANGED));
    let bytes = saved(&with(&shop), "(shop/price 7)");
    let (old, new) = (shop.artifact_hash(), changed.artifact_hash());
    let at = bytes.windows(64).position(|part| part == old.as_bytes()).expect("the hash is in it");
    let mut forged = bytes.clone();
    forged[at..at + 64].copy_from_slice(new.as_bytes());
    let message = refusal(with(&changed).load(&forged, &Grants::new()));
    assert!(message.contains("holds code of a prelude that is not attached"), "{message}");
    // The text in the envelope is shown in messages, so it is checked first.
    let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    for (name, text) in
        [("shop", "s\\u001bop".to_string()), (&old, "z".repeat(64)), ("source", "sourcf".into())]
    {
        let head = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
        let bent = head.replace(&format!("\"{name}\""), &format!("\"{text}\""));
        assert_ne!(head, bent);
        let file = [&(bent.len() as u64).to_le_bytes(), bent.as_bytes(), &bytes[8 + length..]].concat();
        let message = refusal(with(&shop).load(&file, &Grants::new()));
        assert!(message.contains("damaged") && !message.contains('\u{1b}'), "{message}");
    }
}

/// Functions of an earlier prelude that a session still holds are not available to its later runs.
#[test]
fn functions_of_an_earlier_prelude_are_not_taken_along() {
    let (shop, changed) = (compiled(SHOP), compiled(CHANGED));
    let mut session = with(&shop).with_tools(tools()).session();
    session.eval("(def old shop/price)").unwrap();
    session.set_runtime(with(&changed)).unwrap();
    let mut run = session.start("[(old 1) (shop/price 2)]").unwrap();
    let Step::NeedsTools(_) = run.step() else { panic!("it waits") };
    let bytes = run.snapshot().unwrap();
    let message = refusal(with(&changed).load(&bytes, &Grants::new()));
    assert!(message.contains("holds code of a prelude that is not attached"), "{message}");
}
