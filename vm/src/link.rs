//! Linking of a verified artifact into a module, with its constants in a frozen space and its imports bound to the
//! library.

use crate::call::NativeFn;
use crate::fault::{Fault, Stop, StopKind};
use crate::frozen::Frozen;
use crate::heap::{Heap, Space};
use crate::loops::SelectLoop;
use crate::value::{Ref, Value};
use crate::watch::Watch;
use ptc_bytecode::{
    Artifact, BUILTINS, Body, BuiltinId, Code, CodeBlock, Const, Function, Liveness, Node, Op, RegSet,
    Verified, lookup, mark_last_uses,
};
use std::sync::Arc;

/// Code that can run: shared by any number of runs on any thread.
pub struct Module {
    verified: Verified,
    /// Constants, as values of `space`.
    consts: Vec<Value>,
    space: Arc<Space>,
    /// Target of each import.
    targets: Vec<Target>,
    /// Arity and code of each plain function, for fast calls.
    plain: Vec<Plain>,
    /// Code blocks with instructions that say where a register is read for the last time; None for those to which that
    /// makes no difference.
    code: Vec<Option<Box<CodeBlock>>>,
    /// For each code block, its loops that run as a whole.
    select_loops: Vec<Box<[SelectLoop]>>,
}

/// Arity and code of a function with one arity and no rest parameter, as nearly every one is. A count that no call
/// passes marks the others.
#[derive(Clone, Copy)]
struct Plain {
    required: u8,
    block: u32,
}

impl Plain {
    fn of(function: &Function) -> Plain {
        match &function.arities[..] {
            [arity] if !arity.rest => Plain { required: arity.required, block: arity.block },
            _ => Plain { required: u8::MAX, block: 0 },
        }
    }
}

/// The target of a call of a builtin.
#[derive(Clone, Copy)]
pub enum Target {
    /// A Rust function.
    Native(BuiltinId, NativeFn),
    /// A function of the core module.
    Core(BuiltinId, u32),
}

impl Target {
    /// Returns the builtin behind it.
    pub fn builtin(self) -> BuiltinId {
        match self {
            Target::Native(id, _) | Target::Core(id, _) => id,
        }
    }
}

/// Builtins that look at their first argument and give nothing that it is part of: the argument may be a collection that
/// is changed in place afterwards. Elements may be in what they give, as an element is never changed in place.
const LOOKS: &[&str] = &[
    "contains?",
    "get",
    "get-in",
    "find",
    "nth",
    "%nth",
    "count",
    "empty?",
    "first",
    "second",
    "last",
    "peek",
    "keys",
    "vals",
    "reduced?",
    "nil?",
    "some?",
    "map?",
    "vector?",
    "set?",
    "coll?",
    "sequential?",
    "str",
    "pr-str",
];

impl Target {
    fn only_looks(self) -> bool {
        let name = self.builtin().row().map_or("", |row| row.name);
        matches!(self, Target::Native(..)) && LOOKS.contains(&name)
    }
}

/// Builtins that may change their first argument in place.
const CHANGES: &[&str] = &[
    "assoc",
    "assoc-in",
    "conj",
    "disj",
    "dissoc",
    "into",
    "%into",
    "merge",
    "pop",
    "%put",
    "update",
    "update-in",
];

impl Target {
    fn may_change(self) -> bool {
        CHANGES.contains(&self.builtin().row().map_or("", |row| row.name))
    }
}

/// A code block with its last uses named, if it changes collections or passes values on to others that may. For others that would
/// be work when a program is compiled, which is of no use when it runs.
fn last_uses(
    verified: &Verified,
    id: u32,
    looks: impl Fn(u32) -> bool,
    changes: impl Fn(u32) -> bool,
) -> Option<Box<CodeBlock>> {
    let block = &verified.artifact().blocks[id as usize];
    let (mut passes_on, mut calls) = (false, false);
    let is_changed = block.ops.iter().any(|op| {
        match *op {
            Op::Assoc { .. } | Op::Conj { .. } => return true,
            Op::CallBuiltin { import, .. } if changes(import) => return true,
            Op::Again { .. } | Op::IterBack { .. } => passes_on = true,
            // A parameter, most often to be the argument of a call.
            Op::Move { src, .. } if src > 0 && src <= block.params => passes_on = true,
            Op::Call { .. } | Op::CallDef { .. } | Op::CallBuiltin { .. } => calls = true,
            _ => {}
        }
        passes_on && calls
    });
    is_changed.then(|| {
        let mut block = Box::new(block.clone());
        mark_last_uses(&mut block, verified.liveness(id), looks);
        block
    })
}

/// The functions of the language: a body for every row of the builtin table.
pub struct Library {
    targets: Vec<Target>,
    /// Core function that takes over from each native that gives up.
    twins: Vec<Option<BuiltinId>>,
    core: Arc<Module>,
}

