//! `ptc store`: preludes in versions, in a folder.

use super::inspect::INVALID;
use crate::args::{StoreArgs, StoreAt, StoreCommand};
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK};
use crate::setup::plain_runtime;
use crate::stored;
use ptc_bytecode::{Code, Limits};
use ptc_runtime::{PreludeStore, Selection, StoreError, StoreRef};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &StoreArgs) -> ExitCode {
    let at = match &args.command {
        StoreCommand::List { at }
        | StoreCommand::History { at, .. }
        | StoreCommand::Read { at, .. }
        | StoreCommand::Write { at, .. }
        | StoreCommand::SetDefault { at, .. }
        | StoreCommand::Check { at } => at,
    };
    match act(&args.command, at) {
        Ok(Done { text, json }) => {
            let text = if at.json { format!("{json}\n") } else { text };
            report::out(&text, OK)
        }
        Err(problem) => {
            let code = exit_code(problem.0.code);
            report::problem(&problem, at.json);
            ExitCode::from(code)
        }
    }
}

/// The rows to show: of one kind or the other.
struct Done {
    text: String,
    json: Value,
}

fn act(command: &StoreCommand, at: &StoreAt) -> Result<Done, Problem> {
    let (is_new, may_make) =
        (!at.folder.join("refs.jsonl").exists(), matches!(command, StoreCommand::Write { .. }));
    if is_new && !may_make {
        let message = format!("there is no store in {}", at.folder.display());
        let mut problem = Problem::new(Code::InvalidConfig, message);
        problem.0.hint = Some(format!("ptc store write {} shop.clj makes one", at.folder.display()));
        return Err(problem);
    }
    let runtime = plain_runtime(Limits::default())?;
    let selections = match command {
        StoreCommand::Write { sources, .. } => stored::sources(sources)?,
        _ => Vec::new(),
    };
    if is_new {
        // No folder is made for sources that will be refused.
        PreludeStore::new(&runtime).seed(&selections, &Value::Null).map_err(stored::told)?;
    }
    let store = stored::open(&runtime, &at.folder)?;
    let done = match command {
        StoreCommand::List { .. } => list(&store),
        StoreCommand::History { id, .. } => history(&store, id),
        StoreCommand::Read { reference, checksum, .. } => read(&store, reference, checksum.as_ref()),
        StoreCommand::Write { reason, parent, .. } => {
            let metadata = json!({ "reason": reason, "parent_checksum": parent });
            write(&store, &selections, &without_nulls(metadata))
        }
        StoreCommand::SetDefault { reference, checksum, reason, .. } => {
            let metadata = without_nulls(json!({ "reason": reason }));
            select(&store, reference, checksum.as_ref(), metadata)
        }
        StoreCommand::Check { .. } => check(&store),
    };
    done.map_err(stored::told)
}

/// A store that is damaged, a file that cannot be used, or something the store refuses.
fn exit_code(code: Code) -> u8 {
    match code {
        Code::StoreCorrupt | Code::UnsupportedFormat => INVALID,
        Code::StoreUnavailable | Code::StoreBusy | Code::InvalidConfig | Code::InvalidRef => report::USAGE,
        _ => FAULT,
    }
}

fn list(store: &PreludeStore) -> Result<Done, StoreError> {
    let rows = store.list()?;
    let mut text = String::new();
    for row in &rows {
        let latest = match row.latest_version {
            latest if latest == row.current_version => String::new(),
            latest => format!(", latest {latest}"),
        };
        let (id, current, kept) = (&row.id, row.current_version, row.versions_count);
        let _ = writeln!(
            text,
            "{id}@{current}{latest}, {kept} kept, {} exports  {}",
            row.exports.len(),
            row.checksum
        );
    }
    Ok(Done { text, json: json!({ "ok": true, "preludes": rows }) })
}

fn history(store: &PreludeStore, id: &str) -> Result<Done, StoreError> {
    let rows = store.history(id)?;
    let mut text = String::new();
    for row in &rows {
        let marks = match (row.current, row.latest) {
            (true, true) => " current, latest",
            (true, false) => " current",
            (false, true) => " latest",
            (false, false) => "",
        };
        let reason = row.metadata.get("reason").and_then(Value::as_str).unwrap_or_default();
        let reason = if reason.is_empty() { String::new() } else { format!("  {reason}") };
        let _ = writeln!(text, "{id}@{}{marks}  {}  {}{reason}", row.version, row.created_at, row.checksum);
    }
    Ok(Done { text, json: json!({ "ok": true, "id": id, "versions": rows }) })
}

fn read(store: &PreludeStore, reference: &str, checksum: Option<&String>) -> Result<Done, StoreError> {
    let stored = store.read(pinned(reference, checksum)?)?;
    let json = json!({
        "ok": true,
        "id": stored.id,
        "version": stored.version,
        "current": stored.current,
        "latest": stored.latest,
        "checksum": stored.checksum,
        "namespaces": stored.namespaces,
        "exports": stored.exports,
        "metadata": stored.metadata,
        "origin": stored.origin,
        "created_at": stored.created_at,
        "source": &*stored.source,
    });
    let newline = if stored.source.ends_with('\n') { "" } else { "\n" };
    Ok(Done { text: format!("{}{newline}", stored.source), json })
}

fn write(store: &PreludeStore, selections: &[Selection], metadata: &Value) -> Result<Done, StoreError> {
    let seeded = store.seed(selections, metadata)?;
    let mut text = String::new();
    for one in &seeded {
        let what = if one.is_new { "stored" } else { "unchanged" };
        let _ = writeln!(text, "{}@{} {what}  {}", one.id, one.version, one.checksum);
    }
    Ok(Done { text, json: json!({ "ok": true, "written": seeded }) })
}

fn select(
    store: &PreludeStore,
    reference: &str,
    checksum: Option<&String>,
    metadata: Value,
) -> Result<Done, StoreError> {
    let selected = store.set_default(pinned(reference, checksum)?, metadata)?;
    let text = format!("{}@{} is current  {}\n", selected.id, selected.version, selected.checksum);
    Ok(Done { text, json: json!({ "ok": true, "selected": selected }) })
}

fn check(store: &PreludeStore) -> Result<Done, StoreError> {
    let (mut preludes, mut versions) = (0, 0);
    for row in store.list()? {
        preludes += 1;
        for past in store.history(&row.id)? {
            store.read(StoreRef::version(&*row.id, past.version).checksum(&*past.checksum))?;
            versions += 1;
        }
    }
    let text = format!("{}, {}, all intact\n", counted(preludes, "prelude"), counted(versions, "version"));
    Ok(Done { text, json: json!({ "ok": true, "preludes": preludes, "versions": versions }) })
}

fn pinned(reference: &str, checksum: Option<&String>) -> Result<StoreRef, StoreError> {
    let reference = StoreRef::parse(reference)?;
    Ok(StoreRef { checksum: checksum.cloned(), ..reference })
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}
