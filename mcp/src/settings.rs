//! Settings of the server: one table for flags, environment variables, `--print-config` and the documentation.

mod address;
mod resolve;

pub use resolve::{Origin, Problem, Resolved};

use crate::profile::Profile;
use ptc_upstream::{OPTIONS, OptionKind, OptionRow, Options};

/// Prefix of environment variables.
pub const ENV_PREFIX: &str = "PTC_MCP_";

/// Prefix of environment variables in versions before 0.1: still read, with a warning.
const OLD_ENV_PREFIX: &str = "PTC_RUNNER_MCP_";

/// Lowest level of events that are logged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum LogLevel {
    /// All events, including programs and data.
    Debug,
    /// Normal operation.
    #[default]
    Info,
    /// Unusual conditions.
    Warn,
    /// Failures.
    Error,
}

/// Amount of programs and data that a trace keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TracePayloads {
    /// Hashes and sizes only.
    None,
    /// Beginnings of programs and data.
    #[default]
    Summary,
    /// Complete programs and data.
    Full,
}

/// Type of a setting's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A positive whole number.
    Count,
    /// A whole number, including zero.
    Number,
    /// A boolean.
    Switch,
    /// A string.
    Text,
    /// A list of strings: the flag is repeatable, and commas separate values.
    List,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Name of the flag, without dashes.
    pub name: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Default value as text; empty for none.
    pub default: &'static str,
    /// Description of the setting.
    pub doc: &'static str,
    /// True if it may hold a secret, which is never shown.
    pub is_secret: bool,
    /// Kind of path that the value is.
    pub path: PathKind,
}

/// Kind of path that a setting holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathKind {
    /// Not a path.
    None,
    /// A file or folder that the server reads.
    Existing,
    /// A file or folder that the server creates if it is missing.
    New,
}

const fn path_kind(name: &str) -> PathKind {
    match name.as_bytes() {
        b"upstreams-config"
        | b"prelude"
        | b"trusted"
        | b"prelude-store-seed"
        | b"agentic-replay"
        | b"agentic-subagent-config"
        | b"agentic-capability-summary"
        | b"http-auth-token-file"
        | b"http-tls-cert"
        | b"http-tls-key" => PathKind::Existing,
        b"trace-dir" | b"turn-log-dir" | b"session-dir" | b"agentic-record" => PathKind::New,
        _ => PathKind::None,
    }
}

impl Flag {
    /// Returns the setting of this name.
    pub fn named(name: &str) -> Option<&'static Flag> {
        FLAGS.iter().find(|flag| flag.name == name)
    }

    /// Returns the environment variable of the setting.
    ///
    /// ```
    /// use ptc_mcp::settings::Flag;
    /// assert_eq!(Flag::named("max-frame-bytes").unwrap().env(), "PTC_MCP_MAX_FRAME_BYTES");
    /// assert_eq!(Flag::named("upstreams-config").unwrap().env(), "PTC_MCP_UPSTREAMS");
    /// ```
    pub fn env(&self) -> String {
        self.variable(ENV_PREFIX)
    }

    /// Returns the name that the variable had in older versions.
    pub(crate) fn old_env(&self) -> String {
        self.variable(OLD_ENV_PREFIX)
    }

    fn variable(&self, prefix: &str) -> String {
        // The one variable that does not follow from its flag's name.
        let name = if self.name == "upstreams-config" { "upstreams" } else { self.name };
        format!("{prefix}{}", name.to_uppercase().replace('-', "_"))
    }
}

macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:literal $field:ident: $type:ty = $kind:tt $default:literal;)*) => {
        /// The settings of a server.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $field: $type,)*
            /// Options of upstream servers.
            pub upstream: Options,
        }

        /// Settings other than options of upstream servers.
        const OWN: &[Flag] = &[$(Flag {
            name: $name,
            kind: settings!(@kind $kind),
            default: $default,
            doc: concat!($($doc),+).trim_ascii(),
            is_secret: matches!($name.as_bytes(), b"http-auth-token" | b"http-oauth-client-secret"),
            path: path_kind($name),
        },)*];

        impl Settings {
            /// Sets a field from text.
            fn set(&mut self, flag: &Flag, text: &str) -> Result<(), String> {
                match flag.name {
                    $($name => self.$field = FromText::read(text, flag)?,)*
                    _ => self.set_option(flag, text)?,
                }
                Ok(())
            }

            /// Returns a field as text.
            fn shown(&self, flag: &Flag) -> String {
                match flag.name {
                    $($name => self.$field.write(),)*
                    name => option(name).map_or(String::new(), |row| row.show(&self.upstream)),
                }
            }
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($field: <$type>::initial($default),)* upstream: Options::default() }
            }
        }
    };
    (@kind count) => { Kind::Count };
    (@kind number) => { Kind::Number };
    (@kind switch) => { Kind::Switch };
    (@kind text) => { Kind::Text };
    (@kind list) => { Kind::List };
    (@kind [$($word:literal)*]) => { Kind::Word(&[$($word),*]) };
}

