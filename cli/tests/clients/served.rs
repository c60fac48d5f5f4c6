//! Servers on HTTP, for as long as a test holds them.

use crate::fixture::Fixture;
use ptc_mcp::{Settings, http};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// As many protocol sessions as the suite opens, from one address, and never ends.
pub const MANY_SESSIONS: [&str; 3] =
    ["--http-disable-auth", "--http-max-sessions=5000", "--http-max-sessions-per-owner=5000"];

/// A server that listens.
pub struct Served {
    /// None if it is in this process.
    child: Option<Child>,
    port: u16,
}

impl Served {
    /// `ptc mcp --http` on a port that is free.
    pub fn ptc(flags: &[&str]) -> Served {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
        command.args(["mcp", "--http", "--http-port", &port.to_string(), "--log-level=error"]).args(flags);
        let mut child = command.stdin(Stdio::null()).spawn().expect("ptc starts");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().expect("a child").is_none(), "it ended before it listened");
            std::thread::sleep(Duration::from_millis(10));
        }
        Served { child: Some(child), port }
    }

    /// The server of [`Fixture`], served by the same code as the real one. It lives as long as this process.
    pub fn fixture() -> Served {
        let settings = Settings::resolve(["--http"].into_iter().chain(MANY_SESSIONS), |_| None);
        let fixture = Fixture::new(settings.expect("settings").settings);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            let executor = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
            executor.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                http::serve(fixture, listener, std::future::pending()).await
            })
        });
        Served { child: None, port }
    }

    /// Where clients find it.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
