//! Numbers as people write them on a command line: `10MB`, `64MiB`, `1_000_000`, `500ms`, `60s`.

use ptc_bytecode::Unit;

/// As [`parse`], but a time must say what it counts in: `--timeout 60` would be read as a minute by
/// one half of its users and as 60 ms by the other.
pub fn parse_flag(text: &str, unit: Unit) -> Result<u64, String> {
    if unit == Unit::Millis && text.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("write {text}s or {text}ms"));
    }
    parse(text, unit)
}

/// Reads `text` as an amount of `unit`. A bare number counts in the unit of the limit itself:
/// bytes, milliseconds, things.
pub fn parse(text: &str, unit: Unit) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    let digits = digits.replace('_', "");
    if digits.is_empty() {
        return Err(format!("expected {}", examples(unit)));
    }
    let scale = scale(unit, suffix.trim())
        .ok_or_else(|| format!("`{}` is not a unit here; expected {}", suffix.trim(), examples(unit)))?;
    let number: u64 = digits.parse().map_err(|_| "the number is too large".to_string())?;
    number.checked_mul(scale).ok_or_else(|| "the number is too large".to_string())
}

fn scale(unit: Unit, suffix: &str) -> Option<u64> {
    let suffix = suffix.to_ascii_lowercase();
    Some(match (unit, suffix.as_str()) {
        (_, "") => 1,
        (Unit::Bytes, "b") => 1,
        (Unit::Bytes, "k" | "kb") => 1_000,
        (Unit::Bytes, "m" | "mb") => 1_000_000,
        (Unit::Bytes, "g" | "gb") => 1_000_000_000,
        (Unit::Bytes, "kib") => 1 << 10,
        (Unit::Bytes, "mib") => 1 << 20,
        (Unit::Bytes, "gib") => 1 << 30,
        (Unit::Millis, "ms") => 1,
        (Unit::Millis, "s") => 1_000,
        (Unit::Millis, "m" | "min") => 60_000,
        (Unit::Millis, "h") => 3_600_000,
        (Unit::Count, "k") => 1_000,
        (Unit::Count, "m") => 1_000_000,
        (Unit::Count, "g") => 1_000_000_000,
        _ => return None,
    })
}

fn examples(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes, such as 10MB, 64MiB or 1_000_000",
        Unit::Millis => "a time, such as 60s or 500ms",
        Unit::Count => "a number, such as 1000 or 1_000_000",
    }
}

/// `n` of `unit` in its shortest form, for help texts and the reference page.
pub fn show(n: u64, unit: Unit) -> String {
    let names: &[(&str, u64)] = match unit {
        Unit::Bytes => {
            &[("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("kB", 1_000)]
        }
        Unit::Millis => &[("h", 3_600_000), ("s", 1_000), ("ms", 1)],
        Unit::Count => &[],
    };
    match names.iter().find(|(_, scale)| n >= *scale && n.is_multiple_of(*scale)) {
        Some((name, scale)) => format!("{}{name}", n / scale),
        None => ptc_studio::trace::grouped(n).replace(' ', "_"),
    }
}

/// `1 turn`, `2 turns`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_flag, show};
    use ptc_bytecode::{LIMITS, Unit};

    #[test]
    fn sizes_times_and_counts() {
        for (text, unit, wanted) in [
            ("10MB", Unit::Bytes, 10_000_000),
            ("64MiB", Unit::Bytes, 64 << 20),
            ("64 mib", Unit::Bytes, 64 << 20),
            ("1_000", Unit::Bytes, 1_000),
            ("7b", Unit::Bytes, 7),
            ("60s", Unit::Millis, 60_000),
            ("500ms", Unit::Millis, 500),
            ("2m", Unit::Millis, 120_000),
            ("250", Unit::Millis, 250),
            ("10M", Unit::Count, 10_000_000),
            ("0", Unit::Count, 0),
        ] {
            assert_eq!(parse(text, unit), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for (text, unit) in [
            ("", Unit::Bytes),
            ("MB", Unit::Bytes),
            ("-1", Unit::Count),
            ("5 apples", Unit::Count),
            ("1.5s", Unit::Millis),
        ] {
            assert!(parse(text, unit).is_err_and(|why| why.contains("such as")), "{text}");
        }
        assert!(parse("99999999999999999999", Unit::Count).is_err());
        assert!(parse_flag("60", Unit::Millis).is_err_and(|why| why.contains("60s or 60ms")));
        assert!(parse("99999999999GiB", Unit::Bytes).is_err());
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        for row in LIMITS {
            for n in [row.default, row.ceiling] {
                assert_eq!(parse(&show(n, row.unit), row.unit), Ok(n), "{}", row.name);
            }
        }
    }
}
