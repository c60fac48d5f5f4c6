//! What programs leave behind for the ones after them: definitions, results, and how large they may be. An
//! [`Execution`] becomes a [`ProgramOutcome`].

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

/// Bytes of a result that are counted, to tell how large it is.
const MEASURED: usize = 4 << 20;

/// Names of results that are not kept, for which reading tells why; others are names like any that is not there.
const MAX_UNREAD: usize = 1_000;

/// What came of a program, once what it defined is kept or undone. Modes differ only in how they tell of it.
pub(super) struct ProgramOutcome {
    pub end: ProgramEnd,
    /// What was kept. If definitions are too large, everything is as before the program.
    pub kept: Result<Carryover, MemoryOverflow>,
    pub warnings: ProgramWarnings,
    /// Progress it reported: id and text.
    pub reported: Vec<(String, String)>,
}

/// How a program ended, with its value read.
pub(super) enum ProgramEnd {
    /// With a value.
    Value(Datum),
    /// With `(return v)`, or with the value of an agent that has one turn.
    Returned(Datum),
    /// With a value that cannot be handed on, such as one that is too large.
    Unusable(Fail),
    /// With an error, or `(fail v)`.
    Failed(Box<Failure>),
}

/// What was kept of a program.
#[derive(Default)]
pub(super) struct Carryover {
    /// Definitions, as far as they are shown.
    pub definitions: Vec<(String, Datum)>,
    /// What can be read as `data/…` from now on.
    pub keys: Vec<String>,
    /// Why `*1` is not there.
    pub forgotten: Option<String>,
    /// Why nothing of the value can be read as `data/…`.
    pub unread: Option<MemoryOverflow>,
}

impl Mission {
    /// Reads the value of a program and keeps what it leaves behind.
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
        // Only a plain value is remembered: what a program returned is on its way to somebody.
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

    /// Whether the one reply is all there is: nobody would read what is said about it.
    pub(super) fn is_single_shot(&self) -> bool {
        let options = self.agent.options();
        self.mode != Mode::Combined
            && options.max_turns == 1
            && options.retry_turns == 0
            && options.completion_mode == CompletionMode::Implicit
            && self.agent.tools().is_empty()
    }

    /// Keeps what a program defined, and its value. A value that is too large is only not kept: nobody asked for
    /// that.
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

    /// Counts the bytes of all definitions and results.
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
    /// Makes the entries of a result readable as `data/key`; any other result as `data/result`. Gives the names. Those
    /// are told to the model, so a firewalled map, whose keys are firewalled with it, stays whole.
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

    /// Remembers that a result is not kept under these names. What an earlier result left there goes, too: a program that
    /// reads it would take it for the newer one.
    fn leave_unread(&mut self, names: &[String], over: MemoryOverflow) {
        let gone: BTreeSet<Cow<'_, str>> = names.iter().map(|name| normalize_key(name)).collect();
        self.overlay.retain(|known, _| !gone.contains(&normalize_key(known)));
        self.unread.extend(gone.into_iter().take(MAX_UNREAD).map(|name| (name.into_owned(), over)));
    }

    /// Makes a value `*1`. Nothing is kept of one that is too large, since a program would take a part for the whole;
    /// gives why then.
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
