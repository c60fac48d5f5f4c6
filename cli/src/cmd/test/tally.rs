//! Reports of a test while it ran: its checks, and the calls of tools it made.

use ptc_bytecode::{Datum, Node};
use ptc_runtime::{FIREWALLED, ToolAnswer, ToolArgs, ToolError, bridge};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Failures of one test that are kept; further ones are counted.
const MAX_FAILURES: usize = 20;
/// Characters of one value that are kept.
const MAX_VALUE: usize = 64 << 10;
/// Calls of tools that one test may make, and what their arguments may take in all.
const MAX_CALLS: usize = 10_000;
const MAX_CALL_BYTES: usize = 16 << 20;

/// Reports of a test so far.
#[derive(Default)]
pub struct Tally(Mutex<Reported>);

/// All that a test reported.
#[derive(Default)]
pub struct Reported {
    /// Checks that held.
    pub held: u64,
    /// Checks that did not, the first of them.
    pub failures: Vec<FailedCheck>,
    /// Checks that did not hold and are not kept.
    pub left_out: u64,
    /// The check that is waiting for the run to fail.
    pub expects: Option<ExpectedFailure>,
    /// Calls of tools that have no stub, each once.
    pub unstubbed: Vec<String>,
    /// Why a stub could not answer.
    pub broken: Option<String>,
    /// Fuel that stubs took.
    pub stub_fuel: u64,
    calls: Vec<(String, Datum)>,
    call_bytes: usize,
}

/// A check that did not hold.
#[derive(Clone, Debug)]
pub struct FailedCheck {
    /// The byte at which its `is` begins.
    pub at: u32,
    /// Why, if the values do not tell.
    pub why: String,
    /// Message in the test.
    pub message: Option<String>,
    /// Operands as they print; firewalled ones are hidden.
    pub values: Vec<String>,
}

/// A check that holds if the run fails.
#[derive(Clone, Debug)]
pub struct ExpectedFailure {
    /// The byte at which its `is` begins.
    pub at: u32,
    /// Expected value of the failure, as it prints; None for any.
    pub value: Option<String>,
    /// The value as it may be shown.
    pub shown: Option<String>,
}

impl Tally {
    /// All of it.
    pub fn take(&self) -> Reported {
        std::mem::take(&mut *self.lock())
    }

    pub fn lock(&self) -> MutexGuard<'_, Reported> {
        // Nothing in there can be half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the tool that checks report to.
    pub fn check(&self, args: &ToolArgs) -> Result<ToolAnswer, ToolError> {
        let shown = bridge::datum_to_json(&redacted(args.datum())).map_err(ToolError::new)?;
        let at = shown["at"].as_u64().and_then(|at| u32::try_from(at).ok()).unwrap_or_default();
        let mut reported = self.lock();
        if shown.get("expects").is_some() {
            let clear = args.json()?;
            let text = |value: &Value| value["values"][0].as_str().map(str::to_string);
            reported.expects = Some(ExpectedFailure { at, value: text(&clear), shown: text(&shown) });
        } else if let Some(why) = shown.get("failed") {
            // What was to end the run did not.
            reported.expects = reported.expects.take().filter(|expected| expected.at != at);
            if reported.failures.len() < MAX_FAILURES {
                let values = shown["values"].as_array().into_iter().flatten();
                reported.failures.push(FailedCheck {
                    at,
                    why: why.as_str().unwrap_or_default().to_string(),
                    message: shown["message"].as_str().map(cut),
                    values: values.map(|value| cut(value.as_str().unwrap_or_default())).collect(),
                });
            } else {
                reported.left_out += 1;
            }
        } else {
            reported.held += 1;
        }
        Ok(Datum::scalar(Node::Nil).into())
    }

    /// Notes a call, if the test may make another.
    pub fn note(&self, tool: &str, request: &Datum) -> Result<(), ToolError> {
        let mut reported = self.lock();
        reported.call_bytes += request.bytes();
        if reported.calls.len() >= MAX_CALLS || reported.call_bytes > MAX_CALL_BYTES {
            let message =
                format!("a test may call tools {MAX_CALLS} times, with {} MiB", MAX_CALL_BYTES >> 20);
            reported.broken.get_or_insert_with(|| message.clone());
            return Err(ToolError::new(message));
        }
        reported.calls.push((tool.to_string(), request.clone()));
        Ok(())
    }

    /// Answers the tool that tells what calls were given.
    pub fn calls(&self, args: &ToolArgs) -> Result<ToolAnswer, ToolError> {
        let wanted = args.json()?["tool"].as_str().unwrap_or_default().to_string();
        let reported = self.lock();
        let (mut nodes, mut veiled, mut count) = (Vec::new(), Vec::new(), 0);
        for (_, request) in reported.calls.iter().filter(|(tool, _)| *tool == wanted) {
            veiled.extend(request.veiled().iter().map(|place| place + nodes.len() as u32));
            nodes.extend_from_slice(request.nodes());
            count += 1;
        }
        nodes.push(Node::Vector(count));
        let all = Datum::new(nodes).ok_or_else(|| ToolError::new("the calls are not one value"))?;
        Ok(all.with_veiled(veiled).into())
    }
}

/// Report of a check, with firewalled texts hidden.
fn redacted(datum: &Datum) -> Datum {
    let hidden = || Node::Str(FIREWALLED.into());
    let mut nodes = datum.nodes().to_vec();
    for place in datum.veiled() {
        match nodes.get_mut(*place as usize) {
            Some(node @ Node::Str(_)) => *node = hidden(),
            // Checks report texts; of anything else, nothing is shown.
            _ => {
                nodes.iter_mut().filter(|node| matches!(node, Node::Str(_))).for_each(|node| *node = hidden())
            }
        }
    }
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0)))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
