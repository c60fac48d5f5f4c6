//! The words of the command line, before and while clap reads them.

use super::{Args, command};
use crate::colour;
use clap::{ColorChoice, Command, FromArgMatches, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The arguments among these words, the first of which names the command. Help and usage errors are printed here, the
/// latter with exit code 2.
pub fn parse(mut words: Vec<OsString>) -> Args {
    // Usage errors have colours too, and come before there are arguments.
    let mut command = command().color(colours(&words));
    name_run(&mut words, &command);
    let matches = command.try_get_matches_from_mut(words).unwrap_or_else(|error| error.exit());
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit());
    colour::choose(args.color);
    args
}

/// The last `--color` among the words.
fn colours(words: &[OsString]) -> ColorChoice {
    let words: Vec<&str> =
        words.iter().map_while(|word| word.to_str().filter(|word| *word != "--")).collect();
    let given = words.iter().enumerate().rev().find_map(|(i, word)| match word.strip_prefix("--color")? {
        "" => words.get(i + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    given.and_then(|when| ColorChoice::from_str(when, false).ok()).unwrap_or_default()
}

/// `ptc FILE` is `ptc run FILE`.
fn name_run(words: &mut Vec<OsString>, command: &Command) {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match word {
            "--color" => at += 2,
            _ if word.starts_with("--color=") => at += 1,
            _ => break,
        }
    }
    let Some(word) = words.get(at) else { return };
    let is_command =
        word == "help" || word.to_str().is_some_and(|word| command.find_subcommand(word).is_some());
    if !is_command && is_program(word) {
        words.insert(at, "run".into());
    }
}

/// True if a word names a program, whether it exists or not.
fn is_program(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let looks = text.ends_with(".clj") || text.ends_with(".ptc") || text.contains(std::path::is_separator);
    !text.starts_with('-') && (looks || std::fs::metadata(Path::new(word)).is_ok_and(|about| !about.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &[&str]) -> Vec<String> {
        let mut words: Vec<OsString> = ["ptc"].iter().chain(words).map(OsString::from).collect();
        name_run(&mut words, &command());
        words.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_path_is_run_and_a_command_is_a_command() {
        assert_eq!(named(&["a.clj", "--json"]), ["run", "a.clj", "--json"]);
        assert_eq!(named(&["--color", "never", "./a"]), ["--color", "never", "run", "./a"]);
        assert_eq!(named(&["--color=never", "a.ptc"]), ["--color=never", "run", "a.ptc"]);
        for words in [&["run", "a.clj"][..], &["help"], &["evl"], &["--version"], &["-x.clj"], &[], &["."]] {
            assert_eq!(named(words), words);
        }
    }

    #[test]
    fn the_last_colour_counts() {
        let of = |words: &[&str]| colours(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["ptc", "--color", "always", "--color=never"]), ColorChoice::Never);
        assert_eq!(of(&["ptc", "--", "--color=never"]), ColorChoice::Auto);
        assert_eq!(of(&["ptc", "--color", "blue"]), ColorChoice::Auto);
    }
}
