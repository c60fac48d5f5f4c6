//! Artifacts made to be slow to check: the work stays linear, so each test ends soon even in a debug build. A quadratic
//! check would take hours.

mod common;

use common::program;
use ptc_bytecode::{Datum, Liveness, Node, Op, verify};
use std::time::{Duration, Instant};

const MANY: u32 = 400_000;

#[allow(clippy::disallowed_methods)] // a test may look at the clock; the crate may not
fn soon<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "took {took:?}");
    done
}

/// Builds a program from `count` pieces, each made by its index.
fn repeated(head: &[Op], count: u32, piece: impl Fn(u32) -> Vec<Op>, tail: &[Op]) -> Vec<Op> {
    let mut ops = head.to_vec();
    ops.extend((0..count).flat_map(piece));
    ops.extend(tail);
    ops
}

#[test]
fn a_long_straight_line() {
    let line =
        repeated(&[Op::Enter { fuel: MANY + 1 }], MANY, |_| vec![Op::Move { dst: 1, src: 0 }], &[RETURN]);
    soon(|| verify(program(2, line)).unwrap().liveness(0).live_before(7));
}

const RETURN: Op = Op::Return { src: 0 };

#[test]
fn a_chain_of_jumps_forward() {
    let chain = repeated(
        &[Op::Enter { fuel: 0 }],
        MANY / 2,
        |i| vec![Op::Enter { fuel: 1 }, Op::JumpIf { test: 0, fuel: 0, to: 2 * i + 3 }],
        &[Op::Enter { fuel: 1 }, RETURN],
    );
    soon(|| verify(program(2, chain)).unwrap().liveness(0).live_before(7));
}

#[test]
fn a_chain_of_jumps_backward_is_refused_when_long() {
    // Knowledge of written registers moves one link per sweep, from the last link to the first.
    let chain = |links: u32| {
        repeated(
            &[Op::Enter { fuel: 1 }, Op::Jump { to: 4 + 2 * (links - 1) }, Op::Enter { fuel: 1 }, RETURN],
            links,
            |i| vec![Op::Enter { fuel: 1 }, Op::Jump { to: 2 + 2 * i }],
            &[],
        )
    };
    soon(|| verify(program(2, chain(50))).unwrap());
    let error = soon(|| verify(program(2, chain(MANY / 2))).unwrap_err());
    assert_eq!(error.message, "in `main`: its jumps are too tangled to be checked");
}

#[test]
fn liveness_of_tangled_code_is_generous() {
    // Liveness flows the other way: the read of the first link reaches one more link per sweep.
    let links = MANY / 2;
    let ops = repeated(
        &[Op::Enter { fuel: 1 }, Op::Return { src: 9 }],
        links,
        |i| vec![Op::Enter { fuel: 1 }, Op::Jump { to: 2 * i }],
        &[],
    );
    let code = program(20, ops).blocks.remove(0);
    let live = soon(|| Liveness::of(&code));
    assert!(live.live_before(2 * links as usize).contains(9));
}

#[test]
fn many_small_blocks_share_the_bound() {
    let mut artifact = program(2, vec![Op::Enter { fuel: 1 }, RETURN]);
    let (function, block) = (artifact.functions[0].clone(), artifact.blocks[0].clone());
    for index in 1..MANY / 10 {
        let mut function = function.clone();
        function.arities[0].block = index;
        artifact.functions.push(function);
        artifact.blocks.push(block.clone());
    }
    soon(|| verify(artifact).unwrap());
}

#[test]
fn large_constants() {
    let mut artifact = program(2, vec![Op::Enter { fuel: 1 }, RETURN]);
    let deep = std::iter::once(Node::Nil).chain(std::iter::repeat_n(Node::Vector(1), MANY as usize));
    let keys = (0..MANY).map(|i| Node::Int(i.into())).chain([Node::Vector(MANY)]);
    artifact.consts = vec![
        ptc_bytecode::Const::Data(Datum::new(deep.collect()).unwrap()),
        ptc_bytecode::Const::Keys(Datum::new(keys.collect()).unwrap()),
    ];
    soon(|| verify(artifact).unwrap());
}
