//! Publishing: artifacts under their hashes, where executors find them.

use crate::artifacts::Artifacts;
use object_store::{ObjectStoreExt, PutPayload};
use ptc_datafusion::Functions;
use ptc_runtime::{ArtifactHash, PreludeContent, PreludeInput, Runtime, Signing};
use std::path::PathBuf;

/// Writes the artifacts of files into a store, each with its signature, and returns their names with those of the files. Sources
/// are compiled; with a key, they are signed. Other files keep the signatures they have.
pub async fn publish(
    files: &[PathBuf],
    place: &str,
    runtime: &Runtime,
    key: Option<&Signing>,
) -> Result<Vec<(String, String)>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let inputs: Vec<PreludeInput> = files
        .iter()
        .map(|file| Functions::read(file))
        .collect::<Result<_, _>>()
        .map_err(|error| text(&error))?;
    let (store, folder) = crate::stores::open(place)?;
    let mut published = Vec::new();
    for (prelude, given) in Functions::compiled(runtime, inputs).map_err(|error| text(&error))? {
        let (bytes, signature) = match &given.content {
            PreludeContent::File(bytes, signature) => {
                (bytes.to_vec(), signature.as_deref().map(str::to_string))
            }
            _ => {
                let bytes = prelude.to_bytes();
                let signature =
                    key.map(|key| key.sign(&bytes)).transpose().map_err(|problem| problem.message)?;
                (bytes, signature)
            }
        };
        let hash = ArtifactHash::parse(&prelude.artifact_hash()).map_err(|problem| problem.message)?;
        let name = Artifacts::name(&hash);
        // The signature first: an executor that finds the artifact finds its signature.
        if let Some(signature) = signature {
            let path = folder.clone().join(format!("{name}.sig"));
            store.put(&path, PutPayload::from(signature.into_bytes())).await.map_err(|error| text(&error))?;
        }
        let path = folder.clone().join(name.clone());
        store.put(&path, PutPayload::from(bytes)).await.map_err(|error| text(&error))?;
        published.push((given.origin.to_string(), name));
    }
    Ok(published)
}
