//! A conversation, and how it is counted.

use serde::Serialize;
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

/// One turn of a model: the calls it writes, and what it reads of them.
#[derive(Clone, Default)]
pub struct Turn {
    pub wrote: Vec<String>,
    pub read: Vec<String>,
    pub millis: f64,
}

/// All that a model reads and writes for one question.
#[derive(Clone, Default)]
pub struct Transcript {
    /// Descriptions of tools, as JSON.
    pub tools: Vec<String>,
    pub question: String,
    pub turns: Vec<Turn>,
    /// The value that was found, which the model writes at the end.
    pub answer: Value,
}

/// The figures of a transcript. All but the last two are tokens.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Figures {
    /// Descriptions of the tools.
    pub tools: usize,
    /// Calls and programs, and the answer.
    pub written: usize,
    /// Results of calls.
    pub results: usize,
    /// Everything once: tools, question, calls, results, answer.
    pub once: usize,
    /// Everything in every turn in which a model without a cache reads it, and what it writes.
    pub processed: usize,
    /// In tokens of input at full price: what is read again costs a tenth, what is written costs five times as much.
    pub cost: f64,
    /// Turns of the model, of which the last has the answer.
    pub turns: usize,
    /// Calls that the model writes.
    pub calls: usize,
}

/// What of a tool goes to a model: titles, annotations and schemas of results do not.
pub fn as_models_see_it(tool: &Value) -> Value {
    let mut input = tool["inputSchema"].clone();
    if let Some(input) = input.as_object_mut() {
        input.remove("$schema");
    }
    json!({"name": tool["name"], "description": tool["description"], "input_schema": input})
}

/// A call as a model writes it.
pub fn written_call(name: &str, args: &Value) -> String {
    json!({"name": name, "arguments": args}).to_string()
}

impl Transcript {
    pub fn figures(&self, tokenizer: &CoreBPE) -> Figures {
        let count = |text: &str| tokenizer.encode_ordinary(text).len();
        let sum = |all: &[String]| all.iter().map(|text| count(text)).sum::<usize>();
        let (tools, question, answer) =
            (sum(&self.tools), count(&self.question), count(&self.answer.to_string()));
        // Of the turn before: what of the conversation a cache has already.
        let (mut known, mut context) = (0, tools + question);
        let mut figures =
            Figures { tools, written: answer, turns: self.turns.len() + 1, ..Figures::default() };
        for turn in &self.turns {
            let (wrote, read) = (sum(&turn.wrote), sum(&turn.read));
            figures.pay(context, known, wrote);
            known = context;
            context += wrote + read;
            figures.written += wrote;
            figures.results += read;
            figures.calls += turn.wrote.len();
        }
        figures.pay(context, known, answer);
        figures.once = context + answer;
        figures
    }

    /// One conversation of several: each answer is followed by the next question.
    pub fn joined(all: &[&Transcript]) -> Transcript {
        let mut joined = Transcript {
            tools: all[0].tools.clone(),
            question: all[0].question.clone(),
            ..Transcript::default()
        };
        for (n, transcript) in all.iter().enumerate() {
            joined.turns.extend(transcript.turns.iter().cloned());
            match all.get(n + 1) {
                Some(next) => {
                    let (wrote, read) = (vec![transcript.answer.to_string()], vec![next.question.clone()]);
                    joined.turns.push(Turn { wrote, read, millis: 0.0 });
                }
                None => joined.answer = transcript.answer.clone(),
            }
        }
        joined
    }

    /// Time of all calls in milliseconds.
    pub fn millis(&self) -> f64 {
        self.turns.iter().map(|turn| turn.millis).sum()
    }

    /// The conversation as text, for people who want to see what was counted.
    pub fn text(&self) -> String {
        let mut text = format!("{} tools\n\nUSER\n{}\n", self.tools.len(), self.question);
        for turn in &self.turns {
            for wrote in &turn.wrote {
                text += &format!("\nMODEL\n{wrote}\n");
            }
            for read in &turn.read {
                text += &format!("\nRESULT\n{read}\n");
            }
        }
        text + &format!("\nMODEL\n{}\n", self.answer)
    }
}

impl Figures {
    /// One turn: the context, of which `known` tokens were there in the turn before, and what is written.
    fn pay(&mut self, context: usize, known: usize, written: usize) {
        self.processed += context + written;
        self.cost += (context - known) as f64 + known as f64 / 10.0 + 5.0 * written as f64;
    }

    pub fn add(&mut self, other: &Figures) {
        self.tools += other.tools;
        self.written += other.written;
        self.results += other.results;
        self.once += other.once;
        self.processed += other.processed;
        self.cost += other.cost;
        self.turns += other.turns;
        self.calls += other.calls;
    }
}
