//! Limits as flags. They are made from the table of limits, so a new limit is a new flag.

use crate::quantity;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use ptc_bytecode::{LIMITS, LimitRow, Limits, Unit};

/// Limits that `-h` shows; the others appear with `--help`.
const COMMON: &[&str] =
    &["fuel", "memory_bytes", "stack_bytes", "timeout_ms", "loop_iterations", "output_bytes"];

/// The limits as set by `--fuel`, `--memory`, … and `--limit NAME=VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct LimitArgs(pub Limits);

/// `memory_bytes` is `--memory`, `timeout_ms` is `--timeout`, `loop_iterations` stays whole.
fn flag(row: &LimitRow) -> String {
    let name = match row.unit {
        Unit::Bytes => row.name.strip_suffix("_bytes"),
        Unit::Millis => row.name.strip_suffix("_ms"),
        Unit::Count => None,
    };
    name.unwrap_or(row.name).replace('_', "-")
}

fn value_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "BYTES",
        Unit::Millis => "TIME",
        Unit::Count => "N",
    }
}

/// `NAME=VALUE` of `--limit`.
pub fn parse_pair(text: &str) -> Result<(&'static str, u64), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| match text.parse::<u64>() {
        // In other tools, the number of records.
        Ok(count) => format!("expected NAME=VALUE, such as fuel=1000; `ptc batch --take {count}` runs the first {count} records"),
        Err(_) => "expected NAME=VALUE, such as fuel=1000".to_string(),
    })?;
    let row = LIMITS.iter().find(|row| row.name == name).ok_or_else(|| {
        let names: Vec<&str> = LIMITS.iter().map(|row| row.name).collect();
        format!("there is no limit `{name}`; the limits are {}", names.join(", "))
    })?;
    Ok((row.name, quantity::parse(value, row.unit)?))
}

impl Args for LimitArgs {
    fn augment_args(mut command: Command) -> Command {
        for row in LIMITS {
            let unit = row.unit;
            let help = format!("{} [default: {}]", row.doc.trim(), quantity::show(row.default, unit));
            command = command.arg(
                Arg::new(row.name)
                    .long(flag(row))
                    .value_name(value_name(unit))
                    .help(help)
                    .help_heading("Limits")
                    .hide_short_help(!COMMON.contains(&row.name))
                    .value_parser(move |text: &str| quantity::parse_flag(text, unit)),
            );
        }
        command.arg(
            Arg::new("limit")
                .long("limit")
                .value_name("NAME=VALUE")
                .help("Sets a limit by its name in error messages")
                .help_heading("Limits")
                .action(ArgAction::Append)
                .value_parser(parse_pair),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        LimitArgs::augment_args(command)
    }
}

impl FromArgMatches for LimitArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LimitArgs, Error> {
        let mut args = LimitArgs(Limits::default());
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let flags = LIMITS.iter().filter_map(|row| Some((row.name, *matches.get_one::<u64>(row.name)?)));
        let pairs = matches.get_many::<(&'static str, u64)>("limit").into_iter().flatten().copied();
        for (name, value) in flags.chain(pairs) {
            self.0.set(name, value);
        }
        self.0.check().map_err(|why| Error::raw(clap::error::ErrorKind::ValueValidation, format!("{why}\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::{LIMITS, flag, parse_pair};

    #[test]
    fn flags_read_well_and_are_unique() {
        let flags: Vec<String> = LIMITS.iter().map(flag).collect();
        for wanted in ["fuel", "memory", "stack", "timeout", "loop-iterations", "output"] {
            assert!(flags.iter().any(|flag| flag == wanted), "{wanted}");
        }
        for (i, flag) in flags.iter().enumerate() {
            assert!(!flags[..i].contains(flag), "--{flag} stands for two limits");
        }
    }

    #[test]
    fn pairs_use_the_unit_of_the_limit() {
        assert_eq!(parse_pair("memory_bytes=1MB"), Ok(("memory_bytes", 1_000_000)));
        assert_eq!(parse_pair("timeout_ms=2s"), Ok(("timeout_ms", 2_000)));
        assert!(parse_pair("speed=1").is_err_and(|why| why.contains("fuel, memory_bytes")));
        assert!(parse_pair("fuel").is_err());
    }
}
