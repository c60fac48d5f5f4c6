//! Programs that may end the mission: a reply becomes a program, and its outcome becomes feedback or the result.

use super::commit::{Carryover, ProgramEnd, ProgramOutcome};
use super::drive::Ending;
use super::excerpt::brief;
use super::fault::{MemoryOverflow, details_of, program_fail, too_much, unfit_fail};
use super::state::{Continuation, EvalReport, Mission, TurnOutcome, fail_datum};
use super::step::{Fail, Turn, TurnKind};
use crate::definition::{CompletionMode, MemoryStrategy, OnBudgetExceeded, OnExhausted, ProgressInput};
use crate::feedback::{Feedback, ProgramWarnings, Progress};
use crate::lisp_eval::wire_reason;
use crate::prompt::{MissionLogIn, plan_text};
use crate::protocol::{NoProgram, extract_program};
use crate::tools::ToolKind;
use ptc_bytecode::{Code, Datum, Node, Subject};
use ptc_contract::keys::{normalize_key, normalize_keys};
use ptc_contract::signature::Rejection;
use ptc_model::LlmResponse;
use ptc_runtime::Failure;

impl Mission {
    /// Handles a reply that should hold a program.
    pub(super) async fn program_reply(
        &mut self,
        reply: &LlmResponse,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        let found = match extract_program(reply.text(), self.agent.options().multiple_blocks) {
            Ok(found) => found,
            Err(none) => {
                self.state.messages.push(reply.to_message());
                return self.no_program(none, turn);
            }
        };
        let mut said = reply.to_message();
        if said.content != found.kept {
            // Text around the program was removed, so positions in it are void.
            said.opaque.iter_mut().for_each(|part| part.text_before = 0);
            said.content = found.kept;
        }
        self.state.messages.push(said);
        self.run_program(&found.program, kind, turn).await
    }

    /// Runs a program of the model.
    pub(super) async fn run_program(
        &mut self,
        program: &str,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        let mut execution = self.execute(program, turn).await?;
        self.state.was_bad_return = false;
        execution.ending = self.settle(execution.ending, kind)?;
        let ProgramOutcome { end, kept, warnings, reported } = self.commit(execution, turn)?;
        let overflow = kept.as_ref().err().copied();
        match (end, kept) {
            (ProgramEnd::Failed(failure), _) => Ok(self.failed(&failure, overflow, &warnings, turn).into()),
            (ProgramEnd::Unusable(fail), _) => Ok(self.unusable(fail, overflow, &warnings, turn).into()),
            (ProgramEnd::Returned(value), _) => self.returned(&value, overflow, &warnings, reported, turn),
            (ProgramEnd::Value(value), kept) => {
                let next = self.valued(&value, kept, &warnings, reported, turn)?;
                Ok(next.into())
            }
        }
    }

    /// Applies the agent's options to the ending of a program. Programs that end the mission here leave nothing behind.
    fn settle(&self, ending: Ending, kind: TurnKind) -> Result<Ending, Fail> {
        let options = self.agent.options();
        let ending = known(ending, self.planned() > 0)?;
        match ending {
            Ending::Failed(failure) => {
                let left = self.left_after();
                let is_last = self.is_single_shot() || (left.work_left == 0 && left.retry_left == 0);
                let is_fail = failure.diagnostic().code == Code::Fail;
                // Like a value that does not fit, such a failure is sent back while there are turns.
                let is_unfit = is_fail && !is_last && unfit_fail(&failure).is_some();
                match (is_fail && !is_unfit) || self.is_single_shot() {
                    true => Err(program_fail(&failure)),
                    false => Ok(Ending::Failed(failure)),
                }
            }
            Ending::Value(outcome) if options.completion_mode == CompletionMode::Implicit => {
                let is_last = options.max_turns == 1;
                Ok(if is_last { Ending::Returned(outcome) } else { Ending::Value(outcome) })
            }
            Ending::Value(_) if kind != TurnKind::Normal => {
                let message = "the last turn ended without `(return value)` or `(fail …)`";
                Err(Fail::new("must_return_missing", message))
            }
            other => Ok(other),
        }
    }

