//! Programs that pay, with faults at every boundary: processes that are killed, answers that are lost, two processes with
//! one run, a full disk. A counting server says what was really done.
//!
//! `PTC_TEST_CRASHES` sets how many processes are started; `.ci/run effects` starts 10,000. With the feature `effects-sql`,
//! ledgers are in databases as well: in SQLite, and in PostgreSQL if `PTC_TEST_POSTGRES` has the address of one.

use crate::{Ran, command, config, finish, trial};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Payments of a program.
const PAYMENTS: usize = 6;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("whatever_happens_nothing_is_paid_twice", || {
            whatever_happens_nothing_is_paid_twice(Store::File)
        }),
        trial("whatever_happens_nothing_is_paid_twice_with_sqlite", || {
            if cfg!(feature = "effects-sql") {
                whatever_happens_nothing_is_paid_twice(Store::Sqlite);
            }
        }),
        trial("whatever_happens_nothing_is_paid_twice_with_postgres", || {
            if cfg!(feature = "effects-sql") && std::env::var_os("PTC_TEST_POSTGRES").is_some() {
                whatever_happens_nothing_is_paid_twice(Store::Postgres);
            }
        }),
        trial(
            "a_request_that_is_repeated_with_its_key_is_the_same_run",
            a_request_that_is_repeated_with_its_key,
        ),
        trial("a_known_answer_needs_no_server", a_known_answer_needs_no_server),
        trial("a_run_is_forgotten_when_it_is_told", a_run_is_forgotten_when_it_is_told),
        trial("on_a_full_disk_nothing_is_paid", on_a_full_disk_nothing_is_paid),
        trial(
            "a_payment_without_an_answer_is_settled_by_a_person",
            a_payment_without_an_answer_is_settled_by_a_person,
        ),
    ]
}

/// How a bank behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Reliable,
    /// Slow at times, or dies before or after a payment, or during an answer.
    Faulty,
    /// Pays and dies.
    Dying,
}

impl Manner {
    pub fn of(mode: &str) -> Manner {
        match mode {
            "--faulty-bank" => Manner::Faulty,
            "--dying-bank" => Manner::Dying,
            _ => Manner::Reliable,
        }
    }
}

/// A server that pays: it writes each payment to a file.
pub fn serve(payments: &Path, manner: Manner) {
    let is_faulty = manner == Manner::Faulty;
    let mut file = OpenOptions::new().create(true).append(true).open(payments).expect("a file");
    // Held until this process is gone, so that nobody counts payments while one is being made.
    file.lock_shared().expect("a lock");
    let mut chance = Chance::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else { continue };
        let answer = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "bank", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "pay", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
            }]}),
            Some("tools/call") => {
                let fault = match manner {
                    Manner::Reliable => 12,
                    Manner::Faulty => chance.below(12),
                    Manner::Dying => 1,
                };
                if fault == 0 {
                    std::process::exit(3);
                }
                writeln!(file, "{}", message["params"]["arguments"]["n"]).expect("written");
                match fault {
                    1 => std::process::exit(3),
                    2..6 => std::thread::sleep(Duration::from_millis(chance.below(20))),
                    _ => {}
                }
                json!({"content": [{"type": "text", "text": "paid"}]})
            }
            _ if message["id"].is_null() => continue,
            _ => Value::Null,
        };
        let reply = match answer {
            Value::Null => {
                json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            }
            answer => json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}),
        };
        let reply = reply.to_string();
        let cut = if is_faulty && chance.below(40) == 0 { reply.len() / 2 } else { reply.len() };
        let mut out = std::io::stdout().lock();
        let written = out.write_all(&reply.as_bytes()[..cut]).and_then(|()| out.write_all(b"\n"));
        if written.and_then(|()| out.flush()).is_err() || cut < reply.len() {
            return;
        }
    }
}

/// Random numbers that differ from process to process.
struct Chance(u64);

