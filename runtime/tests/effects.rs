//! Runs with a ledger: what a program does outside is done once, however often it is run, and nothing is lost track of.

use ptc_runtime::effects::{Entry, FileLedger, Filter, Ledger, State, Verdict};
use ptc_runtime::{
    Cancel, Driven, Effects, Grants, Runtime, Step, ToolAnswer, ToolError, ToolFuture, Tools, until_held,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A bank that counts what it was told to do.
#[derive(Default)]
struct Bank {
    paid: Mutex<BTreeMap<i64, u64>>,
}

impl Bank {
    fn pay(&self, eur: i64) -> u64 {
        let mut paid = self.paid.lock().unwrap();
        let times = paid.entry(eur).or_default();
        *times += 1;
        *times
    }

    fn paid(&self) -> Vec<(i64, u64)> {
        self.paid.lock().unwrap().iter().map(|(eur, times)| (*eur, *times)).collect()
    }

    fn tools(self: &Arc<Bank>) -> Tools {
        let (bank, waiting) = (self.clone(), self.clone());
        Tools::new()
            .with("pay", move |args| {
                let eur = args.json()?["eur"].as_i64().unwrap();
                bank.pay(eur);
                if eur < 0 {
                    return Err(ToolError::new("no negative payments"));
                }
                Ok(json!({"receipt": eur * 10, "_iban": "DE00"}))
            })
            .with_async("pay-later", move |args| {
                let bank = waiting.clone();
                async move {
                    bank.pay(args.json()?["eur"].as_i64().unwrap());
                    std::future::pending::<()>().await;
                    Ok(0)
                }
            })
            .with("balance", |_| Ok(100))
            .effect("balance", Effects::Read)
    }
}

struct World {
    folder: TempDir,
    bank: Arc<Bank>,
    runtime: Runtime,
}

fn world() -> World {
    let bank = Arc::new(Bank::default());
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(bank.tools());
    World { folder: TempDir::new().unwrap(), bank, runtime }
}

impl World {
    /// The ledger, opened anew, as by another process.
    fn ledger(&self) -> Arc<FileLedger> {
        Arc::new(FileLedger::open(self.folder.path().join("effects.ledger")).unwrap())
    }

    fn grants(&self) -> Grants {
        Grants::new().firewall(true).recorded(self.ledger(), "run")
    }

    fn eval(&self, source: &str) -> String {
        match self.runtime.eval(source, &self.grants()) {
            Ok(outcome) => outcome.print().unwrap(),
            Err(failure) => format!("{}: {}", failure.reason(), failure.diagnostic().message),
        }
    }

    fn entries(&self) -> Vec<Entry> {
        pollster::block_on(self.ledger().list(Filter::default())).unwrap()
    }

    fn states(&self) -> Vec<(String, State)> {
        self.entries().into_iter().map(|entry| (entry.intent.id.to_string(), entry.state)).collect()
    }
}

#[test]
fn a_run_under_the_same_name_repeats_no_call_and_gets_the_same_answers() {
    let world = world();
    let program = "(mapv (fn [n] (:receipt (tool/pay {:eur n}))) [5 5 7])";
    assert_eq!(world.eval(program), "[50 50 70]");
    assert_eq!(world.eval(program), "[50 50 70]");
    // Equal calls are two calls.
    assert_eq!(world.bank.paid(), [(5, 2), (7, 1)]);
    assert_eq!(world.entries().iter().map(|entry| entry.intent.line).collect::<Vec<_>>(), [Some(1); 3]);
}

#[test]
fn a_run_that_stopped_halfway_goes_on_where_it_was() {
    let world = world();
    let program = "(let [a (tool/pay {:eur 5})] (assert data/approved) (tool/pay {:eur 6}) (:receipt a))";
    let run = |approved: bool| {
        let grants = world.grants().serde("approved", &approved).unwrap();
        world.runtime.eval(program, &grants).map(|outcome| outcome.print().unwrap())
    };
    assert_eq!(run(false).unwrap_err().reason(), "assertion_failed");
    assert_eq!(run(true).unwrap(), "50");
    assert_eq!(world.bank.paid(), [(5, 1), (6, 1)]);
}

#[test]
fn an_error_of_a_tool_is_its_answer() {
    let world = world();
    let program = "(try (tool/pay {:eur -1}) (catch Exception e (ex-message e)))";
    let first = world.eval(program);
    assert!(first.contains("no negative payments"), "{first}");
    assert_eq!(world.eval(program), first);
    assert_eq!(world.bank.paid(), [(-1, 1)]);
    assert_eq!(world.states(), [("run/1".to_string(), State::Failed)]);
}

#[test]
fn calls_of_branches_have_names_that_do_not_depend_on_their_order() {
    let world = world();
    let program =
        "(pmap (fn [n] (:receipt (tool/pay {:eur n})) (:receipt (tool/pay {:eur (+ 100 n)}))) (range 1 21))";
    let first = world.eval(program);
    for _ in 0..3 {
        assert_eq!(world.eval(program), first);
    }
    assert_eq!(world.bank.paid().len(), 40);
    assert!(world.bank.paid().iter().all(|(_, times)| *times == 1));
}

#[test]
fn branches_that_were_given_up_share_no_name_with_later_ones() {
    let world = world();
    // The second branch may or may not have begun when the first fails; those of the next `pmap` are others.
    let program = "(try (pmap (fn [n] (tool/pay {:eur n})) [-1 2 3]) (catch Exception e nil))
                   (pmap (fn [n] (:receipt (tool/pay {:eur n}))) [1 2 3])";
    assert_eq!(world.eval(program), "[10 20 30]");
    let paid = world.bank.paid();
    assert_eq!(paid[0..2], [(-1, 1), (1, 1)]);
    assert_eq!(world.eval(program), "[10 20 30]");
    assert!(world.bank.paid().iter().all(|(_, times)| *times <= 2), "{:?}", world.bank.paid());
    assert_eq!(world.bank.paid()[0..2], [(-1, 1), (1, 1)]);
}

#[test]
fn calls_that_only_read_are_made_every_time() {
    let world = world();
    assert_eq!(world.eval("(tool/balance {})"), "100");
    assert!(world.entries().is_empty());
}

#[test]
fn a_changed_program_stops_before_it_sends_anything() {
    let world = world();
    world.eval("(tool/pay {:eur 5})");
    // `try` cannot catch it, not even in a branch.
    for changed in [
        "(try (tool/pay {:eur 6}) (catch Exception e 0))",
        "(try (tool/pay-later {:eur 5}) (catch Exception e 0))",
    ] {
        assert!(
            world.eval(changed).starts_with("effect_diverged: the ledger has "),
            "{}",
            world.eval(changed)
        );
    }
    world.eval("(pmap (fn [n] (tool/pay {:eur n})) [7])");
    let in_branch = world.eval("(try (pmap (fn [n] (tool/pay {:eur n})) [8]) (catch Exception e 0))");
    assert!(in_branch.starts_with("effect_diverged"), "{in_branch}");
    assert_eq!(world.bank.paid(), [(5, 1), (7, 1)]);
}

#[test]
fn a_cancelled_call_is_unknown_before_its_run_returns_and_not_sent_again() {
    let world = world();
    let cancel = Cancel::new();
    let (ledger, bank) = (world.ledger(), world.bank.clone());
    let grants = Grants::new().recorded(ledger.clone(), "run").cancel(&cancel);
    let program = world.runtime.compile("(tool/pay-later {:eur 5})").unwrap();
    let run = world.runtime.start_with(&program, &grants).unwrap();
    let ended = std::thread::spawn(move || run.finish());
    while bank.paid().is_empty() {
        std::thread::yield_now();
    }
    cancel.cancel();
    assert_eq!(ended.join().unwrap().unwrap_err().reason(), "cancelled");
    let entries = pollster::block_on(ledger.list(Filter::default())).unwrap();
    assert_eq!(entries[0].state, State::Unknown);

    let again = world.eval("(tool/pay-later {:eur 5})");
    assert!(again.starts_with("outcome_unknown: `tool/pay-later` failed: the outcome is unknown"), "{again}");
    let caught = world.eval("(try (tool/pay-later {:eur 5}) (catch Exception e :unknown))");
    assert_eq!(caught, ":unknown");
    assert_eq!(world.bank.paid(), [(5, 1)]);
}

#[test]
fn an_answer_that_comes_after_its_run_was_cancelled_settles_the_call() {
    let world = world();
    let (entered, gate) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (inside, open) = (entered.clone(), gate.clone());
    let tools = Tools::new().with("pay", move |_| {
        inside.store(true, Ordering::SeqCst);
        while !open.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Ok("paid")
    });
    let runtime = world.runtime.clone().with_tools(tools);
    let (cancel, ledger) = (Cancel::new(), world.ledger());
    let grants = Grants::new().recorded(ledger.clone(), "run").cancel(&cancel);
    let run = runtime.start_with(&runtime.compile("(tool/pay {})").unwrap(), &grants).unwrap();
    let ended = std::thread::spawn(move || run.finish());
    while !entered.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    cancel.cancel();
    assert_eq!(ended.join().unwrap().unwrap_err().reason(), "cancelled");
    let state = || pollster::block_on(ledger.list(Filter::default())).unwrap()[0].state;
    assert_eq!(state(), State::Unknown);
    gate.store(true, Ordering::SeqCst);
    while state() != State::Done {
        std::thread::yield_now();
    }
    let again = runtime.eval("(tool/pay {})", &Grants::new().recorded(ledger, "run")).unwrap();
    assert_eq!(again.print().unwrap(), "\"paid\"");
}

#[test]
fn a_saved_run_keeps_its_name_and_its_place() {
    let world = world();
    let source = "(let [a (:receipt (tool/pay {:eur 5})) b (:receipt (tool/pay {:eur 6}))] [a b])";
    let program = world.runtime.compile(source).unwrap();
    let mut run = world.runtime.start_with(&program, &world.grants()).unwrap();
    // The host makes the first call itself, through the ledger, and is gone before the second.
    let Step::NeedsTools(calls) = run.step() else { panic!("it calls a tool") };
    let answer = pollster::block_on(world.bank.tools().once(&calls[0], async {
        world.bank.pay(5);
        ToolAnswer::from_serialize(&json!({"receipt": 50})).map_err(Into::into)
    }));
    run.answer(&calls[0].id, answer.map_err(|_| ToolError::new("refused"))).unwrap();
    let Step::NeedsTools(_) = run.step() else { panic!("it calls the tool again") };
    let saved = run.snapshot().unwrap();
    drop(run);
    // Two processes resume it, and then it is run from the start.
    for _ in 0..2 {
        let grants = Grants::new().recorded(world.ledger(), "another name");
        let resumed = world.runtime.load(&saved, &grants).unwrap();
        assert_eq!(resumed.recorded_as(), Some("run"));
        assert_eq!(resumed.finish().unwrap().print().unwrap(), "[50 60]");
    }
    assert_eq!(world.eval(source), "[50 60]");
    assert_eq!(world.bank.paid(), [(5, 1), (6, 1)]);
}

#[test]
fn an_operator_decides_about_a_call_without_an_answer() {
    let world = world();
    let lost = AtomicU64::new(0);
    let lost = Arc::new(lost);
    let counted = lost.clone();
    let tools = Tools::new().with("pay", move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => Err(ToolError::unanswered("no reply within 5 s")),
        _ => Ok("paid"),
    });
    let runtime = world.runtime.clone().with_tools(tools);
    let eval = || runtime.eval("(tool/pay {})", &world.grants()).map(|outcome| outcome.print().unwrap());
    for _ in 0..2 {
        let failure = eval().unwrap_err();
        assert!(failure.to_string().contains("no reply within 5 s"), "{failure}");
        assert!(failure.to_string().contains("`ptc effects settle run/1 done|not-done`"), "{failure}");
    }
    assert_eq!(lost.load(Ordering::SeqCst), 1);
    let id = "run/1".parse().unwrap();
    pollster::block_on(world.ledger().settle(&id, Verdict::NotDone)).unwrap();
    assert_eq!(eval().unwrap(), "\"paid\"");
    assert_eq!(eval().unwrap(), "\"paid\"");
    assert_eq!(lost.load(Ordering::SeqCst), 2);
}

