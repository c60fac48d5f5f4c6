//! What every store has to do, as tests that take a function which opens the same ledger again, as another process would.

use pollster::block_on;
use ptc_effects::{Begun, EffectId, Filter, Forget, Intent, Ledger, LedgerError, Outcome, State, Verdict};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Opens the ledger of a test, each time as if from a process of its own.
pub type Open<'o> = &'o (dyn Fn() -> Arc<dyn Ledger> + Sync);

/// Makes a test of every rule; `$open` makes an empty ledger and returns the function that opens it.
#[macro_export]
macro_rules! test_store {
    ($with:path) => {
        $crate::test_store!($with: a_call_is_sent_once_and_its_answer_outlives_the_process
            a_call_without_an_outcome_is_unknown_and_never_sent_again
            a_late_answer_settles_an_unknown_call
            an_operator_settles_what_is_unknown_and_nothing_else
            an_answer_after_a_wrong_verdict_leaves_a_mark
            another_call_under_the_same_id_is_a_divergence
            of_many_processes_that_begin_the_same_call_one_sends_it
            pruning_forgets_old_runs_and_keeps_what_is_open
            hashes_are_the_same_for_all_who_have_the_ledger
            entries_are_the_same_for_all_who_read_them
            a_list_has_what_was_asked_for
            a_run_is_forgotten_but_not_what_is_unknown_of_it
            any_text_comes_back_as_it_was
            numbers_come_back_as_they_were
            what_is_too_large_is_not_kept);
    };
    ($with:path: $($name:ident)*) => {
        $(#[test]
        fn $name() {
            $with(&|open| rules::$name(open));
        })*
    };
}

fn pay(key: &str, eur: i64) -> Intent {
    Intent::new(EffectId::new("run", key), "pay", json!({"eur": eur}))
}

fn begin(ledger: &dyn Ledger, intent: Intent) -> Begun {
    block_on(ledger.begin(intent)).unwrap()
}

fn state(ledger: &dyn Ledger, id: &EffectId) -> State {
    block_on(ledger.get(id)).unwrap().unwrap().state
}

fn ids(ledger: &dyn Ledger, filter: Filter) -> Vec<String> {
    block_on(ledger.list(filter)).unwrap().iter().map(|entry| entry.intent.id.to_string()).collect()
}

pub fn a_call_is_sent_once_and_its_answer_outlives_the_process(open: Open<'_>) {
    let intent = pay("1", 5);
    let first = open();
    assert_eq!(begin(&*first, intent.clone()), Begun::Send { attempt: 1 });
    block_on(first.end(&intent.id, 1, Outcome::done(json!({"receipt": 7})))).unwrap();
    drop(first);
    let known = begin(&*open(), intent);
    assert_eq!(known, Begun::Known(Outcome::done(json!({"receipt": 7}))));
}

pub fn a_call_without_an_outcome_is_unknown_and_never_sent_again(open: Open<'_>) {
    let intent = pay("1", 5);
    assert_eq!(begin(&*open(), intent.clone()), Begun::Send { attempt: 1 });
    let next = open();
    assert!(matches!(begin(&*next, intent.clone()), Begun::Unknown { .. }));
    assert_eq!(state(&*next, &intent.id), State::Sent);
    next.abandon(&intent.id, "nobody waits");
    assert_eq!(state(&*next, &intent.id), State::Unknown);
    assert_eq!(begin(&*next, intent), Begun::Unknown { why: "nobody waits".to_string() });
}

pub fn a_late_answer_settles_an_unknown_call(open: Open<'_>) {
    let (ledger, intent) = (open(), pay("1", 5));
    begin(&*ledger, intent.clone());
    ledger.abandon(&intent.id, "nobody waits");
    block_on(ledger.end(&intent.id, 1, Outcome::done(json!(1)))).unwrap();
    assert_eq!(begin(&*ledger, intent.clone()), Begun::Known(Outcome::done(json!(1))));
    // A known outcome is not replaced by an unknown one.
    ledger.abandon(&intent.id, "too late");
    assert_eq!(state(&*ledger, &intent.id), State::Done);
}

pub fn an_operator_settles_what_is_unknown_and_nothing_else(open: Open<'_>) {
    let ledger = open();
    let (done, not_done) = (pay("1", 5), pay("2", 6));
    for intent in [&done, &not_done] {
        begin(&*ledger, intent.clone());
    }
    block_on(ledger.settle(&done.id, Verdict::Done { answer: json!("paid") })).unwrap();
    assert_eq!(begin(&*ledger, done.clone()), Begun::Settled(json!("paid")));
    block_on(ledger.settle(&not_done.id, Verdict::NotDone)).unwrap();
    assert_eq!(begin(&*ledger, not_done), Begun::Send { attempt: 2 });

    let again = block_on(ledger.settle(&done.id, Verdict::NotDone)).unwrap_err();
    assert_eq!(
        again.to_string(),
        "`run/1` is done; only effects that are `sent` or `unknown` can be settled"
    );
    let missing = block_on(ledger.settle(&EffectId::new("run", "9"), Verdict::NotDone)).unwrap_err();
    assert!(matches!(missing, LedgerError::Refused(why) if why.contains("`ptc effects list`")));
}

