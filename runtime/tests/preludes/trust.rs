//! With trusted keys, only preludes signed by one of them run, by every way of loading.
//!
//! `PTC_FORGERIES=100000 cargo test -p ptc-runtime --test preludes trust` tries more forged files.

use super::common::*;
use super::forge::{Dice, forged, setting};
use ptc_runtime::{
    Attach, Code, LoadOptions, Prelude, PreludeStore, Provenance, Runtime, Selection, Session, Signing,
    Tools, TrustedKeys,
};
use serde_json::json;

fn ours() -> Signing {
    Signing::from_hex(&"11".repeat(32)).unwrap()
}

fn theirs() -> Signing {
    Signing::from_hex(&"22".repeat(32)).unwrap()
}

/// Makes a runtime that trusts our key only.
fn trusting() -> Runtime {
    runtime().trusted(TrustedKeys::parse(&ours().public_key()).unwrap())
}

/// Loads a file where no signature is required.
fn loaded(bytes: &[u8], signature: Option<&str>) -> Prelude {
    Prelude::load(&runtime(), bytes, &LoadOptions { signature, ..LoadOptions::default() }).unwrap()
}

fn shipped() -> Prelude {
    let options = LoadOptions { vouched: true, ..LoadOptions::default() };
    Prelude::load(&trusting(), ptc_preludes::paged(), &options).unwrap()
}

/// Returns the message with which a prelude is refused.
fn refusal(prelude: &Prelude) -> String {
    let failure = trusting()
        .with_tools(stub())
        .attach(prelude, &Attach::new())
        .err()
        .expect("this must not be attached");
    assert_eq!(failure.reason(), "untrusted", "{failure}");
    failure.to_string()
}

#[test]
fn only_what_a_trusted_key_has_signed_is_attached() {
    let source = compiled(CRM);
    let bytes = source.to_bytes();
    let (mine, other) = (ours().sign(&bytes).unwrap(), theirs().sign(&bytes).unwrap());
    let elsewhere = ours().sign(&compiled("(ns a) (def x 1)").to_bytes()).unwrap();
    for (prelude, why) in [
        (source.clone(), "crm: it is a source, and sources are not signed"),
        (loaded(&bytes, None), "crm: the file has no signature"),
        (loaded(&bytes, Some("nonsense")), "crm: the signature file is malformed"),
        (loaded(&bytes, Some(&elsewhere)), "crm: the signature was made for another file"),
        (loaded(&bytes, Some(&other)), "crm: the file is signed by a key that is not trusted"),
    ] {
        assert!(refusal(&prelude).contains(why), "{}", refusal(&prelude));
    }
    let signed = loaded(&bytes, Some(&mine));
    assert_eq!(signed.provenance(), [Provenance::Signed(ours().public_key())]);
    let runtime = trusting().with_tools(stub()).attach(&signed, &Attach::new()).unwrap();
    let found = runtime.eval("crm/page-size", &Default::default()).unwrap();
    assert_eq!(found.print().unwrap(), "50");
    assert!(trusting().with_tools(stub()).attach(&shipped(), &Attach::new()).is_ok());
}

#[test]
fn sources_that_are_composed_are_as_trusted_as_what_they_come_from() {
    let bytes = compiled(CRM).to_bytes();
    let signed = loaded(&bytes, Some(&ours().sign(&bytes).unwrap()));
    let parts = |preludes: &[&Prelude]| -> Vec<Selection> {
        preludes.iter().flat_map(|prelude| Selection::all_of(prelude).unwrap()).collect()
    };
    let compose = |parts: &[Selection]| Prelude::compose(&runtime(), parts).unwrap();
    let both = parts(&[&signed, &shipped()]);
    assert!(trusting().with_tools(stub()).attach(&compose(&both), &Attach::new()).is_ok());
    assert!(trusting().with_tools(stub()).attach_sources(&both, &Attach::new()).is_ok());
    // One unsigned source refuses the whole, and so does a text changed after signing.
    let with_source = parts(&[&signed, &compiled("(ns a) (def x 1)")]);
    assert!(refusal(&compose(&with_source)).contains("it is a source"));
    let mut changed = parts(&[&signed]);
    changed[0].source.push_str("(def more 1)");
    assert!(refusal(&compose(&changed)).contains("it is a source"));
    for parts in [with_source, changed] {
        let failure = trusting().with_tools(stub()).attach_sources(&parts, &Attach::new()).err().unwrap();
        assert_eq!(failure.reason(), "untrusted");
    }
}