    /// Handles a reply without a program, or with too many.
    fn no_program(&mut self, none: NoProgram, turn: &mut Turn) -> Result<TurnOutcome, Fail> {
        let message = match none {
            NoProgram::NotFound => "the reply has no program".to_string(),
            NoProgram::Several(count) => format!("the reply has {count} programs, and one is expected"),
        };
        let fail = Fail::new(none.reason(), message);
        turn.result = fail_datum(&fail);
        if self.is_single_shot() {
            return Err(fail);
        }
        self.state.was_bad_return = false;
        let turns = self.turns_line();
        let feedback = self.feedback(|feedback| {
            let feedback = match none {
                NoProgram::NotFound => feedback.no_program(),
                NoProgram::Several(count) => feedback.several_blocks(count),
            };
            feedback.finish(turns.as_ref())
        });
        Ok(Continuation::failed(feedback).into())
    }

    /// Handles an error of a program.
    fn failed(
        &mut self,
        failure: &Failure,
        overflow: Option<MemoryOverflow>,
        warnings: &ProgramWarnings,
        turn: &mut Turn,
    ) -> Continuation {
        if let Some(message) = unfit_fail(failure).filter(|_| failure.diagnostic().code == Code::Fail) {
            return self.unusable(Fail::new("validation_error", message), overflow, warnings, turn);
        }
        let hint = self.why_missing(failure);
        let fail = program_fail(failure);
        turn.result = fail_datum(&fail);
        let turns = self.turns_line();
        let feedback = self.feedback(|feedback| {
            let feedback = undone(feedback, overflow).program_error(failure).warned(warnings);
            let feedback = match hint {
                Some(hint) => feedback.note(hint),
                None => feedback,
            };
            feedback.finish(turns.as_ref())
        });
        self.failed_with(fail, wire_reason(failure.diagnostic().code), feedback)
    }

    /// Handles a value that cannot be passed on.
    fn unusable(
        &mut self,
        fail: Fail,
        overflow: Option<MemoryOverflow>,
        warnings: &ProgramWarnings,
        turn: &mut Turn,
    ) -> Continuation {
        turn.result = fail_datum(&fail);
        let turns = self.turns_line();
        let feedback = self.feedback(|feedback| {
            let feedback = undone(feedback, overflow).failed(&fail.reason, &fail.message);
            feedback.warned(warnings).finish(turns.as_ref())
        });
        self.failed_with(fail, "runtime_error", feedback)
    }

    /// Ends a turn that failed: the next program can read the reason.
    fn failed_with(&mut self, fail: Fail, reason: &'static str, feedback: String) -> Continuation {
        let report = EvalReport::Error { reason, message: fail.message.clone() };
        self.state.last_fail = Some(fail);
        Continuation { report, ..Continuation::failed(feedback) }
    }

    /// Explains why a program cannot read a result, or call a tool, that the model knows of.
    pub(super) fn why_missing(&self, failure: &Failure) -> Option<String> {
        self.why_unread(failure).or_else(|| self.why_uncallable(failure))
    }

    /// Explains why a result cannot be read.
    fn why_unread(&self, failure: &Failure) -> Option<String> {
        let unread = &self.engine.as_ref()?.unread;
        let mut subjects = failure.diagnostics.iter().filter_map(|diagnostic| diagnostic.subject.as_deref());
        subjects.find_map(|subject| {
            let Subject::Data(name) = subject else { return None };
            let MemoryOverflow { bytes, limit } = unread.get(&*normalize_key(name))?;
            Some(format!(
                "`data/{name}` was not kept: with that result {bytes} of {limit} bytes would have been in use \
                 (`memory_limit`). Compute it again and define the part you need."
            ))
        })
    }

