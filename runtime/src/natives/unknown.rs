//! Natives and unknown values, the answers of writes that a plan did not send: a native gets them only if it moves them
//! without a look. Whatever a native does with other arguments, it would do something else with the real answer.

use ptc_bytecode::{Elements, Veil};
use ptc_vm::{Call, Stop, Value};

/// Natives that move elements and look at none, not even whether it is nil: besides the collections that they walk, their
/// arguments may be unknown, and so may the elements.
const MOVERS: &[&str] = &[
    "%atom-held",
    "%bounded",
    "%builder",
    "%drop",
    "%endless?",
    "%finish",
    "%head",
    "%held",
    "%hold!",
    "%hold-if-own!",
    "%indexed",
    "%link",
    "%nth",
    "%pmap",
    "%push",
    "%state",
    "%step",
    "%step-call",
    "%tail",
    "%volatile-held",
    "%zip",
    "atom",
    "butlast",
    "concat",
    "cons",
    "count",
    "deref",
    "doall",
    "drop",
    "drop-last",
    "empty",
    "empty?",
    "entries",
    "ex-data",
    "first",
    "fnext",
    "get",
    "identity",
    "interleave",
    "interpose",
    "key",
    "keys",
    "last",
    "list",
    "map?",
    "merge",
    "next",
    "nnext",
    "not-empty",
    "nth",
    "nthnext",
    "nthrest",
    "partition",
    "partition-all",
    "peek",
    "persistent!",
    "pop",
    "println",
    "prn",
    "reduced",
    "reduced?",
    "repeat",
    "reset!",
    "rest",
    "reverse",
    "rseq",
    "second",
    "seq",
    "sequential?",
    "split-at",
    "subvec",
    "take",
    "take-last",
    "take-nth",
    "transient",
    "unreduced",
    "val",
    "vals",
    "vec",
    "vector",
    "vector?",
    "volatile!",
    "vreset!",
    "zip",
];

/// Natives that move their arguments, except the first: they look into it.
const HOLDERS: &[&str] =
    &["%atom-held", "%volatile-held", "deref", "ex-data", "reset!", "transient", "vreset!"];

/// Natives that move elements into a vector. Sets and maps compare what they are given.
const GATHERERS: &[&str] = &["%into", "conj"];

/// Loops that the core library runs itself if they return nil.
const LOOPS: &[&str] = &["%each", "%each-where", "%fold"];

/// Faults if the native would look at an unknown value; true if it leaves its work to the core library.
pub(super) fn leaves(call: &Call<'_>) -> Result<bool, Stop> {
    let (heap, name) = (&*call.heap, call.name());
    if LOOPS.contains(&name) {
        return call
            .args
            .iter()
            .try_fold(false, |found, arg| Ok(found || heap.find_unknown(*arg)?.is_some()));
    }
    let n = call.args.len();
    let moves = |at: usize| match call.id.row().map_or(Veil::Clears, |row| row.veil) {
        Veil::Keeps(elements) => elements == Elements::All || elements.contain(at, n),
        Veil::Keyed => at > 1,
        Veil::Clears | Veil::Measures => false,
    };
    let fills_a_vector = matches!(call.args.first(), Some(Value::Vector(_) | Value::Range(_) | Value::Nil));
    let is_mover = MOVERS.contains(&name) || (GATHERERS.contains(&name) && fills_a_vector);
    for (at, arg) in call.args.iter().enumerate() {
        match is_mover {
            true if moves(at) && !(at == 0 && HOLDERS.contains(&name)) && name != "%pmap" => {}
            // No tool answers with a value that only `reduced` makes.
            true if name == "reduced?" => {}
            // A key is compared with others.
            true if name == "get" && at == 1 => heap.check_known_deep(*arg)?,
            true => heap.check_known(*arg)?,
            false => heap.check_known_deep(*arg)?,
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_bytecode::lookup;

    #[test]
    fn names_are_those_of_natives_that_move_or_measure() {
        for name in MOVERS.iter().chain(GATHERERS).chain(LOOPS) {
            let row = lookup(name).and_then(|id| id.row()).unwrap_or_else(|| panic!("no builtin `{name}`"));
            assert!(row.veil != Veil::Clears, "`{name}` computes with its arguments");
        }
        assert!(MOVERS.is_sorted());
        assert!(HOLDERS.iter().all(|name| MOVERS.contains(name)));
    }
}
