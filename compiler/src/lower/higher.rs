//! Inlining of functions passed to higher-order functions: the loop of the core library with the function's body
//! inside, instead of a call for each element.
//!
//! Only for a collection that is known to be finite; the core library also handles endless ones. Values that are not
//! collections are left to the core library too, which reports them.

use super::looping::{results, writes_last};
use super::regs::Place;
use super::{Dest, Lower};
use crate::emit::LabelId;
use crate::resolved::{Clause, Kind, Lambda, LocalId, Name, Node};
use ptc_bytecode::{BuiltinId, Inline, Op};

/// The use a loop makes of the function's result.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Higher {
    /// Collects every result.
    Map,
    /// Collects results that are not nil.
    Keep,
    /// Collects the elements with a true result.
    Filter,
    /// Collects the elements with a false result.
    Remove,
    /// Passes the result on with the next element.
    Reduce,
}

impl Higher {
    pub(super) fn of(name: &str, args: usize) -> Option<Higher> {
        Some(match (name, args) {
            ("map" | "mapv", 2) => Higher::Map,
            ("keep", 2) => Higher::Keep,
            ("filter" | "filterv", 2) => Higher::Filter,
            ("remove", 2) => Higher::Remove,
            ("reduce", 3) => Higher::Reduce,
            _ => return None,
        })
    }

    pub(super) fn params(self) -> usize {
        if self == Higher::Reduce { 2 } else { 1 }
    }
}

/// The function to run for each element.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) lambda: &'a Lambda<'a>,
    pub(super) clause: &'a Clause<'a>,
}

/// A loop over a collection.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    /// Function of the core library that it replaces.
    pub(super) id: BuiltinId,
    pub(super) higher: Higher,
    pub(super) body: Body<'a>,
    /// True if the accumulator may be what `reduced` gives.
    pub(super) may_stop: bool,
}

/// Registers such a loop keeps, without those of its body.
pub(super) const REGISTERS: usize = 16;

