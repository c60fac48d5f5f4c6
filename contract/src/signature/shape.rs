//! Shapes of signatures, for checking programs before they run.

use super::{Field, Literal, Num, Signature, Type, Validation};
use ptc_runtime::{FieldShape, RecordShape, Shape, ToolShape};

impl Signature {
    /// Returns the shapes of a tool's arguments and results. `mode` is how arguments are checked when the tool is
    /// called: a program must not be refused for arguments that this mode lets through.
    ///
    /// ```
    /// use ptc_contract::signature::{Signature, Validation};
    /// let signature = Signature::parse("(q :string, limit :int?) -> [{id :int, tags [:string]?}]")?;
    /// let shape = signature.tool_shape(Validation::Enabled);
    /// assert_eq!(shape.takes().to_string(), "{:limit integer? :q string}");
    /// assert_eq!(shape.answers().to_string(), "[{:id integer :tags [string]?}]");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn tool_shape(&self, mode: Validation) -> ToolShape {
        let takes = match mode {
            Validation::Enabled => record(&self.params, false),
            Validation::Strict => record(&self.params, true),
            Validation::WarnOnly | Validation::Disabled => Shape::Anything,
        };
        ToolShape::new(takes, self.returns.shape())
    }
}

impl Type {
    /// Returns the shape of values of this type.
    pub fn shape(&self) -> Shape {
        match self {
            Type::String | Type::Keyword => Shape::Text,
            Type::Int => Shape::Integer,
            Type::Float => Shape::Number,
            Type::Bool => Shape::Boolean,
            // Text, or a native value.
            Type::DateTime | Type::Any => Shape::Anything,
            Type::Map => Shape::Map,
            Type::Nil => Shape::Nothing.nullable(),
            Type::List(items) => Shape::List(Box::new(items.shape())),
            Type::Record { fields, closed } => record(fields, *closed),
            Type::Optional(inner) => inner.shape().nullable(),
            Type::Enum(values) => values.iter().map(literal).fold(Shape::Nothing, Shape::or),
            Type::Or(types) => types.iter().map(Type::shape).fold(Shape::Nothing, Shape::or),
            Type::And(inner, _) => inner.shape(),
        }
    }
}

fn record(fields: &[Field], is_closed: bool) -> Shape {
    let field = |field: &Field| {
        let is_always = !field.ty.is_optional();
        (field.name.clone(), FieldShape { shape: field.ty.shape(), is_always })
    };
    Shape::Record(RecordShape { fields: fields.iter().map(field).collect(), is_closed })
}

fn literal(value: &Literal) -> Shape {
    match value {
        Literal::Nil => Shape::Nothing.nullable(),
        Literal::Bool(_) => Shape::Boolean,
        Literal::Num(Num::Int(_)) => Shape::Integer,
        Literal::Num(Num::Float(_)) => Shape::Number,
        Literal::Str(_) | Literal::Keyword(_) => Shape::Text,
    }
}
