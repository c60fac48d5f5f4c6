//! Requests of turns, made from the state of the mission.

use super::excerpt::described;
use super::state::{Mission, memory_of};
use super::step::TurnKind;
use crate::compaction::compact;
use crate::prompt::{MissionLogIn, PromptCtx};
use crate::trace::Kind;
use ptc_contract::data::{Shown, Tree, show_public};
use ptc_contract::firewall::{FIREWALLED, is_firewalled};
use ptc_model::{LlmRequest, Output, ToolSpec};
use serde_json::Value;

impl Mission {
    /// Returns the request of a turn: the conversation so far, and the additions of this turn.
    pub(super) fn request(&mut self, kind: TurnKind, number: u32) -> LlmRequest {
        let options = self.agent.options().clone();
        let is_program = options.output == Output::PtcLisp;
        let mut messages = self.state.messages.clone();
        if let Some(rule) = &options.compaction {
            let (kept, stats) = compact(&messages, Some(rule), number);
            if stats.triggered {
                self.place.scope.emit(Kind::CompactionTriggered, |event| {
                    event.turn = Some(number);
                    if let Ok(Value::Object(stats)) = serde_json::to_value(&stats) {
                        event.data.extend(stats);
                    }
                });
            }
            self.state.compaction = serde_json::to_value(&stats).ok();
            messages = kept;
        }
        let mut system = self.system(number);
        if options.format_options.mission_log_in == MissionLogIn::SystemPrompt
            && let Some(log) = self.mission_log()
        {
            system = format!("{system}\n\n{log}");
        }
        let tool_names = match kind {
            TurnKind::Normal if is_program => {
                self.agent.tools().in_programs(false).map(|tool| tool.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let tools = self.prompt.tool_schemas.iter();
        let tools = tools.filter_map(|tool| serde_json::from_value::<ToolSpec>(tool.clone()).ok()).collect();
        LlmRequest {
            system,
            messages,
            turn: number,
            prompt: self.prompt.mission.clone(),
            tool_names,
            llm_opts: options.llm_opts.clone(),
            output: options.output,
            cache: self.run.cache || options.prompt_cache,
            tools,
            schema: self.prompt.schema.clone(),
            depth: self.place.depth,
            agent_name: options.name.clone(),
            tells_unseen: true,
            stream: self.run.on_chunk.clone().filter(|_| !is_program),
            deadline: self.place.deadline,
            cancel: self.place.cancel.clone(),
        }
    }

    /// Returns the system message of a turn.
    fn system(&mut self, number: u32) -> String {
        let Some(varying) = &self.prompt.varying else { return self.prompt.system.clone() };
        let memory = self.engine.as_ref().map(memory_of).unwrap_or_default();
        let ctx = PromptCtx {
            turn: number,
            model: &self.model_name,
            memory: &memory,
            messages: &self.state.messages,
        };
        varying.system(&ctx).unwrap_or_else(|| {
            self.state.warnings.push(format!("`language_spec` panicked before turn {number}"));
            self.prompt.system.clone()
        })
    }

    /// Returns the log of finished tasks.
    pub(super) fn mission_log(&self) -> Option<String> {
        let engine = self.engine.as_ref().filter(|_| self.agent.options().journaling)?;
        let tasks = engine.journal.tasks();
        if tasks.is_empty() {
            return None;
        }
        let lines: Vec<String> = tasks
            .iter()
            .map(|(id, value)| {
                let shown = match value.to_datum(1 << 16) {
                    _ if is_firewalled(id) => FIREWALLED.to_string(),
                    Ok(datum) => show_public(
                        Tree::new(&datum).root(),
                        Shown { items: 5, string: 200, chars: 200, depth: 4 },
                    ),
                    Err(_) => format!("({})", described(value)),
                };
                format!("- {id}: {shown}")
            })
            .collect();
        let text = self.place.secrets().redact(&lines.join("\n"));
        Some(format!("Finished tasks:\n{}", crate::prompt::untrusted(crate::prompt::Source::Memory, &text)))
    }
}
