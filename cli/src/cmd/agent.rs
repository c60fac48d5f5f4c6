//! Code shared by all commands of `ptc agent`: agents from files, and their results.

mod check;
pub mod commands;
mod replay;
mod run;
mod test;

use crate::args::AgentInput;
use crate::input::{Data, DataSource, part_of, read};
use crate::preludes;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::text_json;
use crate::setup::plain_runtime;
use ptc_agent::definition::{AgentFile, FilePlace, Reason};
use ptc_agent::tools::Tool;
use ptc_agent::{Agent, AgentBuilder, BuildError, RunOptions, Step};
use ptc_bytecode::{Code, Limits};
use ptc_contract::signature::{Field, Type, Validation};
use ptc_runtime::{Frozen, PreludeInput, ToolAnswer};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Input of a command, read.
struct Loaded {
    /// The definition, as the file has it.
    file: AgentFile,
    /// The agent with stubs and preludes of the command line.
    builder: AgentBuilder,
}

/// Reads the agent, and everything the command line adds to it.
fn load(args: &AgentInput) -> Result<Loaded, Problem> {
    let file = AgentFile::load(&args.file).map_err(|error| usage(error.message))?;
    let mut builder = file.builder();
    Data::check_names(&args.stubs, "--stub")?;
    for stub in &args.stubs {
        builder = stubbed(builder, stub)?;
    }
    builder = attached(builder, &args.attach.preludes, &args.attach.trusted)?;
    let policy = builder.options().policy.and(&args.attach.policy());
    builder = builder.policy(policy);
    Ok(Loaded { file, builder })
}

/// The agent with these preludes. Keys of the command line hold in place of the agent's own: a file cannot widen what
/// whoever runs it trusts.
fn attached(builder: AgentBuilder, files: &[PathBuf], trusted: &[String]) -> Result<AgentBuilder, Problem> {
    let builder = match preludes::trusted_keys(trusted)? {
        Some(keys) => builder.trusted(keys),
        None => builder,
    };
    let mut runtime = plain_runtime(Limits::default())?;
    if let Some(keys) = &builder.options().trusted {
        runtime = runtime.trusted(keys.clone());
    }
    if files.is_empty() {
        return Ok(builder);
    }
    // They and those of the agent may use each other.
    let own = builder.options().prelude_inputs.clone();
    let preludes = preludes::select_beside(&runtime, &own, files)?;
    // Like those that a file names, they are passed on to child agents.
    Ok(builder.prelude_inputs(preludes.into_iter().map(|prelude| PreludeInput::ready("", prelude)).collect()))
}

/// The agent with this tool answered by the command line; what the file says of it stays.
fn stubbed(builder: AgentBuilder, stub: &Data) -> Result<AgentBuilder, Problem> {
    let answer = stub.load(&Limits::default(), "tool")?;
    in_place(builder, &stub.name, answer).map_err(|why| usage(format!("--stub {}: {why}", stub.name)))
}

/// The agent with this result behind a tool's name; what the agent says of the tool stays. A result that does not have the
/// declared shape would be refused in the mission, turn by turn.
fn in_place(builder: AgentBuilder, name: &str, answer: Frozen) -> Result<AgentBuilder, String> {
    let mut tool = Tool::always(name, answer.clone());
    if let Some(known) = builder.options().tools.get(name) {
        if let Some(signature) = &known.signature {
            let mode = known.validation.unwrap_or(Validation::Enabled);
            let checked = signature.check_answer(&ToolAnswer::Frozen(answer), mode);
            checked.map_err(|rejected| {
                let errors: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
                format!(
                    "this is not a `{}`, the result of `{name}`: {}",
                    signature.returns,
                    errors.join("; ")
                )
            })?;
        }
        let mut known = known.clone();
        known.kind = tool.kind;
        tool = known;
    }
    Ok(builder.tool(tool))
}

/// The agent, or everything that is wrong with it, by its file if it came from one.
fn build(builder: AgentBuilder, name: &Path, file: Option<&AgentFile>) -> Result<Agent, Problem> {
    let problems = builder.problems();
    if !problems.is_empty() {
        return Err(usage(listed(name, file, &problems)));
    }
    builder.build().map_err(|error| usage(listed(name, file, &[error])))
}

fn usage(message: impl Into<String>) -> Problem {
    Problem::new(Code::InvalidConfig, message)
}

/// Everything that is wrong, a line for each.
fn listed(name: &Path, file: Option<&AgentFile>, problems: &[BuildError]) -> String {
    let count = counted(problems.len() as u64, "problem");
    let told = |problem| match place_of(name, file, problem) {
        Some(place) => format!("\n - {place}: {problem}"),
        None => format!("\n - {problem}"),
    };
    let lines: String = problems.iter().map(told).collect();
    format!("{}: {count}{lines}", name.display())
}

/// Place of a problem in its file, or in another file that this one names.
fn place_of(name: &Path, file: Option<&AgentFile>, problem: &BuildError) -> Option<FilePlace> {
    let place = file?.place_of(problem);
    (place.place.is_some() || place.file != name).then_some(place)
}

