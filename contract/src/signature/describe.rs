//! Descriptions of parameters and fields: lines that tell models what a name means.

use super::schema_in::FieldDescriptions;
use super::types::{Field, Type};
use super::{Signature, SignatureError};
use crate::keys;

impl Signature {
    /// Describes a parameter for models; fails if the signature has no such parameter.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// let mut signature = Signature::parse("(query :string, limit :int?) -> [:string]")?;
    /// signature.describe("query", "Words to look for.")?;
    /// assert_eq!(signature.params_json_schema()["properties"]["query"]["description"], "Words to look for.");
    /// assert!(signature.describe("qury", "…").is_err());
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn describe(&mut self, name: &str, description: impl Into<String>) -> Result<(), SignatureError> {
        let known = self.params.iter_mut().find(|field| keys::same(&field.name, name));
        match known {
            Some(field) => {
                field.description = Some(description.into());
                Ok(())
            }
            None => {
                let names: Vec<&str> = self.params.iter().map(|field| &*field.name).collect();
                let error = SignatureError::data(format!("`{name}` is described and is not a parameter"));
                Err(error.hint(match &names[..] {
                    [] => "there are no parameters".to_string(),
                    names => format!("the parameters are {}", names.join(", ")),
                }))
            }
        }
    }

    /// Describes the parameters that have a line in `descriptions` and no description yet.
    #[must_use]
    pub fn described_by(mut self, descriptions: &FieldDescriptions) -> Signature {
        for field in self.params.iter_mut().filter(|field| field.description.is_none()) {
            let line = descriptions.iter().find(|(name, _)| keys::same(name, &field.name));
            field.description = line.map(|(_, line)| line.clone());
        }
        self
    }

    /// Returns described parameters and described fields inside them, by path.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// use serde_json::json;
    /// let page = json!({"type": "object", "properties": {"size": {"type": "integer", "description": "Rows of a page."}}});
    /// let input = json!({"type": "object", "properties": {"page": page}});
    /// let signature = Signature::from_tool_schemas(&input, None)?;
    /// assert_eq!(signature.param_descriptions(), [("page.size".to_string(), "Rows of a page.")]);
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn param_descriptions(&self) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        collect(&self.params, "", &mut found);
        found
    }
}

/// Collects descriptions. Recurses as deep as types nest, which is bounded where they are read.
fn collect<'f>(fields: &'f [Field], inside: &str, found: &mut Vec<(String, &'f str)>) {
    for field in fields {
        let path = format!("{inside}{}", field.name);
        if let Some(description) = &field.description {
            found.push((path.clone(), description));
        }
        in_type(&field.ty, &path, found);
    }
}

fn in_type<'f>(ty: &'f Type, path: &str, found: &mut Vec<(String, &'f str)>) {
    match ty {
        Type::Record { fields, .. } => collect(fields, &format!("{path}."), found),
        Type::List(item) => in_type(item, &format!("{path}[]"), found),
        Type::Optional(inner) | Type::And(inner, _) => in_type(inner, path, found),
        Type::Or(types) => types.iter().for_each(|ty| in_type(ty, path, found)),
        _ => {}
    }
}
