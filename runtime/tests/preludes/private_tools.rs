//! Private tools are called only on behalf of an export that declares them.

use super::common::*;
use ptc_runtime::{
    Attach, Failure, Grants, LoadOptions, Outcome, Prelude, PreludeId, PreludeStore, Selection, Session,
    Signing, ToolError, Tools, TrustedKeys,
};

const STORE: &str = "(ns store)
    (defn- low [id] (tool/secret {:id id}))
    (defn put [id] (low id))
    (defn put-all [ids] (map (fn [id] (tool/secret {:id id})) ids))
    (defn put-par [ids] (pmap (fn [id] (tool/secret {:id id})) ids))
    (defn put-par-direct [ids] (pmap tool/secret (map (fn [id] {:id id}) ids)))
    (defn with [f x] (f x))
    (defn escape [] (fn [id] (tool/secret {:id id})))
    (defn tool [] tool/secret)
    (defn helper [] low)
    (defn put-with [f id] (f id) (tool/secret {:id id}))";

fn tools() -> Tools {
    Tools::new().with("secret", |args| Ok(args.json()?["id"].clone())).with("open", |_| Ok("open")).private(
        "secret",
        |args| match args.json()?["id"].is_number() {
            true => Ok(()),
            false => Err(ToolError::new("`id` must be a number")),
        },
    )
}

fn run(program: &str) -> Result<Outcome, Failure> {
    let runtime = runtime().with_tools(tools()).attach(&compiled(STORE), &Attach::new())?;
    runtime.eval(program, &Grants::new())
}

#[test]
fn exports_that_declare_it_may_call_it() {
    for (program, wanted) in [
        ("(store/put 7)", "7"),
        ("(store/put-all [1 2])", "[1 2]"),
        ("(store/put-par [1 2])", "[1 2]"),
        ("(store/put-par-direct [1 2])", "[1 2]"),
        ("(map store/put [1 2])", "[1 2]"),
        ("(pmap store/put [1 2])", "[1 2]"),
        ("(store/with (fn [x] (store/put x)) 3)", "3"),
    ] {
        assert_eq!(run(program).unwrap().print().unwrap(), wanted, "{program}");
    }
}

#[test]
fn nobody_else_may() {
    for program in [
        "((store/escape) 7)",
        "(map (store/escape) [7])",
        "(pmap (store/escape) [7])",
        "((store/tool) {:id 7})",
        "(map (store/tool) [{:id 7}])",
        "(pmap (store/tool) [{:id 7}])",
        "((store/helper) 7)",
        "(store/with (store/tool) {:id 7})",
        "(store/with (fn [x] ((store/tool) {:id x})) 7)",
        "(let [t (store/tool)] (store/put-with (fn [x] (t {:id x})) 7))",
        "(def kept (store/escape)) (kept 7)",
        "((:f {:f (store/escape)}) 7)",
    ] {
        let failure = run(program).expect_err(program);
        let reason = failure.reason();
        assert!(matches!(reason, "private_tool_unauthorized" | "pmap_error"), "{program}: {failure}");
        assert!(failure.to_string().contains("may only be called by a prelude"), "{program}: {failure}");
    }
}

#[test]
fn a_program_cannot_name_it() {
    let failure = run("(println 1) (tool/secret {:id 1})").unwrap_err();
    assert_eq!(failure.reason(), "private_tool_unauthorized");
    assert!(failure.prints.is_empty());
    // It is never suggested for a misspelt name either.
    let failure = run("(tool/secre {:id 1})").unwrap_err();
    assert_eq!(failure.reason(), "unknown_tool");
    assert!(!failure.to_string().contains("secret"), "{failure}");
}

#[test]
fn arguments_are_checked_first() {
    let failure = run("(store/put \"x\")").unwrap_err();
    assert_eq!(failure.reason(), "private_tool_args_error");
    assert!(failure.diagnostic().message.contains("`id` must be a number"), "{failure}");
}

