//! Definitions of tools and their kinds.

use super::export::ExportTool;
use super::values::{Body, Effect, Expose, LlmRef, NativePreview, Validator, Visibility};
use crate::Agent;
use crate::definition::{BuildError, Reason};
use ptc_contract::signature::{Signature, SignatureError, Validation};
use ptc_contract::template::Template;
use ptc_runtime::PreludeId;
use serde_json::Value;
use std::fmt;

/// A tool of an agent. Methods with the name of an option set it.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Name by which programs call the tool.
    pub name: String,
    /// Kind of the tool: the code or model behind it.
    pub kind: ToolKind,
    /// Signature; None if the tool does not state one.
    pub signature: Option<Signature>,
    /// One-line description for models.
    pub description: Option<String>,
    /// Flag: repeated calls are answered from the cache.
    pub cache: bool,
    /// Callers of the tool; depends on the agent's output if unset.
    pub expose: Option<Expose>,
    /// Preview of results that a model requested itself.
    pub native_result: Option<NativePreview>,
    /// Visibility to programs and models.
    pub visibility: Visibility,
    /// Preludes that the tool is reserved for, if it is private to some.
    pub private_to: Vec<PreludeId>,
    /// Strictness of checks on arguments and results, if other than the agent's.
    pub validation: Option<Validation>,
    /// Time limit of a call, in milliseconds.
    pub timeout: Option<u64>,
    /// Effect of a call.
    pub effect: Effect,
    /// Maximum bytes of cached results.
    pub max_cached_bytes: Option<u64>,
    /// Flag: keys are passed as the program spells them.
    pub(crate) is_verbatim: bool,
    /// JSON Schema of the arguments from a server, which checks them. It may say more than a signature can.
    pub(crate) input_schema: Option<Value>,
    /// Operation of an upstream server that the tool stands for, as `server/tool`.
    pub(crate) operation: Option<String>,
    /// Error of an unreadable signature, reported when the agent is built.
    pub(super) bad_signature: Option<SignatureError>,
    /// Flag: the tool is built in, and made again whenever the agent is.
    pub(crate) is_builtin: bool,
}

/// Kind of a tool: the code or model behind it.
#[derive(Clone, Debug)]
pub enum ToolKind {
    /// Code of the host.
    Plain(Body),
    /// A question to a model.
    Llm(Box<LlmTool>),
    /// Another agent, which runs a separate mission.
    Agent(Box<Agent>),
    /// The agent that has the tool.
    SelfAgent,
    /// A function that a prelude exports.
    Export(ExportTool),
    /// No code: the tool is described but cannot be called.
    Described,
}

/// A question to a model, as a tool: classification, judgement.
#[derive(Clone)]
pub struct LlmTool {
    /// Question, with placeholders for the arguments.
    pub prompt: Template,
    /// Signature of the tool.
    pub signature: Option<Signature>,
    /// Signature of the model's answer, if other than the tool's.
    pub json_signature: Option<Signature>,
    /// Model to ask.
    pub llm: LlmRef,
    /// One-line description for the models that call it.
    pub description: Option<String>,
    /// PTC-Lisp program that computes the result from the answer.
    pub response_template: Option<String>,
    /// Function that may refuse arguments.
    pub validator: Option<Validator>,
}

impl LlmTool {
    /// Returns a question with a contract. The placeholders must be parameters.
    ///
    /// ```
    /// use ptc_agent::tools::{LlmTool, Tool};
    /// let urgent = LlmTool::new(
    ///     "Is {{email.subject}} urgent for {{customer_tier}} customer?",
    ///     "(email {subject :string}, customer_tier :string) -> {urgent :bool, reason :string}",
    /// )?;
    /// let tool = Tool::llm("evaluate", urgent);
    /// assert!(tool.check().is_ok());
    /// assert!(LlmTool::new("{{text}}", "(txt :string) -> :bool").is_err());
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn new(prompt: &str, signature: &str) -> Result<LlmTool, BuildError> {
        let signature = Signature::parse(signature).map_err(|error| {
            BuildError::new(Reason::InvalidSignature, format!("the signature cannot be read: {error}"))
        })?;
        let prompt = Template::parse(prompt)
            .map_err(|error| BuildError::new(Reason::TemplateError, error.to_string()))?;
        let tool = LlmTool {
            prompt,
            signature: Some(signature.clone()),
            json_signature: None,
            llm: LlmRef::Caller,
            description: None,
            response_template: None,
            validator: None,
        };
        tool.check("question", Some(&signature))?;
        Ok(tool)
    }

    /// Sets the model to ask.
    #[must_use]
    pub fn llm(mut self, llm: impl Into<LlmRef>) -> LlmTool {
        self.llm = llm.into();
        self
    }

    /// Sets the one-line description for the models that call it.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> LlmTool {
        self.description = Some(text.into());
        self
    }

    /// Checks that every placeholder is a parameter; parameters without a placeholder reach the model as data.
    pub(crate) fn check(&self, name: &str, signature: Option<&Signature>) -> Result<(), BuildError> {
        let Some(signature) = signature else {
            let message = format!("the tool `{name}` asks a model, so it needs a signature for the answer");
            return Err(BuildError::new(Reason::InvalidTool, message));
        };
        match self.prompt.check(&signature.params).first() {
            Some(error) => Err(BuildError::new(
                Reason::TemplateError,
                format!("the prompt of the tool `{name}`: {error}"),
            )),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for LlmTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = self.signature.as_ref().map(ToString::to_string);
        f.debug_struct("LlmTool")
            .field("prompt", &self.prompt.source())
            .field("signature", &signature)
            .finish()
    }
}
