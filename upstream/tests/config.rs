//! Rules of the configuration, each with a file that breaks it.
#![cfg(feature = "http")]

use ptc_upstream::config::{Config, Connect, Surroundings, Transport, find};
use ptc_upstream::redact::Redactor;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Secret value that must never appear.
const CANARY: &str = "canary-9f31";

fn around() -> Surroundings {
    Surroundings::of([("PATH", "/usr/bin:/bin"), ("TOKEN", CANARY), ("HOME", "/users/ada"), ("EMPTY", "")])
}

fn parse(config: &Value) -> Result<Config, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    Config::parse(&config.to_string(), dir, &around()).map_err(|error| error.to_string())
}

fn resolve(config: &Value) -> Result<std::collections::BTreeMap<String, Connect>, String> {
    let config = parse(config)?;
    config.resolve(&around(), &Arc::default(), &mut Vec::new()).map_err(|error| error.to_string())
}

/// Builds a file with one server.
fn server(fields: Value) -> Value {
    json!({"upstreams": {"s": fields}})
}

/// Builds a file with one HTTP server with additional fields.
fn http(more: Value) -> Value {
    let mut fields = json!({"transport": "mcp_http", "url": "https://x.example/mcp"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"credentials": {"pat": {"source": "env", "var": "TOKEN"}}, "upstreams": {"s": fields}})
}

