//! What is made of a reply.

use super::ask::said;
use super::engine::{Ending, Executed};
use super::fault::{MEMORY_LIMIT, limit_of, program_fail, too_much};
use super::keep::brief;
use super::step::{CallRecord, Fail, Turn, TurnKind};
use super::turns::{Ended, Goes, Mission, Mode, Told, fail_datum};
use crate::definition::{CompletionMode, MemoryStrategy, OnBudgetExceeded, OnExhausted, ProgressInput};
use crate::feedback::{Feedback, Progress};
use crate::keys::normalize_keys;
use crate::lisp_eval::{Memory, Preview, Success, wire_reason};
use crate::model::LlmResponse;
use crate::prompt::{MissionLogIn, plan_text};
use crate::protocol::{NoProgram, extract_program};
use crate::signature::Rejected;
use ptc_bytecode::{Code, Datum, Node};
use ptc_runtime::{Failure, Frozen, Outcome};

impl Mission {
    /// A reply that should hold a program.
    pub(super) async fn program_reply(
        &mut self,
        reply: &LlmResponse,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        let found = match extract_program(reply.text(), self.agent.options().multiple_blocks) {
            Ok(found) => found,
            Err(none) => {
                self.state.messages.push(said(reply.text()));
                return self.no_program(none, turn);
            }
        };
        self.state.messages.push(said(found.kept));
        self.run_program(&found.program, kind, turn).await
    }

    /// Runs a program of the model.
    pub(super) async fn run_program(
        &mut self,
        program: &str,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        let (executed, warnings) = self.executed(program, turn).await?;
        self.state.was_bad_return = false;
        let Executed { ending, definitions, .. } = executed;
        match ending {
            Ending::Failed(failure) => self.program_failed(&failure, definitions, &warnings, turn),
            Ending::Returned(outcome) => self.returned(&outcome, definitions, &warnings, turn),
            Ending::Value(outcome) => {
                let options = self.agent.options();
                let is_last = options.max_turns == 1 && options.completion_mode == CompletionMode::Implicit;
                if is_last {
                    return self.returned(&outcome, definitions, &warnings, turn);
                }
                if options.completion_mode == CompletionMode::Explicit && kind != TurnKind::Normal {
                    let message = "the last turn ended without `(return value)` or `(fail …)`";
                    return Err(Fail::new("must_return_missing", message).into());
                }
                self.goes_on(&outcome, definitions, &warnings, turn)
            }
        }
    }

    /// Runs a program and notes what it did; what becomes of it is for others. Also what was coerced.
    pub(super) async fn executed(
        &mut self,
        program: &str,
        turn: &mut Turn,
    ) -> Result<(Executed, Vec<String>), Ended> {
        turn.program = Some(program.to_string());
        let budget = self.budget_datum();
        let Some(engine) = &mut self.engine else {
            return Err(Fail::new("internal_error", "there is nothing to run programs with").into());
        };
        engine.journal.set_budget(budget);
        engine.journal.take_reported();
        let executed = engine.execute(program, self.state.last_fail.as_ref(), &self.place).await;
        turn.tool_calls = engine.take_calls();
        self.state.branches = engine.take_branches();
        // Agents that answer in words tell all calls of the run, others those of the last program.
        if self.mode != Mode::Combined {
            self.state.calls.clear();
        }
        self.state.calls.extend(turn.tool_calls.iter().cloned());
        let executed = executed?;
        if let Ending::Failed(failure) = &executed.ending {
            turn.limits_hit.extend(limit_of(failure.diagnostic().code).map(str::to_string));
        }
        let warnings: Vec<String> = turn.tool_calls.iter().flat_map(|call| call.warnings.clone()).collect();
        self.state.warnings.extend(warnings.iter().cloned());
        let prints = match &executed.ending {
            Ending::Value(outcome) | Ending::Returned(outcome) => outcome.prints.clone(),
            Ending::Failed(failure) => failure.prints.clone(),
        };
        turn.prints = prints.clone();
        self.state.prints = prints;
        self.learn(&executed, &turn.tool_calls);
        Ok((executed, warnings))
    }

    /// Whether the one reply is all there is.
    fn is_single_shot(&self) -> bool {
        let options = self.agent.options();
        options.max_turns == 1
            && options.retry_turns == 0
            && options.completion_mode == CompletionMode::Implicit
            && self.agent.tools().is_empty()
    }

