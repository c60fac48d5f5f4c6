//! Operands that an instruction looks at, for runs with unknown values. Instructions that only move a value are not
//! among them.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::Value;
use ptc_bytecode::Op;

/// Faults if an instruction is about to look at an unknown value.
pub(super) fn check(heap: &Heap, regs: &[Value], op: &Op) -> Result<(), Stop> {
    let r = |reg: u8| regs[reg as usize].shared();
    let known = |reg: u8| heap.check_known(r(reg)).map_err(Stop::from);
    let deep = |reg: u8| heap.check_known_deep(r(reg));
    let all = |values: &[Value], step: usize| {
        values.iter().step_by(step).try_for_each(|value| heap.check_known_deep(*value))
    };
    let run = |first: u8, n: u8| &regs[first as usize..first as usize + n as usize];
    match *op {
        Op::JumpIf { test: a, .. }
        | Op::JumpUnless { test: a, .. }
        | Op::JumpIfNil { src: a, .. }
        | Op::JumpUnlessSeq { src: a, .. }
        | Op::JumpUnlessLessInt { a, .. }
        | Op::JumpUnlessGreaterInt { a, .. }
        | Op::JumpUnlessEqInt { a, .. }
        | Op::Throw { src: a }
        | Op::AddInt { a, .. }
        | Op::Not { a, .. }
        | Op::IsNil { a, .. }
        | Op::GetKey { coll: a, .. }
        | Op::First { coll: a, .. }
        | Op::Count { coll: a, .. }
        | Op::IterStart { coll: a, .. }
        | Op::ParallelCalls { items: a, .. }
        | Op::Call { base: a, .. }
        | Op::Try { base: a, .. } => known(a),
        Op::JumpUnlessLess { a, b, .. }
        | Op::JumpUnlessLessEq { a, b, .. }
        | Op::Less { a, b, .. }
        | Op::LessEq { a, b, .. }
        | Op::Add { a, b, .. }
        | Op::Sub { a, b, .. }
        | Op::Mul { a, b, .. }
        | Op::Div { a, b, .. }
        | Op::Quot { a, b, .. }
        | Op::Rem { a, b, .. }
        | Op::Mod { a, b, .. }
        | Op::Nth { coll: a, index: b, .. }
        | Op::ParallelMap { f: a, items: b, .. } => known(a).and_then(|()| known(b)),
        Op::JumpUnlessEq { a, b, .. } | Op::Eq { a, b, .. } => deep(a).and_then(|()| deep(b)),
        // The key is compared with others; the value only moves.
        Op::Get { coll, key, .. } | Op::Assoc { coll, key, .. } | Op::AssocLast { coll, key, .. } => {
            known(coll).and_then(|()| deep(key))
        }
        // Members of sets and keys of maps are compared.
        Op::Conj { coll, item, .. } | Op::ConjLast { coll, item, .. } => {
            known(coll)?;
            match r(coll) {
                Value::Vector(_) | Value::Range(_) | Value::Nil => Ok(()),
                _ => deep(item),
            }
        }
        Op::Apply { base, n } => known(base).and_then(|()| known(base + n)),
        Op::NewMap { first, n, .. } => all(run(first, n), 2),
        Op::NewSet { first, n, .. } => all(run(first, n), 1),
        Op::BuildMap { builder, .. } => all(&heap.builder_items(r(builder)), 2),
        Op::BuildSet { builder, .. } => deep(builder),
        // These move values, or ask themselves: calls of tools, and natives in their wrapper.
        Op::Enter { .. }
        | Op::Jump { .. }
        | Op::Again { .. }
        | Op::AgainLast { .. }
        | Op::JumpUnlessReduced { .. }
        | Op::Attempt { .. }
        | Op::Return { .. }
        | Op::Deliver { .. }
        | Op::Finish { .. }
        | Op::Fail { .. }
        | Op::Move { .. }
        | Op::MoveLast { .. }
        | Op::LoadNil { .. }
        | Op::LoadBool { .. }
        | Op::LoadInt { .. }
        | Op::Const { .. }
        | Op::LoadWide { .. }
        | Op::StoreWide { .. }
        | Op::Capture { .. }
        | Op::GetDef { .. }
        | Op::SetDef { .. }
        | Op::HasDef { .. }
        | Op::LoadVar { .. }
        | Op::GetData { .. }
        | Op::GetHistory { .. }
        | Op::LoadBuiltin { .. }
        | Op::LoadTool { .. }
        | Op::MakeClosure { .. }
        | Op::CallDef { .. }
        | Op::CallBuiltin { .. }
        | Op::CallTool { .. }
        | Op::NewVector { .. }
        | Op::NewRecord { .. }
        | Op::NewBuilder { .. }
        | Op::Push { .. }
        | Op::BuildVector { .. }
        | Op::IterNext { .. }
        | Op::IterBack { .. } => Ok(()),
    }
}
