//! `ptc mcp`, `ptc mcp install` and `ptc doctor`, as somebody types them.

use crate::process::finish;
use crate::serving::Server;
use crate::{Ran, file, ptc};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own that stands for the home of a user.
fn home(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("homes").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// `ptc` for the user who lives there.
fn at_home(home: &Path, args: &[&str]) -> Ran {
    finish(command(home, args), b"")
}

fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command.args(args).current_dir(home).env("HOME", home).env("XDG_CONFIG_HOME", home.join(".config"));
    command
}

fn start(home: &Path, flags: &[&str]) -> Server {
    Server::start(command(home, &[&["mcp"], flags].concat()))
}

#[test]
fn doctor_tells_of_empty_variables() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command.arg("doctor").env("PTC_MCP_TRUSTED", "").env("PTC_MCP_PRELUDE", " ");
    let ran = finish(command, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "PTC_MCP_TRUSTED is set and empty, which counts as not set: preludes need no signature\n",
        "PTC_MCP_PRELUDE is set and empty, which counts as not set\n",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn a_client_is_served_until_it_hangs_up() {
    let mut server = start(&home("served"), &["--response-profile=structured"]);
    let args = json!({"program": "(map inc data/ns)", "context": {"ns": [1, 2]}, "output_schema": {"type": "array", "items": {"type": "integer"}}});
    assert_eq!(server.call("lisp_eval", args)["structuredContent"]["validated"], json!([2, 3]));
    assert_eq!(server.hang_up(), (Some(0), String::new()));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_order() {
    let mut server = start(&home("signal"), &[]);
    server.call("lisp_eval", json!({"program": "1"}));
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    // The input is still open: it is the signal that ends it.
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn definitions_outlive_the_server_in_a_folder() {
    let home = home("kept");
    let flags = ["--sessions", "--session-dir", "kept"];
    let mut server = start(&home, &flags);
    let started = server.call("lisp_session_start", json!({}));
    let id = &started["structuredContent"]["session_id"];
    server.call("lisp_session_eval", json!({"session_id": id, "program": "(defn twice [n] (* 2 n))"}));
    server.hang_up();
    let mut again = start(&home, &flags);
    let answer = again.call("lisp_session_eval", json!({"session_id": id, "program": "(twice 21)"}));
    assert!(answer["content"][0]["text"].as_str().unwrap().starts_with("user=> 42"), "{answer}");
}

#[test]
fn a_prelude_is_there_for_every_program() {
    let prelude = file("mcp/shop.clj", "(ns shop)\n(defn gross [net] (* net 1.19))\n");
    let mut server = start(&home("prelude"), &["--prelude", &prelude]);
    let answer = server.call("lisp_eval", json!({"program": "(shop/gross 100)"}));
    assert_eq!(answer["content"][0]["text"], "user=> 119.0");
}

#[test]
fn several_preludes_stand_beside_each_other() {
    let home = home("preludes");
    let shop = file("mcp/several/shop.clj", "(ns shop)\n(def rate 19)\n");
    let crm = file("mcp/several/crm.clj", "(ns crm)\n(def size 50)\n");
    assert_eq!(at_home(&home, &["build", &shop, "-o", "dist"]).code, 0);
    let flags = ["--prelude", "dist/shop.ptcp", "--prelude", &crm, "--prelude", "ptc:paged"];
    let mut server = start(&home, &flags);
    let answer = server.call("lisp_eval", json!({"program": "[shop/rate crm/size]"}));
    assert_eq!(answer["content"][0]["text"], "user=> [19 50]");
    server.hang_up();
    let ran = at_home(&home, &["mcp", "--prelude", "dist/shop.ptcp", "--prelude", &shop]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains(&format!("both `dist/shop.ptcp` and `{shop}` declare it")), "{ran:?}");
}

#[test]
fn a_store_begins_with_a_source_a_folder_of_sources_or_a_store() {
    let home = home("seeded");
    let shop = file("mcp/seeds/shop.clj", "(ns shop)\n(def rate 19)\n");
    file("mcp/seeds/crm.clj", "(ns crm)\n(def size 50)\n");
    let folder = Path::new(&shop).parent().unwrap().display().to_string();
    assert_eq!(at_home(&home, &["store", "write", "made", &shop]).code, 0);
    for (seed, ids) in [(&*shop, vec!["shop"]), (&folder, vec!["crm", "shop"]), ("made", vec!["shop"])] {
        let mut server = start(&home, &["--sessions", "--prelude-store-seed", seed]);
        let listed = server.call("lisp_session_list_preludes", json!({}));
        let rows = listed["structuredContent"]["preludes"].as_array().expect("a list").clone();
        let found: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
        assert_eq!(found, ids, "{listed}");
        let started = server.call("lisp_session_start", json!({"preludes": ["shop"]}));
        let id = &started["structuredContent"]["session_id"];
        let answer = server.call("lisp_session_eval", json!({"session_id": id, "program": "shop/rate"}));
        assert!(answer["content"][0]["text"].as_str().unwrap().starts_with("user=> 19"), "{answer}");
        server.hang_up();
    }
    // The folder of the sources stays as it was.
    assert!(!Path::new(&folder).join("refs.jsonl").exists());
    file("mcp/doubtful/two.clj", "(ns a)\n(ns b)\n");
    let doubtful = Path::new(&folder).with_file_name("doubtful").display().to_string();
    for (seed, told) in
        [("nowhere", "nowhere"), (&*doubtful, "exactly one namespace"), (".", "no .clj files")]
    {
        let ran = at_home(&home, &["mcp", "--sessions", "--prelude-store-seed", seed]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains(told), "{ran:?}");
    }
}

#[test]
fn what_cannot_start_says_why() {
    let home = home("wrong");
    for (flags, told) in [
        (&["--max-sessions=0"][..], "must be a positive integer, got: \"0\""),
        (&["--http"], "--http needs --http-auth-token"),
        (&["--upstreams-config=nowhere.json"], "nowhere.json"),
        (&["--prelude=nowhere.clj"], "nowhere.clj"),
        (&["--sesions"], "a similar argument exists: '--sessions'"),
    ] {
        let ran = at_home(&home, &[&["mcp"], flags].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains(told), "{ran:?}");
    }
}

#[test]
fn settings_are_shown_with_where_they_come_from() {
    let token = "a token that is long enough to be one";
    let mut command =
        command(&home("config"), &["mcp", "--http", "--http-auth-token", token, "--print-config"]);
    command.env("PTC_MCP_MAX_SESSIONS", "7");
    let ran = finish(command, b"");
    assert!(ran.out.contains("max-sessions = 7  # PTC_MCP_MAX_SESSIONS\n"), "{ran:?}");
    assert!(ran.out.contains("http = true  # flag\n") && !ran.out.contains(token), "{ran:?}");
}

#[test]
fn settings_are_shown_without_the_secrets_in_addresses() {
    let address = "https://ann:s3cret@traces.example:4318/v1?api-key=s3cret&region=eu";
    let ran = finish(command(&home("secret"), &["mcp", "--otlp-endpoint", address, "--print-config"]), b"");
    let shown = "https://[REDACTED]@traces.example:4318/v1?api-key=[REDACTED]&region=eu";
    assert!(ran.out.contains(&format!("otlp-endpoint = {shown}  # flag\n")), "{ran:?}");
    assert!(!ran.out.contains("s3cret") && !ran.out.contains("ann:"), "{ran:?}");
}

#[test]
fn an_entry_is_printed_or_written_for_each_client() {
    let home = home("install");
    for (client, place, key) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
        ("claude-code", ".claude.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
        ("gemini", ".gemini/settings.json", "mcpServers"),
        ("zed", ".config/zed/settings.json", "context_servers"),
    ] {
        let install = ["mcp", "install", "--client", client, "--command", "ptc"];
        let printed = at_home(&home, &[&install[..], &["--", "--sessions"]].concat());
        let entry: Value = serde_json::from_str(&printed.out).unwrap();
        assert_eq!(entry[key]["ptc"]["args"], json!(["mcp", "--sessions"]));
        let has_type = matches!(client, "claude-code" | "vscode");
        assert_eq!(entry[key]["ptc"]["type"], if has_type { json!("stdio") } else { Value::Null });
        assert!(printed.err.contains(place) && !home.join(place).exists(), "{printed:?}");
        let write = |flag: &str| at_home(&home, &[&install[..], &[flag, "--", "--sessions"]].concat());
        let shown = write("--dry-run");
        assert!(shown.out.contains("+      \"command\": \"ptc\"") && !home.join(place).exists(), "{shown:?}");
        let written = write("--write");
        assert!(written.out.starts_with("wrote `ptc` to "), "{written:?}");
        let file = std::fs::read_to_string(home.join(place)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&file).unwrap(), entry);
        for flag in ["--write", "--dry-run"] {
            let again = write(flag);
            assert!(again.out.ends_with("already has this entry\n"), "{again:?}");
        }
    }
    let codex = at_home(&home, &["mcp", "install", "--client", "codex", "--command", "ptc", "--write"]);
    assert_eq!(codex.code, 0, "{codex:?}");
    let file = std::fs::read_to_string(home.join(".codex/config.toml")).unwrap();
    assert_eq!(file, "[mcp_servers.ptc]\ncommand = \"ptc\"\nargs = [\"mcp\"]\n");
    let claude = at_home(&home, &["mcp", "install", "--client", "claude"]);
    assert!(claude.code == 0 && claude.err.contains("claude_desktop_config.json"), "{claude:?}");
}

#[test]
fn an_entry_of_a_running_server_has_its_address_and_no_token() {
    let home = home("remote");
    let entry = |client: &str, more: &[&str]| {
        let install = ["mcp", "install", "--client", client, "--url", "https://ptc.example/mcp"];
        at_home(&home, &[&install[..], more].concat())
    };
    let token = ["--token-env", "PTC_TOKEN"];
    for (client, address, header) in [
        ("claude-code", "/mcpServers/ptc/url", "Bearer ${PTC_TOKEN}"),
        ("cursor", "/mcpServers/ptc/url", "Bearer ${env:PTC_TOKEN}"),
        ("vscode", "/servers/ptc/url", "Bearer ${input:ptc-token}"),
        ("windsurf", "/mcpServers/ptc/serverUrl", "Bearer ${env:PTC_TOKEN}"),
        ("gemini", "/mcpServers/ptc/httpUrl", "Bearer ${PTC_TOKEN}"),
    ] {
        let printed = entry(client, &token);
        let file: Value = serde_json::from_str(&printed.out).unwrap_or_else(|_| panic!("{printed:?}"));
        assert_eq!(file.pointer(address), Some(&json!("https://ptc.example/mcp")), "{printed:?}");
        let place = address.rsplit_once('/').unwrap().0;
        assert_eq!(
            file.pointer(&format!("{place}/headers/Authorization")),
            Some(&json!(header)),
            "{printed:?}"
        );
        assert!(file.pointer(&format!("{place}/command")).is_none());
    }
    assert_eq!(
        serde_json::from_str::<Value>(&entry("vscode", &token).out).unwrap()["inputs"][0]["id"],
        "ptc-token"
    );
    let codex = entry("codex", &token);
    assert_eq!(
        codex.out,
        "[mcp_servers.ptc]\nurl = \"https://ptc.example/mcp\"\nbearer_token_env_var = \"PTC_TOKEN\"\n"
    );
    assert!(entry("zed", &[]).out.contains("\"url\": \"https://ptc.example/mcp\""));
    for (client, more, told) in [
        ("claude-desktop", &[][..], "takes no addresses"),
        ("zed", &token[..], "reads no variables"),
        ("cursor", &["--token-env", "not a name"], "a variable's name"),
        ("cursor", &["--", "--sessions"], "cannot be used with"),
    ] {
        let ran = entry(client, more);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(told), "{ran:?}");
    }
    for url in ["ptc.example/mcp", "ftp://x", "http://", "https://me:secret@x/mcp", "https://x/a b"] {
        let ran = at_home(&home, &["mcp", "install", "--client", "cursor", "--url", url]);
        assert!(ran.code == 2 && ran.err.contains("--url: ") && !ran.err.contains("secret"), "{ran:?}");
    }
}

#[test]
fn flags_of_an_entry_are_checked_and_their_paths_are_full() {
    let home = home("flags");
    std::fs::write(home.join("servers.json"), "{}").unwrap();
    std::fs::write(home.join("crm.clj"), "(ns crm)").unwrap();
    let install = |flags: &[&str]| {
        at_home(&home, &[&["mcp", "install", "--client", "cursor", "--command", "ptc", "--"], flags].concat())
    };
    let ran = install(&[
        "--upstreams-config",
        "servers.json",
        "--prelude=./crm.clj,ptc:paged",
        "--trace-dir=new/traces",
    ]);
    let entry: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let full = |name: &str| home.join(name).display().to_string();
    let wanted = json!([
        "mcp",
        "--upstreams-config",
        full("servers.json"),
        format!("--prelude={},ptc:paged", full("crm.clj")),
        format!("--trace-dir={}", full("new/traces")),
    ]);
    assert_eq!(entry["mcpServers"]["ptc"]["args"], wanted);
    for (flags, told) in [
        (&["--sesions"][..], "unknown flag --sesions; did you mean --sessions?"),
        (&["--max-sessions=none"], "must be a positive integer"),
        (&["--upstreams-config", "server.json"], "--upstreams-config: there is no "),
        (&["--http", "--http-disable-auth"], "use --url http://127.0.0.1:7332/mcp"),
    ] {
        let ran = install(flags);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(told), "{ran:?}");
    }
    let ran = at_home(&home, &["mcp", "install", "--client", "cursor", "--command", "./bin/ptc"]);
    assert!(ran.code == 2 && ran.err.contains("--command: there is no file "), "{ran:?}");
}

