//! Execution of a call's program: it computes when scheduled, and holds no thread while it waits.

use crate::pending::{PendingProgram, ProgramState, RunScope};
use crate::reply::Payload;
use futures_util::future::BoxFuture;
use ptc_runtime::{Failure, Outcome};
use ptc_upstream::{Begun, ProgramHost, RunOutcome, Suspension, UnderWay, Verdict};
use std::time::{Duration, Instant};

/// A program and the handling of its result. All methods are called where computing is allowed.
pub(crate) trait Program: Send + Sized + 'static {
    fn host(&self) -> &ProgramHost;

    /// Returns its time limit, including waiting for servers.
    fn timeout(&self) -> Duration;

    /// Compiles and starts the program; the outer error is the complete reply.
    fn begin(&mut self, scope: &RunScope) -> Result<Result<Begun, Failure>, Box<Payload>>;

    /// Resumes the program after its approvals are decided.
    fn resume(
        &mut self,
        suspended: Suspension,
        verdicts: Vec<Verdict>,
        scope: &RunScope,
    ) -> Result<Result<UnderWay, Failure>, Box<Payload>>;

    /// Returns the bytes it keeps while waiting for approvals, in addition to the machine.
    fn kept_bytes(&self) -> u64;

    /// Builds the reply of an ended program; None if it was cancelled.
    fn end(self, ended: Option<Result<Outcome, Failure>>, scope: &RunScope) -> Payload;

    /// Handles a program that could not begin.
    fn refused(self, payload: Payload) -> Payload {
        payload
    }
}

/// State of a program after a stretch of computing: finished, or waiting for servers.
enum Stage<P> {
    Finished(Box<Payload>),
    UnderWay(Box<(P, UnderWay)>),
}

impl<P: Program> Stage<P> {
    fn ended(program: P, ended: Result<Outcome, Failure>, scope: &RunScope) -> Stage<P> {
        Stage::Finished(Box::new(program.end(Some(ended), scope)))
    }
}

/// Runs a program until it ends, is cancelled or waits for approvals.
pub(crate) async fn run<P: Program>(mut program: P, scope: RunScope) -> ProgramState {
    let (inner, since) = (scope.clone(), Instant::now());
    // Most programs make no calls and end in their first stretch.
    let begin = move || match program.begin(&inner) {
        Ok(Ok(Begun::UnderWay(run))) => Stage::UnderWay(Box::new((program, *run))),
        Ok(Ok(Begun::Ended(outcome))) => Stage::ended(program, Ok(outcome), &inner),
        Ok(Err(failure)) => Stage::ended(program, Err(failure), &inner),
        Err(payload) => Stage::Finished(Box::new(program.refused(*payload))),
    };
    match scope.compute(begin).await {
        Stage::Finished(payload) => ProgramState::Finished(*payload),
        Stage::UnderWay(under_way) => {
            let (program, run) = *under_way;
            let spent = since.elapsed().saturating_sub(scope.waited());
            let left = program.timeout().saturating_sub(spent);
            proceed(program, run, left, scope).await
        }
    }
}

/// Resumes a program after its approvals are decided.
fn go_on<P: Program>(
    mut program: P,
    suspended: Suspension,
    verdicts: Vec<Verdict>,
    scope: RunScope,
) -> BoxFuture<'static, ProgramState> {
    let (inner, left) = (scope.clone(), suspended.left);
    let resume = move || match program.resume(suspended, verdicts, &inner) {
        Ok(Ok(run)) => Stage::UnderWay(Box::new((program, run))),
        Ok(Err(failure)) => Stage::ended(program, Err(failure), &inner),
        Err(payload) => Stage::Finished(Box::new(program.refused(*payload))),
    };
    Box::pin(async move {
        match scope.compute(resume).await {
            Stage::Finished(payload) => ProgramState::Finished(*payload),
            Stage::UnderWay(under_way) => {
                let (program, run) = *under_way;
                proceed(program, run, left, scope).await
            }
        }
    })
}

async fn proceed<P: Program>(program: P, run: UnderWay, left: Duration, scope: RunScope) -> ProgramState {
    let ran = program.host().proceed(run, &scope.cancel, left).await;
    if matches!(ran, RunOutcome::Cancelled) {
        // Nothing is left to compute, and the canceller must not wait for a turn.
        return ProgramState::Finished(program.end(None, &scope));
    }
    let inner = scope.clone();
    let end = move || match ran {
        RunOutcome::Ended(ended) => ProgramState::Finished(program.end(Some(ended), &inner)),
        RunOutcome::Cancelled => ProgramState::Finished(program.end(None, &inner)),
        RunOutcome::Held(held) => match held.suspend() {
            Ok(suspended) => {
                let kept = program.kept_bytes();
                ProgramState::Waiting(PendingProgram::new(
                    suspended,
                    kept,
                    move |suspended, verdicts, scope| go_on(program, suspended, verdicts, scope),
                ))
            }
            Err(failure) => ProgramState::Finished(program.end(Some(Err(failure)), &inner)),
        },
    };
    scope.compute(end).await
}
