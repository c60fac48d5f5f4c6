//! `ptc mcp` and clients that nobody here wrote, installed by `.ci/run clients`: the conformance suite of the protocol, the
//! SDKs of TypeScript and Python, and the Inspector.
//!
//! Skipped unless `PTC_TEST_MCP_CLIENTS` names the folder they are in: plain `cargo test` needs only Rust.
#![forbid(unsafe_code)]

mod fixture;
mod served;

use libtest_mimic::{Arguments, Failed, Trial};
use served::{MANY_SESSIONS, Served};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the server on HTTP asks for.
const TOKEN: &str = "a token that is long enough to be one";

/// A client that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(150);

/// Each package of the TypeScript SDK, with the protocols it speaks.
const TYPESCRIPT: &[(&str, &str)] = &[("1", "legacy"), ("2", "legacy"), ("2", "modern"), ("2", "auto")];
const PYTHON: &[&str] = &["legacy", "2026-07-28", "auto"];
const WAYS: &[&str] = &["stdio", "http"];

/// Runs of the suite: every scenario at the revision it is meant for, with all extensions; then all there is at others.
const RUNS: &[Option<&str>] = &[None, Some("2025-03-26"), Some("2025-06-18"), Some("2026-07-28")];

fn main() {
    let arguments = Arguments::from_args();
    let Some(folder) = std::env::var_os("PTC_TEST_MCP_CLIENTS").map(PathBuf::from) else {
        println!("skipped: PTC_TEST_MCP_CLIENTS names no folder of clients; `.ci/run clients` installs them");
        libtest_mimic::run(&arguments, Vec::new()).exit();
    };
    let clients = Clients { folder };
    let mut tests = Vec::new();
    for run in RUNS {
        let name = run.unwrap_or("all");
        tests.push(clients.test(format!("conformance {name}"), |clients| {
            clients.conformance(&Served::ptc(&MANY_SESSIONS), *run, "expected.yml")
        }));
        tests.push(clients.test(format!("conformance {name} fixture"), |clients| {
            clients.conformance(&Served::fixture(), *run, "fixture.yml")
        }));
    }
    for way in WAYS {
        for (sdk, era) in TYPESCRIPT {
            tests.push(clients.test(format!("typescript {sdk} {era} {way}"), move |clients| {
                clients.sdk(clients.node("typescript.mjs", &[sdk, era, way]), way)
            }));
        }
        for era in PYTHON {
            tests.push(clients.test(format!("python {era} {way}"), move |clients| {
                clients.sdk(clients.python("python.py", &[era, way]), way)
            }));
        }
        tests.push(clients.test(format!("inspector {way}"), |clients| clients.inspector(way)));
    }
    for sdk in ["1", "2"] {
        tests.push(clients.test(format!("oauth typescript {sdk}"), move |clients| clients.oauth(sdk)));
    }
    libtest_mimic::run(&arguments, tests).exit();
}

/// Where the clients are.
#[derive(Clone)]
struct Clients {
    folder: PathBuf,
}

impl Clients {
    fn test(
        &self,
        name: String,
        test: impl FnOnce(&Clients) -> Result<(), Failed> + Send + 'static,
    ) -> Trial {
        let clients = self.clone();
        Trial::test(name, move || test(&clients))
    }

    /// The Node.js that came with the clients: the suite needs one of its age.
    fn run_node(&self, script: impl AsRef<Path>) -> Command {
        let mut command = Command::new(self.folder.join("node_modules/.bin/node"));
        command.arg(self.folder.join(script.as_ref())).current_dir(&self.folder);
        command
    }

    fn package(&self, script: &str) -> Command {
        self.run_node(Path::new("node_modules/@modelcontextprotocol").join(script))
    }

    /// A script of ours. Node looks for packages beside the script, so it is run from where they are.
    fn node(&self, script: &str, args: &[&str]) -> Command {
        // One for each test, since they run side by side.
        let beside = self.folder.join(format!("{}-{script}", args.join("-")));
        std::fs::copy(ours(script), &beside).expect("the script can be copied");
        let mut command = self.run_node(beside);
        command.args(args);
        command
    }

