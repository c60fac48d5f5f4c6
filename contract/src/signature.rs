//! Signatures: contracts for the inputs and results of agents and tools.
//!
//! A single parser reads the shorthand, its older form with colons, and Malli data, into [`Type`]s. A signature
//! checks and coerces inputs, checks outputs, renders itself for prompts, and converts from and to JSON Schema.
//!
//! ```
//! use ptc_contract::Signature;
//! let signature = Signature::parse("(query :string, limit :int?) -> [{id :int, title :string}]")?;
//! assert_eq!(signature.params[1].name, "limit");
//! assert!(signature.params[1].ty.is_optional());
//! assert_eq!(signature.to_string(), "(query :string, limit :int?) -> [{id :int, title :string}]");
//! # Ok::<(), ptc_contract::signature::SignatureError>(())
//! ```

mod answer;
mod check;
mod coerce;
mod describe;
mod error;
mod infer;
mod input;
mod lex;
mod malli;
mod mode;
mod parse;
mod path;
mod render;
mod rust;
mod sample;
mod schema_in;
mod schema_out;
mod shape;
mod types;

pub use error::{SignatureError, ValidationError, list_errors};
pub use input::SignatureInput;
pub use mode::{CheckedValue, Rejection, Validation};
pub use path::{Path, Segment};
pub use render::Style;
pub use schema_in::FieldDescriptions;
pub use types::{Field, Literal, MAX_NESTING, MAX_PATTERNS, MAX_TEXT, Num, Pred, Signature, Type, find};

impl Signature {
    /// Reads the shorthand, with or without parameters, or Malli text that begins with `[:=>`.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// let short = Signature::parse("{count :int}")?;
    /// assert_eq!(short, Signature::parse("() -> {:count :int}")?);
    /// assert_eq!(short, Signature::parse("[:=> [:cat] [:map [:count :int]]]")?);
    /// let error = Signature::parse("(items :list) -> :bool").unwrap_err();
    /// assert_eq!(error.to_string(), "`:list` is not a type (column 8): write `[:type]`, such as `[:int]` or `[:any]`");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Signature, SignatureError> {
        parse::signature(text)
    }

    /// Reads the value of a file: a text, or Malli data in lists.
    pub fn from_json(value: &serde_json::Value) -> Result<Signature, SignatureError> {
        SignatureInput::from_json(value).map_err(SignatureError::data)?.read()
    }

    /// Reads Malli data from a program, or from JSON with keywords as strings that begin with a colon.
    pub fn from_malli(data: &ptc_bytecode::Datum) -> Result<Signature, SignatureError> {
        malli::read(crate::data::Tree::new(&malli::with_keywords(data)).root())
    }

    /// Returns the signature as Malli data.
    ///
    /// ```
    /// use ptc_contract::{data::{show, Shown, Tree}, Signature};
    /// let data = Signature::parse("(n :int[>0]) -> {tags [:string]?}")?.to_malli();
    /// let text = show(Tree::new(&data).root(), Shown::default());
    /// assert_eq!(text, "[:=> [:catn [:n [:and :int [:> 0]]]] [:map [:tags {:optional true} [:maybe [:vector :string]]]]]");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn to_malli(&self) -> ptc_bytecode::Datum {
        malli::write(self)
    }

    /// Returns the parameter of that name; `-` and `_` are equal.
    pub fn param(&self, name: &str) -> Option<&Field> {
        types::find(&self.params, name)
    }

    /// Returns the parameters as one record.
    pub(crate) fn params_type(&self) -> Type {
        Type::Record { fields: self.params.clone(), closed: false }
    }
}

/// Returns the part after the arrow, or the whole text if there is none. `context_signature` takes its types from it.
///
/// ```
/// use ptc_contract::signature::extract_return_spec;
/// assert_eq!(extract_return_spec("(q :string) -> {count :int}"), "{count :int}");
/// assert_eq!(extract_return_spec("-> :int"), ":int");
/// assert_eq!(extract_return_spec("{count :int}"), "{count :int}");
/// ```
pub fn extract_return_spec(text: &str) -> String {
    if malli::is_text(text)
        && let Ok(signature) = Signature::parse(text)
    {
        return signature.returns.to_string();
    }
    match lex::arrow(text) {
        Some(at) => text[at + 2..].trim().to_string(),
        None => text.trim().to_string(),
    }
}