settings! {
    /// Maximum length of a protocol message on stdin, in bytes.
    "max-frame-bytes" max_frame_bytes: u64 = count "8388608";
    /// Maximum program length in bytes.
    "max-program-bytes" max_program_bytes: u64 = count "65536";
    /// Maximum size of `context` in bytes of JSON.
    "max-context-bytes" max_context_bytes: u64 = count "4194304";
    /// Maximum programs that compute at once; default: the number of cores, at most 8. As many extra slots are kept for clients that have no program running. Programs that wait for servers do not count.
    "max-concurrent-calls" max_concurrent_calls: Option<u64> = count "";
    /// Maximum programs in the queue for a slot, each for at most its own timeout; owners take turns. Further calls get `busy`.
    "max-queued-calls" max_queued_calls: u64 = number "1000";
    /// Maximum unfinished programs of one client, whether they compute, queue, or wait for servers or a model; for all clients together, 1.5 times as many. Further calls get `busy`.
    "max-open-calls" max_open_calls: u64 = count "10000";
    /// Memory budget for all programs, in bytes: a running program counts with its limit, a waiting one with what it holds. A program that would exceed the budget fails with `memory_limit`.
    "max-all-programs-bytes" max_all_programs_bytes: u64 = count "2147483648";
    /// Timeout of one program in milliseconds; default: 1000, or 10000 with upstream servers.
    "program-timeout-ms" program_timeout_ms: Option<u64> = count "";
    /// Memory limit of one program in bytes; default: 10 MiB, or 100 MiB with upstream servers.
    "program-memory-limit-bytes" program_memory_limit_bytes: Option<u64> = count "";
    /// Configuration file for upstream servers.
    "upstreams-config" upstreams_config: Option<String> = text "";
    /// Ledger of effects, a file or `postgres://…` or `sqlite:FILE`: calls that may change something are written down before they are sent, and none is sent twice when a client repeats a request with its `ptc/request-key`.
    "effects" effects: Option<String> = text "";
    /// Days after which runs in the ledger of effects are forgotten, except those with calls of unknown outcome; default: never.
    "effects-keep-days" effects_keep_days: Option<u64> = count "";
    /// Refuses upstream tools that are not known to only read, and tells clients that programs change nothing.
    "aggregator-read-only" aggregator_read_only: bool = switch "false";
    /// Amount of detail in results for clients; default: `slim`, or `debug` with `--debug-tool`.
    "response-profile" response_profile: Option<Profile> = ["slim" "structured" "debug"] "";
    /// Maximum size of a result in bytes of text; larger results are returned as an excerpt.
    "max-result-bytes" max_result_bytes: u64 = count "32768";
    /// Maximum size of the images, audio and files in a result, in bytes of base64; further ones are placeholders.
    "max-attached-bytes" max_attached_bytes: u64 = count "8388608";
    /// Minimum log level on stderr.
    "log-level" log_level: LogLevel = ["debug" "info" "warn" "error"] "info";
    /// Timeout for approving a call, in milliseconds.
    "approval-timeout-ms" approval_timeout_ms: u64 = count "300000";
    /// Sends a log message for every call, without its content, to clients that ask for a log level.
    "client-log" client_log: bool = switch "false";
    /// OpenTelemetry collector for spans of calls (OTLP over HTTP): names and times, no payloads.
    "otlp-endpoint" otlp_endpoint: Option<String> = text "";
    /// Folder for a trace of every call.
    "trace-dir" trace_dir: Option<String> = text "";
    /// Amount of program text and data in traces.
    "trace-payloads" trace_payloads: TracePayloads = ["none" "summary" "full"] "summary";
    /// Maximum number of files in the trace folder.
    "trace-max-files" trace_max_files: u64 = count "1000";
    /// Folder for logs of session turns.
    "turn-log-dir" turn_log_dir: Option<String> = text "";
    /// Prelude to attach to every program; `crm.ptcp@artifact:HASH` pins one build. Repeatable.
    "prelude" prelude: Vec<String> = list "";
    /// Public key, or file of keys, that must have signed the preludes; without one, no signature is needed.
    "trusted" trusted: Vec<String> = list "";
    /// Prelude export to hide from programs: `crm/remove`, `crm/get-*` or all of `crm`. Repeatable.
    "prelude-hide" prelude_hide: Vec<String> = list "";
    /// Prelude export to leave out of tool descriptions; programs find it by searching. Repeatable.
    "prelude-discoverable" prelude_discoverable: Vec<String> = list "";
    /// Hides all prelude exports that may write.
    "prelude-hide-writes" prelude_hide_writes: bool = switch "false";
    /// Refuses preludes that choose upstream operations at run time, whatever they declare.
    "prelude-deny-dynamic" prelude_deny_dynamic: bool = switch "false";
    /// Initial content of the prelude store: a source, a folder of `.clj` sources, or another store's folder.
    "prelude-store-seed" prelude_store_seed: Option<String> = text "";
    /// Allows sessions that write preludes.
    "sessions-allow-prelude-write" sessions_allow_prelude_write: bool = switch "false";
    /// Offers sessions.
    "sessions" sessions: bool = switch "false";
    /// Hides the tool `lisp_eval`.
    "hide-stateless" hide_stateless: bool = switch "false";
    /// Answers calls of unknown tools with a protocol error.
    "strict-mcp" strict_mcp: bool = switch "false";
    /// Maximum open sessions.
    "max-sessions" max_sessions: u64 = count "64";
    /// Maximum open sessions per owner.
    "max-sessions-per-owner" max_sessions_per_owner: u64 = count "16";
    /// Folder for saved sessions, which survive a restart.
    "session-dir" session_dir: Option<String> = text "";
    /// Maximum lifetime of a session, in milliseconds.
    "session-ttl-ms" session_ttl_ms: u64 = count "1800000";
    /// Idle timeout of a session, in milliseconds.
    "session-idle-timeout-ms" session_idle_timeout_ms: u64 = count "900000";
    /// Maximum size of all definitions of a session, in bytes.
    "max-session-memory-bytes" max_session_memory_bytes: u64 = count "1048576";
    /// Maximum size of one definition, in bytes.
    "max-session-binding-bytes" max_session_binding_bytes: u64 = count "262144";
    /// Maximum number of definitions of a session.
    "max-session-bindings" max_session_bindings: u64 = count "200";
    /// Maximum size of each of `*1 *2 *3`, in bytes.
    "max-session-history-entry-bytes" max_session_history_entry_bytes: u64 = count "65536";
    /// Maximum printed lines that a session keeps.
    "max-session-print-entries" max_session_print_entries: u64 = count "50";
    /// Maximum size of the printed lines that a session keeps, in bytes.
    "max-session-print-bytes" max_session_print_bytes: u64 = count "65536";
    /// Maximum tool calls that a session keeps.
    "max-session-tool-call-entries" max_session_tool_call_entries: u64 = count "50";
    /// Maximum size of the tool calls that a session keeps, in bytes.
    "max-session-tool-call-bytes" max_session_tool_call_bytes: u64 = count "131072";
    /// Maximum upstream calls that a session keeps.
    "max-session-upstream-call-entries" max_session_upstream_call_entries: u64 = count "50";
    /// Maximum size of the upstream calls that a session keeps, in bytes.
    "max-session-upstream-call-bytes" max_session_upstream_call_bytes: u64 = count "131072";
    /// Maximum length of value previews in session replies, in characters.
    "max-session-preview-chars" max_session_preview_chars: u64 = count "512";
    /// Suggests `describe` for results of twenty or more maps.
    "collection-hint" collection_hint: bool = switch "false";
    /// Offers `lisp_debug`.
    "debug-tool" debug_tool: bool = switch "false";
    /// For operators: `lisp_debug` shows every client the calls of all clients.
    "debug-all-owners" debug_all_owners: bool = switch "false";
    /// Number of calls that `lisp_debug` remembers, 10 to 5000.
    "debug-ring-size" debug_ring_size: u64 = count "500";
    /// Maximum size of a `lisp_debug` reply in bytes; at least 4096.
    "max-debug-response-bytes" max_debug_response_bytes: u64 = count "65536";
    /// Offers `lisp_task`: the server's own model plans and writes programs. Needs upstream servers, and
    /// `--aggregator-read-only` or `--agentic-allow-writes`.
    "agentic" agentic: bool = switch "false";
    /// Model for planning, named as in `ptc agent run --llm`; default: `default_model` of the table of models.
    "agentic-model" agentic_model: Option<String> = text "";
    /// Uses recorded replies from this cassette instead of a model.
    "agentic-replay" agentic_replay: Option<String> = text "";
    /// Records the model's requests and replies to this cassette.
    "agentic-record" agentic_record: Option<String> = text "";
    /// Timeout of one task, in milliseconds.
    "agentic-task-timeout-ms" agentic_task_timeout_ms: u64 = count "45000";
    /// Timeout of one model request including retries, in milliseconds.
    "agentic-planner-timeout-ms" agentic_planner_timeout_ms: u64 = count "15000";
    /// Maximum length of a model reply, in tokens.
    "agentic-max-output-tokens" agentic_max_output_tokens: u64 = count "1200";
    /// Maximum size of a task's answer, in bytes.
    "agentic-max-result-bytes" agentic_max_result_bytes: u64 = count "4096";
    /// Includes the model's program in answers.
    "agentic-include-program" agentic_include_program: bool = switch "true";
    /// Maximum turns of a task; default: the value in `--agentic-subagent-config`, or 1.
    "agentic-max-turns" agentic_max_turns: Option<u64> = count "";
    /// Extra turns for retries; default: the value in `--agentic-subagent-config`, or 0.
    "agentic-retry-turns" agentic_retry_turns: Option<u64> = number "";
    /// Allows tasks to call tools that are not known to only read.
    "agentic-allow-writes" agentic_allow_writes: bool = switch "false";
    /// JSON file with `max_turns`, `retry_turns` and `system_prompt`.
    "agentic-subagent-config" agentic_subagent_config: Option<String> = text "";
    /// File with the description of tasks for clients; default: a list of servers and tools.
    "agentic-capability-summary" agentic_capability_summary: Option<String> = text "";
    /// Maximum length of that description, in bytes.
    "agentic-capability-summary-max-bytes" agentic_capability_summary_max_bytes: u64 = count "800";
    /// Includes model requests and replies in traces.
    "agentic-trace-prompts" agentic_trace_prompts: bool = switch "false";
    /// Serves HTTP instead of stdin and stdout.
    "http" http: bool = switch "false";
    /// Address for HTTP.
    "http-host" http_host: String = text "127.0.0.1";
    /// Port for HTTP.
    "http-port" http_port: u64 = count "7332";
    /// Path of the MCP endpoint.
    "http-path" http_path: String = text "/mcp";
    /// Token that clients must send; at least 32 bytes.
    "http-auth-token" http_auth_token: Option<String> = text "";
    /// File with more tokens, one `name:sha256(token)` per line; reloaded when it changes.
    "http-auth-token-file" http_auth_token_file: Option<String> = text "";
    /// PEM file with the server's certificate chain, which turns on HTTPS; reloaded when it changes.
    "http-tls-cert" http_tls_cert: Option<String> = text "";
    /// PEM file with the certificate's private key.
    "http-tls-key" http_tls_key: Option<String> = text "";
    /// Authorization server (OAuth 2.1) whose tokens are accepted, by its issuer address. Repeatable.
    "http-oauth-issuer" http_oauth_issuer: Vec<String> = list "";
    /// Audience that its tokens must name; default: the address of this server.
    "http-oauth-audience" http_oauth_audience: Option<String> = text "";
    /// Address of its public keys (JWKS); default: the one in its metadata.
    "http-oauth-jwks" http_oauth_jwks: Option<String> = text "";
    /// Scope that its tokens must have. Repeatable.
    "http-oauth-scope" http_oauth_scope: Vec<String> = list "";
    /// Address at which it says whether a token that is not a JWT is valid (introspection).
    "http-oauth-introspection" http_oauth_introspection: Option<String> = text "";
    /// Id of this server at the authorization server, for introspection.
    "http-oauth-client-id" http_oauth_client_id: Option<String> = text "";
    /// Secret of this server at the authorization server, for introspection.
    "http-oauth-client-secret" http_oauth_client_secret: Option<String> = text "";
    /// Address at which clients reach this server, such as `https://ptc.example.org/mcp`; default: where it listens.
    "http-public-url" http_public_url: Option<String> = text "";
    /// Accepts requests without a token; only on the loopback.
    "http-disable-auth" http_disable_auth: bool = switch "false";
    /// Origin that browsers may call from. Repeatable.
    "http-allowed-origin" http_allowed_origin: Vec<String> = list "";
    /// Allows listening beyond the loopback.
    "http-allow-unsafe-network" http_allow_unsafe_network: bool = switch "false";
    /// Maximum size of a request body in bytes; default: `max-frame-bytes`.
    "http-max-body-bytes" http_max_body_bytes: Option<u64> = count "";
    /// Memory for all request bodies in progress, counted by their parsed size, in bytes; further requests get 503.
    "http-max-bodies-bytes" http_max_bodies_bytes: u64 = count "134217728";
    /// Minimum speed of a request body in bytes per second, measured over five seconds.
    "http-min-body-bytes-per-second" http_min_body_bytes_per_second: u64 = count "1024";
    /// Maximum open connections, within the limit on open files; a new one closes the longest idle one.
    "http-max-connections" http_max_connections: u64 = count "4096";
    /// Maximum open connections per address (per /64 with IPv6); not for trusted proxies.
    "http-max-connections-per-address" http_max_connections_per_address: u64 = count "1024";
    /// Address or network (`10.0.0.0/8`) of a proxy whose `X-Forwarded-For` or `Forwarded` headers are trusted.
    "http-trusted-proxy" http_trusted_proxy: Vec<String> = list "";
    /// Serves metrics for Prometheus.
    "http-metrics" http_metrics: bool = switch "false";
    /// Path of the metrics.
    "http-metrics-path" http_metrics_path: String = text "/metrics";
    /// Maximum protocol sessions.
    "http-max-sessions" http_max_sessions: u64 = count "256";
    /// Maximum protocol sessions per owner.
    "http-max-sessions-per-owner" http_max_sessions_per_owner: u64 = count "32";
    /// Maximum concurrent requests per protocol session.
    "http-max-in-flight-per-session" http_max_in_flight_per_session: u64 = count "4";
    /// Maximum lifetime of a protocol session, in milliseconds.
    "http-session-ttl-ms" http_session_ttl_ms: u64 = count "3600000";
    /// Idle timeout of a protocol session, in milliseconds.
    "http-session-idle-timeout-ms" http_session_idle_timeout_ms: u64 = count "900000";
    /// Timeout for receiving request headers, in milliseconds.
    "http-header-timeout-ms" http_header_timeout_ms: u64 = count "30000";
    /// Timeout for receiving a request body, in milliseconds.
    "http-request-timeout-ms" http_request_timeout_ms: u64 = count "15000";
    /// Time for running calls to finish at shutdown, in milliseconds.
    "http-shutdown-grace-ms" http_shutdown_grace_ms: u64 = count "10000";
    /// Name of this instance in metrics; default: the host name.
    "http-instance-label" http_instance_label: Option<String> = text "";
    /// Throttles clients that send invalid tokens, by their address; valid tokens are always let in.
    "http-auth-rate-limit" http_auth_rate_limit: bool = switch "true";
    /// Time window for counting invalid tokens, in milliseconds.
    "http-auth-rate-limit-window-ms" http_auth_rate_limit_window_ms: u64 = count "60000";
    /// Invalid tokens from one address within the window before it is throttled.
    "http-auth-rate-limit-max-failures" http_auth_rate_limit_max_failures: u64 = count "5";
    /// Duration of the throttling, in milliseconds.
    "http-auth-rate-limit-block-ms" http_auth_rate_limit_block_ms: u64 = count "60000";
}