#[test]
fn what_else_a_file_has_stays_as_it_is() {
    let home = home("kept-file");
    let file = home.join(".claude.json");
    let old = "{\n  // mine\n  \"z\": 1,\n  \"mcpServers\": {\n    \"ptc\": {\"url\": \"http://x\", \"env\": {\"TOKEN\": \"t\"}}, // here\n    \"fs\": {\"command\": \"npx\"}\n  },\n  \"a\": 2\n}\n";
    std::fs::write(&file, old).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let install =
        |flag: &str| at_home(&home, &["mcp", "install", "--client", "claude-code", "--command", "ptc", flag]);
    let shown = install("--dry-run");
    assert!(shown.out.contains("-    \"ptc\": {\"url\"") && shown.out.contains("\n+"), "{shown:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), old);
    assert_eq!(install("--write").code, 0);
    let new = std::fs::read_to_string(&file).unwrap();
    for kept in [
        "  // mine\n  \"z\": 1,\n",
        "// here\n    \"fs\": {\"command\": \"npx\"}\n  },\n  \"a\": 2\n}\n",
        "\"env\": {\"TOKEN\": \"t\"}",
    ] {
        assert!(new.contains(kept), "{kept}: {new}");
    }
    assert!(new.contains("\"command\": \"ptc\"") && !new.contains("http://x"), "{new}");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap()) & 0o777, 0o600);
}

