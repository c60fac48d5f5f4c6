//! Lowering of core forms into registers and jumps.
//!
//! An expression is lowered towards a [`Dest`]. Locals are read in place, so an operand that is a local costs nothing;
//! call arguments are computed where the callee expects them. Registers are allocated like a stack. The few that stay
//! taken while another expression is computed are bounded (see [`regs`]); the rest is kept in wide slots, so no program
//! is too complex.

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
mod pipeline;
mod reads;
mod regs;

/// The destination of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dest {
    /// Any register: a local stays where it lives, anything else takes the next free register.
    Any,
    /// This register. It need not be reserved: its old content is no longer needed.
    Into(u8),
    /// The result of the function.
    Return,
    /// None; only the effects matter.
    Effect,
}

/// Maximum captures passed to a closure directly; more travel as one vector.
const MAX_CAPTURES: usize = 100;

/// Units of work for lowering a node, its instructions included.
const LOWERED_NODE: usize = 16;

/// Units of work per instruction for passes over finished code.
const FINISHED_OP: usize = 4;

/// Lowers a whole program or library. The error names the part that exceeds the format.
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

/// Lowers the definitions of a prelude namespace: definition `i` becomes function `i`. A constant is a function
/// without parameters; if its value is known, code that names it contains the value.
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

/// Returns the artifact, if all of it was paid for and fits the format; `overflow` is the code for one that does
/// not fit.
fn finished(module: Module<'_>, overflow: Code) -> Result<Artifact, Diagnostic> {
    let _ = module.meter.pay_loading(&module.artifact);
    module.meter.charge(0)?;
    match module.overflow {
        Some(what) => Err(Diagnostic::without_span(overflow, what)),
        None => Ok(module.artifact),
    }
}

/// Lowers a function with all its arities and returns its number.
fn function<'a>(module: &mut Module<'a>, lambda: &'a Lambda<'a>, optimize: bool) -> u32 {
    let id = module.reserve_function();
    function_into(module, id, lambda, optimize);
    id
}

/// Lowers a function with a reserved number.
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
    /// Function whose body is being lowered: this one, or one inlined in it.
    frame: Frame<'a>,
    /// Enclosing functions of an inlined one, the outermost first; empty outside inlined bodies.
    around: Vec<Frame<'a>>,
    /// True if captures arrive as one vector.
    packed: bool,
    /// Targets of `recur`: enclosing loops and the function itself.
    targets: Vec<Target>,
    /// End labels of the enclosing `Each` loops.
    breaks: Vec<LabelId>,
    /// Constants that the enclosing loops keep in registers.
    pins: Vec<(Constant<'a>, u8)>,
}

/// A target of `recur`, with the places it assigns.
struct Target {
    head: LabelId,
    count: Place,
    /// Register in which the head expects the count, even if it is kept in a wide slot.
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
            // r0 holds the function; the parameters follow.
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

    /// Returns the register in which a value for `dest` is computed.
    fn target_reg(&mut self, dest: Dest) -> u8 {
        match dest {
            Dest::Into(reg) => reg,
            Dest::Any | Dest::Return | Dest::Effect => self.regs.alloc(),
        }
    }

    /// Moves the value in `reg` to its destination.
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

    /// Runs `write` with this source span.
    fn at<T>(&mut self, span: Span, write: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.code.at(span);
        let result = write(self);
        self.code.at(outer);
        result
    }
}
