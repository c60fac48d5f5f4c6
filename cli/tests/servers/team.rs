//! A team's preludes, as docs/preludes/team.md tells of them: attached by hash and key to an agent's file, an MCP server
//! and a host in Rust. What is wrong with one of them is told before a program, a model or a tool has been asked.

use crate::agents::record;
use crate::mcp::serve;
use crate::{Ran, config, entry, file, ptc, ptc_with, trial};
use libtest_mimic::Trial;
use ptc_bytecode::{decode_prelude, encode_prelude};
use ptc_runtime::{
    ArtifactHash, Attach, InputError, Prelude, PreludeInput, Runtime, Signing, Tools, TrustedKeys,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("every_host_uses_the_preludes_of_the_team", every_host_uses_the_preludes_of_the_team),
        trial("no_host_takes_a_wrong_one", no_host_takes_a_wrong_one),
        trial("a_pin_is_a_whole_hash_of_a_build", a_pin_is_a_whole_hash_of_a_build),
    ]
}

const CRM: &str = "(ns crm \"Customers.\")\n(defn find \"Finds one.\" [id] (tool/call {:server \"crm\" :tool \"read_text_file\" :args {:path (str id \".md\")}}))\n";
const BILLING: &str =
    "(ns billing (:require [crm :as c]))\n(defn due [id] (get-in (c/find id) [:value \"content\"]))\n";
const METRICS: &str = "(ns metrics)\n(defn share [a b] (quot (* 100 a) b))\n";
const NAMES: [&str; 3] = ["billing", "crm", "metrics"];

const PROGRAM: &str = "[(billing/due \"notes\") (metrics/share 1 4)]";
const ANSWER: &str = "[\"remember the milk\" 25]";

/// A folder with the sources of the team, what they were built to, and the hosts' ways to name it.
struct Team {
    dir: PathBuf,
    name: String,
    /// The server `crm`, which writes down who calls it.
    config: String,
    /// The file of the key that signs.
    key: String,
    /// The file of keys that are trusted.
    keys: String,
}

/// What a host did.
struct Hosted {
    host: &'static str,
    /// What the program gave, or what the host said.
    answer: Result<String, String>,
    calls: usize,
}

impl Team {
    fn new(name: &str) -> Team {
        let name = format!("team-{name}");
        let of = |part: &str| format!("{name}/{part}");
        let key = file(&of("key.hex"), "5a".repeat(32));
        let keys = file(&of("keys.txt"), ptc(&["key", "public", &key]).out);
        let dir = Path::new(&key).parent().expect("a folder").to_path_buf();
        let mut crm = entry("--server");
        crm["env"] = json!({"CALLS": dir.join("calls.txt")});
        let config = config(&of("servers"), json!({"crm": crm}));
        let team = Team { dir, name, config, key, keys };
        for (name, source) in [("crm", CRM), ("billing", BILLING), ("metrics", METRICS)] {
            team.write(name, source);
        }
        team.build(&team.key);
        team
    }

