//! Tools as an agent defines them: names and descriptions, rules for checking and caching calls, and the code for
//! them. The turn loop makes the calls.
//!
//! ```
//! use ptc_agent::tools::Tool;
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Search { query: String, limit: Option<u32> }
//!
//! /// Typed: the signature comes from the types.
//! let tool = Tool::typed("search", |args: Search, _| Ok(vec![args.query; args.limit.unwrap_or(1) as usize]))
//!     .description("Search for items matching query.");
//! assert_eq!(tool.signature_text(), "(query :string, limit :int?) -> [:string]");
//! assert!(tool.check().is_ok());
//! ```

mod builtin;
mod config;
mod create_plan;
mod discovery;
mod export;
mod native;
mod offered;
mod set;
mod stub;
mod tool;
mod values;

pub use builtin::builtin_tools;
pub use create_plan::create_plan;
pub use discovery::{ToolDiscovery, pick};
pub use export::ExportTool;
pub use native::native_name;
pub(crate) use native::{MAX_NATIVE, free_name};
pub(crate) use offered::{export_tools, is_offered};
pub use set::{RESERVED, ToolSet};
pub use tool::{LlmTool, Tool, ToolKind};
pub use values::{
    Body, Effect, Expose, Layer, LlmRef, NativePreview, PreviewFn, ToolBody, ToolCtx, Validator, Visibility,
};

use crate::definition::{Agent, BuildError, Reason};
use ptc_bytecode::ToolName;
use ptc_contract::signature::{Signature, SignatureError, Style, Validation};
use ptc_runtime::{PreludeId, ToolAnswer, ToolArgs, ToolError};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::future::Future;

impl Tool {
    /// Returns a tool of this kind, with every option at its default.
    pub fn of(name: impl Into<String>, kind: ToolKind) -> Tool {
        let signature = match &kind {
            ToolKind::Llm(tool) => tool.signature.clone(),
            ToolKind::Agent(agent) => Some(signature_of(agent)),
            _ => None,
        };
        Tool {
            name: name.into(),
            kind,
            signature,
            description: None,
            cache: false,
            expose: None,
            native_result: None,
            visibility: Visibility::Public,
            private_to: Vec::new(),
            validation: None,
            timeout: None,
            effect: Effect::Unknown,
            max_cached_bytes: None,
            is_verbatim: false,
            input_schema: None,
            operation: None,
            bad_signature: None,
            is_builtin: false,
        }
    }

