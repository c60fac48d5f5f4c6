//! `ptc upstream list`, `doc`, `call` and `import`.

use crate::{Ran, config, entry, file, good, mixed, ptc, ptc_with, trial};
use libtest_mimic::Trial;
use serde_json::json;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("servers_and_tools_are_listed", servers_and_tools_are_listed),
        trial("a_server_that_is_not_there_is_told", a_server_that_is_not_there_is_told),
        trial("doc_tells_what_a_tool_takes", doc_tells_what_a_tool_takes),
        trial("call_prints_the_answer", call_prints_the_answer),
        trial("failures_have_a_reason_and_no_program", failures_have_a_reason_and_no_program),
        trial("the_configuration_is_found_and_checked", the_configuration_is_found_and_checked),
        trial("import_makes_a_configuration", import_makes_a_configuration),
        trial("changed_tools_are_shown_and_approved", changed_tools_are_shown_and_approved),
    ]
}

/// `ptc upstream …` with a configuration.
fn upstream(config: &str, args: &[&str]) -> Ran {
    let all = [&["upstream"], args, &["--upstreams-config", config]].concat();
    ptc(&all)
}

fn servers_and_tools_are_listed() {
    let config = good("list");
    let listed = "fs  mcp_stdio  2 tools  Files.\n  list_directory  List the files\n  read_text_file  Read a text file\n";
    for args in [&["list"][..], &["list", "fs"]] {
        assert_eq!(upstream(&config, args).expect(0, listed).err, "");
    }
    let json = upstream(&config, &["list", "--json"]).json();
    assert_eq!((&json["ok"], &json["servers"][0]["catalog_loaded"]), (&json!(true), &json!(true)));
    assert_eq!(json["servers"][0]["tools"][0]["name"], "list_directory");
    let ran = upstream(&config, &["list", "sf"]);
    assert_eq!(ran.expect(2, "").err, "error: no upstream 'sf' configured\n hint: there are: fs\n");
}

fn a_server_that_is_not_there_is_told() {
    let config = mixed("absent");
    let ran = upstream(&config, &["list"]);
    assert!(ran.code == 1 && ran.out.contains("gone  mcp_stdio  unavailable  Files.\n"), "{ran:?}");
    assert!(ran.out.contains("fs  mcp_stdio  2 tools"), "the others are listed: {ran:?}");
    let told = "upstream_unavailable: upstream 'gone' could not be started: its process has ended";
    assert!(ran.err.starts_with("error: upstream 'gone' cannot be used: "), "{ran:?}");
    assert!(ran.err.contains(told) && ran.err.lines().count() == 1, "{ran:?}");
    let json = upstream(&config, &["list", "gone", "--json"]).json();
    assert_eq!((&json["ok"], &json["servers"][0]["catalog_loaded"]), (&json!(false), &json!(false)));
    for args in [&["doc", "gone/x"][..], &["call", "gone/x"]] {
        let ran = upstream(&config, args);
        assert!(ran.code == 1 && ran.out.is_empty(), "{ran:?}");
        assert!(ran.err.starts_with(&format!("error: {told}")), "{ran:?}");
        let json = upstream(&config, &[args, &["--json"]].concat()).json();
        assert_eq!((&json["ok"], &json["reason"]), (&json!(false), &json!("upstream_unavailable")));
    }
    // With everything started at once it stops the start, unless that is allowed.
    let frozen = ["list", "fs", "--catalog-snapshot-mode", "frozen"];
    let ran = upstream(&config, &frozen);
    assert!(ran.code == 2 && ran.err.starts_with("error: upstream 'gone' cannot be used"), "{ran:?}");
    let ran = upstream(&config, &[&frozen[..], &["--upstream-boot-policy", "degrade"]].concat());
    assert!(ran.code == 0 && ran.err.starts_with("warning: upstream 'gone' cannot be used"), "{ran:?}");
}

