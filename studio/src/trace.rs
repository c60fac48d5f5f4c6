//! Traces, for people: the page of one, and the figures that it and `ptc trace show` have in common.

pub mod page;
mod sections;

use ptc_agent::trace::Analyzer;
use serde_json::{Map, Value};
use std::time::Duration;

/// Writes a duration in the unit that suits it.
pub fn took(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1e3;
    match ms {
        _ if ms < 0.9995 => format!("{:.0} µs", ms * 1e3),
        _ if ms < 9.995 => format!("{ms:.2} ms"),
        _ if ms < 999.5 => format!("{ms:.0} ms"),
        _ if ms < 99_950.0 => format!("{:.1} s", ms / 1e3),
        _ => {
            let seconds = (ms / 1e3).round() as u64;
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            if hours > 0 {
                format!("{hours} h {minutes} min")
            } else {
                format!("{minutes} min {} s", seconds % 60)
            }
        }
    }
}

/// Writes a number with spaces between its thousands.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Writes dollars, with as many digits as it takes to see them.
pub fn dollars(cost: f64) -> String {
    if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// Returns the problems of a trace, one line each.
pub fn problems(trace: &Analyzer) -> Vec<String> {
    let found = trace.problems();
    let mut lines: Vec<String> = found.told.iter().map(|line| one_line(line, 300)).collect();
    let more = found.broken_lines.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("and {more} more broken lines"));
    }
    if found.unknown_events > 0 {
        lines.push(format!("{} lines have events that this version does not know", found.unknown_events));
    }
    let missing = trace.summary().missing_events;
    if missing > 0 {
        lines.push(format!("{missing} events are missing: the disk was too slow, or a line is broken"));
    }
    lines
}

/// The id of a call in the ledger of effects, and whether it was sent, if an event says so.
pub fn effect(data: &Map<String, Value>) -> Option<String> {
    let effect = data.get("effect")?;
    let (id, ledger) = (effect["id"].as_str()?, effect["ledger"].as_str()?);
    Some(format!("effect {} ({})", one_line(id, 120), one_line(ledger, 20)))
}

/// Returns a text on one line, cut, without anything that a terminal would obey.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out: String = text
        .chars()
        .take(most)
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if c.is_control() || is_direction(c) => '\u{fffd}',
            c => c,
        })
        .collect();
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    out
}

/// Characters that turn the direction of what follows.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit() {
        let ms = |ms: f64| took(Duration::from_secs_f64(ms / 1e3));
        assert_eq!(
            [ms(0.0), ms(0.25), ms(1.0), ms(42.4), ms(1234.0)],
            ["0 µs", "250 µs", "1.00 ms", "42 ms", "1.2 s"]
        );
        assert_eq!([ms(125_000.0), ms(7_260_000.0)], ["2 min 5 s", "2 h 1 min"]);
        assert_eq!(took(Duration::MAX), "5124095576030431 h 0 min");
        assert_eq!([grouped(7), grouped(1234567)], ["7", "1 234 567"]);
        assert_eq!([dollars(0.0123), dollars(1.5)], ["$0.0123", "$1.50"]);
    }
}
