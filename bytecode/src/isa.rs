//! The instruction set: one table, read by the encoder, the verifier, the listing, the compiler,
//! the VM and the reference page.
//!
//! **Registers.** A frame sees a window of 256 registers. `r0` holds the function being run, so a
//! function finds itself and its captures there; `r1…` hold its arguments. A call puts the callee
//! in `base` and its arguments after it; the callee's window starts at `base`, so arguments are
//! not copied, and the result is left in `base`. Frames larger than a window keep the rest in wide
//! slots (`LoadWide`, `StoreWide`).
//!
//! **Fuel.** Each basic block is paid for when it is entered: by the `Enter` at its head, or, for a
//! block that only follows a conditional jump, by the `fuel` operand of that jump. The price is set
//! before any optimisation, so it is the same with and without; the verifier checks that it covers
//! the instructions of the block. Natives pay for their own work on top.

use serde::{Deserialize, Serialize};

/// Calls `$callback!` with every row of the instruction table.
///
/// A row is `/// doc` lines, then `Name { operand: Type Role, … } cost n;`. Roles: `In` is read,
/// `Out` is written, `InOut` both, `At` anything else (ids, targets, numbers). `Base` is a register
/// that starts a call or a run of registers, read together with the count that follows it. A `fuel`
/// that is `Small` is what a conditional jump pays when it goes on. Behind the cost stand `ends` if control
/// never goes on to the next instruction, and `back` if its jump leads to an earlier place.
macro_rules! for_each_op {
    ($callback:ident) => {
        $callback! {
            /// Pays `fuel` for the block that starts here; a safepoint. Faults `fuel_exceeded`,
            /// `timeout`, `cancelled`.
            Enter { fuel: Fuel At } cost 0;
            /// Continues at `to`.
            Jump { to: Target At } cost 1 ends;
            /// The back edge of a loop: `dst ← src`, then continues at `to`, an earlier place. `count` holds
            /// the jumps made so far, which only matters when `limits.loop_iterations` is set; a loop that
            /// needs no copy names `count` three times.
            Again { count: Reg InOut, dst: Reg Out, src: Reg In, to: Target At } cost 1 ends back;
            /// As `Again`, where `src` is not read afterwards. Like all `…Last` instructions, it is not made by the compiler:
            /// linking replaces an equivalent instruction with it, see `last_use.rs`.
            AgainLast { count: Reg InOut, dst: Reg Out, src: Reg In, to: Target At } cost 1 ends back;
            /// Continues at `to` if `test` is neither nil nor false; else pays `fuel` and continues with the next instruction.
            JumpIf { test: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` if `test` is nil or false; else pays `fuel` and continues with the next instruction.
            JumpUnless { test: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` if `src` is nil.
            JumpIfNil { src: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `src` can be walked from one end to the other: it is nil, a string or a
            /// collection. For loops that replace a walk by the core library.
            JumpUnlessSeq { src: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `src` is what `reduced` gives.
            JumpUnlessReduced { src: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `a < b`. `Less` and `JumpUnless` in one.
            JumpUnlessLess { a: Reg In, b: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `a <= b`.
            JumpUnlessLessEq { a: Reg In, b: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `a = b`.
            JumpUnlessEq { a: Reg In, b: Reg In, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `a < imm`.
            JumpUnlessLessInt { a: Reg In, imm: Int8 At, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `a > imm`.
            JumpUnlessGreaterInt { a: Reg In, imm: Int8 At, fuel: Small At, to: Target At } cost 1;
            /// Continues at `to` unless `a = imm`.
            JumpUnlessEqInt { a: Reg In, imm: Int8 At, fuel: Small At, to: Target At } cost 1;
            /// Begins an attempt: the instructions from here up to `to`, which do the work of those after `to` in another order.
            /// If one of them faults, or fuel runs out, the fuel they spent is given back and the run continues at `to`, so that
            /// the fault is that of the usual order. Its own price is given back too. While more fuel has been given back than
            /// spent, no attempt begins: the run continues at `to` at once.
            Attempt { fuel: Small At, to: Target At } cost 1;
            /// Leaves the function with `src`.
            Return { src: Reg In } cost 1 ends;
            /// Leaves the function with `src`, which goes where the caller's instruction needs it. For a call,
            /// this is the same as `Return`. But some instructions leave their work to a function of the core
            /// library when they meet an endless sequence: `First` and `Nth` get `src` in `dst`; `IterNext` and
            /// `IterBack` get it as their sequence, and run again.
            Deliver { src: Reg In } cost 1 ends;
            /// Ends the whole run with `src`: `(return v)`.
            Finish { src: Reg In } cost 1 ends;
            /// Ends the whole run as a declared failure: `(fail v)`.
            Fail { src: Reg In } cost 1 ends;
            /// Stops with the exception in `src`, which the innermost active `Try` catches. Faults `type_error` if `src` is not
            /// an exception, and `uncaught_exception` if nothing catches it.
            Throw { src: Reg In } cost 1 ends;

            /// `dst ← src`.
            Move { dst: Reg Out, src: Reg In } cost 1;
            /// As `Move`, where `src` is not read afterwards, or is read by a builtin that only looks.
            MoveLast { dst: Reg Out, src: Reg In } cost 1;
            /// `dst ← nil`.
            LoadNil { dst: Reg Out } cost 1;
            /// `dst ← true` or `false`.
            LoadBool { dst: Reg Out, value: Flag At } cost 1;
            /// `dst ←` a small integer.
            LoadInt { dst: Reg Out, value: Int32 At } cost 1;
            /// `dst ←` a constant of this module.
            Const { dst: Reg Out, id: ConstId At } cost 1;
            /// `dst ←` the wide slot. For frames with more than 256 locals.
            LoadWide { dst: Reg Out, slot: Slot At } cost 1;
            /// The wide slot `← src`.
            StoreWide { slot: Slot At, src: Reg In } cost 1;
            /// `dst ←` a value the running closure captured.
            Capture { dst: Reg Out, index: Slot At } cost 1;
            /// `dst ←` a definition of the session. Faults `unbound_var` if it has no value yet.
            GetDef { dst: Reg Out, def: DefId At } cost 1;
            /// The definition `← src`, taking effect at once; committed when the turn succeeds.
            SetDef { def: DefId At, src: Reg In } cost 1;
            /// `dst ←` whether the definition has a value: `defonce`.
            HasDef { dst: Reg Out, def: DefId At } cost 1;
            /// `dst ←` the var itself: what `(def x …)` and `#'x` give.
            LoadVar { dst: Reg Out, def: DefId At } cost 1;
            /// `dst ←` granted data: `data/x`. Faults when absent; nil if the host asked for that.
            GetData { dst: Reg Out, key: ConstId At } cost 2;
            /// `dst ←` an earlier result: `*1`, `*2`, `*3`. Faults `unbound_var` if it was not kept.
            GetHistory { dst: Reg Out, nth: Small At } cost 1;
            /// `dst ←` a builtin as a value.
            LoadBuiltin { dst: Reg Out, import: ImportId At } cost 1;
            /// `dst ←` a tool as a value.
            LoadTool { dst: Reg Out, tool: ToolId At } cost 1;
            /// `dst ←` a closure over `n` values starting at `first`.
            MakeClosure { dst: Reg Out, first: Base In, n: Small At, code: CodeId At } cost 2;

            /// Calls the value in `base` with the `n` values after it; the result replaces `base`.
            /// Faults `not_callable`, `arity_mismatch`, `arity_error`, `stack_exceeded`.
            Call { base: Callee InOut, n: Small At } cost 3;
            /// `base ← def`, then as `Call`.
            CallDef { base: Args InOut, n: Small At, def: DefId At } cost 3;
            /// `base ← builtin`, then as `Call`.
            CallBuiltin { base: Args InOut, n: Small At, import: ImportId At } cost 2;
            /// Suspends the run until the host supplies the result, which replaces `base`.
            CallTool { base: Args InOut, n: Small At, tool: ToolId At } cost 10;
            /// As `Call`, but the last of the `n` arguments is a collection of further arguments.
            Apply { base: Callee InOut, n: Small At } cost 4;
            /// Calls the function in `base`, which takes no arguments (`n` is 0); the result replaces `base`. If it stops with a
            /// fault that may be caught, the exception replaces `base`, and the run continues at `to`. An `Enter` follows, so each
            /// path pays for itself.
            Try { base: Callee InOut, n: Small At, to: Target At } cost 4;
            /// Calls `f` once per element of `items` in parallel branches: `pmap`. Suspends until
            /// all have ended; `dst ←` their values in order.
            ParallelMap { dst: Reg Out, f: Reg In, items: Reg In } cost 10;
            /// Calls each function of `items` in parallel branches: `pcalls`.
            ParallelCalls { dst: Reg Out, items: Reg In } cost 10;

            /// `dst ← a + b`. Faults `type_error`.
            Add { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← a - b`. Faults `type_error`.
            Sub { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← a * b`. Faults `type_error`.
            Mul { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← a / b`, always a float. Faults `type_error`, `arithmetic_error`.
            Div { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ←` quotient cut toward zero. Faults `type_error`, `arithmetic_error`.
            Quot { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ←` remainder with the sign of `a`. Faults `type_error`, `arithmetic_error`.
            Rem { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ←` modulus with the sign of `b`. Faults `type_error`, `arithmetic_error`.
            Mod { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← a + imm`: `inc`, `dec` and sums with a small literal. Faults `type_error`; the message
            /// names the program's form: `said` is 0 for `(+ a imm)`, 1 for `(+ imm a)`, 2 for `(- a imm)`,
            /// 3 for `inc`, 4 for `dec`.
            AddInt { dst: Reg Out, a: Reg In, said: Small At, imm: Int32 At } cost 1;
            /// `dst ← a < b`; false between kinds.
            Less { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← a <= b`; false between kinds.
            LessEq { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← a = b`; 1 and 1.0 are equal.
            Eq { dst: Reg Out, a: Reg In, b: Reg In } cost 1;
            /// `dst ← not a`.
            Not { dst: Reg Out, a: Reg In } cost 1;
            /// `dst ← a is nil`.
            IsNil { dst: Reg Out, a: Reg In } cost 1;

            /// `dst ← coll[key]` with flexible keys, nil when absent: `(get coll key)`.
            Get { dst: Reg Out, coll: Reg In, key: Reg In } cost 2;
            /// `dst ← coll[key]` with a constant key: `(:name row)`.
            GetKey { dst: Reg Out, coll: Reg In, key: ConstId At } cost 2;
            /// `dst ←` the element at `index` of any sequence, nil when out of range: `(nth coll i)`.
            Nth { dst: Reg Out, coll: Reg In, index: Reg In } cost 2;
            /// `dst ←` the first element, or nil.
            First { dst: Reg Out, coll: Reg In } cost 2;
            /// `dst ←` the number of elements.
            Count { dst: Reg Out, coll: Reg In } cost 2;
            /// `dst ← coll` with `key` set to the register after it: `(assoc coll k v)`.
            Assoc { dst: Reg Out, coll: Reg In, key: Pair In } cost 3;
            /// As `Assoc`, where `coll` is not read afterwards: it is changed in place if nothing else refers to it.
            AssocLast { dst: Reg Out, coll: Reg In, key: Pair In } cost 3;
            /// `dst ← coll` with `item` added: `(conj coll x)`.
            Conj { dst: Reg Out, coll: Reg In, item: Reg In } cost 3;
            /// As `Conj`, where `coll` is not read afterwards: it is changed in place if nothing else refers to it.
            ConjLast { dst: Reg Out, coll: Reg In, item: Reg In } cost 3;

            /// `dst ←` a vector of `n` registers starting at `first`.
            NewVector { dst: Reg Out, first: Base In, n: Small At } cost 2;
            /// `dst ←` a map of `n` registers starting at `first`, keys and values in turn.
            NewMap { dst: Reg Out, first: Base In, n: Small At } cost 2;
            /// `dst ←` a map with constant keys (`id` is a `Const::Keys` with `n` of them) and the
            /// values of `n` registers starting at `first`.
            NewRecord { dst: Reg Out, first: Base In, n: Small At, id: ConstId At } cost 2;
            /// `dst ←` a set of `n` registers starting at `first`.
            NewSet { dst: Reg Out, first: Base In, n: Small At } cost 2;

            /// `dst ←` an empty builder, a vector that may still be appended to. Never escapes the
            /// function that made it.
            NewBuilder { dst: Reg Out } cost 2;
            /// Appends `src` to a builder.
            Push { builder: Reg InOut, src: Reg In } cost 1;
            /// `dst ←` the builder's items as a vector; the builder is used up.
            BuildVector { dst: Reg Out, builder: Reg In } cost 1;
            /// `dst ←` a map of the builder's items, keys and values in turn; later ones win.
            BuildMap { dst: Reg Out, builder: Reg In } cost 1;
            /// `dst ←` a set of the builder's items.
            BuildSet { dst: Reg Out, builder: Reg In } cost 1;
            /// Starts iterating: the register `iter ←` `coll` in a form that can be walked, the one
            /// after it `←` a cursor. Faults `type_error` if `coll` is not seqable.
            IterStart { iter: PairOut Out, coll: Reg In } cost 2;
            /// `dst ←` the next element, or continues at `to` when there is none.
            IterNext { dst: Reg Out, iter: PairIn InOut, fuel: Small At, to: Target At } cost 2;
            /// The back edge of such a loop: `dst ←` the next element, then continues at `to`, an earlier
            /// place. When there is none, pays `fuel` and continues with the next instruction.
            IterBack { dst: Reg Out, iter: PairIn InOut, fuel: Small At, to: Target At } cost 2 back;
        }
    };
}

macro_rules! define_op {
    ($($(#[doc = $doc:literal])* $name:ident { $($field:ident: $type:ident $role:ident),* } cost $cost:literal $($fact:ident)*;)*) => {
        /// One instruction. Rows and operand roles are in `for_each_op!`.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)] // the rows document the operands
        pub enum Op {
            $($(#[doc = $doc])* $name { $($field: operand!($type)),* },)*
        }

        /// An instruction as the reference page and the fingerprint know it.
        #[derive(Clone, Copy, Debug)]
        pub struct OpRow {
            /// Name of the variant of [`Op`].
            pub name: &'static str,
            /// Operands: name, type, role.
            pub operands: &'static [(&'static str, &'static str, &'static str)],
            /// Fuel it costs its block.
            pub cost: u32,
            /// Description of the effect.
            pub doc: &'static str,
        }

        /// The instruction table as data.
        pub const OPS: &[OpRow] = &[
            $(OpRow {
                name: stringify!($name),
                operands: &[$((stringify!($field), stringify!($type), stringify!($role))),*],
                cost: $cost,
                doc: concat!($($doc, "\n",)*),
            },)*
        ];

        impl Op {
            /// Returns the name as in the table.
            pub fn name(&self) -> &'static str {
                match self { $(Op::$name { .. } => stringify!($name),)* }
            }

            /// Returns the fuel this instruction costs its block.
            pub fn cost(&self) -> u32 {
                match self { $(Op::$name { .. } => $cost,)* }
            }

            /// Calls `visit` with every operand in order, typed by its meaning.
            pub fn operands(&self, mut visit: impl FnMut(&'static str, Operand)) {
                match *self {
                    $(Op::$name { $($field),* } => { $(visit(stringify!($field), operand_value!($type $role $field));)* })*
                }
            }
        }

        impl Op {
            /// True if control never goes on to the next instruction.
            pub fn ends_block(&self) -> bool {
                match self { $(Op::$name { .. } => false $(|| fact!(ends $fact))*,)* }
            }

            /// True if its jump leads to an earlier place.
            pub(crate) fn is_back_edge(&self) -> bool {
                match self { $(Op::$name { .. } => false $(|| fact!(back $fact))*,)* }
            }

            /// Returns the fuel this conditional jump pays when it falls through, to be set; None for other
            /// instructions.
            #[allow(unused_variables)] // most operands are something else
            pub fn fall_through_fuel_mut(&mut self) -> Option<&mut u8> {
                match self { $(Op::$name { $($field),* } => fall_through!($($field $field $type,)*),)* }
            }

            #[allow(unused_variables)] // most operands are something else
            fn target_mut(&mut self) -> Option<&mut u32> {
                match self { $(Op::$name { $($field),* } => target!($($field $type,)*),)* }
            }
        }

        impl Op {
            /// Returns a copy with every table id (constants, functions, definitions, imports, tools) replaced by
            /// `new_id` of it.
            pub(crate) fn with_ids(self, mut new_id: impl FnMut(Operand) -> u32) -> Op {
                match self {
                    $(Op::$name { $($field),* } => Op::$name { $($field: renumbered!($type $field new_id)),* },)*
                }
            }
        }
    };
}

macro_rules! fact {
    (ends ends) => {
        true
    };
    (back back) => {
        true
    };
    ($asked:ident $has:ident) => {
        false
    };
}

/// Picks the fuel among the operands of a conditional jump.
macro_rules! fall_through {
    () => { None };
    (fuel $x:ident Small, $($rest:tt)*) => { Some($x) };
    ($name:ident $x:ident $type:ident, $($rest:tt)*) => { fall_through!($($rest)*) };
}

/// Picks the target among the operands of a jump.
macro_rules! target {
    () => { None };
    ($x:ident Target, $($rest:tt)*) => { Some($x) };
    ($x:ident $type:ident, $($rest:tt)*) => { target!($($rest)*) };
}

/// Renumbers an operand that is an id of a table; other operands stay as they are.
macro_rules! renumbered {
    (ConstId $x:ident $new:ident) => {
        $new(Operand::Const($x))
    };
    (CodeId $x:ident $new:ident) => {
        $new(Operand::Code($x))
    };
    (DefId $x:ident $new:ident) => {
        $new(Operand::Def($x))
    };
    (ImportId $x:ident $new:ident) => {
        $new(Operand::Import($x))
    };
    (ToolId $x:ident $new:ident) => {
        $new(Operand::Tool($x))
    };
    ($other:ident $x:ident $new:ident) => {
        $x
    };
}

/// Maps an operand type of the table to its Rust type.
macro_rules! operand {
    (Reg) => {
        u8
    };
    (Base) => {
        u8
    };
    (Callee) => {
        u8
    };
    (Args) => {
        u8
    };
    (Pair) => {
        u8
    };
    (PairIn) => {
        u8
    };
    (PairOut) => {
        u8
    };
    (Small) => {
        u8
    };
    (Flag) => {
        bool
    };
    (Int8) => {
        i8
    };
    (Int32) => {
        i32
    };
    (Slot) => {
        u16
    };
    (Fuel) => {
        u32
    };
    (Target) => {
        u32
    };
    (ConstId) => {
        u32
    };
    (CodeId) => {
        u32
    };
    (DefId) => {
        u32
    };
    (ImportId) => {
        u32
    };
    (ToolId) => {
        u32
    };
}

macro_rules! operand_value {
    (Reg In $x:ident) => {
        Operand::Read($x)
    };
    (Reg Out $x:ident) => {
        Operand::Write($x)
    };
    (Reg InOut $x:ident) => {
        Operand::ReadWrite($x)
    };
    (Base In $x:ident) => {
        Operand::ReadRun($x)
    };
    (Callee InOut $x:ident) => {
        Operand::Callee($x)
    };
    (Args InOut $x:ident) => {
        Operand::Args($x)
    };
    (Pair In $x:ident) => {
        Operand::ReadPair($x)
    };
    (PairIn InOut $x:ident) => {
        Operand::ReadWritePair($x)
    };
    (PairOut Out $x:ident) => {
        Operand::WritePair($x)
    };
    (Small At $x:ident) => {
        Operand::Small($x)
    };
    (Flag At $x:ident) => {
        Operand::Flag($x)
    };
    (Int8 At $x:ident) => {
        Operand::Int($x as i64)
    };
    (Int32 At $x:ident) => {
        Operand::Int($x as i64)
    };
    (Slot At $x:ident) => {
        Operand::Slot($x)
    };
    (Fuel At $x:ident) => {
        Operand::Fuel($x)
    };
    (Target At $x:ident) => {
        Operand::Target($x)
    };
    (ConstId At $x:ident) => {
        Operand::Const($x)
    };
    (CodeId At $x:ident) => {
        Operand::Code($x)
    };
    (DefId At $x:ident) => {
        Operand::Def($x)
    };
    (ImportId At $x:ident) => {
        Operand::Import($x)
    };
    (ToolId At $x:ident) => {
        Operand::Tool($x)
    };
}

/// One operand with its meaning, for the verifier, the listing and liveness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register that is read.
    Read(u8),
    /// A register that is written.
    Write(u8),
    /// A register that is read and written.
    ReadWrite(u8),
    /// First of a run of registers that are read; the `Small` operand `n` is their number.
    ReadRun(u8),
    /// A callee register with `n` arguments after it, all read; the register itself is written,
    /// the argument registers are left undefined.
    Callee(u8),
    /// A callee register like [`Operand::Callee`], but only written itself.
    Args(u8),
    /// A register and the next, both read.
    ReadPair(u8),
    /// A register and the next, both read and written.
    ReadWritePair(u8),
    /// A register and the next, both written.
    WritePair(u8),
    /// A small number: a count, or the fuel of a fall-through.
    Small(u8),
    /// A boolean in the instruction.
    Flag(bool),
    /// An integer in the instruction.
    Int(i64),
    /// Index of a wide slot or a capture.
    Slot(u16),
    /// The price of a block.
    Fuel(u32),
    /// An instruction of the same code block.
    Target(u32),
    /// A constant of the module.
    Const(u32),
    /// A code block of the module.
    Code(u32),
    /// A definition the module names.
    Def(u32),
    /// A builtin the module imports.
    Import(u32),
    /// A tool the module names.
    Tool(u32),
}

for_each_op!(define_op);

const _: () = assert!(size_of::<Op>() == 8, "instructions are one word");

impl Op {
    /// Returns the target of its jump, if it is one.
    pub fn target(mut self) -> Option<u32> {
        self.target_mut().copied()
    }

    /// Returns the fuel this conditional jump pays when it falls through; None for other instructions.
    pub fn fall_through_fuel(mut self) -> Option<u8> {
        self.fall_through_fuel_mut().copied()
    }

    /// Returns a copy of this instruction with another jump target.
    pub fn with_target(mut self, target: u32) -> Op {
        if let Some(to) = self.target_mut() {
            *to = target;
        }
        self
    }
}