#[test]
fn sessions_and_stores_ask_for_the_same() {
    let tools = stub();
    let refused = |started: Result<Session, ptc_runtime::Failure>| {
        let failure = started.err().expect("this must not start");
        assert_eq!(failure.reason(), "untrusted", "{failure}");
        failure.to_string()
    };
    let unsigned = compiled(CRM);
    refused(Session::builder(&trusting().with_tools(tools.clone())).prelude(&unsigned).start());
    for opened_with in [runtime(), trusting()] {
        let store = PreludeStore::new(&opened_with);
        store.write("shop", "(ns shop) (def rate 19)", json!({})).unwrap();
        let message = refused(Session::builder(&trusting()).store(&store).preludes(["shop"]).start());
        assert!(message.contains("shop") && message.contains("it is a source"), "{message}");
    }
    let mut session = trusting().with_tools(tools).session();
    assert_eq!(session.eval_with("1", &unsigned).err().unwrap().reason(), "untrusted");
    let bytes = unsigned.to_bytes();
    let signed = loaded(&bytes, Some(&ours().sign(&bytes).unwrap()));
    assert_eq!(session.eval_with("crm/page-size", &signed).unwrap().print().unwrap(), "50");
}

#[test]
fn a_runtime_that_trusts_keys_loads_nothing_else() {
    let bytes = compiled(CRM).to_bytes();
    let load = |signature: Option<&str>| {
        Prelude::load(&trusting(), &bytes, &LoadOptions { signature, ..LoadOptions::default() })
    };
    assert_eq!(load(None).unwrap_err().code, Code::Untrusted);
    assert_eq!(load(Some(&theirs().sign(&bytes).unwrap())).unwrap_err().code, Code::Untrusted);
    assert!(load(Some(&ours().sign(&bytes).unwrap())).is_ok());
    // An empty set of keys trusts nobody.
    let nobody = runtime().trusted(TrustedKeys::default());
    assert!(
        nobody
            .clone()
            .with_tools(stub())
            .attach(&load(Some(&ours().sign(&bytes).unwrap())).unwrap(), &Attach::new())
            .is_err()
    );
}

#[test]
fn forged_files_do_not_run_where_keys_are_trusted() {
    let source = "(ns m) (def k {:a 1}) (def f (fn [x] (+ x 1))) (defn- h [x] (if (map? x) (:a x) [x]))
        (defn loops [n] (loop [i 0 acc []] (if (< i n) (recur (inc i) (conj acc (h i))) acc)))
        (defn calls [x] (tool/call {:server \"s\" :tool \"t\" :args {:x x}}))
        (defn many ([] (f 1)) ([a & more] (reduce + a (map f more))))";
    let sound = compiled(source).to_bytes();
    let ours = ours().sign(&sound).unwrap();
    let (trusting, tools) = (trusting(), Tools::new().with("call", |_| Ok(1)));
    let mut dice = Dice::new(7);
    let count = setting("PTC_FORGERIES").unwrap_or(2_000);
    let mut would_run = 0;
    for n in 0..count {
        let bytes = forged(&sound, &mut dice);
        // No signature, the signature of the sound file, or now and then a valid one by a stranger.
        let theirs = if n % 8 == 0 { theirs().sign(&bytes).ok() } else { None };
        for signature in [None, Some(&*ours), theirs.as_deref()] {
            let options = LoadOptions { signature, ..LoadOptions::default() };
            let problem = Prelude::load(&trusting, &bytes, &options).err();
            let problem = problem.unwrap_or_else(|| panic!("forgery {n} is loaded with {signature:?}"));
            assert_eq!(problem.code, Code::Untrusted, "{problem}");
        }
        // Loaded elsewhere without keys, it is still not attached here.
        let options = LoadOptions { signature: theirs.as_deref(), ..LoadOptions::default() };
        if let Ok(prelude) = Prelude::load(&runtime(), &bytes, &options) {
            let failure = trusting.clone().with_tools(tools.clone()).attach(&prelude, &Attach::new()).err();
            let failure = failure.unwrap_or_else(|| panic!("forgery {n} is attached"));
            assert_eq!(failure.reason(), "untrusted", "{failure}");
            would_run += 1;
        }
    }
    println!("{count} forged, {would_run} of them sound enough to run elsewhere");
    assert!(would_run > 0, "some forgeries must pass the verifier, or this tests nothing");
}