/// Bytes of a file that a setting names and that is read as a whole.
pub(crate) const MAX_FILE: u64 = 16 << 20;

/// All settings, in the order of the documentation: options of upstream servers come after the file that names
/// the servers.
pub const FLAGS: &[Flag] = &all();

const OPTION_COUNT: usize = {
    let (mut count, mut i) = (0, 0);
    while i < OPTIONS.len() {
        count += OPTIONS[i].is_setting as usize;
        i += 1;
    }
    count
};

const fn all() -> [Flag; OWN.len() + OPTION_COUNT] {
    let mut all = [OWN[0]; OWN.len() + OPTION_COUNT];
    let (mut to, mut own) = (0, 0);
    while own < OWN.len() {
        all[to] = OWN[own];
        to += 1;
        let mut i = 0;
        while i < OPTIONS.len() && matches!(OWN[own].name.as_bytes(), b"upstreams-config") {
            if OPTIONS[i].is_setting {
                all[to] = flag_of(&OPTIONS[i]);
                to += 1;
            }
            i += 1;
        }
        own += 1;
    }
    all
}

const fn flag_of(row: &OptionRow) -> Flag {
    let kind = match row.kind {
        OptionKind::Words(words, _) => Kind::Word(words),
        OptionKind::Count | OptionKind::Millis | OptionKind::Bytes => Kind::Count,
    };
    Flag { name: row.name, kind, default: row.default, doc: row.doc, is_secret: false, path: PathKind::None }
}

