//! Trace of the preludes attached to a run: enough to find the same ones again, and no code, helpers or secrets.

use super::Prelude;
use super::attached::{Attached, AttachedPrelude};
use ptc_bytecode::{Component, hex};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The preludes of a run. With several, each hash covers the hashes of all in the order of their attachment, and
/// lists have the items of all; `preludes` describes each separately.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PreludeTrace {
    /// SHA-256 of the source.
    pub source_hash: String,
    /// Identity of the compiled artifact.
    pub artifact_hash: String,
    /// Hash that changes with the interface that programs see.
    pub interface_hash: String,
    /// Namespaces that programs cannot define into.
    pub protected_namespaces: Vec<String>,
    /// Reserved for a hash of the host's policy.
    pub host_policy_hash: Option<String>,
    /// Public exports.
    pub exports: Vec<ExportTrace>,
    /// Sources, if there were several.
    pub components: Vec<ComponentTrace>,
    /// Upstream operations that could not be looked up when the prelude was attached.
    pub unverified: Vec<String>,
    /// Each prelude separately, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preludes: Vec<PreludeTrace>,
}

impl PreludeTrace {
    /// Returns each prelude separately, even if there is only one.
    pub fn each(&self) -> &[PreludeTrace] {
        match self.preludes.is_empty() {
            true => std::slice::from_ref(self),
            false => &self.preludes,
        }
    }

    /// Returns the identity of each prelude for logs and results: enough to tell whether another run had equal ones.
    pub fn identities(&self) -> Vec<serde_json::Value> {
        self.each().iter().map(PreludeTrace::brief).collect()
    }

    /// Returns a short form for a log of many turns: hashes, namespaces, and the sources if there were several.
    pub fn brief(&self) -> serde_json::Value {
        let mut brief = serde_json::json!({
            "source_hash": self.source_hash,
            "artifact_hash": self.artifact_hash,
            "interface_hash": self.interface_hash,
            "namespaces": self.protected_namespaces,
        });
        if !self.components.is_empty() {
            brief["components"] = serde_json::json!(self.components);
        }
        brief
    }
}

/// Trace of one export.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the manifest
pub struct ExportTrace {
    #[serde(rename = "ref")]
    pub reference: String,
    pub namespace: String,
    pub symbol: String,
    /// Number of arguments, or "variadic"; the fewest of several arities.
    pub arity: serde_json::Value,
    pub params: Vec<String>,
    pub visibility: &'static str,
    pub effect: &'static str,
    pub provider_ref: Option<String>,
    pub requires: Vec<String>,
}

/// Trace of one source of several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the manifest
pub struct ComponentTrace {
    pub id: String,
    pub version: Option<u64>,
    pub checksum: String,
    pub source_hash: String,
    pub namespaces: Vec<String>,
    pub origin: Option<String>,
}

impl ComponentTrace {
    fn of(component: &Component) -> ComponentTrace {
        ComponentTrace {
            id: component.id.clone(),
            version: component.version,
            checksum: component.checksum.clone(),
            source_hash: hex(&component.source_hash),
            namespaces: component.namespaces.clone(),
            origin: component.origin.clone(),
        }
    }
}

impl Attached {
    /// Makes the trace of a run that has these preludes attached.
    pub(crate) fn trace(&self) -> PreludeTrace {
        let mut each: Vec<PreludeTrace> = self.parts().iter().map(|part| part.trace()).collect();
        if each.len() == 1
            && let Some(only) = each.pop()
        {
            return only;
        }
        let hash = |of: fn(&PreludeTrace) -> &String| {
            let hash = each.iter().fold(Sha256::new(), |hash, one| hash.chain_update(of(one).as_bytes()));
            hex(&hash.finalize().into())
        };
        let mut namespaces: Vec<String> = all(&each, |one| &one.protected_namespaces);
        namespaces.sort_unstable();
        PreludeTrace {
            source_hash: hash(|one| &one.source_hash),
            artifact_hash: hash(|one| &one.artifact_hash),
            interface_hash: hash(|one| &one.interface_hash),
            protected_namespaces: namespaces,
            host_policy_hash: None,
            exports: all(&each, |one| &one.exports),
            components: all(&each, |one| &one.components),
            unverified: all(&each, |one| &one.unverified),
            preludes: each,
        }
    }
}

/// Collects the items of all preludes, one after the other.
fn all<T: Clone>(each: &[PreludeTrace], of: fn(&PreludeTrace) -> &Vec<T>) -> Vec<T> {
    each.iter().flat_map(of).cloned().collect()
}

impl AttachedPrelude {
    fn trace(&self) -> PreludeTrace {
        let prelude = self.prelude();
        let exports = self.shown().map(|(index, visibility)| {
            let export = &prelude.exports()[index];
            ExportTrace {
                reference: export.reference(),
                namespace: export.namespace.clone(),
                symbol: export.symbol.clone(),
                arity: match export.is_variadic() {
                    true => "variadic".into(),
                    false => export.min_arity().into(),
                },
                params: export.params.first().cloned().unwrap_or_default(),
                visibility: visibility.name(),
                effect: self.effect(index).name(),
                provider_ref: export.provider_ref.clone(),
                requires: export.requires.clone(),
            }
        });
        PreludeTrace {
            source_hash: prelude.source_hash(),
            artifact_hash: prelude.artifact_hash(),
            interface_hash: prelude.interface_hash(),
            protected_namespaces: prelude.namespaces().iter().map(|n| n.name.clone()).collect(),
            host_policy_hash: None,
            exports: exports.collect(),
            components: components(prelude),
            unverified: self.unverified().to_vec(),
            preludes: Vec::new(),
        }
    }
}

fn components(prelude: &Prelude) -> Vec<ComponentTrace> {
    prelude.components().iter().map(ComponentTrace::of).collect()
}
