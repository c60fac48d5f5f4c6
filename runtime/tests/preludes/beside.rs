//! Several preludes side by side: each keeps its code, its hashes and its visible exports.

use super::common::*;
use ptc_runtime::{
    Attach, Effects, ExportRecord, Grants, Keep, LoadOptions, Prelude, PreludeStore, Runtime, Session,
    Signing, Step, Tools, TrustedKeys,
};

const SHOP: &str = "(ns shop \"Prices.\") (def rate 19) (defn- raw [id] (tool/price {:id id}))
    (defn price \"Price of one.\" [id] (raw id))";
const CARS: &str = "(ns cars \"Vehicles.\") (defn park \"Parks one.\" [f] (map f [1 2]))";

/// Compiles a source and loads it from its file, as if built elsewhere.
fn loaded(source: &str) -> Prelude {
    Prelude::load(&runtime(), &compiled(source).to_bytes(), &LoadOptions::default()).unwrap()
}

fn tools() -> Tools {
    Tools::new().with("price", |_| Ok(7)).effect("price", Effects::Write)
}

/// Returns a file, a file without its source, a source and a stored prelude.
fn all() -> Vec<Prelude> {
    let bare = compiled("(ns bare) (defn one [] 1)").to_bytes_without_source();
    let store = PreludeStore::new(&runtime());
    store.write("kept", "(ns kept) (def two 2)", serde_json::json!({})).unwrap();
    vec![
        loaded(SHOP),
        Prelude::load(&runtime(), &bare, &LoadOptions::default()).unwrap(),
        compiled(CARS),
        store.bundle(&["kept"], &[]).unwrap().0,
    ]
}

fn attached() -> Runtime {
    let attach = |runtime: Runtime, prelude: &Prelude| runtime.attach(prelude, &Attach::new());
    all().iter().try_fold(runtime().with_tools(tools()), attach).unwrap()
}

fn print(runtime: &Runtime, program: &str) -> String {
    let outcome = runtime.eval(program, &Grants::new());
    outcome.unwrap_or_else(|failure| panic!("{program}\n{failure}")).print().unwrap()
}

#[test]
fn files_sources_and_stored_ones_attach_side_by_side() {
    let runtime = attached();
    assert_eq!(print(&runtime, "[shop/rate (bare/one) kept/two (cars/park shop/price)]"), "[19 1 2 [7 7]]");
    // Nothing was recompiled: each is the attached build.
    let hashes: Vec<String> = runtime.preludes().map(Prelude::artifact_hash).collect();
    assert_eq!(hashes, all().iter().map(Prelude::artifact_hash).collect::<Vec<_>>());
    // Names are checked before anything runs, as with one prelude.
    for (program, message) in [
        ("(shop/nope)", "`shop/nope` is not an export of `shop`"),
        ("(cars/park)", "`cars/park` expects 1 argument(s), got 0"),
        ("(def shop/rate 1)", "shop"),
        ("(def cars/x 1)", "cars"),
    ] {
        let failure = runtime.eval(program, &Grants::new()).expect_err(program);
        assert!(failure.diagnostic().message.contains(message), "{failure}");
    }
    let none = runtime.without_preludes();
    assert_eq!(none.preludes().count(), 0);
    assert!(none.prelude_trace().is_none() && none.eval("shop/rate", &Grants::new()).is_err());
}

#[test]
fn two_that_declare_the_same_namespace_are_both_named() {
    let mine = loaded(SHOP).with_origin("mine/shop.ptcp");
    let yours = compiled("(ns other) (ns shop)").with_origin("yours/all.clj");
    let runtime = runtime().with_tools(tools()).attach(&mine, &Attach::new()).unwrap();
    let failure = runtime.attach(&yours, &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "invalid_namespace");
    let message = &failure.diagnostic().message;
    let expected = "duplicate namespace 'shop': both `mine/shop.ptcp` and `yours/all.clj` declare it";
    assert!(message.contains(expected), "{message}");
    // Without a file name, the hash identifies the prelude.
    let failure = runtime.attach(&loaded(SHOP), &Attach::new()).err().unwrap();
    let hash = &loaded(SHOP).artifact_hash()[..12];
    assert!(failure.diagnostic().message.contains(hash), "{failure}");
}

#[test]
fn discovery_and_prompts_cover_all() {
    let runtime = attached();
    let names = "(filter #{\"shop\" \"bare\" \"cars\" \"kept\"} (all-ns))";
    assert_eq!(print(&runtime, names), "[\"bare\" \"cars\" \"kept\" \"shop\"]");
    assert_eq!(print(&runtime, "(keys (ns-publics 'cars))"), "[\"park\"]");
    assert!(print(&runtime, "(dir 'shop)").contains("Price of one."));
    assert!(print(&runtime, "(doc 'cars/park)").contains("Parks one."));
    assert_eq!(print(&runtime, "(:effect (meta 'shop/price))"), "\"write\"");
    let found = print(&runtime, "(filter #(str/starts-with? % \"prelude\") (apropos \"one\"))");
    for name in ["bare/one", "cars/park", "shop/price"] {
        assert!(found.contains(name), "{found}");
    }
    let outcome = runtime.eval("(source 'shop/raw) (source 'bare/one) (source 'cars/park)", &Grants::new());
    let prints = outcome.unwrap().prints;
    assert!(prints[0].contains("(defn- raw"), "{prints:?}");
    assert_eq!(prints[1], "no source available for bare/one");
    assert!(prints[2].contains("(defn park"), "{prints:?}");
    let inventory = runtime.inventory(Default::default()).unwrap();
    let places = ["\n;; bare\n", "\n;; cars - Vehicles.\n", "\n;; kept\n", "\n;; shop - Prices.\n"];
    let places: Vec<usize> = places.iter().map(|place| inventory.find(place).expect(place)).collect();
    assert!(places.is_sorted(), "{inventory}");
    assert!(inventory.contains("shop/price (price id) [write] - Price of one."), "{inventory}");
    assert_eq!(inventory.matches("Explore").count(), 1, "{inventory}");
}

#[test]
fn traces_tell_of_each() {
    let trace = attached().eval("1", &Grants::new()).unwrap().prelude_trace().unwrap();
    assert_eq!(trace.protected_namespaces, ["bare", "cars", "kept", "shop"]);
    assert_eq!(trace.exports.len(), 5);
    for (told, prelude) in trace.each().iter().zip(all()) {
        assert_eq!(told.source_hash, prelude.source_hash());
        assert_eq!(told.artifact_hash, prelude.artifact_hash());
        assert_eq!(told.interface_hash, prelude.interface_hash());
    }
    assert_eq!(trace.each().len(), 4);
    assert_eq!(trace.components[0].version, Some(1));
    // A different prelude among them changes the hash of the whole.
    let other = attached().attach(&compiled("(ns more)"), &Attach::new()).unwrap();
    assert_ne!(other.prelude_trace().unwrap().artifact_hash, trace.artifact_hash);
    // A single prelude keeps its own hash.
    let one = runtime().attach(&compiled(CARS), &Attach::new()).unwrap().prelude_trace().unwrap();
    assert_eq!(one.artifact_hash, compiled(CARS).artifact_hash());
    assert_eq!(one.each().len(), 1);
    assert!(!serde_json::to_string(&one).unwrap().contains("\"preludes\""));
}

#[test]
fn each_is_narrowed_by_itself() {
    let no_rate = |export: &ExportRecord| if export.symbol == "rate" { Keep::Hide } else { Keep::Keep };
    let other = compiled("(ns other) (def rate 7) (defn buy [id] (tool/price {:id id}))");
    let runtime = runtime().with_tools(tools());
    let runtime = runtime.attach(&loaded(SHOP), &Attach::new().narrow(&no_rate)).unwrap();
    let runtime = runtime.attach(&other, &Attach::new().hide_writes(true)).unwrap();
    assert_eq!(print(&runtime, "[(shop/price 1) other/rate]"), "[7 7]");
    for hidden in ["shop/rate", "(other/buy 1)"] {
        assert!(runtime.eval(hidden, &Grants::new()).is_err(), "{hidden}");
    }
    assert_eq!(print(&runtime, "(keys (ns-publics 'other))"), "[\"rate\"]");
}

#[test]
fn a_private_tool_stays_with_its_own_prelude() {
    let tools = Tools::new().with("price", |_| Ok(7)).private_to("price", "shop");
    let runtime = runtime().with_tools(tools);
    let runtime = runtime.attach(&compiled(CARS), &Attach::new()).unwrap();
    let runtime = runtime.attach(&loaded(SHOP), &Attach::new()).unwrap();
    assert_eq!(print(&runtime, "(cars/park shop/price)"), "[7 7]");
    let thief = compiled("(ns thief) (defn take [id] (tool/price {:id id}))");
    let failure = runtime.attach(&thief, &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
}

#[test]
fn each_must_be_trusted() {
    let key = Signing::from_hex(&"07".repeat(32)).unwrap();
    let keys = TrustedKeys::parse(&key.public_key()).unwrap();
    let bytes = compiled(CARS).to_bytes();
    let signature = key.sign(&bytes).unwrap();
    let options = LoadOptions { signature: Some(&signature), ..LoadOptions::default() };
    let trusting = runtime().with_tools(tools()).trusted(keys);
    let signed = Prelude::load(&trusting, &bytes, &options).unwrap();
    let runtime = trusting.attach(&signed, &Attach::new()).unwrap();
    let failure = runtime.attach(&loaded(SHOP), &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "untrusted");
}

#[test]
fn a_saved_run_goes_on_with_all_of_them() {
    let runtime = attached();
    let program = "(let [f (fn [x] [x shop/rate])] (f (first (cars/park shop/price))))";
    let mut run = runtime.start(&runtime.compile(program).unwrap()).unwrap();
    let Step::NeedsTools(_) = run.step() else { panic!("it waits") };
    let bytes = run.snapshot().unwrap();
    let one = super::common::runtime().with_tools(tools()).attach(&loaded(SHOP), &Attach::new()).unwrap();
    let failure = one.load(&bytes, &Grants::new()).err().unwrap();
    assert!(failure.to_string().contains("`cars`"), "{failure}");
    let mut run = attached().load(&bytes, &Grants::new()).unwrap();
    loop {
        match run.step() {
            Step::NeedsTools(_) => {
                let call = run.pending().remove(0);
                assert_eq!(call.origin.as_deref(), Some("shop/price"));
                run.resume(&call.id, &5).unwrap();
            }
            Step::Done(outcome) => break assert_eq!(outcome.unwrap().print().unwrap(), "[5 19]"),
        }
    }
}

#[test]
fn sessions_keep_those_of_their_runtime() {
    let store = PreludeStore::new(&runtime());
    let authoring = ptc_preludes::prelude();
    let options = LoadOptions { vouched: true, ..LoadOptions::default() };
    let authoring = Prelude::load(&runtime(), authoring, &options).unwrap();
    let session = Session::builder(&attached()).store(&store).write_capable(&authoring).start();
    let mut session = session.unwrap();
    let found = session.eval("[shop/rate (bare/one) (count (prelude/list))]").unwrap();
    assert_eq!(found.print().unwrap(), "[19 1 0]");
    let mut plain = attached().session();
    let other = compiled("(ns shop) (def rate 3)");
    assert_eq!(plain.eval_with("shop/rate", &other).unwrap().print().unwrap(), "3");
    assert_eq!(plain.eval("shop/rate").unwrap().print().unwrap(), "19");
}

/// A function of one prelude does not get the authority of another prelude's export that calls it.
#[test]
fn a_prelude_does_not_lend_its_tools_to_functions_of_another() {
    let tools = Tools::new().with("secret", |_| Ok("42")).private_to("secret", "vault");
    let vault = "(ns vault) (defn each [f] (tool/secret {}) (f 1)) (defn all [f] (pmap f [1 2]))
                 (defn told [] (tool/secret {}))";
    let mean = "(ns mean) (defn made [] (fn [_] (tool/secret {})))";
    let runtime = runtime().with_tools(tools).attach(&compiled(vault), &Attach::new()).unwrap();
    assert_eq!(runtime.eval("(vault/told)", &Grants::new()).unwrap().print().unwrap(), "\"42\"");
    // It is refused when attached, or when it calls.
    let Ok(runtime) = runtime.attach(&compiled(mean), &Attach::new()) else { return };
    for program in ["((mean/made) 1)", "(vault/each (mean/made))", "(vault/all (mean/made))"] {
        assert!(runtime.eval(program, &Grants::new()).is_err(), "{program}");
    }
}