pub fn an_answer_after_a_wrong_verdict_leaves_a_mark(open: Open<'_>) {
    let (ledger, intent) = (open(), pay("1", 5));
    begin(&*ledger, intent.clone());
    block_on(ledger.settle(&intent.id, Verdict::NotDone)).unwrap();
    assert_eq!(begin(&*ledger, intent.clone()), Begun::Send { attempt: 2 });
    // The first attempt had only been slow.
    block_on(ledger.end(&intent.id, 1, Outcome::done(json!(1)))).unwrap();
    block_on(ledger.end(&intent.id, 2, Outcome::done(json!(2)))).unwrap();
    let entry = block_on(ledger.get(&intent.id)).unwrap().unwrap();
    assert!(entry.is_doubtful && entry.attempts == 2);
    assert_eq!(entry.outcome, Some(Outcome::done(json!(2))));
}

pub fn another_call_under_the_same_id_is_a_divergence(open: Open<'_>) {
    let ledger = open();
    begin(&*ledger, pay("1", 5));
    assert_eq!(begin(&*ledger, pay("1", 6)), Begun::Diverged { tool: "pay".to_string() });
    let other = Intent::new(EffectId::new("run", "1"), "refund", json!({"eur": 5}));
    assert_eq!(begin(&*ledger, other), Begun::Diverged { tool: "pay".to_string() });
}