    /// Makes a tool from a closure that blocks. Its result may be anything that serialises.
    ///
    /// ```
    /// use ptc_agent::tools::Tool;
    /// let tool = Tool::new("get_time", |_, _| Ok("12:00")).signature("() -> :string");
    /// assert_eq!(tool.signature_text(), "() -> :string");
    /// ```
    pub fn new<T: Serialize>(
        name: impl Into<String>,
        body: impl Fn(&ToolArgs, &ToolCtx) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Tool {
        let body = move |args: &ToolArgs, ctx: &ToolCtx| ToolAnswer::from_serialize(&body(args, ctx)?);
        Tool::of(name, ToolKind::Plain(Body::blocking(body)))
    }

    /// Makes a tool from a closure whose result is JSON text, such as the body of a reply. The text is read directly
    /// into data that programs share, without a JSON tree in between: for large results that saves most of the memory
    /// and time.
    ///
    /// ```
    /// use ptc_agent::tools::Tool;
    /// let tool = Tool::json("rows", |_, _| Ok(r#"[{"id": 1}, {"id": 2}]"#)).signature("() -> [{id :int}]");
    /// ```
    pub fn json<T: AsRef<[u8]>>(
        name: impl Into<String>,
        body: impl Fn(&ToolArgs, &ToolCtx) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Tool {
        let body = move |args: &ToolArgs, ctx: &ToolCtx| ToolAnswer::from_json(body(args, ctx)?);
        Tool::of(name, ToolKind::Plain(Body::blocking(body)))
    }

    /// Makes a tool from an async closure.
    pub fn new_async<T, F>(
        name: impl Into<String>,
        body: impl Fn(ToolArgs, ToolCtx) -> F + Send + Sync + 'static,
    ) -> Tool
    where
        T: Serialize,
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let body = move |args: ToolArgs, ctx: ToolCtx| -> ptc_runtime::ToolFuture {
            let answer = body(args, ctx);
            Box::pin(async move { ToolAnswer::from_serialize(&answer.await?) })
        };
        Tool::of(name, ToolKind::Plain(Body::waiting(body)))
    }

    /// Passes arguments to the tool `call` as the program spells them, keywords included: only the code of the tool knows
    /// how a server spells its keys.
    #[must_use]
    pub fn verbatim(mut self) -> Tool {
        self.is_verbatim = true;
        self
    }

    /// Returns whether the tool calls servers, which check their arguments themselves.
    pub(crate) fn is_of_servers(&self) -> bool {
        self.is_verbatim && (self.name == ToolName::CALL || self.input_schema.is_some())
    }

    /// Offers the tool with this schema of its arguments, unchanged.
    #[must_use]
    pub(crate) fn taking(mut self, input_schema: serde_json::Value) -> Tool {
        self.input_schema = Some(input_schema);
        self
    }

    /// Makes a tool from a function that takes a struct; the signature comes from its types.
    pub fn typed<Args, Ret>(
        name: impl Into<String>,
        body: impl Fn(Args, &ToolCtx) -> Result<Ret, ToolError> + Send + Sync + 'static,
    ) -> Tool
    where
        Args: DeserializeOwned + JsonSchema,
        Ret: Serialize + JsonSchema,
    {
        Tool::new(name, move |args, ctx| body(args.parse()?, ctx)).of_types::<Args, Ret>()
    }

    /// Makes a tool from an async function that takes a struct; the signature comes from its types. Waiting calls hold
    /// no thread, and abandoned calls are dropped where they wait.
    ///
    /// ```
    /// use ptc_agent::tools::Tool;
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Search { query: String, limit: Option<u32> }
    /// let tool = Tool::typed_async("search", |args: Search, _| async move { Ok(vec![args.query]) });
    /// assert_eq!(tool.signature_text(), "(query :string, limit :int?) -> [:string]");
    /// ```
    pub fn typed_async<Args, Ret, F>(
        name: impl Into<String>,
        body: impl Fn(Args, ToolCtx) -> F + Send + Sync + 'static,
    ) -> Tool
    where
        Args: DeserializeOwned + JsonSchema,
        Ret: Serialize + JsonSchema,
        F: Future<Output = Result<Ret, ToolError>> + Send + 'static,
    {
        let tool = Tool::new_async(name, move |args, ctx| {
            let answer = args.parse().map(|args| body(args, ctx));
            async move { answer?.await }
        });
        tool.of_types::<Args, Ret>()
    }

    /// Sets the signature of these types.
    fn of_types<Args: JsonSchema, Ret: JsonSchema>(self) -> Tool {
        self.with_signature(Signature::of_fn::<Args, Ret>())
    }

    /// Makes a tool that asks a model: one turn, text in, data out.
    pub fn llm(name: impl Into<String>, tool: LlmTool) -> Tool {
        let description = tool.description.clone();
        let mut made = Tool::of(name, ToolKind::Llm(Box::new(tool)));
        made.description = description;
        made
    }

    /// Makes a tool from another agent, which runs its own mission. It has the agent's signature and description.
    ///
    /// ```
    /// use ptc_agent::{Agent, tools::Tool};
    /// let finder = Agent::builder()
    ///     .prompt("Find emails matching: {{query}}")
    ///     .signature("(query :string) -> {count :int, _email_ids [:int]}")
    ///     .build()?;
    /// let tool = Tool::agent("find_emails", finder);
    /// assert_eq!(tool.signature_text(), "(query :string) -> {count :int}");
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn agent(name: impl Into<String>, agent: Agent) -> Tool {
        let description = agent.options().description.clone();
        let mut made = Tool::of(name, ToolKind::Agent(Box::new(agent)));
        made.description = description;
        made
    }

    /// Makes a tool by which an agent calls itself on a part of its input.
    pub fn self_agent(name: impl Into<String>) -> Tool {
        Tool::of(name, ToolKind::SelfAgent)
            .description("Runs this same agent on a part of the input and gives its result.")
    }

    /// Makes a tool that is only described, for `tool_catalog`.
    pub fn described(name: impl Into<String>, signature: &str) -> Tool {
        Tool::of(name, ToolKind::Described).signature(signature)
    }

    /// Sets the signature. A text that is not one is reported when the agent is built.
    #[must_use]
    pub fn signature(self, text: &str) -> Tool {
        self.with_signature(Signature::parse(text))
    }

    /// Sets a parsed signature, or keeps its error.
    #[must_use]
    pub(crate) fn with_signature(mut self, signature: Result<Signature, SignatureError>) -> Tool {
        match signature {
            // An explicit signature replaces types that no signature can express.
            Ok(signature) => (self.signature, self.bad_signature) = (Some(signature), None),
            Err(error) => self.bad_signature = Some(error),
        }
        self
    }

    /// Sets the signature from JSON Schemas of parameters and result, as MCP servers give them.
    #[must_use]
    pub fn schemas(self, params: &serde_json::Value, returns: Option<&serde_json::Value>) -> Tool {
        self.with_signature(Signature::from_tool_schemas(params, returns))
    }

    /// Describes a parameter of the signature, which must be set first: in prompts, and in the schema for providers.
    /// Doc comments of typed tools and descriptions in schemas make this unnecessary.
    ///
    /// ```
    /// use ptc_agent::{prompt::tool_list, tools::Tool};
    /// let tool = Tool::new("search", |_, _| Ok(1)).signature("(query :string) -> :int").param("query", "Words to look for.");
    /// assert!(tool_list([&tool].into_iter(), false).contains("\n  query: Words to look for."));
    /// ```
    #[must_use]
    pub fn param(mut self, name: &str, description: impl Into<String>) -> Tool {
        let described = self.signature.get_or_insert_default().describe(name, description);
        self.bad_signature = self.bad_signature.or(described.err());
        self
    }

    /// Sets the one-line description for models.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Tool {
        self.description = Some(text.into());
        self
    }

