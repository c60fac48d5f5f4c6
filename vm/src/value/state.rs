//! Mutable places, the only objects that change once they are made: atoms and volatiles of programs, and the state of
//! transducers.
//!
//! A place belongs to the run that made it. Branches of that run, which read at the same time, and later turns of a
//! session may read it and cannot write to it. They mostly see its value only (see `leaving.rs`).

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};

/// The kind of a place, as programs see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateKind {
    /// State of a core library function. Programs never hold one directly, only inside a function.
    Memory,
    /// An atom, made by `atom`.
    Atom,
    /// A volatile, made by `volatile!`.
    Volatile,
    /// A transient, made by `transient`: a collection that `conj!` and its kin change.
    Transient,
    /// A transient whose collection nothing else refers to, so that it is changed in place.
    OwnTransient,
    /// A transient that `persistent!` has used up.
    Spent,
}

impl StateKind {
    /// Returns the kind with this number.
    pub(crate) fn from_number(number: u64) -> Option<StateKind> {
        use StateKind::{Atom, Memory, OwnTransient, Spent, Transient, Volatile};
        [Memory, Atom, Volatile, Transient, OwnTransient, Spent]
            .into_iter()
            .find(|kind| kind.number() == number)
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            StateKind::Memory => 0,
            StateKind::Atom => 1,
            StateKind::Volatile => 2,
            StateKind::Transient => 3,
            StateKind::OwnTransient => 4,
            StateKind::Spent => 5,
        }
    }

    /// The kind as a snapshot has it: nobody has to believe that nothing else refers to what it holds.
    pub(crate) fn stored(self) -> StateKind {
        if self == StateKind::OwnTransient { StateKind::Transient } else { self }
    }

    /// Returns true if it was made by `transient`.
    pub fn is_transient(self) -> bool {
        matches!(self, StateKind::Transient | StateKind::OwnTransient | StateKind::Spent)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            StateKind::Memory => "unknown",
            StateKind::Atom => "atom",
            StateKind::Volatile => "volatile",
            StateKind::Transient | StateKind::OwnTransient | StateKind::Spent => "transient",
        }
    }

    /// Returns the tag printed before its value.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            StateKind::Memory => "#<unknown> ",
            StateKind::Atom => "#atom ",
            StateKind::Volatile => "#volatile ",
            StateKind::Transient | StateKind::OwnTransient | StateKind::Spent => "#transient ",
        }
    }

    /// Returns the text for a place inside itself.
    pub fn cut_short(self) -> &'static str {
        match self {
            StateKind::Memory => "#<unknown>",
            StateKind::Atom => "#atom ...",
            StateKind::Volatile => "#volatile ...",
            StateKind::Transient | StateKind::OwnTransient | StateKind::Spent => "#transient ...",
        }
    }
}

impl Heap {
    /// Makes a place that holds `value`.
    pub fn new_state(&mut self, kind: StateKind, value: Value) -> Result<Value, Stop> {
        self.room(2, 0)?;
        Ok(Value::State(self.push_object(Value::StateHead { kind: kind.number() }, &[value])))
    }

    /// Returns the kind of a place.
    pub fn state_kind(&self, r: Ref) -> StateKind {
        match self.head(r) {
            Value::StateHead { kind } => StateKind::from_number(kind).unwrap_or(StateKind::Memory),
            _ => StateKind::Memory,
        }
    }

    /// Returns the value in a place.
    pub fn state(&self, r: Ref) -> Value {
        self.field(r, 0)
    }

    /// Writes to a place. False if it belongs to an earlier turn of the session, or to the run this one is a branch
    /// of, where others read at the same time.
    pub fn set_state(&mut self, r: Ref, value: Value) -> bool {
        let own = self.is_own_state(r);
        if own {
            self.own.cells[r.at() as usize + 1] = value;
        }
        own
    }

    /// Returns the collection in a transient; any other value as it is.
    pub fn in_transient(&self, v: Value) -> Value {
        match v {
            Value::State(r) if self.state_kind(r).is_transient() => self.state(r),
            other => other,
        }
    }

    /// Returns the collection in a transient of this run, owned if nothing else refers to it.
    pub fn transient_held(&self, r: Ref) -> Value {
        let held = self.state(r);
        match self.state_kind(r) {
            StateKind::OwnTransient if self.may_own() => held.claimed(),
            _ => held,
        }
    }

    /// Puts what it became into a transient of this run; None uses it up.
    pub fn set_transient(&mut self, r: Ref, value: Option<Value>) {
        let kind = match value {
            Some(value) if value.is_owned() => StateKind::OwnTransient,
            Some(_) => StateKind::Transient,
            None => StateKind::Spent,
        };
        if self.set_state(r, value.unwrap_or(Value::Nil).shared()) {
            self.own.cells[r.at() as usize] = Value::StateHead { kind: kind.number() };
        }
    }

    /// True if this run may write to a place.
    pub fn is_own_state(&self, r: Ref) -> bool {
        r.space() == 0 && matches!(self.own.cells.get(r.at() as usize), Some(Value::StateHead { .. }))
    }

    /// Returns the value as a host gets it: without its veil, and the content of an atom or a volatile. A place
    /// that holds only itself stays as it is.
    pub fn bare(&self, v: Value) -> Value {
        // The second pointer moves half as fast: if they meet, places hold each other in a circle.
        let (mut ahead, mut behind, mut steps) = (self.unveil(v), self.unveil(v), 0_u64);
        while let Value::State(r) = ahead {
            ahead = self.unveil(self.state(r));
            steps += 1;
            if let (Value::State(r), 0) = (behind, steps % 2) {
                behind = self.unveil(self.state(r));
            }
            if ahead.same(behind) && matches!(ahead, Value::State(_)) {
                break;
            }
        }
        ahead
    }
}
