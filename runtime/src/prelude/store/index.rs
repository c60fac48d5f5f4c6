//! Index of a store, without the sources: versions, which one is current, and which are kept. It changes by entries
//! only, so a list of entries is the store.

use super::reference::{is_checksum, is_id};
use super::{StoreError, StoreLimits, StoreRef};
use ptc_bytecode::Code;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Metadata of a version, by name.
pub type Metadata = serde_json::Map<String, serde_json::Value>;

/// One version of a prelude.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Version {
    pub version: u64,
    /// SHA-256 of the source.
    pub checksum: String,
    /// Length of the source in bytes.
    pub bytes: u64,
    pub namespaces: Vec<String>,
    pub exports: Vec<String>,
    pub metadata: Metadata,
    pub origin: Option<String>,
    pub created_at: String,
}

impl Version {
    fn weight(&self) -> u64 {
        self.bytes.saturating_add(weight(&self.metadata))
    }
}

/// Returns the length of metadata as compact JSON in bytes.
pub(super) fn weight(metadata: &Metadata) -> u64 {
    serde_json::to_string(metadata).map_or(u64::MAX, |text| text.len() as u64)
}

/// One change of the store.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Entry {
    /// A new version, which becomes current. Versions it drives out are listed, so that processes with other limits
    /// agree.
    Write { id: String, version: Version, pruned: Vec<u64> },
    /// A version was selected.
    Select { id: String, version: u64, metadata: Metadata, at: String },
    /// A prelude in a rewritten list; its versions follow.
    Known {
        id: String,
        latest: u64,
        current: u64,
        selected: BTreeSet<u64>,
        default_metadata: Option<Metadata>,
        created_at: String,
        updated_at: String,
    },
    /// A version in a rewritten list.
    Kept { id: String, version: Version },
}

/// The versions of one prelude.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Versions {
    pub latest: u64,
    pub current: u64,
    /// Every version that was ever selected.
    pub selected: BTreeSet<u64>,
    pub all: BTreeMap<u64, Version>,
    pub default_metadata: Option<Metadata>,
    pub created_at: String,
    pub updated_at: String,
}

/// The content of a store.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Index {
    pub ids: BTreeMap<String, Versions>,
    /// Number of versions with each source.
    objects: HashMap<String, u64>,
    total: u64,
}

impl Index {
    /// Resolves a reference to a version.
    pub fn find(&self, reference: &StoreRef) -> Result<(&Versions, &Version), StoreError> {
        let id = &reference.id;
        let missing = |what: String| StoreError::new(Code::NotFound, what).with("id", id.clone());
        let Some(versions) = self.ids.get(id) else {
            return Err(missing(format!("the store has no prelude `{id}`")));
        };
        let number = reference.version.unwrap_or(versions.current);
        let Some(version) = versions.all.get(&number) else {
            let message = format!("the store has no version {number} of `{id}`, or no longer has it");
            return Err(missing(message).with("version", number));
        };
        match &reference.checksum {
            Some(expected) if *expected != version.checksum => {
                let actual = &version.checksum;
                let message = format!("{id}@{number} has the checksum {actual}, not {expected}");
                Err(StoreError::new(Code::ChecksumMismatch, message)
                    .with("expected", expected.clone())
                    .with("actual", actual.clone()))
            }
            _ => Ok((versions, version)),
        }
    }

    /// Fails if `metadata` names a base version that is not the current one.
    pub fn check_parent(&self, id: &str, metadata: &Metadata) -> Result<(), StoreError> {
        let expected = match metadata.get("parent_checksum") {
            None | Some(serde_json::Value::Null) => return Ok(()),
            Some(serde_json::Value::String(expected)) => expected,
            Some(_) => {
                return Err(StoreError::new(Code::InvalidMetadata, "`parent_checksum` must be a string"));
            }
        };
        let versions = self.ids.get(id);
        let current = versions.and_then(|versions| versions.all.get(&versions.current));
        let actual = current.map(|version| version.checksum.as_str());
        if actual == Some(expected) {
            return Ok(());
        }
        let message = match actual {
            None => format!("`{id}` is new, but parent_checksum says it is based on {expected}"),
            Some(actual) => {
                format!(
                    "`{id}` is at {actual} now, not at {expected}: read it again and make the change there"
                )
            }
        };
        let actual = actual.map_or(serde_json::Value::Null, |actual| actual.into());
        Err(StoreError::new(Code::StaleBase, message)
            .with("expected", expected.clone())
            .with("actual", actual))
    }

