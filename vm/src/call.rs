//! Calls of natives: their view of the run with arguments, heap, budget and printed output.

use crate::budget::Budget;
use crate::fault::{Fault, Stop};
use crate::frozen::Frozen;
use crate::heap::Heap;
use crate::value::Value;
use ptc_bytecode::{BuiltinId, Code, Limits};
use std::any::Any;
use std::sync::Arc;

/// The body of a builtin in Rust. It takes values and returns a value; it never calls back into the VM. If the heap
/// has no room it returns [`Stop::room`] before any effect, and is run again after a collection.
pub type NativeFn = fn(&mut Call<'_>) -> Result<Value, Stop>;

/// One call of a native.
pub struct Call<'a> {
    /// Builtin being called.
    pub id: BuiltinId,
    /// Arguments, whose number was checked against the builtin table.
    pub args: &'a [Value],
    /// Heap of the values.
    pub heap: &'a mut Heap,
    /// Budget; natives pay for the work they do.
    pub budget: &'a mut Budget,
    /// Printed output of the run.
    pub output: &'a mut Output,
    /// True if nothing but the call refers to the first argument, and nothing reads it afterwards.
    pub owns_first: bool,
}

impl Call<'_> {
    /// Returns the name of the builtin, for messages.
    pub fn name(&self) -> &'static str {
        self.id.row().map_or("?", |row| row.name)
    }

    /// Returns the first argument for a native that may change it in place; nil if there is none.
    pub fn own_first(&self) -> Value {
        match self.args.first() {
            Some(first) if self.owns_first && self.heap.may_own() => first.claimed(),
            Some(first) => *first,
            None => Value::Nil,
        }
    }

    /// Returns the first argument for a native that changes it in `steps` steps, in place if there is room for all.
    pub fn own_first_for(&self, steps: usize) -> Value {
        let first = self.own_first();
        if self.heap.has_room_for(first, steps) { first } else { first.shared() }
    }

    /// Pays for `items` elements; the first line of every native that walks a collection.
    pub fn pay_items(&mut self, items: usize) -> Result<(), Stop> {
        Ok(self.budget.pay_items(items)?)
    }

    /// Copies a value out of this run.
    pub fn freeze(&self, value: Value) -> Frozen {
        let mut roots = [value];
        let space = self.heap.copy_out(&mut roots, self.heap.code());
        Frozen::new(space, roots[0])
    }

    /// Turns the result of `find` into a value of this run. The machine attaches code and data new to the run, then
    /// runs the native again: reserve room before, and have no effect yet.
    pub fn thaw(&mut self, find: impl FnOnce() -> Option<Frozen>) -> Result<Option<Value>, Stop> {
        // `find` is called once, since a second call may return something else.
        let firewall = self.heap.firewall();
        let find = || find().map(|found| if firewall { found.firewalled(None) } else { found });
        let Some(frozen) = self.output.incoming.take().or_else(find) else { return Ok(None) };
        match self.heap.known_as(frozen.space()) {
            Some(id) => Ok(Some(self.heap.import(id, frozen.root()))),
            None => {
                self.output.incoming = Some(frozen);
                Err(Stop::attach())
            }
        }
    }

    /// Makes a `type_error` in the usual words: `sum`: argument 1 must be a collection, but it is a number.
    #[cold]
    pub fn wrong_type(&self, arg: usize, expected: &str) -> Stop {
        self.misfit(arg, expected).into()
    }

    /// Makes a fault like [`wrong_type`](Call::wrong_type), to which a hint can be added.
    #[cold]
    pub fn misfit(&self, arg: usize, expected: &str) -> Fault {
        let found = self.args.get(arg - 1).map_or("nothing", |v| v.type_phrase());
        Fault::misfit(self.name(), arg, expected, found)
    }
}

/// Bytes charged for an entry besides its text.
const ENTRY_BYTES: u64 = 16;

