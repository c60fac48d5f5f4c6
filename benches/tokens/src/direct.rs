//! Direct calls: a script stands for the model. It sees only what the calls before have answered.

use crate::servers::{Answer, Call, Connected};
use crate::transcript::{Turn, written_call};
use serde_json::Value;
use std::io::Result;

/// A conversation under way.
pub struct Direct<'a, 'b> {
    servers: &'a mut Connected<'b>,
    pub turns: Vec<Turn>,
}

/// A call, for scripts.
pub fn call(server: &'static str, tool: &'static str, args: Value) -> Call {
    Call { server, tool, args }
}

impl<'a, 'b> Direct<'a, 'b> {
    pub fn new(servers: &'a mut Connected<'b>) -> Direct<'a, 'b> {
        Direct { servers, turns: Vec::new() }
    }

    /// One turn with these calls, side by side.
    pub fn turn(&mut self, calls: Vec<Call>) -> Result<Vec<Answer>> {
        let (answers, millis) = self.servers.call_all(&calls)?;
        let wrote = calls.iter().map(|call| written_call(call.tool, &call.args)).collect();
        let read = answers.iter().map(|answer| answer.text.clone()).collect();
        self.turns.push(Turn { wrote, read, millis });
        Ok(answers)
    }

    /// One turn with one call.
    pub fn one(&mut self, server: &'static str, tool: &'static str, args: Value) -> Result<Answer> {
        let answer = self.turn(vec![call(server, tool, args)])?.remove(0);
        assert!(!answer.is_error, "{}", answer.text);
        Ok(answer)
    }

    /// One turn with one call that answers JSON.
    pub fn json(&mut self, server: &'static str, tool: &'static str, args: Value) -> Result<Value> {
        Ok(self.one(server, tool, args)?.json())
    }

    /// One turn with calls that answer JSON.
    pub fn jsons(&mut self, calls: Vec<Call>) -> Result<Vec<Value>> {
        Ok(self.turn(calls)?.iter().map(Answer::json).collect())
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}
