//! One test: its tools, its run, and what came of it.

use super::tally::{FailedCheck, Reported, Tally};
use crate::input::Data;
use crate::problem::Problem;
use ptc_bytecode::{Code, Datum, Diagnostic, Limits};
use ptc_compiler::testing::{CALLS_TOOL, CHECK_TOOL, STUB_REQUEST, Stub, Test, TestPart, equal};
use ptc_runtime::bridge::{datum_to_json, json_to_datum};
use ptc_runtime::{Failure, Frozen, Grants, Program, Runtime, ToolAnswer, ToolArgs, ToolError, Tools};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Outcome of a test.
#[derive(Debug, Default)]
pub struct CaseResult {
    /// Checks that were made.
    pub checks: u64,
    /// Units of `limits.fuel` it took, those of its stubs included.
    pub fuel: u64,
    /// Checks that did not hold.
    pub failures: Vec<FailedCheck>,
    /// Further checks that did not hold, which are not kept.
    pub left_out: u64,
    /// Why it ended before its last form, or could not be trusted.
    pub error: Option<Box<Diagnostic>>,
    /// Printed output.
    pub prints: Vec<String>,
    /// Names of exports in its code.
    pub named: BTreeSet<String>,
    /// True if its value is nil or false.
    pub is_falsy: bool,
}

impl CaseResult {
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.error.is_none()
    }
}

/// Stand-in for a tool.
#[derive(Clone)]
pub enum StubBody {
    /// Always this.
    Answer(Frozen),
    /// A program of the test file.
    Program(Program),
}

/// Stubs by the names of tools.
pub type Stubs = BTreeMap<String, StubBody>;

/// Data shared by the tests of a file.
pub struct Bench {
    /// With the preludes attached.
    runtime: Runtime,
    /// Names of tools that may be called.
    tools: BTreeSet<String>,
}

impl Bench {
    /// Attaches nothing: `runtime` has the preludes, whose tools these are.
    pub fn new(runtime: Runtime, tools: BTreeSet<String>) -> Bench {
        let refusing = tools_of(&tools, |_| |_: ToolArgs| Err(ToolError::new("a stub cannot call tools")));
        Bench { runtime: runtime.with_tools(refusing), tools }
    }

    /// The stubs of a test file, compiled.
    pub fn stubs(&self, source: &str, stubs: &[Stub]) -> Result<Stubs, Failure> {
        let compiled = |stub: &Stub| {
            let program = self.runtime.compile_test(source, TestPart::Stub(stub.span.start))?;
            Ok((stub.tool.clone(), StubBody::Program(program)))
        };
        stubs.iter().map(compiled).collect()
    }

    /// A program that checks data.
    pub fn compile_checks(&self, source: &str) -> Result<Program, Failure> {
        self.runtime.compile_test(source, TestPart::Checks)
    }

    /// The program of a test.
    pub fn compile(&self, source: &str, test: &Test) -> Result<Program, Failure> {
        self.runtime.compile_test(source, TestPart::Test(test.span.start))
    }

