//! Checkpoints: written after each turn of a mission, and read to resume it.
//!
//! Definitions, results and overlay are kept as a snapshot of a VM that holds them all, so that functions and their
//! closures come back without running anything again. Printed forms are added for people, and the results of cached
//! tools, so that those are not called again.

use super::engine::Engine;
use super::excerpt::described;
use super::journal::{JOURNAL, replace};
use super::state::{Mission, State, memory_of};
use super::step::{Fail, TreeUsage};
use crate::definition::PlanItem;
use crate::prompt::plan_text;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{Shown, Tree, show};
use ptc_contract::keys::CacheKey;
use ptc_runtime::bridge::{datum_to_json, json_to_datum};
use ptc_runtime::files::read_at_most;
use ptc_runtime::{Frozen, Grants, Remembered, Session, Step as Stepped};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum bytes of a checkpoint.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum bytes of cached results written, as data. As JSON they may take six times as much.
const CACHE_BYTES: usize = 32 << 20;

/// Maximum count of turns, requests or calls that a checkpoint may claim.
const MAX_COUNT: u64 = 1 << 31;

/// Version of the file format.
const VERSION: u32 = 1;

/// Names under which the VM holds values that are not definitions.
const OVERLAY: &str = "ptc-checkpoint-overlay-";
const HISTORY: &str = "ptc-checkpoint-history-";

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    version: u32,
    /// Hash of the agent and its mission; others cannot resume from this checkpoint.
    identity: String,
    turn: u32,
    state: State,
    journal: Map<String, Value>,
    spent: TreeUsage,
    /// Definitions, printed for people.
    memory: BTreeMap<String, String>,
    /// Names of the overlay, in the VM's order.
    overlay: Vec<String>,
    /// Reasons why some results were not kept, by their place in the history.
    #[serde(default)]
    gaps: BTreeMap<usize, String>,
    machine: Option<String>,
    /// Answers of cached tools, most recently used first.
    #[serde(default)]
    cache: Vec<CachedAnswer>,
}

impl Checkpoint {
    /// Refuses impossible counts: large ones would overflow later sums, and negative costs would raise the budget.
    fn check_counts(&self) -> Result<(), String> {
        let (state, spent) = (&self.state, &self.spent);
        let counts = [
            state.done.into(),
            state.failures.into(),
            state.llm_requests,
            state.call_ids,
            state.native_calls,
            spent.turns,
            spent.llm_requests,
        ];
        match counts.iter().all(|count| *count <= MAX_COUNT) && spent.cost_usd >= 0.0 {
            true => Ok(()),
            false => Err("it is damaged: its counts are impossible".to_string()),
        }
    }
}

/// An answer of a cached tool: as JSON, or node by node if JSON cannot hold it.
#[derive(Serialize, Deserialize)]
struct CachedAnswer {
    key: CacheKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<Datum>,
    /// Indexes of firewalled nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    veiled: Vec<u32>,
}

impl CachedAnswer {
    fn new(key: CacheKey, datum: Datum) -> CachedAnswer {
        let plain = datum_to_json(&datum).ok().filter(|_| datum.veiled().is_empty());
        let plain = plain.filter(|json| json_to_datum(json).is_ok_and(|back| back == datum));
        let (nodes, veiled) = match plain {
            Some(_) => (None, Vec::new()),
            None => (Some(datum.clone()), datum.veiled().to_vec()),
        };
        CachedAnswer { key, json: plain, nodes, veiled }
    }

    fn value(self) -> Result<(CacheKey, Frozen), String> {
        let datum = match (self.nodes, self.json) {
            (Some(nodes), _) => nodes.with_veiled(self.veiled),
            (None, json) => {
                json_to_datum(&json.unwrap_or_default()).map_err(|error| format!("it is damaged: {error}"))?
            }
        };
        let frozen = Frozen::from_datum(&datum).map_err(|fault| format!("it is damaged: {fault}"))?;
        Ok((self.key, frozen))
    }
}

impl Mission {
    /// Returns a hash that identifies the agent and its mission.
    fn identity(&self) -> String {
        // Without states: a plan kept up to date has advanced since the mission began.
        let plan = &self.agent.options().plan;
        let untouched: Vec<PlanItem> = plan.iter().map(|item| PlanItem::new(&item.id, &item.text)).collect();
        let user = match plan == &untouched {
            true => self.prompt.user.clone(),
            false => self.prompt.user.replace(&plan_text(plan, &[]), &plan_text(&untouched, &[])),
        };
        let parts = [&self.prompt.system, &user, &self.agent.signature().to_string()];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        // Different images may have the same placeholder.
        for part in &self.prompt.parts {
            hash.update(part.data().as_bytes());
        }
        ptc_bytecode::hex(&hash.finalize().into())
    }