    fn no_program(&mut self, none: NoProgram, turn: &mut Turn) -> Result<Goes, Ended> {
        let message = match none {
            NoProgram::NotFound => "the reply has no program".to_string(),
            NoProgram::Several(count) => format!("the reply has {count} programs, and one is expected"),
        };
        let fail = Fail::new(none.reason(), message);
        turn.result = fail_datum(&fail);
        if self.is_single_shot() {
            return Err(fail.into());
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
        Ok(Goes::failed(feedback))
    }

    /// Remembers firewalled values before anything is shown.
    fn learn(&self, executed: &Executed, calls: &[CallRecord]) {
        let mut secrets = self.place.secrets();
        for (name, value) in &executed.definitions {
            secrets.learn_frozen(Some(name), value);
        }
        match &executed.ending {
            Ending::Value(outcome) | Ending::Returned(outcome) => {
                if let Ok(datum) = outcome.datum() {
                    secrets.learn(&datum);
                }
            }
            Ending::Failed(failure) => {
                if let Some(value) = &failure.value {
                    secrets.learn(value);
                }
            }
        }
        for call in calls {
            if let Ok(args) = ptc_runtime::bridge::json_to_datum(&call.args) {
                secrets.learn(&args);
            }
        }
    }

    fn program_failed(
        &mut self,
        failure: &Failure,
        definitions: Vec<(String, Frozen)>,
        warnings: &[String],
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        let code = failure.diagnostic().code;
        if code == Code::Fail {
            return Err(program_fail(failure).into());
        }
        let planning = self.tool_hint(failure);
        let fail = program_fail(failure);
        turn.result = fail_datum(&fail);
        if self.is_single_shot() {
            return Err(fail.into());
        }
        let over = self.define_all(definitions);
        turn.limits_hit.extend(over.map(|_| MEMORY_LIMIT.to_string()));
        let turns = self.turns_line();
        let feedback = self.feedback(|feedback| {
            let feedback = undone(feedback, over).program_error(failure).coerced(warnings);
            let feedback = match &planning {
                Some(hint) => feedback.note(hint.clone()),
                None => feedback,
            };
            feedback.finish(turns.as_ref())
        });
        let told = Told::Error { reason: wire_reason(code), message: fail.message.clone() };
        self.state.last_fail = Some(fail);
        Ok(Goes { feedback, success: false, told })
    }

    /// A value that cannot be handed on, such as one that is too large.
    fn unusable(
        &mut self,
        fail: Fail,
        definitions: Vec<(String, Frozen)>,
        warnings: &[String],
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        turn.result = fail_datum(&fail);
        if self.is_single_shot() {
            return Err(fail.into());
        }
        let over = self.define_all(definitions);
        turn.limits_hit.extend(over.map(|_| MEMORY_LIMIT.to_string()));
        let turns = self.turns_line();
        let feedback = self.feedback(|feedback| {
            let feedback = undone(feedback, over).failed(&fail.reason, &fail.message);
            feedback.coerced(warnings).finish(turns.as_ref())
        });
        let told = Told::Error { reason: "runtime_error", message: fail.message.clone() };
        self.state.last_fail = Some(fail);
        Ok(Goes { feedback, success: false, told })
    }

    /// Why a tool that the agent has cannot be called in a program.
    pub(super) fn tool_hint(&self, failure: &Failure) -> Option<String> {
        let toolbox = &self.engine.as_ref()?.toolbox;
        let unknown = failure.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::UnknownTool);
        let names = unknown.flat_map(|diagnostic| diagnostic.message.split('`'));
        let mut names = names.map(|part| part.trim_start_matches("tool/"));
        names.find_map(|name| {
            if toolbox.is_planning_only(name) {
                let what = "is a tool for planning: it can be put into a plan, and cannot be called here";
                return Some(format!("`{name}` {what}."));
            }
            let tool = self.agent.tools().get(name)?;
            let is_native = !tool.effective_expose(self.agent.is_text()).is_in_programs();
            let what =
                "is offered to the model only (`expose: native`); with `expose: both` programs can call it";
            is_native.then(|| format!("`{name}` {what}."))
        })
    }

    /// `(return v)`, or the value of an agent that has one turn.
    fn returned(
        &mut self,
        outcome: &Outcome,
        definitions: Vec<(String, Frozen)>,
        warnings: &[String],
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        let Some(engine) = &mut self.engine else {
            return Err(Fail::new("internal_error", "there is nothing to run programs with").into());
        };
        let received = match engine.value(outcome) {
            Ok(received) => received,
            Err(fail) => return self.unusable(fail, definitions, warnings, turn),
        };
        let reported = engine.journal.take_reported();
        let value = normalize_keys(&received);
        turn.result = Some(value.clone());
        let over = self.define_all(definitions);
        turn.limits_hit.extend(over.map(|_| MEMORY_LIMIT.to_string()));
        match self.fits(&value) {
            Ok(told) => {
                self.state.warnings.extend(told);
                if let Some((bytes, limit)) = over
                    && self.agent.options().memory_strategy == MemoryStrategy::Strict
                {
                    return Err(too_much(bytes, limit).into());
                }
                self.state.summaries.extend(reported);
                Err(Ended::Value(value))
            }
            Err(rejected) => {
                let lines: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
                let message = format!("the returned value does not fit the contract: {}", lines.join("; "));
                let message = self.place.secrets().redact(&message);
                let fail = Fail::new("validation_error", message);
                let left = self.left_after();
                if left.work_left == 0 && left.retry_left == 0 && self.agent.options().max_turns == 1 {
                    return Err(fail.into());
                }
                self.state.was_bad_return = true;
                let told = Told::Error { reason: "runtime_error", message: fail.message.clone() };
                self.state.last_fail = Some(fail);
                let turns = self.turns_line();
                let returns = self.agent.signature().returns.clone();
                let feedback = self.feedback(|feedback| {
                    let feedback = undone(feedback, over);
                    let feedback = feedback.bad_return(&returns, &received, &rejected.errors);
                    feedback.coerced(warnings).finish(turns.as_ref())
                });
                Ok(Goes { feedback, success: false, told })
            }
        }
    }

