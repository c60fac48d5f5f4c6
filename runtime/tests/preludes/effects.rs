//! Effects of exports: derived from the tools they reach, shown consistently, and never weakened.

use super::common::*;
use ptc_runtime::{Attach, Effects, Grants, Known, Runtime, Tools, Upstream};
use std::sync::{Arc, Mutex};

/// Wrappers without metadata around tools of every kind, and pure code.
const MIXED: &str = r#"(ns adm)
    (def size 50)
    (defn pure [x] (inc x))
    (defn twice [f x] (f (f x)))
    (defn get-user [id] (tool/call {:server "crm" :tool "get_user" :args {:id id}}))
    (defn delete-user [id] (tool/call {:server "crm" :tool "list_users" :args {:id id}}))
    (defn poke [id] (tool/call {:server "crm" :tool "poke" :args {:id id}}))
    (defn get-or-poke [id] (get-user id) (poke id))
    (defn get-and-look [id] (get-user id) (tool/look {:id id}))
    (defn look [id] (tool/look {:id id}))
    (defn save [id] (look id) (tool/save {:id id}))
    (defn other [id] (tool/other {:id id}))
    (defn any [server] (tool/call {:server server :tool "get_user"}))"#;

fn servers() -> Arc<Servers> {
    Arc::new(Servers(vec![(
        "crm",
        Some(vec![("get_user", Effects::Read), ("list_users", Effects::Write), ("poke", Effects::Unknown)]),
    )]))
}

fn tools() -> Tools {
    let tools = stub().with("look", |_| Ok(1)).with("save", |_| Ok(1)).with("other", |_| Ok(1));
    tools.effect("look", Effects::Read).effect("save", Effects::Write)
}

fn attached_to_servers(source: &str) -> Runtime {
    runtime().with_tools(tools()).attach(&compiled(source), &Attach::new().upstream(servers())).unwrap()
}

/// Returns the effect of one export in `meta`, `doc`, `ns-publics`, the inventory, the trace and the API, which
/// must agree.
fn effect(runtime: &Runtime, reference: &str) -> String {
    let eval = |program: String| {
        runtime.clone().with_tools(tools()).eval(&program, &Grants::new()).unwrap().print().unwrap()
    };
    let found = eval(format!("(:effect (meta '{reference}))")).trim_matches('"').to_string();
    assert_eq!(runtime.export_effect(reference).unwrap().name(), found, "{reference}");
    let doc = eval(format!("(doc '{reference})"));
    assert!(doc.contains(&format!("Effect: {found}")), "{reference} is {found}: {doc}");
    let (namespace, symbol) = reference.split_once('/').unwrap();
    let public = eval(format!("(get-in (ns-publics '{namespace}) [\"{symbol}\" :effect])"));
    assert_eq!(public.trim_matches('"'), found, "{reference}");
    let trace = runtime.prelude_trace().unwrap();
    assert_eq!(trace.exports.iter().find(|export| export.reference == reference).unwrap().effect, found);
    let inventory = runtime.inventory(Default::default()).unwrap();
    if let Some(line) = inventory.lines().find(|line| line.trim_start().starts_with(&format!("{reference} ")))
    {
        assert!(line.contains(&format!("[{found}]")), "{reference} is {found}: {inventory}");
    }
    found
}

#[test]
fn the_strongest_of_known_effects_or_unknown() {
    let runtime = attached_to_servers(MIXED);
    for (name, wanted) in [
        ("size", "pure"),
        ("pure", "pure"),
        ("twice", "pure"),
        ("get-user", "read"),
        ("delete-user", "write"),
        ("poke", "unknown"),
        ("get-or-poke", "unknown"),
        ("get-and-look", "read"),
        ("look", "read"),
        ("save", "write"),
        ("other", "unknown"),
        ("any", "unknown"),
    ] {
        assert_eq!(effect(&runtime, &format!("adm/{name}")), wanted, "{name}");
    }
}

#[test]
fn nobody_who_knows_no_tools_calls_a_wrapper_a_read() {
    let prelude = compiled(MIXED);
    for export in prelude.exports() {
        let wanted = if export.tool_refs.is_empty() { "pure" } else { "unknown" };
        assert_eq!(export.effect.name(), wanted, "{}", export.reference());
    }
    let inventory = prelude.inventory(Default::default()).unwrap();
    assert!(!inventory.contains("[read]") && inventory.contains("[unknown]"), "{inventory}");
    let source = prelude.source_of("adm/delete-user").unwrap();
    assert!(!source.contains("read"), "{source}");
    assert!(prelude.source_of("adm/pure").unwrap().contains("prompt, pure, arity 1"));
}