pub fn of_many_processes_that_begin_the_same_call_one_sends_it(open: Open<'_>) {
    let sent: usize = std::thread::scope(|scope| {
        let begin_all = || {
            let ledger = open();
            let all: Vec<_> = (0..40).map(|n| ledger.begin(pay(&n.to_string(), n))).collect();
            let begun = all.into_iter().map(|one| block_on(one).unwrap());
            begun.filter(|begun| matches!(begun, Begun::Send { .. })).count()
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(begin_all)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(sent, 40);
    assert_eq!(block_on(open().list(Filter::default())).unwrap().len(), 40);
}

pub fn pruning_forgets_old_runs_and_keeps_what_is_open(open: Open<'_>) {
    let (mine, theirs) = (open(), open());
    let old = pay("1", 5);
    begin(&*mine, old.clone());
    block_on(mine.end(&old.id, 1, Outcome::done(json!(1)))).unwrap();
    let unsettled = Intent::new(EffectId::new("open", "1"), "pay", json!({}));
    begin(&*mine, unsettled.clone());
    assert_eq!(block_on(theirs.list(Filter::default())).unwrap().len(), 2);
    let later = SystemTime::now() + Duration::from_secs(60);
    assert_eq!(block_on(mine.forget(Forget::OlderThan(later))).unwrap(), 1);
    // The other process finds the new file.
    assert_eq!(ids(&*theirs, Filter::default()), ["open/1"]);
    assert!(matches!(begin(&*theirs, unsettled), Begun::Unknown { .. }));
    assert_eq!(begin(&*theirs, old.clone()), Begun::Send { attempt: 1 });
    assert_eq!(state(&*mine, &old.id), State::Sent);
}

pub fn hashes_are_the_same_for_all_who_have_the_ledger(open: Open<'_>) {
    let hash = open().keyed_hash(b"iban");
    assert_eq!(hash, open().keyed_hash(b"iban"));
    assert_ne!(hash, open().keyed_hash(b"ibam"));
}

pub fn entries_are_the_same_for_all_who_read_them(open: Open<'_>) {
    let ledger = open();
    let ends = [
        Some(Outcome::done(json!([1]))),
        Some(Outcome::Failed { error: json!("no money") }),
        Some(Outcome::Refused { error: json!("denied") }),
        Some(Outcome::Held),
        Some(Outcome::Unknown { why: "no answer".to_string() }),
        None,
    ];
    for (n, end) in ends.into_iter().enumerate() {
        let intent = pay(&n.to_string(), 1);
        begin(&*ledger, intent.clone());
        if let Some(end) = end {
            block_on(ledger.end(&intent.id, 1, end)).unwrap();
        }
    }
    block_on(ledger.settle(&EffectId::new("run", "4"), Verdict::NotDone)).unwrap();
    block_on(ledger.settle(&EffectId::new("run", "5"), Verdict::Done { answer: json!(null) })).unwrap();
    let before = block_on(ledger.list(Filter::default())).unwrap();
    let states: Vec<&str> = before.iter().map(|entry| entry.state.name()).collect();
    assert_eq!(states, ["done", "failed", "refused", "held", "not-done", "done"]);
    assert_eq!(block_on(open().list(Filter::default())).unwrap(), before);
    // Also after one is forgotten, for which a file is written anew.
    let other = Intent::new(EffectId::new("other", "1"), "pay", json!({}));
    begin(&*ledger, other.clone());
    block_on(ledger.end(&other.id, 1, Outcome::done(json!(null)))).unwrap();
    let forgotten = Forget::Run { name: "other".to_string(), with_open: false };
    assert_eq!(block_on(ledger.forget(forgotten)).unwrap(), 1);
    assert_eq!(block_on(ledger.list(Filter::default())).unwrap(), before);
    assert_eq!(block_on(open().list(Filter::default())).unwrap(), before);
}

pub fn a_list_has_what_was_asked_for(open: Open<'_>) {
    let ledger = open();
    for n in 0..5 {
        begin(&*ledger, pay(&n.to_string(), n));
    }
    let other = Intent::new(EffectId::new("other", "1"), "pay", json!({}));
    begin(&*ledger, other.clone());
    block_on(ledger.end(&other.id, 1, Outcome::done(json!(null)))).unwrap();
    let run = |run: &str| Filter { run: Some(run.to_string()), ..Filter::default() };
    assert_eq!(ids(&*ledger, run("other")), ["other/1"]);
    assert_eq!(ids(&*ledger, run("others")), [""; 0]);
    assert_eq!(ids(&*ledger, Filter { newest: Some(2), ..run("run") }), ["run/3", "run/4"]);
    let states = vec![State::Done, State::Unknown];
    assert_eq!(ids(&*ledger, Filter { states, ..Filter::default() }), ["other/1"]);
}

pub fn a_run_is_forgotten_but_not_what_is_unknown_of_it(open: Open<'_>) {
    let ledger = open();
    begin(&*ledger, pay("1", 5));
    let forget = |with_open| Forget::Run { name: "run".to_string(), with_open };
    let refused = block_on(ledger.forget(forget(false))).unwrap_err();
    assert!(
        matches!(&refused, LedgerError::Refused(why) if why.contains("1 calls of unknown outcome")),
        "{refused}"
    );
    assert_eq!(ids(&*ledger, Filter::default()), ["run/1"]);
    assert_eq!(block_on(ledger.forget(forget(true))).unwrap(), 1);
    assert_eq!(ids(&*ledger, Filter::default()), [""; 0]);
    let missing = block_on(ledger.forget(forget(true))).unwrap_err();
    assert!(matches!(missing, LedgerError::Refused(_)), "{missing}");
}

pub fn any_text_comes_back_as_it_was(open: Open<'_>) {
    let texts = ["", "\0", "'; DROP TABLE ptc_effects; --", "ä\u{1F600}\n\t\\ \"$1\"", "\u{FEFF}"];
    for (n, text) in texts.iter().enumerate() {
        let intent = Intent::new(EffectId::new("run", &n.to_string()), "pay", json!({"text": text}));
        begin(&*open(), intent.clone());
        block_on(open().end(&intent.id, 1, Outcome::done(json!({"said": text})))).unwrap();
        let entry = block_on(open().get(&intent.id)).unwrap().unwrap();
        assert_eq!((&entry.intent, entry.outcome), (&intent, Some(Outcome::done(json!({"said": text})))));
    }
}

pub fn numbers_come_back_as_they_were(open: Open<'_>) {
    let exact: Value = json!([1, -1, u64::MAX, i64::MIN, 0.1, 1e300, 123_456_789.123_456_78]);
    let intent = Intent::new(EffectId::new("run", "1"), "pay", json!({"n": exact}));
    begin(&*open(), intent.clone());
    block_on(open().end(&intent.id, 1, Outcome::done(exact.clone()))).unwrap();
    let entry = block_on(open().get(&intent.id)).unwrap().unwrap();
    assert_eq!((entry.intent, entry.outcome), (intent, Some(Outcome::done(exact))));
}

pub fn what_is_too_large_is_not_kept(open: Open<'_>) {
    let (ledger, intent) = (open(), pay("1", 5));
    begin(&*ledger, intent.clone());
    block_on(ledger.end(&intent.id, 1, Outcome::Failed { error: json!("x".repeat(3 << 20)) })).unwrap();
    let entry = block_on(ledger.get(&intent.id)).unwrap().unwrap();
    assert_eq!(entry.state, State::Failed);
    assert!(
        matches!(entry.outcome, Some(Outcome::Failed { error }) if error["text"].as_str().unwrap().contains("too large"))
    );
}