    /// Explains why a tool of the agent cannot be called in a program.
    fn why_uncallable(&self, failure: &Failure) -> Option<String> {
        let toolbox = &self.engine.as_ref()?.toolbox;
        let unknown = failure.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::UnknownTool);
        let marked = unknown.filter_map(|diagnostic| Some(diagnostic.span?.text(failure.source())));
        // The error's span is the name itself: `tool/name`, or the text in `(call "name" …)`.
        let mut names = marked.map(|marked| marked.trim_start_matches("tool/").trim_matches('"'));
        names.find_map(|name| {
            if toolbox.is_planning_only(name) {
                let what = "is a tool for planning: it can be put into a plan, and cannot be called here";
                return Some(format!("`{name}` {what}."));
            }
            let tool = self.agent.tools().get(name)?;
            if let ToolKind::Export(export) = &tool.kind {
                let (reference, how) = (export.reference(), export.signatures());
                return Some(format!("`{name}` is `{reference}` in programs: {how}."));
            }
            let is_native = !tool.effective_expose(self.agent.is_text()).is_in_programs();
            let what =
                "is offered to the model only (`expose: native`); with `expose: both` programs can call it";
            is_native.then(|| format!("`{name}` {what}."))
        })
    }

    /// Handles a value that should be the result.
    fn returned(
        &mut self,
        received: &Datum,
        overflow: Option<MemoryOverflow>,
        warnings: &ProgramWarnings,
        reported: Vec<(String, String)>,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        let value = normalize_keys(received);
        turn.result = Some(value.clone());
        let rejected = match self.fits(&value) {
            Ok(tolerated) => {
                self.state.warnings.extend(tolerated);
                // No further turn could tell the model, but the host may want to look at it.
                self.state.warnings.extend(warnings.program.iter().cloned());
                if let Some(overflow) = overflow
                    && self.agent.options().memory_strategy == MemoryStrategy::Strict
                {
                    return Err(too_much(overflow));
                }
                self.state.summaries.extend(reported);
                return Ok(TurnOutcome::Done(value));
            }
            Err(rejected) => rejected,
        };
        let lines: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
        let message = format!("the returned value does not fit the contract: {}", lines.join("; "));
        let message = self.place.secrets().redact(&message);
        let fail = Fail::new("validation_error", message);
        let left = self.left_after();
        if left.work_left == 0 && left.retry_left == 0 && self.agent.options().max_turns == 1 {
            return Err(fail);
        }
        self.state.was_bad_return = true;
        let turns = self.turns_line();
        let returns = self.agent.signature().returns.clone();
        let feedback = self.feedback(|feedback| {
            let feedback = undone(feedback, overflow);
            let feedback = feedback.bad_return(&returns, received, &rejected.errors);
            feedback.warned(warnings).finish(turns.as_ref())
        });
        Ok(self.failed_with(fail, "runtime_error", feedback).into())
    }

    /// Checks a value against the contract, and returns tolerated misfits.
    pub(super) fn fits(&self, value: &Datum) -> Result<Vec<String>, Rejection> {
        let mode = self.agent.options().signature_validation;
        let checked = self.agent.signature().check_output(value, mode)?;
        Ok(checked.tolerated.iter().map(ToString::to_string).collect())
    }

    /// Handles a value that does not end the mission.
    fn valued(
        &mut self,
        value: &Datum,
        kept: Result<Carryover, MemoryOverflow>,
        warnings: &ProgramWarnings,
        reported: Vec<(String, String)>,
        turn: &mut Turn,
    ) -> Result<Continuation, Fail> {
        let options = self.agent.options().clone();
        let normal = normalize_keys(value);
        turn.result = Some(brief(&normal));
        let kept = match kept {
            Ok(kept) => kept,
            Err(overflow) if options.memory_strategy == MemoryStrategy::Strict => {
                return Err(too_much(overflow));
            }
            Err(overflow) => {
                turn.result = fail_datum(&too_much(overflow));
                let turns = self.turns_line();
                let feedback = self.feedback(|feedback| {
                    undone(feedback, Some(overflow)).warned(warnings).finish(turns.as_ref())
                });
                return Ok(Continuation::failed(feedback));
            }
        };
        self.state.summaries.extend(reported);
        self.state.last_fail = None;
        let is_wanted = options.on_exhausted == OnExhausted::LastValue
            || self.run.on_budget_exceeded == OnBudgetExceeded::ReturnPartial;
        if is_wanted && normal.nodes() != [Node::Nil] && self.fits(&normal).is_ok() {
            self.state.last_value = Some(normal);
        }
        let plan = self.progress_text(turn);
        let log = (options.format_options.mission_log_in == MissionLogIn::UserMessage)
            .then(|| self.mission_log())
            .flatten();
        let turns = self.turns_line();
        let (feedback, parts) = self.feedback(|feedback| {
            let progress = Progress {
                result: Some(value),
                prints: &turn.prints,
                definitions: &kept.definitions,
                keys: &kept.keys,
                plan: plan.as_deref().filter(|plan| !plan.is_empty()),
                forgotten: kept.forgotten.as_deref(),
            };
            let feedback = feedback.progress(&progress).warned(warnings);
            let feedback = match kept.unread {
                Some(over) => feedback.unread(over.bytes, over.limit),
                None => feedback,
            };
            let feedback = match log {
                Some(log) => feedback.note(log),
                None => feedback,
            };
            feedback.finish_with_parts(turns.as_ref())
        });
        let report = EvalReport::Value(Box::new(self.success(value, &kept.definitions)));
        Ok(Continuation { feedback, parts, success: true, report })
    }

    /// Returns the text on the plan's progress for the model.
    fn progress_text(&mut self, turn: &Turn) -> Option<String> {
        let options = self.agent.options();
        if let Some(progress) = &options.progress_fn {
            let input = ProgressInput {
                plan: options.plan.clone(),
                summaries: self.state.summaries.clone(),
                tool_calls: turn.tool_calls.iter().map(|call| call.name.clone()).collect(),
                turn: turn.number,
                phase: turn.kind.name(),
            };
            let called = std::panic::AssertUnwindSafe(|| progress(&input, &self.state.progress));
            return match std::panic::catch_unwind(called) {
                Ok((text, state)) => {
                    self.state.progress = state;
                    Some(self.place.secrets().redact(&text))
                }
                Err(_) => {
                    self.state.warnings.push("`progress_fn` panicked".to_string());
                    None
                }
            };
        }
        let text = plan_text(&options.plan, &self.state.summaries);
        (!text.is_empty()).then(|| self.place.secrets().redact(&text))
    }
}

