//! Content of a snapshot. Everything is flat: lists and indexes into them.

use crate::watched::{Seen, WatchedField};
use ptc_bytecode::{Datum, Span, Trace};
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Serialize, Deserialize)]
pub(super) struct Image {
    /// Artifacts by module number; None is the core library.
    pub modules: Vec<Option<Vec<u8>>>,
    /// Fingerprints of the modules' constants, to check that they have the same layout again.
    pub consts: Vec<u64>,
    /// Granted data: the name, and a fingerprint to check that it is the same again.
    pub grants: Vec<(String, u64)>,
    /// Objects of earlier turns, which belong to no machine.
    pub shared: Vec<Obj>,
    /// Data received while the run ran, each lot after those it refers to.
    pub lots: Vec<LotImage>,
    /// Machines: the run itself first, each branch after its parent.
    pub machines: Vec<Machine>,
    pub entry: u32,
    /// Names of the builtins that values refer to.
    pub builtins: Vec<Box<str>>,
    /// SHA-256 of the core library's artifact: frames may be inside it.
    pub core: [u8; 32],
}

/// The data of one reply, as far as anything refers to it.
#[derive(Serialize, Deserialize)]
pub(super) struct LotImage {
    pub objects: Vec<Obj>,
    /// Lots it refers to, by number.
    pub deps: Vec<u32>,
}

/// A lot by number, and the bytes it counts for.
pub(super) type Charge = (u32, u64);

/// The home of an object.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Home {
    /// [`Image::shared`].
    Shared,
    /// One of [`Image::lots`].
    Lot(u32),
    /// The objects of a machine: the holder itself or one of its parents.
    Machine(u32),
    /// The objects of an ended branch, by its index in the parent's list.
    Ended(u32, u32),
}

/// A value.
#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
pub(super) enum Val {
    Nil,
    Bool(bool),
    Int(i64),
    /// A float by its bits, so that NaN comes back unchanged.
    Float(u64),
    Day(i32),
    Instant(i64),
    Duration(i64),
    /// An index into [`Image::grants`] and the object's cell there.
    Grant {
        grant: u32,
        kind: u8,
        at: u32,
    },
    /// An index into [`Image::modules`] and the object's cell among the constants there.
    Const {
        module: u32,
        kind: u8,
        at: u32,
    },
    Obj {
        home: Home,
        index: u32,
    },
    /// An index into [`Image::builtins`].
    Builtin(u32),
}

/// An object.
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Obj {
    Text {
        kind: u8,
        text: Box<str>,
    },
    Big(Box<str>),
    Vector(Vec<Val>),
    /// A vector that can be extended at little cost. It is restored as one, so that work and memory are the same.
    Trie(Vec<Val>),
    /// A part of another vector.
    Slice {
        whole: Val,
        start: u32,
        len: u32,
    },
    /// A small map: the vector of its keys, which others may share, and its values.
    Record(Vec<Val>),
    /// A map: keys and values in turn.
    Map(Vec<Val>),
    Set(Vec<Val>),
    /// A sorted map or set: keys and values in turn, or members, in order.
    Sorted {
        set: bool,
        descending: bool,
        items: Vec<Val>,
    },
    Range {
        start: i64,
        end: i64,
        step: i64,
    },
    Closure {
        module: u32,
        code: u32,
        captures: Vec<Val>,
    },
    Builder(Vec<Val>),
    /// A link of an endless sequence: an element and the rest.
    Link(Val, Val),
    /// A step of an endless sequence: a function and its arguments.
    Step(Vec<Val>),
    /// A place by the number of its kind, and its content.
    State {
        kind: u8,
        held: Val,
    },
    /// A veiled value.
    Veil(Val),
    /// An exception: the map that describes it, and its place.
    Exception(Vec<Val>),
    /// A large map or set with removed entries. Loops know entries by number, so the gaps stay.
    Gaps {
        set: bool,
        items: Vec<Val>,
        /// Numbers of the removed entries, in order.
        gone: Vec<u32>,
    },
}

/// One machine.
#[derive(Serialize, Deserialize)]
pub(super) struct Machine {
    /// Machine it branched from and its index there.
    pub parent: Option<(u32, u64)>,
    pub objects: Vec<Obj>,
    /// Frames: callers first, the current one last.
    pub frames: Vec<FrameImage>,
    pub wide: Vec<Val>,
    /// Definitions: name, value, and true if this run set it.
    pub defs: Vec<(Box<str>, Option<Val>, bool)>,
    pub history: [Val; 3],
    /// Reasons that earlier results were not kept.
    pub gaps: [Option<Box<str>>; 3],
    pub fuel_limit: u64,
    pub fuel_left: u64,
    /// Fuel that attempts gave back.
    pub refunded: u64,
    /// Attempts that go on: number of the frame, instruction that began it, fuel left then.
    pub attempts: Vec<(u32, u32, u64)>,
    pub prints: Vec<String>,
    /// Watched fields; those of a branch are its parent's.
    pub watched: Vec<WatchedField>,
    pub seen: Seen,
    pub tool_calls: u64,
    pub forks: u64,
    /// Bytes received before it began; for a run that is not a branch, granted data.
    pub granted: u64,
    /// Lots received since that still count.
    pub lots: Vec<Charge>,
    /// Peaks of the bytes received.
    pub peaks: Vec<u64>,
    pub state: StateImage,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FrameImage {
    pub module: u32,
    pub block: u32,
    pub pc: u32,
    pub base: u32,
    /// Registers that may still be read.
    pub regs: Vec<(u8, Val)>,
}

#[derive(Serialize, Deserialize)]
pub(super) enum StateImage {
    Start { values: Vec<Val> },
    Ready,
    Tool { name: String, args: Datum, span: Option<Span>, dst: Option<u8> },
    Answered(Val),
    Refused(FaultImage),
    Forked { f: Option<Val>, items: Val, dst: u8, next: u64, lent: bool, ended: Vec<EndedImage> },
}

#[derive(Serialize, Deserialize)]
pub(super) struct EndedImage {
    pub index: u64,
    pub fuel: u64,
    pub tool_calls: u64,
    pub lots: Vec<Charge>,
    pub peaks: Vec<u64>,
    pub seen: Seen,
    pub outcome: Result<(Vec<Obj>, Val), FaultImage>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FaultImage {
    pub reason: String,
    pub message: String,
    pub hint: Option<String>,
    pub span: Option<Span>,
    pub value: Option<Datum>,
    /// The branch a fault came from and the fault there, and so on. Flat, since a file could nest them without end.
    pub causes: Vec<(u64, CauseImage)>,
    pub trace: Option<Box<Trace>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CauseImage {
    pub reason: String,
    pub message: String,
    pub hint: Option<String>,
    pub span: Option<Span>,
    pub value: Option<Datum>,
}
