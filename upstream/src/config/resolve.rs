//! Resolving a configuration: reads its secrets, once, when servers are started.

use super::Config;
use super::auth::{Emitter, Scheme, Source, is_header_value};
use super::entry::Entry;
use super::error::ConfigError;
use super::place::Surroundings;
use super::template::Piece;
use super::transports::Transport;
use crate::credentials::{Headers, Secret};
use crate::redact::{MAX_SECRET, Redactor, Registered};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// Everything a client needs to connect to a server.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Transport and its settings.
    pub transport: Transport,
    /// Headers sent with every request.
    pub headers: Headers,
}

/// Variables whose values are not secret.
const PLAIN: &[&str] = &[
    "HOME", "PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "PWD", "SHELL", "TERM", "TMPDIR", "TMP", "TEMP",
    "TZ",
];

/// Substrings of variable names that suggest a secret.
const TELLING: &[&str] = &["TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PAT", "DSN"];

/// Returns whether a variable of this name probably holds a secret.
pub(crate) fn is_telling(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    TELLING.iter().any(|part| upper.contains(part)) && upper != "PATH"
}

impl Config {
    /// Reads all credentials, registers all secrets with `redactor`, and returns the connection settings by
    /// server. Adds minor problems to `warnings`.
    pub fn resolve(
        &self,
        around: &Surroundings,
        redactor: &Arc<Redactor>,
        warnings: &mut Vec<String>,
    ) -> Result<BTreeMap<String, Connect>, ConfigError> {
        let mut reading = Secrets { redactor, warnings, sources: &self.credentials };
        let mut secrets = BTreeMap::new();
        for (name, source) in &self.credentials {
            secrets.insert(&**name, reading.credential(name, source, around)?);
        }
        let mut servers = BTreeMap::new();
        for (name, entry) in &self.servers {
            servers.insert(name.clone(), reading.connect(entry, &secrets, around)?);
        }
        Ok(servers)
    }
}

struct Secrets<'r> {
    redactor: &'r Arc<Redactor>,
    sources: &'r BTreeMap<String, Source>,
    warnings: &'r mut Vec<String>,
}

impl Secrets<'_> {
    fn credential(
        &mut self,
        name: &str,
        source: &Source,
        around: &Surroundings,
    ) -> Result<Secret, ConfigError> {
        let error = |message: String| ConfigError::file(format!("credential '{name}' {message}"));
        let secret = match source {
            Source::Literal(secret) => secret.clone(),
            Source::Env(var) => match around.var(var).filter(|value| !value.is_empty()) {
                Some(value) => Secret::new(value),
                None => return Err(error(format!("env {var} is not set"))),
            },
            Source::File { path, .. } => from_file(path).map_err(error)?,
        };
        if secret.expose().contains(['\r', '\n', '\0']) {
            return Err(error("has a line break or a NUL, which headers cannot contain".into()));
        }
        self.register(name, &format!("credential '{name}'"), &secret)?;
        Ok(secret)
    }

    fn register(&mut self, binding: &str, place: &str, secret: &Secret) -> Result<(), ConfigError> {
        match self.redactor.register(binding, secret) {
            Ok(Registered::Searched) => {}
            Ok(Registered::TooShort) => {
                self.warnings
                    .push(format!("{place} is shorter than 4 bytes, so it is not redacted in texts"));
            }
            Err(problem) => return Err(ConfigError::file(format!("{place}: {problem}"))),
        }
        Ok(())
    }

    fn connect(
        &mut self,
        entry: &Entry,
        secrets: &BTreeMap<&str, Secret>,
        around: &Surroundings,
    ) -> Result<Connect, ConfigError> {
        let mut headers = Headers::new();
        for (name, value) in &entry.static_headers {
            headers.add(name, Secret::new(value.clone()));
        }
        for (n, emitter) in entry.auth.iter().enumerate() {
            let Some(secret) = secrets.get(&*emitter.binding) else { continue };
            let value = self.header(entry, n, emitter, secret)?;
            match self.sources.get(&emitter.binding) {
                Some(Source::File { path, is_reloaded: true }) => {
                    let (path, emitter, redactor) = (path.clone(), emitter.clone(), self.redactor.clone());
                    let place = emitter.scheme.place();
                    headers.add_reloaded_at(place, value, move || anew(&emitter, &path, &redactor));
                }
                _ => headers.add_at(emitter.scheme.place(), value),
            }
        }
        let mut transport = entry.transport.clone();
        if let Transport::Stdio(settings) = &mut transport {
            settings.env = self.env(entry, around)?;
        }
        Ok(Connect { transport, headers })
    }

    /// Builds the value of the header that an emitter sends.
    fn header(
        &mut self,
        entry: &Entry,
        n: usize,
        emitter: &Emitter,
        secret: &Secret,
    ) -> Result<Secret, ConfigError> {
        let place = format!("upstream '{}'", entry.name);
        let emitted = emitted(emitter, secret).map_err(|problem| {
            let message = format!("of credential '{}' {problem}", emitter.binding);
            ConfigError::new(&place, &format!("auth[{n}]"), message)
        })?;
        for (name, part) in &emitted.parts {
            self.register(name, &place, part)?;
        }
        Ok(emitted.value)
    }

    fn env(&mut self, entry: &Entry, around: &Surroundings) -> Result<Vec<(String, Secret)>, ConfigError> {
        let place = format!("upstream '{}'", entry.name);
        let mut env = Vec::new();
        for (key, pieces) in &entry.env {
            let field = format!("env.{key}");
            let mut value = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => value.push_str(text),
                    Piece::Var(var) => {
                        let Some(filled) = around.var(var) else {
                            let message = format!("needs the variable {var}, which is not set");
                            return Err(ConfigError::new(&place, &field, message));
                        };
                        value.push_str(filled);
                        if !PLAIN.contains(&&**var) && !filled.is_empty() {
                            let secret = Secret::new(filled);
                            self.register(&format!("variable {var}"), &format!("{place}: {var}"), &secret)?;
                        }
                    }
                }
            }
            let value = Secret::new(value);
            if value.expose().contains('\0') {
                return Err(ConfigError::new(&place, &field, "must not contain a NUL"));
            }
            if is_telling(key) && !value.expose().is_empty() {
                self.register(&format!("{} {key}", entry.name), &format!("{place}: {key}"), &value)?;
            }
            env.push((key.clone(), value));
        }
        Ok(env)
    }
}

