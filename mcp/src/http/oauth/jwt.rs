//! Tokens that carry their own proof: JSON Web Tokens, verified by the public keys of their issuer.

use super::keys::Keys;
use super::{Grant, TokenError, scopes};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

/// Difference between clocks that is tolerated, in seconds.
const LEEWAY: u64 = 60;

/// Algorithms with a public key. With the others, whoever can verify a token can make one.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Verifies tokens of the known issuers for one audience.
pub struct Verifier {
    issuers: Vec<(String, Keys)>,
    audience: String,
}

/// Returns whether a token has the form of a JWT: three parts, of which the first is a JSON object in base64.
pub fn looks_like_one(token: &str) -> bool {
    token.starts_with("ey") && token.split('.').count() == 3
}

impl Verifier {
    pub fn new(issuers: &[String], audience: &str, jwks: Option<&str>) -> Result<Verifier, String> {
        if jwks.is_some() && issuers.len() > 1 {
            return Err("--http-oauth-jwks needs exactly one --http-oauth-issuer".to_string());
        }
        let issuers = issuers.iter().map(|issuer| Ok((issuer.clone(), Keys::new(issuer, jwks)?)));
        Ok(Verifier { issuers: issuers.collect::<Result<_, String>>()?, audience: audience.to_string() })
    }

    /// Verifies signature, issuer, audience and times of a token.
    pub async fn verify(&self, token: &str) -> Result<Grant, TokenError> {
        let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(TokenError::Invalid);
        }
        // Not believed before the signature is verified: it only says whose keys to try.
        let claimed = claimed_issuer(token).ok_or(TokenError::Invalid)?;
        let known = self.issuers.iter().find(|(issuer, _)| same_issuer(issuer, &claimed));
        let (issuer, keys) = known.ok_or(TokenError::Invalid)?;
        let keys = keys.find(header.kid.as_deref()).await.ok_or(TokenError::Unavailable)?;
        let mut checks = Validation::new(header.alg);
        checks.set_audience(&[&self.audience]);
        checks.set_issuer(&[&claimed]);
        checks.set_required_spec_claims(&["exp", "iss", "aud"]);
        checks.validate_nbf = true;
        checks.leeway = LEEWAY;
        let claims = keys.iter().find_map(|key| {
            let key = DecodingKey::from_jwk(key).ok()?;
            decode::<Map<String, Value>>(token, &key, &checks).ok()
        });
        grant(&claims.ok_or(TokenError::Invalid)?.claims, issuer)
    }
}

fn grant(claims: &Map<String, Value>, issuer: &str) -> Result<Grant, TokenError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let subject = text("sub").or_else(|| text("client_id")).ok_or(TokenError::Invalid)?;
    let scope = claims.get("scope").or_else(|| claims.get("scp"));
    Ok(Grant { issuer: issuer.to_string(), subject: subject.to_string(), scopes: scopes(scope) })
}

/// Issuers are compared as texts, but for a slash at the end, which configurations often lack.
fn same_issuer(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Reads the issuer that a token names, without verifying anything.
fn claimed_issuer(token: &str) -> Option<String> {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Map<String, Value> = serde_json::from_slice(&payload).ok()?;
    claims.get("iss")?.as_str().map(str::to_string)
}
