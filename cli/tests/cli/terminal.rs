//! `ptc repl` and `ptc agent` on a terminal: a real one from the process's side, and a screen from ours.

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long to wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal with `ptc` on it.
struct Terminal {
    screen: vt100::Parser,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    _pty: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// The REPL.
    fn start(args: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let args: Vec<&str> = std::iter::once("repl").chain(args.iter().copied()).collect();
        Terminal::ptc(&args, variables)
    }

    /// Any command.
    fn ptc(args: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let size = PtySize { rows: 30, cols: 90, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ptc"));
        command.args(args);
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        command.env("PTC_HISTORY", "off");
        variables.iter().for_each(|(name, value)| command.env(name, value));
        let child = pty.slave.spawn_command(command).expect("ptc starts");
        let mut reader = pty.master.try_clone_reader().expect("a reader");
        let keys = pty.master.take_writer().expect("a writer");
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = vt100::Parser::new(30, 90, 0);
        Terminal { screen, keys, output, child, _pty: pty.master }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("typed");
        self.keys.flush().expect("typed");
    }

    /// Takes what the process writes. A terminal is asked where its cursor is, and answers.
    fn take(&mut self, bytes: &[u8]) {
        const WHERE: &[u8] = b"\x1b[6n";
        let mut from = 0;
        while let Some(at) = bytes[from..].windows(WHERE.len()).position(|part| part == WHERE) {
            self.screen.process(&bytes[from..from + at]);
            let (row, column) = self.screen.screen().cursor_position();
            self.press(&format!("\x1b[{};{}R", row + 1, column + 1));
            from += at + WHERE.len();
        }
        self.screen.process(&bytes[from..]);
    }

    fn text(&self) -> String {
        let lines = self.screen.screen().contents();
        lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_string()
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    fn wait(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            match self.output.recv_timeout(Duration::from_millis(100)) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if wanted(&self.text()) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("it ended without {what}:\n{}", self.text()),
            }
            if wanted(&self.text()) {
                return self.text();
            }
            assert!(started.elapsed() < PATIENCE, "no {what}:\n{}", self.text());
        }
    }

    /// Waits until this stands somewhere.
    #[track_caller]
    fn see(&mut self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }

    /// Waits for an empty prompt below everything else.
    #[track_caller]
    fn prompt(&mut self) -> String {
        self.wait("a prompt", |screen| screen.lines().last() == Some("ptc>"))
    }

