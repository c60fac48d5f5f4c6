//! Findings: what `ptc check` says about a document. Test files are checked as `ptc test` compiles them.

use crate::neighbours::{Neighbours, TESTS};
use crate::project::Project;
use crate::verdict::{of_prelude, of_program};
use ptc_compiler::testing::{CALLS_TOOL, CHECK_TOOL, TestFile, TestPart};
use ptc_runtime::{Attach, Diagnostic, Prelude, Runtime, Tools};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time after which no further tests of a file are compiled: each is a program of its own.
const TIME_FOR_TESTS: Duration = Duration::from_millis(100);
/// Name of the tool that calls servers, which every test file may stub.
const CALL_TOOL: &str = "call";

/// What is known about a document once it is checked.
#[derive(Default)]
pub struct Findings {
    /// Errors, then warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Preludes that its names come from, besides those of the project.
    pub preludes: Vec<Prelude>,
}

/// Checks a text. `path` is its file, if it has one.
pub fn check(text: &str, path: Option<&Path>, project: &Project, beside: &mut Neighbours) -> Findings {
    let is_test = path.is_some_and(|path| path.to_string_lossy().ends_with(TESTS));
    if is_test {
        return test_file(text, path, project, beside);
    }
    if !Prelude::is_source(&project.runtime, text) {
        return Findings { diagnostics: of_program(text, &project.programs), preludes: Vec::new() };
    }
    let preludes = required(text, path, project, beside);
    let uses: Vec<Prelude> = preludes.iter().chain(&project.usable).cloned().collect();
    let (_, diagnostics) = of_prelude(text, &project.runtime, &uses);
    Findings { diagnostics, preludes: uses }
}

/// Returns the preludes beside a source that it requires.
fn required(text: &str, path: Option<&Path>, project: &Project, beside: &mut Neighbours) -> Vec<Prelude> {
    let Some(path) = path else { return Vec::new() };
    let Ok(outline) = Prelude::outline_of(&project.runtime, text) else { return Vec::new() };
    beside.preludes(project, path, &outline.requires)
}

fn test_file(text: &str, path: Option<&Path>, project: &Project, beside: &mut Neighbours) -> Findings {
    let preludes = path.map_or_else(Vec::new, |path| tested(path, project, beside));
    let read = TestFile::read(text, project.runtime.current_limits());
    let file = match read {
        Ok(file) => file,
        Err(diagnostics) => return Findings { diagnostics, preludes },
    };
    let runtime = match with_tests(&project.programs, &preludes, &file) {
        Ok(runtime) => runtime,
        Err(diagnostics) => return Findings { diagnostics, preludes },
    };
    let until = Instant::now() + TIME_FOR_TESTS;
    let mut found: Vec<Diagnostic> = Vec::new();
    let parts = file.tests.iter().map(|test| TestPart::Test(test.span.start));
    // Without tests, the definitions of the file are still checked.
    for part in parts.chain(file.tests.is_empty().then_some(TestPart::Checks)) {
        let told = match runtime.compile_test(text, part) {
            Ok(program) => program.warnings().to_vec(),
            Err(failure) => {
                let warnings = failure.warnings().to_vec();
                failure.diagnostics.into_iter().chain(warnings).collect()
            }
        };
        // What is wrong outside of tests is wrong in each.
        for problem in told {
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
        if Instant::now() > until {
            break;
        }
    }
    Findings { diagnostics: found, preludes }
}

/// Returns the prelude that the tests of a file are about, and those that it uses.
fn tested(path: &Path, project: &Project, beside: &mut Neighbours) -> Vec<Prelude> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(stem) = name.strip_suffix(TESTS) else { return Vec::new() };
    let own = path.with_file_name(format!("{stem}.clj"));
    let Some(outline) = beside.outline(project, &own) else { return Vec::new() };
    beside.preludes(project, path, &outline.declares)
}

/// Returns the runtime in which tests are compiled: with a tool for every name that they or their preludes know.
fn with_tests(programs: &Runtime, preludes: &[Prelude], file: &TestFile) -> Result<Runtime, Vec<Diagnostic>> {
    let all: Vec<&Prelude> = programs.preludes().chain(preludes).collect();
    let exports = all.iter().flat_map(|prelude| prelude.exports());
    let mut tools: BTreeSet<&str> =
        exports.flat_map(|export| &export.tool_refs).map(String::as_str).collect();
    let stubs = file.tests.iter().flat_map(|test| &test.stubs).chain(&file.stubs);
    tools.extend(stubs.map(|stub| stub.tool.as_str()).filter(|name| !name.contains('/')));
    tools.extend([CALL_TOOL, CHECK_TOOL, CALLS_TOOL]);
    let tools = tools.into_iter().fold(Tools::new(), |tools, name| tools.declared(name));
    let runtime = programs.clone().with_tools(tools);
    preludes
        .iter()
        .try_fold(runtime, |runtime, prelude| runtime.attach(prelude, &Attach::new()))
        .map_err(|failure| failure.diagnostics)
}
