//! Lowering of calls: callee and arguments in consecutive registers, the result in place of the callee.

use super::regs::Mark;
use super::{Dest, Lower};
use crate::opt;
use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::{Op, lookup};

/// Maximum arguments passed in registers; more are collected first.
const MAX_ARGS: usize = 100;

impl<'a> Lower<'_, 'a> {
    pub(super) fn call(
        &mut self,
        node: &Node<'a>,
        callee: &Node<'a>,
        args: &'a [Node<'a>],
        dest: Dest,
    ) -> u8 {
        if self.code.optimize
            && let Some(value) = opt::fold(node, self.module.meter)
        {
            return self.folded(value, dest, |this, dest| this.call_unfolded(callee, args, dest));
        }
        self.call_unfolded(callee, args, dest)
    }

    fn call_unfolded(&mut self, callee: &Node<'a>, args: &'a [Node<'a>], dest: Dest) -> u8 {
        let n = args.len() as u8;
        match callee.kind {
            Kind::Name(Name::Builtin(id)) => {
                if let Some(reg) = id.row().and_then(|row| self.inline(row.inline?, args, dest)) {
                    return reg;
                }
                if let Some(reg) = self.higher(id, args, dest) {
                    return reg;
                }
                if args.len() <= MAX_ARGS {
                    let import = self.import_id(id);
                    return self.call_named(args, dest, |base| Op::CallBuiltin { base, n, import });
                }
            }
            Kind::Const(Constant::Keyword(name)) if args.len() == 1 => {
                return self.get_key(&args[0], Constant::Keyword(name), dest);
            }
            Kind::Const(Constant::Keyword(_)) if args.len() == 2 => {
                if let Some(get) = lookup("get") {
                    let import = self.import_id(get);
                    let all = [&args[0], callee, &args[1]];
                    return self.call_with(1, all.into_iter(), dest, |base| Op::CallBuiltin {
                        base,
                        n: 3,
                        import,
                    });
                }
            }
            Kind::Name(Name::Def(def)) if args.len() <= MAX_ARGS => {
                return self.call_named(args, dest, |base| Op::CallDef { base, n, def: def.0 });
            }
            Kind::Name(Name::Tool(tool)) if args.len() <= MAX_ARGS => {
                return self.call_named(args, dest, |base| Op::CallTool { base, n, tool: tool.0 });
            }
            _ => {}
        }
        if args.len() > MAX_ARGS {
            return self.call_spread(callee, args, dest);
        }
        self.call_with(0, std::iter::once(callee).chain(args), dest, |base| Op::Call { base, n })
    }

    /// Lowers a call whose instruction names the callee.
    fn call_named(&mut self, args: &'a [Node<'a>], dest: Dest, op: impl FnOnce(u8) -> Op) -> u8 {
        self.call_with(1, args.iter(), dest, op)
    }

    /// Computes `nodes` after `lead` registers at the base, then calls.
    pub(super) fn call_with<'n>(
        &mut self,
        lead: usize,
        nodes: impl Iterator<Item = &'n Node<'a>> + Clone,
        dest: Dest,
        op: impl FnOnce(u8) -> Op,
    ) -> u8
    where
        'a: 'n,
    {
        let mark = self.call_base(dest);
        let base = self.run_behind(lead, nodes);
        self.emit(op(base));
        self.end_call(mark, base, dest)
    }

    /// Opens a call. If the result belongs in the topmost register, that becomes the base, which saves a move.
    pub(super) fn call_base(&mut self, dest: Dest) -> Mark {
        let mark = self.regs.mark();
        if let Dest::Into(reg) = dest {
            self.regs.give_back(reg);
        }
        mark
    }

    pub(super) fn end_call(&mut self, mark: Mark, base: u8, dest: Dest) -> u8 {
        self.regs.release(mark);
        if dest == Dest::Any {
            self.regs.reserve(base);
        }
        self.deliver(dest, base)
    }

    /// Lowers a call with too many arguments for registers: collects them and applies the callee to the collection.
    fn call_spread(&mut self, callee: &Node<'a>, args: &'a [Node<'a>], dest: Dest) -> u8 {
        let mark = self.call_base(dest);
        let base = self.regs.peek();
        if self.regs.can_hold(2) {
            self.regs.alloc();
            self.expr(callee, Dest::Into(base));
            let builder = self.build(args.iter());
            self.emit(Op::BuildVector { dst: builder, builder });
        } else {
            let slot = self.stash(callee);
            self.regs.alloc();
            let builder = self.build(args.iter());
            self.emit(Op::BuildVector { dst: builder, builder });
            self.emit(Op::LoadWide { dst: base, slot });
        }
        self.emit(Op::Apply { base, n: 1 });
        self.end_call(mark, base, dest)
    }
}
