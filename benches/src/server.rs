//! The `ptc mcp` process to be measured.

use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Returns the path of `ptc` from this build's profile, or from `$PTC`.
pub fn ptc() -> Result<PathBuf> {
    // Examples have a folder of their own next to it.
    let beside = || std::env::current_exe().map(|path| path.with_file_name("../ptc"));
    let path = std::env::var_os("PTC").map(PathBuf::from).map_or_else(beside, Ok)?;
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::new(ErrorKind::NotFound, "build it first: cargo build --release -p ptc-cli")),
    }
}

/// Returns an unused port.
pub fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A server over HTTP, whose log goes to a file.
pub struct Served {
    child: Child,
    log: tempfile::NamedTempFile,
}

impl Served {
    /// Starts the server, and waits until it is ready.
    pub async fn start(port: u16, flags: &[&str]) -> Result<Served> {
        let log = tempfile::NamedTempFile::new()?;
        let child = Command::new(ptc()?)
            .args([
                "mcp",
                "--http",
                "--http-disable-auth",
                "--log-level=warn",
                "--http-port",
                &port.to_string(),
            ])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.reopen()?)
            .spawn()?;
        let served = Served { child, log };
        for _ in 0..500 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(served);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(Error::new(ErrorKind::TimedOut, served.log()))
    }

    /// Returns the id of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap_or_default()
    }

    /// Returns its exit status if it has ended by itself.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Returns its resident memory in KiB, as the system counts it.
    pub fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }

    /// Asks the server to end, and waits until it has.
    pub async fn stop(mut self) -> Result<(ExitStatus, String)> {
        Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok((status, self.log()));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Fails if it has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
