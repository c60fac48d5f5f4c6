//! The four modes of checking a value against a signature.

use super::coerce::coerce;
use super::{Signature, Type, ValidationError, list_errors};
use ptc_bytecode::Datum;
use serde::{Deserialize, Serialize};

/// Strictness of checks on inputs and outputs; for an agent, or for one of its tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// Coerces inputs, checks, and fails on errors; extra fields are allowed.
    #[default]
    Enabled,
    /// Coerces and checks as `Enabled` does, but only reports errors.
    WarnOnly,
    /// Checks nothing.
    Disabled,
    /// Checks as `Enabled` does, and refuses extra fields. An agent also needs a signature for each of its tools, and a
    /// context with all required keys.
    Strict,
}

/// A value that passed its check.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckedValue {
    /// Value, coerced where needed.
    pub value: Datum,
    /// Coercions, one line each.
    pub warnings: Vec<String>,
    /// Misfits that the mode lets through.
    pub tolerated: Vec<ValidationError>,
}

/// Errors of a value that failed its check.
#[derive(Clone, PartialEq, Debug)]
pub struct Rejection {
    /// Misfits; at least one.
    pub errors: Vec<ValidationError>,
    /// Coercions made before the value was refused, one line each.
    pub warnings: Vec<String>,
}

impl Rejection {
    /// Returns errors and warnings under the headings that models know.
    pub fn lines(&self) -> String {
        let errors = list_errors("Tool validation errors:", &self.errors);
        match list_errors("Tool validation warnings:", &self.warnings) {
            none if none.is_empty() => errors,
            warnings => format!("{errors}\n{warnings}"),
        }
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lines())
    }
}

impl std::error::Error for Rejection {}

impl Signature {
    /// Coerces and checks the arguments of a tool or agent, in this mode.
    ///
    /// ```
    /// use ptc_contract::signature::{Signature, Validation};
    /// use ptc_runtime::bridge::{datum_to_json, json_to_datum};
    /// use serde_json::json;
    /// let signature = Signature::parse("(id :int, name :string) -> :bool")?;
    /// let checked = signature.check_input(&json_to_datum(&json!({"id": "42", "name": "Alice"}))?, Validation::Enabled)?;
    /// assert_eq!(datum_to_json(&checked.value)?, json!({"id": 42, "name": "Alice"}));
    /// assert_eq!(checked.warnings, [r#"id: coerced string "42" to int"#]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_input(&self, args: &Datum, mode: Validation) -> Result<CheckedValue, Rejection> {
        if mode == Validation::Disabled {
            return Ok(CheckedValue { value: args.clone(), warnings: Vec::new(), tolerated: Vec::new() });
        }
        self.params_type().coerce(args, mode)
    }

    /// Checks a result for the host, in this mode. Nothing is coerced.
    ///
    /// ```
    /// use ptc_contract::signature::{Signature, Validation};
    /// use ptc_runtime::bridge::json_to_datum;
    /// let signature = Signature::parse("{count :int}")?;
    /// let value = json_to_datum(&serde_json::json!({"count": 5, "extra": "bonus"}))?;
    /// assert!(signature.check_output(&value, Validation::Enabled).is_ok());
    /// let rejected = signature.check_output(&value, Validation::Strict).unwrap_err();
    /// assert_eq!(rejected.errors[0].to_string(), "extra: is not a field of the signature");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_output(&self, value: &Datum, mode: Validation) -> Result<CheckedValue, Rejection> {
        let errors = match mode {
            Validation::Disabled => Vec::new(),
            _ => self.returns.check(value, mode == Validation::Strict),
        };
        if !errors.is_empty() && mode != Validation::WarnOnly {
            return Err(Rejection { errors, warnings: Vec::new() });
        }
        Ok(CheckedValue { value: value.clone(), warnings: Vec::new(), tolerated: errors })
    }

    /// Checks a result and deserializes it into a Rust type.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// use ptc_runtime::bridge::json_to_datum;
    /// #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// struct Report { count: u32, title: Option<String> }
    /// let signature = Signature::of::<Report>()?;
    /// assert_eq!(signature.to_string(), "() -> {count :int, title :string?}");
    /// let report: Report = signature.read(&json_to_datum(&serde_json::json!({"count": 3}))?)?;
    /// assert_eq!((report.count, report.title), (3, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<T: serde::de::DeserializeOwned>(&self, value: &Datum) -> Result<T, Rejection> {
        self.check_output(value, Validation::Enabled)?;
        ptc_runtime::bridge::from_datum(value).map_err(|error| Rejection {
            errors: vec![ValidationError::saying(&super::Path::default(), error.to_string())],
            warnings: Vec::new(),
        })
    }
}

impl Type {
    /// Coerces and checks a value, in this mode.
    pub fn coerce(&self, value: &Datum, mode: Validation) -> Result<CheckedValue, Rejection> {
        let coerced = coerce(self, value, mode == Validation::Strict);
        if !coerced.errors.is_empty() && mode != Validation::WarnOnly {
            return Err(Rejection { errors: coerced.errors, warnings: coerced.warnings });
        }
        Ok(CheckedValue { value: coerced.datum, warnings: coerced.warnings, tolerated: coerced.errors })
    }
}
