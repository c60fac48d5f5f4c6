//! Details of a fault that only the machine knows: the call of the program it came from, and the item of the data.

use crate::fault::Fault;
use crate::machine::{Frame, Vm};
use crate::value::Value;
use ptc_bytecode::{Code, Op};

/// Maximum characters of an item in a message.
const SHOWN: usize = 80;

/// True if it calls a value, not a callee named in the code.
fn calls_a_value(op: Option<&Op>) -> bool {
    matches!(op, Some(Op::Call { .. } | Op::Apply { .. }))
}

impl Vm {
    /// Adds the details of where the fault happened.
    pub(crate) fn explain(&self, fault: Fault) -> Fault {
        // In a frame of the program itself, the callee stands first in the marked source.
        if fault.code() == Code::NotCallable && self.entry != 0 && self.current.module == self.entry {
            return fault.own_call();
        }
        let call = self.user_call();
        let is_own = self.is_core(&self.current) && !calls_a_value(self.op(&self.current));
        let fault = if is_own { fault.nameless() } else { fault };
        let mut fault = match self.library_call().or(call) {
            Some(name) => fault.named(name),
            None => fault,
        };
        if fault.code() == Code::NotCallable {
            fault = fault.hint("give it a function such as `inc` or `(fn [x] …)`, a keyword, a map or a set");
        }
        if let (Some(name @ ("update" | "update-in")), Code::ArityError | Code::ArityMismatch) =
            (call, fault.code())
        {
            let key = if name == "update" { ":k" } else { "[:k]" };
            fault = fault.hint(format!(
                "further arguments of `{name}` go to the function; for a default write `({name} m {key} (fnil inc 0))`"
            ));
        }
        match self.keyed_item(fault.code()) {
            Some(item) => fault.for_item(&item),
            None => fault,
        }
    }

    /// Returns the library function, written in PTC-Lisp, that the program called or passed to another function.
    /// Functions that it calls in turn are not reported.
    fn library_call(&self) -> Option<&str> {
        let core = self.library.core();
        let mut frames = std::iter::once(&self.current).chain(self.frames.iter().rev()).peekable();
        while let Some(frame) = frames.next().filter(|frame| self.is_core(frame)) {
            let is_own = |caller: &&Frame| self.is_core(caller) && !calls_a_value(self.op(caller));
            if !frames.peek().is_some_and(is_own) {
                return core.export_of(core.owner(frame.block)).filter(|name| !name.starts_with('%'));
            }
        }
        None
    }

    fn is_core(&self, frame: &Frame) -> bool {
        self.entry != 0 && frame.module == 0
    }

    /// Returns the instruction a frame of the library is at.
    fn op(&self, frame: &Frame) -> Option<&Op> {
        self.library.core().block(frame.block).ops.get(frame.pc as usize)
    }

    /// Returns the item whose key was being computed for `sort-by` and the like.
    fn keyed_item(&self, code: Code) -> Option<String> {
        let told = matches!(
            code,
            Code::TypeError
                | Code::ArithmeticError
                | Code::ArityError
                | Code::ArityMismatch
                | Code::DestructureError
                | Code::RuntimeError
        );
        if !told {
            return None;
        }
        let core = self.library.core();
        let keys = core.artifact().exports.iter().find(|export| &*export.name == "%keys")?.function;
        let block = core.function(keys).arities.first()?.block;
        let is_keys = |frame: &&Frame| frame.module == 0 && frame.block == block;
        let frame = std::iter::once(&self.current).chain(self.frames.iter().rev()).find(is_keys)?;
        let ops = core.block(block).ops.get(frame.pc as usize..)?;
        let (Some(Op::Call { n: 1, .. }), Some(Op::IterBack { iter, .. })) =
            (ops.first(), ops.iter().find(|op| matches!(op, Op::IterBack { .. })))
        else {
            return None;
        };
        // The walked collection is still needed while the function runs, unlike the function's arguments.
        let walked = frame.base as usize + *iter as usize;
        let [coll, Value::Int(behind)] = *self.stack.get(walked..walked + 2)? else { return None };
        let at = usize::try_from(behind).ok()?.checked_sub(1)?;
        let entry = matches!(coll, Value::Map(_));
        let shown = match coll {
            Value::Map(map) => self.heap.map_next(map, at).map(|(key, value, _)| vec![key, value])?,
            Value::Set(set) => self.heap.set_next(set, at).map(|(item, _)| vec![item])?,
            _ => vec![self.heap.seq_get(coll, at)?],
        };
        let mut text = String::from(if entry { "[" } else { "" });
        for (i, item) in shown.into_iter().enumerate() {
            text.push_str(if i > 0 { " " } else { "" });
            // Text that is too long is long enough.
            let _ = self.heap.print(item, &mut text, SHOWN * 4);
        }
        text.push_str(if entry { "]" } else { "" });
        if text.chars().count() > SHOWN {
            text = text.chars().take(SHOWN).chain(['…']).collect();
        }
        Some(text)
    }
}
