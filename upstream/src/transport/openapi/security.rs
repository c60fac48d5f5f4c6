//! Security schemes of a document: which of our credentials an operation gets, and where they are sent.

use super::refs::Document;
use crate::config::{basic_value, is_ours, is_token};
use crate::credentials::{Headers, Place, Secret};
use serde_json::Value;

/// Way in which a security scheme is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Sent {
    At(Place),
    Bearer,
    Basic,
}

/// The schemes of a document that we have credentials for.
#[derive(Clone, Debug, Default)]
pub(super) struct Schemes(Vec<(String, Sent)>);

impl Schemes {
    /// Reads the schemes that credentials are configured for; the error names one that the document lacks.
    pub fn read(document: &Document<'_>, headers: &Headers) -> Result<Schemes, String> {
        let mut schemes = Vec::new();
        for place in headers.places() {
            let Place::Declared(name) = place else { continue };
            let all = document.0.pointer("/components/securitySchemes").and_then(Value::as_object);
            let Some(scheme) = all.and_then(|all| all.get(name)) else {
                let known: Vec<&str> = all.into_iter().flatten().map(|(name, _)| &**name).collect();
                return Err(format!("has no security scheme '{name}'; it has: {}", known.join(", ")));
            };
            let sent = sent(document.follow(scheme)?)
                .map_err(|why| format!("has the security scheme '{name}', which {why}"))?;
            schemes.push((name.clone(), sent));
        }
        Ok(Schemes(schemes))
    }

    /// Returns the schemes that an operation requires, of those we have: all of the first alternative that we have
    /// whole.
    pub fn required(&self, document: &Document<'_>, operation: &Value) -> Vec<String> {
        let alternatives = operation.get("security").or_else(|| document.0.get("security"));
        let alternatives = alternatives.and_then(Value::as_array).into_iter().flatten();
        let names = |one: &Value| -> Vec<String> {
            one.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        let is_ours =
            |names: &Vec<String>| names.iter().all(|name| self.0.iter().any(|(known, _)| known == name));
        // One that needs nothing comes last: with a credential, more is seen.
        let mut ours: Vec<Vec<String>> = alternatives.map(names).filter(is_ours).collect();
        ours.sort_by_key(Vec::is_empty);
        ours.into_iter().next().unwrap_or_default()
    }

    /// Returns a scheme's place, and its value made from a credential.
    pub fn place(&self, name: &str, secret: &Secret) -> Option<(Place, Secret)> {
        let (_, sent) = self.0.iter().find(|(known, _)| known == name)?;
        let authorization = || Place::Header("authorization".to_string());
        Some(match sent {
            Sent::At(place) => (place.clone(), secret.clone()),
            Sent::Bearer => (authorization(), Secret::new(format!("Bearer {}", secret.expose()))),
            Sent::Basic => (authorization(), basic_value(secret)?),
        })
    }

    /// Returns whether a place holds a credential.
    pub fn holds(&self, place: &Place) -> bool {
        self.0.iter().any(|(_, sent)| matches!(sent, Sent::At(known) if known == place))
    }
}

fn sent(scheme: &Value) -> Result<Sent, String> {
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "apiKey" => {
            let name = text("name").to_string();
            let place = match text("in") {
                "query" if !name.is_empty() => Place::Query(name),
                "header" if name.eq_ignore_ascii_case("authorization") => Place::Header(name.to_lowercase()),
                "header" if is_token(&name) && !is_ours(&name) => Place::Header(name.to_lowercase()),
                "cookie" if is_token(&name) => Place::Cookie(name),
                _ => return Err("has no place that can be used".to_string()),
            };
            Ok(Sent::At(place))
        }
        "http" if text("scheme").eq_ignore_ascii_case("basic") => Ok(Sent::Basic),
        "http" if text("scheme").eq_ignore_ascii_case("bearer") => Ok(Sent::Bearer),
        "oauth2" | "openIdConnect" => Ok(Sent::Bearer),
        "http" => Err("is neither basic nor bearer".to_string()),
        "mutualTLS" => Err("needs a certificate of ours, which is not supported".to_string()),
        _ => Err("has no type that is known".to_string()),
    }
}
