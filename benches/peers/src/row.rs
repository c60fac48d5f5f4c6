//! What is known of one arm and one workload: a line of JSON between processes and in files.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One measurement, or why there is none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    pub arm: String,
    pub version: String,
    /// `W1`, `W6.x2`, …; the README lists them.
    pub workload: String,
    /// What was measured; nothing if the arm cannot do the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// The answer, to be compared with the native arm's.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub answer: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why the arm cannot do this work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unable: Option<String>,
    /// What went wrong with the whole arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Nanoseconds for one call, or for one record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// By the clock: the median, the best, and the quartiles.
    pub median_ns: f64,
    pub min_ns: f64,
    pub q1_ns: f64,
    pub q3_ns: f64,
    /// The median CPU time, of all measuring threads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<f64>,
    pub samples: usize,
    /// Calls, or records, in one sample.
    pub inner: usize,
    pub threads: usize,
    /// A fixed piece of native work, timed beside the row: it shows when the machine was slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_ns: Option<f64>,
    /// Of several runs: the worst shown time over the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
}

impl Timing {
    /// The figures of some samples.
    pub fn of(mut clock: Vec<f64>, mut cpu: Vec<f64>, inner: usize, threads: usize) -> Timing {
        clock.sort_by(f64::total_cmp);
        cpu.sort_by(f64::total_cmp);
        Timing {
            median_ns: quantile(&clock, 0.5),
            min_ns: quantile(&clock, 0.0),
            q1_ns: quantile(&clock, 0.25),
            q3_ns: quantile(&clock, 0.75),
            cpu_ns: (!cpu.is_empty()).then(|| quantile(&cpu, 0.5)),
            samples: clock.len(),
            inner,
            threads,
            calibration_ns: None,
            spread: None,
        }
    }

    /// What the tables show: CPU time on one thread, since machines are shared; the clock on several.
    pub fn shown(&self) -> f64 {
        match self.cpu_ns {
            Some(cpu) if self.threads <= 1 => cpu,
            _ => self.median_ns,
        }
    }
}

/// Of sorted values, with a straight line between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

/// Of several runs, each row's best. On a shared machine what is added to a time is noise.
pub fn best(rows: Vec<Row>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::new();
    for row in rows {
        let Some(old) = kept.iter_mut().find(|old| old.arm == row.arm && old.workload == row.workload) else {
            kept.push(row);
            continue;
        };
        match (&mut old.timing, &row.timing) {
            (_, None) => {}
            (None, Some(_)) => *old = row,
            (Some(before), Some(now)) => {
                let worst = (before.spread.unwrap_or(1.0) * before.shown()).max(now.shown());
                if now.shown() < before.shown() {
                    *old = row;
                }
                if let Some(timing) = &mut old.timing {
                    timing.spread = Some(worst / timing.shown());
                }
            }
        }
    }
    kept
}
