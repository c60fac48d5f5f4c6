//! Core forms → registers and jumps.
//!
//! An expression is lowered towards a [`Dest`]. Locals are read where they are, so an operand that is
//! a local costs nothing; call arguments are computed where the callee expects them. Registers are
//! handed out like a stack. The few that stay taken while something else is computed are bounded
//! (see [`regs`]); what does not fit is kept in wide slots, so no program is too complex.

use crate::emit::{CodeBuilder, LabelId, Module};
use crate::meter::Meter;
use crate::opt;
use crate::resolve::params;
use crate::resolved::{Clause, Constant, Lambda, LocalId, Resolved, Tool};
use frame::Frame;
use ptc_bytecode::{Arity, Artifact, Code, CodeBlock, Datum, Diagnostic, Export, Function, Op, Span};
use regs::{Place, Registers};

mod branch;
mod call;
mod closure;
mod control;
mod expr;
mod frame;
mod higher;
mod inline;
mod literal;
mod looping;
mod pin;
mod reads;
mod regs;

/// Where a value should go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dest {
    /// Wherever it is; a local stays where it lives, anything else takes the next free register.
    Any,
    /// This register. It need not be reserved: nothing the register held is needed any more.
    Into(u8),
    /// Out of the function.
    Return,
    /// Nowhere; only the effects matter.
    Effect,
}

/// Captures that fit a closure directly; more travel as one vector.
const MAX_CAPTURES: usize = 100;

/// Units of work for a node that is lowered, the instructions it becomes included.
const LOWERED_NODE: usize = 16;

/// Units of work for an instruction that passes over finished code.
const FINISHED_OP: usize = 4;

/// Lowers a whole program or library. The error says what did not fit.
pub(crate) fn lower<'a>(
    resolved: &Resolved<'a>,
    optimize: bool,
    meter: &'a Meter<'a>,
) -> Result<Artifact, Diagnostic> {
    let mut module = Module::new(meter);
    if let Some(entry) = resolved.entry {
        module.artifact.entry = Some(function(&mut module, entry, optimize));
    }
    for (name, lambda) in resolved.exports {
        let function = function(&mut module, lambda, optimize);
        module.artifact.exports.push(Export { name: (*name).into(), function });
    }
    let mut artifact = finished(module, Code::InvalidForm)?;
    artifact.defs = resolved.defs.iter().map(|name| (*name).into()).collect();
    artifact.tools = resolved.tools.iter().map(|tool| (*tool).into()).collect();
    Ok(artifact)
}

/// Lowers the definitions of a prelude namespace: definition `i` becomes function `i`. A constant is a
/// function without parameters, and where its value is known, code that names it has the value.
pub(crate) fn lower_namespace<'a>(
    definitions: &[&'a Lambda<'a>],
    tools: &[Tool<'a>],
    defs: &[&'a str],
    known: &[Option<Datum>],
    optimize: bool,
    meter: &'a Meter<'a>,
) -> Result<Artifact, Diagnostic> {
    let mut module = Module::new(meter);
    module.siblings = definitions.iter().map(|_| module.reserve_function()).collect();
    module.known = known.iter().map(|value| value.clone().map(|datum| module.data(datum))).collect();
    for (id, lambda) in definitions.iter().enumerate() {
        function_into(&mut module, id as u32, lambda, optimize);
    }
    let mut artifact = finished(module, Code::CompileError)?;
    artifact.defs = defs.iter().map(|name| (*name).into()).collect();
    artifact.tools = tools.iter().map(|tool| (*tool).into()).collect();
    Ok(artifact)
}

/// The artifact, if all of it was paid for and fits the format; `overflow` is the code for what does not.
fn finished(module: Module<'_>, overflow: Code) -> Result<Artifact, Diagnostic> {
    let _ = module.meter.pay_loading(&module.artifact);
    module.meter.charge(0)?;
    match module.overflow {
        Some(what) => Err(Diagnostic::without_span(overflow, what)),
        None => Ok(module.artifact),
    }
}

/// Lowers a function with all its arities and gives its number.
fn function<'a>(module: &mut Module<'a>, lambda: &'a Lambda<'a>, optimize: bool) -> u32 {
    let id = module.reserve_function();
    function_into(module, id, lambda, optimize);
    id
}

