//! Ctrl-C while a program runs: the program ends, and the REPL continues. (At a prompt the terminal is in a
//! mode where Ctrl-C is a key like any other.)

use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::Cancel;
use std::sync::{Arc, Mutex, PoisonError};

/// The run that Ctrl-C would stop.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<Option<Cancel>>>);

impl Interrupt {
    /// From now on Ctrl-C stops the run and not the process.
    pub fn watch(&self) -> Result<(), Problem> {
        let running = self.clone();
        ctrlc::set_handler(move || {
            running.press();
        })
        .map_err(|error| Problem::new(Code::Internal, format!("cannot watch for Ctrl-C: {error}")))
    }

    /// Handles Ctrl-C; true if there was a run to stop.
    pub fn press(&self) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().map(Cancel::cancel).is_some()
    }

    /// Does `work`, which ends when the flag it is given is set.
    pub fn during<T>(&self, work: impl FnOnce(&Cancel) -> T) -> T {
        let cancel = Cancel::new();
        self.set(Some(cancel.clone()));
        let result = work(&cancel);
        self.set(None);
        result
    }

    fn set(&self, cancel: Option<Cancel>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cancel;
    }
}
