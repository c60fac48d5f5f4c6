//! Errors and warnings of programs as objects.

use crate::packed::{Packed, pack};
use napi::bindgen_prelude::Either;
use napi_derive::napi;
use ptc::binding::{When, class_of};
use ptc::runtime::{Code, Diagnostic, Failure};
use ptc_bytecode::{CallFrame, place_of};

/// A result, or the failure of a program.
pub type Told<T> = Either<T, JsFailure>;

/// One error or warning about a program.
#[napi(object, js_name = "DiagnosticParts")]
pub struct JsDiagnostic {
    pub kind: String,
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub frames: Vec<JsFrame>,
    pub is_warning: bool,
    pub text: String,
}

/// A call of a program that had not returned when an error happened.
#[napi(object, js_name = "Frame")]
pub struct JsFrame {
    pub function: Option<String>,
    pub by: Option<String>,
    pub index: Option<f64>,
    pub line: Option<u32>,
}

/// A program that failed: `failure` is the name of the class of its error.
#[napi(object, js_name = "FailureParts")]
pub struct JsFailure {
    pub failure: String,
    pub text: String,
    pub diagnostics: Vec<JsDiagnostic>,
    pub warnings: Vec<JsDiagnostic>,
    pub prints: Vec<String>,
    pub fuel: f64,
    pub compile_fuel: f64,
    pub value: Option<Packed>,
    pub source: String,
    /// Index of the error of a tool that ended the program.
    pub cause: Option<u32>,
}

impl JsDiagnostic {
    /// Makes the object of a diagnostic about this source.
    pub fn new(diagnostic: &Diagnostic, source: &str) -> JsDiagnostic {
        let place = diagnostic.place(source);
        let trace = diagnostic.trace.as_deref();
        let calls = trace.into_iter().flat_map(|trace| trace.inner.iter().chain(&trace.outer));
        let frame = |call: &CallFrame| JsFrame {
            function: call.function.clone(),
            by: call.by.clone(),
            index: call.index.map(|index| index as f64),
            line: call.span.map(|span| place_of(source, span.start).line),
        };
        JsDiagnostic {
            kind: diagnostic.code.reason().to_string(),
            code: diagnostic.code.label(),
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            frames: calls.map(frame).collect(),
            is_warning: diagnostic.code.is_warning(),
            text: diagnostic.to_text(source).trim_end().to_string(),
        }
    }

    /// Makes a list of diagnostics about this source.
    pub fn list(diagnostics: &[Diagnostic], source: &str) -> Vec<JsDiagnostic> {
        diagnostics.iter().map(|told| JsDiagnostic::new(told, source)).collect()
    }
}

impl JsFailure {
    /// Makes the object of a failure.
    pub fn new(failure: &Failure, when: When) -> JsFailure {
        JsFailure {
            warnings: JsDiagnostic::list(failure.warnings(), failure.source()),
            prints: failure.clear_prints(),
            fuel: failure.fuel as f64,
            compile_fuel: failure.compile_fuel as f64,
            value: failure.value.as_ref().map(pack),
            ..JsFailure::of(&failure.diagnostics, failure.source(), when)
        }
    }

    /// Makes the object of several problems of one text that is no program, such as the source of a prelude.
    pub fn of(diagnostics: &[Diagnostic], source: &str, when: When) -> JsFailure {
        let text: String = diagnostics.iter().map(|told| told.to_text(source)).collect();
        let code = diagnostics.first().map_or(Code::Internal, |first| first.code);
        JsFailure {
            failure: class_of(code, when).to_string(),
            text: text.trim_end().to_string(),
            diagnostics: JsDiagnostic::list(diagnostics, source),
            warnings: Vec::new(),
            prints: Vec::new(),
            fuel: 0.0,
            compile_fuel: 0.0,
            value: None,
            source: source.to_string(),
            cause: None,
        }
    }
}

/// Makes the result of something that happened before a program ran.
pub fn before<T>(result: Result<T, Failure>) -> Told<T> {
    told(result, When::Before)
}

/// Makes a result of its two kinds.
pub fn told<T>(result: Result<T, Failure>, when: When) -> Told<T> {
    match result {
        Ok(value) => Either::A(value),
        Err(failure) => Either::B(JsFailure::new(&failure, when)),
    }
}