#[test]
fn a_call_on_hold_is_sent_after_the_decision_and_only_then() {
    let world = world();
    let bank = world.bank.clone();
    let tools = Tools::new().with("pay", |_| Err::<(), _>(ToolError::hold(json!("may it?"))));
    let runtime = world.runtime.clone().with_tools(tools);
    let program = runtime.compile("(str \"paid \" (tool/pay {:eur 9}))").unwrap();
    let run = runtime.start_with(&program, &world.grants()).unwrap();
    let Driven::Held(run, held) = pollster::block_on(until_held(run, Vec::new())).unwrap() else {
        panic!("it asks first")
    };
    assert_eq!(world.states(), [("run/1".to_string(), State::Held)]);
    let parked = run.snapshot().unwrap();
    for _ in 0..2 {
        let run = runtime.load(&parked, &world.grants()).unwrap();
        let bank = bank.clone();
        let yes: ToolFuture = Box::pin(async move { ToolAnswer::from_serialize(&bank.pay(9)) });
        let given = vec![(held[0].call.id.clone(), yes)];
        let Driven::Done(outcome) = pollster::block_on(until_held(run, given)).unwrap() else {
            panic!("it has its answer")
        };
        assert_eq!(outcome.print().unwrap(), "\"paid 1\"");
    }
    assert_eq!(bank.paid(), [(9, 1)]);
}

