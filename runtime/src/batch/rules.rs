//! Several programs over each record, which is parsed once.

use super::input::Input;
use super::rows::Record;
use super::stream::{Text, Written};
use super::{Batch, Summary, guarded};
use crate::evaluator::Evaluator;
use crate::host::Runtime;
use crate::program::Program;
use crate::run::Failure;
use crate::tally::Watching;
use ptc_bytecode::Diagnostic;
use ptc_compiler::Projection;
use std::io::{self, Write};
use std::sync::Arc;

/// Programs by name, the work of [`Batch::rules`].
#[derive(Clone)]
pub struct Rules(Arc<[Rule]>);

struct Rule {
    name: Arc<str>,
    /// Name as a JSON string.
    key: String,
    program: Program,
}

impl Rules {
    /// Returns the programs.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.0.iter().map(|rule| &rule.program)
    }
}

impl Batch<Rules> {
    /// Runs every program over every record. A result is one object, with the value of each program under its name;
    /// programs are isolated from each other, and each has its own budget.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let rules = [
    ///     ("large", runtime.compile("(>= (- (:amount data/row) 100) 0)")?),
    ///     ("fee", runtime.compile("(quot (:amount data/row) 10)")?),
    /// ];
    /// let input: &[u8] = b"{\"amount\": 40}\n{\"amount\": 120}\n{\"amount\": null}";
    ///
    /// let (mut output, mut failed) = (Vec::new(), Vec::new());
    /// let summary = Batch::rules(&runtime, rules).lines(input, &mut output, |line, rule, failure| {
    ///     failed.push((line, rule.map(str::to_string), failure.reason()));
    ///     Ok(())
    /// });
    /// let expected = "{\"large\":false,\"fee\":4}\n{\"large\":true,\"fee\":12}\n";
    /// assert_eq!(String::from_utf8(output)?, expected);
    /// let both = [(3, Some("large".into()), "type_error"), (3, Some("fee".into()), "type_error")];
    /// assert_eq!(failed, both);
    /// assert_eq!((summary.results, summary.failures), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rules<N: AsRef<str>>(
        runtime: &Runtime,
        rules: impl IntoIterator<Item = (N, Program)>,
    ) -> Batch<Rules> {
        let rule = |(name, program): (N, Program)| {
            let name: Arc<str> = name.as_ref().into();
            Rule { key: serde_json::Value::from(&*name).to_string(), name, program }
        };
        let rules: Arc<[Rule]> = rules.into_iter().map(rule).collect();
        let watching = Watching::of(rules.iter().map(|rule| &rule.program));
        Batch::of(runtime, Rules(rules), watching)
    }

    /// Returns warnings about fields that this program reads but no record had, once the batch has ended, like
    /// [`Batch::warnings`]. Empty for an unknown name.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let rules = [
    ///     ("large", runtime.compile("(:amount data/row)")?),
    ///     ("fee", runtime.compile("(:amuont data/row)")?),
    /// ];
    /// let batch = Batch::rules(&runtime, rules);
    /// let input: &[u8] = b"{\"amount\": 40}\n{\"amount\": 120}\n";
    /// let _ = batch.lines(input, &mut Vec::new(), |_, _, _| Ok(()));
    /// assert!(batch.warnings_of("large").is_empty());
    /// assert_eq!(batch.warnings_of("fee")[0].hint.as_deref(), Some("did you mean `:amount`?"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings_of(&self, name: &str) -> Vec<Diagnostic> {
        let rule = self.work.0.iter().find(|rule| &*rule.name == name);
        rule.map(|rule| self.tally.warnings(&rule.program)).unwrap_or_default()
    }

    /// Reads one JSON text per line and writes one object per line. `failed` receives the line number, from 1, and
    /// the name of every program that failed on it; no name for a line that could not be read. The programs that
    /// did not fail still give their part, and a record on which all failed gives no line.
    pub fn lines<'i>(
        &self,
        input: impl Into<Input<'i>>,
        output: impl Write,
        mut failed: impl FnMut(u64, Option<&str>, Failure) -> io::Result<()>,
    ) -> Summary {
        let too_long = |number, failure| (number, None, failure);
        let tell = |(number, rule, failure): FailedRecord| failed(number, rule.as_deref(), failure);
        let projection = &self.projection();
        let worker = || Worker { batch: self, projection, evaluator: None };
        self.stream(input.into(), Text(output, tell), worker, Worker::record, too_long)
    }
}

/// A failure with its line and program.
type FailedRecord = (u64, Option<Arc<str>>, Failure);

/// State of one thread: one machine for all programs.
struct Worker<'a> {
    batch: &'a Batch<Rules>,
    /// The parts of a record that any of the programs can observe.
    projection: &'a Projection,
    evaluator: Option<Evaluator>,
}

impl Worker<'_> {
    fn record(&mut self, number: u64, one: Record<'_>, written: &mut Written<String, FailedRecord>) -> u64 {
        let start = written.made.len();
        let failures = written.failures.len();
        written.made.push('{');
        let mut fuel = 0;
        // True once the machine holds the record.
        let mut held = false;
        for rule in self.batch.work.0.iter() {
            let before = written.made.len();
            if before > start + 1 {
                written.made.push(',');
            }
            written.made.push_str(&rule.key);
            written.made.push(':');
            let ran = self.rule(rule, one, held, &mut written.made);
            held = ran.is_ok();
            match ran {
                Ok(spent) => fuel += spent,
                Err(Failed { failure, unread }) => {
                    fuel += failure.fuel;
                    written.made.truncate(before);
                    written.failures.push((number, (!unread).then(|| rule.name.clone()), *failure));
                    if unread {
                        break;
                    }
                }
            }
        }
        let some = written.made.len() > start + 1;
        if some || self.batch.work.0.is_empty() {
            written.made.push_str("}\n");
        } else {
            written.made.truncate(start);
        }
        if written.failures.len() > failures {
            written.failed += 1;
        } else {
            written.results += 1;
        }
        fuel
    }

    /// Runs one program and writes its value as JSON; returns its fuel.
    fn rule(&mut self, rule: &Rule, one: Record<'_>, held: bool, text: &mut String) -> Result<u64, Failed> {
        let (batch, program) = (self.batch, &rule.program);
        // Taken out, so that an evaluator that panicked is not used again.
        let mut evaluator =
            self.evaluator.take().unwrap_or_else(|| batch.evaluator(program, self.projection));
        evaluator.set_program(program);
        let kept = &mut self.evaluator;
        let mut unread = false;
        let ran = guarded(program, || {
            let same = if held { evaluator.over_same() } else { None };
            let ran = match same {
                Some(ran) => ran,
                None => one.run(&mut evaluator, &batch.name),
            };
            let ran = ran.map(|outcome| outcome.append_json(text).map(|()| outcome.fuel));
            unread = ran.is_err() && evaluator.was_unread();
            *kept = Some(evaluator);
            ran?.map_err(|fault| Failure::of(fault, None, program.clone()))
        });
        ran.map_err(|failure| Failed { failure: Box::new(failure), unread })
    }
}

/// Failure of a program; `unread` if the record could not be read.
struct Failed {
    failure: Box<Failure>,
    unread: bool,
}