impl<'a> Lower<'_, 'a> {
    /// Inlines a call of such a function; None if it is to be called like any other.
    pub(super) fn higher(&mut self, id: BuiltinId, args: &'a [Node<'a>], dest: Dest) -> Option<u8> {
        let stage = Stage::of(id, args)?;
        let coll = args.last()?;
        if !self.is_finite(coll) || !self.regs.has_local_for(REGISTERS) {
            return None;
        }
        let init = stage.init(args);
        if let Some(pipeline) = self.pipeline(stage, coll) {
            return Some(self.scope(dest, |this, dest| this.fused(&pipeline, init, dest)));
        }
        Some(self.scope(dest, |this, dest| {
            let out = this.out_of(init);
            let src = this.regs.alloc();
            this.expr(coll, Dest::Into(src));
            this.each_inlined(stage, out, src, dest);
        }))
    }

    /// Takes a register for the vector under construction, or for the accumulator, which begins as `init`.
    pub(super) fn out_of(&mut self, init: Option<&'a Node<'a>>) -> u8 {
        let out = self.regs.alloc();
        if let Some(init) = init {
            self.expr(init, Dest::Into(out));
        }
        out
    }

    /// Writes the loop over the collection in `src`.
    pub(super) fn each_inlined(&mut self, stage: Stage<'a>, out: u8, src: u8, dest: Dest) {
        let Stage { id, higher, body, may_stop } = stage;
        let (refused, done) = (self.code.label(), self.code.label());
        self.code.jump(Op::JumpUnlessSeq { src, fuel: 0, to: 0 }, refused.id());
        let iter = self.regs.alloc();
        self.regs.skip(1);
        self.emit(Op::IterStart { iter, coll: src });
        if higher != Higher::Reduce {
            self.emit(Op::NewBuilder { dst: out });
        }
        let item = self.regs.alloc();
        self.each_item(higher, body, out, iter, item, may_stop);
        match higher {
            Higher::Reduce => self.deliver_loop(dest, out),
            _ => {
                let dst = self.target_reg(dest);
                self.emit(Op::BuildVector { dst, builder: out });
                self.deliver(dest, dst);
            }
        }
        self.code.jump(Op::Jump { to: 0 }, done.id());
        self.code.bind(refused);
        // Refusing a value that is not a collection needs no function.
        let n = if higher == Higher::Reduce { 3 } else { 2 };
        let base = self.regs.alloc();
        for i in 1..n {
            self.regs.alloc();
            self.emit(Op::LoadNil { dst: base + i });
        }
        let last = self.regs.alloc();
        self.emit(Op::Move { dst: last, src });
        let import = self.import_id(id);
        self.emit(Op::CallBuiltin { base, n, import });
        self.deliver_loop(dest, base);
        self.code.bind(done);
    }

    pub(super) fn deliver_loop(&mut self, dest: Dest, reg: u8) {
        if dest != Dest::Effect {
            self.deliver(dest, reg);
        }
    }

    /// Writes the loop: each element in `item`, the vector or accumulator in `out`. The accumulator may be what `reduced`
    /// gives only if the loop `may_stop`.
    fn each_item(&mut self, higher: Higher, body: Body<'a>, out: u8, iter: u8, item: u8, may_stop: bool) {
        self.enter_frame(body.lambda, body.clause.locals);
        let params = if higher == Higher::Reduce { &[out, item][..] } else { &[item] };
        for (place, reg) in self.frame.places.iter_mut().zip(params) {
            *place = Place::Reg(*reg);
        }
        let pins = self.pin(body.clause.body);
        let end = self.code.label();
        self.code.jump(Op::IterNext { dst: item, iter, fuel: 0, to: 0 }, end.id());
        let head = self.code.head();
        let mark = self.regs.mark();
        self.step(higher, body, out, item, may_stop.then_some(end.id()));
        self.regs.release(mark);
        self.code.jump(Op::IterBack { dst: item, iter, fuel: 0, to: 0 }, head);
        self.unpin(pins);
        self.leave_frame();
        self.code.bind(end);
    }

    /// Writes the step for one element. A value of `reduced` leads to `stop`.
    pub(super) fn step(&mut self, higher: Higher, body: Body<'a>, out: u8, item: u8, stop: Option<LabelId>) {
        match higher {
            Higher::Map => {
                let src = self.apply(body, Dest::Any);
                self.emit(Op::Push { builder: out, src });
            }
            Higher::Keep => {
                let src = self.apply(body, Dest::Any);
                let skip = self.code.label();
                self.code.jump(Op::JumpIfNil { src, fuel: 0, to: 0 }, skip.id());
                self.emit(Op::Push { builder: out, src });
                self.code.bind(skip);
            }
            Higher::Filter | Higher::Remove => {
                let skip = self.code.label();
                self.branch_applied(body, higher == Higher::Remove, skip.id());
                self.emit(Op::Push { builder: out, src: item });
                self.code.bind(skip);
            }
            Higher::Reduce => {
                let is_last = matches!(body.clause.body, [only] if writes_last(only));
                let reg = self.apply(body, if is_last { Dest::Into(out) } else { Dest::Any });
                if reg != out {
                    self.emit(Op::Move { dst: out, src: reg });
                }
                if let Some(stop) = stop {
                    self.stop_reduced(out, stop);
                }
            }
        }
    }

    /// Ends the loop at a value of `reduced`, with the value inside.
    fn stop_reduced(&mut self, out: u8, end: LabelId) {
        let Some(unreduced) = ptc_bytecode::lookup("unreduced") else { return };
        let go_on = self.code.label();
        self.code.jump(Op::JumpUnlessReduced { src: out, fuel: 0, to: 0 }, go_on.id());
        let base = self.regs.alloc();
        let arg = self.regs.alloc();
        self.emit(Op::Move { dst: arg, src: out });
        let import = self.import_id(unreduced);
        self.emit(Op::CallBuiltin { base, n: 1, import });
        self.emit(Op::Move { dst: out, src: base });
        self.code.jump(Op::Jump { to: 0 }, end);
        self.code.bind(go_on);
    }

    /// Computes the result of the function for one element.
    pub(super) fn apply(&mut self, body: Body<'a>, dest: Dest) -> u8 {
        self.body(body.clause.body, dest, body.lambda.span)
    }

    /// Jumps to `to` if the truth of the function for one element is `wanted`.
    pub(super) fn branch_applied(&mut self, body: Body<'a>, wanted: bool, to: LabelId) {
        let [before @ .., test] = body.clause.body else {
            // An empty body gives nil.
            if !wanted {
                self.code.jump(Op::Jump { to: 0 }, to);
            }
            return;
        };
        for node in before {
            self.effect(node);
        }
        if wanted { self.branch_if(test, to) } else { self.branch_unless(test, to) }
    }
}

