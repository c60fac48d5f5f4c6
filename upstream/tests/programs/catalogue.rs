//! Frozen and live catalogues, and their rendering.

use super::fake::*;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{BootPolicy, Options, RenderMode, Rendering, Snapshot};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const FROZEN: fn() -> Options = || Options { snapshot: Snapshot::Frozen, ..Options::default() };

#[test]
fn frozen_lists_at_the_start_and_stays() {
    let fake = Arc::new(files());
    let world = World::new(vec![("fs", fake.clone())], FROZEN());
    assert_eq!(fake.listed.load(Ordering::SeqCst), 1);
    *fake.tools.lock().unwrap() = Ok(vec![]);
    fake.changes.store(1, Ordering::SeqCst);
    assert_eq!(world.value("(count (dir 'fs))"), "2");
    assert_eq!(fake.listed.load(Ordering::SeqCst), 1);
}

#[test]
fn a_frozen_start_fails_with_the_server_that_is_not_there() {
    let servers = || vec![("fs", Arc::new(files())), ("gone", Arc::new(Fake::down()))];
    let error = World::try_new(servers(), FROZEN(), Redactor::new()).err().unwrap().to_string();
    assert_eq!(error, "upstream 'gone' cannot be used: upstream_unavailable: no such program");
    let degrade = Options { boot_policy: BootPolicy::Degrade, ..FROZEN() };
    let world = World::try_new(servers(), degrade, Redactor::new()).unwrap();
    assert_eq!(world.upstream.warnings(), [error]);
    assert_eq!(world.value("(map :catalog_loaded (tool/servers))"), "[true false]");
}

#[test]
fn a_failed_start_stops_what_was_started() {
    let fine = Arc::new(files());
    let servers = vec![("fs", fine.clone()), ("gone", Arc::new(Fake::down()))];
    assert!(World::try_new(servers, FROZEN(), Redactor::new()).is_err());
    assert_eq!(fine.stopped.load(Ordering::SeqCst), 1);
}

#[test]
fn live_lists_when_needed_and_again_when_told() {
    let fake = Arc::new(files());
    let world = World::new(vec![("fs", fake.clone())], Options::default());
    assert_eq!(fake.listed.load(Ordering::SeqCst), 0);
    assert_eq!(
        world
            .value("(do (dir 'fs) (dir 'fs) (tool/call 'fs/read_text_file {:path \"a\"}) (count (dir 'fs)))"),
        "2"
    );
    assert_eq!(fake.listed.load(Ordering::SeqCst), 1);
    *fake.tools.lock().unwrap() = Ok(vec![tool("only", "One", json!({}))]);
    fake.changes.store(1, Ordering::SeqCst);
    assert_eq!(world.value("(dir 'fs)"), "[\"only - One\"]");
}

#[test]
fn of_tools_with_one_name_the_first_is_kept() {
    let fake = Fake::new(
        vec![tool("t", "first", json!({})), tool("t", "second", json!({})), tool(" ", "", json!({}))],
        |_| Ok(json!({})),
    );
    let world = World::new(vec![("s", fake.into())], FROZEN());
    assert_eq!(world.value("(dir 's)"), "[\"t - first\"]");
    let warnings = world.upstream.warnings();
    assert_eq!(warnings[0], "upstream 's' lists the tool 't' twice; the first is kept");
    assert_eq!(warnings[1], "upstream 's' has a tool without a usable name");
}

/// A misspelt rule would leave calls unapproved that somebody wanted to see.
#[test]
fn settings_of_tools_that_are_not_there_are_told() {
    let fake = Fake::new(vec![tool("convert_time", "", json!({}))], |_| Ok(json!({})));
    let approval_tools = [("convert_tim".to_string(), ptc_upstream::Approval::Always)].into();
    let client: Arc<dyn ptc_upstream::Client> = Arc::new(fake);
    let about = ptc_upstream::About { approval_tools, ..about("") };
    let redactor = ptc_upstream::redact::Redactor::new().into();
    let servers = [("clock".to_string(), about, client)];
    let upstream = ptc_upstream::Upstream::of_clients(servers, redactor, FROZEN()).unwrap();
    assert_eq!(
        upstream.warnings(),
        ["upstream 'clock' has no tool 'convert_tim', so its settings in `tools` do nothing; did you mean \
          `convert_time`?"]
    );
}

#[test]
fn texts_of_servers_are_made_harmless() {
    let nasty = tool(
        "t x",
        "Line one\nline\u{200b} two \u{7}\u{2067}end",
        json!({"properties": {"a\u{202e}": {"type": "string"}}}),
    );
    // A name that looks like another could stand in for it.
    let posing = tool("t\u{202e}x", "", json!({}));
    let fake = Arc::new(Fake::new(vec![nasty, posing], |_| Ok(json!({}))));
    let world = World::new(vec![("s", fake.clone())], FROZEN());
    assert_eq!(world.value("(dir 's)"), "[\"t x - Line one line two end\"]");
    assert!(world.value("(doc \"s/t x\")").contains("{:a string?}"));
    let call = "(:ok (tool/call {:server \"s\" :tool \"t x\"}))";
    assert_eq!(world.value(call), "true");
    let warnings = world.upstream.warnings().join("\n");
    assert!(
        warnings.contains("the tool 't\\u{202e}x' is left out: its name has hidden characters"),
        "{warnings}"
    );
}

#[test]
fn the_catalogue_is_shown_inline_without_descriptions_or_lazily() {
    let render = |rendering: Rendering| {
        let world = World::new(
            vec![("store", store().into()), ("fs", files().into())],
            Options { rendering, ..FROZEN() },
        );
        let text = world.upstream.render();
        text.split_once("\n\n").unwrap().1.to_string()
    };
    let inline = "Configured upstream MCP servers:\n- fs: The fs server. 2 tools.\n  Tools:\n  - list_directory - List the entries in a directory\n  \
                  - read_text_file - Read the contents of a UTF-8 text file\n- store: The store server. 1 tool.\n  Tools:\n  - get - Get an item";
    assert_eq!(render(Rendering::default()), inline);
    let bare = render(Rendering { inline_max_chars: 200, ..Rendering::default() });
    assert!(bare.contains("  - get\n") || bare.ends_with("  - get"), "{bare}");
    assert!(!bare.contains("Get an item"));
    let lazy =
        "Configured upstream MCP servers:\n- fs: The fs server. 2 tools.\n- store: The store server. 1 tool.";
    assert_eq!(render(Rendering { inline_max_chars: 50, ..Rendering::default() }), lazy);
    assert_eq!(render(Rendering { inline_max_tools: 2, ..Rendering::default() }), lazy);
    assert_eq!(render(Rendering { mode: RenderMode::Lazy, ..Rendering::default() }), lazy);
    assert_eq!(
        render(Rendering { mode: RenderMode::Inline, inline_max_tools: 1, inline_max_chars: 1 }),
        inline
    );
    // A server that is not loaded is marked as such, and makes `auto` lazy.
    let world = World::new(vec![("fs", files().into())], Options::default());
    assert!(world.upstream.render().ends_with("- fs: The fs server. Not loaded; (dir 'fs) loads it."));
}
