//! Traces, for people: as text and as a page.

pub mod page;
mod sections;
pub mod text;

use std::time::Duration;

/// A duration in the unit that suits it.
fn took(duration: Duration) -> String {
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

/// A number with spaces between its thousands.
fn grouped(n: u64) -> String {
    crate::quantity::grouped(n, ' ')
}

/// Dollars, with as many digits as it takes to see them.
fn dollars(cost: f64) -> String {
    if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
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
