//! Commands that no other test runs still parse: those in `sh` fences, and those in the files of `examples/deploy`.

use crate::{fences, pages, root};
use ptc_testkit::http;
use saphyr_parser::{Event, Parser};
use std::path::PathBuf;
use std::process::Command;

/// A value for `$(…)` and `$NAME`, which a shell would fill in; long enough for a token.
const FILLED_IN: &str = "0123456789abcdef0123456789abcdef";

/// The words of a command up to the next command of its line.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '|' | ';' | '>' | '<' | '#' if word.is_none() => break,
            '&' if word.is_none() => break,
            ';' => break,
            ' ' => words.extend(word.take()),
            '\'' => word.get_or_insert_default().extend(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                let quoted: String = chars.by_ref().take_while(|c| *c != '"').collect();
                word.get_or_insert_default().push_str(if quoted.contains('$') { FILLED_IN } else { &quoted });
            }
            '$' if chars.next_if_eq(&'(').is_some() => {
                chars.by_ref().take_while(|c| *c != ')').for_each(drop);
                word.get_or_insert_default().push_str(FILLED_IN);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The commands of a page's `sh` fences, from `ptc` on.
fn of_page(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for fence in fences(page).iter().filter(|fence| fence.language == "sh") {
        let text = fence.lines.join("\n").replace("\\\n", " ");
        let commands = text.lines().map(words);
        found.extend(commands.filter(|words| words.first().is_some_and(|word| word == "ptc")));
    }
    found
}

/// The files of `examples/deploy`.
fn deployed() -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(root().join("examples/deploy")).expect("the folder").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a file"))).collect()
}

fn is_yaml(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|ext| ext == "yml" || ext == "yaml")
}

/// The arguments that a manifest gives to `ptc`: lists under `args` (Kubernetes) and `command` (Compose).
fn of_manifest(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut found, mut last, mut list) = (Vec::new(), String::new(), None::<Vec<String>>);
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        match event {
            Event::Scalar(value, ..) => match &mut list {
                Some(list) => list.push(value.into_owned()),
                None => last = value.into_owned(),
            },
            Event::SequenceStart(..) if last == "args" || last == "command" => {
                list = Some(vec!["ptc".to_string()]);
            }
            Event::SequenceEnd => found.extend(list.take()),
            _ => {}
        }
    }
    Ok(found)
}

/// The command that an image runs.
fn of_image(text: &str) -> Vec<String> {
    let list = |word| text.lines().find_map(|line| line.strip_prefix(word)).map_or("[]", str::trim);
    let [first, rest] = ["ENTRYPOINT", "CMD"].map(|word| {
        serde_json::from_str::<Vec<String>>(list(word)).unwrap_or_else(|error| panic!("{word}: {error}"))
    });
    assert!(first.len() == 1 && first[0].ends_with("/ptc"), "{first:?} is not ptc");
    [vec!["ptc".to_string()], rest].concat()
}

/// The command that says whether the server of an image is healthy.
fn of_health_check(text: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with("HEALTHCHECK")).expect("a health check");
    let (_, command) = line.split_once(" CMD ").expect("a command");
    serde_json::from_str(command).unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// The error of a command that does not parse. The server is asked for its settings, which it checks; other commands
/// for their help, which they show once everything before it has parsed.
fn problem(words: &[String]) -> Option<String> {
    // Its words belong to a command of another workspace, whose tests run them (`engines/sql/tests`).
    if words.get(1).is_some_and(|word| word == "sql") {
        return None;
    }
    let serves = words.get(1).is_some_and(|word| word == "mcp")
        && words.get(2).is_none_or(|word| word.starts_with('-'));
    // What stands after `--` belongs to the server that `ptc mcp install` writes down.
    let (own, server) = match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], Some(&words[at + 1..])),
        None => (words, None),
    };
    if let Some(server) = server {
        let whole = [&["ptc".to_string(), "mcp".to_string()], server].concat();
        if let Some(problem) = problem(&whole) {
            return Some(problem);
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_ptc"))
        .args(&own[1..])
        .arg(if serves { "--print-config" } else { "--help" })
        .current_dir(root())
        .output()
        .expect("ptc runs");
    let told = String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| format!("{}: {}", words.join(" "), told.trim()))
}

