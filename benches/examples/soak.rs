//! Mixed load on the MCP server for a long time, with faults: clients that vanish, cancel, send garbage and
//! frames of 8 MB, and a thousand sessions. Reports whether memory stayed flat, every accepted request was
//! answered exactly once, no permit was lost and nothing panicked.
//!
//! `cargo run --release -p ptc-benches --example soak -- 30` (minutes; `ptc` is built first).
#![forbid(unsafe_code)]

use ptc_benches::server::{Served, free_port};
use ptc_benches::wire::{Answer, Wire, call, eval, post};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Failed = Box<dyn Error + Send + Sync>;

/// Number of clients that come and go.
const CLIENTS: u64 = 20;
/// Number of clients that stay, and (`SESSIONS`) the number of sessions each of them keeps open.
const KEEPERS: u64 = 10;
const SESSIONS: usize = 100;
/// Maximum number of programs running at once.
const PERMITS: usize = 8;
/// Maximum size of a frame, in bytes; the test exceeds it.
const FRAME: usize = 8 << 20;

const FLAGS: [&str; 14] = [
    "--sessions",
    "--max-sessions=1400",
    "--max-sessions-per-owner=1400",
    "--http-max-sessions=8000",
    "--http-max-sessions-per-owner=8000",
    "--http-session-idle-timeout-ms=20000",
    "--session-idle-timeout-ms=120000",
    "--program-timeout-ms=200",
    "--max-concurrent-calls=8",
    "--http-max-in-flight-per-session=16",
    "--http-request-timeout-ms=2000",
    "--http-metrics",
    "--debug-tool",
    "--response-profile=structured",
];

/// State shared by all clients.
struct Soak {
    port: u16,
    stop: AtomicBool,
    ids: AtomicU64,
    /// Number of times each action was done.
    done: Mutex<BTreeMap<&'static str, u64>>,
    wrong: Mutex<Vec<String>>,
    /// Names of open sessions, of any owner.
    open: Mutex<Vec<String>>,
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let minutes: f64 = std::env::args().nth(1).map_or(Ok(30.0), |text| text.parse())?;
    let port = free_port()?;
    let mut served = Served::start(port, &FLAGS).await?;
    let soak = Arc::new(Soak {
        port,
        stop: AtomicBool::new(false),
        ids: AtomicU64::new(1),
        done: Mutex::default(),
        wrong: Mutex::default(),
        open: Mutex::default(),
    });
    let clients = (0..CLIENTS).map(|seed| tokio::spawn(client(soak.clone(), seed)));
    let keepers = (0..KEEPERS).map(|seed| tokio::spawn(keeper(soak.clone(), seed)));
    let clients: Vec<_> = clients.chain(keepers).collect();
    let (began, mut samples) = (Instant::now(), Vec::new());
    let (whole, mut told) = (Duration::from_secs_f64(minutes * 60.0), 0);
    while began.elapsed() < whole {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if let Some(status) = served.ended()? {
            println!("the server ended by itself: {status}\n{}", served.log());
            return Ok(ExitCode::FAILURE);
        }
        samples.push((began.elapsed(), served.resident_kib().unwrap_or_default()));
        if began.elapsed().as_secs() / 60 > told {
            told = began.elapsed().as_secs() / 60;
            let calls: u64 = soak.done().values().sum();
            let resident = samples.last().map_or(0, |sample| sample.1 / 1024);
            println!(
                "{told:>3} min  {calls:>9} things done  {resident:>5} MB  {} sessions",
                soak.open().len()
            );
        }
    }
    soak.stop.store(true, Ordering::SeqCst);
    for client in clients {
        client.await?;
    }
    finish(&soak, served, &samples, whole).await
}

