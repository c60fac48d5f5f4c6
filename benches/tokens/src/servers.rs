//! The seven servers: where they are installed and how they are started.

use crate::apis::document::Service;
use crate::apis::{self, forge, shop};
use crate::data::{ROOT, ledger};
use crate::mcp::{Client, Start};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Names of all servers, as programs and configurations have them.
pub const ALL: &[&str] = &["files", "git", "sqlite", "time", "memory", "forge", "shop"];

/// What can be started, any number of times.
pub struct Installed {
    starts: BTreeMap<&'static str, Start>,
    services: BTreeMap<&'static str, Service>,
    work: PathBuf,
}

impl Installed {
    /// `folder` is where `run` has installed the MCP servers, `work` is for files that are made.
    pub fn new(folder: &Path, work: &Path) -> Result<Installed> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let node = |package: &str| {
            text(folder.join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js"))
        };
        let start = |command: String, args: &[&str], env: &[(&str, String)]| Start {
            command,
            args: args.iter().map(ToString::to_string).collect(),
            env: env.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
            is_quiet: true,
        };
        let starts = BTreeMap::from([
            ("files", start("node".into(), &[&node("server-filesystem"), &format!("{ROOT}/files")], &[])),
            (
                "memory",
                start(
                    "node".into(),
                    &[&node("server-memory")],
                    &[("MEMORY_FILE_PATH", format!("{ROOT}/memory.jsonl"))],
                ),
            ),
            ("git", start(text(folder.join("python/bin/mcp-server-git")), &[], &[])),
            (
                "time",
                start(text(folder.join("python/bin/mcp-server-time")), &["--local-timezone", "Etc/UTC"], &[]),
            ),
            (
                "sqlite",
                start(
                    text(folder.join("sqlite/bin/mcp-server-sqlite")),
                    &["--db-path", &format!("{ROOT}/ledger.db")],
                    &[],
                ),
            ),
        ]);
        let forge_port = apis::serve(forge::Forge::new(), forge::Forge::answer)?;
        let shop_port = apis::serve(shop::Shop::new(), shop::Shop::answer)?;
        let services = BTreeMap::from([
            ("forge", Service::new(forge::DOCUMENT, forge_port)),
            ("shop", Service::new(shop::DOCUMENT, shop_port)),
        ]);
        std::fs::create_dir_all(work)?;
        std::fs::write(work.join("forge.json"), forge::DOCUMENT)?;
        std::fs::write(work.join("shop.json"), shop::DOCUMENT)?;
        Ok(Installed { starts, services, work: work.to_path_buf() })
    }

    /// Makes all data anew; the database through its own server.
    pub fn create_data(&self) -> Result<()> {
        crate::data::create()?;
        let mut sqlite = Client::start(&self.starts["sqlite"])?;
        let (tables, inserts) = ledger::statements();
        for (tool, statements) in [("create_table", tables), ("write_query", inserts)] {
            for statement in statements {
                let id = sqlite.send_call(tool, &json!({"query": statement}))?;
                let (text, is_error) = sqlite.wait_call(id)?;
                assert!(!is_error && !text.contains("rror"), "{statement}: {text}");
            }
        }
        Ok(())
    }

    /// Starts all servers, for direct calls.
    pub fn connect(&self) -> Result<Connected<'_>> {
        let clients = self.starts.iter().map(|(name, start)| Ok((*name, Client::start(start)?)));
        Ok(Connected { clients: clients.collect::<Result<_>>()?, services: &self.services })
    }

    /// Starts `ptc mcp` with these servers.
    pub fn start_ptc(&self, ptc: &Path, servers: &[&str], flags: &[&str]) -> Result<Client> {
        let mut upstreams = Map::new();
        for name in servers {
            let entry = match (self.starts.get(name), self.services.get(name)) {
                (Some(start), _) => {
                    json!({"transport": "mcp_stdio", "command": start.command, "args": start.args,
                    "env": start.env.iter().cloned().collect::<BTreeMap<_, _>>(), "handshake_timeout_ms": 60000})
                }
                (_, Some(service)) => {
                    json!({"transport": "openapi", "base_url": format!("http://127.0.0.1:{}", service.port),
                    "include_operations": service.ids(), "schema_file": self.work.join(format!("{name}.json")), "allow_insecure_http": true})
                }
                _ => panic!("there is no server {name}"),
            };
            upstreams.insert(name.to_string(), entry);
        }
        let config = self.work.join("servers.json");
        std::fs::write(&config, json!({"upstreams": upstreams}).to_string())?;
        let config = config.to_string_lossy().into_owned();
        let mut args = vec!["mcp", "--upstreams-config", &config];
        args.extend(flags);
        let args = args.iter().map(ToString::to_string).collect();
        Client::start(&Start {
            command: ptc.to_string_lossy().into_owned(),
            args,
            env: Vec::new(),
            is_quiet: false,
        })
    }
}

/// A call that a model writes.
#[derive(Clone)]
pub struct Call {
    pub server: &'static str,
    pub tool: &'static str,
    pub args: Value,
}

/// What a model reads of an answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
}

/// Servers that run.
pub struct Connected<'a> {
    clients: BTreeMap<&'static str, Client>,
    services: &'a BTreeMap<&'static str, Service>,
}

impl Connected<'_> {
    /// The tools of a server with the fields that APIs of models take: name, description, schema of the input.
    pub fn tools(&mut self, server: &str) -> Result<Vec<Value>> {
        let tools = match self.clients.get_mut(server) {
            Some(client) => client.tools()?,
            None => self.services[server].tools(),
        };
        Ok(tools.iter().map(crate::transcript::as_models_see_it).collect())
    }

    /// Makes these calls at the same time; the answers in order, and milliseconds.
    pub fn call_all(&mut self, calls: &[Call]) -> Result<(Vec<Answer>, f64)> {
        enum Under {
            Pipe(u64),
            Web(std::thread::JoinHandle<Result<(u16, String)>>),
        }
        let started = Instant::now();
        let mut all = Vec::new();
        for call in calls {
            all.push(match self.clients.get_mut(call.server) {
                Some(client) => Under::Pipe(client.send_call(call.tool, &call.args)?),
                None => {
                    let service = &self.services[call.server];
                    let target = service.target(call.tool, &call.args).expect("an operation");
                    let port = service.port;
                    Under::Web(std::thread::spawn(move || apis::get(port, &target)))
                }
            });
        }
        let mut answers = Vec::new();
        for (call, under) in calls.iter().zip(all) {
            answers.push(match under {
                Under::Pipe(id) => {
                    let client = self.clients.get_mut(call.server).expect("a client");
                    let (text, is_error) = client.wait_call(id)?;
                    Answer { text, is_error }
                }
                Under::Web(thread) => {
                    let (status, text) = thread.join().expect("no panic")?;
                    Answer { text, is_error: status >= 400 }
                }
            });
        }
        Ok((answers, started.elapsed().as_secs_f64() * 1e3))
    }
}
