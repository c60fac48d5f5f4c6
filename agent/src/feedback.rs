//! Feedback to a model after its turn: values, errors, reminders. Each text is a pure function of the turn. Everything
//! observed is redacted and marked as data on the way in.
//!
//! ```
//! use ptc_agent::{feedback::Feedback, prompt::FormatOptions};
//! use ptc_contract::{data::PromptLimit, firewall::Secrets};
//! let mut secrets = Secrets::default();
//! let text = Feedback::new(&mut secrets, PromptLimit::default(), FormatOptions::default())
//!     .no_program()
//!     .finish(None);
//! assert!(text.starts_with("No PTC-Lisp program found"));
//! ```

mod turns;

pub use turns::Turns;

use crate::attachments::Attachments;
use crate::prompt::{FormatOptions, NOTICE, Source, untrusted};
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{PromptLimit, Shown, Tree, cut};
use ptc_contract::firewall::{FIREWALLED, Secrets, is_firewalled};
use ptc_contract::signature::{Style, Type, ValidationError, list_errors};
use ptc_model::Part;
use ptc_runtime::Failure;

/// A message to a model that is being written.
pub struct Feedback<'s> {
    secrets: &'s mut Secrets,
    limit: PromptLimit,
    format: FormatOptions,
    blocks: Vec<String>,
    has_data: bool,
    attachments: Attachments,
}

/// Outcome of a turn that does not end the mission.
#[derive(Clone, Debug, Default)]
pub struct Progress<'p> {
    /// Value of the program.
    pub result: Option<&'p Datum>,
    /// Printed texts, one entry per call.
    pub prints: &'p [String],
    /// New or changed definitions with their values; functions in printed form.
    pub definitions: &'p [(String, Datum)],
    /// Keys of the result that later turns can read as `data/key`.
    pub keys: &'p [String],
    /// Plan, as a checklist.
    pub plan: Option<&'p str>,
    /// Reason why the value did not become `*1`, if it was too large for that.
    pub forgotten: Option<&'p str>,
}

/// Warnings about a program and its calls, one line each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramWarnings {
    /// Likely mistakes in the program's text.
    pub program: Vec<String>,
    /// Coerced arguments of tools.
    pub calls: Vec<String>,
}