    /// Plans the entry of a new version, with the next free number.
    pub fn plan_write(&self, id: &str, mut new: Version, limits: &StoreLimits) -> Result<Entry, StoreError> {
        self.check_parent(id, &new.metadata)?;
        let versions = self.ids.get(id);
        if versions.is_none() && self.ids.len() as u64 >= limits.max_ids {
            let message = format!("the store holds {} preludes already (max_ids)", self.ids.len());
            return Err(StoreError::new(Code::IdLimitExceeded, message).with("limit", limits.max_ids));
        }
        let latest = versions.map_or(0, |versions| versions.latest);
        new.version = latest
            .checked_add(1)
            .ok_or_else(|| StoreError::new(Code::StoreCorrupt, format!("`{id}` has no number left")))?;
        // The new version is the newest, so one fewer of the others stays.
        let window = usize::try_from(limits.max_versions - 1).unwrap_or(usize::MAX);
        let outside = versions.into_iter().flat_map(|versions| {
            let is_pruned = |number: &&u64| !versions.selected.contains(number);
            versions.all.keys().rev().skip(window).filter(is_pruned)
        });
        let mut pruned: Vec<u64> = outside.copied().collect();
        pruned.sort_unstable();
        let freed: u64 = versions.map_or(0, |versions| {
            pruned.iter().filter_map(|number| versions.all.get(number)).map(Version::weight).sum()
        });
        let total = self.total.saturating_sub(freed).saturating_add(new.weight());
        self.check_total(total, limits)?;
        Ok(Entry::Write { id: id.to_string(), version: new, pruned })
    }

    /// Plans the entry that makes a version current.
    pub fn plan_select(
        &self,
        reference: &StoreRef,
        metadata: Metadata,
        at: String,
        limits: &StoreLimits,
    ) -> Result<Entry, StoreError> {
        let (versions, version) = self.find(reference)?;
        let before = versions.default_metadata.as_ref().map_or(0, weight);
        self.check_total(self.total.saturating_sub(before).saturating_add(weight(&metadata)), limits)?;
        Ok(Entry::Select { id: reference.id.clone(), version: version.version, metadata, at })
    }

    fn check_total(&self, total: u64, limits: &StoreLimits) -> Result<(), StoreError> {
        if total <= limits.max_total_bytes {
            return Ok(());
        }
        let most = limits.max_total_bytes;
        let message = format!("the store would hold {total} bytes, more than {most} (max_total_bytes)");
        Err(StoreError::new(Code::StoreBytesExceeded, message).with("limit_bytes", most))
    }

    /// Applies a change. Returns the sources that are no longer needed; an error says why the entry cannot belong
    /// to this store.
    pub fn apply(&mut self, entry: Entry) -> Result<Vec<String>, &'static str> {
        match entry {
            Entry::Write { id, version, pruned } => self.write(id, version, &pruned),
            Entry::Select { id, version, metadata, at } => {
                let versions =
                    self.ids.get_mut(&id).ok_or("it selects a version of a prelude that does not exist")?;
                if !versions.all.contains_key(&version) {
                    return Err("it selects a version that does not exist");
                }
                let before = versions.default_metadata.as_ref().map_or(0, weight);
                self.total = self.total.saturating_sub(before).saturating_add(weight(&metadata));
                versions.current = version;
                versions.selected.insert(version);
                versions.default_metadata = Some(metadata);
                versions.updated_at = at;
                Ok(Vec::new())
            }
            Entry::Known { id, latest, current, selected, default_metadata, created_at, updated_at } => {
                if !is_id(&id) || self.ids.contains_key(&id) {
                    return Err("it names a prelude twice, or none");
                }
                self.total = self.total.saturating_add(default_metadata.as_ref().map_or(0, weight));
                let all = BTreeMap::new();
                let known =
                    Versions { latest, current, selected, all, default_metadata, created_at, updated_at };
                self.ids.insert(id, known);
                Ok(Vec::new())
            }
            Entry::Kept { id, version } => {
                check_version(&version)?;
                let versions =
                    self.ids.get_mut(&id).ok_or("it keeps a version of a prelude that does not exist")?;
                if version.version > versions.latest || versions.all.contains_key(&version.version) {
                    return Err("it keeps a version twice, or one that never existed");
                }
                self.add(&id, version);
                Ok(Vec::new())
            }
        }
    }

    fn write(&mut self, id: String, version: Version, pruned: &[u64]) -> Result<Vec<String>, &'static str> {
        check_version(&version)?;
        if !is_id(&id) {
            return Err("its id is malformed");
        }
        let latest = self.ids.get(&id).map_or(0, |versions| versions.latest);
        if latest.checked_add(1) != Some(version.version) {
            return Err("its number is not the next one");
        }
        if let Some(versions) = self.ids.get(&id) {
            let is_known =
                |number: &u64| versions.all.contains_key(number) && !versions.selected.contains(number);
            if !pruned.iter().all(is_known) {
                return Err("it drops a version that must stay, or that is not there");
            }
        } else if !pruned.is_empty() {
            return Err("it drops versions of a new prelude");
        }
        let (number, at) = (version.version, version.created_at.clone());
        let versions = self.ids.entry(id.clone()).or_insert_with(|| Versions {
            latest: 0,
            current: 0,
            selected: BTreeSet::new(),
            all: BTreeMap::new(),
            default_metadata: None,
            created_at: at.clone(),
            updated_at: String::new(),
        });
        versions.latest = number;
        versions.current = number;
        versions.updated_at = at;
        self.add(&id, version);
        let mut freed = Vec::new();
        for number in pruned {
            let dropped = self.ids.get_mut(&id).and_then(|versions| versions.all.remove(number));
            let Some(dropped) = dropped else { continue };
            self.total = self.total.saturating_sub(dropped.weight());
            if let Some(uses) = self.objects.get_mut(&dropped.checksum) {
                *uses = uses.saturating_sub(1);
                if *uses == 0 {
                    self.objects.remove(&dropped.checksum);
                    freed.push(dropped.checksum);
                }
            }
        }
        Ok(freed)
    }

    fn add(&mut self, id: &str, version: Version) {
        self.total = self.total.saturating_add(version.weight());
        *self.objects.entry(version.checksum.clone()).or_default() += 1;
        if let Some(versions) = self.ids.get_mut(id) {
            versions.all.insert(version.version, version);
        }
    }

    /// True if any version has this source.
    pub fn uses(&self, checksum: &str) -> bool {
        self.objects.contains_key(checksum)
    }

    /// Checks that the entries are consistent, once a list has been read to its end.
    pub fn check(&self) -> Result<(), &'static str> {
        for versions in self.ids.values() {
            let newest = versions.all.keys().next_back().copied().unwrap_or_default();
            if !versions.all.contains_key(&versions.current) || newest > versions.latest {
                return Err("the current version of a prelude is missing");
            }
            if !versions.selected.iter().all(|number| versions.all.contains_key(number)) {
                return Err("a selected version is missing");
            }
        }
        Ok(())
    }

    /// Returns the entries of a rewritten list.
    pub fn to_entries(&self) -> impl Iterator<Item = Entry> {
        self.ids.iter().flat_map(|(id, versions)| {
            let known = Entry::Known {
                id: id.clone(),
                latest: versions.latest,
                current: versions.current,
                selected: versions.selected.clone(),
                default_metadata: versions.default_metadata.clone(),
                created_at: versions.created_at.clone(),
                updated_at: versions.updated_at.clone(),
            };
            let kept = versions.all.values().map(|v| Entry::Kept { id: id.clone(), version: v.clone() });
            std::iter::once(known).chain(kept)
        })
    }
}

