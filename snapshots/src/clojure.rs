//! A differential test against real Clojure: programs of the shared subset, both answers, and explanations of
//! the intended differences.
//!
//! One JVM runs `clojure/driver.clj` and evaluates all programs. An explanation is not a pattern over programs:
//! it is the difference itself, written in Clojure in `clojure/explanations.clj`. It explains a program if
//! Clojure with that change gives our answer.

mod bindings;
mod functions;
mod generator;
mod literals;
pub mod page;
pub mod reference;
mod tables;
mod template;
mod types;

pub use generator::{bytes, program};

use crate::canon::same;
use crate::oracle::{Oracle, Subject};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An intended difference.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Id of its row in the language's list of differences.
    pub id: String,
    /// Our behaviour and Clojure's.
    pub rule: String,
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clojure")
}

/// Reads the list of explanations.
///
/// # Panics
///
/// If the list cannot be read.
pub fn explanations() -> Vec<Explanation> {
    let text = std::fs::read_to_string(home().join("explanations.toml")).expect("the list of explanations");
    let table: toml::Table = text.parse().expect("explanations.toml");
    let rows = table["explanation"].as_array().expect("a list of explanations");
    let word = |row: &toml::Value, name: &str| row[name].as_str().expect(name).to_string();
    rows.iter().map(|row| Explanation { id: word(row, "id"), rule: word(row, "rule") }).collect()
}

/// Outcome of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The printed value, and the text printed before.
    Value(String, String),
    /// A fault, with the message of whichever side ran the program.
    Fault(String),
    /// The program reached a limit.
    Slow,
}

impl Answer {
    /// Returns whether two answers agree; messages of faults do not matter.
    pub fn agrees(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Value(a, prints), Answer::Value(b, others)) => {
                prints == others && (a == b || same(a, b).unwrap_or(false))
            }
            (Answer::Fault(_), Answer::Fault(_)) => true,
            (Answer::Slow, _) | (_, Answer::Slow) => true,
            _ => false,
        }
    }

    /// Returns whether this is Clojure's answer under an explanation. A program that takes too long explains nothing.
    fn is_explained_by(&self, answer: &Answer) -> bool {
        *answer != Answer::Slow && self.agrees(answer)
    }
}

/// Id of the explanation by the order of sets.
const SETS: &str = "SETS";

/// Maximum number of combinations of explanations tried for one program.
const MOST_TRIED: usize = 100;

/// A running Clojure process.
pub struct Clojure {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Each explanation, with the names it changes.
    known: Vec<(String, Vec<String>)>,
    /// Number of programs that each explanation has explained alone.
    alone: BTreeMap<String, u64>,
}

