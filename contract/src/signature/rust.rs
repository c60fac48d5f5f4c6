//! Rust types → signatures, through the schema that `schemars` derives.

use super::schema_in::{FieldDescriptions, descriptions};
use super::{Signature, SignatureError, Type};
use schemars::JsonSchema;

impl Signature {
    /// Returns the signature of a result of this type. Types that contain themselves, tuples, and enums with data in
    /// their variants need a signature written by hand.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// #[derive(schemars::JsonSchema)]
    /// struct Answer { title: String, score: f64, tags: Vec<String>, level: Level }
    /// #[derive(schemars::JsonSchema)]
    /// #[serde(rename_all = "lowercase")]
    /// enum Level { Low, High }
    /// let text = "() -> {title :string, score :float, tags [:string], level :enum[low high]}";
    /// assert_eq!(Signature::of::<Answer>()?.to_string(), text);
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn of<T: JsonSchema>() -> Result<Signature, SignatureError> {
        Signature::from_json_schema(&schema::<T>())
    }

    /// Returns the signature of a function that takes a struct of arguments.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// #[derive(schemars::JsonSchema)]
    /// struct Search { query: String, limit: Option<u32> }
    /// let signature = Signature::of_fn::<Search, Vec<String>>()?;
    /// assert_eq!(signature.to_string(), "(query :string, limit :int?) -> [:string]");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn of_fn<Args: JsonSchema, Ret: JsonSchema>() -> Result<Signature, SignatureError> {
        Signature::from_tool_schemas(&schema::<Args>(), Some(&schema::<Ret>()))
    }

    /// Returns the doc comments of a struct's fields, for the option `field_descriptions`.
    ///
    /// ```
    /// #[derive(schemars::JsonSchema)]
    /// struct Answer {
    ///     /// Between 0 and 1.
    ///     score: f64,
    /// }
    /// assert_eq!(ptc_contract::Signature::descriptions_of::<Answer>()["score"], "Between 0 and 1.");
    /// ```
    pub fn descriptions_of<T: JsonSchema>() -> FieldDescriptions {
        descriptions(&schema::<T>())
    }
}

impl Type {
    /// Returns the signature type of a Rust type.
    pub fn of<T: JsonSchema>() -> Result<Type, SignatureError> {
        Type::from_json_schema(&schema::<T>())
    }
}

fn schema<T: JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}