impl Chance {
    fn new() -> Chance {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        Chance((now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 32) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Where a ledger is.
#[derive(Clone, Copy)]
enum Store {
    File,
    Sqlite,
    Postgres,
}

impl Store {
    /// Returns the address of an empty ledger.
    fn ledger(self, folder: &Path, name: &str) -> String {
        match self {
            Store::File => folder.join("effects.ledger").display().to_string(),
            Store::Sqlite => format!("sqlite:{}", folder.join("effects.db").display()),
            Store::Postgres => {
                let database = std::env::var("PTC_TEST_POSTGRES").expect("an address");
                let schema = format!("servers_{}_{}", std::process::id(), name.replace(['/', '-'], "_"));
                let statement = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
                let psql =
                    Command::new("psql").args(["-X", "-q", "-d", &database, "-c", &statement]).output();
                assert!(psql.is_ok_and(|ran| ran.status.success()), "{statement}");
                format!("{database}?options=-c%20search_path%3D{schema}")
            }
        }
    }
}

/// A bank, and a ledger of a run that pays there.
pub struct World {
    pub config: String,
    pub payments: PathBuf,
    pub ledger: String,
    program: String,
}

/// A bank, and a ledger in a file.
pub fn in_file(name: &str, mode: &str, program: &str) -> World {
    world(name, mode, program, Store::File)
}

fn world(name: &str, mode: &str, program: &str, store: Store) -> World {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("effects").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let payments = folder.join("payments");
    let binary = std::env::current_exe().expect("this binary");
    let bank = json!({"transport": "mcp_stdio", "command": binary, "args": [mode, payments]});
    World {
        config: config(&format!("effects/{name}"), json!({"bank": bank})),
        ledger: store.ledger(&folder, name),
        payments,
        program: program.to_string(),
    }
}

impl World {
    fn command(&self) -> Command {
        let ledger = &self.ledger;
        let args = ["eval", "--upstreams-config", &self.config, "--effects", ledger, "--run-name", "run"];
        let mut command = command(&args);
        command.args(["-e", &self.program]);
        command
    }

    fn start(&self) -> Child {
        let quiet = || Stdio::null();
        self.command().stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().expect("ptc starts")
    }

    fn run(&self) -> Ran {
        finish(self.command(), b"")
    }

    pub fn effects(&self, args: &[&str]) -> Ran {
        finish(command(&[&["effects"], args, &["--effects", &self.ledger]].concat()), b"")
    }

    /// The calls of the ledger: which payment, and its state.
    fn entries(&self) -> Vec<(String, i64, String)> {
        let listed = self.effects(&["list", "--json"]);
        if listed.code == 2 {
            // The process was killed before it made the ledger.
            return Vec::new();
        }
        let listed = listed.json();
        let entry = |entry: &Value| {
            let text = |key: &str| entry[key].as_str().expect("text").to_string();
            (text("id"), entry["args"]["n"].as_i64().expect("a number"), text("state"))
        };
        listed["effects"].as_array().expect("a list").iter().map(entry).collect()
    }

    /// How often each payment was made. Waits until no bank is running.
    pub fn paid(&self) -> BTreeMap<i64, usize> {
        let Ok(file) = File::options().append(true).create(true).open(&self.payments) else {
            return BTreeMap::new();
        };
        file.lock().expect("a lock");
        let text = std::fs::read_to_string(&self.payments).expect("text");
        let mut paid = BTreeMap::new();
        text.lines().for_each(|n| *paid.entry(n.parse().expect("a number")).or_default() += 1);
        paid
    }

    /// Checks what must hold at any time, and settles what is unknown as the bank's own records say.
    fn check(&self, settles: bool) {
        let (paid, entries) = (self.paid(), self.entries());
        assert!(paid.values().all(|times| *times == 1), "paid twice: {paid:?}, {entries:?}");
        for n in paid.keys() {
            let known = entries.iter().any(|(_, of, state)| of == n && state != "refused");
            assert!(known, "payment {n} is not in the ledger: {entries:?}");
        }
        for (id, n, state) in &entries {
            if state == "done" {
                assert!(paid.contains_key(n), "payment {n} was not made: {entries:?}");
            } else if settles && (state == "sent" || state == "unknown") {
                let verdict = if paid.contains_key(n) { "done" } else { "not-done" };
                let settled = self.effects(&["settle", id, verdict]);
                assert_eq!(settled.code, 0, "{settled:?}");
            }
        }
    }
}

fn processes() -> usize {
    std::env::var("PTC_TEST_CRASHES").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

fn whatever_happens_nothing_is_paid_twice(store: Store) {
    let pay = |n: &str| format!(r#"(:ok (tool/call {{:server "bank" :tool "pay" :args {{:n {n}}}}}))"#);
    let one_by_one = format!("(count (filter true? (mapv (fn [n] {}) (range {PAYMENTS}))))", pay("n"));
    let together = format!("(count (filter true? (pmap (fn [n] {}) (range {PAYMENTS}))))", pay("n"));
    let (mut chance, mut left, mut round) = (Chance::new(), processes(), 0);
    while left > 0 {
        let program = if round % 2 == 0 { &one_by_one } else { &together };
        let name = match store {
            Store::File => format!("file-{}", round % 4),
            Store::Sqlite => format!("sqlite-{}", round % 4),
            Store::Postgres => format!("postgres-{}", round % 4),
        };
        let world = world(&name, "--faulty-bank", program, store);
        round += 1;
        let mut tries = 0;
        loop {
            tries += 1;
            assert!(tries < 200, "the run gets nowhere: {:?}", world.entries());
            left = left.saturating_sub(1);
            match chance.below(4) {
                // Killed at any time.
                0 | 1 => {
                    let mut child = world.start();
                    std::thread::sleep(Duration::from_millis(chance.below(250)));
                    let _ = child.kill();
                    let _ = child.wait();
                }
                // Two processes have the same run.
                2 => {
                    let (mut one, mut other) = (world.start(), world.start());
                    std::thread::sleep(Duration::from_millis(chance.below(250)));
                    let _ = one.kill();
                    let _ = one.wait();
                    let _ = other.wait();
                }
                _ => {
                    let ran = world.run();
                    assert_eq!(ran.code, 0, "{ran:?}");
                    if ran.out.trim() == PAYMENTS.to_string() {
                        break;
                    }
                }
            }
            world.check(chance.below(2) == 0);
        }
        world.check(false);
        assert_eq!(world.paid().len(), PAYMENTS);
        // Once more: everything is known. The bank may die before it says what its tools are, so it may take some tries.
        let all = PAYMENTS.to_string();
        assert!((0..20).any(|_| world.run().out.trim() == all), "{:?}", world.entries());
        world.check(false);
        assert_eq!(world.paid().len(), PAYMENTS);
    }
}

/// Runs a program on the server, with a key for the request.
fn request(server: &mut crate::serving::Server, program: &str, key: Value) -> String {
    let params =
        json!({"name": "lisp_eval", "arguments": {"program": program}, "_meta": {"ptc/request-key": key}});
    let answer = server.ask("tools/call", params);
    answer["content"][0]["text"].as_str().unwrap_or_default().to_string()
}

fn a_request_that_is_repeated_with_its_key() {
    let pays = |n: i64| format!(r#"(:ok (tool/call {{:server "bank" :tool "pay" :args {{:n {n}}}}}))"#);
    let world = world("mcp", "--bank", "nil", Store::File);
    let serve = || crate::mcp::serve(&world.config, &["--effects", &world.ledger]);
    let mut server = serve();
    assert_eq!(request(&mut server, &pays(1), json!("order-1")), "user=> true");
    assert_eq!(request(&mut server, &pays(1), json!("order-1")), "user=> true");
    server.hang_up();
    assert_eq!(world.paid(), BTreeMap::from([(1, 1)]));
    // A server that was started again knows the key, too.
    let mut server = serve();
    assert_eq!(request(&mut server, &pays(1), json!("order-1")), "user=> true");
    let other = request(&mut server, &pays(2), json!("order-1"));
    assert!(other.contains("error[E0320] effect_diverged: "), "{other}");
    assert_eq!(request(&mut server, &pays(1), json!("order-2")), "user=> true");
    let wrong = request(&mut server, &pays(3), json!("a key"));
    assert!(wrong.starts_with("args_error: `ptc/request-key` must be"), "{wrong}");
    // Requests without a key are written down as well, each as a run of its own.
    let plain = json!({"program": pays(4)});
    server.call("lisp_eval", plain.clone());
    server.call("lisp_eval", plain);
    server.hang_up();
    assert_eq!(world.paid(), BTreeMap::from([(1, 2), (4, 2)]));
    let entries = world.entries();
    assert_eq!(entries.len(), 4, "{entries:?}");
    assert!(entries[0].0 == "mcp.stdio.order-1/1" && entries[2].0.starts_with("mcp."), "{entries:?}");
    let mut server = crate::mcp::serve(&world.config, &[]);
    let refused = request(&mut server, &pays(5), json!("order-5"));
    assert!(refused.starts_with("args_error: `ptc/request-key` needs a ledger"), "{refused}");
}

fn a_known_answer_needs_no_server() {
    let program = r#"(:value (tool/call {:server "bank" :tool "pay" :args {:n 1}}))"#;
    let known = world("gone", "--bank", program, Store::File);
    assert_eq!(known.run().out, "\"paid\"\n");
    // A server that ends before it says anything.
    let gone = json!({"transport": "mcp_stdio", "command": "false"});
    let broken = World { config: config("effects/gone", json!({"bank": gone})), ..known };
    assert_eq!(broken.run().out, "\"paid\"\n");
    let other = World { program: program.replace(":n 1", ":n 2"), ..broken };
    assert!(!other.run().out.contains("paid"));
}

fn a_run_is_forgotten_when_it_is_told() {
    let world = world(
        "forgotten",
        "--dying-bank",
        r#"(tool/call {:server "bank" :tool "pay" :args {:n 1}})"#,
        Store::File,
    );
    world.run();
    let refused = world.effects(&["forget", "run"]);
    assert!(refused.code == 1 && refused.err.contains("calls of unknown outcome"), "{refused:?}");
    assert_eq!(world.effects(&["forget", "run", "--with-open"]).out, "forgot 1 effect\n");
    assert_eq!(world.entries(), []);
    let missing = world.effects(&["forget", "run"]);
    assert!(missing.code == 1 && missing.err.contains("has no run `run`"), "{missing:?}");
}

fn on_a_full_disk_nothing_is_paid() {
    let program = r#"(mapv (fn [n] (try (:ok (tool/call {:server "bank" :tool "pay" :args {:n n :note (apply str (repeat 900 "x"))}}))
                                        (catch Exception e (ex-message e)))) (range 6))"#;
    let world = world("full", "--bank", program, Store::File);
    // A file may have 3 blocks of 1,024 bytes here; writing more is an error, as on a disk that is full.
    let plain = world.command();
    let mut limited = Command::new("bash");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 3; exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args());
    plain.get_envs().for_each(|(name, value)| {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    });
    let ran = finish(limited, b"");
    assert!(ran.out.contains("nothing was sent: the effect ledger cannot be used"), "{ran:?}");
    let (paid, entries) = (world.paid(), world.entries());
    assert!(!paid.is_empty() && paid.len() < PAYMENTS, "{paid:?}");
    assert_eq!(paid.len(), entries.len(), "{entries:?}");
    // With room again, the rest is paid, once the last one is settled if its outcome did not fit.
    world.check(true);
    let ran = world.run();
    assert_eq!(ran.out.matches("true").count(), PAYMENTS, "{ran:?}");
    world.check(false);
    assert_eq!(world.paid().len(), PAYMENTS);
}

fn a_payment_without_an_answer_is_settled_by_a_person() {
    let program = r#"(tool/call {:server "bank" :tool "pay" :args {:n 1}})"#;
    let world = world("lost", "--dying-bank", program, Store::File);
    let ran = world.run();
    assert!(ran.out.starts_with("{:ok false :reason :outcome-unknown "), "{ran:?}");
    assert!(ran.out.contains("effect `run/1`"), "{ran:?}");
    let again = world.run();
    assert!(again.out.starts_with("{:ok false :reason :outcome-unknown "), "{again:?}");
    let listed = world.effects(&["list", "--state", "unknown"]);
    assert!(listed.out.starts_with("unknown  run/1  bank.pay {\"n\":1}"), "{listed:?}");
    assert!(listed.out.contains("1 effect of unknown outcome"), "{listed:?}");
    let settled = world.effects(&["settle", "run/1", "done", "--answer", "\"paid\""]);
    assert_eq!(settled.code, 0, "{settled:?}");
    let ran = world.run();
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "{:ok true :value \"paid\" :value_kind :json}\n"),
        "{ran:?}"
    );
    assert_eq!(world.paid(), BTreeMap::from([(1, 1)]));
}