    fn python(&self, script: &str, args: &[&str]) -> Command {
        let mut command = Command::new(self.folder.join("venv/bin/python"));
        command.arg(ours(script)).args(args).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn sdk(&self, mut client: Command, way: &str) -> Result<(), Failed> {
        let flags = ["--sessions", "--program-timeout-ms=60000", "--max-concurrent-calls=1"];
        let server =
            (way == "http").then(|| Served::ptc(&[&["--http-auth-token", TOKEN], &flags[..]].concat()));
        client.env("PTC_TOKEN", TOKEN);
        match &server {
            Some(server) => client.env("PTC_SERVER", server.address()),
            None => client.env("PTC_SERVER", env!("CARGO_BIN_EXE_ptc")),
        };
        print!("{}", succeed(client)?);
        Ok(())
    }

    /// The script starts the server itself: it must know the authorization server, which the script is, too.
    fn oauth(&self, sdk: &str) -> Result<(), Failed> {
        let mut client = self.node("oauth.mjs", &[sdk]);
        client.env("PTC_SERVER", env!("CARGO_BIN_EXE_ptc"));
        print!("{}", succeed(client)?);
        Ok(())
    }

    fn inspector(&self, way: &str) -> Result<(), Failed> {
        let server = (way == "http").then(|| Served::ptc(&["--http-auth-token", TOKEN]));
        let ask = |args: &[&str]| {
            let mut command = self.package("inspector/clients/launcher/build/index.js");
            command.arg("--cli");
            match &server {
                Some(server) => {
                    command.args([&server.address(), "--header", &format!("Authorization: Bearer {TOKEN}")])
                }
                None => command.args([env!("CARGO_BIN_EXE_ptc"), "mcp"]),
            };
            // It keeps what it knows of servers in the home of its user.
            command.env("HOME", env!("CARGO_TARGET_TMPDIR")).args(args);
            succeed(command)
        };
        // Strict: schemas that some client could not read are errors.
        let listed = ask(&["--method", "tools/list", "--strict"])?;
        let called =
            ask(&["--method", "tools/call", "--tool-name", "lisp_eval", "--tool-arg", "program=(* 6 7)"])?;
        match (listed.contains("\"lisp_eval\""), called.contains("user=> 42")) {
            (true, true) => Ok(()),
            _ => Err(format!("{listed}\n{called}").into()),
        }
    }

    /// What fails must be in the list, and what is in the list must fail: the suite itself sees to both.
    fn conformance(&self, server: &Served, revision: Option<&str>, list: &str) -> Result<(), Failed> {
        let mut suite = self.package("conformance/dist/index.js");
        suite.args(["server", "--suite", "all", "--url", &server.address()]);
        suite.arg("--expected-failures").arg(ours(list));
        if let Some(revision) = revision {
            suite.args(["--spec-version", revision]);
        }
        let said = succeed(suite)?;
        // The suite does not miss a check that it never made.
        let entries = std::fs::read_to_string(ours(list))?;
        let entries = entries.lines().filter_map(|line| line.trim().strip_prefix("- "));
        let unmade = entries.filter(|entry| !said.contains(&format!("  ~ {entry}\n"))).collect::<Vec<_>>();
        if revision.is_none() && !unmade.is_empty() {
            return Err(format!("{list} has checks that the suite does not make: {unmade:?}").into());
        }
        let total = said.lines().find(|line| line.starts_with("Total: ")).unwrap_or_default();
        println!("conformance, {}, {list}: {total}", revision.unwrap_or("all"));
        Ok(())
    }
}

/// A file beside this one.
fn ours(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// What a client prints that ends well, and in time.
fn succeed(mut command: Command) -> Result<String, Failed> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = read(Box::new(child.stdout.take().expect("a pipe")));
    let err = read(Box::new(child.stderr.take().expect("a pipe")));
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => {
                child.kill()?;
                child.wait()?;
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    match status {
        Some(status) if status.success() => Ok(out),
        Some(status) => Err(format!("{status}\n{out}\n{err}").into()),
        None => Err(format!("hangs\n{out}\n{err}").into()),
    }
}
