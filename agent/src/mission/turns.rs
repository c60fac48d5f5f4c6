//! Turn loop of a mission: request, reply, outcome, and again.

use super::budget::Over;
use super::guard::{Guard, Standing};
use super::place::now;
use super::record::TurnStart;
use super::state::{Mission, Mode, TurnOutcome, memory_of};
use super::step::{Fail, Step, Turn, TurnKind, Usage, json_of};
use crate::attachments::keep_newest;
use crate::definition::{OnBudgetExceeded, OnExhausted, TraceMode};
use crate::feedback::{Feedback, Turns};
use crate::trace::Kind;
use ptc_bytecode::Datum;
use ptc_contract::firewall::{redact_marked, without_media};
use ptc_model::{LlmResponse, Message};
use serde_json::json;

impl Mission {
    /// Takes turns until the end.
    pub async fn work(&mut self) -> Result<Datum, Fail> {
        loop {
            if let Some(end) = self.before_turn() {
                return end;
            }
            if let Some(value) = self.turn().await? {
                return Ok(value);
            }
        }
    }

    /// Returns the kind of the next turn.
    fn kind(&self) -> TurnKind {
        match self.state.work_left {
            0 => TurnKind::Retry,
            1 => TurnKind::MustReturn,
            _ => TurnKind::Normal,
        }
    }

    /// Returns the end of a mission that may take no further turn.
    fn before_turn(&mut self) -> Option<Result<Datum, Fail>> {
        let options = self.agent.options();
        // Checked first: the last turn may have failed because time was up.
        if let Err(stopped) = self.place.check() {
            return Some(Err(stopped.into()));
        }
        if self.state.work_left == 0 && self.state.retry_left == 0 {
            return Some(self.exhausted());
        }
        if let Some(most) = options.max_consecutive_failures.filter(|most| self.state.failures >= *most) {
            let message = format!("{most} turns in a row failed (`max_consecutive_failures`)");
            return Some(Err(self.because(Fail::new("consecutive_failures", message))));
        }
        let used_up = || {
            let message = "the turns of the whole mission are used up (`turn_budget`)";
            Some(Err(Fail::new("turn_budget_exhausted", message)))
        };
        if self.place.budget.left() == 0 {
            return used_up();
        }
        // Delegated missions may have exceeded the budget already.
        if let Some(end) = self.over_limits() {
            return Some(end);
        }
        // A concurrent mission of the same budget may have taken the last turn since.
        if self.place.budget.take() { None } else { used_up() }
    }

    /// Takes one turn; returns the result of the mission, if the turn gave one.
    async fn turn(&mut self) -> Result<Option<Datum>, Fail> {
        let kind = self.kind();
        let number = self.state.done + 1;
        let started = now();
        let scope = self.place.scope.turn(number);
        let above = std::mem::replace(&mut self.place.scope, scope.clone());
        if let Some(engine) = &self.engine {
            engine.toolbox.begin_turn(number, scope.clone());
        }
        scope.emit(Kind::TurnStart, |event| {
            event.turn = Some(number);
            event.data.insert("type".to_string(), json!(kind.name()));
            event.data.insert("tools_count".to_string(), json!(self.agent.tools().len()));
            if kind == TurnKind::Retry {
                let attempt = self.agent.options().retry_turns - self.state.retry_left + 1;
                event.data.insert("attempt".to_string(), json!(attempt));
                event.data.insert("remaining".to_string(), json!(self.state.retry_left));
            }
        });
        let mut turn = Turn {
            number,
            kind,
            prelude_trace: self.engine.as_ref().and_then(|engine| engine.prelude_trace.clone()),
            ..Turn::default()
        };
        let before = TurnStart {
            messages: self.state.messages.len(),
            memory: self.engine.as_ref().filter(|_| scope.is_on()).map(memory_of).unwrap_or_default(),
            started,
        };
        let reported = self.state.summaries.len();
        let request = self.request(kind, number);
        let result = match self.ask(&request, &mut turn).await {
            Ok(reply) => self.replied(&reply, kind, &mut turn).await,
            Err(fail) => Err(fail),
        };
        self.close_turn(turn, &before, &result);
        self.record_steps(reported).await;
        if let Some(engine) = &self.engine {
            engine.toolbox.enter(above.clone());
        }
        self.place.scope = above;
        let next = match result? {
            TurnOutcome::Done(value) => return Ok(Some(value)),
            TurnOutcome::Continue(next) => next,
        };
        self.account(next.success);
        if let Some(value) = self.guard(number)? {
            return Ok(Some(value));
        }
        self.checkpoint().await;
        Ok(None)
    }

