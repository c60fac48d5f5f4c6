//! Checks of agent definitions, in a fixed order.

use super::values::Transport;
use super::{Agent, AgentBuilder, AgentOptions, BuildError, Definition, Reason};
use crate::tools::{Expose, ToolKind, builtin_tools};
use ptc_bytecode::Diagnostic;
use ptc_contract::signature::{Field, Signature};
use ptc_contract::template::{Template, TemplateError};
use ptc_model::CLASSES;
use ptc_model::Output;
use ptc_runtime::{FrozenRef, InputError, Prelude, PreludeInput, Provenance, Runtime, StoreRef};
use std::collections::HashSet;
use std::sync::Arc;

impl AgentBuilder {
    /// Builds the agent, or returns the first problem.
    pub fn build(self) -> Result<Agent, BuildError> {
        build(self)
    }

    /// Returns all problems, in the order of the checks; empty if there are none.
    pub fn problems(&self) -> Vec<BuildError> {
        problems(self)
    }
}

fn build(builder: AgentBuilder) -> Result<Agent, BuildError> {
    let checked = check(&builder);
    if let Some(first) = checked.problems.into_iter().next() {
        return Err(first);
    }
    let (Some(template), Some(signature)) = (checked.template, checked.signature) else {
        return Err(BuildError::new(Reason::MissingPrompt, "an agent needs a `prompt`"));
    };
    let mut options = builder.options;
    // On equal names, the host's own tools win over built-in ones.
    let builtin = options.builtin_tools.iter().flat_map(|builtin| builtin_tools(*builtin, &options));
    for tool in builtin.collect::<Vec<_>>() {
        if options.tools.get(&tool.name).is_none_or(|known| known.is_builtin) {
            options.tools.insert(tool);
        }
    }
    let warnings = warnings(&options);
    let preludes = match checked.bundle {
        None => checked.ready,
        Some((prelude, frozen)) => {
            // Pinned by version, so that a changed copy of the agent has the same libraries.
            let pinned = frozen.into_iter().map(|one| StoreRef::version(one.id, one.version).to_string());
            options.preludes = pinned.collect();
            vec![prelude]
        }
    };
    Ok(Agent(Arc::new(Definition { options, signature, template, preludes, warnings })))
}

fn problems(builder: &AgentBuilder) -> Vec<BuildError> {
    check(builder).problems
}

struct CheckedDefinition {
    problems: Vec<BuildError>,
    template: Option<Template>,
    signature: Option<Signature>,
    /// Compiled libraries, each after those that it uses.
    ready: Vec<Prelude>,
    bundle: Option<(Prelude, Vec<FrozenRef>)>,
}

