//! Types of signatures, their fields and conditions.

use crate::keys;

/// Maximum length of a signature's text, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// Maximum levels of nested types.
pub const MAX_NESTING: usize = 64;

/// Maximum number of patterns in one signature. Each takes time to compile and memory to hold.
pub const MAX_PATTERNS: usize = 100;

/// A contract: named parameters and a result type.
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    /// Parameters, in declared order.
    pub params: Vec<Field>,
    /// Type of the result.
    pub returns: Type,
}

impl Default for Signature {
    /// Returns `() -> :any`.
    fn default() -> Signature {
        Signature { params: Vec::new(), returns: Type::Any }
    }
}

/// The type of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// Text.
    String,
    /// Integers of any size.
    Int,
    /// Floats, and integers.
    Float,
    /// true and false.
    Bool,
    /// Keywords, and strings that could be one.
    Keyword,
    /// Anything.
    Any,
    /// Any map.
    Map,
    /// A point in time.
    DateTime,
    /// nil alone.
    Nil,
    /// A list of values of one type.
    List(Box<Type>),
    /// A map with these fields.
    Record {
        /// Fields, in declared order.
        fields: Vec<Field>,
        /// Flag: undeclared fields are refused in every mode (from JSON Schema).
        closed: bool,
    },
    /// nil or this type; fields and parameters may be absent.
    Optional(Box<Type>),
    /// Any of these literal values.
    Enum(Vec<Literal>),
    /// Any of these types; at least two.
    Or(Vec<Type>),
    /// A value of this type that meets all conditions.
    And(Box<Type>, Vec<Pred>),
}

/// A field of a record, or a parameter. Equal if name and type are: descriptions do not affect which values fit.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name, as declared.
    pub name: String,
    /// Type of the field's values.
    pub ty: Type,
    /// Description for models, one line: from a doc comment, a JSON Schema, Malli's `:description`, or the host.
    pub description: Option<String>,
}

impl Field {
    /// Returns a field without a description.
    pub fn new(name: impl Into<String>, ty: Type) -> Field {
        Field { name: name.into(), ty, description: None }
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        self.name == other.name && self.ty == other.ty
    }
}

/// A literal value in a type.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// nil
    Nil,
    /// true, false
    Bool(bool),
    /// A number.
    Num(Num),
    /// Text; keywords of that name fit too.
    Str(String),
    /// A keyword; text of that name fits too.
    Keyword(String),
}

/// A literal number in a type. Never NaN or infinite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Num {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

impl Num {
    /// Returns the number as a float, for comparing.
    pub fn get(self) -> f64 {
        match self {
            Num::Int(n) => n as f64,
            Num::Float(x) => x,
        }
    }
}

/// A condition on a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Pred {
    /// A number above this.
    Gt(Num),
    /// A number not below this.
    Ge(Num),
    /// A number below this.
    Lt(Num),
    /// A number not above this.
    Le(Num),
    /// At least this many characters, items or entries.
    Min(u64),
    /// At most this many characters, items or entries.
    Max(u64),
    /// Text that matches this pattern somewhere.
    Re(String),
}

impl Type {
    /// Returns whether nil fits and a field of this type may be absent.
    pub fn is_optional(&self) -> bool {
        matches!(self, Type::Optional(_))
    }

    /// Returns the type without the `?`.
    pub fn required(&self) -> &Type {
        match self {
            Type::Optional(inner) => inner,
            other => other,
        }
    }

    /// Returns the fields of a record, also of an optional one.
    pub fn fields(&self) -> Option<&[Field]> {
        match self.required() {
            Type::Record { fields, .. } => Some(fields),
            _ => None,
        }
    }

    /// Returns the field of that name; `-` and `_` are equal.
    pub fn field(&self, name: &str) -> Option<&Field> {
        find(self.fields()?, name)
    }

    /// Returns whether the type takes text as it is, so that an answer need not be parsed.
    pub fn is_text(&self) -> bool {
        matches!(self, Type::String | Type::Any)
    }

