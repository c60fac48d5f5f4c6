//! Public keys of an authorization server, found through its metadata and kept for a while.

use super::web;
use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use reqwest::{Client, Url};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for which keys are used before they are read again.
const FRESH: Duration = Duration::from_secs(600);

/// Time for which keys are used if they cannot be read again.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Time between two attempts to read keys: anybody can send a token with a key that does not exist.
const PAUSE: Duration = Duration::from_secs(20);

/// Maximum number of keys.
const MAX_KEYS: usize = 100;

/// Keys of one issuer.
pub struct Keys {
    issuer: Url,
    /// Address of the keys; None to find it in the issuer's metadata.
    jwks: Option<Url>,
    client: Client,
    known: Mutex<Known>,
    /// Held while keys are read: one request reads, and those that need the result wait.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Vec<Jwk>,
    read: Option<Instant>,
    tried: Option<Instant>,
}

impl Known {
    /// Returns the keys that could have this id; all of them if the token names none.
    fn fitting(&self, id: Option<&str>) -> Vec<Jwk> {
        let fits =
            |key: &&Jwk| id.is_none() || key.common.key_id.is_none() || key.common.key_id.as_deref() == id;
        self.keys.iter().filter(fits).cloned().collect()
    }

    fn is_younger(&self, most: Duration) -> bool {
        self.read.is_some_and(|read| read.elapsed() < most)
    }

    fn may_try(&self) -> bool {
        self.tried.is_none_or(|tried| tried.elapsed() > PAUSE)
    }
}

impl Keys {
    pub fn new(issuer: &str, jwks: Option<&str>) -> Result<Keys, String> {
        let (issuer, client) = web::endpoint("--http-oauth-issuer", issuer)?;
        let jwks = jwks.map(|jwks| web::endpoint("--http-oauth-jwks", jwks)).transpose()?;
        let (jwks, client) = match jwks {
            Some((url, client)) => (Some(url), client),
            None => (None, client),
        };
        Ok(Keys { issuer, jwks, client, known: Mutex::default(), reading: tokio::sync::Mutex::default() })
    }

    /// Returns the keys that could have this id. Unknown ids cause the keys to be read again, at most every few
    /// seconds. None if there are no keys and none can be read.
    pub async fn find(&self, id: Option<&str>) -> Option<Vec<Jwk>> {
        let found = {
            let known = self.known();
            let found = known.fitting(id);
            // Tokens with known keys never wait for others, whose keys may not exist.
            if !found.is_empty() && (known.is_younger(FRESH) || !known.may_try()) && known.is_younger(STALE) {
                return Some(found);
            }
            found
        };
        let reading = match found.is_empty() {
            true => Some(self.reading.lock().await),
            false => self.reading.try_lock().ok(),
        };
        let may_read = reading.is_some() && {
            let mut known = self.known();
            let may = known.may_try();
            if may {
                known.tried = Some(Instant::now());
            }
            may
        };
        if may_read {
            match self.read().await {
                Ok(keys) => {
                    let mut known = self.known();
                    known.keys = keys;
                    known.read = Some(Instant::now());
                }
                Err(why) => tracing::warn!(issuer = %self.issuer, why, "oauth.keys_unreadable"),
            }
        }
        let known = self.known();
        known.is_younger(STALE).then(|| known.fitting(id))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self) -> Result<Vec<Jwk>, String> {
        let url = match &self.jwks {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let set = web::ask(self.client.get(url)).await?;
        // One by one: a set may have keys of kinds that nobody here knows.
        let all = set["keys"].as_array().ok_or("it has no list of keys")?;
        let one = |key: &Value| serde_json::from_value::<Jwk>(key.clone()).ok();
        let is_for_signing = |key: &Jwk| !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
        let keys: Vec<Jwk> = all.iter().take(MAX_KEYS).filter_map(one).filter(is_for_signing).collect();
        match keys.is_empty() {
            true => Err("it has no key for signatures".to_string()),
            false => Ok(keys),
        }
    }

    /// Finds the address of the keys in the metadata of the issuer (RFC 8414, or OpenID Connect).
    async fn discover(&self) -> Result<Url, String> {
        let path = self.issuer.path().trim_end_matches('/');
        let places = [
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("{path}/.well-known/openid-configuration"),
            format!("/.well-known/openid-configuration{path}"),
        ];
        let mut why = String::new();
        for place in places {
            let mut url = self.issuer.clone();
            url.set_path(&place);
            match web::ask(self.client.get(url)).await {
                Ok(about) => return self.keys_of(&about),
                Err(error) => why = error,
            }
        }
        Err(format!("no metadata: {why}"))
    }

    fn keys_of(&self, about: &Value) -> Result<Url, String> {
        let named = about["issuer"].as_str().unwrap_or_default();
        if named.trim_end_matches('/') != self.issuer.as_str().trim_end_matches('/') {
            return Err("its metadata names another issuer".to_string());
        }
        let keys = about["jwks_uri"].as_str().ok_or("its metadata has no `jwks_uri`")?;
        web::endpoint("jwks_uri", keys).map(|(url, _)| url)
    }
}
