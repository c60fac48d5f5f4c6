//! Conversion of other clients' files, without their secrets.
#![allow(missing_docs)]

use ptc_upstream::import::{Imported, import};
use serde_json::{Value, json};

/// Converts a file and asserts that none of its secrets appears in the result.
fn imported(text: &str) -> Imported {
    let imported = import(text).unwrap();
    assert!(!format!("{imported:?}").contains("canary"), "{imported:?}");
    imported
}

fn told(imported: &Imported, wanted: &str) {
    assert!(imported.notes.iter().any(|note| note.contains(wanted)), "{wanted}: {:?}", imported.notes);
}

#[test]
fn claude_cursor_and_windsurf() {
    let text = json!({"mcpServers": {
        "fs": {"command": "npx", "args": ["-y", "server-filesystem", "."], "env": {"LOG": "a$b", "API_KEY": "canary-1"}},
        "my server!": {"command": "x", "env": {"TOKEN": "${GITHUB_TOKEN}", "OTHER": "$HOME_DIR"}},
        "off": {"command": "y", "disabled": true},
        "remote": {"url": "https://mcp.example.org/", "headers": {"Authorization": "Bearer canary-2", "X-Team": "a"}},
        "old": {"type": "sse", "url": "https://example.org/sse"},
        "nothing": {},
    }});
    let imported = imported(&text.to_string());
    let upstreams = &imported.config["upstreams"];
    assert_eq!(
        upstreams["fs"],
        json!({"transport": "mcp_stdio", "command": "npx", "args": ["-y", "server-filesystem", "."],
            "env": {"LOG": "a$$b", "API_KEY": "${API_KEY}"}})
    );
    assert_eq!(upstreams["my-server-"]["env"], json!({"TOKEN": "${GITHUB_TOKEN}", "OTHER": "${HOME_DIR}"}));
    assert_eq!(
        upstreams["remote"],
        json!({"transport": "mcp_http", "url": "https://mcp.example.org/",
            "auth": [{"scheme": "bearer", "binding": "remote-token"}], "static_headers": {"X-Team": "a"}})
    );
    assert_eq!(
        imported.config["credentials"]["remote-token"],
        json!({"source": "env", "var": "REMOTE_TOKEN"})
    );
    assert_eq!(upstreams.as_object().unwrap().len(), 3);
    for wanted in [
        "set API_KEY",
        "was renamed to `my-server-`",
        "`off` is disabled",
        "set REMOTE_TOKEN",
        "older SSE",
        "neither",
    ] {
        told(&imported, wanted);
    }
}

#[test]
fn vs_code() {
    let text = json!({"inputs": [{"id": "gh-token", "type": "promptString"}], "servers": {
        "gh": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"X-Api-Key": "${input:gh-token}"}},
        "local": {"type": "stdio", "command": "${workspaceFolder}/run"},
        "env": {"type": "stdio", "command": "run", "env": {"PLACE": "${workspaceFolder}/x", "E": "${env:EDITOR}"}},
    }});
    let imported = imported(&text.to_string());
    let upstreams = &imported.config["upstreams"];
    assert_eq!(upstreams["gh"]["auth"][0]["header"], "X-Api-Key");
    assert_eq!(imported.config["credentials"]["gh-x-api-key"]["var"], "GH_TOKEN");
    assert_eq!(upstreams["env"]["env"], json!({"PLACE": "${PLACE}", "E": "${EDITOR}"}));
    assert!(upstreams.get("local").is_none());
    told(&imported, "only its client can fill in");
    told(&imported, "allow_insecure_auth");
}

#[test]
fn codex() {
    let text = r#"
        model = "x"
        [mcp_servers.docs]
        command = "docs-mcp"
        args = ["--api-key", "k"]
        cwd = "work"
        [mcp_servers.docs.env]
        N = 3
        [mcp_servers.figma]
        url = "https://mcp.figma.example/mcp"
        bearer_token_env_var = "FIGMA_TOKEN"
        http_headers = { "X-Region" = "eu" }
        [mcp_servers.gone]
        command = "x"
        enabled = false
    "#;
    let imported = imported(text);
    let upstreams = &imported.config["upstreams"];
    assert_eq!((&upstreams["docs"]["cd"], &upstreams["docs"]["env"]["N"]), (&json!("work"), &json!("3")));
    assert_eq!(upstreams["figma"]["static_headers"], json!({"X-Region": "eu"}));
    assert_eq!(imported.config["credentials"]["figma-token"]["var"], "FIGMA_TOKEN");
    told(&imported, "may have a secret among its arguments");
    told(&imported, "`gone` is disabled");
}

#[test]
fn names_stay_apart_and_wrong_files_are_told() {
    let text =
        json!({"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "y"}, "!": {"command": "z"}}});
    let imported = imported(&text.to_string());
    let names: Vec<&String> = imported.config["upstreams"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a-b", "a-b-2", "server"]);
    let error = |text: &str| import(text).unwrap_err();
    assert!(error("{").contains("not valid JSON"));
    assert!(error("x = [").contains("neither JSON nor TOML"));
    assert!(error("{}").contains("`mcpServers`"));
    assert!(error(r#"{"servers": []}"#).contains("with the name of each server"));
    assert!(error(r#"{"servers": {"a": 1}}"#).contains("the server `a` must be an object"));
}

#[test]
fn what_is_written_is_read_again() {
    let text = json!({"mcpServers": {
        "a": {"command": "sh", "env": {"SECRET_KEY": "canary"}},
        "b": {"url": "https://example.org/mcp", "headers": {"X-Api-Key": "canary", "X-Plain": "1"}},
    }});
    let config: Value = imported(&text.to_string()).config;
    let around = ptc_upstream::config::Surroundings::of([
        ("PATH", "/usr/bin:/bin"),
        ("SECRET_KEY", "one"),
        ("B_X_API_KEY", "two-two"),
    ]);
    let read = ptc_upstream::config::Config::parse(&config.to_string(), std::path::Path::new("."), &around);
    assert!(read.is_ok(), "{:?}", read.err());
}
