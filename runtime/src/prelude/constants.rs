//! Evaluates constants in a sandbox that can do nothing but compute.
//!
//! A constant is evaluated when the prelude is compiled and never again, so it must depend on nothing but its source:
//! natives that read a clock or a journal are replaced by others that refuse, tool calls get no result, and no data is
//! granted.

use crate::host::Runtime;
use crate::natives;
use crate::parallel::{self, Progress, Trail};
use crate::watch::StopWatch;
use ptc_bytecode::{
    Artifact, Code, CodeBlock, Const, Datum, Diagnostic, Effect, Limits, Node, Op, Reach, Subject,
    used_export, verify,
};
use ptc_compiler::prelude::{CompiledNamespace, PreludeError};
use ptc_vm::{Budget, Call, Ending, Fault, Heap, Library, Module, NativeFn, Stop, Value, Vm};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Time limit for one constant in milliseconds; `MAX_MEMORY` and `MAX_VALUE` bound its memory and its size as text.
const MAX_MS: u64 = 1_000;
pub(super) const MAX_MEMORY: u64 = 10_000_000;
const MAX_VALUE: usize = 4 << 20;

/// Makes a library whose natives depend on their arguments alone.
pub(super) fn pure_library(runtime: &Runtime) -> Result<Library, Fault> {
    runtime.library().replaced(|id| {
        let row = id.row()?;
        let reads_host = matches!(row.effect, Effect::Clock | Effect::Journal | Effect::Host);
        match reads_host {
            true => natives::native(id).map(|_| refuse as NativeFn),
            false => natives::native(id),
        }
    })
}

fn refuse(call: &mut Call<'_>) -> Result<Value, Stop> {
    // Some natives read the clock only when called without arguments.
    if let (Some(native), false) = (natives::native(call.id), call.args.is_empty())
        && call.id.row().is_some_and(|row| row.effect == Effect::Clock)
    {
        return native(call);
    }
    let name = call.name();
    let name = if name.starts_with("%task") { "task" } else { name.trim_start_matches('%') };
    Err(impure(&format!("`{name}`")).into())
}

/// Makes the fault of a constant that uses something only a run has.
fn impure(what: &str) -> Fault {
    Fault::new(Code::ImpureConstant, format!("uses {what}, so it could differ each time"))
}

/// Sorts the constants of a namespace into rounds by dependency: those of round 0 need no other.
pub(super) fn rounds(namespace: &CompiledNamespace) -> Result<Vec<Vec<usize>>, PreludeError> {
    let definitions = &namespace.definitions;
    let mut reach = Reach::of(&namespace.artifact);
    let mut needs: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (i, definition) in definitions.iter().enumerate().filter(|(_, d)| d.constant) {
        let Some(reached) = reach.functions([i as u32], |_| true) else {
            let message = "the definitions of this namespace are too tangled";
            return Err(failed(&definition.reference, Code::CompileError, message.to_string()));
        };
        if reached.iter().any(|id| reach.makes(*id).contains(&(i as u32))) {
            return Err(depends_on_itself(&definition.reference));
        }
        let is_other = |id: &usize| definitions.get(*id).is_some_and(|d| d.constant) && *id != i;
        needs.insert(i, reached.into_iter().map(|id| id as usize).filter(is_other).collect());
    }
    let mut rounds = Vec::new();
    while !needs.is_empty() {
        let ready: Vec<usize> = needs
            .iter()
            .filter(|(_, others)| others.iter().all(|other| !needs.contains_key(other)))
            .map(|(i, _)| *i)
            .collect();
        let Some((first, _)) = needs.first_key_value().filter(|_| ready.is_empty()) else {
            needs.retain(|i, _| !ready.contains(i));
            rounds.push(ready);
            continue;
        };
        return Err(depends_on_itself(&definitions[*first].reference));
    }
    Ok(rounds)
}

#[cold]
fn depends_on_itself(reference: &str) -> PreludeError {
    failed(reference, Code::CompileError, format!("the constant {reference} depends on itself"))
}

/// Evaluates these constants of a namespace; None for one that holds functions or sorted collections.
pub(super) fn evaluate(
    namespace: &CompiledNamespace,
    constants: &[usize],
    known: &BTreeMap<String, Datum>,
    library: &Arc<Library>,
    heap: u64,
) -> Result<Vec<Option<Datum>>, PreludeError> {
    if constants.is_empty() {
        return Ok(Vec::new());
    }
    let internal = |diagnostic: Diagnostic| {
        let mut error = PreludeError::new(diagnostic);
        error.namespace = Some(namespace.record.name.clone());
        error
    };
    let verified = verify(with_values(namespace, known)).map_err(internal)?;
    let module = Module::link(verified, library).map_err(|fault| internal(fault.to_diagnostic()))?;
    let value = |index: &usize| {
        let definition = &namespace.definitions[*index];
        let outcome = run(&module, *index as u32, library, heap);
        outcome.map_err(|fault| explain(&definition.reference, definition.span, &fault))
    };
    constants.iter().map(value).collect()
}

/// Returns the code of a namespace with known constants filled in, so that they are not computed again.
fn with_values(namespace: &CompiledNamespace, known: &BTreeMap<String, Datum>) -> Artifact {
    let mut artifact = namespace.artifact.clone();
    for (i, definition) in namespace.definitions.iter().enumerate() {
        let block = artifact.functions.get(i).and_then(|function| function.arities.first());
        if let (Some(value), Some(block)) = (known.get(&definition.reference), block.map(|arity| arity.block))
        {
            let id = artifact.consts.len() as u32;
            artifact.consts.push(Const::Data(value.clone()));
            let ops = vec![Op::Enter { fuel: 2 }, Op::Const { dst: 1, id }, Op::Return { src: 1 }];
            artifact.blocks[block as usize] = CodeBlock { regs: 2, params: 0, ops, spans: Vec::new() };
        }
    }
    artifact
}

