//! Checks before a run starts: the agent with the changes of the run, and its data against both. A run does this first,
//! and a dry run does nothing else.

use super::{Agent, BuildError, Reason, RunOptions};
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{Tree, View};
use ptc_contract::keys;
use ptc_contract::signature::{Field, Signature, Type, Validation};
use ptc_contract::template::OnMissing;

/// A checked run, ready to start.
#[derive(Clone, Debug)]
pub struct PreparedRun {
    /// Agent, with the changes of the run.
    pub agent: Agent,
    /// Data, coerced to the parameters.
    pub context: Datum,
    /// Types of the data, if other than the parameters.
    pub context_signature: Option<Signature>,
    /// Coercions and other remarks.
    pub warnings: Vec<String>,
}

impl Agent {
    /// Returns all problems that would keep a run from starting; empty if there are none. No model is asked.
    ///
    /// ```
    /// use ptc_agent::{Agent, RunOptions};
    /// let agent = Agent::builder().prompt("Find {{topic}}").build()?;
    /// let problems = agent.validate(&RunOptions::new());
    /// assert_eq!(problems[0].to_string(), "template_error: the context has no value for `{{topic}}`");
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn validate(&self, run: &RunOptions) -> Vec<BuildError> {
        self.prepare(run).err().unwrap_or_default()
    }

    /// Returns the agent with the changes of a run, or the problems of those changes.
    pub(crate) fn changed(&self, run: &RunOptions) -> Result<Agent, Vec<BuildError>> {
        let Some(change) = &run.changes else { return Ok(self.clone()) };
        let builder = change(super::AgentBuilder::from(self.options().clone()));
        let problems = builder.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        builder.build().map_err(|error| vec![error])
    }

    /// Prepares a run, or returns all problems that keep it from starting.
    pub fn prepare(&self, run: &RunOptions) -> Result<PreparedRun, Vec<BuildError>> {
        let agent = self.changed(run)?;
        let mut problems = Vec::new();
        let tree = Tree::new(&run.context);
        let context = tree.root();
        if !matches!(context.node(), Node::Map(_)) {
            let message = format!("the context must be a map, but is {}", context.kind());
            return Err(vec![BuildError::new(Reason::ValidationError, message)]);
        }
        problems.extend(conflicts(&agent, context));
        if run.mission.is_none() {
            problems.extend(missing(&agent, context));
        }
        let context_signature = match run.context_signature.as_deref().map(Signature::parse) {
            None => None,
            Some(Ok(signature)) => Some(signature),
            Some(Err(error)) => {
                let message = format!("`context_signature` cannot be read: {error}");
                problems.push(BuildError::new(Reason::InvalidSignature, message));
                None
            }
        };
        let mut warnings = agent.warnings().to_vec();
        let context = match inputs(&agent, &run.context, &mut warnings) {
            Ok(context) => context,
            Err(errors) => {
                problems.extend(errors);
                run.context.clone()
            }
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let context = with_tellable_names(context, &agent, context_signature.as_ref(), &mut warnings);
        Ok(PreparedRun { agent, context, context_signature, warnings })
    }
}

/// Removes context entries with firewalled names, such as those of a map derived from firewalled values: prompts, hints
/// and traces list all names. Names that the agent itself declares are no secret.
fn with_tellable_names(
    context: Datum,
    agent: &Agent,
    context_signature: Option<&Signature>,
    warnings: &mut Vec<String>,
) -> Datum {
    let tree = Tree::new(&context);
    let entries = tree.root().entries();
    if !entries.iter().any(|(key, _)| key.is_veiled()) {
        return context;
    }
    let of_context = context_signature
        .into_iter()
        .flat_map(|signature| signature.params.iter().chain(signature.returns.fields().unwrap_or_default()));
    let declared = agent.signature().params.iter().chain(of_context).map(|field| field.name.clone());
    let used = agent.template().names().into_iter();
    let used = used.map(|path| path.split('.').next().unwrap_or_default().to_string());
    let known: Vec<String> = declared.chain(used).collect();
    let is_known = |name: &str| known.iter().any(|known| keys::same(known, name));
    let (mut nodes, mut veiled, mut count) = (Vec::new(), Vec::new(), 0);
    for (key, value) in &entries {
        if key.is_veiled() && !key.name().is_some_and(is_known) {
            continue;
        }
        nodes.extend_from_slice(key.nodes());
        veiled.extend(value.veiled_below(nodes.len()));
        nodes.extend_from_slice(value.nodes());
        count += 1;
    }
    let left_out = entries.len() - count as usize;
    if left_out > 0 {
        warnings.push(format!(
            "{left_out} entries of the context were left out: their keys are firewalled, and no signature declares them"
        ));
    }
    nodes.push(Node::Map(count));
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0))).with_veiled(veiled)
}

/// Reports keys of the context that are also names of tools: a model would mix them up.
fn conflicts(agent: &Agent, context: View<'_>) -> Vec<BuildError> {
    let keys = context.entries();
    let is_key = |name: &str| keys.iter().any(|(key, _)| key.name().is_some_and(|key| keys::same(key, name)));
    let both = agent.tools().iter().filter(|tool| is_key(&tool.name));
    both.map(|tool| {
        let message = format!("`{}` is both a tool and a key of the context; rename one of them", tool.name);
        BuildError::new(Reason::NameConflict, message)
    })
    .collect()
}

fn missing(agent: &Agent, context: View<'_>) -> Vec<BuildError> {
    if agent.options().on_missing_template == OnMissing::Keep {
        return Vec::new();
    }
    let mut names = agent.template().missing(context);
    names.dedup();
    let told = names.into_iter().map(|name| {
        BuildError::new(Reason::TemplateError, format!("the context has no value for `{{{{{name}}}}}`"))
    });
    told.collect()
}

/// Checks and coerces the context. Values that are there must fit; absent ones matter only in `strict`.
fn inputs(agent: &Agent, context: &Datum, warnings: &mut Vec<String>) -> Result<Datum, Vec<BuildError>> {
    let mode = agent.options().signature_validation;
    let fail = |message: String| BuildError::new(Reason::ValidationError, message);
    if mode == Validation::Strict {
        let bare: Vec<BuildError> = agent
            .tools()
            .iter()
            // Servers check calls against their own schemas.
            .filter(|tool| tool.signature.is_none() && !tool.is_of_servers())
            .map(|tool| fail(format!("the tool `{}` has no signature, but `strict` requires one", tool.name)))
            .collect();
        if !bare.is_empty() {
            return Err(bare);
        }
    }
    let params = &agent.signature().params;
    if params.is_empty() || mode == Validation::Disabled {
        return Ok(context.clone());
    }
    let relaxed = |field: &Field| match mode {
        Validation::Strict => field.clone(),
        _ => Field::new(&*field.name, Type::optional(field.ty.clone())),
    };
    // Additional keys of a context are fine in every mode.
    let ty = Type::Record { fields: params.iter().map(relaxed).collect(), closed: false };
    let lenient = if mode == Validation::Strict { Validation::Enabled } else { mode };
    match ty.coerce(context, lenient) {
        Ok(checked) => {
            warnings.extend(checked.warnings);
            warnings.extend(checked.tolerated.iter().map(ToString::to_string));
            Ok(checked.value)
        }
        Err(rejected) => Err(rejected.errors.iter().map(|error| fail(error.to_string())).collect()),
    }
}
