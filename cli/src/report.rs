//! Output: results, errors and warnings, as text or as one JSON object.

mod warnings;

pub use warnings::{Warnings, warning_members};

use crate::colour;
use crate::excerpt;
use crate::problem::Problem;
use ptc_bytecode::text::visible;
use ptc_bytecode::{CallFrame, Code, Diagnostic, Subject, Trace, place_of};
use ptc_runtime::{Failure, Outcome};
use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// A result was given.
pub const OK: u8 = 0;
/// The program faulted, failed or does not compile.
pub const FAULT: u8 = 1;
/// The command was used wrongly, or a file could not be read.
pub const USAGE: u8 = 2;

/// Outcome of one program, ready to be shown.
#[derive(Debug)]
pub struct Report {
    /// Printed output, one entry per `println`.
    pub prints: Vec<String>,
    /// Work it took.
    pub spent: Spent,
    /// The value, or why there is none.
    pub result: Result<Shown, Errors>,
    /// Warnings about the program, whether it has a value or not.
    pub warnings: Warnings,
}

/// Units of work a program took, by what they went into. Each has a limit of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Running it: `limits.fuel`.
    pub fuel: u64,
    /// Compiling it: `limits.compile_fuel`.
    pub compile_fuel: u64,
    /// Writing its result: `limits.result_fuel`. 0 if there is none, or it could not be written.
    pub result_fuel: u64,
}

impl Spent {
    /// The work of a run that ended well.
    pub fn by(outcome: &Outcome) -> Spent {
        let result_fuel = outcome.result_fuel().unwrap_or(0);
        Spent { fuel: outcome.fuel, compile_fuel: outcome.compile_fuel, result_fuel }
    }

    /// The work of a failed run until its end.
    pub fn before(failure: &Failure) -> Spent {
        Spent { fuel: failure.fuel, compile_fuel: failure.compile_fuel, result_fuel: 0 }
    }
}

/// A value in the forms that are shown.
#[derive(Debug)]
pub struct Shown {
    /// As PTC-Lisp prints it.
    pub value: String,
    /// As JSON text, if it was asked for; or why it has no such form.
    pub json: Option<Result<String, String>>,
}

/// Why there is no value.
#[derive(Debug)]
pub struct Errors {
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
    /// The text that spans point into.
    pub source: String,
    /// Value given to `(fail v)`, as JSON text.
    pub failed_with: Option<String>,
}

impl Report {
    /// The report of a finished run. The JSON form is only made when it will be shown.
    pub fn new(outcome: Result<Outcome, Failure>, source: &str, with_json: bool) -> Report {
        let warnings = Warnings::of(&outcome);
        match outcome {
            Ok(outcome) => {
                let result = shown(&outcome, with_json).map_err(|diagnostic| Errors::one(diagnostic, source));
                Report { spent: Spent::by(&outcome), prints: outcome.prints, result, warnings }
            }
            Err(failure) => {
                let (prints, spent) = (failure.prints.clone(), Spent::before(&failure));
                Report { prints, spent, result: Err(Errors::of(failure, source)), warnings }
            }
        }
    }

    /// The report of something that never ran.
    pub fn error(diagnostic: Diagnostic) -> Report {
        let result = Err(Errors::one(diagnostic, ""));
        Report { prints: Vec::new(), spent: Spent::default(), result, warnings: Warnings::default() }
    }