    /// Sets whether repeated calls are answered from the cache.
    #[must_use]
    pub fn cache(mut self, cache: bool) -> Tool {
        self.cache = cache;
        self
    }

    /// Sets who may call the tool.
    #[must_use]
    pub fn expose(mut self, expose: Expose) -> Tool {
        self.expose = Some(expose);
        self
    }

    /// Sets the preview of results that a model requested itself.
    #[must_use]
    pub fn native_result(mut self, preview: NativePreview) -> Tool {
        self.native_result = Some(preview);
        self
    }

    /// Sets whether programs and models know of the tool.
    #[must_use]
    pub fn visibility(mut self, visibility: Visibility) -> Tool {
        self.visibility = visibility;
        self
    }

    /// Sets the strictness of checks on arguments and results.
    #[must_use]
    pub fn validation(mut self, mode: Validation) -> Tool {
        self.validation = Some(mode);
        self
    }

    /// Disables checks on arguments and results, like `validation(Validation::Disabled)`.
    #[must_use]
    pub fn skip_validation(self) -> Tool {
        self.validation(Validation::Disabled)
    }

    /// Sets the time limit of a call, in milliseconds.
    #[must_use]
    pub fn timeout(mut self, ms: u64) -> Tool {
        self.timeout = Some(ms);
        self
    }