impl Library {
    /// Binds every builtin: natives by `native`, core functions by the exports of `core`.
    pub fn new(native: impl Fn(BuiltinId) -> Option<NativeFn>, core: Verified) -> Result<Library, Fault> {
        let mut targets = Vec::with_capacity(BUILTINS.len());
        for (i, row) in BUILTINS.iter().enumerate() {
            let id = BuiltinId(i as u32);
            let target = match row.body {
                Body::Native => native(id).map(|body| Target::Native(id, body)),
                Body::Core => core
                    .artifact()
                    .exports
                    .iter()
                    .find(|export| &*export.name == row.name)
                    .map(|export| Target::Core(id, export.function)),
            };
            targets.push(target.ok_or_else(|| {
                Fault::new(Code::Internal, format!("the builtin `{}` has no body", row.name))
            })?);
        }
        let core = Module::link_to(core, &targets, None)?;
        let twins = BUILTINS.iter().map(|row| lookup(&format!("%{}*", row.name))).collect();
        Ok(Library { targets, twins, core })
    }

    /// Returns a copy with other bodies for its natives.
    pub fn replaced(&self, native: impl Fn(BuiltinId) -> Option<NativeFn>) -> Result<Library, Fault> {
        Library::new(native, self.core.verified.clone())
    }

    /// Returns the place of a builtin's body.
    pub fn target(&self, id: BuiltinId) -> Option<Target> {
        self.targets.get(id.0 as usize).copied()
    }

    /// Returns the core function that takes over from a native which gives up with
    /// [`Stop::twin`](crate::Stop::twin): the twin of `take` is `%take*`.
    pub(crate) fn twin(&self, id: BuiltinId) -> Option<BuiltinId> {
        self.twins.get(id.0 as usize).copied().flatten()
    }

    /// Returns the body of a native that takes `n` arguments; None for everything else.
    #[inline]
    pub(crate) fn native_taking(&self, id: u32, n: u8) -> Option<(BuiltinId, NativeFn)> {
        match self.targets.get(id as usize) {
            Some(Target::Native(id, body)) if id.row().is_some_and(|row| row.takes(n as usize)) => {
                Some((*id, *body))
            }
            _ => None,
        }
    }

    /// Returns the core library, module 0 of every run.
    pub fn core(&self) -> &Arc<Module> {
        &self.core
    }
}

impl Module {
    /// Links a verified artifact to the library.
    pub fn link(verified: Verified, library: &Library) -> Result<Arc<Module>, Fault> {
        Module::link_to(verified, &library.targets, None)
    }

    /// Links a verified artifact to the library, with a clock that is checked while its constants are made.
    pub fn link_watched(
        verified: Verified,
        library: &Library,
        watch: Arc<dyn Watch>,
    ) -> Result<Arc<Module>, Fault> {
        Module::link_to(verified, &library.targets, Some(watch))
    }

