//! Tokens that clients may send. Only their hashes are kept.

use super::identity::Identity;
use crate::settings::{MAX_FILE, Settings};
use ptc_runtime::files::read_text_at_most;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;
use subtle::ConstantTimeEq;

pub struct Tokens {
    own: Option<[u8; 32]>,
    file: Option<PathBuf>,
    listed: RwLock<TokenFile>,
}

#[derive(Default)]
struct TokenFile {
    hashes: Vec<[u8; 32]>,
    changed: Option<SystemTime>,
}

impl Tokens {
    /// Reads the token of the settings, and the file of tokens that they name.
    pub fn new(settings: &Settings) -> Result<Tokens, String> {
        let own = settings.http_auth_token.as_ref().map(|token| Sha256::digest(token.as_bytes()).into());
        let file = settings.http_auth_token_file.as_ref().map(PathBuf::from);
        let tokens = Tokens { own, file, listed: RwLock::default() };
        let listed = tokens.read()?;
        *tokens.listed.write().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(tokens)
    }

    fn read(&self) -> Result<TokenFile, String> {
        let Some(file) = &self.file else { return Ok(TokenFile::default()) };
        let shown = file.display();
        let changed = std::fs::metadata(file).and_then(|about| about.modified()).ok();
        let text = read_text_at_most(file, MAX_FILE)
            .map_err(|error| format!("--http-auth-token-file: {shown}: {error}"))?;
        let mut hashes = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let hash = line.split_once(':').and_then(|(_, hash)| unhex(hash.trim()));
            hashes.push(hash.ok_or_else(|| {
                format!("--http-auth-token-file: {shown}: line {} is not name:sha256", number + 1)
            })?);
        }
        Ok(TokenFile { hashes, changed })
    }

    /// Reads the file again if it has changed. An unreadable or invalid file changes nothing.
    pub fn reload(&self) {
        let Some(file) = &self.file else { return };
        let changed = std::fs::metadata(file).and_then(|about| about.modified()).ok();
        let is_same = self.listed.read().unwrap_or_else(PoisonError::into_inner).changed == changed;
        if is_same {
            return;
        }
        match self.read() {
            Ok(listed) => {
                tracing::info!(tokens = listed.hashes.len(), "http.tokens_reloaded");
                *self.listed.write().unwrap_or_else(PoisonError::into_inner) = listed;
            }
            Err(error) => tracing::error!(error, "http.tokens_not_reloaded"),
        }
    }

    /// Returns the identity for a token. Takes equally long for any token, known or not.
    pub fn identity(&self, token: &str) -> Option<Identity> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        let known = self.own.iter().chain(&listed.hashes);
        let is_known = known.fold(subtle::Choice::from(0), |found, known| found | known.ct_eq(&hash));
        bool::from(is_known).then_some(Identity(hash))
    }
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let text = text.as_bytes();
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
