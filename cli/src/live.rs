//! Live report of a mission: its events, shown as they happen.

use crate::repl::paint;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ptc_agent::protocol::{MultipleBlocks, extract_program};
use ptc_agent::trace::{Event, Kind, Subscriber};
use serde_json::Value;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum length of arguments and values as shown.
const MAX_VALUE: usize = 200;

/// Amount of detail that is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// That something is being done, on a terminal.
    Busy,
    /// Turns, programs and calls of tools.
    Turns,
    /// Turns, programs and calls of tools, with replies as they arrive.
    Pieces,
}

impl Detail {
    /// The detail that the flags of a run ask for. A person at a terminal who asks for nothing is shown turns, unless a program reads
    /// the output.
    pub fn of_run(verbose: bool, stream: bool, json: bool) -> Detail {
        match (stream, verbose) {
            (true, _) => Detail::Pieces,
            (false, false) if !json && is_terminal() && io::stdout().is_terminal() => Detail::Turns,
            (false, verbose) => Detail::of(verbose),
        }
    }

    /// With turns or without.
    pub fn of(verbose: bool) -> Detail {
        if verbose { Detail::Turns } else { Detail::Busy }
    }
}

/// Tells events on standard error: a spinner on a terminal, and lines if they are wanted.
pub struct Live {
    spinner: Option<ProgressBar>,
    detail: Detail,
    colour: bool,
    reply: Mutex<Reply>,
}

/// The reply of the mission at the root, as far as it is shown.
#[derive(Default)]
struct Reply {
    is_shown: bool,
    /// True while its last line has no end.
    is_open: bool,
}

impl Live {
    /// With this much of it.
    pub fn new(detail: Detail) -> Live {
        let is_terminal = is_terminal();
        Live {
            // It would draw over a line that is not whole.
            spinner: (is_terminal && detail < Detail::Pieces).then(spinner),
            detail,
            colour: crate::colour::on(&io::stderr()),
            reply: Mutex::default(),
        }
    }

    /// True if anything would be seen.
    pub fn is_on(&self) -> bool {
        self.detail > Detail::Busy || self.spinner.is_some()
    }

    fn reply(&self) -> MutexGuard<'_, Reply> {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows more of a reply. Replies below the root may come side by side, so they are shown when they are whole.
    fn piece(&self, event: &Event) {
        if event.depth > 0 {
            return;
        }
        let Some(text) = event.data.get("text").and_then(Value::as_str) else {
            *self.reply() = Reply::default();
            self.say(0, &paint::aside("  (the reply starts over)", self.colour));
            return;
        };
        let mut reply = self.reply();
        let mut shown = String::new();
        for line in clean(text).split_inclusive('\n') {
            shown.push_str(if reply.is_open { "" } else { "  " });
            shown.push_str(line);
            reply.is_open = !line.ends_with('\n');
        }
        reply.is_shown = true;
        drop(io::stderr().write_all(shown.as_bytes()));
    }

    /// True if the reply of this event is on the screen.
    fn has_shown(&self, event: &Event) -> bool {
        event.depth == 0 && std::mem::take(&mut *self.reply()).is_shown
    }