fn doc_tells_what_a_tool_takes() {
    let config = good("doc");
    let ran = upstream(&config, &["doc", "fs/read_text_file"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.out,
        "fs/read_text_file\nRead a text file\nArgs: {:path string}\nRequired args: path\n\
         (tool/call {:server \"fs\" :tool \"read_text_file\" :args {:path ...}})\n\
         Returns: Result<{:content string}>\nCheck :ok before you use :value.\n"
    );
    let json = upstream(&config, &["doc", "fs/read_text_file", "--json"]).json();
    assert!(json["value"].as_str().is_some_and(|text| text.contains("Required args: path")), "{json}");
    for (tool, message) in [
        ("fs/reed", "error: runtime_error: no tool 'reed' in upstream 'fs'\n"),
        ("sf/read", "error: runtime_error: no upstream 'sf' configured\n"),
    ] {
        assert_eq!(upstream(&config, &["doc", tool]).expect(1, "").err, message);
    }
}

fn call_prints_the_answer() {
    let config = mixed("call");
    // Structured answers as JSON, texts as they are.
    upstream(&config, &["call", "fs/read_text_file", r#"{"path": "notes.md"}"#])
        .expect(0, "{\n  \"content\": \"remember the milk\"\n}\n");
    upstream(&config, &["call", "odd/write"]).expect(0, "written\n");
    let json = upstream(&config, &["call", "fs/read_text_file", r#"{"path": "notes.md"}"#, "--json"]).json();
    assert_eq!((&json["ok"], &json["value_kind"]), (&json!(true), &json!("json")));
    assert_eq!(json["value"]["content"], "remember the milk");
    assert_eq!(json["upstream_calls"][0]["tool"], "read_text_file");
}

fn failures_have_a_reason_and_no_program() {
    let config = mixed("failures");
    for (args, told) in [
        (&["fs/read_text_file", r#"{"path": "no"}"#][..], "error: tool_error: cannot read it: No such file"),
        (
            &["fs/read_text_file"],
            "error: runtime_error: tool 'fs.read_text_file' rejected args: missing required args path\n hint: it takes {:path string}\n",
        ),
        (
            &["fs/read_text_file", r#"{"path": 3}"#],
            "error: runtime_error: tool 'fs.read_text_file' rejected args: ",
        ),
        (
            &["fs/reed_text_file"],
            "error: runtime_error: no tool 'reed_text_file' in upstream 'fs'\n hint: it has: read_text_file, list_directory\n",
        ),
        (
            &["sf/x"],
            "error: runtime_error: no upstream 'sf' configured\n hint: configured servers: fs, gone, odd\n",
        ),
        (
            &["odd/refuse"],
            "error: upstream_error: upstream 'odd': the server answered with error -32602: no: ",
        ),
        (
            &["odd/die"],
            "error: upstream_unavailable: upstream 'odd': its process has ended (exit status: 3); its last \
             line on stderr: dying of ",
        ),
        (
            &["odd/wait", r#"{"ms": 60000}"#, "--upstream-call-timeout-ms", "100"],
            "error: timeout: upstream 'odd' did not answer within ",
        ),
        (
            &["fs/read_text_file", r#"{"path": "notes.md"}"#, "--max-upstream-response-bytes", "100B"],
            "error: response_too_large: ",
        ),
    ] {
        let ran = upstream(&config, &[&["call"], args].concat());
        assert!(ran.code == 1 && ran.out.is_empty() && ran.err.starts_with(told), "{args:?}: {ran:?}");
        assert!(!ran.err.contains("data/args"), "{ran:?}");
    }
    for (args, told) in [
        (&["fs"][..], "error: `fs` is not a tool; write SERVER/TOOL\n"),
        (
            &["fs/read_text_file", "[1]"],
            "error: the arguments must be a JSON object, such as '{\"path\": \"a\"}'\n",
        ),
        (
            &["fs/read_text_file", "{"],
            "error: the arguments must be a JSON object, such as '{\"path\": \"a\"}'\n",
        ),
    ] {
        assert_eq!(upstream(&config, &[&["call"], args].concat()).expect(2, "").err, told);
    }
    let json = upstream(&config, &["call", "odd/fail", "--json"]).json();
    assert_eq!((&json["ok"], &json["reason"]), (&json!(false), &json!("tool_error")));
    assert_eq!(json["upstream_calls"][0]["status"], "error");
}

fn the_configuration_is_found_and_checked() {
    let ran = ptc(&["upstream", "list"]);
    assert_eq!(
        ran.expect(2, "").err,
        "error: no configuration of upstream servers was found\n hint: name one with --upstreams-config \
         FILE, or write ~/.config/ptc/upstreams.json\n"
    );
    let named = |name: &str, upstreams| config(&format!("checked/{name}"), upstreams);
    let (mut misspelt, mut unset) = (entry("--server"), entry("--server"));
    misspelt["comand"] = misspelt["command"].take();
    unset["env"] = json!({"KEY": "${NOBODY_SETS_THIS}"});
    let own = json!({"transport": "mcp_stdio", "command": env!("CARGO_BIN_EXE_ptc")});
    for (config, told) in [
        ("no/such.json".to_string(), "cannot read the upstreams file no/such.json: No such file"),
        (file("checked/text.json", "upstreams:"), "the upstreams file is not valid JSON"),
        (
            named("misspelt", json!({"fs": misspelt})),
            "upstream 'fs': `comand` is not a known field here; did you mean `command`?",
        ),
        (
            named("stdio", json!({"fs": {"transport": "stdio"}})),
            "upstream 'fs': `transport` 'stdio' must be written 'mcp_stdio'",
        ),
        (
            named("unset", json!({"fs": unset})),
            "upstream 'fs': `env.KEY` needs the variable NOBODY_SETS_THIS, which is not set",
        ),
        (named("own", json!({"me": own})), "is this program, which would call itself forever"),
        (
            named("plain", json!({"web": {"transport": "mcp_http", "url": "http://example.org/"}})),
            "upstream 'web': `url` uses http:// without allow_insecure_http",
        ),
    ] {
        for command in [&["upstream", "list"][..], &["eval", "-e", "1"], &["repl", "-e", "1"]] {
            let ran = ptc(&[command, &["--upstreams-config", &config]].concat());
            assert!(ran.code == 2 && ran.out.is_empty(), "{ran:?}");
            assert!(ran.err.starts_with("error: ") && ran.err.contains(told), "{told}: {ran:?}");
            assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
        }
    }
    // A variable, and a file where it is looked for.
    let mut by_variable = crate::command(&["upstream", "list"]);
    by_variable.env("PTC_UPSTREAMS", good("by-variable"));
    assert_eq!(crate::finish(by_variable, b"").code, 0);
    let found = good("home/ptc/upstreams");
    let home = std::path::Path::new(&found).parent().and_then(|path| path.parent()).expect("a folder");
    let mut by_place = crate::command(&["upstream", "list"]);
    by_place.env("XDG_CONFIG_HOME", home);
    assert_eq!(crate::finish(by_place, b"").code, 0);
    // Programs get no server that nobody named.
    let mut unnamed = crate::command(&["eval", "-e", "(tool/servers)"]);
    unnamed.env("XDG_CONFIG_HOME", home);
    let ran = crate::finish(unnamed, b"");
    assert!(
        ran.code == 1 && ran.err.contains("hint: name their configuration with `--upstreams-config FILE`"),
        "{ran:?}"
    );
}

fn import_makes_a_configuration() {
    let mut theirs = entry("--server");
    let theirs = json!({"mcpServers": {
        "fs": {"command": theirs["command"].take(), "args": theirs["args"].take(), "env": {"TOKEN": crate::TOKEN}},
        "old": {"type": "sse", "url": "https://example.org/sse"},
    }});
    let theirs = file("import/claude.json", theirs.to_string());
    let ran = ptc(&["upstream", "import", &theirs]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err.contains("note: ") && ran.err.contains("set TOKEN") && ran.err.contains("older SSE"),
        "{ran:?}"
    );
    for form in crate::fixture::forms(crate::TOKEN) {
        assert!(!ran.out.contains(&form) && !ran.err.contains(&form), "{ran:?}");
    }
    // What comes out can be used as it is.
    let ours = file("import/ours.json", &ran.out);
    let mut list = crate::command(&["upstream", "list", "--upstreams-config", &ours]);
    list.env("TOKEN", "x");
    assert!(crate::finish(list, b"").out.starts_with("fs  mcp_stdio  2 tools"));
    let text = std::fs::read(&theirs).expect("a file");
    assert_eq!(ptc_with(&["upstream", "import", "-"], &text).out, ran.out);
    for (text, told) in [
        ("{}".to_string(), "mcpServers"),
        ("{".to_string(), "is not valid JSON"),
        // The line that is wrong may hold what nobody should see.
        (format!("a = 1\ntoken = '{}", crate::TOKEN), "is neither JSON nor TOML: line 2: "),
    ] {
        let bad = file("import/bad.json", text);
        let ran = ptc(&["upstream", "import", &bad]);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(&bad), "{ran:?}");
        assert!(ran.err.contains(told) && ran.err.lines().count() == 1, "{told}: {ran:?}");
        assert!(!ran.err.contains(crate::TOKEN), "{ran:?}");
    }
    assert!(ptc(&["upstream", "import", "no/such"]).err.starts_with("error: cannot read no/such"));
}

fn changed_tools_are_shown_and_approved() {
    let told = "error: ";
    let ran = upstream(&good("unpinned"), &["pin"]);
    assert!(
        ran.code == 2 && ran.err.starts_with(told) && ran.err.contains("names no file of pins"),
        "{ran:?}"
    );
    assert!(ran.err.contains("add \"pins\": \"pins.json\" beside \"upstreams\""), "{ran:?}");

    let folder = tempfile::tempdir().expect("a folder");
    let pins = folder.path().join("pins.json");
    let servers = json!({"pins": pins, "upstreams": {"fs": entry("--server")}});
    let config = file("pinned.json", servers.to_string());
    // Before the first approval, nothing is used.
    let ran = upstream(&config, &["list"]);
    assert!(ran.code == 2 && ran.err.contains("pins.json"), "{ran:?}");
    let ran = upstream(&config, &["pin"]);
    assert!(
        ran.code == 1 && ran.out.contains("fs/read_text_file: new\n  + description: Read a text file\n"),
        "{ran:?}"
    );
    assert!(
        ran.out.ends_with("Nothing is approved yet: `ptc upstream pin --approve` does that.\n")
            && !pins.exists(),
        "{ran:?}"
    );
    let ran = upstream(&config, &["pin", "--approve"]);
    assert!(ran.code == 0 && ran.out.contains("Approved 2 tools in "), "{ran:?}");
    upstream(&config, &["pin"]).expect(0, "No tool has changed.\n");
    assert!(upstream(&config, &["list"]).out.contains("fs  mcp_stdio  2 tools"));

    // As if the server had changed since.
    let mut approved: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&pins).expect("pins")).expect("JSON");
    approved["servers"]["fs"].as_object_mut().expect("tools").remove("list_directory");
    std::fs::write(&pins, approved.to_string()).expect("pins");
    let ran = upstream(&config, &["call", "fs/list_directory"]);
    assert!(ran.code == 1 && ran.err.starts_with("error: approval_denied: "), "{ran:?}");
    assert!(ran.err.contains("is new and nobody has approved it; `ptc upstream pin fs` shows it"), "{ran:?}");
    let json = upstream(&config, &["pin", "fs", "--json"]).json();
    assert_eq!((&json["approved"], &json["changes"][0]["tool"]), (&json!(false), &json!("list_directory")));
}
