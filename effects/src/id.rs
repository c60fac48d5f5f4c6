//! Names of calls that are the same whenever their run goes over them.

use crate::hash::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Longest id of a run, in bytes.
const MAX_RUN: usize = 200;

/// Longest key of a call within its run, in bytes: branches may nest.
const MAX_KEY: usize = 400;

/// Id of a call: its run, and its place in the sequence of calls of that run. Written `run/key`.
///
/// ```
/// use ptc_effects::EffectId;
/// let id: EffectId = "refunds-7/1:3.2".parse().unwrap();
/// assert_eq!((id.run(), id.key(), id.to_string().as_str()), ("refunds-7", "1:3.2", "refunds-7/1:3.2"));
/// assert!("refunds 7".parse::<EffectId>().is_err());
/// let long = |end| EffectId::new(&format!("{}{end}", "x".repeat(300)), "1");
/// assert!(long("a") != long("b") && long("a").to_string().parse() == Ok(long("a")));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EffectId {
    run: Arc<str>,
    key: Arc<str>,
}

impl EffectId {
    /// Makes an id. Characters that ids cannot have are replaced by `_`, and the end of a part that is too long by its hash.
    pub fn new(run: &str, key: &str) -> EffectId {
        EffectId { run: sound(run, MAX_RUN).into(), key: sound(key, MAX_KEY).into() }
    }

    /// Returns the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the place of the call in its run.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// True for characters of runs and keys: those that need no escaping in a shell, a file name or a log.
fn is_sound(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@' | '+')
}

fn sound(text: &str, most: usize) -> String {
    let mut sound: String = text.chars().map(|c| if is_sound(c) { c } else { '_' }).collect();
    if sound.len() > most {
        // Cut alone, names that differ at their ends would become one.
        let hash = hex(&Sha256::digest(text)[..16]);
        sound.truncate(most - hash.len() - 1);
        sound = format!("{sound}.{hash}");
    }
    sound
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.key)
    }
}

impl FromStr for EffectId {
    type Err = String;

    fn from_str(text: &str) -> Result<EffectId, String> {
        let parts = text.split_once('/').filter(|(run, key)| {
            let fits = |part: &str, most| (1..=most).contains(&part.len()) && part.chars().all(is_sound);
            fits(run, MAX_RUN) && fits(key, MAX_KEY)
        });
        let (run, key) = parts.ok_or("an id of an effect looks like `run/3`: see `ptc effects list`")?;
        Ok(EffectId { run: run.into(), key: key.into() })
    }
}

impl TryFrom<String> for EffectId {
    type Error = String;

    fn try_from(text: String) -> Result<EffectId, String> {
        text.parse()
    }
}

impl From<EffectId> for String {
    fn from(id: EffectId) -> String {
        id.to_string()
    }
}

/// Returns an id for a run that nobody has named: 16 random letters and digits.
///
/// ```
/// assert_ne!(ptc_effects::new_run_id(), ptc_effects::new_run_id());
/// ```
pub fn new_run_id() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0; 16];
    // Without the system's random numbers, time and process still tell runs of one machine apart.
    if getrandom::fill(&mut bytes).is_err() {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seed = since.as_nanos() ^ (u128::from(std::process::id()) << 96);
        bytes = seed.to_le_bytes();
    }
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}
