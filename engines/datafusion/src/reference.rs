//! What plans say of a function: all that planning needs, and which code to run. The code itself is not in plans.

use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Signature, TypeSignature, Volatility};
use serde::{Deserialize, Serialize};

/// The way in which queries call a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// A function of one row, which may also give the rows of a table.
    Scalar,
    /// The functions `init`, `step`, `combine` and `finish` of a namespace.
    Aggregate,
}

/// The value of a row whose run fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum OnError {
    /// None: the query fails.
    #[default]
    Fail,
    /// Null; an aggregate leaves the row out.
    Null,
}

/// Parameters of one arity.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Arity {
    /// Names of the arguments, as messages show them.
    pub params: Vec<String>,
    /// True if further arguments may follow.
    pub rest: bool,
}

/// A function as plans name it: by its name and the hashes of its code.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// Name in SQL.
    pub name: String,
    /// `namespace/function`; for an aggregate, the namespace.
    pub target: String,
    /// The way in which queries call it.
    pub kind: Kind,
    /// Artifact hashes of the preludes with its code, each after those it uses.
    pub artifacts: Vec<String>,
    /// Its arities.
    pub arities: Vec<Arity>,
    /// True if it reads the clock, so that equal arguments may give different values.
    pub is_volatile: bool,
    /// Type of its values, as schemas in text write it; None until it is declared or inferred.
    pub returns: Option<String>,
    /// The value of a row whose run fails.
    pub on_error: OnError,
}

impl Reference {
    /// Returns what the planner checks calls against.
    pub fn signature(&self) -> Signature {
        let volatility = if self.is_volatile { Volatility::Volatile } else { Volatility::Immutable };
        let of = |arity: &Arity| match (arity.rest, arity.params.len()) {
            (true, _) => TypeSignature::VariadicAny,
            (false, 0) => TypeSignature::Nullary,
            (false, count) => TypeSignature::Any(count),
        };
        let mut all: Vec<TypeSignature> = self.arities.iter().map(of).collect();
        if all.contains(&TypeSignature::VariadicAny) && self.takes(0).is_some() {
            all.push(TypeSignature::Nullary);
        }
        match <[TypeSignature; 1]>::try_from(all) {
            Ok([one]) => Signature::new(one, volatility),
            Err(all) => Signature::one_of(all, volatility),
        }
    }

    /// Returns names for this number of arguments; None if it takes another number.
    pub fn takes(&self, count: usize) -> Option<Vec<String>> {
        let fits = |arity: &&Arity| match arity.rest {
            true => count >= arity.params.len(),
            false => count == arity.params.len(),
        };
        // An arity of exactly this number comes before one that takes more.
        let arity = self.arities.iter().filter(fits).min_by_key(|arity| arity.rest)?;
        let more = (arity.params.len()..count).map(|at| format!("arg{}", at + 1));
        Some(arity.params.iter().cloned().chain(more).collect())
    }

    /// Returns the names of this number of arguments, or the error of a call with another number.
    pub fn arguments(&self, count: usize) -> Result<Vec<String>> {
        self.takes(count).ok_or_else(|| {
            let mut shown: Vec<String> = Vec::new();
            for arity in &self.arities {
                let rest = arity.rest.then(|| "…".to_string());
                let names: Vec<String> = arity.params.iter().cloned().chain(rest).collect();
                shown.push(format!("{}({})", self.name, names.join(", ")));
            }
            let message = format!(
                "`{}` takes other arguments than the {count} given: {}",
                self.name,
                shown.join(" or ")
            );
            DataFusionError::Plan(message)
        })
    }

    /// Returns the type of its values, or the error of one that is not known.
    pub fn return_type(&self) -> Result<DataType> {
        let Some(text) = &self.returns else {
            return Err(DataFusionError::Plan(format!(
                "the type of `{0}` is not known: declare it, as in `{0}: int`",
                self.name
            )));
        };
        let schema = ptc_arrow::parse_schema(&format!("value: {text}"))
            .map_err(|error| DataFusionError::Plan(format!("the type of `{}`: {error}", self.name)))?;
        Ok(schema.field(0).data_type().clone())
    }
}
