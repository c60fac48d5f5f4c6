//! Fusion of pipelines: `(reduce f init (map g (filter h coll)))` and the like as one loop that makes no vectors in between.
//!
//! The loop computes the same, but in another order: all functions for the first element, then all for the second. That
//! would show if a function had effects, so functions that may have effects are not fused. It would also show if a
//! function faulted, or if fuel ran out half way. So the loop is an [attempt](Op::Attempt): the loops that the program
//! wrote follow it, and run instead whenever something goes wrong. Both cost the same fuel.

use super::higher::{Body, Higher, REGISTERS, Stage};
use super::regs::Place;
use super::{Dest, Lower};
use crate::emit::LabelId;
use crate::resolved::{Constant, Kind, LocalId, Name, Node};
use ptc_bytecode::{Effect, Inline, Op, Span};

/// Maximum loops that are fused.
const MOST_STAGES: usize = 4;

/// Maximum nodes of all functions together. They are written twice, and their registers add up.
const MOST_NODES: usize = 60;

/// Maximum fields tested by a loop that the machine runs as a whole.
const TESTED_FIELDS: usize = 4;

/// Loops, each of which takes the elements that the next one gives; the outermost comes first.
pub(super) struct Pipeline<'a> {
    stages: Vec<(Stage<'a>, Option<Span>)>,
    /// Collection that the innermost loop walks.
    source: &'a Node<'a>,
}