/// Judges the results.
async fn finish(
    soak: &Soak,
    served: Served,
    samples: &[(Duration, u64)],
    whole: Duration,
) -> Result<ExitCode, Failed> {
    // Abandoned requests have ended by then.
    tokio::time::sleep(Duration::from_secs(2)).await;
    if let Err(why) = all_permits_are_there(soak).await {
        soak.wrong("permits", why);
    }
    // An idle server gives its memory back.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let resident = served.resident_kib().unwrap_or_default();
    let (status, log) = served.stop().await?;
    for (what, count) in soak.done().iter() {
        println!("{what:32} {count:>9}");
    }
    // Frames of 8 MB come in bursts, which double the resident memory for a moment; a leak would raise the
    // level between them.
    let floor = |from: f64, to: f64| {
        let within =
            |sample: &&(Duration, u64)| sample.0 >= whole.mul_f64(from) && sample.0 <= whole.mul_f64(to);
        let mut found: Vec<u64> = samples.iter().filter(within).map(|sample| sample.1).collect();
        found.sort_unstable();
        found.get(found.len() / 10).copied().unwrap_or_default()
    };
    // The first tenth fills sessions and pools.
    let (early, late) = (floor(0.1, 0.3), floor(0.8, 1.0));
    println!(
        "resident between bursts: {} MB early, {} MB late; {} MB when all was over",
        early / 1024,
        late / 1024,
        resident / 1024
    );
    if late > early + early / 10 + 8 * 1024 {
        soak.wrong("memory", format!("it grew from {early} to {late} KiB"));
    }
    if !status.success() {
        soak.wrong("end", format!("{status}"));
    }
    if log.contains("panic") {
        soak.wrong("panic", log.lines().find(|line| line.contains("panic")).unwrap_or_default().to_string());
    }
    let wrong = soak.wrong.lock().map(|wrong| wrong.clone()).unwrap_or_default();
    wrong.iter().take(20).for_each(|wrong| println!("wrong: {wrong}"));
    println!("{}", if wrong.is_empty() { "nothing was wrong" } else { "something was wrong" });
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks that the maximum number of programs can run at once.
async fn all_permits_are_there(soak: &Soak) -> Result<(), String> {
    let run = || async {
        let mut wire = Wire::to(soak.port).await?;
        let session = wire.open().await?;
        let message = eval(soak.id(), "(loop [n 0] (recur (inc n)))").to_string();
        wire.ask(&post(soak.port, Some(&session), "", message.as_bytes())).await
    };
    let all = futures_util::future::join_all((0..PERMITS).map(|_| run())).await;
    for answer in all {
        let answer = answer.map_err(|error| error.to_string())?;
        let reason = answer.body["result"]["structuredContent"]["reason"].clone();
        if reason != "timeout" {
            return Err(format!("a program that should have run was answered with {reason}"));
        }
    }
    let mut wire = Wire::to(soak.port).await.map_err(|error| error.to_string())?;
    let get = format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", soak.port);
    wire.send(get.as_bytes()).await.map_err(|error| error.to_string())?;
    let text = wire.rest().await;
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.rsplit(' ').next()?.parse::<i64>().ok()
    };
    match (value("ptc_mcp_programs_running"), value("ptc_mcp_http_in_flight")) {
        // The request for the metrics itself is in progress.
        (Some(0), Some(1)) => Ok(()),
        other => Err(format!("programs and requests under way: {other:?}")),
    }
}