    /// Writes a checkpoint, if the run names a folder. A failed write is reported and does not stop the mission.
    pub(super) async fn checkpoint(&mut self) {
        let Some(dir) = self.run.checkpoint_dir.clone() else { return };
        let file = dir.join(format!("checkpoint-{}.json", self.state.done));
        let (cache, left_out) = self.engine.as_ref().map(cached_answers).unwrap_or_default();
        let warning = "answers of cached tools were too large for a checkpoint; after a resume the tools \
                       are called again";
        if left_out > 0 && !self.state.warnings.iter().any(|known| known == warning) {
            self.state.warnings.push(warning.to_string());
        }
        let written = match self.to_checkpoint(&cache) {
            Ok(checkpoint) => tokio::task::spawn_blocking(move || replace(&file, &checkpoint))
                .await
                .map_err(|error| error.to_string())
                .and_then(|written| written.map_err(|error| error.to_string())),
            Err(message) => Err(message),
        };
        if let Err(message) = written {
            self.state.warnings.push(format!("no checkpoint after turn {}: {message}", self.state.done));
        }
    }

    fn to_checkpoint(&self, cache: &[CachedAnswer]) -> Result<Value, String> {
        let mut checkpoint = Map::new();
        let mut put = |key: &str, value: Result<Value, serde_json::Error>| {
            value.map(|value| checkpoint.insert(key.to_string(), value)).map_err(|error| error.to_string())
        };
        put("version", Ok(VERSION.into()))?;
        put("identity", Ok(self.identity().into()))?;
        put("turn", Ok(self.state.done.into()))?;
        put("state", serde_json::to_value(&self.state))?;
        put("spent", serde_json::to_value(self.place.budget.spent()))?;
        put("cache", serde_json::to_value(cache))?;
        if let Some(engine) = &self.engine {
            put("journal", Ok(Value::Object(engine.journal.to_json())))?;
            let memory = memory_of(engine);
            let printed: BTreeMap<&String, String> =
                memory.iter().map(|(name, value)| (name, printed(value))).collect();
            put("memory", serde_json::to_value(printed))?;
            put("overlay", serde_json::to_value(engine.overlay.keys().collect::<Vec<_>>()))?;
            let history = engine.session.history().iter().enumerate();
            let gaps = history.filter_map(|(i, result)| match result {
                Remembered::Gap(why) => Some((i, &**why)),
                Remembered::Value(_) => None,
            });
            put("gaps", serde_json::to_value(gaps.collect::<BTreeMap<usize, &str>>()))?;
            put("machine", Ok(snapshot(engine)?.into()))?;
        } else {
            put("journal", Ok(Value::Object(Map::new())))?;
            put("memory", Ok(Value::Object(Map::new())))?;
            put("overlay", Ok(Value::Array(Vec::new())))?;
            put("machine", Ok(Value::Null))?;
        }
        Ok(Value::Object(checkpoint))
    }

    /// Resumes from a checkpoint: a file, or the newest in a folder.
    pub(super) fn resume(&mut self, from: &Path) -> Result<(), Fail> {
        let wrong = |message: String| {
            Fail::new("invalid_option", format!("cannot resume from {}: {message}", from.display()))
        };
        let file = newest(from).map_err(|error| wrong(error.to_string()))?;
        let Some(file) = file else { return Err(wrong("there is no checkpoint".to_string())) };
        let text = read_at_most(&file, MAX_BYTES).map_err(|error| wrong(error.to_string()))?;
        let checkpoint: Checkpoint =
            serde_json::from_slice(&text).map_err(|error| wrong(format!("it is damaged: {error}")))?;
        if checkpoint.version != VERSION {
            return Err(wrong(format!("its version is {}, not {VERSION}", checkpoint.version)));
        }
        if checkpoint.identity != self.identity() {
            return Err(wrong("it belongs to another agent or another mission".to_string()));
        }
        checkpoint.check_counts().map_err(wrong)?;
        let options = self.agent.options();
        let (work, retry) = (checkpoint.state.work_left, checkpoint.state.retry_left);
        if work > options.max_turns || retry > options.retry_turns {
            return Err(wrong("it has more turns left than the agent allows".to_string()));
        }
        // Tasks finished in the interrupted turn are only in the journal's own file.
        let beside = file.with_file_name(JOURNAL);
        let journal: Map<String, Value> = match std::fs::metadata(&beside) {
            Err(_) => checkpoint.journal,
            Ok(_) => {
                let bytes =
                    read_at_most(&beside, MAX_BYTES).map_err(|error| wrong(format!("{JOURNAL}: {error}")))?;
                serde_json::from_slice(&bytes)
                    .map_err(|error| wrong(format!("{JOURNAL} is damaged: {error}")))?
            }
        };
        if let Some(engine) = &mut self.engine {
            engine.journal.restore(&journal).map_err(|error| wrong(error.to_string()))?;
            if let Some(machine) = &checkpoint.machine {
                restore(engine, machine, &checkpoint.overlay, checkpoint.gaps).map_err(wrong)?;
            }
            // Oldest first, so that the order of last uses is restored.
            for answer in checkpoint.cache.into_iter().rev() {
                let (key, answer) = answer.value().map_err(wrong)?;
                engine.toolbox.keep(key, answer);
            }
        }
        self.place.budget.resume(checkpoint.spent);
        self.state = checkpoint.state;
        Ok(())
    }
}

