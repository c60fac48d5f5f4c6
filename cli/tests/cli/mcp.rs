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
    command.arg("doctor").env("PTC_RUNNER_MCP_TRUSTED", "").env("PTC_RUNNER_MCP_PRELUDE", " ");
    let ran = finish(command, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "PTC_RUNNER_MCP_TRUSTED is set and empty, which counts as not set: preludes need no signature\n",
        "PTC_RUNNER_MCP_PRELUDE is set and empty, which counts as not set\n",
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
    command.env("PTC_RUNNER_MCP_MAX_SESSIONS", "7");
    let ran = finish(command, b"");
    assert!(ran.out.contains("max-sessions = 7  # PTC_RUNNER_MCP_MAX_SESSIONS\n"), "{ran:?}");
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
    for (client, place, key) in
        [("cursor", ".cursor/mcp.json", "mcpServers"), ("vscode", ".vscode/mcp.json", "servers")]
    {
        let install = ["mcp", "install", "--client", client, "--command", "ptc"];
        let printed = at_home(&home, &[&install[..], &["--", "--sessions"]].concat());
        let entry: Value = serde_json::from_str(&printed.out).unwrap();
        assert_eq!(entry[key]["ptc"]["args"], json!(["mcp", "--sessions"]));
        assert!(printed.err.contains(place) && !home.join(place).exists(), "{printed:?}");
        let written = at_home(&home, &[&install[..], &["--write", "--", "--sessions"]].concat());
        assert!(written.out.starts_with("wrote `ptc` to "), "{written:?}");
        let file = std::fs::read_to_string(home.join(place)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&file).unwrap(), entry);
        let again = at_home(&home, &[&install[..], &["--write", "--", "--sessions"]].concat());
        assert!(again.out.ends_with("already has this entry\n"), "{again:?}");
    }
    let codex = at_home(&home, &["mcp", "install", "--client", "codex", "--command", "ptc", "--write"]);
    assert_eq!(codex.code, 0, "{codex:?}");
    let file = std::fs::read_to_string(home.join(".codex/config.toml")).unwrap();
    assert_eq!(file, "[mcp_servers.ptc]\ncommand = \"ptc\"\nargs = [\"mcp\"]\n");
}

#[test]
fn a_file_that_cannot_be_read_is_left_as_it_is() {
    let home = home("unreadable");
    std::fs::create_dir(home.join(".cursor")).unwrap();
    std::fs::write(home.join(".cursor/mcp.json"), "{ // mine\n}").unwrap();
    let ran = at_home(&home, &["mcp", "install", "--client", "cursor", "--write"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("nothing was changed"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(home.join(".cursor/mcp.json")).unwrap(), "{ // mine\n}");
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