fn check_version(version: &Version) -> Result<(), &'static str> {
    match version.version > 0 && is_checksum(&version.checksum) {
        true => Ok(()),
        false => Err("its number or checksum is malformed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(source: char) -> Version {
        Version {
            version: 0,
            checksum: source.to_string().repeat(64),
            bytes: 10,
            namespaces: vec!["a".into()],
            exports: Vec::new(),
            metadata: Metadata::new(),
            origin: None,
            created_at: "now".into(),
        }
    }

    #[test]
    fn what_is_rewritten_is_the_same() {
        let limits = StoreLimits { max_versions: 2, ..StoreLimits::default() };
        let mut index = Index::default();
        for (i, source) in "aabcdefa".chars().enumerate() {
            let entry = index.plan_write("p", version(source), &limits).unwrap();
            index.apply(entry).unwrap();
            if i == 2 {
                let at = String::from("then");
                let entry = index.plan_select(&StoreRef::version("p", 2), Metadata::new(), at, &limits);
                index.apply(entry.unwrap()).unwrap();
            }
        }
        let kept: Vec<u64> = index.ids["p"].all.keys().copied().collect();
        assert_eq!(kept, [2, 7, 8]);
        assert!(index.uses(&"a".repeat(64)) && !index.uses(&"b".repeat(64)));
        let mut again = Index::default();
        for entry in index.to_entries() {
            again.apply(entry).unwrap();
        }
        again.check().unwrap();
        assert_eq!(again, index);
        assert_eq!(again.total, 3 * 12 + 2);
    }

    #[test]
    fn entries_that_cannot_be_are_refused() {
        let limits = StoreLimits::default();
        let mut index = Index::default();
        let first = index.plan_write("p", version('a'), &limits).unwrap();
        index.apply(first.clone()).unwrap();
        assert!(index.clone().apply(first).is_err(), "the same number twice");
        let select =
            |version| Entry::Select { id: "p".into(), version, metadata: Metadata::new(), at: String::new() };
        assert!(index.clone().apply(select(2)).is_err());
        assert!(index.clone().apply(select(1)).is_ok());
        let entry =
            Entry::Write { id: "q".into(), version: Version { version: 1, ..version('z') }, pruned: vec![] };
        assert!(index.clone().apply(entry).is_err(), "no checksum");
        let entry =
            Entry::Write { id: "p".into(), version: Version { version: 2, ..version('a') }, pruned: vec![9] };
        assert!(index.clone().apply(entry).is_err(), "drops what is not there");
    }
}
