//! Preludes that use preludes, on the command line: built in their order, attached together, told of and refused.

use crate::{ptc, ptc_with};
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions};
use ptc_model::{Recorder, Scripted};
use ptc_runtime::{Attach, Prelude, PreludeInput, Runtime, Tools, TrustedKeys};
use serde_json::Value;
use std::path::{Path, PathBuf};

const CRM: &str = "(ns crm \"Customers.\")\n(defn find \"Finds one.\" [id] (tool/call {:server \"crm\" :tool \"get\" :args {:id id}}))\n(defn tag [id] (str \"c\" id))\n";
const BILLING: &str =
    "(ns billing (:require [crm :as c]))\n(defn due [id] (c/find id))\n(defn label [id] (c/tag id))\n";
const METRICS: &str = "(ns metrics)\n(defn share [a b] (quot (* 100 a) b))\n";

/// A folder with three sources; the name of the one that uses another comes first.
struct Desk(PathBuf);

impl Desk {
    fn new(name: &str) -> Desk {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("uses-{name}"));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(dir.join("src")).unwrap();
        let desk = Desk(dir);
        desk.put("src/crm.clj", CRM);
        desk.put("src/billing.clj", BILLING);
        desk.put("src/metrics.clj", METRICS);
        desk
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self.path(name)
    }

    fn build(&self, more: &[&str]) -> crate::Ran {
        ptc(&[&["build", &self.path("src"), "-o", &self.path("dist")], more].concat())
    }
}

