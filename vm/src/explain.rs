//! What only the machine knows about a fault: which call of the program it came from, and for which
//! item of the data.

use crate::fault::Fault;
use crate::machine::{Frame, Vm};
use crate::value::Value;
use ptc_bytecode::{Code, Op};

/// Characters of an item shown in a message.
const SHOWN: usize = 80;

impl Vm {
    /// The fault with what can be said about where it happened.
    pub(crate) fn explain(&self, fault: Fault) -> Fault {
        // In a frame of the program itself, what was called stands first in the marked source.
        if fault.code() == Code::NotCallable && self.entry != 0 && self.current.module == self.entry {
            return fault.own_call();
        }
        let call = self.user_call();
        let mut fault = match call {
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

    /// The item whose key was being computed for `sort-by` and its kin.
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
        let Op::Call { base, n: 1 } = core.block(block).ops.get(frame.pc as usize)? else { return None };
        // Behind the callee; a function keeps its arguments there while it runs.
        let item: Value = *self.stack.get(frame.base as usize + *base as usize + 1)?;
        let mut text = String::new();
        // Too long is as good as long enough.
        let _ = self.heap.print(item, &mut text, SHOWN * 4);
        if text.chars().count() > SHOWN {
            text = text.chars().take(SHOWN).chain(['…']).collect();
        }
        Some(text)
    }
}