    async fn replied(
        &mut self,
        reply: &LlmResponse,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        turn.raw_response = reply.text().to_string();
        turn.tokens = reply.tokens;
        turn.stop = reply.stop.clone();
        if let Some(end) = self.over_budget() {
            self.state.messages.push(reply.to_message());
            return end.map(TurnOutcome::Done);
        }
        let outcome = match (self.unfinished(reply, turn)?, self.mode) {
            (Some(outcome), _) => outcome,
            (None, Mode::Program) => self.program_reply(reply, kind, turn).await?,
            (None, Mode::ProgramCall) => self.program_call_reply(reply, kind, turn).await?,
            (None, Mode::Text | Mode::Combined) if !reply.tool_calls.is_empty() => {
                self.native_reply(reply, turn).await?
            }
            (None, Mode::Text | Mode::Combined) => self.text_reply(reply, turn)?,
        };
        if let TurnOutcome::Continue(next) = &outcome
            && !next.feedback.is_empty()
        {
            self.place.scope.emit(Kind::Feedback, |event| event.put("text", next.feedback.as_str()));
            let message = Message { parts: next.parts.clone(), ..Message::user(next.feedback.clone()) };
            self.state.messages.push(message);
        }
        keep_newest(&mut self.state.messages);
        Ok(outcome)
    }

    /// Passes steps reported after the first `since` to the host, whose function may write files.
    async fn record_steps(&mut self, since: usize) {
        let Some(tell) = self.run.on_steps_done.clone() else { return };
        let new: Vec<(String, String)> = {
            let mut secrets = self.place.secrets();
            let new = self.state.summaries.iter().skip(since);
            new.map(|(id, text)| (secrets.redact(id), secrets.redact(text))).collect()
        };
        if new.is_empty() {
            return;
        }
        let told = tokio::task::spawn_blocking(move || tell(&new)).await;
        if let Err(warning) = told.unwrap_or_else(|_| Err("`on_steps_done` panicked".to_string()))
            && !self.state.warnings.contains(&warning)
        {
            self.state.warnings.push(warning);
        }
    }

    /// Deducts a finished turn from the remaining ones.
    fn account(&mut self, success: bool) {
        self.state.done += 1;
        self.state.failures = if success { 0 } else { self.state.failures + 1 };
        if self.state.work_left > 0 {
            self.state.work_left -= 1;
        } else {
            self.state.retry_left = self.state.retry_left.saturating_sub(1);
        }
    }

    /// Asks the host's guard, and returns the value that it ends the mission with, if any.
    fn guard(&mut self, number: u32) -> Result<Option<Datum>, Fail> {
        let (Some(guard), Some(turn)) = (&self.run.continuation_guard, self.state.turns.last()) else {
            return Ok(None);
        };
        let standing = Standing {
            turn: number,
            work_left: self.state.work_left,
            retry_left: self.state.retry_left,
            tool_calls: &turn.tool_calls,
        };
        match caught("continuation_guard", || guard(turn, &standing))? {
            Guard::Continue => Ok(None),
            Guard::Stop(end) => end.map(Some),
        }
    }

