//! The editor: what it completes, colours and takes for a whole input, and which keys do what.

use super::candidates::Names;
use super::commands;
use super::input::is_unfinished;
use super::matching::{at_cursor, pairs};
use super::paint;
use crate::args::Keys;
use nu_ansi_term::{Color, Style};
use ptc_compiler::{Piece, PieceKind, pieces};
use reedline::{
    Completer, CompletionResult, EditCommand, EditMode, Emacs, Highlighter, KeyCode, KeyModifiers,
    Keybindings, Prompt, PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus, PromptViMode,
    ReedlineEvent, Span, StyledText, Suggestion, ValidationResult, Validator, Vi, default_emacs_keybindings,
    default_vi_insert_keybindings, default_vi_normal_keybindings, default_vi_visual_keybindings,
};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the completion menu.
pub const MENU: &str = "completion";
/// Sent to the host behind Enter, so that it can move the new line in.
pub const INDENT: &str = "indent";
/// Sent to the host by F1.
pub const ABOUT: &str = "about";

/// Something the editor and the REPL both look at.
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(self.0.clone())
    }
}

impl<T> Shared<T> {
    pub fn new(value: T) -> Shared<T> {
        Shared(Arc::new(Mutex::new(value)))
    }

    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn set(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

/// Completes names.
pub struct Completions(pub Shared<Names>);

impl Completer for Completions {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let (range, found) = self.0.read(|names| names.candidates(line, pos));
        let suggestion = |candidate: super::candidates::Candidate| Suggestion {
            value: candidate.text,
            description: Some(candidate.about),
            span: Span::new(range.start, range.end),
            ..Suggestion::default()
        };
        CompletionResult::fresh(found.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// An input is whole when its brackets are closed.
pub struct Whole;

impl Validator for Whole {
    fn validate(&self, line: &str) -> ValidationResult {
        if is_unfinished(line) { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

/// Colours, the bracket that belongs to the one at the cursor, and brackets that fit nothing.
pub struct Colours;

impl Highlighter for Colours {
    fn highlight(&self, line: &str, cursor: usize) -> StyledText {
        let mut out = StyledText::new();
        let mut end = 0;
        if let Some((command, _)) = commands::find(line) {
            let start = line.len() - line.trim_start().len();
            end = line[start..].find(char::is_whitespace).map_or(line.len(), |at| start + at);
            out.push((Color::Yellow.bold(), line[..end].to_string()));
            if !command.takes_code {
                out.push((Style::new(), line[end..].to_string()));
                return out;
            }
        }
        let found = pieces(line);
        let partners = pairs(&found, line);
        let here = at_cursor(&found, cursor);
        let shown = here.and_then(|here| Some([here, partners[here]?]));
        // Not at the end of an input that is whole: that is how it looks once it is sent.
        let is_closed =
            |(piece, partner): (&Piece, &Option<usize>)| piece.kind != PieceKind::Open || partner.is_some();
        let is_whole = cursor == line.len() && found.iter().zip(&partners).all(is_closed);
        let shown = shown.filter(|_| !is_whole);
        for (at, piece) in found.iter().enumerate() {
            let (from, to) = (piece.span.start as usize, piece.span.end as usize);
            if from < end {
                continue;
            }
            out.push((Style::new(), line[end..from].to_string()));
            let style = match piece.kind {
                _ if shown.is_some_and(|shown| shown.contains(&at)) => Color::Yellow.bold().underline(),
                PieceKind::Close if partners[at].is_none() => Color::Red.bold(),
                _ => paint::style(piece, line),
            };
            out.push((style, line[from..to].to_string()));
            end = to;
        }
        out.push((Style::new(), line[end..].to_string()));
        out
    }
}

/// The texts before an input, and before its further lines.
pub struct Prompts;

/// Before an input.
pub const PROMPT: &str = "ptc> ";
/// Before further lines of it.
pub const MORE: &str = "...  ";

impl Prompt for Prompts {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "ptc".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, mode: PromptEditMode) -> Cow<'_, str> {
        match mode {
            PromptEditMode::Vi(PromptViMode::Normal) => ": ".into(),
            _ => "> ".into(),
        }
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        MORE.into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "earlier input",
            PromptHistorySearchStatus::Failing => "no earlier input",
        };
        format!(" ({found} with `{}`) ", search.term).into()
    }

    fn get_prompt_color(&self) -> Color {
        Color::Green
    }

    fn get_indicator_color(&self) -> Color {
        Color::Green
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::DarkGray
    }
}

/// The editor's keys.
pub fn edit_mode(keys: Keys) -> Box<dyn EditMode> {
    match keys {
        Keys::Emacs => Box::new(Emacs::new(bound(default_emacs_keybindings()))),
        Keys::Vi => Box::new(Vi::new(
            bound(default_vi_insert_keybindings()),
            bound(default_vi_normal_keybindings()),
            default_vi_visual_keybindings(),
        )),
    }
}

fn bound(mut keys: Keybindings) -> Keybindings {
    let until_found = |events| ReedlineEvent::UntilFound(events);
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        until_found(vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext]),
    );
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    // While searching the history only the plain event means anything.
    let enter =
        ReedlineEvent::Multiple(vec![ReedlineEvent::Enter, ReedlineEvent::ExecuteHostCommand(INDENT.into())]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Enter, until_found(vec![enter, ReedlineEvent::Enter]));
    let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
    keys.add_binding(KeyModifiers::NONE, KeyCode::F(1), ReedlineEvent::ExecuteHostCommand(ABOUT.into()));
    keys
}

#[cfg(test)]
mod tests {
    use super::Colours;
    use reedline::Highlighter;

    #[test]
    fn colouring_loses_no_text() {
        for line in
            ["", "(+ 1 2)", "  :time (inc 1)", ":doc map", "(] \"é", "; c", ":time", ":load a(b", "x\n  y"]
        {
            for cursor in 0..=line.len() {
                let text: String =
                    Colours.highlight(line, cursor).buffer.iter().map(|(_, s)| s.as_str()).collect();
                assert_eq!(text, line);
            }
        }
    }
}
