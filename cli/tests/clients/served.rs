//! Servers on HTTP, for as long as a test holds them.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that listens.
pub struct Served {
    child: Child,
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
        Served { child, port }
    }

    /// Where clients find it.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