#[test]
fn the_async_driver_asks_too() {
    let runtime = runtime().with_tools(tools()).attach(&compiled(STORE), &Attach::new()).unwrap();
    let eval = |program: &'static str| pollster::block_on(runtime.eval_async(program, &Grants::new()));
    assert_eq!(eval("(store/put 1)").unwrap().print().unwrap(), "1");
    assert_eq!(eval("((store/escape) 1)").unwrap_err().reason(), "private_tool_unauthorized");
}

#[test]
fn a_function_kept_from_an_earlier_turn_has_no_authority() {
    let tools = tools();
    let runtime = runtime().with_tools(tools).attach(&compiled(STORE), &Attach::new()).unwrap();
    let mut session = runtime.session();
    session.eval("(def f (store/escape)) (def t (store/tool))").unwrap();
    assert_eq!(session.eval("(f 1)").unwrap_err().reason(), "private_tool_unauthorized");
    assert_eq!(session.eval("(store/with t {:id 1})").unwrap_err().reason(), "private_tool_unauthorized");
    assert_eq!(session.eval("(store/put 1)").unwrap().print().unwrap(), "1");
}

const VAULT: &str = "(ns vault) (defn open [id] (tool/secret {:id id}))";

/// Returns the reason a prelude is not attached to a run with these tools.
fn refusal(prelude: &Prelude, tools: &Tools) -> String {
    let failure = runtime()
        .with_tools(tools.clone())
        .attach(prelude, &Attach::new())
        .err()
        .expect("it must not be attached");
    assert_eq!(failure.reason(), "prelude_attach_failed");
    failure.diagnostic().message.clone()
}

fn opens(prelude: &Prelude, tools: &Tools) -> bool {
    let Ok(runtime) = runtime().with_tools(tools.clone()).attach(prelude, &Attach::new()) else {
        return false;
    };
    let found = runtime.eval("(vault/open 7)", &Grants::new()).unwrap();
    found.print().unwrap() == "7"
}

