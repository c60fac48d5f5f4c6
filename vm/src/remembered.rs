//! Earlier results: the values of `*1`, `*2` and `*3`.

use crate::fault::{Fault, Stop};
use crate::frozen::Frozen;
use crate::value::Value;
use ptc_bytecode::{Code, Subject};
use std::sync::Arc;

/// The result of an earlier program.
#[derive(Clone, Debug)]
pub enum Remembered {
    /// The value of the result.
    Value(Frozen),
    /// A result that was not kept, with the reason: reading it is a fault that states it. A partial value would be
    /// counted and summed as if it were complete.
    Gap(Arc<str>),
}

impl Remembered {
    /// Returns the value, if it was kept.
    pub fn value(&self) -> Option<&Frozen> {
        match self {
            Remembered::Value(value) => Some(value),
            Remembered::Gap(_) => None,
        }
    }
}

impl From<Frozen> for Remembered {
    fn from(value: Frozen) -> Remembered {
        Remembered::Value(value)
    }
}

/// Returns the `nth` earlier result, as `*1`, `*2` and `*3` count. Faults if it was not kept.
pub(crate) fn earlier(history: &[Value; 3], gaps: &[Option<Arc<str>>; 3], nth: u8) -> Result<Value, Stop> {
    match &gaps[nth as usize - 1] {
        Some(why) => Err(not_kept(nth, why).into()),
        None => Ok(history[nth as usize - 1]),
    }
}

#[cold]
fn not_kept(nth: u8, why: &str) -> Fault {
    Fault::new(Code::UnboundVar, format!("`*{nth}` was not kept: {why}"))
        .about(Subject::Name(format!("*{nth}")))
        .hint("compute it again and define the part you need: `(def part (take 100 …))`")
}
