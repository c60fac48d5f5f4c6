//! Resolution of settings: from a flag, else the environment, else the default.

use super::address::{REDACTED, without_secrets};
use super::{FLAGS, Flag, Kind, Settings};
use crate::network::Network;
use std::collections::BTreeMap;
use std::fmt;

/// Source of a setting's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The default.
    Default,
    /// An environment variable.
    Env(String),
    /// A flag.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Env(name) => f.write_str(name),
            Origin::Flag => f.write_str("flag"),
        }
    }
}

/// An invalid setting, with which the server does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem(pub String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

/// Settings and the sources of their values.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Values of the settings.
    pub settings: Settings,
    /// Problems that do not prevent a start.
    pub warnings: Vec<String>,
    origins: BTreeMap<&'static str, Origin>,
}

impl Settings {
    /// Reads flags and environment; returns all problems at once.
    ///
    /// ```
    /// use ptc_mcp::Settings;
    /// let env = |name: &str| (name == "PTC_MCP_MAX_SESSIONS").then(|| "8".to_string());
    /// let resolved = Settings::resolve(["--sessions", "--max-program-bytes=1000"], env).unwrap();
    /// assert_eq!((resolved.settings.max_sessions, resolved.settings.max_program_bytes), (8, 1000));
    /// assert!(resolved.settings.sessions);
    ///
    /// let problems = Settings::resolve(["--sesions"], |_| None).unwrap_err();
    /// assert_eq!(problems[0].to_string(), "unknown flag --sesions; did you mean --sessions?");
    /// ```
    pub fn resolve<'a>(
        flags: impl IntoIterator<Item = &'a str>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Resolved, Vec<Problem>> {
        let mut problems = Vec::new();
        let given = given(flags, &mut problems);
        let mut resolved =
            Resolved { settings: Settings::default(), warnings: Vec::new(), origins: BTreeMap::new() };
        let is_http = given.contains_key("http")
            || Flag::named("http").is_some_and(|flag| variable(flag, &env).is_some());
        for flag in FLAGS {
            let (text, origin) = match given.get(flag.name) {
                Some(text) => (text.clone(), Origin::Flag),
                None => match variable(flag, &env) {
                    // Whoever set it meant to set something.
                    Some((name, text)) if text.trim().is_empty() => {
                        resolved.warnings.push(empty(flag, &name));
                        continue;
                    }
                    Some((name, text)) => {
                        if name != flag.env() {
                            resolved
                                .warnings
                                .push(format!("{name} is an old name; set {} instead", flag.env()));
                        }
                        (text, Origin::Env(name))
                    }
                    None => continue,
                },
            };
            match resolved.settings.set(flag, &text) {
                Ok(()) => {
                    resolved.origins.insert(flag.name, origin);
                }
                Err(message) if is_tolerated(flag, is_http) => {
                    resolved.warnings.push(format!("{message}; the default is used"));
                }
                Err(message) => problems.push(Problem(message)),
            }
        }
        problems.extend(resolved.settings.clash());
        if problems.is_empty() { Ok(resolved) } else { Err(problems) }
    }

    /// Returns the contradictions between settings.
    fn clash(&mut self) -> Vec<Problem> {
        self.debug_ring_size = self.debug_ring_size.clamp(10, 5000);
        self.max_debug_response_bytes = self.max_debug_response_bytes.max(4096);
        let mut problems = Vec::new();
        let mut wrong = |message: &str| problems.push(Problem(message.to_string()));
        if self.hide_stateless && !self.sessions {
            wrong("--hide-stateless without --sessions leaves no tool to run programs with");
        }
        if self.agentic_allow_writes && !self.agentic {
            wrong("--agentic-allow-writes has no effect without --agentic");
        }
        if self.agentic_replay.is_some() && self.agentic_record.is_some() {
            wrong("--agentic-replay and --agentic-record cannot be used together");
        }
        if !self.http {
            return problems;
        }
        let is_loopback = match self.http_host.parse::<std::net::IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) if self.http_host == "localhost" => true,
            Err(_) => {
                wrong("--http-host must be an IP address or localhost");
                true
            }
        };
        if u16::try_from(self.http_port).is_err() {
            wrong("--http-port must be at most 65535");
        }
        if self.http_metrics && self.http_path == self.http_metrics_path {
            wrong("--http-path and --http-metrics-path must differ");
        }
        for (path, name) in
            [(&self.http_path, "--http-path"), (&self.http_metrics_path, "--http-metrics-path")]
        {
            if !path.starts_with('/') || matches!(path.as_str(), "/health" | "/ready") {
                problems
                    .push(Problem(format!("{name} must begin with `/` and be neither /health nor /ready")));
            }
        }
        let mut wrong = |message: &str| problems.push(Problem(message.to_string()));
        if self.http_auth_token.as_ref().is_some_and(|token| token.len() < 32) {
            wrong("--http-auth-token must have at least 32 bytes");
        }
        if self.http_tls_cert.is_some() != self.http_tls_key.is_some() {
            wrong("--http-tls-cert and --http-tls-key must be used together");
        }
        if self.http_disable_auth && !is_loopback {
            wrong("--http-disable-auth is only allowed on the loopback");
        }
        if self.http_disable_auth && self.http_allow_unsafe_network {
            wrong("--http-disable-auth and --http-allow-unsafe-network cannot be used together");
        }
        if !is_loopback && !self.http_allow_unsafe_network {
            wrong("listening beyond the loopback needs --http-allow-unsafe-network");
        }
        for proxy in self.http_trusted_proxy.iter().filter(|proxy| Network::parse(proxy).is_none()) {
            let shown: String = proxy.chars().take(80).collect();
            wrong(&format!(
                "--http-trusted-proxy must be an IP address or a network such as 10.0.0.0/8, got: {shown:?}"
            ));
        }
        let has_issuer = !self.http_oauth_issuer.is_empty();
        let has_tokens = self.http_auth_token.is_some() || self.http_auth_token_file.is_some() || has_issuer;
        if !has_tokens && !self.http_disable_auth {
            wrong("--http needs --http-auth-token, or --http-disable-auth on the loopback");
        }
        if has_issuer && self.http_disable_auth {
            wrong("--http-oauth-issuer and --http-disable-auth cannot be used together");
        }
        let needs_issuer = [
            ("--http-oauth-audience", self.http_oauth_audience.is_some()),
            ("--http-oauth-jwks", self.http_oauth_jwks.is_some()),
            ("--http-oauth-scope", !self.http_oauth_scope.is_empty()),
            ("--http-oauth-introspection", self.http_oauth_introspection.is_some()),
        ];
        for (flag, _) in needs_issuer.iter().filter(|(_, is_given)| *is_given && !has_issuer) {
            wrong(&format!("{flag} needs --http-oauth-issuer"));
        }
        problems
    }
}