/// Reads the credential in a file.
fn from_file(path: &Path) -> Result<Secret, String> {
    let mut text = String::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(MAX_SECRET as u64 + 1).read_to_string(&mut text));
    // Wrapped at once, so that the content does not stay in memory.
    let text = Secret::new(text);
    read.map_err(|problem| format!("file {}: {problem}", path.display()))?;
    let trimmed = Secret::new(text.expose().trim_end());
    match trimmed.expose().is_empty() {
        true => Err(format!("file {} is empty", path.display())),
        false => Ok(trimmed),
    }
}

/// A header's value, and the named secrets in it besides the credential itself.
struct Emitted {
    value: Secret,
    parts: Vec<(String, Secret)>,
}

/// Builds the header for a credential; the error says what is wrong with the credential.
fn emitted(emitter: &Emitter, secret: &Secret) -> Result<Emitted, &'static str> {
    const CONTROL: &str = "has control characters, which headers cannot contain";
    if !is_header_value(secret.expose()) {
        return Err(CONTROL);
    }
    Ok(match &emitter.scheme {
        Scheme::Header(_) | Scheme::Query(_) | Scheme::Cookie(_) => {
            Emitted { value: secret.clone(), parts: Vec::new() }
        }
        // The document says later how it is sent: as a pair, too, if it is one.
        Scheme::Declared(_) => {
            let as_pair = Emitter { scheme: Scheme::Basic, binding: emitter.binding.clone() };
            let parts = emitted(&as_pair, secret).map(|pair| pair.parts).unwrap_or_default();
            Emitted { value: secret.clone(), parts }
        }
        Scheme::Bearer => {
            Emitted { value: Secret::new(format!("Bearer {}", secret.expose())), parts: Vec::new() }
        }
        Scheme::Basic => {
            let (both, pass) = both(secret).ok_or("must be user:pass, or JSON with \"user\" and \"pass\"")?;
            if !is_header_value(both.expose()) {
                return Err(CONTROL);
            }
            let value = basic(&both);
            let mut parts = vec![(format!("{} as a pair", emitter.binding), both)];
            if !pass.expose().is_empty() {
                parts.push((format!("password of {}", emitter.binding), pass));
            }
            Emitted { value, parts }
        }
    })
}

/// Reads the header of a credential from its changed file. The redactor knows it before it is sent anywhere.
fn anew(emitter: &Emitter, path: &Path, redactor: &Redactor) -> Option<Secret> {
    let secret = from_file(path).ok()?;
    let emitted = emitted(emitter, &secret).ok()?;
    redactor.register(&emitter.binding, &secret).ok()?;
    for (name, part) in &emitted.parts {
        redactor.register(name, part).ok()?;
    }
    Some(emitted.value)
}

/// Returns a credential for basic authentication as `user:pass`, and its password.
fn both(secret: &Secret) -> Option<(Secret, Secret)> {
    let (user, pass) = pair(secret.expose())?;
    Some((Secret::new(format!("{}:{}", user.expose(), pass.expose())), pass))
}

fn basic(both: &Secret) -> Secret {
    Secret::new(format!("Basic {}", STANDARD.encode(both.expose())))
}

/// Returns the value of `Authorization: Basic` for a credential; None if it is no pair.
#[cfg(feature = "http")]
pub(crate) fn basic_value(secret: &Secret) -> Option<Secret> {
    let (both, _) = both(secret)?;
    is_header_value(both.expose()).then(|| basic(&both))
}

/// Splits a credential for basic authentication into user and password.
fn pair(text: &str) -> Option<(Secret, Secret)> {
    if text.trim_start().starts_with('{') {
        let json: serde_json::Value = serde_json::from_str(text).ok()?;
        let part = |key: &str| json.get(key)?.as_str().map(Secret::new);
        return Some((part("user").filter(|user| is_user(user.expose()))?, part("pass")?));
    }
    let (user, pass) = text.split_once(':')?;
    is_user(user).then(|| (Secret::new(user), Secret::new(pass)))
}

/// Returns whether a text can be the user name: a colon would end it early.
fn is_user(user: &str) -> bool {
    !user.is_empty() && !user.contains(':')
}
