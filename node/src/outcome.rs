//! Results of programs.

use crate::diagnostic::{JsDiagnostic, Told, told};
use crate::packed::{Packed, pack};
use napi_derive::napi;
use ptc::binding::When;
use ptc::runtime::{Failure, Fault, Outcome};
use std::sync::Arc;

/// A program that ended well: its value, and the facts of its run.
#[napi(js_name = "OutcomeCore")]
pub struct JsOutcome {
    pub(crate) outcome: Arc<Outcome>,
}

#[napi]
impl JsOutcome {
    /// Value of the program.
    #[napi]
    pub fn value(&self) -> Told<Packed> {
        written(self.outcome.datum().map(|datum| pack(&datum)))
    }

    /// Value of the program as PTC-Lisp prints it.
    #[napi]
    pub fn text(&self) -> Told<String> {
        written(self.outcome.print())
    }

    /// Value as JSON text.
    #[napi]
    pub fn json(&self) -> Told<String> {
        written(self.outcome.json())
    }

    /// Printed lines.
    #[napi]
    pub fn prints(&self) -> Vec<String> {
        self.outcome.clear_prints()
    }

    /// Work of the run in units of fuel, the same on every machine.
    #[napi(getter)]
    pub fn fuel(&self) -> f64 {
        self.outcome.fuel as f64
    }

    /// Work of compiling the program, in units of its own.
    #[napi(getter)]
    pub fn compile_fuel(&self) -> f64 {
        self.outcome.compile_fuel as f64
    }

    /// Number of tool calls that were made.
    #[napi(getter)]
    pub fn tool_calls(&self) -> f64 {
        self.outcome.tool_calls as f64
    }

    /// Warnings that did not keep the program from giving its value.
    #[napi]
    pub fn warnings(&self) -> Vec<JsDiagnostic> {
        JsDiagnostic::list(self.outcome.warnings(), self.outcome.source())
    }
}

/// Makes the result of writing out a value, which may be one that cannot be.
fn written<T>(result: Result<T, Fault>) -> Told<T> {
    told(result.map_err(Failure::from), When::Running)
}
