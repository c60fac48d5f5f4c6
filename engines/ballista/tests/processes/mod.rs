//! The command `ptc-ballista` as processes on the loopback interface, which end with the test.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// Time in which a process has to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A scheduler.
pub struct Cluster {
    scheduler: Child,
    port: u16,
    folder: PathBuf,
}

/// An executor.
pub struct Executor(Child);

impl Cluster {
    pub fn start(folder: &Path) -> Cluster {
        let port = free_ports(1);
        let listen = format!("127.0.0.1:{port}");
        let scheduler = command(folder, port)
            .args(["scheduler", "--listen", &listen, "--host", "127.0.0.1", "--executor-timeout", "4"])
            .spawn()
            .expect("a scheduler");
        Cluster { scheduler, port, folder: folder.to_path_buf() }
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn executor(&self, artifacts: &str, flags: &[&str]) -> Executor {
        let port = free_ports(2);
        let (scheduler, listen) = (self.address(), format!("127.0.0.1:{port}"));
        let work = self.folder.join(format!("work-{port}")).display().to_string();
        let child = command(&self.folder, port)
            .args(["executor", "--scheduler", &scheduler, "--listen", &listen, "--host", "127.0.0.1"])
            .args(["--slots", "2", "--heartbeat", "1", "--folder", &work, "--artifacts", artifacts])
            .args(flags)
            .spawn()
            .expect("an executor");
        Executor(child)
    }

    /// Waits until this many executors work.
    pub async fn wait_for(&self, count: usize) {
        let started = Instant::now();
        loop {
            if self.executors() == Some(count) {
                return;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "there are no {count} executors; logs are in {:?}",
                self.folder
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Returns the number of executors, as the scheduler tells probes; None until it listens.
    fn executors(&self) -> Option<usize> {
        let mut stream = TcpStream::connect(self.address()).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let request =
            format!("GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address());
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, rest) = answer.split_once("ready: ")?;
        rest.split([' ', '/']).next()?.parse().ok()
    }
}

impl Executor {
    /// Kills it with -9.
    pub fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.scheduler.kill();
        let _ = self.scheduler.wait();
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(folder: &Path, port: u16) -> Command {
    let log = std::fs::File::create(folder.join(format!("log-{port}"))).expect("a log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc-ballista"));
    command.env("RUST_LOG", "info").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command
}

/// Returns the first of some ports that nobody listens on, and that no other test of this process was given.
fn free_ports(count: u16) -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 20_000 + (std::process::id() % 200) as u16 * 100;
    loop {
        let first = base + NEXT.fetch_add(count, Ordering::Relaxed) % 2000;
        if (first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
}
