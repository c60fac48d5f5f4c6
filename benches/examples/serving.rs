//! Speed of the MCP server: from its start to the first reply, and calls of `(+ 1 2)` over HTTP on kept
//! connections. `benches/README.md` has the results and how they were measured.
#![forbid(unsafe_code)]

use ptc_benches::server::{Served, free_port, ptc};
use ptc_benches::wire::{Wire, eval, post};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of starts that are timed.
const STARTS: usize = 40;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    let mut starts = (0..STARTS).map(|_| first_answer()).collect::<Result<Vec<_>, _>>()?;
    report("start to first answer, stdio", &mut starts, None);
    let port = free_port()?;
    let served =
        Served::start(port, &["--http-max-sessions-per-owner", "256", "--max-concurrent-calls", "64"])
            .await?;
    for connections in [1, 4, 16] {
        let (mut times, took) = load(port, connections, Duration::from_secs(seconds)).await?;
        report(&format!("lisp_eval (+ 1 2), HTTP, {connections} connections"), &mut times, Some(took));
    }
    served.stop().await?;
    Ok(())
}

/// Measures the time from starting the process to the reply to its first call.
fn first_answer() -> Result<Duration, Box<dyn Error>> {
    let since = Instant::now();
    let mut child = Command::new(ptc()?).arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    writeln!(input, "{}", eval(1, "(+ 1 2)"))?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
    let took = since.elapsed();
    assert!(line.contains("user=> 3"), "{line}");
    drop(input);
    child.wait()?;
    Ok(took)
}

/// Makes calls on `connections` connections at once, one after another on each; returns the time of each call,
/// and of all together.
async fn load(
    port: u16,
    connections: usize,
    within: Duration,
) -> Result<(Vec<Duration>, Duration), Box<dyn Error>> {
    let since = Instant::now();
    let clients = (0..connections).map(|_| {
        tokio::spawn(async move {
            let mut wire = Wire::to(port).await?;
            let session = wire.open().await?;
            let mut times = Vec::new();
            let request = post(port, Some(&session), "", eval(1, "(+ 1 2)").to_string().as_bytes());
            while since.elapsed() < within {
                let began = Instant::now();
                let answer = wire.ask(&request).await?;
                times.push(began.elapsed());
                assert_eq!(answer.body["result"]["content"][0]["text"], "user=> 3", "{}", answer.body);
            }
            Ok::<_, std::io::Error>(times)
        })
    });
    let mut all = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        all.extend(client.await??);
    }
    Ok((all, since.elapsed()))
}

fn report(what: &str, times: &mut [Duration], took: Option<Duration>) {
    times.sort_unstable();
    let at = |part: f64| {
        let rank = ((times.len() as f64 * part).ceil() as usize).clamp(1, times.len());
        times[rank - 1].as_secs_f64() * 1e6
    };
    let rate =
        took.map(|took| format!("  {:>8.0}/s", times.len() as f64 / took.as_secs_f64())).unwrap_or_default();
    println!(
        "{what:44} n={:<7} p50 {:>8.0} µs  p95 {:>8.0} µs  p99 {:>8.0} µs  max {:>8.0} µs{rate}",
        times.len(),
        at(0.5),
        at(0.95),
        at(0.99),
        at(1.0)
    );
}
