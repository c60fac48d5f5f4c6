//! Missions for callers that wait.

use super::step::{Fail, Step};
use std::future::Future;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle, Runtime};

/// What blocking callers wait on: one runtime for the process, so that connections outlive a mission.
static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// Waits for work of a mission, also inside of a runtime.
pub(super) fn block_on<F>(work: F) -> Result<F::Output, Box<Step>>
where
    F: Future + Send,
    F::Output: Send,
{
    let runtime = RUNTIME.get_or_init(|| {
        let builder =
            Builder::new_multi_thread().worker_threads(2).thread_name("ptc-agent").enable_all().build();
        builder.map_err(|error| error.to_string())
    });
    let broken = |error| Step::failing(Fail::new("internal_error", format!("no runtime: {error}")));
    let runtime = runtime.as_ref().map_err(broken)?;
    if Handle::try_current().is_err() {
        return Ok(runtime.block_on(work));
    }
    // Inside of a runtime this thread must not wait for another: a thread of its own may.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| runtime.block_on(work));
        match waiting.join() {
            Ok(done) => Ok(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