/// Lowers a function whose number is known.
fn function_into<'a>(module: &mut Module<'a>, id: u32, lambda: &'a Lambda<'a>, optimize: bool) {
    let arities = lambda
        .clauses
        .iter()
        .map(|clause| {
            let code = Lower::clause(module, lambda, clause, optimize);
            module.artifact.blocks.push(code);
            Arity {
                required: clause.required,
                rest: clause.rest,
                block: module.artifact.blocks.len() as u32 - 1,
                params: params(clause).into(),
            }
        })
        .collect();
    let captures = if lambda.captures.len() > MAX_CAPTURES { 1 } else { lambda.captures.len() };
    module.artifact.functions[id as usize] = Function {
        name: lambda.name.map(Into::into),
        doc: lambda.doc.map(Into::into),
        captures: captures as u16,
        arities,
    };
}

/// One function body being lowered.
struct Lower<'m, 'a> {
    module: &'m mut Module<'a>,
    code: CodeBuilder,
    regs: Registers,
    /// The function whose body is being lowered: this one, or one written in its place.
    frame: Frame<'a>,
    /// The functions around that, this one first.
    around: Vec<Frame<'a>>,
    /// Whether captures arrive as one vector.
    packed: bool,
    /// Loops around this place and the function itself: where `recur` goes.
    targets: Vec<Target>,
    /// Ends of the `Each` loops around this place.
    breaks: Vec<LabelId>,
    /// Constants the loops around this place keep in registers.
    pins: Vec<(Constant<'a>, u8)>,
}

/// Where `recur` goes, and what it assigns.
struct Target {
    head: LabelId,
    count: Place,
    /// The register the head expects the count in, also when it is kept in a wide slot.
    count_reg: u8,
    places: Vec<Place>,
}

impl<'m, 'a> Lower<'m, 'a> {
    fn clause(
        module: &'m mut Module<'a>,
        lambda: &'a Lambda<'a>,
        clause: &'a Clause<'a>,
        optimize: bool,
    ) -> CodeBlock {
        let params = clause.params();
        let mut lower = Lower {
            module,
            code: CodeBuilder::new(optimize, lambda.span),
            // r0 holds the function, the parameters follow.
            regs: Registers::new(params + 1),
            frame: Frame::new(clause.locals, &[]),
            around: Vec::new(),
            packed: lambda.captures.len() > MAX_CAPTURES,
            targets: Vec::new(),
            breaks: Vec::new(),
            pins: Vec::new(),
        };
        for i in 0..params.min(clause.locals.len()) {
            lower.frame.places[i] = Place::Reg(i as u8 + 1);
        }
        if clause.restarts {
            lower.pin(clause.body);
            let places = lower.frame.places[..params].to_vec();
            lower.open_target(places);
        }
        lower.body(clause.body, Dest::Return, lambda.span);
        lower.finish(params)
    }

    fn finish(self, params: usize) -> CodeBlock {
        let (regs, fits) = self.regs.used();
        if !fits {
            self.module.overflow =
                Some("more than 65,000 local names or intermediate values in one function");
        }
        let optimize = self.code.optimize;
        let draft = self.code.finish();
        if !self.module.meter.pay(FINISHED_OP * draft.ops.len()) {
            return CodeBlock { regs, params: params as u8, ops: Vec::new(), spans: Vec::new() };
        }
        let (ops, spans) = if optimize { opt::finish(draft) } else { draft.link(&[]) };
        CodeBlock { regs, params: params as u8, ops, spans }
    }

    fn emit(&mut self, op: Op) {
        self.code.emit(op);
    }

    fn place(&self, local: LocalId) -> Place {
        self.frame.places.get(local.0 as usize).copied().unwrap_or(Place::Nowhere)
    }

    /// The register a value for `dest` is computed in.
    fn target_reg(&mut self, dest: Dest) -> u8 {
        match dest {
            Dest::Into(reg) => reg,
            Dest::Any | Dest::Return | Dest::Effect => self.regs.alloc(),
        }
    }

    /// Sends the value in `reg` where it belongs.
    fn deliver(&mut self, dest: Dest, reg: u8) -> u8 {
        match dest {
            Dest::Into(wanted) if wanted != reg => {
                self.emit(Op::Move { dst: wanted, src: reg });
                wanted
            }
            Dest::Return => {
                self.emit(Op::Return { src: reg });
                reg
            }
            _ => reg,
        }
    }

    /// Runs `write` with the source span of `span`.
    fn at<T>(&mut self, span: Span, write: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.code.at(span);
        let result = write(self);
        self.code.at(outer);
        result
    }
}