/// The data of the mission: the members of `--context`, then each `--input`.
fn context(args: &AgentInput, agent: &Agent) -> Result<Map<String, Value>, Problem> {
    let mut context = Map::new();
    if let Some(file) = &args.context {
        let name = file.display();
        let value: Value = serde_json::from_slice(&read(file)?)
            .map_err(|error| usage(format!("--context: {name} is not valid JSON: {error}")))?;
        match value {
            Value::Object(members) => context = members,
            _ => {
                let message =
                    format!("--context: {name} must hold an object, such as {{\"topic\": \"tea\"}}");
                return Err(usage(message));
            }
        }
    }
    for input in &args.inputs {
        let known = |field: &&Field| ptc_contract::keys::same(&field.name, &input.name);
        let param = agent.signature().params.iter().find(known);
        let value = value_of(input, param)?;
        let name = param.map_or(&input.name, |field| &field.name);
        context.insert(name.clone(), value);
    }
    Ok(context)
}

/// Reads the value given for one parameter. Where a text is wanted, it is taken as text; otherwise as JSON, if possible.
/// A file that is an image or a PDF becomes an image or a document.
fn value_of(input: &Data, param: Option<&Field>) -> Result<Value, Problem> {
    let wants_text = param.is_some_and(|field| match &field.ty {
        Type::Optional(inner) => **inner == Type::String,
        ty => *ty == Type::String,
    });
    let text = match &input.source {
        DataSource::Text(text) => text.clone(),
        DataSource::File(file) => {
            let bytes = read(Path::new(file))?;
            if let Some(part) = part_of(file, &bytes) {
                return serde_json::to_value(part).map_err(|error| usage(error.to_string()));
            }
            String::from_utf8(bytes).map_err(|_| {
                let known = "nor a PNG, JPEG, GIF, WebP or PDF";
                usage(format!("--input {}: {file} is neither UTF-8 text {known}", input.name))
            })?
        }
    };
    let parsed: Result<Value, serde_json::Error> = serde_json::from_str(&text);
    match (parsed, &input.source) {
        (Ok(value @ Value::String(_)), _) => Ok(value),
        (Ok(value), _) if !wants_text => Ok(value),
        (Err(error), DataSource::File(file)) if !wants_text => {
            Err(usage(format!("--input {}: {file} is not valid JSON: {error}", input.name)))
        }
        _ => Ok(Value::String(text)),
    }
}

/// The run with this data, if the agent can start with it.
fn with_context(
    run: RunOptions,
    agent: &Agent,
    context: &Map<String, Value>,
    file: &Path,
) -> Result<RunOptions, Problem> {
    let run = run.context(context).map_err(|error| usage(error.to_string()))?;
    let problems = agent.validate(&run);
    if problems.is_empty() {
        return Ok(run);
    }
    let mut problem = usage(listed(file, None, &problems));
    let is_data =
        |problem: &BuildError| matches!(problem.reason, Reason::TemplateError | Reason::ValidationError);
    if problems.iter().any(is_data) {
        let wanted: Vec<String> =
            agent.signature().params.iter().map(|field| format!("--input {}=…", field.name)).collect();
        let wanted = if wanted.is_empty() { "--input NAME=VALUE".to_string() } else { wanted.join(" ") };
        problem.0.hint = Some(format!("give data with {wanted}, or with --context FILE"));
    }
    Err(problem)
}

/// Hint on what to do about this failure, at a command line.
fn hint_of(fail: &ptc_agent::Fail) -> Option<&'static str> {
    match fail.details.get("cause").and_then(Value::as_str) {
        Some("cassette_mismatch") => Some(
            "the agent, its data or ptc changed since the cassette was recorded; record it again with \
             --record",
        ),
        _ => crate::models::hint(&fail.reason),
    }
}

/// Outcome of a mission as one JSON object, after `members` (such as `"same":true,`).
fn to_json(result: &Result<Step, Box<Step>>, members: &str) -> String {
    let step = step_of(result);
    let preludes = super::preludes_member(step.prelude_trace.as_deref());
    let tail = format!(
        r#"{preludes}"turns":{},"usage":{},"trace_id":{},"warnings":{}"#,
        step.usage.turns,
        text_json(&step.usage),
        text_json(&step.trace_id),
        text_json(&step.warnings),
    );
    match &step.fail {
        Some(fail) => {
            let hint = hint_of(fail);
            format!(
                r#"{{{members}"ok":false,"error":{{"kind":{},"message":{},"op":{},"details":{},"hint":{}}},{tail}}}"#,
                text_json(&fail.reason),
                text_json(&fail.message),
                text_json(&fail.op),
                text_json(&fail.details),
                text_json(&hint),
            )
        }
        None => {
            let json = step.json().unwrap_or_default();
            format!(r#"{{{members}"ok":true,"value":{},"json":{json},{tail}}}"#, text_json(&printed(step)))
        }
    }
}

/// The value of a mission as PTC-Lisp writes it.
fn printed(step: &Step) -> String {
    let Some(value) = &step.returned else { return "nil".to_string() };
    let shown = ptc_runtime::Frozen::from_datum(value).and_then(|frozen| {
        frozen.read(|heap, value| {
            let mut text = String::new();
            heap.print(value, &mut text, usize::MAX).map(|()| text)
        })
    });
    shown.unwrap_or_else(|fault| format!("#<{fault}>"))
}

/// The step, with a result or without.
fn step_of(result: &Result<Step, Box<Step>>) -> &Step {
    match result {
        Ok(step) => step,
        Err(step) => step,
    }
}
