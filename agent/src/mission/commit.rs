//! Commit of programs: their definitions and results are kept for later programs, within size limits. An [`Execution`]
//! becomes a [`ProgramOutcome`].

use super::drive::Ending;
use super::engine::Engine;
use super::excerpt::shown;
use super::execute::Execution;
use super::fault::{MEMORY_LIMIT, MemoryOverflow};
use super::state::{Mission, Mode};
use super::step::{Fail, Turn};
use crate::definition::CompletionMode;
use crate::feedback::ProgramWarnings;
use crate::memory;
use ptc_bytecode::{Datum, Node};
use ptc_contract::keys::normalize_key;
use ptc_runtime::{Failure, Frozen, Outcome, Remembered};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Maximum bytes of a result that are counted to report its size.
const MEASURED: usize = 4 << 20;

/// Maximum number of dropped results for which reading reports the reason; further names are simply unknown.
const MAX_UNREAD: usize = 1_000;

/// Outcome of a program, after its definitions were kept or undone. The modes differ only in presenting it.
pub(super) struct ProgramOutcome {
    pub end: ProgramEnd,
    /// Everything kept. If definitions are too large, the state is that before the program.
    pub kept: Result<Carryover, MemoryOverflow>,
    pub warnings: ProgramWarnings,
    /// Progress reported by the program: id and text.
    pub reported: Vec<(String, String)>,
}

/// Ending of a program, with its value read.
pub(super) enum ProgramEnd {
    /// A value.
    Value(Datum),
    /// A value from `(return v)`, or of an agent that has one turn.
    Returned(Datum),
    /// A value that cannot be passed on, such as one that is too large.
    Unusable(Fail),
    /// An error, or `(fail v)`.
    Failed(Box<Failure>),
}

/// State that a program leaves to later ones.
#[derive(Default)]
pub(super) struct Carryover {
    /// Definitions, as far as they are shown.
    pub definitions: Vec<(String, Datum)>,
    /// Keys that are readable as `data/…` from now on.
    pub keys: Vec<String>,
    /// Reason why the value did not become `*1`.
    pub forgotten: Option<String>,
    /// Reason why nothing of the value is readable as `data/…`.
    pub unread: Option<MemoryOverflow>,
}

impl Mission {
    /// Reads the value of a program and keeps its definitions and results.
    pub(super) fn commit(&mut self, execution: Execution, turn: &mut Turn) -> Result<ProgramOutcome, Fail> {
        let Execution { ending, definitions, warnings } = execution;
        let engine = self.engine.as_mut().ok_or_else(super::execute::no_engine)?;
        let mut plain = None;
        let end = match ending {
            Ending::Failed(failure) => ProgramEnd::Failed(failure),
            Ending::Returned(outcome) => {
                engine.value(&outcome).map_or_else(ProgramEnd::Unusable, ProgramEnd::Returned)
            }
            Ending::Value(outcome) => match engine.value(&outcome) {
                Ok(value) => {
                    plain = Some(outcome);
                    ProgramEnd::Value(value)
                }
                Err(fail) => ProgramEnd::Unusable(fail),
            },
        };
        let reported = engine.journal.take_reported();
        if let ProgramEnd::Unusable(fail) = &end
            && self.is_single_shot()
        {
            return Err(fail.clone());
        }
        // Only plain values are remembered: a returned value is on its way to the caller.
        let remembered = match (&plain, &end) {
            (Some(outcome), ProgramEnd::Value(value)) => Some((&**outcome, value)),
            _ => None,
        };
        let kept = self.keep(definitions, remembered);
        if kept.is_err() {
            turn.limits_hit.push(MEMORY_LIMIT.to_string());
        }
        Ok(ProgramOutcome { end, kept, warnings, reported })
    }

    /// Returns whether the agent has only this reply, so that nobody would read feedback.
    pub(super) fn is_single_shot(&self) -> bool {
        let options = self.agent.options();
        self.mode != Mode::Combined
            && options.max_turns == 1
            && options.retry_turns == 0
            && options.completion_mode == CompletionMode::Implicit
            && self.agent.tools().is_empty()
    }

