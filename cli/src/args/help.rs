//! Help: which flags a command shows first, how commands are grouped, and how wide the text is.
//!
//! `-h` and `--help` are the same: the flags people use first. `--help-all` shows every flag. Both are clap's short and
//! long help, so a flag is left out of the former by `hide_short_help`, here or where it is declared.

use super::{Args, HELP};
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::fmt::Write;

/// Columns of help on a wider terminal, or where there is none.
const WIDTH: usize = 100;

/// Commands as `ptc --help` lists them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run programs", &["run", "eval", "repl", "studio", "batch", "sql", "check", "fmt", "disasm"]),
    ("Agents", &["agent", "trace"]),
    ("Preludes", &["test", "build", "inspect", "verify", "key", "store"]),
    ("Servers", &["mcp", "doctor", "upstream", "effects"]),
    ("Look things up", &["doc", "apropos", "explain"]),
    ("Set up", &["init", "lsp", "completions", "man"]),
];

/// Ids of the flags that people use first, of commands that have many. The others appear with `--help-all`.
const FIRST: &[(&[&str], &[&str])] = &[
    (
        &["eval"],
        &[
            "expr",
            "jsonl",
            "data",
            "stubs",
            "json",
            "preludes",
            "upstreams_config",
            "memory_bytes",
            "timeout_ms",
        ],
    ),
    (
        &["run"],
        &[
            "data",
            "stubs",
            "json",
            "preludes",
            "upstreams_config",
            "effects",
            "fuel",
            "memory_bytes",
            "timeout_ms",
        ],
    ),
    (
        &["repl"],
        &[
            "exprs",
            "loads",
            "interactive",
            "data",
            "stubs",
            "preludes",
            "upstreams_config",
            "llm",
            "mcp",
            "timeout_ms",
        ],
    ),
    (
        &["batch"],
        &[
            "expr",
            "rules",
            "reduce",
            "output",
            "errors",
            "threads",
            "take",
            "data",
            "json",
            "preludes",
            "memory_bytes",
            "timeout_ms",
        ],
    ),
    (
        &["agent", "run"],
        &[
            "inputs",
            "context",
            "llm",
            "replay",
            "record",
            "trace",
            "stubs",
            "verbose",
            "json",
            "preludes",
            "upstreams_config",
        ],
    ),
    (
        &["mcp"],
        &[
            "print_config",
            "upstreams-config",
            "aggregator-read-only",
            "prelude",
            "sessions",
            "agentic",
            "program-timeout-ms",
            "response-profile",
            "trace-dir",
            "http",
            "http-port",
            "http-auth-token-file",
        ],
    ),
];

/// The whole command line: what it parses, and its help.
pub fn command() -> Command {
    let everywhere =
        |id: &'static str, action| Arg::new(id).long(id).global(true).action(action).help_heading(HELP);
    let command = dressed(Args::command(), &mut Vec::new())
        .disable_help_flag(true)
        .max_term_width(WIDTH)
        .arg(
            everywhere("help", ArgAction::HelpShort).short('h').help("Print help with the most common flags"),
        )
        .arg(everywhere("help-all", ArgAction::HelpLong).help("Print help with every flag"));
    grouped(command)
}

/// A command with its help as we show it, and those below it.
fn dressed(command: Command, path: &mut Vec<String>) -> Command {
    let first = FIRST.iter().find(|(of, _)| of.iter().eq(path.iter())).map(|(_, first)| *first);
    let command = match first {
        Some(first) => command.mut_args(|arg| {
            let is_first = arg.is_positional() || first.contains(&arg.get_id().as_str());
            arg.hide_short_help(!is_first)
        }),
        None => command,
    };
    let command = command.mut_subcommands(|below| {
        path.push(below.get_name().to_string());
        let below = dressed(below, path);
        path.pop();
        below
    });
    // The full description of a command is above its flags, in the short and in the long help.
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let template = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
    command.before_help(about).help_template(template)
}

/// The command at the top, whose commands stand in groups.
fn grouped(command: Command) -> Command {
    let style = *command.get_styles().get_header();
    let name_style = *command.get_styles().get_literal();
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{style}{heading}:{style:#}");
        for below in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = below.get_about().map(StyledStr::to_string).unwrap_or_default();
            // In short, as there is a line for it. All of it is in the help of the command.
            let about = [": ", "; ", ". "]
                .iter()
                .filter_map(|end| about.split_once(end))
                .map(|(about, _)| about)
                .min_by_key(|about| about.len())
                .unwrap_or(&about);
            let _ = writeln!(text, "  {name_style}{:<12}{name_style:#} {about}", below.get_name());
        }
        text.push('\n');
    }
    let template = format!(
        "{{before-help}}{{usage-heading}} {{usage}}\n       ptc FILE [OPTIONS]  runs a file, like `ptc run FILE`\n\n\
         {text}{style}Options:{style:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_fit_together() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn flags_that_are_shown_first_exist_and_are_few() {
        for (path, first) in FIRST {
            let mut of = command();
            for name in *path {
                of = of.find_subcommand(name).expect(name).clone();
            }
            for id in *first {
                assert!(of.get_arguments().any(|arg| arg.get_id() == id), "{path:?} has no {id}");
            }
            assert!(first.len() <= 12, "{path:?} shows {} flags first", first.len());
        }
    }
}