impl Soak {
    fn id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    fn done(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn count(&self, what: &'static str) {
        *self.done().entry(what).or_default() += 1;
    }

    fn wrong(&self, what: &str, why: String) {
        self.wrong.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(format!("{what}: {why}"));
    }
}

/// A deterministic sequence of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Runs one client after another, until the test is over.
async fn client(soak: Arc<Soak>, seed: u64) {
    let mut dice = Dice(0x9e37_79b9 ^ (seed + 1) << 17);
    while !soak.stop.load(Ordering::Relaxed) {
        if let Err(error) = visit(&soak, &mut dice).await {
            soak.wrong("client", error.to_string());
        }
    }
}

/// Opens one connection and does things on it, some of which end it.
async fn visit(soak: &Soak, dice: &mut Dice) -> Result<(), Failed> {
    let mut wire = Wire::to(soak.port).await?;
    let session = wire.open().await?;
    for _ in 0..1 + dice.roll(40) {
        let (what, goes_on) = act(soak, dice, &mut wire, &session).await?;
        soak.count(what);
        if !goes_on {
            return Ok(());
        }
        if wire.has_more() {
            soak.wrong(what, "the server said more than it was asked".to_string());
        }
    }
    // Some clients end their session, others just leave.
    if dice.roll(2) == 0 {
        let delete = format!(
            "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nMcp-Session-Id: {session}\r\n\r\n",
            soak.port
        );
        let answer = wire.ask(delete.as_bytes()).await?;
        expect(answer.status == 202, "delete", &answer)?;
        soak.count("clients that said good-bye");
    }
    Ok(())
}

fn expect(holds: bool, what: &str, answer: &Answer) -> Result<(), Failed> {
    match holds {
        true => Ok(()),
        false => Err(format!("{what}: {} {}", answer.status, answer.body).into()),
    }
}

const ENDLESS: &str = "(loop [n 0] (recur (inc n)))";

/// Does one thing; returns its name, and whether the connection is still usable.
async fn act(
    soak: &Soak,
    dice: &mut Dice,
    wire: &mut Wire,
    session: &str,
) -> Result<(&'static str, bool), Failed> {
    let (id, port) = (soak.id(), soak.port);
    let send = |message: &Value| post(port, Some(session), "", message.to_string().as_bytes());
    match dice.roll(100) {
        0..=44 => {
            let n = dice.roll(1000);
            let program = format!("(reduce + (map inc (range {n})))");
            let answer = wire.ask(&send(&eval(id, &program))).await?;
            let value = n * (n + 1) / 2;
            expect(is_busy(&answer) || is_for(&answer, id, &format!("user=> {value}")), "eval", &answer)?;
            Ok(("programs", true))
        }
        45..=49 => {
            let answer = wire.ask(&send(&eval(id, ENDLESS))).await?;
            expect(is_busy(&answer) || is_error(&answer, id, "timeout"), "endless", &answer)?;
            Ok(("programs without an end", true))
        }
        50..=54 => {
            // Cancelled on another connection of the same session, as clients do.
            let mut other = Wire::to(port).await?;
            wire.send(&send(&eval(id, ENDLESS))).await?;
            let cancel =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            expect_accepted(&other.ask(&send(&cancel)).await?)?;
            let answer = wire.answer().await?;
            let is_over = is_error(&answer, id, "cancelled") || is_error(&answer, id, "timeout");
            expect(is_busy(&answer) || is_over, "cancelled", &answer)?;
            Ok(("programs cancelled", true))
        }
        55..=59 => {
            wire.send(&send(&eval(id, ENDLESS))).await?;
            Ok(("clients that vanished", false))
        }
        60..=62 => {
            let bytes = send(&eval(id, "(+ 1 2)"));
            let half = bytes.len() - 1 - usize::try_from(dice.roll(60))?;
            wire.send(&bytes[..half]).await?;
            Ok(("requests cut short", false))
        }
        63..=67 => {
            let garbage: Vec<u8> = (0..dice.roll(400)).map(|_| dice.roll(256) as u8).collect();
            let answer = wire.ask(&post(port, Some(session), "", &garbage)).await?;
            expect(answer.status == 400, "garbage", &answer)?;
            Ok(("bodies of garbage", true))
        }
        68 => {
            let garbage: Vec<u8> = (0..200).map(|_| dice.roll(256) as u8).collect();
            wire.send(&garbage).await?;
            Ok(("connections of garbage", false))
        }
        69 => {
            let answer = wire.ask(&post(port, Some(session), "", &vec![b' '; FRAME + 1])).await;
            // The server may close the connection rather than read all of it.
            if let Ok(answer) = answer {
                expect(answer.status == 413, "too long", &answer)?;
            }
            Ok(("frames over 8 MB", false))
        }
        70 => {
            let message =
                call(id, "lisp_eval", json!({"program": "1", "context": {"a": "x".repeat(FRAME - 1024)}}));
            let answer = wire.ask(&send(&message)).await?;
            expect(is_error(&answer, id, "args_error"), "8 MB", &answer)?;
            Ok(("frames of 8 MB", true))
        }
        71..=75 => {
            // With a token the reply is a stream; half of the clients leave in the middle.
            let mut message = eval(id, ENDLESS);
            message["params"]["_meta"] = json!({"progressToken": id});
            let more = "Accept: application/json, text/event-stream\r\n";
            let bytes = post(port, Some(session), more, message.to_string().as_bytes());
            if dice.roll(2) == 0 {
                wire.send(&bytes).await?;
                tokio::time::sleep(Duration::from_millis(dice.roll(60))).await;
                return Ok(("streams left", false));
            }
            let answer = wire.ask(&bytes).await?;
            expect(is_busy(&answer) || is_error(&answer, id, "timeout"), "stream", &answer)?;
            Ok(("streams", true))
        }
        76..=82 => {
            let more =
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: lisp_eval\r\n";
            let mut message = eval(id, "(* 6 7)");
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let answer = wire.ask(&post(port, None, more, message.to_string().as_bytes())).await?;
            expect(is_busy(&answer) || is_for(&answer, id, "user=> 42"), "modern", &answer)?;
            Ok(("programs without a handshake", true))
        }
        83..=89 => {
            let answer = wire.ask(&send(&call(id, "lisp_session_start", json!({"ttl_ms": 2000})))).await?;
            let told = &answer.body["result"]["structuredContent"];
            let is_known = told["session_id"].is_string() || told["reason"] == "session_limit_exceeded";
            expect(is_known && answer.body["id"] == id, "session", &answer)?;
            Ok(("sessions that nobody closes", true))
        }
        _ => {
            // Another owner's session looks like one that never existed.
            let chosen = {
                let open = soak.open();
                open.get(usize::try_from(dice.roll(open.len().max(1) as u64))?).cloned()
            };
            let Some(name) = chosen else { return Ok(("no session yet", true)) };
            let message = call(id, "lisp_session_eval", json!({"session_id": name, "program": "n"}));
            let answer = wire.ask(&send(&message)).await?;
            expect(is_error(&answer, id, "session_not_found"), "session of another", &answer)?;
            Ok(("sessions of others", true))
        }
    }
}

/// A session that stays, with the expected value of its `n`.
struct Kept {
    name: String,
    n: u64,
}

/// Runs a client that stays: it keeps sessions open, counts in each of them, and now and then replaces one.
async fn keeper(soak: Arc<Soak>, seed: u64) {
    let mut dice = Dice(0x51ed_2701 ^ (seed + 1) << 21);
    if let Err(error) = keep(&soak, &mut dice).await {
        soak.wrong("keeper", error.to_string());
    }
}

async fn keep(soak: &Soak, dice: &mut Dice) -> Result<(), Failed> {
    let mut wire = Wire::to(soak.port).await?;
    let session = wire.open().await?;
    let mut kept: Vec<Kept> = Vec::new();
    while !soak.stop.load(Ordering::Relaxed) {
        if kept.len() < SESSIONS {
            if let Some(name) = begin(soak, &mut wire, &session).await? {
                soak.open().push(name.clone());
                kept.push(Kept { name, n: 0 });
            }
            continue;
        }
        let at = usize::try_from(dice.roll(SESSIONS as u64))?;
        let Kept { name, n } = &mut kept[at];
        let id = soak.id();
        if dice.roll(50) == 0 {
            let message = call(id, "lisp_session_close", json!({"session_id": name})).to_string();
            let answer = wire.ask(&post(soak.port, Some(&session), "", message.as_bytes())).await?;
            expect(answer.body["result"]["structuredContent"]["closed"] == true, "close", &answer)?;
            soak.open().retain(|open| open != name);
            kept.swap_remove(at);
            soak.count("sessions closed");
            continue;
        }
        // Half of the programs fail after counting, which must then not be kept.
        let (program, is_good) = match dice.roll(2) {
            0 => ("(def n (inc n)) n", true),
            _ => ("(def n (inc n)) (fail n)", false),
        };
        let message =
            call(id, "lisp_session_eval", json!({"session_id": name, "program": program})).to_string();
        let answer = wire.ask(&post(soak.port, Some(&session), "", message.as_bytes())).await?;
        if is_busy(&answer) {
            soak.count("programs of sessions, busy");
            continue;
        }
        let told = &answer.body["result"]["structuredContent"];
        match is_good {
            true => {
                *n += 1;
                expect(answer.body["id"] == id && told["value"] == *n, "count", &answer)?;
            }
            false => expect(is_error(&answer, id, "fail"), "failed count", &answer)?,
        }
        soak.count("programs of sessions");
    }
    Ok(())
}

/// Starts a session with an `n`; None if the server is busy.
async fn begin(soak: &Soak, wire: &mut Wire, session: &str) -> Result<Option<String>, Failed> {
    let id = soak.id();
    let start = call(id, "lisp_session_start", json!({})).to_string();
    let answer = wire.ask(&post(soak.port, Some(session), "", start.as_bytes())).await?;
    let told = &answer.body["result"]["structuredContent"];
    if told["reason"] == "session_limit_exceeded" {
        soak.count("sessions over the limit");
        tokio::time::sleep(Duration::from_millis(20)).await;
        return Ok(None);
    }
    let name = told["session_id"].as_str().ok_or_else(|| format!("no session: {}", answer.body))?.to_string();
    loop {
        let define =
            call(soak.id(), "lisp_session_eval", json!({"session_id": name, "program": "(def n 0)"}));
        let answer = wire.ask(&post(soak.port, Some(session), "", define.to_string().as_bytes())).await?;
        if is_busy(&answer) {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        }
        expect(answer.body["result"]["isError"] == false, "define", &answer)?;
        soak.count("sessions begun");
        return Ok(Some(name));
    }
}

fn expect_accepted(answer: &Answer) -> Result<(), Failed> {
    expect(answer.status == 202, "notification", answer)
}

fn is_busy(answer: &Answer) -> bool {
    answer.body["result"]["structuredContent"]["reason"] == "busy"
}

fn is_for(answer: &Answer, id: u64, text: &str) -> bool {
    answer.body["id"] == id && answer.body["result"]["content"][0]["text"] == text
}

fn is_error(answer: &Answer, id: u64, reason: &str) -> bool {
    answer.body["id"] == id && answer.body["result"]["structuredContent"]["reason"] == reason
}
