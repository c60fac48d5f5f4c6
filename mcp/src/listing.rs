//! `tools/list`: which tools there are, and what clients and models are told about them. The same settings give the
//! same list, byte for byte, so that what providers keep of a prompt stays good.

mod schemas;

use crate::profile::Profile;
use crate::protocol::Revision;
use crate::settings::Settings;
use ptc_agent::lisp_eval;
use ptc_agent::prompt::reference_card;
use ptc_upstream::{DISCOVERY_HINT, Upstream};
use serde_json::{Map, Value, json};

macro_rules! tools {
    ($($(#[doc = $doc:literal])+ $tool:ident = $name:literal;)*) => {
        /// A tool of the server.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ToolName {
            $($(#[doc = $doc])+ $tool,)*
        }

        impl ToolName {
            /// Every tool, in the order of the list.
            pub const ALL: &[ToolName] = &[$(ToolName::$tool,)*];

            /// As clients call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(ToolName::$tool => $name,)*
                }
            }
        }
    };
}

tools! {
    /// Runs a program by itself.
    Eval = "lisp_eval";
    /// Plans and runs programs until a task is done.
    Task = "lisp_task";
    /// Looks into what was called lately.
    Debug = "lisp_debug";
    /// Starts a session.
    SessionStart = "lisp_session_start";
    /// Lists the sessions of the client.
    SessionList = "lisp_session_list";
    /// Lists the preludes of a session, or those there are.
    SessionListPreludes = "lisp_session_list_preludes";
    /// Runs a program in a session.
    SessionEval = "lisp_session_eval";
    /// Shows what a session holds.
    SessionInspect = "lisp_session_inspect";
    /// Takes something out of a session.
    SessionForget = "lisp_session_forget";
    /// Ends a session.
    SessionClose = "lisp_session_close";
}

impl ToolName {
    /// The tool of this name.
    pub fn from_name(name: &str) -> Option<ToolName> {
        ToolName::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    /// Whether it is about sessions.
    pub fn is_session(self) -> bool {
        !matches!(self, ToolName::Eval | ToolName::Task | ToolName::Debug)
    }
}

/// What a tool may do, for clients that ask their user first.
struct Hints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

/// The list of tools.
#[derive(Clone, Debug)]
pub struct Listing {
    names: Vec<ToolName>,
    /// As the revisions with structured results have it, and as those before do.
    with_structure: Value,
    text_only: Value,
}

impl Listing {
    /// What these settings offer; tasks only if somebody says what they can do.
    pub fn new(settings: &Settings, upstream: Option<&Upstream>, tasks: Option<&str>) -> Listing {
        let is_there = |tool: &ToolName| match tool {
            ToolName::Eval => !settings.hide_stateless,
            ToolName::Task => tasks.is_some() && upstream.is_some(),
            ToolName::Debug => settings.debug_tool,
            _ => settings.sessions,
        };
        let names: Vec<ToolName> = ToolName::ALL.iter().copied().filter(is_there).collect();
        let catalogue =
            upstream.map(|upstream| upstream.catalogue().render_servers(&upstream.options().rendering));
        let row = |tool: &ToolName| described(*tool, settings, catalogue.as_deref(), tasks);
        let rows: Vec<Map<String, Value>> = names.iter().map(row).collect();
        let plain = |mut row: Map<String, Value>| {
            row.remove("outputSchema");
            row.remove("title");
            row
        };
        let text_only = rows.iter().cloned().map(plain).map(Value::Object).collect();
        Listing { names, with_structure: rows.into_iter().map(Value::Object).collect(), text_only }
    }

    /// Whether a tool is offered.
    pub fn has(&self, tool: ToolName) -> bool {
        self.names.contains(&tool)
    }

    /// The names of the tools.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.names.iter().map(|tool| tool.name())
    }

    /// The list as this revision has it.
    pub fn to_json(&self, revision: Revision) -> &Value {
        if revision.has_structure() { &self.with_structure } else { &self.text_only }
    }
}

fn described(
    tool: ToolName,
    settings: &Settings,
    catalogue: Option<&str>,
    tasks: Option<&str>,
) -> Map<String, Value> {
    let hints = hints(tool, settings, catalogue.is_some());
    let mut row = Map::new();
    row.insert("name".to_string(), json!(tool.name()));
    row.insert("title".to_string(), json!(title(tool)));
    row.insert("description".to_string(), json!(description(tool, settings, catalogue, tasks)));
    row.insert("inputSchema".to_string(), schemas::input(tool));
    if let Some(schema) = schemas::output(tool, settings.profile(), catalogue.is_some()) {
        row.insert("outputSchema".to_string(), schema);
    }
    let annotations = json!({
        "title": title(tool),
        "readOnlyHint": hints.read_only,
        "destructiveHint": hints.destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": hints.open_world,
    });
    row.insert("annotations".to_string(), annotations);
    row
}

fn title(tool: ToolName) -> &'static str {
    match tool {
        ToolName::Eval => "Run a PTC-Lisp program",
        ToolName::Task => "Do a task with upstream servers",
        ToolName::Debug => "Look into recent calls",
        ToolName::SessionStart => "Start a session",
        ToolName::SessionList => "List sessions",
        ToolName::SessionListPreludes => "List preludes",
        ToolName::SessionEval => "Run a program in a session",
        ToolName::SessionInspect => "Show what a session holds",
        ToolName::SessionForget => "Forget parts of a session",
        ToolName::SessionClose => "Close a session",
    }
}