/// Adds the report on undone definitions, which comes first.
pub(super) fn undone(feedback: Feedback<'_>, overflow: Option<MemoryOverflow>) -> Feedback<'_> {
    match overflow {
        Some(MemoryOverflow { bytes, limit }) => feedback.rolled_back(bytes, limit),
        None => feedback,
    }
}

/// Ends a mission that would go on with the answer of a write that was planned and not sent: nobody knows what its model would
/// do then.
fn known(ending: Ending, is_planned: bool) -> Result<Ending, Fail> {
    let seen = "the model would see the answer of a write that was planned and not sent";
    match &ending {
        Ending::Failed(failure) => match failure.diagnostic().code {
            code @ (Code::UnknownAnswer | Code::PlanDiffers) => {
                let error = failure.diagnostic();
                Err(Fail::new(code.reason(), error.message.clone()).details(details_of(code, failure)))
            }
            _ => Ok(ending),
        },
        Ending::Returned(outcome) if outcome.is_unknown() => Err(Fail::new(
            "planned",
            "the mission ended with the answer of a write that was planned and not sent",
        )),
        Ending::Value(outcome)
            if outcome.is_unknown()
                || (is_planned && outcome.prints.iter().any(|print| print.contains(UNKNOWN))) =>
        {
            Err(Fail::new(Code::UnknownAnswer.reason(), seen))
        }
        _ => Ok(ending),
    }
}

/// Form in which an unknown value is printed.
const UNKNOWN: &str = "#<unknown>";
