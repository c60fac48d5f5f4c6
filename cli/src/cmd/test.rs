//! `ptc test`: the tests of preludes, which are written in PTC-Lisp.

mod case;
mod files;
mod show;
mod tally;

use crate::args::TestArgs;
use crate::input::read_program;
use crate::junit;
use crate::preludes;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK};
use crate::setup::plain_runtime;
use case::{Bench, CaseResult, Stubs};
use files::SuiteFiles;
use ptc_bytecode::{Code, Diagnostic, Limits};
use ptc_compiler::testing::{Test, TestFile, is_of_tests};
use ptc_runtime::{Attach, ExportRecord, Failure, Grants, Prelude, Program, Runtime};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

pub fn run(args: &TestArgs) -> ExitCode {
    match start(args) {
        Ok(code) => code,
        Err(problem) => report::problem(&problem, args.json),
    }
}

fn start(args: &TestArgs) -> Result<ExitCode, Problem> {
    let flags = Arc::new(case::flagged(&args.stubs, &args.limits.0)?);
    let suites = files::find(args, &plain_runtime(args.limits.0)?)?
        .iter()
        .map(|files| suite(files, &flags, args))
        .collect::<Result<Vec<_>, _>>()?;
    let count: usize = suites.iter().map(|suite| suite.results.len()).sum();
    if count == 0 && suites.iter().all(|suite| suite.errors.is_empty()) {
        return Err(no_tests(&suites, args));
    }
    let untested = untested(args)?;
    let coverage = Coverage::of(&suites, untested);
    let all_passed = suites.iter().all(SuiteResult::passed);
    let is_covered = args.min_coverage.is_none_or(|least| coverage.percent() >= least);
    if let Some(file) = &args.junit {
        let suites: Vec<junit::Suite> = suites.iter().map(show::junit).collect();
        junit::write(file, &suites)?;
    }
    let code = if all_passed && is_covered { OK } else { FAULT };
    Ok(match args.json {
        true => report::out(&show::json(&suites, &coverage, code == OK), code),
        false => {
            let code = report::out(&show::text(&suites, &coverage), code);
            if let Some(least) = args.min_coverage.filter(|_| !is_covered) {
                eprintln!(
                    "error: tests name {} % of the exports, but --min-coverage requires {least} %",
                    coverage.percent()
                );
            }
            code
        }
    })
}

/// Outcome of a test file.
pub struct SuiteResult {
    /// The file, as it was named.
    file: String,
    /// Name in reports.
    name: String,
    source: String,
    /// The file, read.
    read: TestFile,
    /// Each test that was run.
    results: Vec<(Test, CaseResult)>,
    /// Why there are no results.
    errors: Vec<Diagnostic>,
    /// Exports of the preludes under test.
    exports: BTreeSet<String>,
}

impl SuiteResult {
    fn passed(&self) -> bool {
        self.errors.is_empty() && self.results.iter().all(|(_, result)| result.passed())
    }
}

/// Exports, and which of them the tests name.
pub struct Coverage {
    exports: BTreeSet<String>,
    missing: Vec<String>,
    /// Preludes of the folders under test that no test file is about, with their exports. They are listed and not counted:
    /// one that another uses need not have tests of its own.
    untested: Vec<(String, BTreeSet<String>)>,
}

impl Coverage {
    fn of(suites: &[SuiteResult], untested: Vec<(String, BTreeSet<String>)>) -> Coverage {
        let results = || suites.iter().flat_map(|suite| &suite.results);
        let named: BTreeSet<&String> = results().flat_map(|(_, result)| &result.named).collect();
        let exports: BTreeSet<String> =
            suites.iter().flat_map(|suite| suite.exports.iter().cloned()).collect();
        let missing = exports.iter().filter(|export| !named.contains(export)).cloned().collect();
        Coverage { exports, missing, untested }
    }

    /// Exports that are named, of a hundred; a hundred if there are none.
    fn percent(&self) -> u8 {
        let named = self.exports.len() - self.missing.len();
        (named * 100).checked_div(self.exports.len()).map_or(100, |percent| percent as u8)
    }
}

/// The preludes of the folders under test that no test file is about, with their exports.
fn untested(args: &TestArgs) -> Result<Vec<(String, BTreeSet<String>)>, Problem> {
    let runtime = plain_runtime(args.limits.0)?;
    let exports = |files: SuiteFiles| {
        let preludes = preludes::select(&runtime, &files.preludes)?;
        Ok((files.file.display().to_string(), own_exports(&preludes, &files, &runtime)))
    };
    files::untested(args, &runtime)?.into_iter().map(exports).collect()
}

/// The exports of the prelude that tests are about.
fn own_exports(preludes: &[Prelude], files: &SuiteFiles, runtime: &Runtime) -> BTreeSet<String> {
    let own = files.own_namespaces(runtime);
    let is_own = |reference: &String| {
        own.as_ref().is_none_or(|own| own.iter().any(|name| reference.starts_with(&format!("{name}/"))))
    };
    let exports = preludes.iter().flat_map(|prelude| prelude.exports());
    exports.map(ExportRecord::reference).filter(is_own).collect()
}

/// Runs the tests of a file.
fn suite(files: &SuiteFiles, flags: &Arc<Stubs>, args: &TestArgs) -> Result<SuiteResult, Problem> {
    let limits = args.limits.0;
    let mut suite = SuiteResult {
        file: files.file.display().to_string(),
        name: files::suite_name(&files.file),
        source: read_program(&files.file)?,
        read: TestFile::default(),
        results: Vec::new(),
        errors: Vec::new(),
        exports: BTreeSet::new(),
    };
    suite.read = match TestFile::read(&suite.source, &limits) {
        Ok(read) => read,
        Err(errors) => {
            suite.errors = errors;
            return Ok(suite);
        }
    };
    let bench = bench(files, &mut suite, flags, limits)?;
    if let Err(failure) = cases(&bench, &mut suite, flags, args) {
        suite.errors = failure.diagnostics;
    }
    Ok(suite)
}

