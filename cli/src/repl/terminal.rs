//! The REPL on a terminal.

use super::candidates::{Names, word_at};
use super::hint::{Hints, called};
use super::keys::{ABOUT, Colours, Completions, INDENT, MENU, Prompts, Shared, Whole, edit_mode};
use super::{Facade, Feed, Look, Repl, commands, history, indent, paint, stream};
use crate::args::ReplArgs;
use nu_ansi_term::Color;
use reedline::{EditCommand, IdeMenu, MenuBuilder, Reedline, ReedlineMenu, Signal};
use std::io;

/// Reads inputs until the user leaves.
pub fn run(repl: &mut Repl, args: &ReplArgs) -> io::Result<()> {
    stream::say(&welcome(repl), "")?;
    let names = Shared::new(Names::of(&repl.world, &repl.keywords));
    let mut editor = editor(args, &names, repl.look.colour)?;
    loop {
        let signal = editor.read_line(&Prompts)?;
        repl.look = look(repl.look.colour);
        match signal {
            Signal::Success(input) => {
                let answer = repl.feed(&input);
                answer.say()?;
                if answer.leaves {
                    return Ok(());
                }
                names.set(Names::of(&repl.world, &repl.keywords));
                // Now, not only at the end: a session may be killed.
                let _ = editor.sync_history();
            }
            Signal::CtrlD => return Ok(()),
            Signal::HostCommand(what) if what == INDENT => move_in(&mut editor),
            Signal::HostCommand(what) if what == ABOUT => {
                let word = meant(editor.current_buffer_contents(), editor.current_insertion_point());
                // Below the input, which is then shown again.
                let answer = repl.feed(&format!(":doc {word}"));
                stream::say(&format!("\n{}{}", answer.out, answer.err), "")?;
            }
            _ => {}
        }
    }
}

/// Reads inputs for a server, until the user leaves: without completion, which would not know what the server knows.
pub fn run_facade(facade: &mut Facade, args: &ReplArgs, colour: bool) -> io::Result<()> {
    let about =
        format!("ptc {}, as an MCP client: :help lists commands, Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    stream::say(&format!("{}\n", paint::aside(&about, colour)), "")?;
    let editor = Reedline::create().with_validator(Box::new(Whole)).with_highlighter(Box::new(Colours));
    let editor =
        editor.with_edit_mode(edit_mode(args.keys)).with_ansi_colors(colour).use_bracketed_paste(true);
    let mut editor = with_history(editor, args)?;
    loop {
        match editor.read_line(&Prompts)? {
            Signal::Success(input) => {
                let answer = facade.feed(&input);
                answer.say()?;
                if answer.leaves {
                    return Ok(());
                }
                let _ = editor.sync_history();
            }
            Signal::CtrlD => return Ok(()),
            Signal::HostCommand(what) if what == INDENT => move_in(&mut editor),
            _ => {}
        }
    }
}

/// Style of answers on this terminal now; it may have been resized.
pub fn look(colour: bool) -> Look {
    let width = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    Look { colour, width: Some(width.clamp(20, 120)), excerpts: Some(colour) }
}

fn welcome(repl: &Repl) -> String {
    let about = format!("ptc {}: :help lists commands, Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    let mut text = format!("{}\n", paint::aside(&about, repl.look.colour));
    if repl.world.runtime().preludes().next().is_some() {
        text.push_str(&commands::attached(repl));
    }
    text
}

fn editor(args: &ReplArgs, names: &Shared<Names>, colour: bool) -> io::Result<Reedline> {
    let menu = IdeMenu::default()
        .with_name(MENU)
        .with_marker("> ")
        .with_default_border()
        .with_max_completion_height(10)
        .with_min_description_width(30)
        .with_max_description_width(60)
        .with_text_style(nu_ansi_term::Style::new())
        .with_description_text_style(Color::DarkGray.normal())
        .with_selected_text_style(Color::Green.bold().reverse());
    let editor = Reedline::create()
        .with_completer(Box::new(Completions(names.clone())))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_validator(Box::new(Whole))
        .with_highlighter(Box::new(Colours))
        .with_hinter(Box::new(Hints::new(names.clone())))
        .with_edit_mode(edit_mode(args.keys))
        .with_history_exclusion_prefix(Some(" ".into()))
        .with_ansi_colors(colour)
        .use_bracketed_paste(true);
    with_history(editor, args)
}

fn with_history(mut editor: Reedline, args: &ReplArgs) -> io::Result<Reedline> {
    if let Some(file) = history::place(args) {
        match history::open(&file) {
            Ok(history) => editor = editor.with_history(Box::new(history)),
            Err(error) => {
                let note = format!("note: no history is kept: {}: {error}\n", file.display());
                stream::say("", &note)?;
            }
        }
    }
    Ok(editor)
}

/// The name F1 asks about: the one at the cursor, or else the function whose call it is in.
fn meant(line: &str, cursor: usize) -> &str {
    match word_at(line, cursor) {
        "" => called(line.get(..cursor).unwrap_or(line)).unwrap_or(""),
        word => word,
    }
}

/// Moves a line that was just begun to where it belongs.
fn move_in(editor: &mut Reedline) {
    let at = editor.current_insertion_point();
    let before = editor.current_buffer_contents().get(..at).unwrap_or("");
    if before.ends_with('\n') {
        let blanks = " ".repeat(indent::after(before));
        editor.run_edit_commands(&[EditCommand::InsertString(blanks)]);
    }
}