#[test]
fn firewalled_values_are_neither_shown_nor_forgotten() {
    let world = world();
    let program = "(let [iban (:_iban (tool/pay {:eur 5}))] (tool/pay {:eur 6 :to iban}) iban)";
    let first = world.runtime.eval(program, &world.grants()).unwrap();
    assert!(first.datum().unwrap().is_veiled(0), "the answer of the tool is firewalled");
    let again = world.runtime.eval(program, &world.grants()).unwrap();
    assert!(again.datum().unwrap().is_veiled(0), "and so is that of the ledger");
    let second = &world.entries()[1];
    assert_eq!(second.intent.args, json!({"eur": 6, "to": "<Firewalled>"}));
    // A changed secret is another call all the same.
    let changed = "(let [iban (str (:_iban (tool/pay {:eur 5})) 1)] (tool/pay {:eur 6 :to iban}))";
    assert!(world.eval(changed).starts_with("effect_diverged"));
}

#[test]
fn a_ledger_that_cannot_be_written_stops_the_call_and_not_the_program() {
    let world = world();
    let (ledger, path) = (world.ledger(), world.folder.path().join("effects.ledger"));
    std::fs::write(&path, "something else\n").unwrap();
    let grants = Grants::new().recorded(ledger, "run");
    let failure = world.runtime.eval("(tool/pay {:eur 5})", &grants).unwrap_err();
    let message = failure.to_string();
    assert!(message.contains("nothing was sent: the effect ledger is damaged"), "{message}");
    let caught =
        world.runtime.eval("(try (tool/pay {:eur 5}) (catch Exception e :not-sent))", &grants).unwrap();
    assert_eq!(caught.print().unwrap(), ":not-sent");
    assert!(world.bank.paid().is_empty());
}

