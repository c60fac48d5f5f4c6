//! Preludes that use preludes, on the command line: built in their order, attached together, told of and refused.

use crate::serving::Server;
use crate::{file, ptc};
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions};
use ptc_model::{Recorder, Scripted};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

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
fn a_check_knows_the_preludes_beside_it() {
    let crm = file("checked/crm.clj", "(ns crm) (defn find [id] {:id id})");
    let shop = file("checked/shop.clj", "(ns shop (:require [crm :as c])) (defn due [id] (:id (c/find id)))");
    // In any order.
    ptc(&["check", &shop, &crm]).expect(0, &format!("{shop}: ok\n{crm}: ok\n"));
    ptc(&["check", &shop, "-p", &crm]).expect(0, &format!("{shop}: ok\n"));
    let folder = std::path::Path::new(&crm).parent().expect("a folder").display().to_string();
    ptc(&["check", &folder]).expect(0, &format!("{crm}: ok\n{shop}: ok\n"));
    let alone = ptc(&["check", &shop]);
    assert!(alone.code == 1 && alone.err.contains("crm"), "{alone:?}");
    let other =
        file("checked-wrong/shop.clj", "(ns shop (:require [crm :as c])) (defn due [id] (c/fnid id))");
    let ran = ptc(&["check", &other, &crm, "--json"]);
    let files = &ran.json()["files"];
    assert_eq!((ran.code, &files[1]["ok"]), (1, &serde_json::json!(true)), "{ran:?}");
    assert!(files[0]["error"]["message"].as_str().is_some_and(|text| text.contains("fnid")), "{ran:?}");
    // Rules of preludes, which programs do not have.
    let wrong = file("checked-wrong/meta.clj", "(ns meta1) (defn f {:visibility :all} [] 1)");
    let ran = ptc(&["check", &wrong]);
    assert!(ran.code == 1 && ran.err.contains("invalid_visibility"), "{ran:?}");
    // A program may use preludes, and its tools are still not checked.
    let program = file("checked-wrong/program.clj", "(tool/any {:id (:id (crm/find 1))})");
    ptc(&["check", &program, "-p", &crm]).expect(0, &format!("{program}: ok\n"));
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
    assert!(shown.out.contains(&format!("built with artifact {artifact}")), "{shown:?}");
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

    // A server tells it at the start of every trace.
    let mut server = Command::new(env!("CARGO_BIN_EXE_ptc"));
    server.args(["mcp", "--prelude", &metrics, "--trace-dir", &desk.path("traces")]);
    let mut server = Server::start(server);
    server.call("lisp_eval", json!({"program": "(metrics/share 1 2)"}));
    server.call("lisp_eval", json!({"program": "(metrics/share 1 0)"}));
    server.hang_up();
    let traces: Vec<PathBuf> =
        std::fs::read_dir(desk.path("traces")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(traces.len(), 2);
    for trace in traces {
        let text = std::fs::read_to_string(trace).unwrap();
        let start: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(start["event"], "trace.start");
        is_told(&start["preludes"]);
    }

    // An agent whose file names it, from its own folder on.
    let pinned = format!("dist/metrics.ptcp@artifact:{}", told["artifact_hash"].as_str().unwrap());
    let trace = desk.path("trace.jsonl");
    for prelude in [&pinned, "src/metrics.clj"] {
        let agent = desk.put("agent.toml", format!("prompt = \"Share\"\npreludes = [{prelude:?}]\n"));
        let cassette = cassette(&desk, &agent, "(return (metrics/share 1 2))");
        let run = ["agent", "run", &agent, "--replay", &cassette, "--json", "--trace", &trace];
        let ran = ptc(&run).json();
        assert_eq!(ran["json"], 50, "{ran}");
        is_told(&ran["preludes"]);
        let replayed = ptc(&["agent", "replay", &trace]);
        assert!(replayed.out.starts_with("same: "), "{prelude}: {replayed:?}");
        is_told(&ptc(&["agent", "replay", &trace, "--json"]).json()["preludes"]);
    }
    let agent = desk.path("agent.toml");
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