    /// Whether a value keeps the contract; what is let through all the same is told.
    pub(super) fn fits(&self, value: &Datum) -> Result<Vec<String>, Rejected> {
        let mode = self.agent.options().signature_validation;
        let checked = self.agent.signature().check_output(value, mode)?;
        Ok(checked.tolerated.iter().map(ToString::to_string).collect())
    }

    /// A value that does not end the mission.
    fn goes_on(
        &mut self,
        outcome: &Outcome,
        definitions: Vec<(String, Frozen)>,
        warnings: &[String],
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        let options = self.agent.options().clone();
        let Some(engine) = &mut self.engine else {
            return Err(Fail::new("internal_error", "there is nothing to run programs with").into());
        };
        let value = match engine.value(outcome) {
            Ok(value) => value,
            Err(fail) => return self.unusable(fail, definitions, warnings, turn),
        };
        let normal = normalize_keys(&value);
        turn.result = Some(brief(&normal));
        let reported = engine.journal.take_reported();
        let kept = match self.keep(definitions, Some((outcome, &value))) {
            Ok(kept) => kept,
            Err((bytes, limit)) => {
                turn.limits_hit.push(MEMORY_LIMIT.to_string());
                if options.memory_strategy == MemoryStrategy::Strict {
                    return Err(too_much(bytes, limit).into());
                }
                let turns = self.turns_line();
                let fail = too_much(bytes, limit);
                turn.result = fail_datum(&fail);
                let feedback = self.feedback(|feedback| {
                    feedback.rolled_back(bytes, limit).coerced(warnings).finish(turns.as_ref())
                });
                return Ok(Goes::failed(feedback));
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
        let feedback = self.feedback(|feedback| {
            let progress = Progress {
                result: Some(&value),
                prints: &turn.prints,
                definitions: &kept.definitions,
                keys: &kept.keys,
                plan: plan.as_deref().filter(|plan| !plan.is_empty()),
                is_cut_in_history: kept.is_cut,
            };
            let feedback = feedback.progress(&progress).coerced(warnings);
            let feedback = match kept.unread {
                Some((bytes, limit)) => feedback.unread(bytes, limit),
                None => feedback,
            };
            let feedback = match log {
                Some(log) => feedback.note(log),
                None => feedback,
            };
            feedback.finish(turns.as_ref())
        });
        let told = Told::Value(Box::new(self.told_value(&value, &kept.definitions)));
        Ok(Goes { feedback, success: true, told })
    }

    /// A value and definitions as replies to `lisp_eval` show them.
    pub(super) fn told_value(&self, value: &Datum, definitions: &[(String, Datum)]) -> Success {
        let format = self.agent.options().format_options;
        let mut secrets = self.place.secrets();
        let mut preview = Preview {
            items: format.result_limit,
            chars: format.preview_max_chars,
            redact: &mut |text| secrets.redact(text),
        };
        let mut success = Success::of(value, &mut preview);
        success.memory = Some(Memory::of(definitions, &mut preview));
        success
    }

    /// What the model is told about the plan.
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

    /// What `(budget/remaining)` gives.
    fn budget_datum(&self) -> Datum {
        let key = |name: &str| Node::Keyword(name.into());
        let int = |n: u64| Node::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let (state, tokens) = (&self.state, &self.state.tokens);
        // This turn is being taken now.
        let work = u64::from(state.work_left.saturating_sub(1));
        let nodes = vec![
            key("turns"),
            int(self.place.budget.left()),
            key("work-turns"),
            int(work),
            key("retry-turns"),
            int(u64::from(state.retry_left)),
            key("depth"),
            key("current"),
            int(u64::from(self.place.depth)),
            key("max"),
            int(u64::from(self.place.max_depth)),
            Node::Map(2),
            key("tokens"),
            key("input"),
            int(tokens.input.unwrap_or(0)),
            key("output"),
            int(tokens.output.unwrap_or(0)),
            key("total"),
            int(tokens.total()),
            key("cache-creation"),
            int(tokens.cache_creation.unwrap_or(0)),
            key("cache-read"),
            int(tokens.cache_read.unwrap_or(0)),
            Node::Map(5),
            key("llm-requests"),
            int(state.llm_requests),
            Node::Map(6),
        ];
        Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0)))
    }
}

/// What is said first where definitions were undone.
fn undone(feedback: Feedback<'_>, over: Option<(usize, usize)>) -> Feedback<'_> {
    match over {
        Some((bytes, limit)) => feedback.rolled_back(bytes, limit),
        None => feedback,
    }
}