#[test]
fn a_folder_is_built_in_its_order_and_holds_together() {
    let desk = Desk::new("folder");
    let ran = desk.build(&[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(desk.build(&["--check"]).code, 0);
    let (crm, billing) = (desk.path("dist/crm.ptcp"), desk.path("dist/billing.ptcp"));
    // In any order, as files and as sources.
    for (first, second) in [(&crm, &billing), (&billing, &crm)] {
        ptc(&["eval", "-p", first, "-p", second, "-e", "(billing/label 7)"]).expect(0, "\"c7\"\n");
    }
    let sources = [desk.path("src/billing.clj"), desk.path("src/crm.clj")];
    ptc(&["eval", "-p", &sources[0], "-p", &sources[1], "-e", "(billing/label 7)"]).expect(0, "\"c7\"\n");
    ptc(&["eval", "-p", &crm, "-p", &sources[0], "-e", "(billing/label 7)"]).expect(0, "\"c7\"\n");

    let shown = ptc(&["inspect", &billing]);
    let told = ptc(&["inspect", &crm, "--json"]).json();
    let artifact = told["artifact_hash"].as_str().unwrap();
    assert!(shown.out.contains("\nuses      crm, interface "), "{shown:?}");
    assert!(shown.out.contains(&format!("built beside artifact {artifact}")), "{shown:?}");
    assert!(shown.out.contains("      uses crm/find, and all that it reaches"), "{shown:?}");
    let json = ptc(&["inspect", &billing, "--json"]).json();
    assert_eq!(json["uses"][0]["namespace"], "crm");
    assert_eq!(json["exports"][0]["uses"], serde_json::json!(["crm/find"]));

    // Rebuilding needs what it uses.
    assert_eq!(ptc(&["verify", &crm, &billing, "--rebuild"]).code, 0);
    assert_eq!(ptc(&["verify", &billing, "--rebuild", "-p", &crm]).code, 0);
    let alone = ptc(&["verify", &billing, "--rebuild"]);
    assert_eq!(alone.code, 5);
    assert!(alone.err.contains("`billing` requires the namespace `crm`"), "{alone:?}");
    // What is reached through another is checked, too.
    let good = desk.put("good.json", "{\"upstreams\": {\"crm\": {\"tools\": [\"get\"]}}}");
    let bad = desk.put("bad.json", "{\"upstreams\": {\"crm\": {\"tools\": [\"other\"]}}}");
    assert_eq!(ptc(&["verify", &billing, "-p", &crm, "--against", &good]).code, 0);
    assert_eq!(ptc(&["verify", &billing, "-p", &crm, "--against", &bad]).code, 5);
    let key = desk.path("key.hex");
    assert_eq!(ptc(&["key", "new", &key]).code, 0);
    assert_eq!(ptc(&["key", "sign", &key, &crm, &billing]).code, 0);
    // A vendor's file stands in for its source.
    let alone = ptc(&["build", &sources[0], "-o", &desk.path("own"), "-p", &crm]);
    assert_eq!(alone.code, 0, "{alone:?}");
    assert_eq!(std::fs::read(desk.path("own/billing.ptcp")).unwrap(), std::fs::read(&billing).unwrap());
    let bundle = desk.build(&["--bundle", "all"]);
    assert_eq!(bundle.code, 0, "{bundle:?}");
    ptc(&["eval", "-p", &desk.path("dist/all.ptcp"), "-e", "(billing/label 7)"]).expect(0, "\"c7\"\n");
}

#[test]
fn what_ptc_ships_can_be_built_on() {
    let desk = Desk::new("paged");
    let source = "(ns rows (:require [paged :as p]))\n(defn all [f] (p/collect f))\n";
    let source = desk.put("rows.clj", source);
    assert_eq!(ptc(&["build", &source, "-o", &desk.path("dist")]).code, 0);
    let (file, program) = (desk.path("dist/rows.ptcp"), "(rows/all (fn [_] [1 2]))");
    ptc(&["eval", "-p", &file, "-p", "ptc:paged", "-e", program]).expect(0, "[1 2]\n");
    let alone = ptc(&["eval", "-p", &file, "-e", program]);
    assert_eq!(alone.code, 2, "{alone:?}");
    assert!(
        alone.err.contains("uses the namespace `paged`, which no attached prelude declares"),
        "{alone:?}"
    );
}

#[test]
fn circles_and_missing_ones_are_told_with_their_files() {
    let desk = Desk::new("circle");
    desk.put("src/crm.clj", "(ns crm (:require [billing]))\n(defn tag [id] (billing/label id))\n");
    let (crm, billing) = (desk.path("src/crm.clj"), desk.path("src/billing.clj"));
    for ran in [desk.build(&[]), ptc(&["eval", "-p", &crm, "-p", &billing, "-e", "1"])] {
        assert_ne!(ran.code, 0);
        assert!(ran.err.contains("require each other in a circle"), "{ran:?}");
        assert!(ran.err.contains(&crm) && ran.err.contains(&billing), "{ran:?}");
    }
    let ran = ptc(&["eval", "-p", &billing, "-e", "1"]);
    assert!(ran.err.contains("billing.clj:1:"), "{ran:?}");
    assert!(
        ran.err.contains("`billing` requires the namespace `crm`, which no prelude beside it declares"),
        "{ran:?}"
    );
}

/// A host in Rust that takes these files from this signer; the error is what it tells.
fn rust_host(files: &[&str], keys: &str) -> Result<String, String> {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let runtime = runtime.trusted(TrustedKeys::named(&[keys], "").unwrap());
    let tools = Tools::new().with("call", |_| Ok(true));
    let input = |file: &&str| {
        let signature = std::fs::read_to_string(format!("{file}.sig")).ok();
        PreludeInput::file(*file, std::fs::read(file).unwrap(), signature.as_deref())
    };
    let inputs: Vec<PreludeInput> = files.iter().map(input).collect();
    let ready = Prelude::make_ready(&runtime, &inputs).map_err(|error| format!("{error:?}"))?;
    let attach = |runtime: Runtime, prelude: &Prelude| runtime.attach(prelude, &Attach::new());
    let runtime =
        ready.iter().try_fold(runtime.with_tools(tools), attach).map_err(|error| error.to_string())?;
    Ok(runtime.eval("(billing/label 7)", &Default::default()).unwrap().print().unwrap())
}

/// The hosts that take a prelude, with these further flags: a program, an agent's file and a server.
fn hosts(desk: &Desk, files: &[&str], keys: &str) -> Vec<(&'static str, crate::Ran)> {
    let listed: Vec<String> = files.iter().map(|file| format!("{file:?}")).collect();
    let agent = format!("prompt = \"Bill\"\npreludes = [{}]\ntrusted = [{keys:?}]\n", listed.join(", "));
    let agent = desk.put("agent.toml", agent);
    let flags: Vec<&str> = files.iter().flat_map(|file| ["-p", file]).collect();
    let preludes: Vec<&str> = files.iter().flat_map(|file| ["--prelude", file]).collect();
    let program = [&["eval", "-e", "(billing/label 7)", "--trusted", keys], &flags[..]].concat();
    let server = [&["mcp", "--trusted", keys], &preludes[..]].concat();
    vec![
        ("a program", ptc(&program)),
        ("an agent's file", ptc(&["agent", "run", &agent, "--replay", &desk.path("cassette.jsonl")])),
        ("a server", ptc_with(&server, b"")),
    ]
}

#[test]
fn a_team_ships_three_and_no_host_takes_a_wrong_one() {
    let desk = Desk::new("team");
    let (key, other) = (desk.put("key.hex", "5a".repeat(32)), desk.put("other.hex", "6b".repeat(32)));
    let keys = desk.put("keys.txt", ptc(&["key", "public", &key]).out);
    assert_eq!(desk.build(&["--sign", &key]).code, 0);
    let names = ["billing", "crm", "metrics"].map(|name| desk.path(&format!("dist/{name}.ptcp")));
    let files = names.each_ref().map(|name| name.as_str());
    let listed = files.map(|file| format!("{file:?}")).join(", ");
    let agent = format!("prompt = \"Bill\"\npreludes = [{listed}]\ntrusted = [{keys:?}]\n");
    cassette(&desk, &desk.put("agent.toml", agent), "(return (billing/label 7))");
    for (host, ran) in hosts(&desk, &files, &keys) {
        assert_eq!(ran.code, 0, "{host}: {ran:?}");
    }
    assert_eq!(rust_host(&files, &keys).unwrap(), "\"c7\"");
    let refused = |what: &str, reasons: &[&str]| {
        for (host, ran) in hosts(&desk, &files, &keys) {
            assert_ne!(ran.code, 0, "{what}, {host}: {ran:?}");
            assert!(reasons.iter().any(|reason| ran.err.contains(reason)), "{what}, {host}: {ran:?}");
        }
        let told = rust_host(&files, &keys).unwrap_err();
        assert!(reasons.iter().any(|reason| told.contains(reason)), "{what}, Rust: {told}");
    };
    let sound = std::fs::read(&names[0]).unwrap();
    // Forged: other bytes under the signature of the sound ones.
    let mut forged = sound.clone();
    let last = forged.len() - 1;
    forged[last] ^= 1;
    std::fs::write(&names[0], &forged).unwrap();
    refused("a forged file", &["damaged", "corrupt", "untrusted"]);
    std::fs::write(&names[0], &sound).unwrap();
    // Signed by somebody else.
    assert_eq!(ptc(&["build", &desk.path("src"), "-o", &desk.path("dist"), "--sign", &other]).code, 0);
    refused("a file of another signer", &["not trusted", "untrusted"]);
    assert_eq!(desk.build(&["--sign", &key]).code, 0);
    // Built beside another interface of what it uses.
    desk.put("src/crm.clj", CRM.replace("(defn tag [id]", "(defn tag [id & more]"));
    let crm = desk.path("src/crm.clj");
    assert_eq!(ptc(&["build", &crm, "-o", &desk.path("dist"), "--sign", &key]).code, 0);
    for (host, ran) in hosts(&desk, &files, &keys) {
        assert_ne!(ran.code, 0, "{host}: {ran:?}");
        assert!(ran.err.contains("was compiled for interface"), "{host}: {ran:?}");
        assert!(ran.err.contains("billing.ptcp") && ran.err.contains("crm.ptcp"), "{host}: {ran:?}");
    }
    assert!(rust_host(&files, &keys).unwrap_err().contains("was compiled for interface"));
    // Reaching for a tool that nobody grants.
    desk.put("src/crm.clj", CRM);
    desk.put("src/metrics.clj", "(ns metrics)\n(defn share [a b] (tool/spy {:a a :b b}))\n");
    assert_eq!(desk.build(&["--sign", &key]).code, 0);
    refused("a file that reaches too far", &["requires granted tool `spy`"]);
}

#[test]
fn policy_flags_hide_and_misspelled_rules_are_told() {
    let desk = Desk::new("policy");
    let crm = desk.path("src/crm.clj");
    let eval = |more: &[&str], program: &str| ptc(&[&["eval", "-p", &crm, "-e", program], more].concat());
    eval(&[], "(crm/tag 1)").expect(0, "\"c1\"\n");
    let hidden = eval(&["--prelude-hide", "crm/t*"], "(crm/tag 1)");
    assert!(hidden.err.contains("`crm/tag` is not an export of `crm`"), "{hidden:?}");
    let hidden = eval(&["--prelude-hide-writes"], "(crm/find 1)");
    assert!(hidden.err.contains("`crm/find` is not an export of `crm`"), "{hidden:?}");
    eval(&["--prelude-hide-writes"], "(crm/tag 1)").expect(0, "\"c1\"\n");
    let wrong = eval(&["--prelude-hide", "crm/tga"], "1");
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("did you mean `crm/tag`?"), "{wrong:?}");
    let server = ptc(&["mcp", "--prelude", &crm, "--prelude-hide", "crm/tga"]);
    assert_ne!(server.code, 0);
    assert!(server.err.contains("names `crm/tga`, which no attached prelude exports"), "{server:?}");
}

#[test]
fn results_and_traces_tell_which_preludes_there_were_and_replays_compare_them() {
    let desk = Desk::new("hashes");
    let metrics = desk.path("src/metrics.clj");
    assert_eq!(desk.build(&[]).code, 0);
    let told = ptc(&["inspect", &desk.path("dist/metrics.ptcp"), "--json"]).json();
    let is_told = |preludes: &Value| {
        assert_eq!(preludes[0]["namespaces"], serde_json::json!(["metrics"]));
        for hash in ["source_hash", "artifact_hash", "interface_hash"] {
            assert_eq!(preludes[0][hash], told[hash], "{preludes}");
        }
    };
    is_told(&ptc(&["eval", "--json", "-p", &metrics, "-e", "1"]).json()["preludes"]);
    let program = desk.put("one.clj", "(metrics/share 1 2)");
    is_told(&ptc(&["run", &program, "--json", "-p", &metrics]).json()["preludes"]);
    assert!(ptc(&["eval", "--json", "-e", "1"]).json().get("preludes").is_none());

    // An agent whose file names it, from its own folder on.
    let agent = desk.put("agent.toml", "prompt = \"Share\"\npreludes = [\"src/metrics.clj\"]\n");
    let cassette = cassette(&desk, &agent, "(return (metrics/share 1 2))");
    let trace = desk.path("trace.jsonl");
    let ran = ptc(&["agent", "run", &agent, "--replay", &cassette, "--json", "--trace", &trace]).json();
    assert_eq!(ran["json"], 50, "{ran}");
    is_told(&ran["preludes"]);
    assert!(ptc(&["agent", "replay", &trace]).out.starts_with("same: "));
    // The same interface and the same result, and yet another prelude.
    desk.put("src/metrics.clj", METRICS.replace("(* 100 a)", "(* a 100)"));
    let replayed = ptc(&["agent", "replay", &trace, "--agent", &agent]);
    assert_eq!(replayed.code, 1, "{replayed:?}");
    assert!(replayed.out.contains("the preludes"), "{replayed:?}");
}

/// The conversation of an agent in a file with a model that says just this.
fn cassette(desk: &Desk, agent: &str, reply: &str) -> String {
    let path = desk.path("cassette.jsonl");
    let recorder = Recorder::create(Scripted::new([reply]), &path).expect("a cassette");
    let agent = Agent::from_file(agent).expect("an agent");
    let _ = ptc_agent::run(&agent, &RunOptions::new().llm(LlmRef::client(recorder)));
    path
}

#[test]
fn agents_below_have_what_the_file_above_names() {
    let desk = Desk::new("below");
    desk.put("child.toml", "prompt = \"Look\"\nmax_turns = 1\n");
    let parent = "prompt = \"Ask\"\nmax_turns = 1\npreludes = [\"src/metrics.clj\"]\n[tools.look]\nagent = \"child.toml\"\n";
    let parent = desk.put("parent.toml", parent);
    let below = |parent: &str, program: &str| {
        let model = Scripted::new(["(return (tool/look {}))", program]);
        let agent = Agent::from_file(parent).expect("an agent");
        let ended = ptc_agent::run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone())));
        (ended, model.requests()[1].system.clone())
    };
    let has = |parent: &str| {
        let (ended, _) = below(
            parent,
            "(return (count (filter #(str/includes? % \"metrics/share\") (apropos \"share\"))))",
        );
        let is_found = ended.unwrap().json().unwrap() == 1;
        let (ended, told) = below(parent, "(return (metrics/share 1 4))");
        assert_eq!(ended.is_ok_and(|step| step.json().unwrap() == 25), is_found);
        assert_eq!(told.contains("metrics/share"), is_found, "{told}");
        is_found
    };
    assert!(has(&parent));
    desk.put("child.toml", "prompt = \"Look\"\nmax_turns = 1\ninherit_preludes = false\n");
    assert!(!has(&parent));
    // One that names its own has those in place of the ones above.
    desk.put("child.toml", "prompt = \"Look\"\nmax_turns = 1\npreludes = [\"src/crm.clj\"]\n");
    assert!(!has(&parent));
    // It narrows what it has from above, and a rule above holds below.
    let own = "prompt = \"Look\"\nmax_turns = 1\npolicy = { hide = [\"metrics/share\"] }\n";
    desk.put("child.toml", own);
    assert!(!has(&parent));
    desk.put("child.toml", "prompt = \"Look\"\nmax_turns = 1\n");
    let hiding = std::fs::read_to_string(&parent)
        .unwrap()
        .replace("[tools", "policy = { hide = [\"metrics\"] }\n[tools");
    assert!(!has(&desk.put("hiding.toml", hiding)));
}