    fn link_to(
        verified: Verified,
        targets: &[Target],
        watch: Option<Arc<dyn Watch>>,
    ) -> Result<Arc<Module>, Fault> {
        let targets = verified
            .builtins()
            .iter()
            .map(|id| targets.get(id.0 as usize).copied())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Fault::new(Code::UnresolvedBuiltin, "an import is not in the builtin table"))?;
        let (space, consts) = link_consts(&verified.artifact().consts, watch)?;
        check_arities(verified.artifact(), &targets)?;
        let plain = verified.artifact().functions.iter().map(Plain::of).collect();
        let blocks = &verified.artifact().blocks;
        let select_loops = blocks.iter().map(|block| SelectLoop::find(&block.ops, &consts)).collect();
        let looks = |import: u32| targets.get(import as usize).is_some_and(|target| target.only_looks());
        let changes = |import: u32| targets.get(import as usize).is_some_and(|target| target.may_change());
        let code = (0..blocks.len() as u32).map(|id| last_uses(&verified, id, looks, changes)).collect();
        Ok(Arc::new(Module { verified, consts, space, targets, plain, code, select_loops }))
    }

    /// Returns functions of this module as values for any run, in the order of `ids`. Each captures nothing, as
    /// every export does.
    pub fn functions(self: &Arc<Module>, ids: &[u32]) -> Result<Vec<Frozen>, Fault> {
        let mut heap = Heap::unbounded();
        let mut made = Vec::with_capacity(ids.len());
        for id in ids {
            let is_plain = self.artifact().functions.get(*id as usize).is_some_and(|f| f.captures == 0);
            let value = heap.new_closure(0, *id, &[]).ok().filter(|_| is_plain);
            made.push(value.ok_or_else(|| Fault::new(Code::Internal, "a function is not a value"))?);
        }
        let space = heap.into_space_with(std::slice::from_ref(self));
        Ok(made.into_iter().map(|value| Frozen::new(space.clone(), value)).collect())
    }

    /// Returns a constant of this module as a value for any run.
    pub fn constant(&self, id: u32) -> Option<Frozen> {
        Some(Frozen::new(self.space.clone(), *self.consts.get(id as usize)?))
    }

    /// Returns the name under which a function is exported.
    pub(crate) fn export_of(&self, function: u32) -> Option<&str> {
        let exports = &self.artifact().exports;
        exports.iter().find(|export| export.function == function).map(|export| &*export.name)
    }

    /// Returns the artifact it was linked from.
    pub fn artifact(&self) -> &Artifact {
        self.verified.artifact()
    }

    /// Returns a function by index.
    #[inline(always)]
    pub(crate) fn function(&self, id: u32) -> &Function {
        &self.verified.artifact().functions[id as usize]
    }

    /// Returns the code of a plain function that takes exactly `n` arguments.
    #[inline(always)]
    pub(crate) fn plain(&self, function: u32, n: u8) -> Option<u32> {
        let plain = self.plain[function as usize];
        (plain.required == n).then_some(plain.block)
    }

    /// Returns the code of a function for exactly `n` arguments, also if it takes other numbers of them.
    pub(crate) fn exact(&self, function: u32, n: u8) -> Option<u32> {
        let arities = &self.function(function).arities;
        arities.iter().find(|arity| !arity.rest && arity.required == n).map(|arity| arity.block)
    }

    /// Returns the function a code block belongs to.
    pub(crate) fn owner(&self, block: u32) -> u32 {
        self.verified.blocks().get(block as usize).map_or(u32::MAX, |facts| facts.function)
    }

    /// Returns a code block by index.
    #[inline(always)]
    pub(crate) fn block(&self, id: u32) -> &CodeBlock {
        match &self.code[id as usize] {
            Some(block) => block,
            None => &self.verified.artifact().blocks[id as usize],
        }
    }

    /// Returns the loop of a code block that goes back at `pc`, if it runs as a whole.
    #[inline(always)]
    pub(crate) fn select_loop(&self, block: u32, pc: usize) -> Option<&SelectLoop> {
        SelectLoop::at(&self.select_loops[block as usize], pc)
    }

    /// Returns the constants, relative to [`Module::space`].
    #[inline(always)]
    pub(crate) fn consts(&self) -> &[Value] {
        &self.consts
    }

    /// Returns the space of the constants.
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    #[inline(always)]
    pub(crate) fn target(&self, import: u32) -> Target {
        self.targets[import as usize]
    }

    /// Returns the registers that may still be read when a frame is at `pc`: before the instruction is run, or with
    /// `done` while it waits for its result, which will replace the registers it writes.
    pub(crate) fn live_at(&self, block: u32, pc: u32, done: bool) -> RegSet {
        let liveness: &Liveness = self.verified.liveness(block);
        // The next element of an endless sequence is made by a call, then the instruction runs again.
        let op = self.block(block).ops.get(pc as usize);
        let again = matches!(op, Some(Op::IterNext { .. } | Op::IterBack { .. }));
        match done && !again {
            true => liveness.live_after(pc as usize),
            false => liveness.live_before(pc as usize),
        }
    }
}

/// Checks the argument counts of direct calls, once, since natives rely on the builtin table, whoever made the
/// artifact.
fn check_arities(artifact: &Artifact, targets: &[Target]) -> Result<(), Fault> {
    for op in artifact.blocks.iter().flat_map(|block| &block.ops) {
        if let Op::CallBuiltin { n, import, .. } = *op {
            let row = targets.get(import as usize).and_then(|target| target.builtin().row());
            if let Some(row) = row.filter(|row| !row.takes(n as usize)) {
                return Err(Fault::new(
                    Code::BadInstruction,
                    format!(
                        "the code calls `{}` with {n} arguments, but it takes {}",
                        row.name,
                        row.arity_words()
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Builds the constants in a separate space.
fn link_consts(consts: &[Const], watch: Option<Arc<dyn Watch>>) -> Result<(Arc<Space>, Vec<Value>), Fault> {
    let mut heap = Heap::unbounded();
    heap.set_watch(watch);
    let mut values = Vec::with_capacity(consts.len());
    for item in consts {
        let value = match item {
            Const::Int(n) => Ok(Value::Int(*n)),
            Const::Float(x) => Ok(Value::float(*x)),
            Const::Str(s) => heap.new_str(s),
            Const::Keyword(s) => heap.new_keyword(s),
            Const::Data(datum) => heap.from_datum(datum),
            Const::Keys(datum) => {
                let scalars = datum.nodes().split_last().map_or(&[][..], |(_, items)| items);
                scalars
                    .iter()
                    .map(|node: &Node| heap.new_leaf(node))
                    .collect::<Result<Vec<_>, Stop>>()
                    .and_then(|keys| heap.new_keys(&keys))
                    .map(|at: Ref| Value::Keys(at))
            }
        };
        values.push(value.map_err(|stop| match stop.into_kind() {
            StopKind::Fault(fault) => fault,
            StopKind::Room { .. } => Fault::new(Code::Internal, "constants do not fit"),
        })?);
    }
    Ok((heap.into_space(), values))
}
