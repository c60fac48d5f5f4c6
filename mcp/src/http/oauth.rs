//! The server as a resource server of OAuth 2.1: clients find out where to get tokens (RFC 9728), and their tokens
//! are verified, by signature (JWT) or by asking the authorization server (RFC 7662).
//!
//! A token counts only if it was issued for this server: a token for another service, which that service could send
//! on, is refused.

mod introspection;
mod jwt;
mod keys;
mod web;

use super::identity::Identity;
use super::respond::json;
use crate::settings::Settings;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use introspection::Introspection;
use jwt::Verifier;
use serde_json::{Value, json as object};
use sha2::{Digest, Sha256};

/// Path of the metadata; the path of the MCP endpoint may follow.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Maximum length of a token, in bytes.
const MAX_TOKEN: usize = 16 << 10;

/// Tokens of authorization servers.
pub struct OAuth {
    /// Address of this server, as clients name it.
    resource: String,
    metadata_url: String,
    /// Path of the MCP endpoint.
    path: String,
    issuers: Vec<String>,
    scopes: Vec<String>,
    verifier: Verifier,
    introspection: Option<Introspection>,
}

/// Facts that a valid token states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Grant {
    pub issuer: String,
    /// The user, or the client that acts for itself.
    pub subject: String,
    pub scopes: Vec<String>,
}

/// Reason why a token is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenError {
    /// It is not valid here: forged, expired, revoked, or for another server.
    Invalid,
    /// It lacks a scope.
    MissingScope,
    /// The authorization server could not be asked.
    Unavailable,
}

impl OAuth {
    /// Reads the settings; None without `--http-oauth-issuer`. The error is for the process that starts the server.
    pub fn new(settings: &Settings) -> Result<Option<OAuth>, String> {
        if settings.http_oauth_issuer.is_empty() {
            return Ok(None);
        }
        let resource = settings.resource();
        let url = url::Url::parse(&resource).map_err(|error| format!("--http-public-url: {error}"))?;
        let audience = settings.http_oauth_audience.clone().unwrap_or_else(|| resource.clone());
        let issuers: Vec<String> = settings.http_oauth_issuer.clone();
        let path = settings.http_path.clone();
        let metadata_url =
            format!("{}{METADATA}{}", url.origin().ascii_serialization(), url.path().trim_end_matches('/'));
        Ok(Some(OAuth {
            metadata_url,
            verifier: Verifier::new(&issuers, &audience, settings.http_oauth_jwks.as_deref())?,
            introspection: Introspection::new(settings, &audience)?,
            scopes: settings.http_oauth_scope.clone(),
            resource,
            path,
            issuers,
        }))
    }

    /// Returns the metadata of this server if the path asks for it.
    pub fn metadata(&self, path: &str) -> Option<Response> {
        let rest = path.strip_prefix(METADATA)?;
        if !rest.is_empty() && rest.trim_end_matches('/') != self.path.trim_end_matches('/') {
            return None;
        }
        let mut about = object!({
            "resource": self.resource,
            "authorization_servers": self.issuers,
            "bearer_methods_supported": ["header"],
            "resource_name": "PTC",
        });
        if !self.scopes.is_empty() {
            about["scopes_supported"] = Value::from(self.scopes.clone());
        }
        let mut response = json(StatusCode::OK, &about);
        // Everybody may read it, pages included.
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        Some(response)
    }

    /// Returns the parts of a challenge that tell clients where to get a token, each after a comma.
    pub fn challenge(&self) -> String {
        let mut parts = format!(", resource_metadata=\"{}\"", self.metadata_url);
        if !self.scopes.is_empty() {
            parts.push_str(&format!(", scope=\"{}\"", self.scopes.join(" ")));
        }
        parts
    }

    /// Returns whose token it is.
    pub async fn identity(&self, token: &str) -> Result<Identity, TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Invalid);
        }
        let grant = match (&self.introspection, jwt::looks_like_one(token)) {
            (_, true) => self.verifier.verify(token).await?,
            (Some(introspection), false) => introspection.ask(token, &self.issuers).await?,
            (None, false) => return Err(TokenError::Invalid),
        };
        if !self.scopes.iter().all(|scope| grant.scopes.contains(scope)) {
            return Err(TokenError::MissingScope);
        }
        // Made of the user, not of the token, so that sessions outlive a refresh.
        let mut hash = Sha256::new();
        for part in ["oauth", &grant.issuer, &grant.subject] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Ok(Identity(hash.finalize().into()))
    }
}

/// Reads the scopes of a token: a text with spaces, or a list.
fn scopes(claim: Option<&Value>) -> Vec<String> {
    match claim {
        Some(Value::String(text)) => {
            text.split(' ').filter(|scope| !scope.is_empty()).map(str::to_string).collect()
        }
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_string).collect(),
        _ => Vec::new(),
    }
}