    /// Reserves the tool for one prelude: the namespace of this name, or the one that a [`PreludeId`] names. Programs and
    /// models do not know of it, and preludes from a store may never call it. Repeatable, for several preludes.
    ///
    /// ```
    /// use ptc_agent::tools::{Tool, Visibility};
    /// let tool = Tool::new("price", |_, _| Ok(5)).private_to("shop");
    /// assert_eq!(tool.visibility, Visibility::Private);
    /// ```
    #[must_use]
    pub fn private_to(mut self, prelude: impl Into<PreludeId>) -> Tool {
        self.visibility = Visibility::Private;
        self.private_to.push(prelude.into());
        self
    }

    /// Sets the effect of a call.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Tool {
        self.effect = effect;
        self
    }

    /// Sets the maximum size of cached results, in bytes.
    #[must_use]
    pub fn max_cached_bytes(mut self, bytes: u64) -> Tool {
        self.max_cached_bytes = Some(bytes);
        self
    }

    /// Returns the signature for models: without firewalled fields of the result; `(...) -> :any` if there is none.
    pub fn signature_text(&self) -> String {
        match &self.signature {
            Some(signature) => signature.render(Style::Public),
            None => "(...) -> :any".to_string(),
        }
    }

    /// Returns the line for models: the description, or the first line of the prompt.
    pub fn summary(&self) -> Option<String> {
        let prompt = match &self.kind {
            ToolKind::Llm(tool) => Some(tool.prompt.source()),
            ToolKind::Agent(agent) => Some(agent.prompt()),
            _ => None,
        };
        self.description
            .clone()
            .or_else(|| prompt?.lines().find(|line| !line.trim().is_empty()).map(str::to_string))
    }

    /// Returns who may call the tool in an agent with this output.
    pub fn effective_expose(&self, is_text: bool) -> Expose {
        self.expose.unwrap_or(if is_text { Expose::Native } else { Expose::PtcLisp })
    }

    /// Checks that the tool is well defined by itself. Names are checked by its set.
    pub fn check(&self) -> Result<(), BuildError> {
        let name = &self.name;
        if let Some(error) = &self.bad_signature {
            let message = format!("the signature of the tool `{name}` cannot be read: {error}");
            return Err(BuildError::new(Reason::InvalidSignature, message).under(&["signature"]));
        }
        let wrong = |message: String| Err(BuildError::new(Reason::InvalidTool, message));
        if self.description.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return wrong(format!(
                "the description of the tool `{name}` is empty; leave it out, or describe the tool"
            ));
        }
        if self.timeout == Some(0) {
            return wrong(format!("`timeout` of the tool `{name}` must be at least 1 ms"));
        }
        if let Some(preview) = &self.native_result {
            if self.expose != Some(Expose::Both) || !self.cache {
                return wrong(format!(
                    "`native_result` of the tool `{name}` needs `expose: both` and `cache: true`, since programs read the \
                     whole result from the cache"
                ));
            }
            if matches!(preview, NativePreview::Rows { limit: 0 }) {
                return wrong(format!("`native_result.limit` of the tool `{name}` must be at least 1"));
            }
        }
        if self.visibility == Visibility::Private && self.expose.is_some() {
            return wrong(format!(
                "the tool `{name}` is private, so `expose` has no effect; leave one of them out"
            ));
        }
        match &self.kind {
            ToolKind::Llm(tool) => tool.check(name, self.signature.as_ref()),
            // A tool gets nothing but its arguments, so every placeholder must be one of them.
            ToolKind::Agent(agent) => match agent.template().check(&agent.signature().params).first() {
                Some(error) => {
                    let message = format!("the prompt of the tool `{name}`: {error}");
                    Err(BuildError::new(Reason::TemplateError, message))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Returns the signature of an agent as a tool; its context descriptions describe the parameters.
pub(crate) fn signature_of(agent: &Agent) -> Signature {
    agent.signature().clone().described_by(&agent.options().context_descriptions)
}
