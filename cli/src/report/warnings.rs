//! Warnings beside a result: as diagnostics on standard error, or as members of a JSON object.

use super::{diagnostic_json, diagnostic_text};
use ptc_bytecode::{Diagnostic, MAX_SHOWN_WARNINGS, shown_warnings};
use ptc_runtime::{Failure, Outcome, Program};
use std::io::{self, Write};

/// Warnings about one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    diagnostics: Vec<Diagnostic>,
    /// The text that spans point into.
    source: String,
}

impl Warnings {
    /// Those of a run: of its program, and of what happened in it.
    pub fn of(result: &Result<Outcome, Failure>) -> Warnings {
        match result {
            Ok(outcome) => Warnings::new(outcome.warnings(), outcome.source()),
            Err(failure) => Warnings::new(failure.warnings(), failure.source()),
        }
    }

    /// Those of a program that has not run.
    pub fn of_program(program: &Program) -> Warnings {
        Warnings::new(program.warnings(), program.source())
    }

    /// Warnings about `source`, which is copied only if there are any.
    pub fn new(warnings: &[Diagnostic], source: &str) -> Warnings {
        match warnings.is_empty() {
            true => Warnings::default(),
            false => Warnings { diagnostics: warnings.to_vec(), source: source.to_string() },
        }
    }

    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The warnings with every text changed, as a redactor does.
    #[must_use]
    pub fn map(mut self, clean: impl Fn(String) -> String) -> Warnings {
        for diagnostic in &mut self.diagnostics {
            diagnostic.message = clean(std::mem::take(&mut diagnostic.message));
            diagnostic.hint = diagnostic.hint.take().map(&clean);
        }
        self
    }

    /// Each as a JSON object.
    pub fn json(&self) -> Vec<serde_json::Value> {
        let objects = self.objects("");
        objects.iter().filter_map(|object| serde_json::from_str(object).ok()).collect()
    }

    /// Members for the end of a JSON object: see [`warning_members`].
    pub fn members(&self) -> String {
        warning_members(&self.objects(""))
    }

    /// Each as an object that begins with `members` (such as `"rule":"vip",`).
    pub fn objects(&self, members: &str) -> Vec<String> {
        let object = |warning: &Diagnostic| {
            let mut out = Vec::new();
            // Writing to memory does not fail, and all of it is text.
            let _ = diagnostic_json(members, warning, &self.source, None, &mut out);
            String::from_utf8(out).unwrap_or_default()
        };
        self.diagnostics.iter().map(object).collect()
    }

    /// Text for standard error, where each is shown by `one` with an excerpt of the source.
    pub fn text(&self, one: impl Fn(&Diagnostic, &str) -> String) -> String {
        let (shown, left_out) = shown_warnings(&self.diagnostics);
        let mut text: String = shown.iter().map(|warning| one(warning, &self.source)).collect();
        if left_out > 0 {
            text.push_str(&format!("and {left_out} more\n"));
        }
        text
    }

    /// Writes them to standard error, as errors are written.
    pub fn show(&self, name: &str) {
        let text = self.text(|warning, source| diagnostic_text(warning, source, name));
        // Nothing is left to tell anyone when standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// `,"warnings":[…]`, and how many more there are; nothing if there are none, so that such results stay as they are.
pub fn warning_members(objects: &[String]) -> String {
    let shown = objects.len().min(MAX_SHOWN_WARNINGS);
    match objects.len() - shown {
        _ if shown == 0 => String::new(),
        0 => format!(r#","warnings":[{}]"#, objects.join(",")),
        left_out => {
            let shown = objects[..shown].join(",");
            format!(r#","warnings":[{shown}],"warnings_left_out":{left_out}"#)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Warnings;
    use ptc_bytecode::{Code, Diagnostic, Span};

    fn warnings(count: usize) -> Warnings {
        let at = |at| Diagnostic::warning(Code::SurplusBracket, Span::new(at, at + 1), "no");
        Warnings::new(&(0..count).map(at).collect::<Vec<_>>(), "))))))")
    }

    #[test]
    fn no_warnings_leave_no_trace() {
        assert_eq!(warnings(0).members(), "");
        assert_eq!(warnings(0).text(|_, _| unreachable!()), "");
    }

    #[test]
    fn more_than_three_are_counted() {
        let one = r#"{"kind":"surplus_bracket","message":"no","line":1,"column":1,"hint":null}"#;
        assert_eq!(warnings(1).members(), format!(r#","warnings":[{one}]"#));
        assert!(warnings(5).members().ends_with(r#""column":3,"hint":null}],"warnings_left_out":2"#));
        assert_eq!(warnings(5).text(|_, _| "w\n".to_string()), "w\nw\nw\nand 2 more\n");
    }
}