#[test]
fn a_program_sees_that_an_outcome_is_unknown() {
    let world = world();
    let program = "(try (tool/pay {:eur 5}) (catch Exception e (:kind (ex-data e))))";
    let ledger = world.ledger();
    // Another process has sent it, and was killed.
    let intent = {
        world.eval(program);
        world.entries().remove(0).intent
    };
    drop(ledger);
    std::fs::remove_file(world.folder.path().join("effects.ledger")).unwrap();
    pollster::block_on(world.ledger().begin(intent)).unwrap();
    assert_eq!(world.eval(program), ":outcome_unknown");
    assert_eq!(world.bank.paid(), [(5, 1)]);
}

#[test]
fn long_arguments_cost_fuel() {
    let world = world();
    let spent = |length: usize| {
        let program = format!("(tool/balance {{:note (apply str (repeat {length} \"xxxxxxxxxxxxxxxx\"))}})");
        let with_call = world.runtime.eval(&program, &Grants::new()).unwrap().fuel;
        let without = format!("(identity {{:note (apply str (repeat {length} \"xxxxxxxxxxxxxxxx\"))}})");
        with_call - world.runtime.eval(&without, &Grants::new()).unwrap().fuel
    };
    // A unit for eight bytes, beyond the first thousand.
    let (short, long) = (spent(10), spent(10_000));
    assert!(short < 100, "{short}");
    assert!((19_000..22_000).contains(&long), "{long}");
}