fn check(builder: &AgentBuilder) -> CheckedDefinition {
    let options = &builder.options;
    let mut problems = Vec::new();
    // Problems that setters found are reported in the place where this check would have found them.
    let found = |reason: Reason| builder.problems.iter().filter(move |error| error.reason == reason).cloned();

    // 1. The mission.
    problems.extend(found(Reason::MissingPrompt));
    // An agent among the tools may lack one, too.
    let is_own = |error: &BuildError| error.keys.first().is_none_or(|key| key == "prompt");
    if !problems.iter().any(is_own) && options.prompt.as_ref().is_none_or(|prompt| prompt.trim().is_empty()) {
        problems
            .push(BuildError::new(Reason::MissingPrompt, "an agent needs a `prompt`: say what it should do"));
    }
    // 2. Single options.
    problems.extend(found(Reason::InvalidOption));
    problems.extend(ranges(options));
    // 3. Names of tools.
    problems.extend(found(Reason::ReservedToolName));
    problems.extend(options.tools.check_reserved().map(|error| error.under(&["tools"])));
    // 4. Tools.
    problems.extend(found(Reason::InvalidTool));
    problems.extend(options.tools.check().into_iter().map(|error| error.under(&["tools"])));
    problems.extend(options.tool_catalog.check().into_iter().map(|error| error.under(&["tool_catalog"])));
    problems.extend(callable(options));
    // 5. The contract.
    problems.extend(found(Reason::InvalidSignature));
    let signature = options.signature.read();
    if let Err(error) = &signature {
        let message = format!("the signature cannot be read: {error}");
        problems.push(BuildError::new(Reason::InvalidSignature, message).under(&["signature"]));
    }
    let context = options.context_signature.as_ref().map(|text| Signature::parse(text));
    if let Some(Err(error)) = &context {
        let message = format!("`context_signature` cannot be read: {error}");
        problems.push(BuildError::new(Reason::InvalidSignature, message).under(&["context_signature"]));
    }
    let signature = signature.ok();
    for reason in [Reason::ValidationError, Reason::NameConflict, Reason::NotCompilable] {
        problems.extend(found(reason));
    }
    // 6 and 7. The mission against the contract.
    problems.extend(found(Reason::TemplateError));
    let template = match Template::parse(options.prompt.as_deref().unwrap_or_default()) {
        Ok(template) => Some(template),
        Err(error) => {
            let error = BuildError::new(Reason::TemplateError, format!("`prompt`: {error}"));
            problems.push(error.under(&["prompt"]));
            None
        }
    };
    if let (Some(template), Some(signature)) = (&template, &signature) {
        let context = context.and_then(Result::ok);
        problems.extend(placeholders(template, signature, context.as_ref(), options));
    }
    // 8 and 9. Options against each other.
    problems.extend(combinations(options));
    // 10. Recursion.
    let is_recursive = options.tools.iter().any(|tool| matches!(tool.kind, ToolKind::SelfAgent));
    if is_recursive && signature.as_ref().is_some_and(|signature| signature.params.is_empty()) {
        let message = "the tool `self` needs a `signature` with parameters, so that it can be called on something smaller";
        problems.push(BuildError::new(Reason::InvalidTool, message).under(&["signature"]));
    }
    // 11. The plan.
    problems.extend(plan(options));
    // 12. Libraries.
    problems.extend(untrusted(options));
    let ready = ready(options).unwrap_or_else(|error| {
        problems.push(error);
        Vec::new()
    });
    problems.extend(clash(&ready));
    let bundle = match stored(options) {
        Ok(bundle) => bundle,
        Err(error) => {
            problems.push(error);
            None
        }
    };
    CheckedDefinition { problems, template, signature, ready, bundle }
}

/// Returns an error for a library without a trusted signature, where one is needed.
fn untrusted(options: &AgentOptions) -> Option<BuildError> {
    let keys = options.trusted.as_ref()?;
    let refused = |name: &str, provenance: &[Provenance]| {
        let problem = keys.decide(provenance).err()?;
        let hint = problem.hint.map_or(String::new(), |hint| format!("; {hint}"));
        Some(BuildError::option(name, format!("is not trusted: {}{hint}", problem.message)))
    };
    let own = options.runtime_prelude.as_ref();
    let own = own.and_then(|prelude| refused("runtime_prelude", prelude.provenance()));
    let further = || {
        let mut further = options.runtime_preludes.iter();
        further.find_map(|prelude| refused("runtime_preludes", prelude.provenance()))
    };
    own.or_else(further).or_else(|| {
        (!options.preludes.is_empty()).then(|| refused("preludes", &[Provenance::Source])).flatten()
    })
}

/// Returns the libraries that were given directly, compiled or not.
fn fixed(options: &AgentOptions) -> impl Iterator<Item = PreludeInput> {
    let compiled = options.runtime_prelude.iter().chain(&options.runtime_preludes);
    compiled
        .map(|prelude| PreludeInput::ready("", prelude.clone()))
        .chain(options.prelude_inputs.iter().cloned())
}

/// Returns the compiled libraries, in the order in which they are attached.
fn ready(options: &AgentOptions) -> Result<Vec<Prelude>, BuildError> {
    let inputs: Vec<PreludeInput> = fixed(options).collect();
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |problem: &Diagnostic, of: &str| {
        let hint = problem.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
        BuildError::option("preludes", format!("cannot be loaded: {of}{}{hint}", problem.message))
    };
    let runtime = Runtime::with_core(ptc_preludes::core()).map_err(|problem| wrong(&problem, ""))?;
    let runtime = match &options.trusted {
        Some(keys) => runtime.trusted(keys.clone()),
        None => runtime,
    };
    Prelude::make_ready(&runtime, &inputs).map_err(|error| {
        let of = |number: usize, problem: &Diagnostic| {
            format!("{}: {}: ", inputs[number].origin, problem.code.reason())
        };
        match &error {
            InputError::Order(problem) => wrong(problem, ""),
            InputError::Refused(number, problem) => wrong(problem, &of(*number, problem)),
            InputError::NotCompiled(number, error) => {
                wrong(error.diagnostic(), &of(*number, error.diagnostic()))
            }
        }
    })
}