fn hints(tool: ToolName, settings: &Settings, has_upstreams: bool) -> Hints {
    let hints = |read_only, destructive, idempotent, open_world| Hints {
        read_only,
        destructive,
        idempotent,
        open_world,
    };
    // A session remembers what a program defines, so the same program twice is not the same as once.
    let keeps = tool == ToolName::SessionEval;
    match tool {
        ToolName::Eval | ToolName::SessionEval | ToolName::Task if has_upstreams => {
            match settings.aggregator_read_only {
                true => hints(!keeps, false, false, true),
                false => hints(false, true, false, true),
            }
        }
        ToolName::Eval | ToolName::Task | ToolName::Debug => hints(true, false, true, false),
        ToolName::SessionEval | ToolName::SessionStart => hints(false, false, false, false),
        ToolName::SessionList | ToolName::SessionListPreludes | ToolName::SessionInspect => {
            hints(true, false, true, false)
        }
        ToolName::SessionForget | ToolName::SessionClose => hints(false, true, true, false),
    }
}

/// What models are told. What servers say about themselves is not ours, and stands last.
fn description(tool: ToolName, settings: &Settings, catalogue: Option<&str>, tasks: Option<&str>) -> String {
    let about = match tool {
        ToolName::Eval => lisp_eval::Profile::Mcp.description(),
        ToolName::SessionEval => include_str!("../prompts/session_eval.md").trim_ascii(),
        ToolName::Task => {
            let tasks = tasks.filter(|tasks| !tasks.is_empty());
            let tasks = tasks.map_or(String::new(), |tasks| format!("\n\nWhat it can use:\n{tasks}"));
            return format!("{}{tasks}", short(tool));
        }
        other => return short(other).to_string(),
    };
    let discovery = catalogue.map(|_| DISCOVERY_HINT);
    let authoring = include_str!("../prompts/authoring.md").trim_ascii();
    let profile = profile_note(settings.profile());
    let parts = discovery.into_iter().chain([about, authoring, reference_card(), profile]).chain(catalogue);
    parts.collect::<Vec<_>>().join("\n\n")
}

fn profile_note(profile: Profile) -> &'static str {
    match profile {
        Profile::Slim => "Results come back as text: the value behind `user=> `, or `reason: message`.",
        Profile::Structured => {
            "Results come back as text and as an object: `status` is `ok` or `error`, then `result`, `validated`, `reason`, `message`."
        }
        Profile::Debug => {
            "Results come back as an object with all that happened: `result`, `prints`, `feedback`, and calls of upstream servers."
        }
    }
}

fn short(tool: ToolName) -> &'static str {
    match tool {
        ToolName::Task => {
            "Does a task that needs upstream servers: plans, writes and runs programs by itself, and gives the answer. Say in `task` what is wanted, and give data in `context`."
        }
        ToolName::Debug => {
            "Shows what this server was asked lately: `stats` over calls, `recent` calls, or `get` one of them by `request_id`."
        }
        ToolName::SessionStart => {
            "Starts a session in which definitions and results stay between programs. Gives the `session_id` for `lisp_session_eval`."
        }
        ToolName::SessionList => "Lists your sessions, newest first.",
        ToolName::SessionListPreludes => {
            "Lists the preludes a session was started with; without `session_id` those a session can be started with."
        }
        ToolName::SessionInspect => {
            "Shows what a session holds: an overview, its definitions (`memory`), `prints`, `tool_calls`, results (`history`) or `limits`."
        }
        ToolName::SessionForget => {
            "Takes definitions out of a session (`bindings`), or clears `memory`, `history`, `prints`, `tool_calls` or `upstream_calls`."
        }
        ToolName::SessionClose => "Ends a session; a program that runs in it is stopped.",
        ToolName::Eval | ToolName::SessionEval => "",
    }
}