/// Runs one constant to its value.
fn run(
    module: &Arc<Module>,
    function: u32,
    library: &Arc<Library>,
    heap: u64,
) -> Result<Option<Datum>, Fault> {
    let limits = Limits { timeout_ms: MAX_MS, memory_bytes: heap, ..Limits::default() };
    let watch = StopWatch::new(limits.timeout_ms, None);
    let mut vm = Vm::new(library.clone(), &limits, Budget::new(limits.fuel, Some(watch.clone())))?;
    vm.set_strict_data(true);
    let id = vm.attach_module(module.clone())?;
    vm.start_at(id, function)?;
    let value = match watch.during(|| parallel::advance(&mut vm)) {
        Progress::Waiting => {
            let mut found = Vec::new();
            parallel::pending(&vm, &mut Trail::default(), None, None, &mut found);
            let name = found.first().map_or("call", |found| &*found.call.name);
            return Err(impure(&format!("`tool/{name}`")));
        }
        Progress::Paused => return Err(Fault::new(Code::Internal, "a constant has no schedule, and paused")),
        Progress::Ended(Err(fault)) => return Err(fault),
        Progress::Ended(Ok(Ending::Value(value))) => value,
        Progress::Ended(Ok(Ending::Returned(_))) => {
            return Err(Fault::new(Code::RuntimeError, "a constant cannot end a program with `return`"));
        }
        Progress::Ended(Ok(Ending::Failed(value))) => {
            let mut shown = String::new();
            let _ = vm.heap().print(value, &mut shown, 400);
            return Err(Fault::new(Code::Fail, format!("it failed with {shown}")));
        }
    };
    if vm.heap().has_places(value) {
        let message = "holds an atom, and a prelude has no state: each program would start with a new one";
        return Err(Fault::new(Code::ImpureConstant, message));
    }
    let datum = vm.heap().to_datum(value, MAX_VALUE)?;
    if datum.nodes().iter().any(|node| matches!(node, Node::Opaque(_))) || holds_sorted(vm.heap(), value) {
        return Ok(None);
    }
    // One bit pattern for every NaN, so that the same source gives the same bytes.
    let canonical = |node: Node| match node {
        Node::Float(x) if x.is_nan() => Node::Float(f64::NAN),
        other => other,
    };
    Ok(Datum::new(Vec::from(datum).into_iter().map(canonical).collect()))
}

/// True if a sorted collection is inside: data has none, so such a constant is made where it is used. The value is
/// known to be small enough to be written out.
fn holds_sorted(heap: &Heap, value: Value) -> bool {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Map(r) | Value::Set(r) if heap.sorted_order(r).is_some() => return true,
            Value::Vector(r) => rest.extend(heap.vec_items(r)),
            Value::Set(r) => {
                let mut cursor = 0;
                while let Some((item, next)) = heap.set_next(r, cursor) {
                    rest.push(item);
                    cursor = next;
                }
            }
            Value::Map(r) => {
                let mut cursor = 0;
                while let Some((key, item, next)) = heap.map_next(r, cursor) {
                    rest.extend([key, item]);
                    cursor = next;
                }
            }
            _ => {}
        }
    }
    false
}

#[cold]
fn explain(reference: &str, span: ptc_bytecode::Span, fault: &Fault) -> PreludeError {
    let parts = fault.parts();
    let diagnostic = match parts.code {
        Code::ImpureConstant => {
            let message = format!("the constant {reference} {}", parts.message);
            Diagnostic::error(Code::ImpureConstant, span, message)
                .hint("make it a function, (defn name [] …), or write the value out")
        }
        _ if matches!(&parts.subject, Some(Subject::Name(name)) if used_export(name).is_some()) => {
            let message = format!("the constant {reference} uses another namespace, whose code may change");
            Diagnostic::error(Code::ImpureConstant, span, message)
                .hint("make it a function: (defn name [] …)")
        }
        _ if matches!(parts.subject, Some(Subject::Data(_))) => {
            let message = format!("the constant {reference} reads granted data, which only a run has");
            Diagnostic::error(Code::ImpureConstant, span, message)
                .hint("make it a function: (defn name [] …)")
        }
        code if code.is_run_limit() => {
            let message = format!(
                "prelude evaluation exceeded sandbox limits: the constant {reference} ({})",
                parts.message
            );
            Diagnostic::error(Code::CompileError, span, message).hint("use a cheaper constant, or a function")
        }
        _ => {
            let message = format!("prelude evaluation failed: the constant {reference}: {}", parts.message);
            let diagnostic = Diagnostic::error(Code::CompileError, span, message);
            match &parts.hint {
                Some(hint) => diagnostic.hint(hint.clone()),
                None => diagnostic,
            }
        }
    };
    let limit = match parts.code {
        Code::Timeout | Code::FuelExceeded => Some(Code::CompileTimeout),
        Code::MemoryExceeded => Some(Code::CompileMemoryExceeded),
        _ => None,
    };
    PreludeError { limit, ..PreludeError::of(reference, diagnostic) }
}

fn failed(reference: &str, code: Code, message: String) -> PreludeError {
    PreludeError::of(reference, Diagnostic::without_span(code, message))
}