    fn path(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    /// Changes a source.
    fn write(&self, name: &str, source: &str) {
        file(&format!("{}/src/{name}.clj", self.name), source);
    }

    /// Builds all of them, signed with this key.
    fn build(&self, key: &str) {
        let ran = ptc(&["build", &self.path("src"), "-o", &self.path("dist"), "--sign", key]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    fn artifact(&self, name: &str) -> String {
        self.path(&format!("dist/{name}.ptcp"))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.artifact(name)).expect("a file")
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.artifact(name), bytes).expect("a file");
    }

    /// Puts a file in place of another, with a signature of the team.
    fn put_signed(&self, name: &str, bytes: &[u8]) {
        let key = Signing::from_hex(&"5a".repeat(32)).expect("a key");
        self.put(name, bytes);
        let signature = key.sign(bytes).expect("a file of ours");
        std::fs::write(format!("{}.sig", self.artifact(name)), signature).expect("a file");
    }

    /// The files as hosts name them: each with the hash it has now.
    fn pinned(&self) -> Vec<String> {
        let hash =
            |name: &str| ptc(&["inspect", &self.artifact(name), "--json"]).json()["artifact_hash"].clone();
        let pin =
            |name: &str| format!("{}@artifact:{}", self.artifact(name), hash(name).as_str().expect("a hash"));
        NAMES.map(pin).to_vec()
    }

    fn calls(&self) -> usize {
        std::fs::read_to_string(self.dir.join("calls.txt")).map_or(0, |calls| calls.lines().count())
    }

    /// Has every host run the program with these preludes.
    fn hosted(&self, pinned: &[String]) -> Vec<Hosted> {
        let mut all = Vec::new();
        for host in ["an agent's file", "a server"] {
            let before = self.calls();
            let answer = match host {
                "a server" => self.server(pinned),
                _ => self.agent(pinned),
            };
            all.push(Hosted { host, answer, calls: self.calls() - before });
        }
        all.push(self.rust(pinned));
        all
    }

    /// The agent's file; its model would answer with the program.
    fn agent_file(&self, pinned: &[String]) -> String {
        let listed: Vec<String> = pinned.iter().map(|file| format!("{file:?}")).collect();
        let text = format!(
            "prompt = \"What is due?\"\nmax_turns = 2\npreludes = [{}]\ntrusted = [\"keys.txt\"]\n",
            listed.join(", ")
        );
        file(&format!("{}/agent.toml", self.name), text)
    }

    fn agent(&self, pinned: &[String]) -> Result<String, String> {
        let (agent, cassette, trace) =
            (self.agent_file(pinned), self.path("cassette.jsonl"), self.path("trace.jsonl"));
        let _ = std::fs::remove_file(&trace);
        let run = ["agent", "run", &agent, "--replay", &cassette, "--upstreams-config", &self.config];
        let ran = ptc(&[&run[..], &["--trace", &trace]].concat());
        let answer = answer_of(ran);
        if answer.is_err() {
            let trace = std::fs::read_to_string(&trace).unwrap_or_default();
            assert!(!trace.contains("turn.start") && !trace.contains("llm."), "{trace}");
        }
        answer
    }

    fn server(&self, pinned: &[String]) -> Result<String, String> {
        let mut flags = vec!["--trusted", &self.keys];
        flags.extend(pinned.iter().flat_map(|file| ["--prelude", file]));
        self.starts(&flags)?;
        let mut server = serve(&self.config, &flags);
        let answer = server.call("lisp_eval", json!({"program": PROGRAM}));
        let text = answer["content"][0]["text"].as_str().expect("a text").to_string();
        server.hang_up();
        Ok(text.trim_start_matches("user=> ").to_string() + "\n")
    }

    /// Starts the server for a client that asks something and hangs up.
    fn starts(&self, flags: &[&str]) -> Result<(), String> {
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let run = [&["mcp", "--upstreams-config", &self.config], flags].concat();
        answer_of(ptc_with(&run, format!("{ask}\n").as_bytes())).map(|_| ())
    }

    fn rust(&self, pinned: &[String]) -> Hosted {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let tools = Tools::new().with("call", move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(json!({"ok": true, "value": {"content": "remember the milk"}}))
        });
        let answer = embedded(pinned, &self.keys, tools).map(|printed| printed + "\n");
        Hosted { host: "Rust", answer, calls: calls.load(Ordering::Relaxed) }
    }
}

/// Standard output of what went well, standard error of what did not. That printed nothing else.
fn answer_of(ran: Ran) -> Result<String, String> {
    match ran.code {
        0 => Ok(ran.out),
        _ => {
            assert_eq!(ran.out, "", "{}", ran.err);
            Err(ran.err)
        }
    }
}