fn stdio(more: Value) -> Value {
    let mut fields = json!({"transport": "mcp_stdio", "command": "sh"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server(fields)
}

fn openapi(more: Value) -> Value {
    let mut fields = json!({
        "transport": "openapi", "base_url": "https://x.example", "schema_file": "Cargo.toml",
        "include_operations": ["list"],
    });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server(fields)
}

/// Asserts that reading or resolving fails with this text in the error, and without the canary.
#[track_caller]
fn refused(config: Value, wanted: &str) {
    let error = resolve(&config).expect_err(&format!("{config} is fine"));
    assert!(error.contains(wanted), "\n{config}\n{error}\nhas no: {wanted}");
    assert!(!error.contains(CANARY), "{error}");
}

#[test]
fn names_and_types_are_checked() {
    refused(json!([]), "the upstreams file: must be an object, but is a list");
    refused(json!({}), "the upstreams file: `upstreams` is required");
    refused(
        json!({"upstreams": {}, "credental": {}}),
        "`credental` is not a known field here; did you mean `credentials`?",
    );
    refused(
        json!({"mcpServers": {}}),
        "it is a field of a client's configuration, which `ptc upstream import` converts",
    );
    refused(json!({"upstreams": []}), "`upstreams` must be an object, but is a list");
    for name in ["", "a/b", "-a", "a b", "é", &"x".repeat(65)] {
        refused(
            json!({"upstreams": {name: {"transport": "mcp_stdio", "command": "sh"}}}),
            "needs another name",
        );
    }
    refused(server(json!(CANARY)), "upstream 's': must be an object, but is a string");
    refused(stdio(json!({"arg": []})), "upstream 's': `arg` is not a known field here; did you mean `args`?");
    refused(
        stdio(json!({"url": "https://x"})),
        "`url` is not a known field here; it is a field of the transport mcp_http",
    );
    refused(http(json!({"command": "sh"})), "it is a field of the transport mcp_stdio");
    refused(stdio(json!({"args": CANARY})), "`args` must be a list, but is a string");
    refused(stdio(json!({"args": [1]})), "`args[0]` must be a string, but is a number");
    refused(stdio(json!({"env": {"A": 1}})), "`env.A` must be a string, but is a number");
    refused(stdio(json!({"inherit_env": "yes"})), "`inherit_env` must be true or false, but is a string");
    refused(stdio(json!({"handshake_timeout_ms": "1"})), "`handshake_timeout_ms` must be a whole number");
    refused(stdio(json!({"handshake_timeout_ms": 0})), "must be a whole number from 1 to 3600000, got 0");
    refused(
        stdio(json!({"max_concurrency": 1.5})),
        "`max_concurrency` must be a whole number from 1 to 1024",
    );
    refused(stdio(json!({"max_response_bytes": -1})), "`max_response_bytes` must be a whole number");
    refused(stdio(json!({"approval": "sometimes"})), "`approval` must be never, writes or always");
    refused(stdio(json!({"tools": {"t": {"approval": 1}}})), "tools.t.approval");
    refused(stdio(json!({"effect": "reads"})), "`effect` must be read or write");
    refused(stdio(json!({"tools": {"t": {"effect": "none"}}})), "`tools.t.effect` must be read or write");
    refused(stdio(json!({"trust_annotations": "yes"})), "`trust_annotations` must be true or false");
    refused(openapi(json!({"trust_annotations": true})), "it is a field of the transport mcp_stdio");
    refused(stdio(json!({"raw_envelope": 1})), "`raw_envelope` must be true or false");
    refused(stdio(json!({"tools": {"t": {"raw": true}}})), "`tools.t.raw` is not a known field here");
    refused(stdio(json!({"description": 1})), "`description` must be a string");
    let twice = r#"{"upstreams": {"s": {"transport": "mcp_stdio", "command": "sh", "command": "ls"}}}"#;
    let error = Config::parse(twice, Path::new("."), &around()).unwrap_err().to_string();
    assert!(error.contains("the key `command` occurs twice"), "{error}");
    let broken = Config::parse("{\"upstreams\": {", Path::new("."), &around()).unwrap_err().to_string();
    assert!(broken.starts_with("the upstreams file is not valid JSON: EOF while parsing"), "{broken}");
}

#[test]
fn transports_are_checked() {
    refused(server(json!({"command": "sh"})), "`transport` is required");
    refused(server(json!({"transport": "stdio"})), "'stdio' must be written 'mcp_stdio'");
    refused(server(json!({"transport": "http"})), "'http' must be written 'mcp_http'");
    refused(server(json!({"transport": "fake"})), "must be mcp_stdio, mcp_http or openapi");
}

#[test]
fn commands_are_found_and_are_not_ourselves() {
    refused(server(json!({"transport": "mcp_stdio"})), "`command` is required");
    refused(stdio(json!({"command": "no-such-program-here"})), "'no-such-program-here' is not on PATH");
    refused(stdio(json!({"command": "/no/such"})), "'/no/such' is not a program");
    refused(stdio(json!({"command": "./sh"})), "must be an absolute path or the name of a program on PATH");
    refused(stdio(json!({"cd": "no-such-dir"})), "`cd` is not a directory");
    let Connect { transport: Transport::Stdio(settings), .. } =
        resolve(&stdio(json!({"cd": "src"}))).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    assert!(settings.command.is_absolute() && settings.cd.unwrap().ends_with("src"));
    assert!(!settings.inherit_env);
    assert_eq!((settings.max_concurrency, settings.max_response_bytes), (8, 2 << 20));
    assert_eq!(settings.handshake_timeout.as_millis(), 10_000);

    let own = std::env::current_exe().unwrap();
    let mut around = around();
    around.executable = Some(own.clone());
    let config = stdio(json!({"command": own})).to_string();
    let error = Config::parse(&config, Path::new("."), &around).unwrap_err().to_string();
    assert!(error.starts_with("upstream 's': `command`") && error.contains("is this program,"), "{error}");
}

#[test]
fn placeholders_are_filled_only_in_the_environment_of_children() {
    let config = stdio(json!({
        "args": ["${TOKEN}"], "env": {"A": "x${TOKEN}y", "B": "$${TOKEN} $TOKEN", "C": "${EMPTY}"},
    }));
    let Connect { transport: Transport::Stdio(settings), .. } =
        resolve(&config).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    let env: Vec<(&str, &str)> = settings.env.iter().map(|(key, value)| (&**key, value.expose())).collect();
    assert_eq!(env, [("A", "xcanary-9f31y"), ("B", "${TOKEN} $TOKEN"), ("C", "")]);
    assert_eq!(settings.args, ["${TOKEN}"]);
    assert!(!format!("{settings:?}").contains(CANARY));

    refused(
        stdio(json!({"env": {"KEY": "${NOT_THERE}"}})),
        "upstream 's': `env.KEY` needs the variable NOT_THERE",
    );
    refused(stdio(json!({"env": {"KEY": "${A"}})), "`env.KEY` has a `${` without its `}`");
    refused(
        stdio(json!({"env": {"KEY": "${A:-b}"}})),
        "`env.KEY` has a `${…}` without a valid variable name",
    );
    refused(stdio(json!({"env": {"A=B": "x"}})), "is not a valid variable name");

    // Variables are not expanded in other fields.
    let config =
        http(json!({"url": "https://x.example/${TOKEN}", "static_headers": {"X-Tenant": "${TOKEN}"}}));
    let Connect { transport: Transport::Http(settings), headers } =
        resolve(&config).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    assert!(!settings.url.as_str().contains(CANARY));
    assert_eq!(headers.emit()["x-tenant"], "${TOKEN}");
    let config = json!({
        "credentials": {"pat": {"source": "literal", "value": "${TOKEN}"}},
        "upstreams": {"s": {"transport": "mcp_http", "url": "https://x.example",
            "auth": [{"scheme": "bearer", "binding": "pat"}]}},
    });
    let Connect { transport: Transport::Http(_), headers } = resolve(&config).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    assert_eq!(headers.emit()["authorization"], "Bearer ${TOKEN}");
}

#[test]
fn addresses_are_https_unless_said_twice() {
    let url = |url: &str| http(json!({"url": url}));
    refused(server(json!({"transport": "mcp_http"})), "`url` is required");
    refused(url("x.example/mcp"), "is not an absolute URL");
    refused(url("ftp://x.example"), "other schemes are not supported");
    refused(url("http://x.example"), "upstream 's': `url` uses http:// without allow_insecure_http");
    refused(url(&format!("https://me:{CANARY}@x.example")), "must not contain a user or password");
    refused(url("https://x.example/#a"), "must not have a #fragment");
    let auth = json!([{"scheme": "bearer", "binding": "pat"}]);
    let insecure = |more: Value| {
        let mut fields = json!({"url": "http://x.example", "allow_insecure_http": true});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        http(fields)
    };
    refused(insecure(json!({"auth": auth})), "also needs allow_insecure_auth");
    assert!(resolve(&insecure(json!({}))).is_ok());
    assert!(resolve(&insecure(json!({"auth": auth, "allow_insecure_auth": true}))).is_ok());
    // The scheme of the address counts, not the flag.
    assert!(resolve(&http(json!({"auth": auth, "allow_insecure_http": true}))).is_ok());
}

#[test]
fn our_own_listener_is_no_server() {
    let mut around = around();
    around.listener = Some(("127.0.0.1".into(), 8080));
    let parse = |url: &str| {
        let config = http(json!({"url": url, "allow_insecure_http": true})).to_string();
        Config::parse(&config, Path::new("."), &around).map(drop).map_err(|error| error.to_string())
    };
    for own in ["http://127.0.0.1:8080/mcp", "http://localhost:8080", "http://[::1]:8080"] {
        assert!(parse(own).unwrap_err().contains("is the address of this server"), "{own}");
    }
    assert!(parse("http://127.0.0.1:8081/mcp").is_ok() && parse("http://x.example:8080").is_ok());
}

#[test]
fn credentials_come_from_three_sources() {
    let with = |credential: Value| {
        json!({"credentials": {"pat": credential}, "upstreams": {"s": {"transport": "mcp_http",
            "url": "https://x.example", "auth": [{"scheme": "bearer", "binding": "pat"}]}}})
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{CANARY}\n \n")).unwrap();
    for source in [
        json!({"source": "env", "var": "TOKEN", "scheme_hint": "bearer"}),
        json!({"source": "file", "path": file.path()}),
        json!({"source": "file", "path": file.path(), "reload": "on_401"}),
        json!({"source": "literal", "value": CANARY}),
    ] {
        let Connect { transport: Transport::Http(_), headers } =
            resolve(&with(source)).unwrap().remove("s").unwrap()
        else {
            panic!()
        };
        let headers = headers.emit();
        assert_eq!(headers["authorization"], format!("Bearer {CANARY}"));
        assert!(headers["authorization"].is_sensitive());
    }
    refused(with(json!({"source": "env", "var": "NOPE"})), "credential 'pat' env NOPE is not set");
    refused(with(json!({"source": "env", "var": "EMPTY"})), "credential 'pat' env EMPTY is not set");
    refused(with(json!({"source": "env"})), "credential 'pat': `var` is required");
    refused(with(json!({"source": "env", "var": "a b"})), "must be the name of a variable");
    refused(
        with(json!({"source": "file", "path": "/no/such"})),
        "credential 'pat' file /no/such: No such file",
    );
    std::fs::write(file.path(), "\n").unwrap();
    refused(with(json!({"source": "file", "path": file.path()})), "is empty");
    std::fs::write(file.path(), "x".repeat(20_000)).unwrap();
    refused(with(json!({"source": "file", "path": file.path()})), "a secret may have at most 16 KiB");
    refused(with(json!({"source": "exec", "command": "x"})), "'exec' is reserved");
    refused(with(json!({"source": "vault"})), "must be env, file or literal");
    refused(with(json!({"source": "literal", "value": ""})), "`value` must not be blank");
    refused(
        with(json!({"source": "literal", "value": CANARY, "var": "X"})),
        "`var` is not a known field here",
    );
    for bad in ["\r", "\n", "\0"] {
        let value = format!("{CANARY}{bad}x");
        refused(with(json!({"source": "literal", "value": value})), "has a line break or a NUL");
    }
    refused(with(json!({"source": "literal", "value": format!("{CANARY}\u{7}")})), "has control characters");
}

#[test]
fn emitters_are_checked() {
    let auth = |auth: Value| http(json!({"auth": auth}));
    let one = |emitter: Value| auth(json!([emitter]));
    refused(auth(json!({})), "`auth` must be a list");
    refused(
        one(json!({"scheme": "digest", "binding": "pat"})),
        "`auth[0].scheme` must be bearer, basic or custom_header",
    );
    refused(one(json!({"scheme": "bearer"})), "`auth[0].binding` is required");
    refused(
        one(json!({"scheme": "bearer", "binding": "pta"})),
        "references unknown credential binding 'pta'; did you mean 'pat'?",
    );
    refused(
        one(json!({"scheme": "bearer", "binding": "pat", "header": "X"})),
        "it is a field of the scheme custom_header",
    );
    refused(one(json!({"scheme": "custom_header", "binding": "pat"})), "`auth[0].header` is required");
    for (header, wanted) in [
        ("X Y", "is not a valid header name"),
        ("authorization", "use the scheme bearer or basic"),
        ("Proxy-Authorization", "must not be sent"),
        ("Cookie", "must not be sent"),
        ("Set-Cookie", "must not be sent"),
        ("MCP-Protocol-Version", "belongs to the protocol"),
        ("Mcp-Session-Id", "belongs to the protocol"),
        ("User-Agent", "belongs to the protocol"),
        ("Transfer-Encoding", "belongs to the connection"),
        ("Host", "belongs to the connection"),
    ] {
        refused(one(json!({"scheme": "custom_header", "binding": "pat", "header": header})), wanted);
    }
    let two = |a: Value, b: Value| auth(json!([a, b]));
    let bearer = json!({"scheme": "bearer", "binding": "pat"});
    refused(
        two(bearer.clone(), json!({"scheme": "basic", "binding": "pat"})),
        "`auth[1]` is the second entry that sends the header authorization",
    );
    let key = json!({"scheme": "api_key", "binding": "pat", "header": "X-Api-Key"});
    let Connect { transport: Transport::Http(_), headers } =
        resolve(&two(bearer, key)).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    assert_eq!(headers.emit()["x-api-key"], CANARY);
    assert_eq!(headers.emit()["authorization"], format!("Bearer {CANARY}"));
}

#[test]
fn basic_takes_a_pair_in_two_shapes() {
    let with = |value: &str| {
        json!({"credentials": {"b": {"source": "literal", "value": value}}, "upstreams": {"s": {
            "transport": "mcp_http", "url": "https://x.example", "auth": [{"scheme": "basic", "binding": "b"}]}}})
    };
    for value in ["ada:love:lace", r#"{"user": "ada", "pass": "love:lace"}"#] {
        let Connect { transport: Transport::Http(_), headers } =
            resolve(&with(value)).unwrap().remove("s").unwrap()
        else {
            panic!()
        };
        assert_eq!(headers.emit()["authorization"], "Basic YWRhOmxvdmU6bGFjZQ==");
    }
    for bad in [
        ":pass",
        "nothing",
        r#"{"user": "", "pass": "x"}"#,
        r#"{"user": "a"}"#,
        r#"{"user": 1, "pass": "x"}"#,
    ] {
        refused(with(bad), "of credential 'b' must be user:pass, or JSON");
    }
}

#[test]
fn static_headers_are_checked() {
    let with = |headers: Value| http(json!({"static_headers": headers}));
    for name in ["Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-API-Key"] {
        refused(with(json!({name: CANARY})), &format!("`static_headers.{name}` holds a secret"));
    }
    for name in ["MCP-Protocol-Version", "mcp-session-id", "User-Agent"] {
        refused(with(json!({name: "x"})), "belongs to the protocol");
    }
    refused(with(json!({"X-A": "1", "x-a": "2"})), "occurs twice, with different capitals");
    refused(with(json!({"X A": "1"})), "is not a valid header name");
    refused(with(json!({"X-A": 1})), "`static_headers.X-A` must be a string, but is a number");
    refused(with(json!([])), "`static_headers` must be an object");
    refused(with(json!({"X-A": "a\nb"})), "control characters");
    refused(
        http(
            json!({"static_headers": {"X-Key": "1"}, "auth": [{"scheme": "custom_header", "binding": "pat", "header": "x-key"}]}),
        ),
        "`static_headers.X-Key` is also sent by `auth`",
    );
    let config = with(json!({"X-MCP-Readonly": "true"}));
    let Connect { transport: Transport::Http(settings), headers } =
        resolve(&config).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    assert_eq!(headers.emit()["x-mcp-readonly"], "true");
    assert_eq!((settings.max_concurrency, settings.request_timeout.as_millis()), (16, 30_000));
    assert_eq!(settings.connect_timeout.as_millis(), 5_000);
}

#[test]
fn openapi_entries_are_checked() {
    refused(openapi(json!({"schema_file": null})), "`schema_file` or `schema_url` is required, but not both");
    refused(openapi(json!({"schema_url": "https://x.example/s"})), "but not both");
    refused(openapi(json!({"schema_file": "nowhere.json"})), "`schema_file` is not a file");
    refused(openapi(json!({"base_url": null})), "`base_url` is required");
    refused(
        openapi(json!({"base_url": "http://x.example"})),
        "`base_url` uses http:// without allow_insecure_http",
    );
    refused(openapi(json!({"base_url": "https://x.example/?a=b"})), "must not have a query");
    refused(
        openapi(json!({"schema_file": null, "schema_url": "http://x.example/s"})),
        "`schema_url` uses http://",
    );
    refused(openapi(json!({"include_operations": []})), "must list at least one operationId");
    for (more, wanted) in [
        (json!({"methods": []}), "`methods` must list at least one method"),
        (json!({"methods": ["fetch"]}), "`methods[0]` must be get, put, post"),
        (json!({"server_variables": {}}), "leave out `base_url`"),
        (json!({"rate": "many"}), "must be a number of calls per time, such as 10/s"),
        (json!({"call_timeout_ms": 0}), "`call_timeout_ms` must be a whole number"),
        (json!({"tools": {"t": {"rate": "1/week"}}}), "`tools.t.rate` must be a number of calls"),
        (json!({"allow": "get_*"}), "`allow` must be a list"),
        (json!({"enabled": "no"}), "`enabled` must be true or false"),
        (json!({"auth": [{"scheme": "query", "binding": "pat"}]}), "`auth[0].parameter` is required"),
        (
            json!({"auth": [{"scheme": "cookie", "cookie": "a b", "binding": "pat"}]}),
            "is not a valid cookie name",
        ),
        (
            json!({"auth": [{"scheme": "digest", "binding": "pat"}]}),
            "must be bearer, basic, custom_header, query, cookie",
        ),
    ] {
        refused(openapi(more), wanted);
    }
    refused(
        http(json!({"auth": [{"scheme": "query", "binding": "pat"}]})),
        "query is only for the transport openapi",
    );
    refused(openapi(json!({"include_operations": [" "]})), "`include_operations[0]` must not be blank");
    refused(openapi(json!({"operation_overrides": {"lst": {}}})), "did you mean `list`?");
    refused(
        openapi(json!({"operation_overrides": {"list": {"nam": "x"}}})),
        "`operation_overrides.list.nam` is not a known field here; did you mean `name`?",
    );
    refused(openapi(json!({"operation_overrides": {"list": {"default_args": 1}}})), "must be an object");
    refused(openapi(json!({"raw_envelope": true})), "it is a field of the transport mcp_stdio");
    refused(openapi(json!({"handshake_timeout_ms": 1})), "is not a known field here");
    let Connect { transport: Transport::OpenApi(settings), headers: _ } =
        resolve(&openapi(json!({}))).unwrap().remove("s").unwrap()
    else {
        panic!()
    };
    assert_eq!(settings.schema_max_bytes, 2 << 20);
}

#[test]
fn raw_envelopes_are_decided_by_the_nearest() {
    let config = parse(&json!({"raw_envelope": true, "upstreams": {
        "a": {"transport": "mcp_stdio", "command": "sh", "raw_envelope": false, "tools": {"t": {"raw_envelope": true}}},
        "b": {"transport": "mcp_stdio", "command": "sh"},
    }}))
    .unwrap();
    assert!(config.has_raw_envelope("a", "t") && !config.has_raw_envelope("a", "u"));
    assert!(config.has_raw_envelope("b", "t") && !config.has_raw_envelope("none", "t"));
}

#[test]
fn secrets_are_known_to_the_redactor_before_anything_starts() {
    let redactor = Arc::new(Redactor::new());
    let mut warnings = Vec::new();
    let config = parse(&json!({
        "credentials": {"short": {"source": "literal", "value": "abc"}},
        "upstreams": {"s": {"transport": "mcp_stdio", "command": "sh",
            "env": {"A": "${TOKEN}", "API_KEY": "written-out", "WHERE": "${HOME}/x"}}},
    }));
    config.unwrap().resolve(&around(), &redactor, &mut warnings).unwrap();
    assert_eq!(redactor.scrub("canary-9f31 written-out /users/ada/x"), "[REDACTED] [REDACTED] /users/ada/x");
    assert_eq!(warnings, ["credential 'short' is shorter than 4 bytes, so it is not redacted in texts"]);
}

#[test]
fn files_are_found_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let default = dir.path().join("ptc/upstreams.json");
    std::fs::create_dir_all(default.parent().unwrap()).unwrap();
    let home = dir.path().join("home");
    let in_home = home.join(".config/ptc/upstreams.json");
    std::fs::create_dir_all(in_home.parent().unwrap()).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_string();
    let around = Surroundings::of([
        ("XDG_CONFIG_HOME".to_string(), text(dir.path())),
        ("HOME".to_string(), text(&home)),
        ("SET".to_string(), "/e.json".to_string()),
        ("BLANK".to_string(), String::new()),
    ]);
    assert_eq!(find(Some(Path::new("f.json")), &["SET"], &around), Some("f.json".into()));
    assert_eq!(find(None, &["SET"], &around), Some("/e.json".into()));
    assert_eq!(find(None, &["BLANK"], &around), None);
    std::fs::write(&default, "{}").unwrap();
    assert_eq!(find(None, &["BLANK"], &around), Some(default.clone()));
    std::fs::write(&in_home, "{}").unwrap();
    let around = Surroundings::of([("HOME", text(&home))]);
    assert_eq!(find(None, &["SET"], &around), Some(in_home.clone()));
    // The place of older versions is still looked at.
    let old = home.join(".config/ptc_runner_mcp/upstreams.json");
    std::fs::create_dir_all(old.parent().unwrap()).unwrap();
    std::fs::rename(&in_home, &old).unwrap();
    assert_eq!(find(None, &[], &around), Some(old));
    // An existing but invalid file stops the start, as does a named file that does not exist.
    let error = Config::load(&default, &around).unwrap_err().to_string();
    assert!(error.contains("upstreams.json: the upstreams file: `upstreams` is required"), "{error}");
    assert!(Config::load(Path::new("/no/such"), &around).unwrap_err().to_string().contains("No such file"));
}