    fn say(&self, depth: u32, text: &str) {
        let lead = "  ".repeat(2 * depth as usize);
        let text: String =
            text.lines().map(|line| format!("{}\n", format!("{lead}{line}").trim_end())).collect();
        let is_open = std::mem::take(&mut self.reply().is_open);
        let text = if is_open { format!("\n{text}") } else { text };
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| drop(io::stderr().write_all(text.as_bytes()))),
            // Nothing is left to tell anyone when standard error is closed.
            None => drop(io::stderr().write_all(text.as_bytes())),
        }
    }

    fn busy(&self, event: &Event, doing: &str) {
        if let Some(spinner) = &self.spinner {
            let who = event.agent_name.as_deref().map_or(String::new(), |name| format!("{}: ", clean(name)));
            let turn = event.turn.map_or(String::new(), |turn| format!("turn {turn}, "));
            spinner.set_message(format!("{who}{turn}{doing}"));
        }
    }

    fn line(&self, event: &Event) {
        let text = |key: &str| event.data.get(key).and_then(Value::as_str).unwrap_or_default();
        let aside = |text: &str| paint::aside(text, self.colour);
        let depth = event.depth;
        match event.kind {
            Kind::TurnStart => {
                let who = event.agent_name.as_deref().filter(|_| depth > 0);
                let who = who.map_or(String::new(), |name| format!("{}, ", clean(name)));
                let turn = event.turn.unwrap_or(0);
                self.say(depth, &paint::strong(&format!("{who}turn {turn}"), self.colour));
            }
            Kind::LlmStop => {
                let content = event.data.get("response").and_then(|reply| reply.get("content"));
                let is_open = self.reply().is_open;
                if self.has_shown(event) {
                    if is_open {
                        drop(io::stderr().write_all(b"\n"));
                    }
                } else if let Some(content) = content.and_then(Value::as_str) {
                    let program = extract_program(content, MultipleBlocks::Do).map(|found| found.program);
                    self.say(depth, &indented("", &program.unwrap_or_else(|_| content.trim().to_string())));
                }
                if let Some(error) = event.data.get("error") {
                    let message = error.get("message").and_then(Value::as_str).unwrap_or("no reply");
                    self.say(depth, &indented("error: ", message));
                }
            }
            Kind::ToolCall => {
                let name = event.tool_name.as_deref().unwrap_or("?");
                let args = event.data.get("args").map_or(String::new(), |args| short(&args.to_string()));
                let answer = match event.data.get("error").and_then(Value::as_str) {
                    Some(error) => format!("error: {}", short(error)),
                    None => event.data.get("result").map_or(String::new(), |r| short(&r.to_string())),
                };
                let cached = event.data.get("cached") == Some(&Value::Bool(true));
                let cached = if cached { " (cached)" } else { "" };
                self.say(depth, &aside(&indented("", &format!("tool/{name} {args} => {answer}{cached}"))));
            }
            Kind::ValidationWarning => self.say(depth, &indented("warning: ", text("message"))),
            Kind::LlmPiece => self.piece(event),
            Kind::CompactionTriggered => self.say(depth, &aside("  (older messages are left out)")),
            Kind::TurnStop => {
                for line in event.data.get("prints").and_then(Value::as_array).into_iter().flatten() {
                    self.say(depth, &indented("| ", line.as_str().unwrap_or_default()));
                }
                let result = short(text("result_preview"));
                if !result.is_empty() && event.data.contains_key("program") {
                    let failed = event.data.get("success") == Some(&Value::Bool(false));
                    let lead = if failed { "failed: " } else { "=> " };
                    self.say(depth, &indented(lead, &result));
                }
            }
            _ => {}
        }
    }
}

impl Subscriber for Live {
    fn event(&self, event: &Event) {
        if self.detail > Detail::Busy {
            self.line(event);
        }
        match event.kind {
            Kind::LlmStart => {
                let model = event.model.as_deref().map_or(String::new(), |name| format!(" {}", clean(name)));
                self.busy(event, &format!("asking{model}"));
            }
            Kind::LlmStop => self.busy(event, "running the program"),
            Kind::ToolStart => {
                let name = event.tool_name.as_deref().unwrap_or("?");
                self.busy(event, &format!("waiting for tool/{}", clean(name)));
            }
            // The last event of the mission at the root.
            kind if kind.ends_run() && event.depth == 0 => {
                if let Some(spinner) = &self.spinner {
                    spinner.finish_and_clear();
                }
            }
            _ => {}
        }
    }

    fn is_live(&self) -> bool {
        self.detail == Detail::Pieces
    }
}

/// True if somebody sees what is drawn on standard error.
fn is_terminal() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Text that was made elsewhere, without what would steer a terminal.
pub fn clean(text: &str) -> String {
    ptc_bytecode::text::visible(text).into_owned()
}

/// The beginning of a value, on one line.
fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if c == '\n' { ' ' } else { c }).take(MAX_VALUE).collect();
    if text.chars().nth(MAX_VALUE).is_some() { format!("{line}…") } else { line }
}

fn indented(lead: &str, text: &str) -> String {
    let lines = clean(text);
    let lines =
        lines.lines().enumerate().map(|(i, line)| format!("  {}{line}", if i == 0 { lead } else { "" }));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_does_not_steer_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\r\u{9b}31m"), "a␛[2Jb␍\u{fffd}31m");
        assert_eq!(indented("=> ", "1\n2\x07"), "  => 1\n  2␇");
        assert_eq!(short(&"x".repeat(300)).chars().count(), MAX_VALUE + 1);
    }
}
