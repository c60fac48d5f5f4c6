//! Signatures as JSON Schema, for providers that check outputs and offer tools themselves.

use super::Signature;
use super::types::{Field, Literal, Num, Pred, Type};
use serde_json::{Value, json};

impl Signature {
    /// Returns the schema of the result. Providers want an object at the root, so a list is put into the field
    /// `items` of an object.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// let schema = Signature::parse("{id :int, note :string?}")?.to_json_schema();
    /// assert_eq!(schema, serde_json::json!({
    ///     "type": "object",
    ///     "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
    ///     "required": ["id"],
    ///     "additionalProperties": false
    /// }));
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn to_json_schema(&self) -> Value {
        match &self.returns {
            Type::List(_) => json!({
                "type": "object",
                "properties": {"items": schema(&self.returns)},
                "required": ["items"],
                "additionalProperties": false,
            }),
            Type::Any => json!({"type": "object"}),
            returns => schema(returns),
        }
    }

    /// Returns the schema of the parameters, as tools are offered to models.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// let schema = Signature::parse("(q :string, n :int[1..9]?) -> :any")?.params_json_schema();
    /// assert_eq!(schema, serde_json::json!({
    ///     "type": "object",
    ///     "properties": {"q": {"type": "string"}, "n": {"type": "integer", "minimum": 1, "maximum": 9}},
    ///     "required": ["q"]
    /// }));
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn params_json_schema(&self) -> Value {
        let mut object = record(&self.params);
        if let Some(object) = object.as_object_mut() {
            object.remove("additionalProperties");
        }
        object
    }
}

impl Type {
    /// Returns the schema of a value of this type.
    pub fn to_json_schema(&self) -> Value {
        schema(self)
    }
}

fn schema(ty: &Type) -> Value {
    match ty {
        Type::String | Type::Keyword | Type::DateTime => json!({"type": "string"}),
        Type::Int => json!({"type": "integer"}),
        Type::Float => json!({"type": "number"}),
        Type::Bool => json!({"type": "boolean"}),
        Type::Any => json!({}),
        Type::Map => json!({"type": "object"}),
        Type::Nil => json!({"type": "null"}),
        // `{}` stands for any map, so its fields are unknown.
        Type::Record { fields, closed: false } if fields.is_empty() => json!({"type": "object"}),
        Type::Record { fields, .. } => record(fields),
        Type::List(item) => json!({"type": "array", "items": schema(item)}),
        // `required` already says which fields may be absent; elsewhere nil must be spelled out.
        Type::Optional(inner) => json!({"anyOf": [schema(inner), {"type": "null"}]}),
        Type::Or(types) => json!({"anyOf": types.iter().map(schema).collect::<Vec<_>>()}),
        Type::Enum(values) => {
            let values: Vec<Value> = values.iter().map(value).collect();
            let mut out = json!({"enum": values});
            if values.iter().all(Value::is_string) {
                out["type"] = json!("string");
            }
            out
        }
        Type::And(inner, preds) => {
            let mut out = schema(inner);
            for pred in preds {
                let (name, bound) = bound(inner, pred);
                out[name] = bound;
            }
            out
        }
    }
}

fn record(fields: &[Field]) -> Value {
    let property = |field: &Field| {
        let mut property = schema(field.ty.required());
        if let (Some(object), Some(description)) = (property.as_object_mut(), &field.description) {
            object.insert("description".to_string(), json!(description));
        }
        (field.name.clone(), property)
    };
    let properties: serde_json::Map<String, Value> = fields.iter().map(property).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| !field.ty.is_optional()).map(|field| &*field.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn bound(of: &Type, pred: &Pred) -> (&'static str, Value) {
    let length = |n: u64, text, list, map| match of {
        Type::List(_) => (list, json!(n)),
        Type::Map | Type::Record { .. } => (map, json!(n)),
        _ => (text, json!(n)),
    };
    match pred {
        Pred::Gt(n) => ("exclusiveMinimum", number(*n)),
        Pred::Ge(n) => ("minimum", number(*n)),
        Pred::Lt(n) => ("exclusiveMaximum", number(*n)),
        Pred::Le(n) => ("maximum", number(*n)),
        Pred::Min(n) => length(*n, "minLength", "minItems", "minProperties"),
        Pred::Max(n) => length(*n, "maxLength", "maxItems", "maxProperties"),
        Pred::Re(source) => ("pattern", json!(source)),
    }
}

fn number(number: Num) -> Value {
    match number {
        Num::Int(n) => json!(n),
        Num::Float(x) => json!(x),
    }
}

fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Nil => Value::Null,
        Literal::Bool(value) => json!(value),
        Literal::Num(n) => number(*n),
        Literal::Str(text) | Literal::Keyword(text) => json!(text),
    }
}