impl<'a> Stage<'a> {
    /// Returns the loop for such a call, if its function is written there.
    pub(super) fn of(id: BuiltinId, args: &'a [Node<'a>]) -> Option<Stage<'a>> {
        let higher = Higher::of(id.row()?.name, args.len())?;
        let body = written(args.first()?, higher.params())?;
        let mut stage = Stage { id, higher, body, may_stop: true };
        stage.may_stop = !stage.init(args).is_some_and(|init| never_stops(init, body));
        Some(stage)
    }

    /// Returns the first accumulator, given the arguments.
    pub(super) fn init(&self, args: &'a [Node<'a>]) -> Option<&'a Node<'a>> {
        (self.higher == Higher::Reduce).then(|| args.get(1)).flatten()
    }
}

/// Returns the body of a literal function that takes exactly these parameters.
fn written<'a>(f: &Node<'a>, params: usize) -> Option<Body<'a>> {
    match f.kind {
        Kind::Fn(lambda) => match lambda.clauses {
            [clause]
                if clause.params() == params
                    && !clause.rest
                    && !clause.restarts
                    && !clause.body.iter().any(needs_frame) =>
            {
                Some(Body { lambda, clause })
            }
            _ => None,
        },
        _ => None,
    }
}

/// True if no accumulator of a fold is ever what `reduced` gives.
fn never_stops(init: &Node<'_>, body: Body<'_>) -> bool {
    // The accumulator, which a step may give back as it is.
    let kept = body.clause.locals.first().filter(|local| !local.assigned).map(|_| LocalId(0));
    is_never_reduced(init, None) && matches!(body.clause.body, [.., last] if is_never_reduced(last, kept))
}

/// True if a value is known not to come from `reduced`, if that is true of the local `kept`.
fn is_never_reduced(node: &Node<'_>, kept: Option<LocalId>) -> bool {
    let callee = match node.kind {
        Kind::Const(_) | Kind::Vector(_) | Kind::Map(_) | Kind::Set(_) | Kind::Fn(_) => return true,
        Kind::Name(Name::Local(local)) => return Some(local) == kept,
        Kind::Cond(items) => return results(items).all(|result| is_never_reduced(result, kept)),
        Kind::Do([.., last]) | Kind::Let(_, [.., last]) => return is_never_reduced(last, kept),
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, _) => id,
        _ => return false,
    };
    let Some(row) = callee.row() else { return false };
    COLLECTIONS.contains(&row.name)
        || row.inline.is_some_and(|inline| {
            !matches!(
                inline,
                Inline::Apply
                    | Inline::First
                    | Inline::Get
                    | Inline::Nth
                    | Inline::ParallelMap
                    | Inline::ParallelCalls
            )
        })
}

/// Builtins without an instruction of their own that give a collection or stop, of those with which programs build one.
const COLLECTIONS: &[&str] = &[
    "assoc-in",
    "concat",
    "disj",
    "dissoc",
    "filter",
    "filterv",
    "into",
    "map",
    "mapv",
    "merge",
    "merge-with",
    "remove",
    "set",
    "str",
    "update",
    "update-in",
    "update-vals",
    "vec",
];

/// True if a body refers to its own function, or exits it: then it cannot be inlined.
fn needs_frame(node: &Node<'_>) -> bool {
    match node.kind {
        Kind::Name(name) => name == Name::This,
        Kind::Exit(_) | Kind::Deliver(_) => true,
        Kind::Fn(lambda) => lambda.captures.contains(&Name::This),
        _ => {
            let mut found = false;
            node.for_each_child(|child| found |= needs_frame(child));
            found
        }
    }
}