#[test]
fn a_file_that_cannot_be_read_is_left_as_it_is() {
    let home = home("unreadable");
    std::fs::create_dir(home.join(".cursor")).unwrap();
    std::fs::write(home.join(".cursor/mcp.json"), "{ \"mcpServers\": \n}").unwrap();
    let ran = at_home(&home, &["mcp", "install", "--client", "cursor", "--write"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("this is not JSON") && ran.err.contains("nothing was changed"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(home.join(".cursor/mcp.json")).unwrap(), "{ \"mcpServers\": \n}");
}

#[cfg(unix)]
#[test]
fn a_hang_up_does_not_end_it() {
    let mut server = start(&home("hang-up"), &[]);
    server.call("lisp_eval", json!({"program": "1"}));
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    let answer = server.call("lisp_eval", json!({"program": "(+ 1 2)"}));
    assert_eq!(answer["content"][0]["text"], "user=> 3");
    assert_eq!(server.hang_up().0, Some(0));
}

#[test]
fn settings_in_force_are_shown_where_nothing_is_set() {
    let home = home("force");
    let servers = home.join(".config/ptc/upstreams.json");
    let shown = |name: &str| {
        let ran = at_home(&home, &["mcp", "--print-config"]);
        let line = ran.out.lines().find(|line| line.starts_with(&format!("{name} = "))).map(str::to_string);
        line.unwrap_or_else(|| panic!("{ran:?}"))
    };
    assert_eq!(shown("program-timeout-ms"), "program-timeout-ms = 1000  # default");
    assert_eq!(shown("response-profile"), "response-profile = slim  # default");
    std::fs::create_dir_all(servers.parent().unwrap()).unwrap();
    std::fs::write(&servers, "{\"upstreams\": {}}").unwrap();
    assert_eq!(shown("upstreams-config"), format!("upstreams-config = {}  # default", servers.display()));
    assert_eq!(shown("program-timeout-ms"), "program-timeout-ms = 10000  # default");
}

#[test]
fn the_doctor_says_what_is_in_the_way() {
    let home = home("doctor");
    let well = at_home(&home, &["doctor", "--sessions"]);
    assert_eq!(well.code, 0, "{well:?}");
    assert!(well.out.contains("ok    server: it can start, with 0 upstream servers\n"), "{well:?}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ill = at_home(
        &home,
        &[
            "doctor",
            "--http",
            "--http-disable-auth",
            "--http-port",
            &port,
            "--upstreams-config=none.json",
            "--json",
        ],
    );
    let told = ill.json();
    assert_eq!((ill.code, &told["ok"]), (1, &json!(false)));
    let wrong: Vec<&Value> = told["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["ok"] == false)
        .map(|check| &check["check"])
        .collect();
    assert_eq!(wrong, ["server", "port"]);
    assert_eq!(ptc(&["doctor", "--max-sessions=x"]).code, 1);
}