/// What a host in Rust does that has the files from elsewhere.
fn embedded(pinned: &[String], keys: &str, tools: Tools) -> Result<String, String> {
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("a runtime");
    let runtime = runtime.trusted(TrustedKeys::named(&[keys], "").expect("keys")).with_tools(tools);
    let input = |pinned: &String| {
        let (file, pin) = ArtifactHash::split(pinned).expect("a pin");
        let signature = std::fs::read_to_string(format!("{file}.sig")).ok();
        PreludeInput::file(file, std::fs::read(file).expect("a file"), signature.as_deref()).pinned(pin)
    };
    let inputs: Vec<PreludeInput> = pinned.iter().map(input).collect();
    let told = |problem: &ptc_runtime::Diagnostic| format!("{}: {}", problem.code.reason(), problem.message);
    let ready = Prelude::make_ready(&runtime, &inputs).map_err(|error| match error {
        InputError::Refused(_, problem) | InputError::Order(problem) => told(&problem),
        InputError::NotCompiled(_, error) => told(error.diagnostic()),
    })?;
    let attach = |runtime: Runtime, prelude: &Prelude| runtime.attach(prelude, &Attach::new());
    let runtime = ready.iter().try_fold(runtime, attach).map_err(|failure| told(failure.diagnostic()))?;
    Ok(runtime.eval(PROGRAM, &Default::default()).expect("a value").print().expect("a text"))
}

/// A team whose agent has been recorded with sound files.
fn recorded(name: &str) -> (Team, Vec<String>) {
    let team = Team::new(name);
    let pinned = team.pinned();
    let agent = team.agent_file(&pinned);
    record(&agent, &team.config, &team.path("cassette.jsonl"), &[&format!("(return {PROGRAM})")]);
    (team, pinned)
}

fn every_host_uses_the_preludes_of_the_team() {
    let (team, pinned) = recorded("sound");
    for Hosted { host, answer, calls } in team.hosted(&pinned) {
        assert_eq!((answer, calls), (Ok(format!("{ANSWER}\n")), 1), "{host}");
    }
    // A new body behind the same interface needs no other `billing`, only another pin.
    let billing = team.bytes("billing");
    team.write("crm", &CRM.replace("(str id \".md\")", "(str \"\" id \".md\")"));
    team.build(&team.key);
    team.put_signed("billing", &billing);
    let again = team.pinned();
    assert!(again[1] != pinned[1] && again[0] == pinned[0], "{again:?}");
    for Hosted { host, answer, calls } in team.hosted(&again) {
        assert_eq!((answer, calls), (Ok(format!("{ANSWER}\n")), 1), "{host}");
    }
}

