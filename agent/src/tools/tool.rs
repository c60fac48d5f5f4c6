//! The definition of a tool, and what is behind it.

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
    /// What programs call it by.
    pub name: String,
    /// What is behind it.
    pub kind: ToolKind,
    /// What it takes and gives; None if it says nothing of itself.
    pub signature: Option<Signature>,
    /// One line for models.
    pub description: Option<String>,
    /// Whether a call that was made before is answered from memory.
    pub cache: bool,
    /// Who may call it; the output mode decides if unset.
    pub expose: Option<Expose>,
    /// What a model sees of a result it asked for itself.
    pub native_result: Option<NativePreview>,
    /// Whether programs and models know of it.
    pub visibility: Visibility,
    /// The preludes it is for, if it is private and for some only.
    pub private_to: Vec<PreludeId>,
    /// How strictly its arguments and answers are checked, if other than the agent's.
    pub validation: Option<Validation>,
    /// Milliseconds until a call is given up.
    pub timeout: Option<u64>,
    /// What a call changes.
    pub effect: Effect,
    /// Answers that are larger are not kept.
    pub max_cached_bytes: Option<u64>,
    /// Whether it is given keys as the program spells them.
    pub(crate) is_verbatim: bool,
    /// JSON Schema of its arguments as a server gives it, which may say more than a signature can. Whoever is behind the
    /// tool holds arguments against it.
    pub(crate) input_schema: Option<Value>,
    /// A signature that could not be read; told when the agent is built.
    pub(super) bad_signature: Option<SignatureError>,
    /// Whether it came along with the agent, and is made anew when the agent is.
    pub(crate) is_builtin: bool,
}

/// What is behind a tool.
#[derive(Clone, Debug)]
pub enum ToolKind {
    /// Code of the host.
    Plain(Body),
    /// A question to a model.
    Llm(Box<LlmTool>),
    /// Another agent, which runs a mission of its own.
    Agent(Box<Agent>),
    /// The agent that has the tool.
    SelfAgent,
    /// A function that a prelude exports.
    Export(ExportTool),
    /// Nothing: it can be read about, not called.
    Described,
}

/// A question to a model, as a tool: classification, judgement.
#[derive(Clone)]
pub struct LlmTool {
    /// The question, with placeholders for the arguments.
    pub prompt: Template,
    /// What it takes and gives.
    pub signature: Option<Signature>,
    /// What the model answers with, if other than the signature says.
    pub json_signature: Option<Signature>,
    /// Which model.
    pub llm: LlmRef,
    /// One line for the models that call it.
    pub description: Option<String>,
    /// A PTC-Lisp program that makes the result from the answer.
    pub response_template: Option<String>,
    /// May refuse arguments.
    pub validator: Option<Validator>,
}

impl LlmTool {
    /// A question with a contract. The placeholders must be parameters.
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

    /// Which model is asked.
    #[must_use]
    pub fn llm(mut self, llm: impl Into<LlmRef>) -> LlmTool {
        self.llm = llm.into();
        self
    }

    /// One line for the models that call it.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> LlmTool {
        self.description = Some(text.into());
        self
    }

    /// Every placeholder must be a parameter; parameters without one reach the model as data.
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