/// Returns the variable that sets a flag, with its value: by its name, or else by the name in older versions.
fn variable(flag: &Flag, env: impl Fn(&str) -> Option<String>) -> Option<(String, String)> {
    [flag.env(), flag.old_env()].into_iter().find_map(|name| env(&name).map(|text| (name, text)))
}

/// Returns the warning about a variable that is set to nothing.
fn empty(flag: &Flag, name: &str) -> String {
    let so = match flag.name {
        "trusted" => ": preludes need no signature",
        _ => "",
    };
    format!("{name} is set and empty, which counts as not set{so}")
}

/// Returns whether an invalid value is ignored with a warning: for switches and some words, and for numbers of
/// HTTP when it is off.
fn is_tolerated(flag: &Flag, is_http: bool) -> bool {
    match flag.kind {
        Kind::Switch => true,
        Kind::Word(_) => flag.name == "catalog-mode",
        Kind::Count => flag.name.starts_with("http-") && !is_http,
        Kind::Number | Kind::Text | Kind::List => false,
    }
}

/// Returns the flags by name; repeated lists are joined.
fn given<'a>(
    flags: impl IntoIterator<Item = &'a str>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<&'static str, String> {
    let mut given: BTreeMap<&'static str, String> = BTreeMap::new();
    let mut flags = flags.into_iter().peekable();
    while let Some(word) = flags.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (word, None),
        };
        let Some(flag) = name.strip_prefix("--").and_then(Flag::named) else {
            problems.push(Problem(unknown(name)));
            continue;
        };
        let value = match (value, flag.kind) {
            (Some(value), _) => value,
            (None, Kind::Switch) => "true".to_string(),
            (None, _) => match flags.next_if(|next| !next.starts_with("--")) {
                Some(next) => next.to_string(),
                None => {
                    problems.push(Problem(format!("--{} needs a value", flag.name)));
                    continue;
                }
            },
        };
        match (flag.kind, given.get_mut(flag.name)) {
            (Kind::List, Some(known)) => *known = format!("{known},{value}"),
            (_, Some(_)) => problems.push(Problem(format!("--{} is given twice", flag.name))),
            (_, None) => {
                given.insert(flag.name, value);
            }
        }
    }
    given
}

fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(80).collect();
    match ptc_bytecode::nearest(shown.trim_start_matches('-'), FLAGS.iter().map(|flag| flag.name)) {
        Some(near) => format!("unknown flag {shown}; did you mean --{near}?"),
        None => format!("unknown flag {shown}"),
    }
}

impl Resolved {
    /// Returns the source of a setting's value.
    pub fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).cloned().unwrap_or(Origin::Default)
    }

    /// Formats every setting with the value in force and its source; secrets are hidden, also in addresses.
    ///
    /// ```
    /// use ptc_mcp::Settings;
    /// let token = "0123456789abcdef0123456789abcdef";
    /// let flags = ["--http", "--http-auth-token", token];
    /// let shown = Settings::resolve(flags, |_| None).unwrap().print();
    /// assert!(shown.contains("http = true  # flag") && !shown.contains(token));
    /// assert!(shown.contains("http-auth-token = [REDACTED]  # flag"));
    /// assert!(shown.contains("program-timeout-ms = 1000  # default"));
    /// ```
    pub fn print(&self) -> String {
        let line = |flag: &Flag| {
            let shown = match self.settings.shown(flag) {
                // What nobody set may depend on the machine or on other settings.
                empty if empty.is_empty() => self.settings.derived(flag).unwrap_or_default(),
                shown => shown,
            };
            let shown = match (flag.is_secret, shown.is_empty()) {
                (_, true) => "(unset)",
                (true, false) => REDACTED,
                (false, false) => &without_secrets(&shown),
            };
            format!("{} = {shown}  # {}\n", flag.name, self.origin(flag.name))
        };
        FLAGS.iter().map(line).collect()
    }
}
