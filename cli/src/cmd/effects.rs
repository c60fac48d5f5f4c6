//! `ptc effects`: what programs changed outside.

use crate::args::{EffectsArgs, EffectsCommand, LedgerAt, VerdictArg};
use crate::problem::Problem;
use crate::quantity::counted;
use crate::recording::{existing, path, told};
use crate::report::{self, FAULT, OK, USAGE, for_stdout};
use pollster::block_on;
use ptc_bytecode::Code;
use ptc_runtime::effects::{
    Entry, Filter, Forget, Ledger, LedgerError, Outcome, State, Verdict, answer_json,
};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Length of arguments in a list, in characters.
const ARGS: usize = 60;

pub fn run(args: &EffectsArgs) -> ExitCode {
    if let EffectsCommand::Apply { plan, command } = &args.command {
        return apply(plan, command);
    }
    let (EffectsCommand::List { at, .. }
    | EffectsCommand::Show { at, .. }
    | EffectsCommand::Settle { at, .. }
    | EffectsCommand::Prune { at, .. }
    | EffectsCommand::Forget { at, .. }) = &args.command
    else {
        return ExitCode::from(USAGE);
    };
    match open(at).and_then(|ledger| act(&args.command, &*ledger)) {
        Ok(Done { text, json }) => {
            let text = if at.json { format!("{json}\n") } else { for_stdout(&text).into_owned() };
            report::out(&text, OK)
        }
        Err(Stop::Refused(why)) if at.json => {
            report::out(&format!("{}\n", json!({"ok": false, "error": why})), FAULT)
        }
        Err(Stop::Refused(why)) => {
            eprintln!("error: {why}");
            ExitCode::from(FAULT)
        }
        Err(Stop::Problem(problem)) => report::problem(&problem, at.json),
    }
}

/// Runs a command that carries a plan out.
fn apply(plan: &Path, command: &[OsString]) -> ExitCode {
    // Only these can have been planned. What is in the plan decides nothing here: its author is not trusted.
    let words = command.iter().take_while(|word| !word.to_string_lossy().starts_with('-'));
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let verbs = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run" | "eval", ..] => 1,
        ["agent", "run", ..] => 2,
        _ => {
            let problem =
                Problem::new(Code::InvalidConfig, "a plan is carried out by `run`, `eval` or `agent run`");
            let hint = "ptc effects apply PLAN run FILE, with the flags that it was planned with";
            return report::problem(&problem.hint(hint), false);
        }
    };
    let mut words: Vec<OsString> = command.to_vec();
    words.splice(verbs..verbs, [OsString::from("--apply"), plan.as_os_str().to_owned()]);
    words.insert(0, OsString::from("ptc"));
    crate::run(words)
}

/// What is printed.
struct Done {
    text: String,
    json: Value,
}

/// Why nothing was done.
enum Stop {
    Problem(Problem),
    Refused(String),
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Stop {
        match error {
            LedgerError::Refused(why) => Stop::Refused(why),
            other => Stop::Problem(told(other)),
        }
    }
}

fn open(at: &LedgerAt) -> Result<Arc<dyn Ledger>, Stop> {
    let wrong =
        |message: String, hint: &str| Stop::Problem(Problem::new(Code::InvalidConfig, message).hint(hint));
    let Some(path) = path(at.effects.as_deref()) else {
        return Err(wrong("which ledger?".to_string(), "--effects FILE, or set $PTC_EFFECTS"));
    };
    // Looking at a ledger does not make one.
    existing(&path)?.ok_or_else(|| {
        wrong(format!("there is no ledger in {}", path.display()), "`ptc run --effects FILE` makes one")
    })
}

fn act(command: &EffectsCommand, ledger: &dyn Ledger) -> Result<Done, Stop> {
    match command {
        EffectsCommand::List { states, run, newest, .. } => {
            let states = states.iter().filter_map(|name| State::from_name(name)).collect();
            // One more than is shown tells whether there are more.
            let filter = Filter { run: run.clone(), states, newest: Some(newest.saturating_add(1)) };
            let mut entries = block_on(ledger.list(filter))?;
            let has_more = entries.len() > *newest;
            entries.drain(..entries.len().saturating_sub(*newest));
            Ok(list(&entries, has_more))
        }
        EffectsCommand::Show { id, .. } => match block_on(ledger.get(id))? {
            Some(entry) => Ok(shown(&entry)),
            None => {
                Err(Stop::Refused(format!("the ledger has no effect `{id}`; `ptc effects list` shows all")))
            }
        },
        EffectsCommand::Settle { id, verdict, answer, .. } => {
            let entry = block_on(ledger.settle(id, verdict_of(*verdict, answer.as_deref())?))?;
            Ok(shown(&entry))
        }
        EffectsCommand::Apply { .. } => Err(Stop::Refused("a plan needs no ledger".to_string())),
        EffectsCommand::Prune { older_than, .. } => {
            let age = Duration::from_secs(older_than * 24 * 60 * 60);
            let before = SystemTime::now().checked_sub(age).unwrap_or(UNIX_EPOCH);
            let pruned = block_on(ledger.forget(Forget::OlderThan(before)))?;
            let text = format!("forgot {}\n", counted(pruned, "effect"));
            Ok(Done { text, json: json!({"ok": true, "pruned": pruned}) })
        }
        EffectsCommand::Forget { run, with_open, .. } => {
            let run = Forget::Run { name: run.clone(), with_open: *with_open };
            let forgotten = block_on(ledger.forget(run))?;
            let text = format!("forgot {}\n", counted(forgotten, "effect"));
            Ok(Done { text, json: json!({"ok": true, "forgotten": forgotten}) })
        }
    }
}