impl<'a> Lower<'_, 'a> {
    /// Returns the loops to fuse with the outermost one, if there are any.
    pub(super) fn pipeline(&mut self, outermost: Stage<'a>, coll: &'a Node<'a>) -> Option<Pipeline<'a>> {
        if !self.code.optimize || (outermost.higher == Higher::Reduce && outermost.may_stop) {
            return None;
        }
        let mut nodes = 0;
        let mut pure = |stage: &Stage<'a>| {
            let locals = stage.body.clause.locals;
            !locals.iter().any(|local| local.assigned)
                && stage.body.clause.body.iter().all(|node| is_pure(node, &mut nodes))
        };
        if !pure(&outermost) {
            return None;
        }
        let mut pipeline = Pipeline { stages: vec![(outermost, None)], source: coll };
        while pipeline.stages.len() < MOST_STAGES
            && let Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) = pipeline.source.kind
            && let Some(stage) = Stage::of(*id, args).filter(|stage| stage.higher != Higher::Reduce)
            && let Some(coll) = args.last()
            && pure(&stage)
        {
            pipeline.stages.push((stage, Some(pipeline.source.span)));
            let whole = std::mem::replace(&mut pipeline.source, coll);
            // The machine runs such a loop faster than this one would.
            if selects_records(&stage) {
                pipeline.stages.pop();
                pipeline.source = whole;
                break;
            }
        }
        let _ = self.module.meter.pay(nodes);
        let count = pipeline.stages.len();
        let fits =
            count > 1 && nodes <= MOST_NODES && self.regs.has_local_for(REGISTERS * count / 2 + MOST_NODES);
        (fits && self.is_finite(pipeline.source)).then_some(pipeline)
    }

    /// Writes the attempt, and after it the loops one by one.
    pub(super) fn fused(&mut self, pipeline: &Pipeline<'a>, init: Option<&'a Node<'a>>, dest: Dest) {
        let given = self.out_of(init);
        let src = self.regs.alloc();
        self.expr(pipeline.source, Dest::Into(src));
        let (usual, done) = (self.code.label(), self.code.label());
        self.code.jump(Op::Attempt { fuel: 0, to: 0 }, usual.id());
        let mark = self.regs.mark();
        self.one_loop(pipeline, init.map(|_| given), src, dest);
        self.code.jump(Op::Jump { to: 0 }, done.id());
        self.code.bind(usual);
        self.regs.release(mark);
        self.loops(&pipeline.stages, given, src, dest);
        self.code.bind(done);
    }

    /// Writes the loops as the program has them: the outermost one and those whose result it walks.
    fn loops(&mut self, stages: &[(Stage<'a>, Option<Span>)], out: u8, source: u8, dest: Dest) {
        let [(stage, _), inner @ ..] = stages else { return };
        let src = match inner {
            [] => source,
            [(_, span), ..] => {
                let src = self.regs.alloc();
                self.at(span.unwrap_or_default(), |this| {
                    this.scope(Dest::Into(src), |this, dest| {
                        let out = this.regs.alloc();
                        this.loops(inner, out, source, dest);
                    })
                });
                src
            }
        };
        self.each_inlined(*stage, out, src, dest);
    }

    /// Writes the loop that does the work of all.
    fn one_loop(&mut self, pipeline: &Pipeline<'a>, init: Option<u8>, src: u8, dest: Dest) {
        let inner = pipeline.stages.len() as u32 - 1;
        let collects = |stage: &Stage<'a>| stage.higher != Higher::Reduce;
        let iter = self.regs.alloc();
        self.regs.skip(1);
        let (out, item) = (self.regs.alloc(), self.regs.alloc());
        let (start, next) =
            (Op::IterStart { iter, coll: src }, Op::IterNext { dst: item, iter, fuel: 0, to: 0 });
        let (new, built) = (Op::NewBuilder { dst: out }, Op::BuildVector { dst: out, builder: out });
        // Every loop pays this before its first element; the attempt has paid for the first test of the innermost one.
        let test = Op::JumpUnlessSeq { src, fuel: 0, to: 0 }.cost();
        self.code.charge(inner * test);
        for (stage, _) in &pipeline.stages {
            self.code.charge(start.cost() + next.cost() + if collects(stage) { new.cost() } else { 0 });
        }
        self.code.emit_paid(start);
        self.code.emit_paid(init.map_or(new, |init| Op::Move { dst: out, src: init }));
        let pins: Vec<_> = pipeline.stages.iter().map(|(stage, _)| self.pins_of(stage.body)).collect();
        let (end, skip) = (self.code.label(), self.code.label());
        self.code.jump_paid(next, end.id());
        let head = self.code.head();
        let mark = self.regs.mark();
        let mut value = item;
        for (i, (stage, _)) in pipeline.stages.iter().enumerate().rev() {
            let outer = self.pins.len();
            self.pins.extend_from_slice(&pins[i]);
            value = self.one_step(stage, out, value, i == 0, skip.id());
            self.pins.truncate(outer);
        }
        self.code.bind(skip);
        self.regs.release(mark);
        self.code.jump(Op::IterBack { dst: item, iter, fuel: 0, to: 0 }, head);
        self.code.bind(end);
        // Behind its last element, every loop builds its vector and passes the call that is not needed.
        self.code.charge(inner * (built.cost() + Op::Jump { to: 0 }.cost()));
        match init {
            Some(_) => self.deliver_loop(dest, out),
            None => {
                let dst = self.target_reg(dest);
                self.emit(Op::BuildVector { dst, builder: out });
                self.deliver(dest, dst);
            }
        }
    }

    /// Writes what a loop does with the element in `item`, and returns the register of what it passes on. An element that is
    /// not passed on leads to `skip`.
    fn one_step(&mut self, stage: &Stage<'a>, out: u8, item: u8, is_outermost: bool, skip: LabelId) -> u8 {
        let Body { lambda, clause } = stage.body;
        self.enter_frame(lambda, clause.locals);
        let params = if stage.higher == Higher::Reduce { &[out, item][..] } else { &[item] };
        for (place, reg) in self.frame.places.iter_mut().zip(params) {
            *place = Place::Reg(*reg);
        }
        let passed = match stage.higher {
            Higher::Reduce => {
                self.step(stage.higher, stage.body, out, item, None);
                out
            }
            Higher::Map => self.apply(stage.body, Dest::Any),
            Higher::Keep => {
                let src = self.apply(stage.body, Dest::Any);
                self.code.jump(Op::JumpIfNil { src, fuel: 0, to: 0 }, skip);
                src
            }
            Higher::Filter | Higher::Remove => {
                self.branch_applied(stage.body, stage.higher == Higher::Remove, skip);
                item
            }
        };
        self.leave_frame();
        let push = Op::Push { builder: out, src: passed };
        match is_outermost {
            true if stage.higher == Higher::Reduce => {}
            true => self.emit(push),
            // The loop would have put it into its vector, and the next one taken it from there.
            false => {
                let back = Op::IterBack { dst: item, iter: 0, fuel: 0, to: 0 };
                self.code.charge(push.cost() + back.cost());
            }
        }
        passed
    }

    /// Loads the constants that a function pins, and returns them with their registers.
    fn pins_of(&mut self, body: Body<'a>) -> Vec<(Constant<'a>, u8)> {
        let outer = self.pin(body.clause.body);
        self.pins.split_off(outer)
    }
}

/// True if a node neither has nor sees effects, and calls nothing that the program wrote. Counts its nodes.
fn is_pure(node: &Node<'_>, nodes: &mut usize) -> bool {
    *nodes += 1;
    let is_known = match node.kind {
        Kind::Const(_) | Kind::Name(Name::Local(_) | Name::Capture(_) | Name::Def(_) | Name::Data(_)) => {
            return true;
        }
        Kind::Vector(_) | Kind::Map(_) | Kind::Set(_) | Kind::Cond(_) | Kind::And(_) | Kind::Or(_) => true,
        Kind::Do(_) | Kind::Let(..) => true,
        Kind::Call(Node { kind: Kind::Const(Constant::Keyword(_)), .. }, args) => {
            return args.iter().all(|arg| is_pure(arg, nodes));
        }
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) => {
            let is_own = id.row().is_some_and(|row| {
                let calls = matches!(
                    row.inline,
                    Some(
                        Inline::Apply
                            | Inline::ParallelMap
                            | Inline::ParallelCalls
                            | Inline::NewBuilder
                            | Inline::Push
                    )
                );
                row.effect == Effect::Pure && row.body == ptc_bytecode::Body::Native && !calls
            });
            return is_own && args.iter().all(|arg| is_pure(arg, nodes));
        }
        _ => false,
    };
    let mut is_pure_inside = is_known;
    node.for_each_child(|child| is_pure_inside = is_pure_inside && is_pure(child, nodes));
    is_pure_inside
}

/// True if a loop keeps records by tests of their fields, which the machine does for many records at once.
fn selects_records(stage: &Stage<'_>) -> bool {
    let is_field = |node: &Node<'_>| match node.kind {
        Kind::Call(Node { kind: Kind::Const(Constant::Keyword(_)), .. }, [record]) => {
            matches!(record.kind, Kind::Name(Name::Local(LocalId(0))))
        }
        _ => false,
    };
    let is_test = |node: &Node<'_>| match node.kind {
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, [a, b]) => {
            let inline = id.row().and_then(|row| row.inline);
            let compares = matches!(
                inline,
                Some(Inline::Less | Inline::LessEq | Inline::Greater | Inline::GreaterEq | Inline::Eq)
            );
            compares && (is_field(a) || is_field(b))
        }
        _ => is_field(node),
    };
    stage.higher == Higher::Filter
        && match stage.body.clause.body {
            [Node { kind: Kind::And(tests), .. }] => {
                tests.len() <= TESTED_FIELDS && tests.iter().all(is_test)
            }
            [test] => is_test(test),
            _ => false,
        }
}
