//! Agents whose model calls tools itself: text, combined mode, programs through `lisp_eval`.

mod calls;
mod chat;
mod combined;
mod effects;
mod exports;
mod finals;
mod flights;
mod large;
mod parts;
mod previews;
mod program_calls;
mod registry;
mod rules;

use ptc_agent::definition::Transport;
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, AgentBuilder, RunOptions};
use ptc_model::Output;
use ptc_model::{LlmResponse, Message, Reply, Role, Scripted, ToolCall};
use serde_json::{Value, json};

fn text(prompt: &str) -> AgentBuilder {
    Agent::builder().prompt(prompt).output(Output::Text)
}

fn combined(prompt: &str) -> AgentBuilder {
    text(prompt).ptc_transport(Some(Transport::ToolCall))
}

fn with(model: &Scripted) -> RunOptions {
    RunOptions { collect_messages: true, ..RunOptions::new() }.llm(LlmRef::client(model.clone()))
}

/// Returns a reply that calls tools: `(id, name, args)`.
fn calls(calls: &[(&str, &str, Value)]) -> Reply {
    let calls = calls.iter().map(|(id, name, args)| ToolCall::read(Some(id), *name, &args.to_string()));
    Reply::from(LlmResponse::calls(calls))
}

fn eval(id: &str, program: &str) -> Reply {
    calls(&[(id, "lisp_eval", json!({"program": program}))])
}

/// Returns the answers to calls in a conversation, by id.
fn answers(messages: &[Message]) -> Vec<(String, Value)> {
    let tools = messages.iter().filter(|message| message.role == Role::Tool);
    tools
        .map(|message| {
            let content = serde_json::from_str(&message.content).unwrap_or(Value::Null);
            (message.tool_call_id.clone().unwrap(), content)
        })
        .collect()
}