fn option(name: &str) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.name == name)
}

impl Settings {
    fn set_option(&mut self, flag: &Flag, text: &str) -> Result<(), String> {
        let row = option(flag.name).ok_or_else(|| format!("there is no setting `{}`", flag.name))?;
        match row.kind {
            OptionKind::Words(words, _) => match row.set_word(&mut self.upstream, text) {
                true => Ok(()),
                false => Err(no_word(flag, &words.join(", "))),
            },
            _ => {
                row.set_number(&mut self.upstream, u64::read(text, flag)?);
                Ok(())
            }
        }
    }

    /// Returns the profile of replies.
    pub fn profile(&self) -> Profile {
        self.response_profile.unwrap_or(if self.debug_tool { Profile::Debug } else { Profile::Slim })
    }

    /// Returns the time limit of one program, in milliseconds.
    pub fn program_timeout(&self, has_upstreams: bool) -> u64 {
        self.program_timeout_ms.unwrap_or(if has_upstreams { 10_000 } else { 1_000 })
    }

    /// Returns the memory limit of one program, in bytes.
    pub fn program_memory(&self, has_upstreams: bool) -> u64 {
        self.program_memory_limit_bytes.unwrap_or(if has_upstreams { 100 << 20 } else { 10 << 20 })
    }

    /// Returns the value that is in force for a setting without a value, as text; None if there is none.
    fn derived(&self, flag: &Flag) -> Option<String> {
        let has_upstreams = self.upstreams_config.is_some();
        Some(match flag.name {
            "max-concurrent-calls" => self.concurrent_calls().to_string(),
            "program-timeout-ms" => self.program_timeout(has_upstreams).to_string(),
            "program-memory-limit-bytes" => self.program_memory(has_upstreams).to_string(),
            "response-profile" => self.profile().to_string(),
            "http-max-body-bytes" => self.max_frame_bytes.to_string(),
            "http-instance-label" => self.instance_label(),
            "http-public-url" if self.http => self.resource(),
            "http-oauth-audience" if !self.http_oauth_issuer.is_empty() => self.resource(),
            _ => return None,
        })
    }