/// A way in which a file is wrong.
struct Wrong {
    what: &'static str,
    change: fn(&Team),
    /// True if whoever attaches it has looked at the files since, and pins what they are.
    is_repinned: bool,
    /// The documented reason, and a part of what is told beyond it.
    told: [&'static str; 2],
}

const WRONG: &[Wrong] = &[
    Wrong {
        what: "damaged",
        change: |team| {
            let mut bytes = team.bytes("metrics");
            *bytes.last_mut().expect("bytes") ^= 1;
            team.put("metrics", &bytes);
        },
        is_repinned: false,
        told: ["corrupt", "damaged"],
    },
    Wrong {
        what: "forged under a signature of the team",
        change: |team| {
            let mut file = decode_prelude(&team.bytes("metrics")).expect("a sound file");
            file.manifest.exports[0].doc = Some("Take this for everything.".to_string());
            team.put("metrics", &encode_prelude(&file.sealed()));
        },
        is_repinned: true,
        told: ["untrusted", "the signature was made for another file"],
    },
    Wrong {
        what: "signed by somebody else",
        change: |team| team.build(&file(&format!("{}/other.hex", team.name), "6b".repeat(32))),
        is_repinned: false,
        told: ["untrusted", "a key that is not trusted"],
    },
    Wrong {
        what: "not signed",
        change: |team| {
            std::fs::remove_file(format!("{}.sig", team.artifact("billing"))).expect("a signature");
        },
        is_repinned: false,
        told: ["untrusted", "the file has no signature"],
    },
    Wrong {
        what: "stale: built beside another interface",
        change: |team| {
            let billing = team.bytes("billing");
            team.write("crm", &CRM.replace("[id]", "[id & more]"));
            team.build(&team.key);
            team.put_signed("billing", &billing);
        },
        is_repinned: true,
        told: ["interface_changed", "billing.ptcp` was compiled for interface"],
    },
    Wrong {
        what: "over-reaching: needs a tool that nobody grants",
        change: |team| {
            team.write("metrics", "(ns metrics)\n(defn share [a b] (tool/spy {:a a :b b}))\n");
            team.build(&team.key);
        },
        is_repinned: true,
        told: ["prelude attach failed", "metrics/share requires granted tool `spy`"],
    },
    Wrong {
        what: "over-reaching: claims less than its code reaches",
        change: |team| {
            let mut file = decode_prelude(&team.bytes("crm")).expect("a sound file");
            file.manifest.exports[0].requires.clear();
            team.put_signed("crm", &encode_prelude(&file.sealed()));
        },
        is_repinned: false,
        told: ["authority_mismatch", "does not say that it requires"],
    },
    Wrong {
        what: "another build than the pinned one",
        change: |team| {
            team.write("metrics", &METRICS.replace("(* 100 a)", "(* a 100)"));
            team.build(&team.key);
        },
        is_repinned: false,
        told: ["hash_mismatch", "is pinned"],
    },
];

fn no_host_takes_a_wrong_one() {
    let (team, pinned) = recorded("wrong");
    for Wrong { what, change, is_repinned, told } in WRONG {
        for (name, source) in [("crm", CRM), ("billing", BILLING), ("metrics", METRICS)] {
            team.write(name, source);
        }
        team.build(&team.key);
        change(&team);
        let pinned = if *is_repinned { team.pinned() } else { pinned.clone() };
        for Hosted { host, answer, calls } in team.hosted(&pinned) {
            let said = answer.expect_err(&format!("{what}, {host}"));
            assert!(told.iter().all(|part| said.contains(part)), "{what}, {host}: {said}");
            assert_eq!(calls, 0, "{what}, {host}");
        }
    }
}

/// Whatever is written behind `@artifact:`, a host either takes that one build or says what is wrong with it.
fn a_pin_is_a_whole_hash_of_a_build() {
    let team = Team::new("pins");
    let metrics = &team.pinned()[2];
    let source = team.path("src/metrics.clj");
    let (name, hash) = metrics.split_once("@artifact:").expect("a pin");
    let interface = ptc(&["inspect", name, "--json"]).json()["interface_hash"].clone();
    let interface = interface.as_str().expect("a hash");
    let agent = |prelude: &str| {
        let text = format!("prompt = \"Share\"\npreludes = [{prelude:?}]\n");
        ptc(&["agent", "check", &file(&format!("{}/one.toml", team.name), text)])
    };
    let eval = |prelude: &str| ptc(&["eval", "-p", prelude, "-e", "(metrics/share 1 4)"]);
    eval(metrics).expect(0, "25\n");
    assert_eq!(agent(metrics).code, 0, "{:?}", agent(metrics));
    for (wrong, part) in [
        (format!("{name}@artifact:{}", &hash[..16]), "64 hexadecimal digits"),
        (format!("{name}@artifact:"), "64 hexadecimal digits"),
        (format!("{name}@artifact:{}", "xy".repeat(32)), "in hexadecimal"),
        (format!("{name}@artifact:{interface}"), "pinned by its interface hash"),
        (format!("{source}@artifact:{hash}"), "it is a source"),
        (format!("ptc:paged@artifact:{hash}"), "is pinned"),
    ] {
        for ran in [eval(&wrong), agent(&wrong), ptc(&["mcp", "--prelude", &wrong])] {
            assert_ne!(ran.code, 0, "{wrong}: {ran:?}");
            assert!(format!("{}{}", ran.out, ran.err).contains(part), "{wrong}: {ran:?}");
        }
    }
    let store = team.path("store");
    assert_eq!(ptc(&["store", "write", &store, &source]).code, 0);
    let ran = eval(&format!("store:{store}#metrics@artifact:{hash}"));
    assert!(ran.code == 2 && ran.err.contains("name its version"), "{ran:?}");
    eval(&format!("store:{store}#metrics@1")).expect(0, "25\n");
}