    /// Returns the type of nil or `inner`; an optional type stays as it is.
    pub fn optional(inner: Type) -> Type {
        match inner {
            Type::Optional(_) => inner,
            other => Type::Optional(Box::new(other)),
        }
    }

    /// Returns a choice of `types`: nested choices are flattened, and an optional alternative makes it optional.
    pub(crate) fn any_of(types: Vec<Type>) -> Type {
        let mut flat = Vec::new();
        let mut is_optional = false;
        for ty in types {
            let ty = match ty {
                Type::Optional(inner) => {
                    is_optional = true;
                    *inner
                }
                other => other,
            };
            match ty {
                Type::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        let choice = match flat.len() {
            1 => flat.remove(0),
            _ => Type::Or(flat),
        };
        if is_optional { Type::optional(choice) } else { choice }
    }

    /// Returns `base` with conditions. They move inside choices and optionals, so that each type is written one way.
    /// The error names the condition that makes no sense.
    pub(crate) fn refined(base: Type, preds: Vec<Pred>) -> Result<Type, String> {
        if preds.is_empty() {
            return Ok(base);
        }
        match base {
            Type::Optional(inner) => Ok(Type::optional(Type::refined(*inner, preds)?)),
            Type::Or(types) => {
                let refined: Result<Vec<Type>, String> =
                    types.into_iter().map(|ty| Type::refined(ty, preds.clone())).collect();
                Ok(Type::any_of(refined?))
            }
            Type::And(inner, mut earlier) => {
                earlier.extend(preds);
                Type::refined(*inner, earlier)
            }
            base => {
                let preds: Vec<Pred> = preds.into_iter().map(|pred| pred.suited(&base)).collect();
                if let Some(odd) = preds.iter().find(|pred| !pred.applies(&base)) {
                    return Err(format!("`{odd}` does not apply to `{base}`"));
                }
                Ok(Type::And(Box::new(base), preds))
            }
        }
    }

    /// Returns whether values have a length rather than a magnitude.
    pub(crate) fn has_length(&self) -> bool {
        matches!(self, Type::String | Type::Keyword | Type::List(_) | Type::Map | Type::Record { .. })
    }
}

impl Pred {
    /// Converts `min` and `max` of a number to bounds, and bounds of a text or list to lengths.
    fn suited(self, base: &Type) -> Pred {
        let is_number = matches!(base, Type::Int | Type::Float);
        match self {
            Pred::Min(n) if is_number => Pred::Ge(Num::Int(n as i64)),
            Pred::Max(n) if is_number => Pred::Le(Num::Int(n as i64)),
            Pred::Ge(Num::Int(n)) if base.has_length() && n >= 0 => Pred::Min(n as u64),
            Pred::Le(Num::Int(n)) if base.has_length() && n >= 0 => Pred::Max(n as u64),
            other => other,
        }
    }

    fn applies(&self, base: &Type) -> bool {
        match self {
            Pred::Gt(_) | Pred::Ge(_) | Pred::Lt(_) | Pred::Le(_) => matches!(base, Type::Int | Type::Float),
            Pred::Min(_) | Pred::Max(_) => base.has_length(),
            Pred::Re(_) => matches!(base, Type::String | Type::Keyword),
        }
    }
}

/// Returns the field of that name. The exact spelling wins; otherwise `-` and `_` are equal.
pub fn find<'f>(fields: &'f [Field], name: &str) -> Option<&'f Field> {
    fields
        .iter()
        .find(|field| field.name == name)
        .or_else(|| fields.iter().find(|field| keys::same(&field.name, name)))
}

/// Returns a name whose fields differ only in `-` and `_`, if there is one: such a record could not be read.
pub(crate) fn repeated(fields: &[Field]) -> Option<&str> {
    let mut seen = std::collections::HashSet::new();
    fields.iter().find(|field| !seen.insert(keys::normalize_key(&field.name))).map(|field| &*field.name)
}