    /// Keeps a program's definitions and its value. A value that is too large is dropped without an error: the program
    /// did not ask to keep it.
    fn keep(
        &mut self,
        definitions: Vec<(String, Frozen)>,
        value: Option<(&Outcome, &Datum)>,
    ) -> Result<Carryover, MemoryOverflow> {
        let shown = definitions.iter().map(|(name, value)| (name.clone(), shown(value))).collect();
        let mut kept = Carryover { definitions: shown, ..Carryover::default() };
        if let Some(over) = self.define_all(definitions) {
            return Err(over);
        }
        let most = self.agent.options().format_options.history_max_bytes;
        let (Some(engine), Some((outcome, value))) = (&mut self.engine, value) else { return Ok(kept) };
        let before = engine.overlay.clone();
        kept.keys = engine.merge(outcome, value.is_veiled(value.nodes().len() - 1));
        kept.forgotten = engine.remember(outcome, most);
        if let Some(over) = self.memory_over() {
            if let Some(engine) = &mut self.engine {
                engine.overlay = before;
                engine.leave_unread(&kept.keys, over);
            }
            self.memory_over();
            (kept.keys, kept.unread) = (Vec::new(), Some(over));
        }
        Ok(kept)
    }

    /// Keeps definitions, or undoes all of them if they are too large.
    fn define_all(&mut self, definitions: Vec<(String, Frozen)>) -> Option<MemoryOverflow> {
        let engine = self.engine.as_mut()?;
        let before = engine.session.clone();
        for (name, value) in definitions {
            engine.session.define(name, value);
        }
        let over = self.memory_over()?;
        if let Some(engine) = &mut self.engine {
            engine.session = before;
        }
        self.memory_over();
        Some(over)
    }

    /// Counts the bytes of all definitions and results, and returns them if they exceed the limit.
    fn memory_over(&mut self) -> Option<MemoryOverflow> {
        let engine = self.engine.as_ref()?;
        let limit = self.agent.options().memory_limit;
        let most = limit.unwrap_or(u64::MAX / 4);
        let values =
            engine.session.defined().filter_map(|name| Some((name, engine.session.definition(name)?)));
        let overlay = engine.overlay.iter().map(|(name, value)| (name.as_str(), value));
        let bytes = memory::total(values.chain(overlay), most);
        self.state.memory_bytes = bytes;
        let limit = limit.filter(|limit| bytes > *limit)?;
        Some(MemoryOverflow { bytes: bytes as usize, limit: limit as usize })
    }
}

impl Engine {
    /// Makes the entries of a result readable as `data/key`, or any other result as `data/result`. Returns the names.
    /// The model is told the names, so a firewalled map, whose keys are firewalled too, stays whole.
    fn merge(&mut self, outcome: &Outcome, is_veiled: bool) -> Vec<String> {
        let fields = match outcome.freeze_fields().filter(|_| !is_veiled) {
            Some(fields) => fields,
            None => {
                let value = outcome.freeze();
                if matches!(value.to_datum(64).as_ref().map(Datum::nodes), Ok([Node::Nil])) {
                    return Vec::new();
                }
                vec![("result".to_string(), value)]
            }
        };
        let mut names = Vec::new();
        for (name, value) in fields {
            self.overlay.retain(|known, _| !ptc_contract::keys::same(known, &name));
            self.unread.remove(&*normalize_key(&name));
            names.push(name.clone());
            self.overlay.insert(name, value);
        }
        names
    }

    /// Marks a result as not kept under these names, and drops earlier results under them: a program that reads one
    /// would take it for the newer one.
    fn leave_unread(&mut self, names: &[String], over: MemoryOverflow) {
        let gone: BTreeSet<Cow<'_, str>> = names.iter().map(|name| normalize_key(name)).collect();
        self.overlay.retain(|known, _| !gone.contains(&normalize_key(known)));
        self.unread.extend(gone.into_iter().take(MAX_UNREAD).map(|name| (name.into_owned(), over)));
    }

    /// Makes a value `*1`. A value that is too large is dropped as a whole, since a program would take a part for the
    /// whole; returns the reason then.
    fn remember(&mut self, outcome: &Outcome, most: usize) -> Option<String> {
        let frozen = outcome.freeze();
        let measured = most.max(MEASURED) as u64;
        let bytes = memory::size(&frozen, measured);
        if bytes <= most as u64 {
            self.session.remember(frozen);
            return None;
        }
        let at_least = if bytes > measured { "more than " } else { "" };
        let bytes = bytes.min(measured);
        let why =
            format!("that result was {at_least}{bytes} bytes, and {most} are kept (`history_max_bytes`)");
        self.session.remember(Remembered::Gap(why.as_str().into()));
        Some(why)
    }
}