    /// Starts a message to the model.
    pub fn feedback<T>(&self, write: impl FnOnce(Feedback<'_>) -> T) -> T {
        let options = self.agent.options();
        let mut secrets = self.place.secrets();
        write(Feedback::new(&mut secrets, options.prompt_limit, options.format_options))
    }

    /// Returns the turns left for the message to the model; replies of tools do not state them.
    pub fn turns_line(&self) -> Option<Turns> {
        (self.mode == Mode::Program).then(|| self.left_after())
    }

    /// Returns the turns that will be left after this turn.
    pub fn left_after(&self) -> Turns {
        let options = self.agent.options();
        let (work_left, retry_left) = match self.state.work_left {
            0 => (0, self.state.retry_left.saturating_sub(1)),
            left => (left - 1, self.state.retry_left),
        };
        Turns {
            next: self.state.done + 2,
            max_turns: options.max_turns,
            retry_turns: options.retry_turns,
            work_left,
            retry_left,
        }
    }

    /// Checks the limits on tokens and money after a reply, and then the host's budget function.
    fn over_budget(&mut self) -> Option<Result<Datum, Fail>> {
        if let Some(end) = self.over_limits() {
            return Some(end);
        }
        let usage = self.usage();
        let goes_on = self.run.budget.as_ref().map(|budget| caught("budget", || budget(&usage)));
        match goes_on {
            None | Some(Ok(true)) => None,
            Some(Ok(false)) => Some(self.stopped("the host's budget ended the mission".to_string())),
            Some(Err(fail)) => Some(Err(fail)),
        }
    }

    /// Checks the limits of this mission and of those above it.
    fn over_limits(&mut self) -> Option<Result<Datum, Fail>> {
        Some(match self.place.budget.over()? {
            Over::Cost(spent, most) => {
                let message = format!("the mission cost ${spent:.4}, more than `max_cost_usd` {most}");
                Err(Fail::new("cost_budget_exceeded", message))
            }
            Over::Tokens(spent, most) => {
                self.stopped(format!("{spent} tokens were used, more than `token_limit` {most}"))
            }
        })
    }

    fn stopped(&mut self, message: String) -> Result<Datum, Fail> {
        let fail = Fail::new("budget_callback_exceeded", message);
        match self.run.on_budget_exceeded {
            OnBudgetExceeded::Fail => Err(fail),
            OnBudgetExceeded::ReturnPartial => self.partial(fail),
        }
    }

    /// Adds the failure of the last turn.
    fn because(&self, fail: Fail) -> Fail {
        let last = self.state.turns.last().filter(|turn| !turn.success);
        match last.and_then(|turn| turn.result.as_ref()) {
            Some(last) => {
                fail.details(json!({"last_failure": json_of(&redact_marked(&without_media(last)))}))
            }
            None => fail,
        }
    }

    /// Ends a mission without turns left.
    fn exhausted(&mut self) -> Result<Datum, Fail> {
        let options = self.agent.options();
        let fail = match self.state.last_fail.clone().filter(|_| self.state.was_bad_return) {
            Some(fail) => fail.details(json!({"limit": "max_turns"})),
            None if options.retry_turns == 0 => {
                let message = format!("no result after {} turns (`max_turns`)", options.max_turns);
                self.because(Fail::new("max_turns_exceeded", message))
            }
            None => {
                let message = format!(
                    "no result after {} turns and {} retries",
                    options.max_turns, options.retry_turns
                );
                self.because(Fail::new("budget_exhausted", message))
            }
        };
        match options.on_exhausted {
            OnExhausted::Fail => Err(fail),
            OnExhausted::LastValue => self.partial(fail),
        }
    }

    /// Returns the newest value that fits, or else this failure.
    fn partial(&mut self, fail: Fail) -> Result<Datum, Fail> {
        match self.state.last_value.take() {
            Some(value) => {
                self.state.fallback_used = true;
                Ok(value)
            }
            None => Err(fail),
        }
    }

    /// Returns the usage so far.
    pub fn usage(&self) -> Usage {
        let tokens = &self.state.tokens;
        let (input, output) = (tokens.input.unwrap_or(0), tokens.output.unwrap_or(0));
        Usage {
            duration_ms: now().saturating_duration_since(self.started).as_millis() as u64,
            memory_bytes: self.state.memory_bytes,
            turns: self.state.done,
            llm_requests: self.state.llm_requests,
            input_tokens: input,
            output_tokens: output,
            total_tokens: input.saturating_add(output),
            cache_creation_tokens: tokens.cache_creation,
            cache_read_tokens: tokens.cache_read,
            cost_usd: tokens.total_cost,
            system_prompt_tokens: self.prompt.system.chars().count() as u64 / 4,
            schema_used: self.prompt.schema.is_some().then_some(true),
            schema_bytes: self.prompt.schema.as_ref().map(|schema| schema.to_string().len() as u64),
            compaction: self.state.compaction.clone(),
            fallback_used: self.state.fallback_used,
            tree: self.place.budget.spent(),
        }
    }

    /// Returns the step of the mission.
    pub fn finish(mut self, end: Result<Datum, Fail>) -> Step {
        // The turn that ended the mission was not accounted for.
        self.state.done = self.state.done.max(self.state.turns.last().map_or(0, |turn| turn.number));
        let mut secrets = self.place.secrets();
        // Hosts publish progress, so nothing firewalled may be in it.
        let summaries = self.state.summaries.iter();
        let summaries = summaries.map(|(id, text)| (secrets.redact(id), secrets.redact(text))).collect();
        drop(secrets);
        let mut step = Step {
            usage: self.usage(),
            signature: self.agent.signature().to_string(),
            name: self.agent.name().map(str::to_string),
            summaries,
            field_descriptions: self.agent.options().field_descriptions.clone(),
            prints: self.state.prints,
            tool_calls: self.state.calls,
            pmap_calls: self.state.branches,
            prompt: self.prompt.mission.clone(),
            original_prompt: self.agent.prompt().to_string(),
            tools: self.agent.tools().iter().map(|tool| tool.name.clone()).collect(),
            warnings: self.state.warnings,
            ..Step::default()
        };
        if let Some(engine) = &self.engine {
            step.memory = memory_of(engine);
            step.journal = engine.journal.to_json();
            step.child_steps = engine.toolbox.children();
            step.child_traces = engine.toolbox.child_traces_since(0);
            step.prelude_trace = engine.prelude_trace.clone();
            step.warnings.extend(engine.journal.take_warnings());
            step.tool_cache = engine.toolbox.kept();
        }
        if self.place.secrets().overflowed() {
            let warning = "there was too much firewalled data to search for; printed text and errors were \
                           hidden completely";
            step.warnings.push(warning.to_string());
        }
        if self.run.collect_messages {
            step.messages = Some(self.state.messages);
        }
        match end {
            Ok(value) => step.returned = Some(value),
            Err(fail) => step.fail = Some(fail),
        }
        if self.run.trace == TraceMode::Always || (self.run.trace == TraceMode::OnError && !step.is_ok()) {
            step.turns = self.state.turns;
        }
        step
    }
}

/// Calls a function of the host. If it panics, the mission ends: the host's decision is unknown.
fn caught<T>(option: &str, ask: impl FnOnce() -> T) -> Result<T, Fail> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask))
        .map_err(|_| Fail::new("internal_error", format!("`{option}` panicked")))
}
