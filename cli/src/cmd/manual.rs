//! `ptc completions` and `ptc man`: what shells and `man` know of the command line, made from it.

use crate::args::{CompletionsArgs, ManArgs, command};
use crate::problem::Problem;
use crate::report::{self, OK, out};
use clap::builder::StyledStr;
use clap::{Arg, Command};
use ptc_bytecode::Code;
use std::process::ExitCode;

pub fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "ptc", &mut script);
    out(&String::from_utf8_lossy(&script), OK)
}

pub fn man(args: &ManArgs) -> ExitCode {
    // Pages of `help` commands would say nothing.
    let mut command = command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(command, &mut pages);
    let Some(folder) = &args.folder else {
        return out(&pages.iter().map(|(_, page)| page.as_str()).collect::<String>(), OK);
    };
    let write = |(name, page): &(String, String)| std::fs::write(folder.join(format!("{name}.1")), page);
    match std::fs::create_dir_all(folder).and_then(|()| pages.iter().try_for_each(write)) {
        Ok(()) => {
            let told = format!(
                "wrote {} pages; read one with: man {}\n",
                pages.len(),
                folder.join("ptc.1").display()
            );
            out(&told, OK)
        }
        Err(error) => {
            let message = format!("cannot write the pages to {}: {error}", folder.display());
            report::problem(&Problem::new(Code::InvalidConfig, message), false)
        }
    }
}

/// The page of a command under its name, and those of the commands below it.
fn collect(mut command: Command, pages: &mut Vec<(String, String)>) {
    pages.push((name(&command), page(&mut command)));
    command.get_subcommands().for_each(|below| collect(below.clone(), pages));
}

/// The name of a page: `ptc-agent-run`.
fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

/// A manual page. The macros are those that every `man` knows; `clap_mangen` would add a hundred kilobytes.
fn page(command: &mut Command) -> String {
    let usage = command.render_usage().to_string();
    let (name, words) = (name(command), command.get_bin_name().unwrap_or_default().to_string());
    let about = command.get_about().map(StyledStr::to_string).unwrap_or_default();
    let long = command.get_long_about().map_or_else(|| about.clone(), StyledStr::to_string);
    let mut text = format!(".TH {name} 1\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", plain(&name), plain(&about));
    for (i, line) in usage.trim_start_matches("Usage:").trim().lines().enumerate() {
        let rest = line.trim().strip_prefix(&words).unwrap_or_default();
        let lead = if i > 0 { ".br\n" } else { "" };
        text.push_str(&format!("{lead}\\fB{}\\fR{}\n", plain(&words), plain(rest)));
    }
    text.push_str(&format!(".SH DESCRIPTION\n{}\n", plain(&long)));
    let (positionals, flags): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| !arg.is_hide_set()).partition(|arg| arg.is_positional());
    for (heading, args) in [("ARGUMENTS", positionals), ("OPTIONS", flags)] {
        if !args.is_empty() {
            text.push_str(&format!(".SH {heading}\n"));
        }
        args.iter().for_each(|arg| text.push_str(&item(arg)));
    }
    if command.has_subcommands() {
        text.push_str(".SH COMMANDS\n");
    }
    for below in command.get_subcommands() {
        let about = below.get_about().map(StyledStr::to_string).unwrap_or_default();
        text.push_str(&format!(".TP\n\\fB{name}\\-{}\\fR(1)\n{}\n", plain(below.get_name()), plain(&about)));
    }
    if let Some(after) = command.get_after_help() {
        text.push_str(&format!(".SH NOTES\n{}\n", plain(&after.to_string())));
    }
    text
}

/// An argument with its help, default and values.
fn item(arg: &Arg) -> String {
    let shown = arg.to_string();
    let (flag, value) =
        shown.split_once([' ', '[', '=']).map_or((&*shown, ""), |(flag, _)| (flag, &shown[flag.len()..]));
    let short = arg.get_short().map_or(String::new(), |short| format!("\\fB\\-{short}\\fR, "));
    let help = arg.get_long_help().or(arg.get_help()).map(StyledStr::to_string).unwrap_or_default();
    let mut text = format!(".TP\n{short}\\fB{}\\fR{}\n{}\n", plain(flag), plain(value), plain(&help));
    let values: Vec<String> = match arg.get_action().takes_values() {
        true => arg.get_possible_values().iter().map(|value| value.get_name().to_string()).collect(),
        false => Vec::new(),
    };
    if !values.is_empty() {
        text.push_str(&format!(".br\nPossible values: {}\n", plain(&values.join(", "))));
    }
    text
}

/// Text as roff has it.
fn plain(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let line = |line: &str| match line {
        "" => ".PP".to_string(),
        _ if line.starts_with(['.', '\'']) => format!("\\&{line}"),
        _ => line.to_string(),
    };
    escaped.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