    /// Runs a test with these stubs; the first that knows a tool answers.
    pub fn run(&self, program: &Program, grants: Grants, stubs: Vec<Arc<Stubs>>) -> CaseResult {
        let tally = Arc::new(Tally::default());
        let answering = Arc::new(Answering { stubs, tally: tally.clone(), runtime: self.runtime.clone() });
        let tools = tools_of(&self.tools, |name| {
            let (answering, tally, name) = (answering.clone(), tally.clone(), name.to_string());
            move |args: ToolArgs| match &*name {
                CHECK_TOOL => tally.check(&args),
                CALLS_TOOL => tally.calls(&args),
                _ => answering.answer(&name, &args),
            }
        });
        let runtime = self.runtime.clone().with_tools(tools);
        let outcome = runtime.start_with(program, &grants.firewall(true)).and_then(|run| run.finish());
        let mut reported = tally.take();
        let mut result = CaseResult { named: named(program), ..CaseResult::default() };
        match outcome {
            Ok(outcome) => {
                (result.fuel, result.prints) = (outcome.fuel, outcome.prints.clone());
                result.is_falsy = outcome.print().is_ok_and(|value| matches!(&*value, "nil" | "false"));
                if let Some(expected) = reported.expects.take() {
                    let why = "nothing failed".to_string();
                    reported.failures.push(FailedCheck {
                        at: expected.at,
                        why,
                        message: None,
                        values: Vec::new(),
                    });
                }
                if outcome.returned {
                    let message = "`return` ended the test before its last form";
                    result.error = Some(wrong(message, "a test has no result: leave `return` out"));
                }
            }
            Err(failure) => {
                (result.fuel, result.prints) = (failure.fuel, failure.prints.clone());
                result.error = ended(&failure, &mut reported);
            }
        }
        result.error = result.error.or_else(|| distrusted(&reported));
        result.fuel += reported.stub_fuel;
        result.checks = reported.held + reported.failures.len() as u64 + reported.left_out;
        (result.failures, result.left_out) = (reported.failures, reported.left_out);
        result
    }
}

/// Why a test ended, unless it was to end so.
fn ended(failure: &Failure, reported: &mut Reported) -> Option<Box<Diagnostic>> {
    let expected = match failure.diagnostic().code {
        Code::Fail => reported.expects.take(),
        _ => None,
    };
    let Some(expected) = expected else { return Some(Box::new(failure.diagnostic().clone())) };
    let got = failure.value.as_ref().map(printed);
    let (clear, shown) = got.unwrap_or_default();
    match &expected.value {
        Some(wanted) if !equal(wanted, &clear) => reported.failures.push(FailedCheck {
            at: expected.at,
            why: "it failed with another value".to_string(),
            message: None,
            values: vec![expected.shown.unwrap_or_default(), shown],
        }),
        _ => reported.held += 1,
    }
    None
}

/// A value as it prints, in full and as it may be shown.
fn printed(value: &Datum) -> (String, String) {
    let text = |datum: &Datum| {
        let frozen = Frozen::from_datum(datum).ok()?;
        frozen.read(|heap, value| {
            let mut text = String::new();
            heap.print(value, &mut text, MAX_PRINTED).ok().map(|()| text)
        })
    };
    let clear = value.clone().with_veiled(Vec::new());
    (text(&clear).unwrap_or_default(), text(value).unwrap_or_default())
}

/// Bytes of a value that a run failed with.
const MAX_PRINTED: usize = 1 << 20;

/// Why a test that went well proves nothing: a prelude may have caught the error of a tool that nobody stood in for.
fn distrusted(reported: &Reported) -> Option<Box<Diagnostic>> {
    if let Some(tool) = reported.unstubbed.first() {
        return Some(wrong(&unstubbed(tool), &stub_hint(tool)));
    }
    reported.broken.as_ref().map(|why| Box::new(Diagnostic::without_span(Code::ToolError, why.clone())))
}

fn wrong(message: &str, hint: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::without_span(Code::ToolError, message).hint(hint))
}

fn unstubbed(tool: &str) -> String {
    format!("`{tool}` was called and has no stub")
}

fn stub_hint(tool: &str) -> String {
    match tool.contains('/') {
        true => format!("(stub-tool '{tool} (fn [args] {{:ok true :value {{}}}}))"),
        false => format!("(stub-tool '{tool} (fn [args] {{}}))"),
    }
}

/// Exports that the code of a program names.
fn named(program: &Program) -> BTreeSet<String> {
    // Exports are bound where a program would find definitions.
    program.artifact().defs.iter().filter(|name| name.contains('/')).map(|name| name.to_string()).collect()
}

/// Tools of these names, and those that checks report to.
fn tools_of<F>(names: &BTreeSet<String>, body: impl Fn(&str) -> F) -> Tools
where
    F: Fn(ToolArgs) -> Result<ToolAnswer, ToolError> + Send + Sync + 'static,
{
    let names = names.iter().map(String::as_str).chain([CHECK_TOOL, CALLS_TOOL]);
    names.fold(Tools::new(), |tools, name| tools.with_answer(name, body(name)))
}

