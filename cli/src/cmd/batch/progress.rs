//! The bar of `--progress`.

use super::summary::rate;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use ptc_runtime::Progress;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

/// Shown only when standard error is a terminal. `bytes` is the length of the input, if it is known.
pub fn bar(bytes: Option<u64>, progress: Arc<Progress>) -> ProgressBar {
    let terminal = io::stderr().is_terminal();
    let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(bytes, target);
    let template = match bytes {
        Some(_) => "{wide_bar} {bytes}/{total_bytes}, {records}, {eta} left",
        None => "{spinner} {bytes} in {elapsed}, {records}",
    };
    let records = move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let (results, failures) = (progress.results(), progress.failures());
        let rate = rate(results + failures, state.elapsed());
        let _ = write!(text, "{} records ({rate}/s), {failures} failed", results + failures);
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("records", records));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
