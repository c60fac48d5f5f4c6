//! Bytes → a suspended run → its end. The bytes are a saved run, or changes to the inside of one, whose hash is
//! then corrected.

use crate::forge::{body_of, machine_of, mutate, seal_snapshot};
use crate::kit::{PROGRAMS, RUNTIME, choices, finish};
use crate::take::Take;
use ptc_runtime::{Datum, Grants, Node, Run, Step};
use std::sync::LazyLock;

/// Every program, saved before it starts and at each of its first stops.
static SAVED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut saved = Vec::new();
    for source in PROGRAMS {
        let mut run = RUNTIME.start(&RUNTIME.compile(source).expect("compiles")).expect("starts");
        saved.push(run.snapshot().expect("saves"));
        for _ in 0..3 {
            if !goes_on(&mut run) {
                break;
            }
            saved.push(run.snapshot().expect("saves"));
        }
    }
    saved
});

/// Answers the oldest waiting call and continues; returns whether the run stops for tools again.
fn goes_on(run: &mut Run) -> bool {
    if let Some(call) = run.pending().first() {
        let answer = Datum::new(vec![Node::Int(1), Node::Vector(1)]).expect("one value");
        run.answer(&call.id, Ok(answer.into())).expect("it waits");
    }
    matches!(run.step(), Step::NeedsTools(_))
}

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    goes_on_from(bytes);
    is_let_through(bytes);
}

/// Builds a saved run from the bytes and runs it to its end if it is accepted; returns whether it was.
pub fn is_let_through(bytes: &[u8]) -> bool {
    goes_on_from(&bent(bytes))
}

/// Returns a valid saved run, changed by the bytes.
fn bent(bytes: &[u8]) -> Vec<u8> {
    let mut take = Take::new(bytes);
    let saved = &SAVED[take.pick(SAVED.len())];
    seal_snapshot(saved, &mutate(body_of(machine_of(saved)), take.rest()))
}

/// Loads a saved run and runs it to its end if it is accepted; returns whether it was.
fn goes_on_from(bytes: &[u8]) -> bool {
    let Ok(run) = RUNTIME.load(bytes, &Grants::new()) else { return false };
    let again = run.snapshot().expect("what was loaded can be saved");
    drop(RUNTIME.load(&again, &Grants::new()));
    finish(run);
    true
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = choices(40);
    // Each of them with one byte changed.
    for which in 0..SAVED.len() as u8 {
        seeds.extend((0..8).map(|at| vec![which, at % 5, at.wrapping_mul(37), at / 2, 1 + at]));
    }
    seeds.push(SAVED[SAVED.len() - 1].clone());
    seeds
}