    /// Returns the address of this server as clients name it.
    pub(crate) fn resource(&self) -> String {
        if let Some(url) = &self.http_public_url {
            return url.trim_end_matches('/').to_string();
        }
        let scheme = if self.http_tls_cert.is_some() { "https" } else { "http" };
        let host = match self.http_host.contains(':') {
            true => format!("[{}]", self.http_host),
            false => self.http_host.clone(),
        };
        format!("{scheme}://{host}:{}{}", self.http_port, self.http_path.trim_end_matches('/'))
    }

    /// Returns the name of this instance in metrics.
    pub(crate) fn instance_label(&self) -> String {
        let host = || std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
        self.http_instance_label.clone().or_else(host).unwrap_or_else(|| "ptc".to_string())
    }

    /// Returns the number of programs that run at once.
    pub fn concurrent_calls(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        self.max_concurrent_calls.map_or(cores, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }
}

/// Conversion of a setting's value from and to text.
trait FromText: Sized {
    /// Returns the default value.
    fn initial(text: &str) -> Self;
    /// Parses the value of a flag or variable.
    fn read(text: &str, flag: &Flag) -> Result<Self, String>;
    /// Returns the value as `--print-config` shows it.
    fn write(&self) -> String;
}

impl FromText for u64 {
    fn initial(text: &str) -> u64 {
        text.parse().unwrap_or_default()
    }