fn verdict_of(verdict: VerdictArg, answer: Option<&str>) -> Result<Verdict, Stop> {
    let wrong = |message: String| Stop::Problem(Problem::new(Code::InvalidConfig, message));
    match (verdict, answer) {
        (VerdictArg::NotDone, Some(_)) => Err(wrong(
            "--answer is for calls that were done: a call that was not done is sent again".to_string(),
        )),
        (VerdictArg::NotDone, None) => Ok(Verdict::NotDone),
        (VerdictArg::Done, answer) => {
            // Without an answer the program gets nil.
            let answer = serde_json::from_str(answer.unwrap_or("null"));
            let answer = answer.map_err(|error| wrong(format!("--answer is not JSON: {error}")))?;
            Ok(Verdict::Done { answer })
        }
    }
}

fn list(entries: &[Entry], has_more: bool) -> Done {
    let mut text = String::new();
    if has_more {
        let _ = writeln!(text, "only the newest {}: `--newest` shows more", entries.len());
    }
    for entry in entries {
        let intent = &entry.intent;
        let mark = if entry.is_doubtful { "  (answered twice)" } else { "" };
        let _ = writeln!(
            text,
            "{:<8} {}  {} {}  {}{mark}",
            entry.state.name(),
            intent.id,
            intent.tool,
            short(&intent.args.to_string()),
            ago(intent.at_ms),
        );
    }
    let open = entries.iter().filter(|entry| entry.state.is_open()).count();
    if open > 0 {
        let _ = writeln!(
            text,
            "{} of unknown outcome: see what became of them, then `ptc effects settle ID done|not-done`",
            counted(open as u64, "effect")
        );
    }
    let effects: Vec<Value> = entries.iter().map(json_of).collect();
    Done { text, json: json!({"ok": true, "effects": effects, "has_more": has_more}) }
}

fn shown(entry: &Entry) -> Done {
    let intent = &entry.intent;
    let mut text = format!("{}: {}\n", intent.id, entry.state.name());
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    row("tool", &intent.tool);
    row("arguments", &intent.args.to_string());
    row("effect", &intent.effect);
    if let Some(line) = intent.line {
        row("line", &line.to_string());
    }
    row("sent", &ago(intent.at_ms));
    if entry.attempts > 1 {
        row("attempts", &entry.attempts.to_string());
    }
    match &entry.outcome {
        Some(Outcome::Done { is_dropped: true, .. }) => row("answer", "too large to keep"),
        Some(Outcome::Done { answer, .. }) => row("answer", &answer_json(answer).to_string()),
        Some(Outcome::Failed { error } | Outcome::Refused { error }) => {
            row("error", error["text"].as_str().unwrap_or("the tool answered with an error"));
        }
        Some(Outcome::Unknown { why }) => row("why", why),
        Some(Outcome::Held) | None => {}
    }
    if let Some(at) = entry.ended_ms {
        row(if entry.is_settled { "settled" } else { "ended" }, &ago(at));
    }
    if entry.is_doubtful {
        row("doubt", "an earlier attempt was answered after all, so it may have been done twice");
    }
    Done { text, json: json!({"ok": true, "effect": json_of(entry)}) }
}

/// A call as JSON, with its answer as JSON instead of the form in the ledger.
fn json_of(entry: &Entry) -> Value {
    let mut json = json!(entry);
    if let Some(Outcome::Done { answer, .. }) = &entry.outcome {
        json["outcome"]["answer"] = answer_json(answer);
    }
    json
}

fn short(text: &str) -> String {
    match text.char_indices().nth(ARGS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// How long ago a time was.
fn ago(at_ms: u64) -> String {
    let at = UNIX_EPOCH + Duration::from_millis(at_ms);
    let seconds = SystemTime::now().duration_since(at).unwrap_or_default().as_secs();
    match seconds {
        0..=59 => "just now".to_string(),
        60..=7_199 => format!("{} min ago", seconds / 60),
        7_200..=172_799 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
