//! Properties that hold for every artifact and for any bytes.

mod common;

use common::generate::artifact;
use common::walk::walk;
use common::{reseal, sample};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{FailurePersistence, FileFailurePersistence};
use ptc_bytecode::{Artifact, Header, Op, decode, disassemble, encode, verify};

/// Failing cases are stored beside this file and committed.
fn regressions() -> Option<Box<dyn FailurePersistence>> {
    Some(Box::new(FileFailurePersistence::WithSource("regressions")))
}

fn entropy() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..400)
}

/// Pays far too much everywhere, so that only other rules can refuse a change.
fn overpay(artifact: &mut Artifact) {
    for op in artifact.blocks.iter_mut().flat_map(|block| &mut block.ops) {
        match op {
            Op::Enter { fuel } => *fuel = 10_000,
            Op::JumpUnless { fuel, .. } | Op::JumpUnlessLessInt { fuel, .. } | Op::IterNext { fuel, .. } => {
                *fuel = 255;
            }
            _ => {}
        }
    }
}

/// Changes one instruction into another, or copies one.
fn mutate(artifact: &mut Artifact, at: u16, kind: u8, value: u8) {
    let blocks = artifact.blocks.len();
    let ops = &mut artifact.blocks[usize::from(value) % blocks].ops;
    let count = ops.len();
    let at = usize::from(at) % count;
    ops[at] = match kind % 8 {
        0 => Op::Enter { fuel: value.into() },
        1 => Op::Move { dst: value % 44, src: value / 16 },
        2 => Op::CallDef { base: value % 40, n: value % 3, def: 0 },
        3 => ops[at].with_target(value.into()),
        4 => Op::Jump { to: value.into() },
        5 => Op::IterNext { dst: value % 40, iter: value / 7, fuel: 200, to: value.into() },
        6 => ops[usize::from(value) % count],
        _ => Op::AddInt { dst: 1, a: value % 12, said: 3, imm: 1 },
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: regressions(), ..ProptestConfig::default() })]

    #[test]
    fn generated_artifacts_verify_and_keep_their_promises(bytes in entropy(), turn in entropy()) {
        let made = artifact(&bytes);
        match verify(made.clone()) {
            Ok(verified) => walk(&verified, &turn),
            Err(error) => panic!("{}\n{}", error.message, disassemble(&made, None)),
        }
    }

    #[test]
    fn what_is_encoded_is_decoded(bytes in entropy()) {
        let made = artifact(&bytes);
        prop_assert_eq!(decode(&encode(&made)).unwrap(), made);
    }

    #[test]
    fn a_cheaper_price_is_refused(bytes in entropy(), which in any::<u16>()) {
        let mut made = artifact(&bytes);
        let priced = |op: &Op| matches!(op, Op::Enter { fuel: 1.. });
        let ops = &mut made.blocks[0].ops;
        let heads: Vec<usize> = (0..ops.len()).filter(|pc| priced(&ops[*pc])).collect();
        if let Op::Enter { fuel } = &mut ops[heads[usize::from(which) % heads.len()]] {
            *fuel -= 1;
        }
        prop_assert!(verify(made).is_err());
    }

    #[test]
    fn changed_code_is_refused_or_still_sound(
        bytes in entropy(), turn in entropy(), at in any::<u16>(), kind in any::<u8>(), value in any::<u8>(),
    ) {
        let mut made = artifact(&bytes);
        if turn.len() % 4 > 0 {
            overpay(&mut made);
        }
        mutate(&mut made, at, kind, value);
        disassemble(&made, Some(""));
        if let Ok(verified) = verify(made) {
            walk(&verified, &turn);
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(decode(&bytes).is_err());
        if let Ok(verified) = decode(&reseal(&bytes)).and_then(verify) {
            walk(&verified, &[0, 1]);
        }
    }

    #[test]
    fn a_flipped_bit_is_found(bytes in entropy(), at in any::<u32>(), bit in 0..8u8) {
        let mut file = encode(&artifact(&bytes));
        let at = at as usize % file.len();
        file[at] ^= 1 << bit;
        prop_assert!(decode(&file).is_err());
    }

    #[test]
    fn flipped_bits_under_a_valid_hash_are_survived(
        bytes in entropy(), flips in proptest::collection::vec((any::<u32>(), 0..8u8), 1..4), turn in entropy(),
    ) {
        let made = if bytes.len() % 4 == 0 { sample() } else { artifact(&bytes) };
        let mut body = encode(&made).split_off(Header::BYTES);
        for (at, bit) in flips {
            let at = at as usize % body.len();
            body[at] ^= 1 << bit;
        }
        if let Ok(decoded) = decode(&reseal(&body)) {
            disassemble(&decoded, Some("(+ 1\n 2)"));
            if let Ok(verified) = verify(decoded) {
                walk(&verified, &turn);
            }
        }
    }
}

#[test]
fn generated_code_is_varied() {
    // A generator that only made trivial code would satisfy every property.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..200 {
        let bytes = entropy().new_tree(&mut runner).unwrap().current();
        for op in artifact(&bytes).blocks.iter().flat_map(|block| &block.ops) {
            *seen.entry(op.name()).or_insert(0) += 1;
        }
    }
    for name in ["Again", "IterNext", "JumpUnless", "CallDef", "Capture", "Add"] {
        assert!(seen.get(name).is_some_and(|n| *n > 50), "{name} is rare: {seen:?}");
    }
}