/// Returns the checkpoint in a folder that was written last, or the file itself. Times decide, since an earlier run may
/// have taken more turns.
fn newest(from: &Path) -> std::io::Result<Option<PathBuf>> {
    if !from.is_dir() {
        return Ok(Some(from.to_path_buf()));
    }
    let number = |path: &Path| -> Option<u32> {
        path.file_name()?.to_str()?.strip_prefix("checkpoint-")?.strip_suffix(".json")?.parse().ok()
    };
    let mut found: Option<((SystemTime, u32), PathBuf)> = None;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let Some(n) = number(&entry.path()) else { continue };
        let age = (entry.metadata()?.modified().unwrap_or(SystemTime::UNIX_EPOCH), n);
        if found.as_ref().is_none_or(|(known, _)| age > *known) {
            found = Some((age, entry.path()));
        }
    }
    Ok(found.map(|(_, path)| path))
}

/// Returns cached results, as many as fit, and the number left out.
fn cached_answers(engine: &Engine) -> (Vec<CachedAnswer>, usize) {
    let (mut room, mut left_out) = (CACHE_BYTES, 0);
    let mut answers = Vec::new();
    for (key, value) in engine.toolbox.newest_kept() {
        let datum = value.to_datum(room).ok().filter(|datum| datum.bytes() <= room);
        // JSON has no number for these, and functions are not data.
        let is_data = |node: &Node| match node {
            Node::Float(x) => x.is_finite(),
            Node::Opaque(_) => false,
            _ => true,
        };
        match datum.filter(|datum| datum.nodes().iter().all(is_data)) {
            Some(datum) => {
                room -= datum.bytes();
                answers.push(CachedAnswer::new(key, datum));
            }
            None => left_out += 1,
        }
    }
    (answers, left_out)
}

fn printed(value: &Frozen) -> String {
    match value.to_datum(64 << 10) {
        Ok(datum) => show(Tree::new(&datum).root(), Shown { chars: 4000, ..Shown::default() }),
        Err(_) => format!("#<{}>", described(value)),
    }
}

/// Returns a snapshot, in base64, of a run that would make all definitions again, stopped before it does so.
fn snapshot(engine: &Engine) -> Result<String, String> {
    let mut session: Session = engine.session.clone();
    session.set_grants(Grants::new().firewall(true));
    for (i, value) in engine.overlay.values().enumerate() {
        session.define(format!("{OVERLAY}{i}"), value.clone());
    }
    for (i, result) in session.history().to_vec().iter().enumerate() {
        if let Some(value) = result.value() {
            session.define(format!("{HISTORY}{i}"), value.clone());
        }
    }
    let source: Vec<String> = session.defined().map(|name| format!("(def {name} {name})")).collect();
    let source = if source.is_empty() { "nil".to_string() } else { source.join("\n") };
    let run = session.start(&source).map_err(|failure| failure.to_string())?;
    run.snapshot().map(|bytes| BASE64_STANDARD.encode(bytes)).map_err(|failure| failure.to_string())
}

fn restore(
    engine: &mut Engine,
    machine: &str,
    overlay: &[String],
    gaps: BTreeMap<usize, String>,
) -> Result<(), String> {
    let bytes = BASE64_STANDARD.decode(machine).map_err(|error| format!("it is damaged: {error}"))?;
    let mut run = engine
        .session
        .runtime()
        .load(&bytes, &Grants::new().firewall(true))
        .map_err(|failure| failure.to_string())?;
    let outcome = match run.step() {
        Stepped::Done(Ok(outcome)) => outcome,
        Stepped::Done(Err(failure)) => return Err(failure.to_string()),
        Stepped::NeedsTools(_) => return Err("it is damaged: it calls tools".to_string()),
    };
    let mut history: BTreeMap<usize, Remembered> =
        gaps.into_iter().map(|(i, why)| (i, Remembered::Gap(why.into()))).collect();
    for (name, value) in outcome.definitions() {
        if let Some(i) = name.strip_prefix(OVERLAY).and_then(|i| i.parse::<usize>().ok()) {
            let name = overlay.get(i).ok_or("it is damaged: a result has no name")?;
            engine.toolbox.place.secrets().learn_frozen(Some(name), &value);
            engine.overlay.insert(name.clone(), value);
        } else if let Some(i) = name.strip_prefix(HISTORY).and_then(|i| i.parse::<usize>().ok()) {
            history.insert(i, value.into());
        } else {
            engine.toolbox.place.secrets().learn_frozen(Some(&name), &value);
            engine.session.define(name, value);
        }
    }
    // Oldest first: each becomes `*1` in turn.
    history.into_values().rev().for_each(|value| engine.session.remember(value));
    Ok(())
}