#[test]
fn what_the_author_says_is_shown_and_does_not_weaken_what_is_enforced() {
    let source = r#"(ns adm)
        (defn purge {:effect :read} [] (tool/call {:server "crm" :tool "list_users"}))
        (defn poke {:effect :read} [] (tool/call {:server "crm" :tool "poke"}))
        (defn careful {:effect :write} [] (tool/call {:server "crm" :tool "get_user"}))
        (defn get-user [] (tool/call {:server "crm" :tool "get_user"}))
        (defn pure [] 1)"#;
    let runtime = attached_to_servers(source);
    assert_eq!(effect(&runtime, "adm/purge"), "read");
    assert_eq!(effect(&runtime, "adm/careful"), "write");
    let attach = Attach::new().upstream(servers()).hide_writes(true);
    let reading = super::common::runtime().with_tools(tools()).attach(&compiled(source), &attach).unwrap();
    let shown = reading.eval("(sort (keys (ns-publics 'adm)))", &Grants::new()).unwrap();
    assert_eq!(shown.print().unwrap(), "[\"get-user\" \"pure\"]");
    assert!(reading.eval("(adm/purge)", &Grants::new()).is_err());
}

#[test]
fn a_file_cannot_claim_that_code_with_tools_is_pure() {
    let mut file = compiled(MIXED).to_file();
    let at = file.manifest.exports.iter().position(|export| export.symbol == "save").unwrap();
    file.manifest.exports[at].effect = Effects::Pure;
    let bytes = ptc_bytecode::encode_prelude(&file.sealed());
    let problem = ptc_runtime::Prelude::load(&runtime(), &bytes, &Default::default()).unwrap_err();
    assert_eq!(problem.code, ptc_runtime::Code::AuthorityMismatch, "{problem}");
}

/// Servers whose tools become known on request, and that record the requests.
struct Cold {
    servers: Servers,
    asked: Mutex<Vec<String>>,
    down: &'static str,
}

impl Upstream for Cold {
    fn operation(&self, server: &str, tool: &str) -> Known {
        match self.servers.operation(server, tool) {
            Known::NoServer => Known::NoServer,
            _ if !self.asked.lock().unwrap().iter().any(|known| known == server) => Known::NotLoaded,
            known => known,
        }
    }

    fn load(&self, servers: &[String]) -> Vec<(String, String)> {
        let (down, up): (Vec<String>, Vec<String>) =
            servers.iter().cloned().partition(|name| name == self.down);
        self.asked.lock().unwrap().extend(up);
        down.into_iter().map(|name| (name, "nobody answers".to_string())).collect()
    }
}

fn cold(down: &'static str) -> Arc<Cold> {
    let tools = |name| (name, Some(vec![("one", Effects::Read), ("two", Effects::Write)]));
    let servers = Servers(vec![tools("s"), tools("t"), tools("u")]);
    Arc::new(Cold { servers, asked: Mutex::default(), down })
}

#[test]
fn attaching_lists_the_servers_that_are_needed_and_no_others() {
    let source = r#"(ns a) (defn one [] (tool/call {:server "s" :tool "one"}))
        (defn two [] (tool/call {:server "t" :tool "two"}))"#;
    let servers = cold("");
    let attached = runtime()
        .with_tools(stub())
        .attach(&compiled(source), &Attach::new().upstream(servers.clone()))
        .unwrap();
    assert_eq!(*servers.asked.lock().unwrap(), ["s", "t"]);
    assert!(attached.prelude_trace().unwrap().unverified.is_empty());
    assert_eq!(effect(&attached, "a/two"), "write");
    // The servers of the run count as well, without being named again.
    let missing = compiled(r#"(ns a) (defn one [] (tool/call {:server "s" :tool "gone"}))"#);
    let around = runtime().with_upstream(cold(""));
    let failure = around.clone().with_tools(stub()).attach(&missing, &Attach::new()).err().unwrap();
    assert!(failure.diagnostic().message.contains("tool `gone` is not present on server `s`"), "{failure}");
}

#[test]
fn a_server_that_cannot_be_listed_stops_the_attachment() {
    let source = r#"(ns a) (defn one [] (tool/call {:server "s" :tool "one"}))
        (defn two [] (tool/call {:server "t" :tool "two"}))"#;
    let failure = runtime()
        .with_tools(stub())
        .attach(&compiled(source), &Attach::new().upstream(cold("t")))
        .err()
        .unwrap();
    let message = &failure.diagnostic().message;
    assert_eq!(failure.reason(), "prelude_attach_failed");
    assert!(
        message.contains("a/two requires upstream:t/two") && message.contains("nobody answers"),
        "{message}"
    );
}
