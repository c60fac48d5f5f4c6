//! Settings of the server: one table for flags, environment variables, `--print-config` and the documentation.

mod address;
mod resolve;

pub use resolve::{Origin, Problem, Resolved};

use crate::profile::Profile;
use ptc_upstream::{OPTIONS, OptionKind, OptionRow, Options};

/// Prefix of environment variables.
pub const ENV_PREFIX: &str = "PTC_RUNNER_MCP_";

/// The one environment variable that does not follow from its flag's name.
const UPSTREAMS_ENV: &str = "PTC_RUNNER_MCP_UPSTREAMS";

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
    /// assert_eq!(Flag::named("max-frame-bytes").unwrap().env(), "PTC_RUNNER_MCP_MAX_FRAME_BYTES");
    /// assert_eq!(Flag::named("upstreams-config").unwrap().env(), "PTC_RUNNER_MCP_UPSTREAMS");
    /// ```
    pub fn env(&self) -> String {
        match self.name {
            "upstreams-config" => UPSTREAMS_ENV.to_string(),
            name => format!("{ENV_PREFIX}{}", name.to_uppercase().replace('-', "_")),
        }
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
            is_secret: matches!($name.as_bytes(), b"http-auth-token"),
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
    /// Longest line of the protocol on stdin, in bytes.
    "max-frame-bytes" max_frame_bytes: u64 = count "8388608";
    /// Longest program, in bytes.
    "max-program-bytes" max_program_bytes: u64 = count "65536";
    /// Largest `context`, in bytes as JSON.
    "max-context-bytes" max_context_bytes: u64 = count "4194304";
    /// Programs that compute at one time; without it as many as there are cores, eight at most. As many again may of clients that have none among them. One that waits for servers does not count.
    "max-concurrent-calls" max_concurrent_calls: Option<u64> = count "";
    /// Programs that wait for one of those places, each for as long as it may run; owners take turns. Who comes later is told `busy`.
    "max-queued-calls" max_queued_calls: u64 = number "1000";
    /// Programs of one client that have come and not ended, whether they compute or wait for their turn, servers or a model; those of all clients together may be half as many more. Who comes later is told `busy`.
    "max-open-calls" max_open_calls: u64 = count "10000";
    /// Memory of all programs together: of those that compute as much as each may have, of others what they hold. Where it is used up, a program that needs more ends with `memory_limit`.
    "max-all-programs-bytes" max_all_programs_bytes: u64 = count "2147483648";
    /// Time of one program, in milliseconds; without it 1000, with upstream servers 10000.
    "program-timeout-ms" program_timeout_ms: Option<u64> = count "";
    /// Memory of one program, in bytes; without it 10 MiB, with upstream servers 100 MiB.
    "program-memory-limit-bytes" program_memory_limit_bytes: Option<u64> = count "";
    /// The file that names upstream servers.
    "upstreams-config" upstreams_config: Option<String> = text "";
    /// Refuses upstream tools that are not known to only read, and tells clients that programs change nothing.
    "aggregator-read-only" aggregator_read_only: bool = switch "false";
    /// How much of a result clients see; without it `slim`, with `--debug-tool` `debug`.
    "response-profile" response_profile: Option<Profile> = ["slim" "structured" "debug"] "";
    /// Largest value that comes back whole, in bytes of text; larger ones come back as an excerpt.
    "max-result-bytes" max_result_bytes: u64 = count "32768";
    /// Least level that is logged to stderr.
    "log-level" log_level: LogLevel = ["debug" "info" "warn" "error"] "info";
    /// How long a person may take to approve a call, in milliseconds.
    "approval-timeout-ms" approval_timeout_ms: u64 = count "300000";
    /// Tells clients that ask for it of every call (`logging/setLevel`); never what was in it.
    "client-log" client_log: bool = switch "false";
    /// Collector of OpenTelemetry that spans of calls are sent to (OTLP over HTTP): names and times, no payloads.
    "otlp-endpoint" otlp_endpoint: Option<String> = text "";
    /// Folder with a trace of every call.
    "trace-dir" trace_dir: Option<String> = text "";
    /// How much of programs and data traces keep.
    "trace-payloads" trace_payloads: TracePayloads = ["none" "summary" "full"] "summary";
    /// Most files in that folder.
    "trace-max-files" trace_max_files: u64 = count "1000";
    /// Folder with a log of the turns of sessions.
    "turn-log-dir" turn_log_dir: Option<String> = text "";
    /// Prelude that is attached to every program; `crm.ptcp@artifact:HASH` only that build. Repeatable.
    "prelude" prelude: Vec<String> = list "";
    /// Public key that preludes must be signed with, or a file of such keys; without one they need no signature.
    "trusted" trusted: Vec<String> = list "";
    /// Export of preludes that programs do not see: `crm/remove`, `crm/get-*` or all of `crm`. Repeatable.
    "prelude-hide" prelude_hide: Vec<String> = list "";
    /// Export of preludes that is left out of what clients are told, and found by looking. Repeatable.
    "prelude-discoverable" prelude_discoverable: Vec<String> = list "";
    /// Hides every export of preludes that may write.
    "prelude-hide-writes" prelude_hide_writes: bool = switch "false";
    /// Refuses preludes that may call any upstream operation, whatever they declare.
    "prelude-deny-dynamic" prelude_deny_dynamic: bool = switch "false";
    /// Source, or folder of `.clj` sources, that the store of preludes begins with; or the folder of a store.
    "prelude-store-seed" prelude_store_seed: Option<String> = text "";
    /// Sessions may be started that write preludes.
    "sessions-allow-prelude-write" sessions_allow_prelude_write: bool = switch "false";
    /// Offers sessions.
    "sessions" sessions: bool = switch "false";
    /// Does not offer `lisp_eval` itself.
    "hide-stateless" hide_stateless: bool = switch "false";
    /// An unknown tool is an error of the protocol.
    "strict-mcp" strict_mcp: bool = switch "false";
    /// Sessions at one time.
    "max-sessions" max_sessions: u64 = count "64";
    /// Sessions of one owner at one time.
    "max-sessions-per-owner" max_sessions_per_owner: u64 = count "16";
    /// Folder that sessions are kept in, so that they are there again after a restart.
    "session-dir" session_dir: Option<String> = text "";
    /// Longest life of a session, in milliseconds.
    "session-ttl-ms" session_ttl_ms: u64 = count "1800000";
    /// Longest rest of a session, in milliseconds.
    "session-idle-timeout-ms" session_idle_timeout_ms: u64 = count "900000";
    /// Definitions of a session together, in bytes.
    "max-session-memory-bytes" max_session_memory_bytes: u64 = count "1048576";
    /// One definition, in bytes.
    "max-session-binding-bytes" max_session_binding_bytes: u64 = count "262144";
    /// Definitions of a session.
    "max-session-bindings" max_session_bindings: u64 = count "200";
    /// Each of `*1 *2 *3`, in bytes.
    "max-session-history-entry-bytes" max_session_history_entry_bytes: u64 = count "65536";
    /// Printed lines that a session keeps.
    "max-session-print-entries" max_session_print_entries: u64 = count "50";
    /// The same in bytes.
    "max-session-print-bytes" max_session_print_bytes: u64 = count "65536";
    /// Tool calls that a session keeps.
    "max-session-tool-call-entries" max_session_tool_call_entries: u64 = count "50";
    /// The same in bytes.
    "max-session-tool-call-bytes" max_session_tool_call_bytes: u64 = count "131072";
    /// Calls of upstream servers that a session keeps.
    "max-session-upstream-call-entries" max_session_upstream_call_entries: u64 = count "50";
    /// The same in bytes.
    "max-session-upstream-call-bytes" max_session_upstream_call_bytes: u64 = count "131072";
    /// Previews of values in replies about sessions, in characters.
    "max-session-preview-chars" max_session_preview_chars: u64 = count "512";
    /// Suggests `describe` for results of twenty maps and more.
    "collection-hint" collection_hint: bool = switch "false";
    /// Offers `lisp_debug`.
    "debug-tool" debug_tool: bool = switch "false";
    /// For operators: `lisp_debug` shows every client the calls of all, not only its own.
    "debug-all-owners" debug_all_owners: bool = switch "false";
    /// Calls that `lisp_debug` remembers, 10 to 5000.
    "debug-ring-size" debug_ring_size: u64 = count "500";
    /// Largest reply of `lisp_debug`, in bytes; 4096 at least.
    "max-debug-response-bytes" max_debug_response_bytes: u64 = count "65536";
    /// Offers `lisp_task`: a model of the server's plans and writes programs itself. Needs upstream servers, and
    /// `--aggregator-read-only` or `--agentic-allow-writes`.
    "agentic" agentic: bool = switch "false";
    /// The model that plans, by the name that `ptc agent run --llm` takes; without it the default of the models.
    "agentic-model" agentic_model: Option<String> = text "";
    /// No model is asked: replies come from this cassette.
    "agentic-replay" agentic_replay: Option<String> = text "";
    /// Writes what the model is asked and what it answers to this cassette.
    "agentic-record" agentic_record: Option<String> = text "";
    /// Time of one task, in milliseconds.
    "agentic-task-timeout-ms" agentic_task_timeout_ms: u64 = count "45000";
    /// Time of one request to the model, attempts after failures included, in milliseconds.
    "agentic-planner-timeout-ms" agentic_planner_timeout_ms: u64 = count "15000";
    /// Longest reply of the model, in tokens.
    "agentic-max-output-tokens" agentic_max_output_tokens: u64 = count "1200";
    /// Largest answer of a task, in bytes.
    "agentic-max-result-bytes" agentic_max_result_bytes: u64 = count "4096";
    /// Answers show the program that was written.
    "agentic-include-program" agentic_include_program: bool = switch "true";
    /// Turns of a task; without it what `--agentic-subagent-config` says, or 1.
    "agentic-max-turns" agentic_max_turns: Option<u64> = count "";
    /// Further turns after those; without it what `--agentic-subagent-config` says, or 0.
    "agentic-retry-turns" agentic_retry_turns: Option<u64> = number "";
    /// Tasks may write: tools that say they do are not refused.
    "agentic-allow-writes" agentic_allow_writes: bool = switch "false";
    /// JSON file with `max_turns`, `retry_turns` and `system_prompt`.
    "agentic-subagent-config" agentic_subagent_config: Option<String> = text "";
    /// File with what clients are told that tasks can do; without it a list of servers and tools.
    "agentic-capability-summary" agentic_capability_summary: Option<String> = text "";
    /// Longest text of that kind, in bytes.
    "agentic-capability-summary-max-bytes" agentic_capability_summary_max_bytes: u64 = count "800";
    /// Traces hold what the model was asked and what it said.
    "agentic-trace-prompts" agentic_trace_prompts: bool = switch "false";
    /// Serves HTTP, and not stdin and stdout.
    "http" http: bool = switch "false";
    /// Address that HTTP is served on.
    "http-host" http_host: String = text "127.0.0.1";
    /// Its port.
    "http-port" http_port: u64 = count "7332";
    /// The path of the endpoint.
    "http-path" http_path: String = text "/mcp";
    /// Token that clients send; 32 bytes at least.
    "http-auth-token" http_auth_token: Option<String> = text "";
    /// File with more tokens, one `name:sha256(token)` per line; read again when it changes.
    "http-auth-token-file" http_auth_token_file: Option<String> = text "";
    /// File with the certificate of the server and those that vouch for it, as PEM; then HTTPS is served. Read again when it changes.
    "http-tls-cert" http_tls_cert: Option<String> = text "";
    /// File with the key of the certificate, as PEM.
    "http-tls-key" http_tls_key: Option<String> = text "";
    /// No token is asked for; on the loopback only.
    "http-disable-auth" http_disable_auth: bool = switch "false";
    /// Origin that browsers may call from.
    "http-allowed-origin" http_allowed_origin: Vec<String> = list "";
    /// May listen beyond the loopback.
    "http-allow-unsafe-network" http_allow_unsafe_network: bool = switch "false";
    /// Largest body of a request, in bytes; without it as `max-frame-bytes`.
    "http-max-body-bytes" http_max_body_bytes: Option<u64> = count "";
    /// Memory for the bodies of all requests under way, as they are once parsed, in bytes; more are refused with 503.
    "http-max-bodies-bytes" http_max_bodies_bytes: u64 = count "134217728";
    /// Least pace of a request's body, in bytes per second, measured over five seconds.
    "http-min-body-bytes-per-second" http_min_body_bytes_per_second: u64 = count "1024";
    /// Open connections, as far as there are files for them; a new one closes the one that waits longest for a request.
    "http-max-connections" http_max_connections: u64 = count "4096";
    /// Open connections of one address, of one /64 with IPv6; trusted proxies have no such limit.
    "http-max-connections-per-address" http_max_connections_per_address: u64 = count "1024";
    /// Address or network (`10.0.0.0/8`) of a proxy that is believed about its clients (`X-Forwarded-For`, `Forwarded`).
    "http-trusted-proxy" http_trusted_proxy: Vec<String> = list "";
    /// Serves metrics for Prometheus.
    "http-metrics" http_metrics: bool = switch "false";
    /// Their path.
    "http-metrics-path" http_metrics_path: String = text "/metrics";
    /// Protocol sessions at one time.
    "http-max-sessions" http_max_sessions: u64 = count "256";
    /// Protocol sessions of one owner.
    "http-max-sessions-per-owner" http_max_sessions_per_owner: u64 = count "32";
    /// Requests of one protocol session at one time.
    "http-max-in-flight-per-session" http_max_in_flight_per_session: u64 = count "4";
    /// Longest life of a protocol session, in milliseconds.
    "http-session-ttl-ms" http_session_ttl_ms: u64 = count "3600000";
    /// Longest rest of a protocol session, in milliseconds.
    "http-session-idle-timeout-ms" http_session_idle_timeout_ms: u64 = count "900000";
    /// Longest time that a connection waits for the headers of a request, in milliseconds.
    "http-header-timeout-ms" http_header_timeout_ms: u64 = count "30000";
    /// Longest time for reading the body of a request, in milliseconds.
    "http-request-timeout-ms" http_request_timeout_ms: u64 = count "15000";
    /// How long calls may go on once the server is told to end, in milliseconds.
    "http-shutdown-grace-ms" http_shutdown_grace_ms: u64 = count "10000";
    /// What the instance is called in metrics; without it the name of the host.
    "http-instance-label" http_instance_label: Option<String> = text "";
    /// Throttles clients that send invalid tokens, by their address; valid tokens are always let in.
    "http-auth-rate-limit" http_auth_rate_limit: bool = switch "true";
    /// Over so many milliseconds.
    "http-auth-rate-limit-window-ms" http_auth_rate_limit_window_ms: u64 = count "60000";
    /// After so many failures.
    "http-auth-rate-limit-max-failures" http_auth_rate_limit_max_failures: u64 = count "5";
    /// For so many milliseconds.
    "http-auth-rate-limit-block-ms" http_auth_rate_limit_block_ms: u64 = count "60000";
}

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
    Flag { name: row.name, kind, default: row.default, doc: row.doc, is_secret: false }
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