/// Returns an error for two compiled libraries that declare the same namespace.
fn clash(all: &[Prelude]) -> Option<BuildError> {
    let clash = (1..all.len()).find_map(|i| all[i].check_beside(&all[..i]).err())?;
    Some(BuildError::option("runtime_preludes", format!("do not fit together: {}", clash.message)))
}

/// Returns the stored libraries as one prelude.
fn stored(options: &AgentOptions) -> Result<Option<(Prelude, Vec<FrozenRef>)>, BuildError> {
    // With trusted keys, unsigned libraries have been reported, and are not even compiled.
    if options.preludes.is_empty() || options.trusted.is_some() {
        return Ok(None);
    }
    let Some(store) = &options.prelude_store else {
        return Err(BuildError::option("preludes", "needs `prelude_store`, which is set in code"));
    };
    if fixed(options).next().is_some() {
        return Err(BuildError::option(
            "preludes",
            "cannot be combined with `runtime_prelude`; keep one of them",
        ));
    }
    let bundle = store.bundle(&options.preludes, &[]);
    bundle
        .map(Some)
        .map_err(|error| BuildError::option("preludes", format!("cannot be loaded: {}", error.message)))
}

fn ranges(options: &AgentOptions) -> Vec<BuildError> {
    let least = [
        ("max_turns", Some(u64::from(options.max_turns)), 1),
        ("timeout", Some(options.timeout), 1),
        ("mission_timeout", options.mission_timeout, 1),
        ("turn_budget", Some(u64::from(options.turn_budget)), 1),
        ("max_questions", Some(u64::from(options.max_questions)), 1),
        ("max_heap", options.max_heap, 1),
        ("max_granted", options.max_granted, 1),
        ("memory_limit", options.memory_limit, 1),
        ("prompt_limit.list", Some(options.prompt_limit.list as u64), 1),
        ("prompt_limit.string", Some(options.prompt_limit.string as u64), 1),
        ("prompt_limit.max_chars", options.prompt_limit.max_chars.map(|n| n as u64), 1),
        ("llm_retry.max_attempts", Some(u64::from(options.llm_retry.max_attempts)), 1),
        ("max_tool_calls", options.max_tool_calls.map(u64::from), 1),
        ("pmap_timeout", Some(options.pmap_timeout), 1),
        ("pmap_max_concurrency", options.pmap_max_concurrency.map(u64::from), 1),
        ("token_limit", options.token_limit, 1),
        ("max_consecutive_failures", options.max_consecutive_failures.map(u64::from), 1),
    ];
    let mut problems: Vec<BuildError> = least
        .into_iter()
        .filter_map(|(name, value, least)| {
            let value = value.filter(|value| *value < least)?;
            Some(BuildError::option(name, format!("must be at least {least}, but is {value}")))
        })
        .collect();
    if options.max_cost_usd.is_some_and(|cost| !cost.is_finite() || cost <= 0.0) {
        problems.push(BuildError::option("max_cost_usd", "must be above 0"));
    }
    if options.float_precision > 15 {
        problems.push(BuildError::option("float_precision", "must be at most 15"));
    }
    for class in options.llm_retry.retryable_errors.iter().flatten() {
        if !CLASSES.contains(&class.as_str()) {
            let rule = format!("has `{class}`, which is not one of {}", CLASSES.join(", "));
            problems.push(BuildError::option("llm_retry.retryable_errors", rule));
        }
    }
    for (name, text) in [("name", &options.name), ("description", &options.description)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            problems.push(BuildError::option(name, "is empty; leave it out, or give it a text"));
        }
    }
    problems
}

/// Reports tools that are only described and therefore cannot be called.
fn callable(options: &AgentOptions) -> Vec<BuildError> {
    let described = options.tools.iter().filter(|tool| matches!(tool.kind, ToolKind::Described));
    described
        .map(|tool| {
            let message = format!(
                "the tool `{}` has no implementation: give it a `prompt`, an `agent` or an `answer`, add it \
                 in code, or move it to `tool_catalog`",
                tool.name
            );
            BuildError::new(Reason::InvalidTool, message).under(&["tools", &tool.name])
        })
        .collect()
}

