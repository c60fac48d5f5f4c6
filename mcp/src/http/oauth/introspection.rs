//! Tokens that say nothing by themselves: the authorization server is asked what they are (RFC 7662).

use super::{Grant, TokenError, scopes, web};
use crate::settings::Settings;
use reqwest::{Client, Url};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Semaphore;

/// Time for which an answer is used: a revoked token may be accepted this much longer.
const FRESH: Duration = Duration::from_secs(30);

/// Maximum number of tokens asked about at once.
const MAX_ASKED: usize = 32;

/// Maximum number of answers kept; beyond it, all are dropped.
const MAX_KNOWN: usize = 10_000;

/// Answers by the hash of the token, each with the time until which it holds.
type Known = HashMap<[u8; 32], (Instant, Option<Grant>)>;

/// Asks about tokens, and keeps answers for a short time.
pub struct Introspection {
    url: Url,
    client: Client,
    id: String,
    secret: String,
    audience: String,
    slots: Semaphore,
    known: Mutex<Known>,
}

impl Introspection {
    pub fn new(settings: &Settings, audience: &str) -> Result<Option<Introspection>, String> {
        let Some(url) = &settings.http_oauth_introspection else { return Ok(None) };
        let (url, client) = web::endpoint("--http-oauth-introspection", url)?;
        let (Some(id), Some(secret)) = (&settings.http_oauth_client_id, &settings.http_oauth_client_secret)
        else {
            return Err(
                "--http-oauth-introspection needs --http-oauth-client-id and --http-oauth-client-secret"
                    .to_string(),
            );
        };
        Ok(Some(Introspection {
            url,
            client,
            id: id.clone(),
            secret: secret.clone(),
            audience: audience.to_string(),
            slots: Semaphore::new(MAX_ASKED),
            known: Mutex::default(),
        }))
    }

    /// Returns what a token is, according to the authorization server.
    pub async fn ask(&self, token: &str, issuers: &[String]) -> Result<Grant, TokenError> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(grant) = self.recall(&hash) {
            return grant.ok_or(TokenError::Invalid);
        }
        let form: String = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("token", token), ("token_type_hint", "access_token")])
            .finish();
        let request = self
            .client
            .post(self.url.clone())
            .basic_auth(&self.id, Some(&self.secret))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(form);
        // Anybody can send tokens that nobody knows: they must not become a flood at the authorization server.
        let Ok(_slot) = self.slots.try_acquire() else { return Err(TokenError::Unavailable) };
        let told = web::ask(request).await.map_err(|why| {
            tracing::warn!(why, "oauth.introspection_failed");
            TokenError::Unavailable
        })?;
        let (grant, until) = self.read(&told, issuers);
        self.keep(hash, until, grant.clone());
        grant.ok_or(TokenError::Invalid)
    }

    /// Reads an answer: the grant if the token is valid here, and until when it holds.
    fn read(&self, told: &Value, issuers: &[String]) -> (Option<Grant>, Instant) {
        let until = Instant::now() + FRESH;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let left = match told["exp"].as_f64() {
            Some(end) => Duration::try_from_secs_f64(end - now.as_secs_f64()).unwrap_or_default(),
            None => FRESH,
        };
        let is_for_us = match &told["aud"] {
            Value::String(one) => *one == self.audience,
            Value::Array(several) => several.iter().any(|one| one == self.audience.as_str()),
            _ => false,
        };
        // An authorization server answers for itself if it names no issuer.
        let issuer = told["iss"].as_str().or_else(|| issuers.first().map(String::as_str)).unwrap_or_default();
        let known = issuers.iter().find(|known| known.trim_end_matches('/') == issuer.trim_end_matches('/'));
        let subject = told["sub"].as_str().or_else(|| told["client_id"].as_str());
        let is_valid = told["active"] == true && is_for_us && !left.is_zero();
        let subject = subject.filter(|subject| is_valid && !subject.is_empty());
        let grant = known.zip(subject).map(|(issuer, subject)| Grant {
            issuer: issuer.clone(),
            subject: subject.to_string(),
            scopes: scopes(told.get("scope")),
        });
        (grant, until.min(Instant::now() + left.max(Duration::from_secs(1))))
    }

    fn recall(&self, hash: &[u8; 32]) -> Option<Option<Grant>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(hash).filter(|(until, _)| Instant::now() < *until).map(|(_, grant)| grant.clone())
    }

    fn keep(&self, hash: [u8; 32], until: Instant, grant: Option<Grant>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            let now = Instant::now();
            known.retain(|_, (until, _)| now < *until);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
        }
        known.insert(hash, (until, grant));
    }
}
