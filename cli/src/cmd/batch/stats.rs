//! What `--stats` adds to the summary.

use super::sources::Places;
use ptc_runtime::{Cost, Stats};
use std::fmt::Write;

/// Percentiles of the fuel that records took, and their names.
const PERCENTILES: &[(&str, f64)] = &[("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)];

/// The costs of a batch, and the places of its records.
pub struct Shown {
    pub stats: Stats,
    pub places: Places,
}

impl Shown {
    /// As lines for people.
    pub fn text(&self, is_fold: bool) -> String {
        let Shown { stats, .. } = self;
        let one = if is_fold { "part" } else { "record" };
        let mut text = format!("{} bytes of input\nfuel of a {one}:", stats.bytes);
        for (name, share) in PERCENTILES {
            let _ = write!(text, " {name} {}", stats.fuel(*share));
        }
        let _ = writeln!(text, "; of all {}", stats.total_fuel());
        for cost in stats.slowest() {
            let (file, line) = self.places.of(cost.number);
            let file = file.map_or(String::new(), |file| format!("{}, ", file.display()));
            let _ =
                writeln!(text, "slow: {file}line {line}, {:.3} ms, fuel {}", milliseconds(cost), cost.fuel);
        }
        text
    }

    /// As a member of the summary's object.
    pub fn member(&self) -> String {
        let Shown { stats, .. } = self;
        let fuel = PERCENTILES.iter().map(|(name, share)| format!("\"{name}\":{},", stats.fuel(*share)));
        let fuel: String = fuel.collect();
        let slowest = stats.slowest().iter().map(|cost| {
            let (file, line) = self.places.of(cost.number);
            let file = file.map_or(String::new(), |file| {
                format!("\"file\":{},", serde_json::Value::from(file.display().to_string()))
            });
            format!(
                "{{{file}\"line\":{line},\"milliseconds\":{:.3},\"fuel\":{}}}",
                milliseconds(cost),
                cost.fuel
            )
        });
        let slowest: Vec<String> = slowest.collect();
        format!(
            ",\"stats\":{{\"bytes\":{},\"fuel\":{{{fuel}\"total\":{}}},\"slowest\":[{}]}}",
            stats.bytes,
            stats.total_fuel(),
            slowest.join(",")
        )
    }
}

fn milliseconds(cost: &Cost) -> f64 {
    cost.took.as_secs_f64() * 1e3
}