/// Stubs in place of tools.
struct Answering {
    stubs: Vec<Arc<Stubs>>,
    tally: Arc<Tally>,
    /// Its tools refuse every call.
    runtime: Runtime,
}

impl Answering {
    fn answer(&self, tool: &str, args: &ToolArgs) -> Result<ToolAnswer, ToolError> {
        let operation = (tool == "call").then(|| operation(args)).flatten();
        let name = operation.as_deref().unwrap_or(tool);
        self.tally.note(name, args.datum())?;
        if name != tool {
            self.tally.note(tool, args.datum())?;
        }
        let known = |name: &str| self.stubs.iter().find_map(|stubs| stubs.get(name));
        let Some(stub) = known(name).or_else(|| known(tool)) else {
            let mut reported = self.tally.lock();
            if !reported.unstubbed.iter().any(|known| known == name) {
                reported.unstubbed.push(name.to_string());
            }
            return Err(ToolError::new(unstubbed(name)).hint(stub_hint(name)));
        };
        match stub {
            StubBody::Answer(answer) => Ok(answer.clone().into()),
            StubBody::Program(program) => self.run(name, program, args),
        }
    }

    /// Runs a stub on what is left of the fuel that all stubs of a test have together.
    fn run(&self, name: &str, program: &Program, args: &ToolArgs) -> Result<ToolAnswer, ToolError> {
        let mut limits: Limits = *self.runtime.current_limits();
        {
            let reported = self.tally.lock();
            if let Some(why) = &reported.broken {
                return Err(ToolError::new(why));
            }
            limits.fuel = limits.fuel.saturating_sub(reported.stub_fuel).max(1);
        }
        let request = Frozen::from_datum(args.datum()).map_err(ToolError::new)?;
        let grants = Grants::new().frozen(STUB_REQUEST, request).firewall(true);
        let runtime = self.runtime.clone().limits(limits);
        match runtime.start_with(program, &grants).and_then(|run| run.finish()) {
            Ok(outcome) => {
                self.tally.lock().stub_fuel += outcome.fuel;
                let datum = outcome.datum().map_err(|fault| {
                    self.broken(name, &fault.to_diagnostic().message, "return data, not a function")
                })?;
                // As a server would answer: with data that JSON has, if it can be said so.
                let plain = datum_to_json(&datum).ok().and_then(|json| json_to_datum(&json).ok());
                Ok(ToolAnswer::Datum(plain.unwrap_or(datum)))
            }
            Err(failure) => {
                self.tally.lock().stub_fuel += failure.fuel;
                match failure.value.as_ref().and_then(|value| datum_to_json(value).ok()) {
                    Some(Value::String(text)) => Err(ToolError::new(text)),
                    Some(other) => Err(ToolError::new(other)),
                    None => {
                        let problem = failure.diagnostic();
                        Err(self.broken(name, &problem.message, problem.hint.as_deref().unwrap_or_default()))
                    }
                }
            }
        }
    }

    fn broken(&self, name: &str, why: &str, hint: &str) -> ToolError {
        let message = format!("the stub of `{name}` stopped: {why}");
        self.tally.lock().broken.get_or_insert_with(|| message.clone());
        match hint {
            "" => ToolError::new(message),
            hint => ToolError::new(message).hint(hint),
        }
    }
}

/// The operation that a request of `tool/call` names.
fn operation(args: &ToolArgs) -> Option<String> {
    let request = args.json().ok()?;
    Some(format!("{}/{}", request.get("server")?.as_str()?, request.get("tool")?.as_str()?))
}

/// The stubs of `--stub`.
pub fn flagged(stubs: &[Data], limits: &Limits) -> Result<Stubs, Problem> {
    let answers = crate::setup::stubs(stubs, limits)?;
    Ok(answers.into_iter().map(|(name, answer)| (name, StubBody::Answer(answer))).collect())
}
