//! A differential test against real Clojure: programs of the shared subset, both answers, and the
//! explanations of the differences that are meant.
//!
//! One JVM runs `clojure/driver.clj` and evaluates all programs. An explanation is not a pattern
//! over programs: it is the difference itself, written in Clojure in `clojure/explanations.clj`.
//! It explains a program if Clojure with that change answers as we do.

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

/// A difference that is meant.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The row of the language's list of differences.
    pub id: String,
    /// What we do, and what Clojure does.
    pub rule: String,
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clojure")
}

/// The explanations as they are listed.
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

/// What a program did.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// A printed value, and what was printed before.
    Value(String, String),
    /// A fault, in the words of whoever faulted.
    Fault(String),
    /// A limit ended it.
    Slow,
}

impl Answer {
    /// Whether two answers are the same; how a fault is worded does not matter.
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

    /// Whether this is what Clojure answers under an explanation. One that takes too long says nothing.
    fn is_explained_by(&self, answer: &Answer) -> bool {
        *answer != Answer::Slow && self.agrees(answer)
    }
}

/// The explanation by the order of sets.
const SETS: &str = "SETS";

/// Sets of explanations tried for one program.
const MOST_TRIED: usize = 100;

/// A running Clojure.
pub struct Clojure {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Each explanation with the names it changes.
    known: Vec<(String, Vec<String>)>,
    /// How often each one has explained a program alone.
    alone: BTreeMap<String, u64>,
}

impl Clojure {
    /// Starts the `clojure` command (or the one `PTC_CLOJURE` names), if there is one.
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

    /// The names of the explanations, in the order they are applied.
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

    /// Clojure's answer, with these explanations applied.
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

    /// The fewest explanations under which Clojure gives `ours`, if there are any.
    pub fn explain(&mut self, source: &str, ours: &Answer) -> Option<Vec<String>> {
        let words: Vec<&str> = source.split(|c: char| "()[]{} \n'#\"".contains(c)).collect();
        let mentions = |names: &Vec<String>| names.iter().any(|name| words.contains(&name.as_str()));
        let mut under: Vec<String> =
            self.known.iter().filter(|(_, names)| mentions(names)).map(|(id, _)| id.clone()).collect();
        // The order of sets cannot be made ours. But where turning it round changes Clojure's answer,
        // there is no one answer.
        let sets = under.iter().position(|id| id == SETS).map(|at| under.remove(at));
        let depends = |clojure: &mut Clojure, under: &[String]| {
            let plain: Vec<&str> = under.iter().map(String::as_str).collect();
            let turned = [&plain[..], &[SETS]].concat();
            sets.is_some() && !clojure.eval(source, &turned).agrees(&clojure.eval(source, &plain))
        };
        if depends(self, &[]) {
            return Some(vec![SETS.to_string()]);
        }
        // What explained most so far is tried first.
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

    /// Explanations found one after the other, each of which changes what Clojure answers under those before:
    /// most programs fault, and the next thing they fault at is seen when the first is explained.
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

/// Our answer.
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
