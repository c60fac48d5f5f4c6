//! Runs of one program over many records: the machine, its memory and the known keys of records are reused from one to
//! the next.

use crate::bridge::{BridgeError, Feed};
use crate::host::{Grants, Runtime};
use crate::json::{JsonError, JsonReader, ReadOptions};
use crate::program::Program;
use crate::run::{Failure, Outcome, Run};
use crate::session::define_used;
use crate::tally::{Tally, Watching};
use crate::watch::StopWatch;
use ptc_bytecode::{Code, Diagnostic};
use ptc_compiler::{DataRead, Projection};
use ptc_vm::{Fault, Frozen, Stop, StopKind, Value, Vm, is_data_name};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of frozen records that stay attached to a machine. Records of one vector count once.
const MAX_SHARED: u32 = 64;

/// Maximum times that new keys are moved to where later records share them. Data with ever new keys is not worth more.
const MAX_SETTLED: usize = 32;

/// Runs one program over many records. Each run starts with empty memory and a full budget, and is isolated from
/// earlier runs. An evaluator serves one thread; make one for each.
///
/// ```
/// use ptc_runtime::{Evaluator, Runtime};
/// # let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("(* (:price data/row) (:amount data/row))")?;
/// let mut evaluator = Evaluator::new(&runtime, &program);
/// let outcome = evaluator.json("row", r#"{"price": 3, "amount": 4}"#)?;
/// assert_eq!(outcome.get::<i64>()?, 12);
/// // A record that fails does not disturb the next.
/// assert_eq!(evaluator.json("row", r#"{"price": 3}"#).unwrap_err().reason(), "type_error");
/// assert_eq!(evaluator.json("row", r#"{"price": 3, "amount": 5}"#)?.json()?, "15");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Evaluator {
    runtime: Runtime,
    program: Program,
    grants: Grants,
    machine: Option<Machine>,
    outcome: Option<Outcome>,
    feed: Feed,
    reader: JsonReader,
    settled: usize,
    name: Arc<str>,
    members_given: Members,
    /// Names of a record's members, as in earlier records.
    members: Vec<Arc<str>>,
    /// True if the program was found to read only data of the grants and the record.
    data_checked: bool,
    /// Number of spaces attached to the machine besides those of a run.
    attached: u32,
    /// Number of those that came with frozen records.
    shared: u32,
    /// Definitions that the program uses besides its own.
    definitions: Arc<BTreeMap<String, Frozen>>,
    /// True if the last run never began, since its record could not be read.
    unread: bool,
    /// Findings of the runs, together with those of other threads.
    tally: Arc<Tally>,
    /// Watched fields and data, for this program and those it takes turns with.
    watching: Arc<Watching>,
    /// Data that members should provide, and true for each that one did.
    read_members: Vec<(DataRead, bool)>,
}

/// The use of a record's members as data of their own.
#[derive(Clone, Copy, PartialEq)]
enum Members {
    Hidden,
    /// Members are data, if a record has any.
    Offered,
    /// Members are data, and a record without members fails.
    Required,
}

struct Machine {
    vm: Box<Vm>,
    watch: Arc<StopWatch>,
}

impl Evaluator {
    /// Makes an evaluator for a program without data besides the records.
    pub fn new(runtime: &Runtime, program: &Program) -> Evaluator {
        Evaluator {
            runtime: runtime.clone(),
            program: program.clone(),
            grants: Grants::new(),
            machine: None,
            outcome: None,
            feed: Feed::default(),
            reader: JsonReader::default(),
            settled: 0,
            name: "row".into(),
            members_given: Members::Hidden,
            members: Vec::new(),
            data_checked: false,
            attached: 0,
            shared: 0,
            definitions: Arc::default(),
            unread: false,
            tally: Arc::default(),
            watching: Arc::new(Watching::of([program])),
            read_members: Vec::new(),
        }
    }

    /// Shares the tally of findings with other evaluators that watch the same fields.
    #[must_use]
    pub(crate) fn tallied(mut self, tally: &Arc<Tally>, watching: &Arc<Watching>) -> Evaluator {
        (self.tally, self.watching) = (tally.clone(), watching.clone());
        self
    }

