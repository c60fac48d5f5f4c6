//! Result of one arm and one workload: a line of JSON between processes and in files.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One measurement, or the reason there is none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    pub arm: String,
    pub version: String,
    /// Workload: `W1`, `W6.x2`, …; the README lists them.
    pub workload: String,
    /// Measured times; None if the arm cannot do the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Answer, to be compared with the native arm's.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub answer: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Reason why the arm cannot do this work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unable: Option<String>,
    /// Failure of the whole arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Nanoseconds for one call, or for one record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Wall-clock times: the median, the minimum, and the quartiles.
    pub median_ns: f64,
    pub min_ns: f64,
    pub q1_ns: f64,
    pub q3_ns: f64,
    /// Median CPU time, of all measuring threads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<f64>,
    pub samples: usize,
    /// Number of calls or records in one sample.
    pub inner: usize,
    pub threads: usize,
    /// Time of a fixed piece of native work, measured with the row: it shows when the machine was slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_ns: Option<f64>,
    /// The worst shown time divided by the best, over several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
}

impl Timing {
    /// Computes the figures of some samples.
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

    /// Returns the time that tables show: CPU time for one thread, because machines are shared; wall-clock time
    /// for several.
    pub fn shown(&self) -> f64 {
        match self.cpu_ns {
            Some(cpu) if self.threads <= 1 => cpu,
            _ => self.median_ns,
        }
    }
}

/// Returns a quantile of sorted values, interpolated linearly.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

/// Returns each row's best over several runs. On a shared machine, additional time is noise.
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