    /// Waits until the process has ended; gives its exit code.
    #[track_caller]
    fn ends(mut self) -> u32 {
        let started = Instant::now();
        loop {
            match self.output.recv_timeout(Duration::from_millis(20)) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => {
                    if let Some(status) = self.child.try_wait().expect("a state") {
                        return status.exit_code();
                    }
                }
            }
            assert!(started.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind.
        let _ = self.child.kill();
    }
}

#[test]
fn forms_go_on_until_they_are_closed() {
    let mut terminal = Terminal::start(&[], &[]);
    terminal.prompt();
    terminal.press("(defn twice [x]\r");
    // The next line has its own prompt and is moved in; what the form still wants is hinted at.
    terminal.see("\n...    body…");
    assert_eq!(terminal.screen.screen().cursor_position().1, 7, "{}", terminal.text());
    terminal.press("(* 2 x))\r");
    let screen = terminal.see("=> #'twice");
    assert!(screen.contains("ptc> (defn twice [x]\n...    (* 2 x))\n=> #'twice"), "{screen}");
    terminal.prompt();
    terminal.press("(map twice [1 2 3])\r");
    terminal.see("=> [2 4 6]");
    terminal.prompt();
    // Pasted text comes as it is, and line ends in it send nothing.
    terminal.press("\x1b[200~{:a 1\n :b [2\n3]}\x1b[201~");
    terminal.see("...  3]}");
    terminal.press("\r");
    terminal.see("=> {:a 1 :b [2 3]}");
    terminal.prompt();
    terminal.press("\x04");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn tab_completes_with_the_summary() {
    let prelude = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/preludes/money.clj");
    let mut terminal = Terminal::start(&["-p", prelude], &[]);
    let screen = terminal.prompt();
    assert!(screen.contains("money (4 exports) - Amounts in cents"), "{screen}");
    // One candidate is taken at once.
    terminal.press("(frequ\t");
    terminal.see("ptc> (frequencies");
    terminal.press(" [1 1])\r");
    terminal.see("=> {1 2}");
    terminal.prompt();
    // Several are shown, with what the chosen one does.
    terminal.press("(def money-mine 5)\r");
    terminal.see("#'money-mine");
    terminal.prompt();
    terminal.press("(mon\t");
    let screen = terminal.see("money/with-tax");
    assert!(screen.contains("money-mine") && screen.contains("defined in this session"), "{screen}");
    terminal.press("\t");
    terminal.see("rates - Percent of tax by country.");
    terminal.press("\r");
    terminal.see("ptc> (money/rates");
    // F1 tells of the name at the cursor, and the input is still there.
    terminal.press("\x1bOP");
    let screen = terminal.see("constant in money");
    assert!(screen.contains("visibility prompt, effect pure"), "{screen}");
    terminal.wait("the input again", |screen| screen.lines().last() == Some("ptc> (money/rates"));
    terminal.press("\x03");
    terminal.prompt();
    // Commands complete too.
    terminal.press(":apr\t");
    terminal.see("ptc> :apropos");
    terminal.press("\x03");
    terminal.prompt();
    terminal.press("\x04");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn ctrl_c_clears_an_input_and_stops_a_program() {
    let mut terminal = Terminal::start(&["--timeout", "1h", "--limit", "fuel=1000000000000000"], &[]);
    terminal.prompt();
    terminal.press("(def kept 7)\r");
    terminal.see("=> #'kept");
    terminal.prompt();
    terminal.press("(+ kept 1");
    terminal.see("ptc> (+ kept 1");
    terminal.press("\x03");
    terminal.prompt();
    terminal.press("(def kept 8) (loop [i 0] (recur (inc i)))\r");
    // The first may come before the program runs, where there is nothing to stop; hence another, in a while.
    let started = Instant::now();
    while !terminal.text().contains("stopped by Ctrl-C") {
        assert!(started.elapsed() < PATIENCE, "it did not stop:\n{}", terminal.text());
        terminal.press("\x03");
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_secs(3) && !terminal.text().contains("stopped by Ctrl-C") {
            if let Ok(bytes) = terminal.output.recv_timeout(Duration::from_millis(50)) {
                terminal.take(&bytes);
            }
        }
    }
    // One that came too early is at the next prompt by now; what is typed behind it would go with it.
    while let Ok(bytes) = terminal.output.recv_timeout(Duration::from_secs(1)) {
        terminal.take(&bytes);
    }
    assert_eq!(terminal.text().lines().last(), Some("ptc>"), "{}", terminal.text());
    terminal.press("(list kept *1)\r");
    terminal.see("=> [7 #'kept]");
    terminal.prompt();
    terminal.press(":quit\r");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn colours_and_none() {
    let coloured = |variables: &[(&str, &str)]| {
        let mut terminal = Terminal::start(&[], variables);
        terminal.prompt();
        terminal.press("{:key (+ 1 nil)}\r");
        terminal.see("needs numbers");
        terminal.prompt();
        terminal.press("[:answer]\r");
        terminal.see("=> [:answer]");
        terminal.prompt();
        let screen = terminal.screen.screen();
        let is_coloured = |cell: &vt100::Cell| cell.fgcolor() != vt100::Color::Default;
        let cells = (0..30).flat_map(|row| (0..90).filter_map(move |column| screen.cell(row, column)));
        let count = cells.filter(|cell| is_coloured(cell)).count();
        terminal.press("\x04");
        assert_eq!(terminal.ends(), 0);
        count
    };
    assert!(coloured(&[]) > 20);
    assert_eq!(coloured(&[("NO_COLOR", "1")]), 0);
}

#[test]
fn history_is_kept_for_its_owner_unless_told_otherwise() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("history");
    let _ = std::fs::remove_dir_all(&folder);
    let file = folder.join("deep/history");
    let name = file.display().to_string();
    let mut terminal = Terminal::start(&[], &[("PTC_HISTORY", &name)]);
    terminal.prompt();
    terminal.press("(str \"remember\"\r\"me\")\r");
    terminal.see("\"rememberme\"");
    terminal.prompt();
    terminal.press(" (str \"not\" \"this\")\r");
    terminal.see("\"notthis\"");
    terminal.prompt();
    terminal.press("\x04");
    assert_eq!(terminal.ends(), 0);
    let kept = std::fs::read_to_string(&file).expect("a history");
    assert!(kept.contains("remember") && !kept.contains("not"), "{kept}");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    // The next session has it: the key for up brings it back.
    let mut terminal = Terminal::start(&["--history", &name], &[]);
    terminal.prompt();
    terminal.press("\x1b[A");
    terminal.see("(str \"remember\"");
    terminal.press("\r");
    terminal.see("=> \"rememberme\"");
    terminal.prompt();
    terminal.press("\x04");
    assert_eq!(terminal.ends(), 0);
    // And a session without history has none.
    let mut terminal = Terminal::start(&["--no-history"], &[("PTC_HISTORY", &name)]);
    terminal.prompt();
    terminal.press("\x1b[A:done\r");
    terminal.see("=> :done");
    terminal.prompt();
    terminal.press("\x04");
    assert_eq!(terminal.ends(), 0);
    assert_eq!(std::fs::read_to_string(&file).expect("a history"), kept);
}

/// Seed 001: a mission can be watched, and ended.
#[test]
fn a_mission_shows_that_it_waits_and_ends_with_ctrl_c() {
    // A provider that takes the call and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let llm = format!("openai-compat:http://{}|slow", silent.local_addr().expect("an address"));
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/letter.toml");
    let trace = std::env::temp_dir().join(format!("ptc-cancelled-{}.jsonl", std::process::id()));
    let name = trace.display().to_string();
    let args = [
        "agent",
        "run",
        agent,
        "--input",
        "customers=[]",
        "--input",
        "days=1",
        "--llm",
        &llm,
        "--trace",
        &name,
    ];
    let mut terminal = Terminal::ptc(&args, &[]);
    terminal.see("letter: turn 1, asking");
    terminal.press("\x03");
    terminal.see("error: cancelled");
    assert_eq!(terminal.ends(), 130);
    let text = std::fs::read_to_string(&trace).expect("a trace");
    std::fs::remove_file(&trace).expect("a file");
    assert!(text.contains("\"run.stop\"") && text.contains("\"trace.stop\""), "the trace is whole: {text}");
}

/// A person sees turns, programs and calls without asking for them.
#[test]
fn a_mission_on_a_terminal_shows_its_turns() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents");
    let (agent, cassette) = (format!("{folder}/orders.toml"), format!("{folder}/orders.jsonl"));
    let args = [
        "agent",
        "run",
        &agent,
        "--replay",
        &cassette,
        "--input",
        "country=DE",
        "--input",
        "today=2031-04-03",
    ];
    let mut terminal = Terminal::ptc(&args, &[]);
    // The beginning has left the small screen.
    let screen = terminal.see("turn 3\n");
    assert!(screen.contains("tool/write_letter"), "{screen}");
    assert_eq!(terminal.ends(), 0);
    // Whoever wants data wants nothing else.
    let mut terminal = Terminal::ptc(&args.iter().copied().chain(["--json"]).collect::<Vec<_>>(), &[]);
    let screen = terminal.see("\"ok\":true");
    assert!(!screen.contains("turn 3"), "{screen}");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_reply_is_on_the_terminal_before_it_is_whole() {
    use ptc_testkit::provider::{Answer, Provider, event_head, named_events};
    let piece = |text: &str| serde_json::json!({"choices": [{"delta": {"content": text}}]});
    let begun = named_events(&[piece("(def half\n"), piece("  (quot \u{1b}[2J")]);
    // A provider that stops in the middle, and hangs on.
    let server = Provider::start([Answer::Stuck([event_head(), begun].concat())]);
    let llm = format!("openai-compat:{}|slow", server.url);
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/agents/letter.toml");
    let args =
        ["agent", "run", agent, "--input", "customers=[]", "--input", "days=1", "--llm", &llm, "--stream"];
    let mut terminal = Terminal::ptc(&args, &[]);
    terminal.see("turn 1\n  (def half\n    (quot ␛[2J");
    terminal.press("\x03");
    terminal.see("\nerror: cancelled");
    assert_eq!(terminal.ends(), 130);
}

/// Whoever waits is told what for.
#[test]
fn waiting_at_a_terminal_is_explained() {
    let mut terminal = Terminal::ptc(&["eval"], &[]);
    terminal.see("reading a program from the terminal; end with Ctrl-D");
    terminal.press("(+ 20 22)\r\x04");
    terminal.see("42");
    assert_eq!(terminal.ends(), 0);
    let mut terminal = Terminal::ptc(&["eval", "data/x", "--data", "x=@-"], &[]);
    terminal.see("reading data/x from the terminal; end with Ctrl-D");
    terminal.press("[7]\r\x04");
    terminal.see("[7]\n[7]");
    assert_eq!(terminal.ends(), 0);
    let mut terminal = Terminal::ptc(&["mcp"], &[]);
    terminal.see("serving MCP on standard input and output; end with Ctrl-D");
    terminal.press("\x04");
    assert_eq!(terminal.ends(), 0);
}

/// Progress is for people: on a terminal, while results go elsewhere.
#[test]
fn a_batch_on_a_terminal_shows_how_fast_it_is() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("progress");
    std::fs::create_dir_all(&folder).expect("a folder");
    let output = folder.join("out.jsonl").display().to_string();
    let records = folder.join("records.jsonl");
    std::fs::write(&records, "1\n".repeat(3_000)).expect("a file");
    let program = "(reduce + data/row (range 300))";
    let args = ["batch", "-e", program, "-o", &output, &records.display().to_string()];
    let mut terminal = Terminal::ptc(&args, &[]);
    terminal.see("records (");
    let screen = terminal.see("3000 records: 3000 results, 0 failures");
    assert!(!screen.contains("/s), 0 failed"), "the bar goes: {screen}");
    assert_eq!(terminal.ends(), 0);
    // What is typed would run through the bar.
    let mut terminal = Terminal::ptc(&args[..5], &[]);
    terminal.see("reading records, one per line, from the terminal");
    terminal.press("1\r\x04");
    let screen = terminal.see("1 records: 1 results");
    assert!(!screen.contains("records ("), "{screen}");
    assert_eq!(terminal.ends(), 0);
}
