//! Conversations with an agent: each message is a run that continues the messages before it.

use super::Runnable;
use super::blocking::block_on;
use super::step::Step;
use crate::Agent;
use crate::definition::{PromptParts, RunOptions};
use ptc_bytecode::{Datum, Node};
use ptc_model::Message;
use ptc_runtime::Frozen;

/// Conversation so far, and options for the next run.
#[derive(Clone, Default)]
pub struct ChatOptions {
    /// Messages so far, as the turn before returned them.
    pub messages: Vec<Message>,
    /// All other options. Definitions of an agent that writes programs go into `memory`.
    pub run: RunOptions,
}

/// Exchange of a chat: a message and the reply.
#[derive(Clone, Debug)]
pub struct ChatTurn {
    /// Reply of the agent: text, or the value of an agent that writes programs.
    pub reply: Datum,
    /// Messages so far, including this exchange with its tool calls and their results. The system message is made again for
    /// each run and is not included.
    pub messages: Vec<Message>,
    /// Definitions for the next exchange; agents that answer in text keep none.
    pub memory: Vec<(String, Frozen)>,
    /// Step of the run.
    pub step: Step,
}

impl ChatTurn {
    /// Returns the reply as text.
    pub fn text(&self) -> String {
        match self.reply.nodes() {
            [Node::Str(text)] => text.to_string(),
            _ => ptc_contract::data::show(
                ptc_contract::data::Tree::new(&self.reply).root(),
                ptc_contract::data::Shown::default(),
            ),
        }
    }

    /// Returns the options for the next exchange.
    #[must_use]
    pub fn next(&self, run: RunOptions) -> ChatOptions {
        ChatOptions {
            messages: self.messages.clone(),
            run: RunOptions { memory: self.memory.clone(), ..run },
        }
    }
}

/// Sends a message to an agent. The message is the mission as it is, not a template. If the agent's own prompt has
/// no placeholders, it goes into the system message. The signature applies to every reply. Cached results, the journal
/// and earlier results are not carried over.
///
/// ```
/// use ptc_agent::{mission::{chat, ChatOptions}, tools::LlmRef, Agent, RunOptions};
/// use ptc_model::{Output, Scripted};
/// let agent = Agent::builder().prompt("You sell tea.").output(Output::Text).build()?;
/// let model = Scripted::new(["Black or green?", "Two euros."]);
/// let run = RunOptions::new().llm(LlmRef::client(model.clone()));
/// let first = chat(&agent, "Tea, please", &ChatOptions { run: run.clone(), ..ChatOptions::default() }).unwrap();
/// let second = chat(&agent, "Green. How much?", &first.next(run)).unwrap();
/// assert_eq!(second.text(), "Two euros.");
/// let said: Vec<String> = model.requests()[1].messages.iter().map(|message| message.content.clone()).collect();
/// assert_eq!(said, ["Tea, please", "Black or green?", "Green. How much?"]);
/// # Ok::<(), ptc_agent::BuildError>(())
/// ```
pub fn chat(agent: &Agent, message: &str, options: &ChatOptions) -> Result<ChatTurn, Box<Step>> {
    block_on(chat_async(agent, message, options))?
}

/// Sends a message to an agent, as a future.
pub async fn chat_async(agent: &Agent, message: &str, options: &ChatOptions) -> Result<ChatTurn, Box<Step>> {
    let own = agent.prompt().to_string();
    let has_role = agent.template().names().is_empty() && agent.options().system_prompt.is_none();
    // The message replaces the agent's template, which was checked when the agent was built.
    let changed = agent.with(|builder| match has_role {
        true => builder.system_prompt(PromptParts { prefix: Some(own), ..PromptParts::default() }),
        false => builder,
    });
    let changed = changed.map_err(|error| Box::new(Step::failed(super::fault::fail_of(&[error]))))?;
    let run = RunOptions {
        mission: Some(message.to_string()),
        history: options.messages.clone(),
        collect_messages: true,
        ..options.run.clone()
    };
    let step = changed.start(&run).await?;
    let memory = match agent.is_text() {
        true => Vec::new(),
        false => step.memory.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
    };
    let mut messages = step.messages.clone().unwrap_or_default();
    let is_answered = messages.last().is_some_and(|last| last.role == ptc_model::Role::Assistant);
    if !is_answered {
        // A program's value is the answer, and no message holds it.
        let reply = step.returned.as_ref().map(|value| {
            ptc_contract::data::show_public(
                ptc_contract::data::Tree::new(value).root(),
                ptc_contract::data::Shown::default(),
            )
        });
        messages.push(Message::assistant(reply.unwrap_or_default()));
    }
    Ok(ChatTurn {
        reply: step.returned.clone().unwrap_or_else(|| Datum::scalar(Node::Nil)),
        messages,
        memory,
        step,
    })
}