#[test]
fn commands_of_pages_parse() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, page) in pages() {
        for words in of_page(&page) {
            count += 1;
            wrong.extend(problem(&words).map(|problem| format!("{}: {problem}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10, "only {count} commands were found");
}

#[test]
fn files_for_deployment_parse_and_use_flags_that_exist() {
    let mut found = Vec::new();
    for (path, text) in deployed() {
        if is_yaml(&path) {
            let commands = of_manifest(&text);
            found.extend(commands.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        } else if path.ends_with("Dockerfile") {
            found.push(of_image(&text));
            found.push(of_health_check(&text));
        }
    }
    assert!(found.len() >= 3, "only {found:?}");
    let wrong: Vec<String> = found.iter().filter_map(|words| problem(words)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The image has no shell and no `curl`: its health check is a call of an upstream server, which is the server itself.
#[test]
fn the_health_check_of_the_image_tells_a_live_server_from_a_dead_one() {
    let deploy = root().join("examples/deploy");
    let read = |name: &str| std::fs::read_to_string(deploy.join(name)).expect(name);
    let image = read("Dockerfile");
    let mut command = of_health_check(&image);
    let config = command.last_mut().expect("the configuration");
    let (folder, name) = config.rsplit_once('/').expect("a path");
    assert!(
        image.contains(&format!("COPY examples/deploy/{name} examples/deploy/health-api.json {folder}/"))
    );
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join(name);
    *config = path.to_string_lossy().into_owned();
    std::fs::write(place.path().join("health-api.json"), read("health-api.json")).expect("a file");
    let ask = |address: &str| {
        let text = read("health.json").replace("http://127.0.0.1:7332", address);
        assert!(text.contains(address));
        std::fs::write(&path, text).expect("a file");
        let output = Command::new(env!("CARGO_BIN_EXE_ptc")).args(&command[1..]).output().expect("ptc runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let live = http::serve(|request, stream| {
        assert_eq!(request.path, "/health");
        http::write(stream, 200, &[http::JSON], r#"{"status":"ok"}"#)
    });
    assert_eq!(ask(&live), (Some(0), String::new()));
    let ill = http::serve(|_, stream| http::write(stream, 503, &[http::JSON], "{}"));
    assert_eq!(ask(&ill).0, Some(1));
    // Nobody listens on the port of a socket that is closed.
    let dead = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    assert_eq!(ask(&format!("http://{dead}")).0, Some(1));
}

#[test]
fn variables_of_the_server_exist() {
    let known: Vec<String> = ptc_mcp::settings::FLAGS.iter().map(|flag| flag.env()).collect();
    let mut unknown = Vec::new();
    for (path, text) in pages().into_iter().chain(deployed()) {
        for (at, _) in text.match_indices("PTC_MCP_") {
            let name =
                text[at..].split(|c: char| !c.is_ascii_uppercase() && c != '_').next().unwrap_or_default();
            // `PTC_MCP_*` names all of them.
            if name != "PTC_MCP_" && !known.iter().any(|known| known == name) {
                unknown.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "no such variables:\n{}", unknown.join("\n"));
}

#[test]
fn words_are_those_of_a_shell() {
    assert_eq!(words("ptc eval -e '(+ 1 2)' | jq ."), ["ptc", "eval", "-e", "(+ 1 2)"]);
    assert_eq!(
        words("ptc mcp --http-auth-token \"$(cat token)\" # serves"),
        ["ptc", "mcp", "--http-auth-token", FILLED_IN]
    );
    assert_eq!(words("ptc run a.clj > out"), ["ptc", "run", "a.clj"]);
}
