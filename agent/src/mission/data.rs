//! Data of a mission, which programs read as `data/…`.

use crate::Agent;
use crate::definition::RunOptions;
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::Tree;
use ptc_contract::keys;
use ptc_contract::signature::Signature;
use ptc_runtime::{Fault, Frozen};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Initial data of a mission.
pub(crate) struct MissionData {
    context: Vec<(String, Frozen)>,
    /// Names that read as nil if there is no such data: omitted parameters of the signature, and `fail` while nothing
    /// has failed. Reading other missing names is an error.
    optional: Vec<String>,
}

impl MissionData {
    pub fn new(agent: &Agent, run: &RunOptions, context: &Datum) -> Result<MissionData, Fault> {
        let tree = Tree::new(context);
        let entries = tree.root().entries();
        let context: Result<Vec<(String, Frozen)>, Fault> = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.name()?.to_string(), value.datum())))
            // Frozen now, once, and not for every program.
            .map(|(name, value)| {
                Frozen::from_datum(&value).map(|value| (value.firewalled(Some(&name)), name))
            })
            .map(|made| made.map(|(value, name)| (name, value)))
            .collect();
        Ok(MissionData { context: context?, optional: optional_names(agent, run) })
    }

    /// Returns the names of the data.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.context.iter().map(|(name, _)| name.as_str())
    }

    /// Returns all data with results of programs. Results shadow data of the same name, in either spelling.
    pub fn with<'d>(&'d self, results: &'d BTreeMap<String, Frozen>) -> BTreeMap<Cow<'d, str>, Frozen> {
        let mut data: BTreeMap<Cow<'_, str>, Frozen> =
            self.context.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect();
        for (name, value) in results {
            data.retain(|known, _| !keys::same(known, name));
            data.insert(keys::normalize_key(name), value.clone());
        }
        // Freezing a single nil cannot fail.
        let nil = Frozen::from_datum(&Datum::scalar(Node::Nil)).ok();
        for (name, nil) in self.optional.iter().zip(nil.iter().cycle()) {
            if !data.keys().any(|known| keys::same(known, name)) {
                data.insert(name.as_str().into(), nil.clone());
            }
        }
        data
    }
}

/// Returns the names that a program may read even if there is no such data.
fn optional_names(agent: &Agent, run: &RunOptions) -> Vec<String> {
    let context = run.context_signature.as_ref().or(agent.options().context_signature.as_ref());
    let context = context.and_then(|text| Signature::parse(text).ok()).unwrap_or_default();
    let fields = context.params.iter().chain(context.returns.fields().unwrap_or_default());
    let fields = agent.signature().params.iter().chain(fields);
    fields.map(|field| field.name.clone()).chain(["fail".to_string()]).collect()
}