/// The printed output of a run.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// One entry per `println`.
    pub prints: Vec<String>,
    /// Clear text of the entries that are firewalled in `prints`, by number.
    pub(crate) clear: Vec<(usize, String)>,
    bytes: u64,
    max_bytes: u64,
    max_chars: u64,
    /// Lookup context that the host gave natives.
    context: Option<Arc<dyn Any + Send + Sync>>,
    /// Shared data that a native waits for.
    pub(crate) incoming: Option<Frozen>,
    /// Bytes given to the host to keep.
    kept: u64,
    max_kept: u64,
    is_branch: bool,
}

impl Output {
    /// Makes an empty output.
    pub fn new(limits: &Limits) -> Output {
        Output {
            max_bytes: limits.output_bytes,
            max_chars: limits.print_chars,
            max_kept: limits.granted_bytes,
            ..Output::default()
        }
    }

    /// Returns the lookup context that the host gave natives, if it is a `T`.
    pub fn context<T: Any>(&self) -> Option<&T> {
        self.context.as_deref()?.downcast_ref()
    }

    /// True for a branch of a `pmap` or `pcalls`.
    pub fn is_branch(&self) -> bool {
        self.is_branch
    }

    /// Counts data about to be given to the host to keep, since the host has no limit of its own.
    pub fn keep(&mut self, bytes: usize) -> Result<(), Fault> {
        self.kept = self.kept.saturating_add(bytes as u64 + ENTRY_BYTES);
        if self.kept > self.max_kept {
            let message = format!(
                "the program gave more than {} bytes to keep between turns (limits.granted_bytes)",
                self.max_kept
            );
            return Err(Fault::new(Code::MemoryExceeded, message)
                .hint("keep less: `(task \"rows\" (count rows))`, a few fields"));
        }
        Ok(())
    }

    pub(crate) fn set_context(&mut self, context: Option<Arc<dyn Any + Send + Sync>>, is_branch: bool) {
        self.context = context;
        self.is_branch = is_branch;
    }

    pub(crate) fn shared_context(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.context.clone()
    }

    /// Restores the initial state.
    pub(crate) fn clear(&mut self) {
        self.prints.clear();
        self.clear.clear();
        self.bytes = 0;
        self.kept = 0;
        self.incoming = None;
    }

    /// Adds an entry that is partly firewalled, with its clear text.
    pub fn print_veiled(&mut self, text: String, clear: String) -> Result<(), Fault> {
        if clear == text {
            return self.print(text);
        }
        // The clear text is cut in the same way. It is one entry to the program's author, so the longer of both
        // texts counts, and not their sum.
        let before = self.bytes;
        self.print(clear)?;
        let (clear, counted) = (self.prints.pop().unwrap_or_default(), self.bytes);
        self.bytes = before;
        self.print(text)?;
        self.bytes = self.bytes.max(counted);
        self.clear.push((self.prints.len() - 1, clear));
        Ok(())
    }

    /// Adds an entry; a long one is cut, with a note.
    pub fn print(&mut self, mut text: String) -> Result<(), Fault> {
        let max = self.max_chars as usize;
        // There are at most as many characters as bytes, so short entries need no counting.
        if text.len() > max {
            let chars = text.chars().count();
            if chars > max {
                let cut = text.char_indices().nth(max).map_or(text.len(), |(i, _)| i);
                text.truncate(cut);
                text.push_str(&format!("... ({max}/{chars} chars)"));
                text.shrink_to_fit();
            }
        }
        // An entry costs something even if it is empty.
        self.bytes += text.len() as u64 + ENTRY_BYTES;
        if self.bytes > self.max_bytes {
            return Err(Fault::new(
                Code::OutputExceeded,
                format!("the program printed more than {} bytes (limits.output_bytes)", self.max_bytes),
            ));
        }
        self.prints.push(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_firewalled_print_counts_once() {
        let limits = Limits { output_bytes: 10 * (40 + ENTRY_BYTES), ..Limits::default() };
        let mut output = Output::new(&limits);
        for _ in 0..10 {
            output.print_veiled("<Firewalled>".to_string(), "x".repeat(40)).unwrap();
        }
        assert_eq!((output.prints.len(), output.clear.len()), (10, 10));
        assert!(output.print_veiled("<Firewalled>".to_string(), "x".to_string()).is_err());
    }
}
