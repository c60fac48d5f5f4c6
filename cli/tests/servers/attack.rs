//! `ptc mcp --http` as a process that somebody wants to keep from serving others.

use crate::trial;
use libtest_mimic::Trial;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub fn tests() -> Vec<Trial> {
    match cfg!(unix) {
        true => vec![trial("health_is_answered_when_files_run_out", health_is_answered_when_files_run_out)],
        false => Vec::new(),
    }
}

/// Long enough for anything that does not hang.
const GUARD: Duration = Duration::from_secs(60);

/// Ended with the test, however that ends.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that may have so many files open.
fn serve(files: usize) -> (Served, SocketAddr) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let script = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
    let port = format!("--http-port={}", free.port());
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_ptc"), "mcp", "--http", "--http-disable-auth", &port]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let served = Served(child.expect("a shell"));
    let began = Instant::now();
    while TcpStream::connect(free).is_err() {
        assert!(began.elapsed() < GUARD, "it does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    (served, free)
}

fn sent(to: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect_timeout(&to, GUARD).expect("a connection");
    stream.set_read_timeout(Some(GUARD)).expect("a timeout");
    stream.write_all(text.as_bytes()).expect("it is sent");
    stream
}

fn health_is_answered_when_files_run_out() {
    let (_served, address) = serve(200);
    let slow: Vec<TcpStream> =
        (0..400).map(|_| sent(address, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-a: ")).collect();
    let mut health = sent(address, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    health.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with(r#"{"status":"ok"}"#), "{answer}");
    drop(slow);
}