    fn read(text: &str, flag: &Flag) -> Result<u64, String> {
        let number =
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
        let (least, what) = match flag.kind {
            Kind::Number => (0, "a whole number"),
            _ => (1, "a positive integer"),
        };
        number.filter(|number| *number >= least).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            format!("--{} / {} must be {what}, got: {shown:?}", flag.name, flag.env())
        })
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl FromText for bool {
    fn initial(text: &str) -> bool {
        text == "true"
    }

    fn read(text: &str, flag: &Flag) -> Result<bool, String> {
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(true),
            "0" | "false" | "no" | "off" => Ok(false),
            _ => Err(format!("--{} / {} must be true or false", flag.name, flag.env())),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl FromText for String {
    fn initial(text: &str) -> String {
        text.to_string()
    }

    fn read(text: &str, _: &Flag) -> Result<String, String> {
        Ok(text.to_string())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

impl<T: FromText> FromText for Option<T> {
    fn initial(_: &str) -> Option<T> {
        None
    }

    fn read(text: &str, flag: &Flag) -> Result<Option<T>, String> {
        T::read(text, flag).map(Some)
    }

    fn write(&self) -> String {
        self.as_ref().map_or(String::new(), T::write)
    }
}

impl FromText for Vec<String> {
    fn initial(_: &str) -> Vec<String> {
        Vec::new()
    }

    fn read(text: &str, _: &Flag) -> Result<Vec<String>, String> {
        Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_string).collect())
    }

    fn write(&self) -> String {
        self.join(",")
    }
}

fn no_word(flag: &Flag, words: &str) -> String {
    format!("--{} / {} must be one of {words}", flag.name, flag.env())
}

macro_rules! words {
    ($($type:ident { $($word:literal $value:ident)* })*) => { $(
        impl FromText for $type {
            fn initial(_: &str) -> $type {
                $type::default()
            }

            fn read(text: &str, flag: &Flag) -> Result<$type, String> {
                match text {
                    $($word => Ok($type::$value),)*
                    _ => Err(no_word(flag, &[$($word),*].join(", "))),
                }
            }

            fn write(&self) -> String {
                match self {
                    $($type::$value => $word,)*
                }
                .to_string()
            }
        }
    )* };
}

words! {
    LogLevel { "debug" Debug "info" Info "warn" Warn "error" Error }
    TracePayloads { "none" None "summary" Summary "full" Full }
    Profile { "slim" Slim "structured" Structured "debug" Debug }
}