fn placeholders(
    template: &Template,
    signature: &Signature,
    context: Option<&Signature>,
    options: &AgentOptions,
) -> Vec<BuildError> {
    // Without a contract, the mission is checked against the context when a run starts.
    if *signature == Signature::default() {
        return Vec::new();
    }
    let hint = match template.names().first() {
        Some(name) if signature.params.is_empty() => {
            let root = name.split('.').next().unwrap_or(name);
            format!(": the signature has no parameters; write `({root} :any) -> {}`", signature.returns)
        }
        _ => String::new(),
    };
    let wrong = |error: TemplateError| {
        BuildError::new(Reason::TemplateError, format!("`prompt`: {error}{hint}")).under(&["prompt"])
    };
    // Placeholders may also name data whose types are declared apart from the contract.
    let declared = context.into_iter().flat_map(|context| {
        context.params.iter().chain(context.returns.fields().unwrap_or_default()).cloned()
    });
    let fields: Vec<Field> = signature.params.iter().cloned().chain(declared).collect();
    let mut problems: Vec<BuildError> = template.check(&fields).into_iter().map(wrong).collect();
    if options.output == Output::Text && options.ptc_transport.is_none() {
        let unused = template.unused(&signature.params);
        problems.extend(unused.into_iter().map(|name| {
            let message = format!(
                "the parameter `{name}` is not used in `prompt`, and a text agent sees it nowhere else"
            );
            BuildError::new(Reason::TemplateError, message).under(&["signature"])
        }));
    }
    problems
}

fn combinations(options: &AgentOptions) -> Vec<BuildError> {
    let mut problems = Vec::new();
    let is_text = options.output == Output::Text;
    if is_text && options.ptc_transport == Some(Transport::Content) {
        let rule = "cannot be `content` for an agent that answers in text, since its replies hold no fenced programs; use \
                    `tool_call`, or leave it out";
        problems.push(BuildError::option("ptc_transport", rule));
    }
    if options.ptc_reference != "compact" {
        let shown: String = options.ptc_reference.chars().take(40).collect();
        problems.push(BuildError::option("ptc_reference", format!("can only be `compact`, not `{shown}`")));
    }
    let has_programs = !is_text || options.ptc_transport == Some(Transport::ToolCall);
    if has_programs && options.expose_preludes == Some(Expose::Native) {
        problems.push(BuildError::option(
            "expose_preludes",
            "cannot be `native` for an agent with programs, since programs can always call the exports of preludes; use `both`",
        ));
    }
    if is_text && options.compaction.is_some() {
        problems.push(BuildError::option(
            "compaction",
            "is for agents that write programs; leave it out for text",
        ));
    }
    problems
}

fn plan(options: &AgentOptions) -> Vec<BuildError> {
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    for item in &options.plan {
        if item.text.trim().is_empty() || item.id.trim().is_empty() {
            problems.push(BuildError::option("plan", "has a step without an id or a text"));
        }
        if !seen.insert(&item.id) {
            problems.push(BuildError::option("plan", format!("has two steps with the id `{}`", item.id)));
        }
    }
    problems
}

fn warnings(options: &AgentOptions) -> Vec<String> {
    let mut warnings = Vec::new();
    let turns = options.max_turns.saturating_add(options.retry_turns);
    if turns > options.turn_budget {
        warnings.push(format!(
            "`max_turns` and `retry_turns` allow {turns} turns, but `turn_budget` ends the mission after {}",
            options.turn_budget
        ));
    }
    let has_programs =
        options.output == Output::PtcLisp || options.ptc_transport == Some(Transport::ToolCall);
    let is_called = has_programs || options.offers_exports();
    if !is_called && (fixed(options).next().is_some() || !options.preludes.is_empty()) {
        let warning = "nothing calls the preludes: `expose_preludes` leaves them to programs, and the model of this agent writes \
                       none; leave `expose_preludes` out, or set `ptc_transport` to `tool_call`";
        warnings.push(warning.to_string());
    }
    for tool in options.tools.iter() {
        if matches!(tool.kind, ToolKind::Llm(_) | ToolKind::Agent(_)) && tool.description.is_none() {
            warnings.push(format!(
                "the tool `{}` has no description; models see the first line of its prompt",
                tool.name
            ));
        }
    }
    warnings
}