impl<'s> Feedback<'s> {
    /// Starts an empty message.
    pub fn new(secrets: &'s mut Secrets, limit: PromptLimit, format: FormatOptions) -> Feedback<'s> {
        let attachments = Attachments::default();
        Feedback { secrets, limit, format, blocks: Vec::new(), has_data: false, attachments }
    }

    /// Returns the whole text, with the turn line at its end.
    pub fn finish(self, turns: Option<&Turns>) -> String {
        self.finish_with_parts(turns).0
    }

    /// Returns the whole text, with the images and documents of the shown values.
    pub fn finish_with_parts(self, turns: Option<&Turns>) -> (String, Vec<Part>) {
        let mut blocks = self.blocks;
        if self.has_data {
            blocks.insert(0, NOTICE.trim().to_string());
        }
        blocks.extend(turns.and_then(|turns| turns.line(self.format.minimal_turn_info)));
        (blocks.join("\n\n"), self.attachments.into_parts())
    }

    fn say(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(text.into());
        self
    }

    /// Adds observed text: redacted, within the limit, marked as data.
    fn observe(mut self, source: Source, heading: &str, text: &str) -> Self {
        // With more firewalled values than can be searched for, only text that kept its structure can be trusted.
        let has_structure = matches!(source, Source::Result | Source::Memory);
        let public = match self.secrets.overflowed() && !has_structure {
            true => FIREWALLED.to_string(),
            false => self.secrets.redact(text),
        };
        let cut = cut(&public, self.format.feedback_max_chars);
        let gap = if heading.is_empty() { "" } else { "\n" };
        self.blocks.push(format!("{heading}{gap}{}", untrusted(source, &cut)));
        self.has_data = true;
        self
    }

    /// Shows a value within the limits, redacted.
    fn preview(&mut self, value: &Datum, chars: usize) -> String {
        let items = self.format.feedback_limit.unwrap_or(self.limit.list);
        let shown = Shown { items, string: self.limit.string, chars, depth: 8 };
        self.attachments.show(Tree::new(value).root(), shown, self.secrets)
    }

    /// Reports a reply without a program; the mission is still open.
    pub fn no_program(self) -> Self {
        self.say(
            "No PTC-Lisp program found in that reply, and the mission is still open. Send the next step as one \
             fenced clojure block, or finish with `(return value)` or `(fail {:reason :not_found :message \"why\"})`.",
        )
    }

    /// Reports more than one program block.
    pub fn several_blocks(self, count: usize) -> Self {
        self.say(format!("{count} code blocks received, one expected. Merge them into a single block."))
    }

    /// Reports that the program failed.
    pub fn program_error(self, failure: &Failure) -> Self {
        let first = failure.diagnostic();
        let place = first.place(failure.source());
        let place =
            place.map_or(String::new(), |place| format!(" at line {}, column {}", place.line, place.column));
        let mut text: Vec<String> = failure
            .diagnostics
            .iter()
            .take(3)
            .map(|d| d.to_text(failure.source()).trim_end().to_string())
            .collect();
        if failure.diagnostics.len() > text.len() {
            text.push(format!("and {} more", failure.diagnostics.len() - text.len()));
        }
        let source =
            if first.code == ptc_bytecode::Code::ToolError { Source::ToolError } else { Source::Error };
        let heading = format!("The program failed ({}){place}:", failure.reason());
        self.observe(source, &heading, &text.join("\n"))
    }

    /// Reports a failure outside the program's code: reason and message.
    pub fn failed(self, reason: &str, message: &str) -> Self {
        self.observe(Source::Error, &format!("The program failed ({reason}):"), message)
    }

    /// Reports that the returned value does not fit.
    pub fn bad_return(mut self, expected: &Type, received: &Datum, errors: &[ValidationError]) -> Self {
        let received = cut(&self.preview(received, 200), 200);
        let errors = list_errors("Errors:", errors);
        let expected = expected.render(Style::Kebab);
        self.say(format!("The returned value does not match the contract.\nExpected: {expected}"))
            .observe(Source::Result, "Received:", &received)
            .observe(Source::Error, "", &errors)
            .say("Return a corrected value with `(return value)`.")
    }

    /// Reports that the program ran, and that the mission continues.
    pub fn progress(self, progress: &Progress<'_>) -> Self {
        let mut this = self;
        if let Some(result) = progress.result {
            let most = this.format.feedback_max_chars;
            let preview = this.preview(result, most);
            let tree = Tree::new(result);
            let ty = Type::infer(tree.root());
            let mut notes = String::new();
            let shown = this.format.feedback_limit.unwrap_or(this.limit.list);
            let count = tree.root().len();
            if matches!(result.nodes().last(), Some(Node::Vector(_) | Node::Map(_) | Node::Set(_)))
                && count > shown
            {
                let whole = if progress.forgotten.is_none() { "; full data in *1" } else { "" };
                notes = format!("\n[{shown} of {count} items shown{whole}]");
            }
            if let Some(why) = progress.forgotten {
                let instead = match progress.keys {
                    [] => "define the part you need".to_string(),
                    [one] => format!("read data/{one}, or define the part you need"),
                    _ => "read its entries as data/…, or define the part you need".to_string(),
                };
                notes.push_str(&format!("\n[*1 was not kept: {why}; {instead}]"));
            }
            this = this.observe(Source::Result, "Result:", &format!("{preview} ; {ty}{notes}"));
        }
        if !progress.prints.is_empty() {
            let lines: Vec<String> =
                progress.prints.iter().map(|line| cut(line, this.format.max_print_length)).collect();
            this = this.observe(Source::Println, "Printed:", &lines.join("\n"));
        }
        if !progress.definitions.is_empty() {
            let lines: Vec<String> = progress
                .definitions
                .iter()
                .map(|(name, value)| {
                    let shown = if is_firewalled(name) {
                        FIREWALLED.to_string()
                    } else {
                        this.preview(value, this.format.preview_max_chars)
                    };
                    format!("{name} = {shown} ; {}", Type::infer(Tree::new(value).root()))
                })
                .collect();
            this = this.observe(Source::Memory, "Defined:", &lines.join("\n"));
        }
        if !progress.keys.is_empty() {
            let names: Vec<String> = progress.keys.iter().map(|key| format!("data/{key}")).collect();
            // Keys come from data, like everything else in a result, so they are marked as observed.
            this = this.observe(Source::Result, "Readable from now on:", &names.join(" "));
        }
        if let Some(plan) = progress.plan {
            this = this.say(plan);
        }
        this
    }

    /// Reports a fenced program where the transport is a tool call.
    pub fn use_lisp_eval(self) -> Self {
        self.say("Send the program through the lisp_eval tool, not as a fenced block.")
    }

    /// Reports that definitions grew too large and were undone.
    pub fn rolled_back(self, bytes: usize, limit: usize) -> Self {
        self.say(format!(
            "Definitions would use {bytes} of {limit} bytes; this turn's changes were undone. Keep smaller \
             projections or work in batches."
        ))
    }

    /// Reports a result that did not fit next to the definitions.
    pub(crate) fn unread(self, bytes: usize, limit: usize) -> Self {
        self.say(format!(
            "With this result {bytes} of {limit} bytes would be in use, so nothing of it is readable as data/…. \
             Define the part you need."
        ))
    }

    /// Warns about a program: likely mistakes in its text, and coerced arguments.
    ///
    /// ```
    /// use ptc_agent::feedback::{Feedback, ProgramWarnings};
    /// use ptc_agent::prompt::FormatOptions;
    /// use ptc_contract::{data::PromptLimit, firewall::Secrets};
    /// let warnings = ProgramWarnings { program: vec!["a slip".to_string()], ..ProgramWarnings::default() };
    /// let mut secrets = Secrets::default();
    /// let feedback = Feedback::new(&mut secrets, PromptLimit::default(), FormatOptions::default());
    /// assert!(feedback.warned(&warnings).finish(None).contains("Warnings about the program:"));
    /// ```
    pub fn warned(self, warnings: &ProgramWarnings) -> Self {
        let this = match warnings.program.is_empty() {
            true => self,
            false => self.observe(Source::Error, "Warnings about the program:", &warnings.program.join("\n")),
        };
        this.coerced(&warnings.calls)
    }

    /// Reports coerced arguments.
    pub fn coerced(self, warnings: &[String]) -> Self {
        if warnings.is_empty() {
            return self;
        }
        let lines = list_errors("Tool validation warnings:", warnings);
        self.observe(Source::Error, "", &lines)
    }

    /// Adds a line of trusted text.
    pub(crate) fn note(self, text: impl Into<String>) -> Self {
        self.say(text)
    }

    /// Reports a final answer in text that does not fit.
    pub fn bad_final(self, error: &str, shape: &str, reply: &str) -> Self {
        let excerpt = cut(reply, 500);
        self.say("That answer does not fit the expected output.")
            .observe(Source::Error, "", error)
            .observe(Source::Reply, "The answer was:", &excerpt)
            .say(format!("Reply with only {shape}."))
    }

    /// Reports a reply with neither text nor tool calls.
    pub fn empty_reply(self) -> Self {
        self.say("The reply had neither text nor tool calls. Use a tool or give the final answer.")
    }
}