#[test]
fn a_stored_prelude_never_gets_a_private_tool() {
    let store = PreludeStore::new(&runtime());
    store.write("vault", VAULT, serde_json::json!({})).unwrap();
    let (bundle, _) = store.bundle(&["vault"], &[]).unwrap();
    let read = store.read("vault").unwrap().compiled;
    // Composed with others, or recompiled from the source inside, it still counts as stored.
    let all = Selection::all_of(&bundle).unwrap();
    let composed = Prelude::compose(&runtime(), &all).unwrap();
    let again = Prelude::compose(&runtime(), &Selection::all_of(&read).unwrap()).unwrap();
    let rebuilt = bundle.rebuilt(&runtime(), &[]).unwrap().unwrap();
    for prelude in [&bundle, &read, &composed, &again, &rebuilt] {
        for tools in [
            tools(),
            tools().private_to("secret", "vault"),
            tools().private_to("secret", PreludeId::artifact(prelude.artifact_hash())),
        ] {
            let message = refusal(prelude, &tools);
            assert!(
                message.contains("requires granted tool `secret`, which is reserved for other preludes"),
                "{message}"
            );
        }
    }
    let failure = runtime().with_tools(tools()).attach_sources(&all, &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
    let start = Session::builder(&runtime().with_tools(tools())).store(&store).preludes(["vault"]).start();
    assert_eq!(start.err().unwrap().reason(), "prelude_attach_failed");
    // A prelude with an equal source that the host attaches itself may call the tool.
    assert!(opens(&compiled(VAULT), &tools()));
}

#[test]
fn a_stored_prelude_is_refused_at_the_call_too() {
    let store = PreludeStore::new(&runtime());
    store.write("vault", VAULT, serde_json::json!({})).unwrap();
    let prelude = store.read("vault").unwrap().compiled;
    // Attached where the tool was public, run where it is private.
    let public = Tools::new().with("secret", |_| Ok(7));
    let attached = runtime().with_tools(public.clone()).attach(&prelude, &Attach::new()).unwrap();
    assert!(attached.eval("(vault/open 7)", &Grants::new()).is_ok());
    let failure = attached.clone().with_tools(tools()).eval("(vault/open 7)", &Grants::new()).unwrap_err();
    assert_eq!(failure.reason(), "private_tool_unauthorized");
}

#[test]
fn a_stored_prelude_beside_the_authoring_one_writes_nothing_itself() {
    let store = PreludeStore::new(&runtime());
    let source = "(ns worm) (defn spread [] (tool/prelude_store_write {:id \"worm\" :source \"(ns worm)\"}))";
    store.write("worm", source, serde_json::json!({})).unwrap();
    store.write("plain", "(ns plain) (def x 1)", serde_json::json!({})).unwrap();
    let authoring = Prelude::load(&runtime(), ptc_preludes::prelude(), &LoadOptions::default()).unwrap();
    let session = |id: &str| {
        Session::builder(&runtime()).store(&store).preludes([id]).write_capable(&authoring).start()
    };
    let failure = session("worm").err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
    assert!(failure.to_string().contains("worm/spread"), "{failure}");
    let mut session = session("plain").unwrap();
    assert_eq!(session.eval("(count (prelude/list))").unwrap().print().unwrap(), "2");
}

#[test]
fn a_private_tool_is_for_the_preludes_that_are_named() {
    let vault = compiled(VAULT);
    let other = compiled("(ns other) (defn open [id] (tool/secret {:id id}))");
    assert!(opens(&vault, &tools().private_to("secret", "vault")));
    assert!(refusal(&other, &tools().private_to("secret", "vault")).contains("other/open"));
    // A namespace is enough, without a check of arguments.
    let one_line =
        Tools::new().with("secret", |args| Ok(args.json()?["id"].clone())).private_to("secret", "vault");
    assert!(opens(&vault, &one_line));
    assert_eq!(
        runtime()
            .with_tools(one_line.clone())
            .eval("(tool/secret {:id 1})", &Grants::new())
            .unwrap_err()
            .reason(),
        "private_tool_unauthorized"
    );
    let two = one_line.private_to("secret", "other");
    assert!(opens(&vault, &two) && runtime().with_tools(two.clone()).attach(&other, &Attach::new()).is_ok());
    // In a prelude of several sources, each namespace counts separately.
    let both = [Selection::new("vault", VAULT), Selection::new("b", "(ns b) (defn f [] (tool/secret {}))")];
    let both = Prelude::compose(&runtime(), &both).unwrap();
    assert!(refusal(&both, &tools().private_to("secret", "vault")).contains("b/f"));
    // By hash: only this build.
    let by_hash = |hash: String| tools().private_to("secret", PreludeId::artifact(hash));
    assert!(opens(&vault, &by_hash(vault.artifact_hash())));
    assert!(!opens(&compiled(&format!("{VAULT} (def x 1)")), &by_hash(vault.artifact_hash())));
}

#[test]
fn a_private_tool_is_for_what_a_key_signed() {
    let (ours, theirs) = (key(7), key(8));
    let bytes = compiled(VAULT).to_bytes();
    let loaded = |key: &Signing| {
        let signature = key.sign(&bytes).unwrap();
        let both = format!("{}\n{}", ours.public_key(), theirs.public_key());
        let trusted = TrustedKeys::parse(&both).unwrap();
        let options =
            LoadOptions { trusted: Some(&trusted), signature: Some(&signature), ..LoadOptions::default() };
        Prelude::load(&runtime(), &bytes, &options).unwrap()
    };
    let id = PreludeId::signed_by(ours.public_key());
    let kept = tools().private_to("secret", id.clone());
    assert!(opens(&loaded(&ours), &kept));
    assert!(!opens(&loaded(&theirs), &kept), "signed by another trusted key");
    assert!(!opens(&compiled(VAULT), &kept), "not signed");
    let unsigned = Prelude::load(&runtime(), &bytes, &LoadOptions::default()).unwrap();
    assert!(!opens(&unsigned, &kept), "no signature was asked for");
    assert!(!opens(&loaded(&ours), &tools().private_to("secret", id.namespace("other"))));
}

fn key(byte: u8) -> Signing {
    Signing::from_hex(&format!("{byte:02x}").repeat(32)).unwrap()
}