impl Clojure {
    /// Starts the `clojure` command (or the one in `PTC_CLOJURE`), if it exists.
    pub fn start() -> Option<Clojure> {
        let command = std::env::var("PTC_CLOJURE").unwrap_or_else(|_| "clojure".into());
        let mut child = Command::new(command)
            .arg(home().join("driver.clj"))
            .arg(home().join("explanations.clj"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let requests = child.stdin.take()?;
        let answers = BufReader::new(child.stdout.take()?);
        let mut clojure = Clojure { child, requests, answers, known: Vec::new(), alone: BTreeMap::new() };
        let known = clojure.request(&["?"])?;
        let row = |line: &String| {
            let mut words = line.split(' ').map(str::to_string);
            (words.next().unwrap_or_default(), words.collect())
        };
        clojure.known = known.iter().map(row).collect();
        Some(clojure)
    }

    /// Returns the ids of the explanations, in the order they are applied.
    pub fn known(&self) -> Vec<&str> {
        self.known.iter().map(|(id, _)| id.as_str()).collect()
    }

    fn request(&mut self, parts: &[&str]) -> Option<Vec<String>> {
        writeln!(self.requests, "{}", serde_json::to_string(parts).ok()?).ok()?;
        self.requests.flush().ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Returns Clojure's answer, with these explanations applied.
    ///
    /// # Panics
    ///
    /// If Clojure is gone.
    pub fn eval(&mut self, source: &str, under: &[&str]) -> Answer {
        let mut parts = vec![source];
        parts.extend(under);
        let answer = self.request(&parts).expect("Clojure answers");
        let part = |at: usize| answer.get(at).cloned().unwrap_or_default();
        match part(0).as_str() {
            "value" => Answer::Value(part(1), part(2)),
            "fault" => Answer::Fault(part(1)),
            _ => Answer::Slow,
        }
    }

    /// Returns the smallest set of explanations under which Clojure gives `ours`, if there is one.
    pub fn explain(&mut self, source: &str, ours: &Answer) -> Option<Vec<String>> {
        let words: Vec<&str> = source.split(|c: char| "()[]{} \n'#\"".contains(c)).collect();
        let mentions = |names: &Vec<String>| names.iter().any(|name| words.contains(&name.as_str()));
        let mut under: Vec<String> =
            self.known.iter().filter(|(_, names)| mentions(names)).map(|(id, _)| id.clone()).collect();
        // The order of sets cannot be made equal to ours. But if reversing it changes Clojure's answer, the
        // program has no single answer.
        let sets = under.iter().position(|id| id == SETS).map(|at| under.remove(at));
        let depends = |clojure: &mut Clojure, under: &[String]| {
            let plain: Vec<&str> = under.iter().map(String::as_str).collect();
            let turned = [&plain[..], &[SETS]].concat();
            sets.is_some() && !clojure.eval(source, &turned).agrees(&clojure.eval(source, &plain))
        };
        if depends(self, &[]) {
            return Some(vec![SETS.to_string()]);
        }
        // Explanations that have explained the most programs so far are tried first.
        let mut likely = under.clone();
        likely.sort_by_key(|id| Reverse(self.alone.get(id).copied()));
        let mut holds = |under: &[String]| {
            let under: Vec<&str> = under.iter().map(String::as_str).collect();
            ours.is_explained_by(&self.eval(source, &under))
        };
        if let Some(one) = likely.into_iter().find(|one| holds(std::slice::from_ref(one))) {
            *self.alone.entry(one.clone()).or_default() += 1;
            return Some(vec![one]);
        }
        if !holds(&under) {
            if let Some(found) = self.walk(source, ours, &under) {
                return Some(found);
            }
            under.push(SETS.to_string());
            return depends(self, &under[..under.len() - 1]).then_some(under);
        }
        let mut at = 0;
        while at < under.len() {
            let mut fewer = under.clone();
            fewer.remove(at);
            if holds(&fewer) { under = fewer } else { at += 1 }
        }
        Some(under)
    }

    /// Finds explanations one after another, each of which changes Clojure's answer under the previous ones:
    /// most programs fault, and the next fault only appears once the first is explained.
    fn walk(&mut self, source: &str, ours: &Answer, ids: &[String]) -> Option<Vec<String>> {
        let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
        let mut open = VecDeque::from([(Vec::new(), self.eval(source, &[]))]);
        while let Some((under, answer)) = open.pop_front() {
            for next in (0..ids.len()).filter(|next| !under.contains(next)) {
                let mut more: Vec<usize> = under.clone();
                more.push(next);
                more.sort_unstable();
                if seen.len() >= MOST_TRIED || !seen.insert(more.clone()) {
                    continue;
                }
                let names: Vec<&str> = more.iter().map(|at| ids[*at].as_str()).collect();
                let changed = self.eval(source, &names);
                if ours.is_explained_by(&changed) {
                    return Some(names.into_iter().map(str::to_string).collect());
                }
                if changed != answer {
                    open.push_back((more, changed));
                }
            }
        }
        None
    }
}

impl Drop for Clojure {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns our answer to a program.
pub fn ours(subject: &mut Subject, source: &str) -> Answer {
    match subject.eval(source) {
        Ok(value) => {
            let prints: String = subject.prints().iter().map(|line| format!("{line}\n")).collect();
            Answer::Value(value, prints)
        }
        Err("fuel_exceeded" | "memory_exceeded" | "stack_exceeded" | "output_exceeded" | "timeout") => {
            Answer::Slow
        }
        Err(reason) => Answer::Fault(reason.to_string()),
    }
}
