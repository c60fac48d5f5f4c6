//! Commands that look something up: names of the session, then of preludes, then of the language.

use super::world::TypedDefinition;
use super::{Answer, Repl, paint};
use crate::cmd::doc::{lines, page};
use ptc_runtime::{Catalog, Effects, ExportRecord, Frozen};

/// Characters of a value in a list.
const SHOWN: usize = 60;
/// Maximum results of a search.
const FOUND: usize = 20;

pub fn doc(repl: &mut Repl, name: &str) -> Answer {
    let name = name.trim_start_matches('\'');
    if name.is_empty() {
        return Answer::failed("error: which name? Write `:doc map`\n hint: `:apropos sort` searches\n");
    }
    let plain = !repl.look.colour;
    if let Some(value) = repl.world.definition(name) {
        return Answer::out(session_page(name, repl.world.typed(name), value, repl.look.colour));
    }
    let catalog = repl.world.catalog();
    if let Some(command) = super::commands::COMMANDS.iter().find(|command| command.names.contains(&name)) {
        return (super::commands::COMMANDS[0].run)(repl, command.names[0]);
    }
    if let Some(entry) = catalog.find(name) {
        let runtime = repl.world.runtime();
        let export =
            runtime.prelude_of(&entry.reference).and_then(|prelude| prelude.export(&entry.reference));
        let effect = runtime.export_effect(&entry.reference);
        return Answer::out(page(entry, plain) + &export.zip(effect).map_or(String::new(), needs));
    }
    match catalog.members(name) {
        members if !members.is_empty() => Answer::out(lines(&members, false, plain)),
        _ => missing(name, catalog),
    }
}

/// The facts about an export besides its doc string.
fn needs((export, effect): (&ExportRecord, Effects)) -> String {
    let mut text = format!("  visibility {}, effect {}\n", export.visibility.name(), effect.name());
    for id in &export.requires {
        text.push_str(&format!("  requires {id}\n"));
    }
    if export.dynamic {
        text.push_str("  may call any upstream operation\n");
    }
    text
}

fn session_page(name: &str, typed: Option<&TypedDefinition>, value: &Frozen, colour: bool) -> String {
    let calls = typed.map_or(&[][..], |typed| &typed.signatures);
    let mut text = String::new();
    for call in calls {
        text.push_str(&format!("{}\n", paint::strong(call, colour)));
    }
    if calls.is_empty() {
        text.push_str(&format!("{} = {}\n", paint::strong(name, colour), preview(value)));
    }
    if let Some(doc) = typed.and_then(|typed| typed.doc.as_deref()) {
        text.push_str(&format!("\n  {doc}\n"));
    }
    text + "\n  defined in this session\n"
}

fn missing(name: &str, catalog: &Catalog) -> Answer {
    let hint = match catalog.near(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`:apropos {name}` searches"),
    };
    Answer::failed(format!("error: there is no `{name}`\n hint: {hint}\n"))
}

pub fn dir(repl: &mut Repl, name: &str) -> Answer {
    let name = name.trim_start_matches('\'');
    let catalog = repl.world.catalog();
    if name.is_empty() {
        return Answer::out(catalog.namespaces().iter().map(|name| format!("{name}\n")).collect::<String>());
    }
    match catalog.members(name) {
        members if members.is_empty() => {
            let known = catalog.namespaces().join(" ");
            Answer::failed(format!("error: there is no namespace `{name}`\n hint: namespaces: {known}\n"))
        }
        members => Answer::out(lines(&members, false, !repl.look.colour)),
    }
}

pub fn apropos(repl: &mut Repl, words: &str) -> Answer {
    let words = words.trim_matches('"');
    let catalog = repl.world.catalog();
    match catalog.search(words, FOUND) {
        found if found.is_empty() => {
            let hint = match catalog.near(words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "try a word from what it should do, such as `:apropos group`".to_string(),
            };
            Answer::failed(format!("error: nothing matches `{words}`\n hint: {hint}\n"))
        }
        found => Answer::out(lines(&found, true, !repl.look.colour)),
    }
}

pub fn source(repl: &mut Repl, name: &str) -> Answer {
    let name = name.trim_start_matches('\'');
    let of_prelude = repl.world.runtime().preludes().find_map(|prelude| prelude.source_of(name));
    let text = repl.world.typed(name).map(|typed| typed.text.as_str()).or(of_prelude);
    let look = super::Look { width: None, ..repl.look };
    let (why, hint) = match text {
        Some(text) => return Answer::out(format!("{}\n", super::layout::lay_out(text, 0, look))),
        None if repl.world.runtime().prelude_of(name).is_some() => (
            ": the compiled file has no source inside that matches its code",
            format!(
                "`ptc inspect --source {name} FILE` shows what the file says; attach the source to be sure"
            ),
        ),
        None if repl.world.catalog().find(name).is_some() => {
            (", which is part of the language", format!("`:doc {name}` says what it does"))
        }
        None => ("", "`:defs` lists what this session has defined".to_string()),
    };
    Answer::failed(format!("error: there is no source of `{name}`{why}\n hint: {hint}\n"))
}

pub fn defs(repl: &mut Repl, _: &str) -> Answer {
    let names: Vec<&str> = repl.world.defined().collect();
    if names.is_empty() {
        return Answer::out("nothing is defined yet\n");
    }
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(24);
    let mut out = String::new();
    for name in names {
        let Some(value) = repl.world.definition(name) else { continue };
        let typed = repl.world.typed(name);
        let about = match typed.filter(|typed| !typed.signatures.is_empty()) {
            Some(typed) => {
                let doc = typed.doc.as_deref().map_or(String::new(), |doc| format!("  {}", one_line(doc)));
                format!("{}{doc}", typed.signatures.join(" "))
            }
            None => preview(value),
        };
        let pad = " ".repeat(width.saturating_sub(name.chars().count()));
        out.push_str(&format!("{}{pad}  {about}\n", paint::strong(name, repl.look.colour)));
    }
    Answer::out(out)
}

/// The beginning of a value.
fn preview(value: &Frozen) -> String {
    value.read(|heap, value| {
        let mut text = String::new();
        let is_whole = heap.print(value, &mut text, SHOWN).is_ok();
        if is_whole { text } else { format!("{}…", short(&text, SHOWN).trim_end_matches('…')) }
    })
}

/// A text on one line, cut to so many characters.
pub fn short(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// A text on one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