    /// As one JSON object, after `members` (such as `"id":7,`).
    pub fn to_json(&self, members: &str) -> String {
        let mut out = Vec::new();
        // Writing to memory does not fail, and all of it is text.
        let _ = self.write_json(members, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Writes the object of `to_json` piece by piece: a result may be large, and a copy of it as well.
    fn write_json(&self, members: &str, out: &mut impl Write) -> io::Result<()> {
        match &self.result {
            Ok(Shown { value, json }) => {
                write!(out, r#"{{{members}"ok":true,"value":"#)?;
                serde_json::to_writer(&mut *out, value)?;
                match json {
                    Some(Ok(json)) => write!(out, r#","json":{json}"#)?,
                    Some(Err(why)) => write!(out, r#","json":null,"json_error":{}"#, text_json(why))?,
                    None => write!(out, r#","json":null"#)?,
                }
            }
            Err(errors) => {
                write!(out, r#"{{{members}"ok":false,"#)?;
                errors.write_json(out)?;
            }
        }
        let Spent { fuel, compile_fuel, result_fuel } = self.spent;
        write!(out, r#","prints":{},"fuel":{fuel}"#, text_json(&self.prints))?;
        write!(out, r#","compile_fuel":{compile_fuel},"result_fuel":{result_fuel}"#)?;
        write!(out, "{}}}", self.warnings.members())
    }

    /// Writes it out and gives the exit code; as JSON after these members, if there are any, or as text.
    pub fn show(&self, json: Option<&str>, name: &str) -> ExitCode {
        let code = if self.result.is_ok() { OK } else { FAULT };
        if let Some(members) = json {
            return out_by(code, |out| self.write_json(members, out).and_then(|()| writeln!(out)));
        }
        let code = out_by(code, |out| {
            self.prints.iter().try_for_each(|entry| writeln!(out, "{}", for_stdout(entry)))?;
            self.result.as_ref().map_or(Ok(()), |shown| writeln!(out, "{}", for_stdout(&shown.value)))
        });
        if let Err(errors) = &self.result {
            errors.show(name);
        }
        self.warnings.show(name);
        code
    }
}

fn shown(outcome: &Outcome, with_json: bool) -> Result<Shown, Diagnostic> {
    let value = outcome.print().map_err(|fault| fault.to_diagnostic())?;
    let json = match with_json.then(|| outcome.json()) {
        Some(Ok(json)) => Some(Ok(json)),
        // Too large is an error; anything else means that there is no JSON form.
        Some(Err(fault)) if fault.code() == Code::OutputExceeded => return Err(fault.to_diagnostic()),
        Some(Err(fault)) => Some(Err(fault.to_diagnostic().message)),
        None => None,
    };
    Ok(Shown { value, json })
}

/// Flags of the limits that hints ask the host to raise: at a shell, the host is the reader.
const LIMIT_FLAGS: [(&str, &str); 3] =
    [("limits.fuel", "--fuel"), ("limits.memory_bytes", "--memory"), ("limits.timeout_ms", "--timeout")];

fn name_limit_flag(diagnostic: &mut Diagnostic) {
    let Some(hint) = &mut diagnostic.hint else { return };
    for (limit, flag) in LIMIT_FLAGS {
        *hint = hint
            .replace(&format!("ask the host to raise {limit}"), &format!("raise the limit with `{flag}`"));
    }
}

impl Errors {
    /// Those of a run of `source`.
    pub fn of(failure: Failure, source: &str) -> Errors {
        let failed_with = failure
            .value
            .as_ref()
            .and_then(|value| ptc_runtime::bridge::datum_to_json_text(value, usize::MAX).ok());
        let mut diagnostics = failure.diagnostics;
        for diagnostic in &mut diagnostics {
            name_limit_flag(diagnostic);
            if diagnostic.subject.as_deref() == Some(&Subject::Servers) {
                diagnostic.hint = Some("name their configuration with `--upstreams-config FILE`".to_string());
            }
            if diagnostic.code == Code::UnknownTool {
                let named = diagnostic.span.and_then(|span| span.text(source).strip_prefix("tool/"));
                let stub = format!(
                    "`--stub {}=JSON` grants a tool that always returns this value",
                    named.unwrap_or("NAME")
                );
                let known = diagnostic.hint.take().map_or(String::new(), |hint| format!("{hint}; "));
                diagnostic.hint = Some(known + &stub);
            }
        }
        Errors { source: source.to_string(), failed_with, diagnostics }
    }

    /// One error.
    pub fn one(diagnostic: Diagnostic, source: &str) -> Errors {
        Errors { diagnostics: vec![diagnostic], source: source.to_string(), failed_with: None }
    }

    /// `"error":{…}`, and `"errors":[…]` when there are several.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        // Writing to memory does not fail, and all of it is text.
        let _ = self.write_json(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Writes the members of `to_json` piece by piece: the value that a program failed with may be large.
    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(br#""error":"#)?;
        match self.diagnostics.as_slice() {
            [] => self.object(&Diagnostic::without_span(Code::Internal, "no reason given"), out),
            [one] => self.object(one, out),
            [first, ..] => {
                self.object(first, out)?;
                out.write_all(br#","errors":["#)?;
                for (i, diagnostic) in self.diagnostics.iter().enumerate() {
                    out.write_all(if i > 0 { b"," } else { b"" })?;
                    self.object(diagnostic, out)?;
                }
                out.write_all(b"]")
            }
        }
    }

    fn object(&self, diagnostic: &Diagnostic, out: &mut impl Write) -> io::Result<()> {
        let failed_with = self.failed_with.as_deref().filter(|_| diagnostic.code == Code::Fail);
        diagnostic_json("", diagnostic, &self.source, failed_with, out)
    }

    /// Writes them to standard error: with a coloured excerpt on a terminal, as plain text in pipes.
    pub fn show(&self, name: &str) {
        for diagnostic in &self.diagnostics {
            let text = diagnostic_text(diagnostic, &self.source, name);
            // Nothing is left to tell anyone when standard error is closed.
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }
}

/// A diagnostic as an object after `members`; `failed_with` is the JSON of what the program failed with.
fn diagnostic_json(
    members: &str,
    diagnostic: &Diagnostic,
    source: &str,
    failed_with: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let place = diagnostic.place(source);
    let number = |n: Option<u32>| n.map_or("null".to_string(), |n| n.to_string());
    write!(
        out,
        r#"{{{members}"kind":{},"message":{},"line":{},"column":{},"hint":{}"#,
        text_json(diagnostic.code.reason()),
        text_json(&diagnostic.message),
        number(place.map(|place| place.line)),
        number(place.map(|place| place.column)),
        text_json(&diagnostic.hint),
    )?;
    if let Some(trace) = &diagnostic.trace {
        trace_json(trace, source, out)?;
    }
    if let Some(json) = failed_with {
        write!(out, r#","json":{json}"#)?;
    }
    out.write_all(b"}")
}

/// The members `index` and `frames` of a diagnostic: the element it happened at, and the calls that led there.
fn trace_json(trace: &Trace, source: &str, out: &mut impl Write) -> io::Result<()> {
    if let Some(index) = trace.index {
        write!(out, r#","index":{index}"#)?;
    }
    if trace.inner.is_empty() {
        return Ok(());
    }
    let frame = |call: &CallFrame| {
        let by = call.by.as_ref().map_or(String::new(), |by| format!(r#","by":{}"#, text_json(by)));
        let index = call.index.map_or(String::new(), |index| format!(r#","index":{index}"#));
        let place = call.span.map(|span| place_of(source, span.start));
        let place =
            place.map_or(String::new(), |at| format!(r#","line":{},"column":{}"#, at.line, at.column));
        format!(r#"{{"function":{}{by}{index}{place}}}"#, text_json(&call.function))
    };
    let left_out = (trace.left_out > 0).then(|| format!(r#"{{"left_out":{}}}"#, trace.left_out));
    let inner = trace.inner.iter().map(frame);
    let frames: Vec<String> = inner.chain(left_out).chain(trace.outer.iter().map(frame)).collect();
    write!(out, r#","frames":[{}]"#, frames.join(","))
}

/// A diagnostic for standard error: with a coloured excerpt on a terminal, as plain text in pipes.
fn diagnostic_text(diagnostic: &Diagnostic, source: &str, name: &str) -> String {
    let colour = colour::on(&io::stderr());
    match colour || io::stderr().is_terminal() {
        true => excerpt::render(diagnostic, source, name, colour),
        false => diagnostic.to_text(source),
    }
}

/// A usage or file error, also under `--json` as one object.
pub fn problem(problem: &Problem, json: bool) -> ExitCode {
    if json {
        let report = Report::error((*problem.0).clone());
        return out(&(report.to_json("") + "\n"), USAGE);
    }
    let hint = problem.0.hint.as_ref().map(|hint| format!("\n hint: {hint}")).unwrap_or_default();
    let _ = writeln!(io::stderr(), "{}", visible(&format!("error: {}{hint}", problem.0.message)));
    ExitCode::from(USAGE)
}

/// Text made by a program, for standard output: as it is in pipes and files, and on a terminal without what would
/// steer it.
pub fn for_stdout(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { visible(text) } else { text.into() }
}

/// Writes `text` to standard output. A reader that went away is no error: `ptc … | head` is normal.
pub fn out(text: &str, code: u8) -> ExitCode {
    out_by(code, |out| out.write_all(text.as_bytes()))
}

/// Writes to standard output, like [`out`], text that is made piece by piece.
fn out_by(
    code: u8,
    write: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
) -> ExitCode {
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: cannot write the result: {error}");
            ExitCode::from(USAGE)
        }
        _ => ExitCode::from(code),
    }
}

/// Text, or anything made of text, as JSON.
pub fn text_json<T: serde::Serialize + ?Sized>(text: &T) -> String {
    // Text always has a JSON form.
    serde_json::to_string(text).unwrap_or_else(|_| "null".to_string())
}

#[cfg(test)]
mod tests {
    use super::{Errors, Report, Shown, Spent, Warnings};
    use ptc_bytecode::{Code, Diagnostic, Span};

    fn report(result: Result<Shown, Errors>) -> Report {
        let spent = Spent { fuel: 7, compile_fuel: 90, result_fuel: 3 };
        Report { prints: vec!["a\n\"b\"".into()], spent, result, warnings: Warnings::default() }
    }

    #[test]
    fn a_result_is_one_object() {
        let shown = Shown { value: "{:a 1}".into(), json: Some(Ok(r#"{"a":1}"#.into())) };
        assert_eq!(
            report(Ok(shown)).to_json(r#""id":3,"#),
            r#"{"id":3,"ok":true,"value":"{:a 1}","json":{"a":1},"prints":["a\n\"b\""],"fuel":7,"compile_fuel":90,"result_fuel":3}"#
        );
        let function = Shown { value: "#fn[x]".into(), json: Some(Err("no form".into())) };
        assert_eq!(
            report(Ok(function)).to_json(""),
            r##"{"ok":true,"value":"#fn[x]","json":null,"json_error":"no form","prints":["a\n\"b\""],"fuel":7,"compile_fuel":90,"result_fuel":3}"##
        );
    }

    #[test]
    fn an_error_has_a_place_and_a_hint_or_null() {
        let diagnostic = Diagnostic::error(Code::TypeError, Span::new(3, 8), "no").hint("do");
        assert_eq!(
            report(Err(Errors::one(diagnostic, "\n  (+ 1 nil)"))).to_json(""),
            r#"{"ok":false,"error":{"kind":"type_error","message":"no","line":2,"column":3,"hint":"do"},"prints":["a\n\"b\""],"fuel":7,"compile_fuel":90,"result_fuel":3}"#
        );
        let placeless = Diagnostic::without_span(Code::Timeout, "slow");
        assert!(Report::error(placeless).to_json("").contains(r#""line":null,"column":null,"hint":null}"#));
    }

    #[test]
    fn several_errors_are_all_told() {
        let [a, b] = ["a", "b"].map(|message| Diagnostic::without_span(Code::ParseError, message));
        let errors = Errors { diagnostics: vec![a, b], source: String::new(), failed_with: None };
        let json = report(Err(errors)).to_json("");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["error"]["message"], "a");
        assert_eq!(value["errors"][1]["message"], "b");
    }
}
