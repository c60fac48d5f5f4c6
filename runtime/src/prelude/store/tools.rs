//! Private tools behind the namespace `prelude/`, with which programs write preludes. Programs cannot name them; the
//! shipped prelude calls them.
//!
//! Arguments and results of programs are bounded: sources are cut, metadata is filtered, messages are short. A refusal
//! is a result with a reason; only arguments of the wrong shape are a fault.

use super::rows::{bounded, public_metadata};
use super::{Metadata, PreludeStore, StoreError, StoreRef};
use crate::tools::{ToolArgs, ToolError, Tools};
use ptc_bytecode::{Code, Effects, hex};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Names of the tools behind `prelude/`. A host that grants them cannot have tools of its own with these names.
pub const STORE_TOOLS: [&str; 5] = [
    "prelude_store_list",
    "prelude_store_history",
    "prelude_store_read",
    "prelude_store_write",
    "prelude_store_set_default",
];

/// Names of the tools that change the store.
const WRITING: [&str; 2] = ["prelude_store_write", "prelude_store_set_default"];

/// Namespace of the shipped prelude, the only one that may call the tools. The store refuses preludes of that name.
const AUTHORING: &str = "prelude";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryArgs {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    #[serde(rename = "ref")]
    reference: RefArgs,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a ref must be text, or a map of :id, :version and :checksum"
)]
enum RefArgs {
    Text(String),
    Parts { id: String, version: Option<u64>, checksum: Option<String> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArgs {
    id: String,
    source: String,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SelectArgs {
    id: String,
    version: u64,
    checksum: Option<String>,
    metadata: Option<Metadata>,
}

impl PreludeStore {
    /// Adds the tools behind `prelude/` to these tools: a run with them and the shipped prelude may write to this
    /// store. Do not grant them to programs that should only read.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Grants, LoadOptions, Prelude, PreludeStore, Runtime, Tools};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let store = PreludeStore::new(&runtime);
    /// let tools = store.grant(Tools::new())?;
    /// let authoring = Prelude::load(&runtime, ptc_preludes::prelude(), &LoadOptions::default())?;
    /// let runtime = runtime.with_tools(tools).attach(&authoring, &Attach::new())?;
    /// let written = runtime.eval(
    ///     r#"(:version (prelude/write {:id "shop" :source "(ns shop) (def rate 19)"}))"#,
    ///     &Grants::new(),
    /// )?;
    /// assert_eq!((written.print()?, store.list()?.len()), ("1".to_string(), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grant(&self, tools: Tools) -> Result<Tools, StoreError> {
        if let Some(name) = STORE_TOOLS.iter().find(|name| tools.grants(name)) {
            let message = format!("the tool `{name}` is granted already; that name belongs to the store");
            return Err(StoreError::new(Code::InvalidTool, message).with("tool", *name));
        }
        let tools = self.tool(tools, 0, |store, NoArgs {}| {
            Ok(json!(store.list()?.iter().map(|row| row.public_view()).collect::<Vec<_>>()))
        });
        let tools = self.tool(tools, 1, |store, args: HistoryArgs| {
            Ok(json!(store.history(&args.id)?.iter().map(|row| row.public_view()).collect::<Vec<_>>()))
        });
        let tools = self.tool(tools, 2, |store, args: ReadArgs| {
            let stored = match args.reference {
                RefArgs::Text(text) => store.read(&text)?,
                RefArgs::Parts { id, version, checksum } => {
                    let parsed = StoreRef::parse(&id)?;
                    store.read(StoreRef { version: version.or(parsed.version), checksum, ..parsed })?
                }
            };
            Ok(stored.public_view())
        });
        let tools = self.tool(tools, 3, |store, args: WriteArgs| {
            let written = store.write(&args.id, &args.source, given(args.metadata))?;
            Ok(done(json!(written)))
        });
        Ok(self.tool(tools, 4, |store, args: SelectArgs| {
            let reference = StoreRef {
                version: Some(args.version),
                checksum: args.checksum,
                ..StoreRef::parse(&args.id)?
            };
            Ok(done(json!(store.set_default(reference, given(args.metadata))?)))
        }))
    }

    /// Adds one of the tools, whose arguments are checked before it is called.
    fn tool<T: for<'a> Deserialize<'a> + 'static>(
        &self,
        tools: Tools,
        which: usize,
        act: impl Fn(&PreludeStore, T) -> Result<Value, StoreError> + Send + Sync + 'static,
    ) -> Tools {
        let name = STORE_TOOLS[which];
        let store = self.clone();
        let body =
            move |args: ToolArgs| Ok(act(&store, parsed(&args)?).unwrap_or_else(|error| refused(&error)));
        tools
            .with(name, body)
            .private(name, |args| parsed::<T>(args).map(drop))
            .private_to(name, AUTHORING)
            .effect(name, if WRITING.contains(&name) { Effects::Write } else { Effects::Read })
            .redacted(name, redact)
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(args: &ToolArgs) -> Result<T, ToolError> {
    T::deserialize(args.json()?).map_err(ToolError::new)
}

/// Returns the metadata given by a program, filtered to what it may give. Its names may have hyphens.
fn given(metadata: Option<Metadata>) -> Value {
    let named = metadata.into_iter().flatten().map(|(name, value)| (name.replace('-', "_"), value));
    Value::Object(public_metadata(&named.collect()))
}

fn done(mut answer: Value) -> Value {
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("status".to_string(), "ok".into());
    }
    answer
}

fn refused(error: &StoreError) -> Value {
    let mut answer =
        json!({ "status": "error", "reason": error.reason(), "message": bounded(&error.message) });
    for (name, value) in &error.details {
        answer[name.as_str()] = match value {
            Value::String(text) => bounded(text).into(),
            other => other.clone(),
        };
    }
    answer
}

/// Redacts arguments and results of these tools for ledgers and traces: sources become their length and hash,
/// metadata its public part.
fn redact(mut value: Value) -> Value {
    let rows: Vec<&mut Value> = match &mut value {
        Value::Array(rows) => rows.iter_mut().collect(),
        one => vec![one],
    };
    for row in rows.into_iter().filter_map(Value::as_object_mut) {
        if let Some(Value::String(source)) = row.get("source") {
            let hash = hex(&Sha256::digest(source.as_bytes()).into());
            let summary = json!({ "redacted": true, "bytes": source.len(), "sha256": hash });
            row.insert("source".to_string(), summary);
        }
        for name in ["metadata", "default_metadata"] {
            if let Some(Value::Object(metadata)) = row.get(name) {
                let public = public_metadata(metadata);
                row.insert(name.to_string(), Value::Object(public));
            }
        }
    }
    value
}