/// Surroundings of the tests of a file: its preludes, and a tool for each name that they or a stub know.
fn bench(
    files: &SuiteFiles,
    suite: &mut SuiteResult,
    flags: &Stubs,
    limits: Limits,
) -> Result<Bench, Problem> {
    let runtime = plain_runtime(limits)?;
    let preludes = preludes::select(&runtime, &files.preludes)?;
    let exports = || preludes.iter().flat_map(|prelude| prelude.exports());
    // No source can write these names, but a file can have them: it would report on its own tests.
    let reports = |export: &&ExportRecord| export.tool_refs.iter().any(|name| is_of_tests(name));
    if let Some(export) = exports().find(reports) {
        let message = format!("`{}` calls a tool that only tests may call", export.reference());
        return Err(Problem::new(Code::PreludeAttachFailed, message)
            .hint("its file was forged: build it from its source, and test that"));
    }
    let mut tools: BTreeSet<String> = exports().flat_map(|export| export.tool_refs.iter().cloned()).collect();
    let stubs = suite.read.tests.iter().flat_map(|test| &test.stubs).chain(&suite.read.stubs);
    let named = stubs.map(|stub| &stub.tool).chain(flags.keys());
    tools.extend(named.filter(|name| !name.contains('/')).cloned());
    tools.insert("call".to_string());
    suite.exports = own_exports(&preludes, files, &runtime);
    // Preludes are attached to tools that are there; each test brings its own.
    let granted = tools.iter().fold(ptc_runtime::Tools::new(), |tools, name| tools.declared(name));
    let runtime = preludes
        .iter()
        .try_fold(runtime.with_tools(granted), |runtime, prelude| runtime.attach(prelude, &Attach::new()))
        .map_err(|failure| Problem(Box::new(failure.diagnostic().clone())))?;
    Ok(Bench::new(runtime, tools))
}

/// Compiles the tests that are asked for, then runs each. What is wrong outside of a test is wrong for all.
fn cases(bench: &Bench, suite: &mut SuiteResult, flags: &Arc<Stubs>, args: &TestArgs) -> Result<(), Failure> {
    let source = &suite.source;
    let of_file = Arc::new(bench.stubs(source, &suite.read.stubs)?);
    let is_wanted = |test: &&Test| {
        let name = format!("{}/{}", suite.name, test.name);
        args.filter.is_empty() || args.filter.iter().any(|part| name.contains(part.as_str()))
    };
    for test in suite.read.tests.iter().filter(is_wanted) {
        let ready =
            bench.compile(source, test).and_then(|program| Ok((program, bench.stubs(source, &test.stubs)?)));
        let result = match ready {
            Ok((program, own)) => {
                bench.run(&program, Grants::new(), vec![Arc::new(own), of_file.clone(), flags.clone()])
            }
            Err(failure) => {
                let is_inside = failure
                    .diagnostic()
                    .span
                    .is_some_and(|span| test.span.start <= span.start && span.end <= test.span.end);
                if !is_inside {
                    return Err(failure);
                }
                CaseResult { error: Some(Box::new(failure.diagnostic().clone())), ..CaseResult::default() }
            }
        };
        suite.results.push((test.clone(), result));
    }
    Ok(())
}

/// A compiled program that checks data: with `is`, or by its value.
pub struct CheckProgram {
    suite: SuiteResult,
    bench: Bench,
    program: Program,
}

impl CheckProgram {
    /// Compiles a program, which failures call `name`. The errors are those of its text.
    pub fn compile(name: &str, source: &str) -> Result<CheckProgram, Vec<Diagnostic>> {
        let limits = Limits::default();
        let read = TestFile::read(source, &limits)?;
        let runtime = plain_runtime(limits).map_err(|problem| vec![*problem.0])?;
        let bench = Bench::new(runtime, BTreeSet::new());
        let program = bench.compile_checks(source).map_err(|failure| failure.diagnostics)?;
        let suite = SuiteResult {
            file: name.to_string(),
            name: String::new(),
            source: source.to_string(),
            read,
            results: Vec::new(),
            errors: Vec::new(),
            exports: BTreeSet::new(),
        };
        Ok(CheckProgram { suite, bench, program })
    }

    /// Runs the program on these data. The error is what would be shown of a test.
    pub fn run(&self, data: Grants) -> Result<(), String> {
        let result = self.bench.run(&self.program, data, Vec::new());
        match result.passed() {
            false => Err(show::details(&self.suite, &result)),
            true if result.checks == 0 && result.is_falsy => {
                Err(format!("{} is not true:\n  {}\n", self.suite.file, self.suite.source.trim()))
            }
            true => Ok(()),
        }
    }
}

fn no_tests(suites: &[SuiteResult], args: &TestArgs) -> Problem {
    let files: Vec<&str> = suites.iter().map(|suite| &*suite.file).collect();
    let known: usize = suites.iter().map(|suite| suite.read.tests.len()).sum();
    match known {
        0 => Problem::new(Code::InvalidConfig, format!("no tests in {}", files.join(", ")))
            .hint("write one: (deftest finds-a-user (is (= 1 (crm/find 1))))"),
        _ => Problem::new(
            Code::InvalidConfig,
            format!(
                "none of {} has `{}` in its name",
                counted(known as u64, "test"),
                args.filter.join("` or `")
            ),
        )
        .hint("leave --filter out to run all"),
    }
}