    /// Returns warnings about fields that the program reads but no record so far had, most often misspelt. A single
    /// [`Outcome`] cannot tell: the next record may have them.
    ///
    /// ```
    /// # use ptc_runtime::{Evaluator, Runtime};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(:totl data/row)")?;
    /// let mut evaluator = Evaluator::new(&runtime, &program);
    /// assert!(evaluator.json("row", r#"{"total": 3}"#)?.warnings().is_empty());
    /// assert_eq!(evaluator.warnings()[0].hint.as_deref(), Some("did you mean `:total`?"));
    /// evaluator.json("row", r#"{"totl": 3}"#)?;
    /// assert!(evaluator.warnings().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&mut self) -> Vec<Diagnostic> {
        self.count();
        self.tally.warnings(&self.program)
    }

    /// Adds the findings of the current machine.
    fn count(&mut self) {
        let machine = self.machine.as_ref().map(|machine| &machine.vm);
        if let Some(vm) = machine.or(self.outcome.as_ref().map(|outcome| &outcome.vm)) {
            self.tally.add(vm);
        }
        if !self.read_members.is_empty() {
            self.tally.add_members(&self.read_members, self.members.iter().map(|name| &**name));
        }
    }

    /// Grants data that every run sees besides its record, and a way to cancel the runs.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Evaluator {
        self.grants = grants;
        self
    }

    /// Builds only the observed parts of records that are JSON text: the others are checked, and nil. A record then needs
    /// less of `limits.memory_bytes`.
    #[must_use]
    pub(crate) fn projecting(mut self, projection: &Projection) -> Evaluator {
        self.reader = JsonReader::projecting(projection);
        self
    }

    /// Sets definitions that the program uses besides its own.
    #[must_use]
    pub(crate) fn definitions(mut self, definitions: Arc<BTreeMap<String, Frozen>>) -> Evaluator {
        self.definitions = definitions;
        self
    }

    /// Sets whether the members of a record are `data/<member>` too; a record that is not an object then fails.
    ///
    /// ```
    /// # use ptc_runtime::{Evaluator, Runtime};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("[data/id (count data/row)]")?;
    /// let mut evaluator = Evaluator::new(&runtime, &program).fields(true);
    /// assert_eq!(evaluator.json("row", r#"{"id": 7, "name": "tea"}"#)?.json()?, "[7,2]");
    /// assert_eq!(evaluator.json("row", "[7]").unwrap_err().reason(), "invalid_data");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fields(mut self, fields: bool) -> Evaluator {
        self.members_given = if fields { Members::Required } else { Members::Hidden };
        self
    }

    /// Runs the program with anything that serialises as `data/row`, and returns its value as a Rust type. If the
    /// record is a struct or a map, its members are `data/<member>` too.
    ///
    /// ```
    /// # use ptc_runtime::{Evaluator, Runtime};
    /// # use std::collections::HashMap;
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(* data/price data/amount)")?;
    /// let mut evaluator = Evaluator::new(&runtime, &program);
    /// let total: i64 = evaluator.call(&HashMap::from([("price", 3), ("amount", 4)]))?;
    /// assert_eq!(total, 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call<T: DeserializeOwned>(&mut self, record: &(impl Serialize + ?Sized)) -> Result<T, Failure> {
        let run = self.start(record)?;
        self.finish(run)?.get()
    }

    /// Runs the program as [`Evaluator::call`] does, without blocking the polling thread.
    pub async fn call_async<T: DeserializeOwned>(
        &mut self,
        record: &(impl Serialize + ?Sized),
    ) -> Result<T, Failure> {
        let run = self.start(record)?;
        self.outcome.insert(run.finish_async().await?).get()
    }

    /// Makes the run of [`Evaluator::call`] before its first step. The next record then gets a new machine.
    pub fn start(&mut self, record: &(impl Serialize + ?Sized)) -> Result<Run, Failure> {
        let before = self.members_given;
        if before == Members::Hidden {
            self.members_given = Members::Offered;
        }
        let run = self.prepare_serde("row", record);
        self.members_given = before;
        run
    }

    /// Runs the program with the JSON text `record` as `data/<name>`.
    pub fn json(&mut self, name: &str, record: impl AsRef<[u8]>) -> Result<&Outcome, Failure> {
        let options = self.read_options();
        let run = self.prepare(name, |evaluator, vm| {
            evaluator
                .reader
                .resume(vm.heap_mut(), options)
                .parse_bytes(record.as_ref())
                .map_err(Problem::Json)
        })?;
        self.finish(run)
    }

    /// Runs the program with a vector of these JSON texts as `data/<name>`.
    pub(crate) fn json_rows(&mut self, name: &str, records: &[&[u8]]) -> Result<&Outcome, Failure> {
        let options = self.read_options();
        let run = self.prepare(name, |evaluator, vm| {
            evaluator.reader.resume(vm.heap_mut(), options).parse_rows(records).map_err(Problem::Json)
        })?;
        self.finish(run)
    }

    /// Switches to another program.
    pub(crate) fn set_program(&mut self, program: &Program) {
        self.program = program.clone();
        self.data_checked = false;
    }

    /// Runs the program over the record of the last run, which is not read again. None if that run failed, and so
    /// took the record with it.
    pub(crate) fn over_same(&mut self) -> Option<Result<&Outcome, Failure>> {
        if let Err(failure) = self.check_data() {
            return Some(Err(failure));
        }
        let Outcome { mut vm, watch, .. } = self.outcome.take()?;
        watch.reset();
        let fail = |fault: Fault| Failure::of(fault, None, self.program.clone());
        let known = vm.heap().attached_len();
        let ready = vm.attach_module(self.program.module().clone()).and_then(|module| {
            self.attached += vm.heap().attached_len() - known;
            vm.switch(module)
        });
        Some(match ready {
            Ok(()) => self.finish(self.run_of(Machine { vm, watch })),
            Err(fault) => Err(fail(fault)),
        })
    }

    /// True if the last failure was an unreadable record.
    pub(crate) fn was_unread(&self) -> bool {
        self.unread
    }

    fn read_options(&self) -> ReadOptions {
        let limit = usize::try_from(self.runtime.current_limits().memory_bytes).unwrap_or(usize::MAX);
        ReadOptions { limit_bytes: limit, ..ReadOptions::default() }
    }

    /// Runs the program with anything that serialises as `data/<name>`.
    ///
    /// ```
    /// # use ptc_runtime::{Evaluator, Runtime};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(count data/words)")?;
    /// let mut evaluator = Evaluator::new(&runtime, &program);
    /// assert_eq!(evaluator.serde("words", &["a", "b"])?.get::<usize>()?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serde<T: Serialize + ?Sized>(&mut self, name: &str, record: &T) -> Result<&Outcome, Failure> {
        let run = self.prepare_serde(name, record)?;
        self.finish(run)
    }

    /// Runs the program as [`Evaluator::serde`] does, without blocking the polling thread, which only reads the
    /// borrowed record; a pool does the rest.
    pub async fn serde_async<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        record: &T,
    ) -> Result<&Outcome, Failure> {
        let run = self.prepare_serde(name, record)?;
        Ok(self.outcome.insert(run.finish_async().await?))
    }

    /// Runs the program with a frozen value as `data/<name>`, which is not copied. This is the fastest way over records
    /// that are read more than once, if they are the [items](Frozen::items) of one vector.
    ///
    /// ```
    /// # use ptc_runtime::{Evaluator, Runtime, bridge};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let rows = bridge::freeze(&[[3, 4], [5, 6]])?.items().unwrap();
    /// let mut evaluator = Evaluator::new(&runtime, &runtime.compile("(apply * data/row)")?);
    /// assert_eq!(evaluator.frozen("row", &rows[0])?.get::<i64>()?, 12);
    /// assert_eq!(evaluator.frozen("row", &rows[1])?.get::<i64>()?, 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn frozen(&mut self, name: &str, record: &Frozen) -> Result<&Outcome, Failure> {
        let run = self.prepare_frozen(name, record)?;
        self.finish(run)
    }

    /// Runs the program as [`Evaluator::frozen`] does, without blocking the polling thread.
    pub async fn frozen_async(&mut self, name: &str, record: &Frozen) -> Result<&Outcome, Failure> {
        let run = self.prepare_frozen(name, record)?;
        Ok(self.outcome.insert(run.finish_async().await?))
    }

    fn prepare_frozen(&mut self, name: &str, record: &Frozen) -> Result<Run, Failure> {
        self.prepare(name, |_, vm| vm.share(name, record).map_err(Problem::Fault))
    }

    /// Makes a run with a vector of these values as `data/<name>`.
    pub(crate) fn prepare_all_frozen(&mut self, name: &str, records: &[&Frozen]) -> Result<Run, Failure> {
        self.prepare(name, |_, vm| {
            let items: Result<Vec<Value>, Fault> =
                records.iter().map(|record| vm.share(name, record)).collect();
            vm.heap_mut().new_vec(&items.map_err(Problem::Fault)?).map_err(Problem::Stop)
        })
    }

    /// Runs the program again without a record.
    ///
    /// ```
    /// # use ptc_runtime::{Evaluator, Runtime};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let mut evaluator = Evaluator::new(&runtime, &runtime.compile("(reduce + (range 10))")?);
    /// assert_eq!(evaluator.again()?.get::<i64>()?, 45);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn again(&mut self) -> Result<&Outcome, Failure> {
        self.runtime.check_data(&self.program, self.grants.names())?;
        let machine = self.ready()?;
        self.finish(self.run_of(machine))
    }

    /// Refuses a program that names data which neither the grants nor the record provide. The members of a record
    /// are only known once it is read, so with those a program finds out when it reads one.
    fn check_data(&mut self) -> Result<(), Failure> {
        if self.members_given == Members::Hidden && !self.data_checked {
            self.runtime.check_data(&self.program, self.grants.names().chain([&*self.name]))?;
            self.data_checked = true;
        }
        Ok(())
    }

    pub(crate) fn prepare_serde<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        record: &T,
    ) -> Result<Run, Failure> {
        self.prepare(name, |evaluator, vm| {
            evaluator.feed.value(vm.heap_mut(), record).map_err(Problem::Serde)
        })
    }

    /// Makes a run over a record, before its first step.
    fn prepare(
        &mut self,
        name: &str,
        read: impl Fn(&mut Evaluator, &mut Vm) -> Result<Value, Problem>,
    ) -> Result<Run, Failure> {
        self.unread = false;
        if &*self.name != name {
            self.name = name.into();
            self.data_checked = false;
        }
        self.check_data()?;
        let mut machine = self.ready()?;
        self.unread = true;
        let value = loop {
            // Only the data being read is alive, so a full heap is cleared and grown.
            let problem = match read(self, &mut machine.vm) {
                Ok(value) => break value,
                Err(problem) => problem,
            };
            let grown = match problem.into_stop() {
                Err(fault) => Err(fault),
                Ok(stop) => match stop.into_kind() {
                    StopKind::Fault(fault) => Err(fault),
                    StopKind::Room { cells, text } => {
                        machine.vm.restart().and_then(|()| machine.vm.heap_mut().collected_for(cells, text))
                    }
                },
            };
            self.feed.names.forget();
            self.reader.forget();
            if let Err(fault) = grown {
                self.machine = Some(machine);
                return Err(Failure::of(fault, None, self.program.clone()));
            }
        };
        if self.members_given != Members::Hidden
            && let Err(fault) = self.give_members(&mut machine.vm, value)
        {
            self.machine = Some(machine);
            return Err(Failure::of(fault, None, self.program.clone()));
        }
        machine.vm.give(&self.name, value);
        let attached = machine.vm.heap().attached_len();
        self.shared += attached - self.attached;
        self.attached = attached;
        self.unread = false;
        Ok(self.run_of(machine))
    }

    /// Sets every member of a record as data under its name.
    fn give_members(&mut self, vm: &mut Vm, record: Value) -> Result<(), Fault> {
        let Value::Map(map) = record else {
            if self.members_given == Members::Offered {
                return Ok(());
            }
            let message = "the record is not an object, so it has no members to give as `data/…`";
            let hint = format!("read it as `data/{}`, and do not ask for its fields (`--fields`)", self.name);
            return Err(Fault::new(Code::InvalidData, message).hint(hint));
        };
        let (mut cursor, mut at) = (0, 0);
        while let Some((key, value, next)) = vm.heap().map_next(map, cursor) {
            cursor = next;
            let (Value::Str(text) | Value::Keyword(text)) = key else { continue };
            let text = vm.heap().str(text);
            // Records mostly have the members of the previous one.
            match self.members.get_mut(at) {
                Some(known) if &**known == text => {}
                Some(known) => *known = text.into(),
                None => self.members.push(text.into()),
            }
            vm.give(&self.members[at], value);
            at += 1;
        }
        self.members.truncate(at);
        // A member that one record lacks is nil; a member that all lack is reported at the end.
        if self.members_given == Members::Required {
            vm.set_strict_data(false);
            self.note_members();
        }
        Ok(())
    }

    /// Notes which of the data that the program reads are members of this record.
    fn note_members(&mut self) {
        if self.read_members.is_empty() {
            let is_given =
                |name: &str| self.grants.names().chain([&*self.name]).any(|known| is_data_name(known, name));
            let read = self.watching.data.iter().filter(|read| !is_given(&read.name));
            self.read_members = read.map(|read| (read.clone(), false)).collect();
        }
        for (read, is_found) in self.read_members.iter_mut().filter(|(_, is_found)| !is_found) {
            *is_found = self.members.iter().any(|member| is_data_name(member, &read.name));
        }
    }

    fn run_of(&self, Machine { vm, watch }: Machine) -> Run {
        let (program, tools) = (self.program.clone(), self.runtime.tools().clone());
        Run { tally: Some(self.tally.clone()), ..Run::new(vm, program, tools, watch) }
    }

    pub(crate) fn finish(&mut self, run: Run) -> Result<&Outcome, Failure> {
        Ok(self.outcome.insert(run.finish()?))
    }

    pub(crate) async fn finish_async(&mut self, run: Run) -> Result<&Outcome, Failure> {
        Ok(self.outcome.insert(run.finish_async().await?))
    }

    /// Returns a machine at the start of the program: the last run's, or a new one.
    fn ready(&mut self) -> Result<Machine, Failure> {
        let before = self.machine.take();
        let before =
            before.or_else(|| self.outcome.take().map(|Outcome { vm, watch, .. }| Machine { vm, watch }));
        // Shared data in results of tools would stay for ever, so a machine that has some is not reused.
        let before = before.filter(|machine| {
            let is_fit = machine.vm.heap().attached_len() == self.attached && self.shared <= MAX_SHARED;
            if !is_fit {
                self.tally.add(&machine.vm);
            }
            is_fit
        });
        let Some(mut machine) = before else {
            // The data of a record is checked with the record.
            let run = self.runtime.start_unchecked(&self.program, &self.grants)?;
            self.feed = Feed::default();
            self.reader = self.reader.renewed();
            self.settled = 0;
            let watch = run.watch.clone();
            let mut vm = run.into_vm(&self.program)?;
            define_used(&mut vm, &self.program, &self.definitions);
            vm.watch_fields(self.watching.fields.clone());
            (self.attached, self.shared) = (vm.heap().attached_len(), 0);
            return Ok(Machine { vm, watch });
        };
        let fail = |fault: Fault| Failure::of(fault, None, self.program.clone());
        machine.vm.restart().map_err(fail)?;
        if !Arc::ptr_eq(machine.vm.entry_module(), self.program.module()) {
            let module = machine.vm.attach_module(self.program.module().clone()).map_err(fail)?;
            machine.vm.start(module).map_err(fail)?;
        }
        machine.watch.reset();
        for names in [&mut self.feed.names, self.reader.names()] {
            if names.fresh() > 0 && self.settled < MAX_SETTLED {
                self.settled += 1;
                if names.settle(&mut machine.vm).is_err() {
                    self.settled = MAX_SETTLED;
                }
            }
            names.forget();
        }
        self.attached = machine.vm.heap().attached_len();
        Ok(machine)
    }
}

impl Drop for Evaluator {
    fn drop(&mut self) {
        self.count();
    }
}

/// A reason a record could not be read.
enum Problem {
    Json(JsonError),
    Serde(BridgeError),
    Fault(Fault),
    Stop(Stop),
}

impl Problem {
    fn into_stop(self) -> Result<Stop, Fault> {
        Ok(match self {
            Problem::Json(error) => error.into(),
            Problem::Serde(error) => error.into(),
            Problem::Fault(fault) => return Err(fault),
            Problem::Stop(stop) => stop,
        })
    }
}
