//! Scalar functions.

use crate::code::Body;
use crate::evaluate::{Arguments, check_arguments, column};
use crate::reference::Reference;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature};
use datafusion::scalar::ScalarValue;
use std::hash::{Hash, Hasher};

/// A function of the values of one row.
#[derive(Clone, Debug)]
pub struct Scalar {
    reference: Reference,
    signature: Signature,
    body: Body,
}

impl Scalar {
    /// Makes the function that a reference names.
    pub fn new(reference: Reference, body: Body) -> Scalar {
        Scalar { signature: reference.signature(), reference, body }
    }

    /// Returns what plans say of it.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }
}

/// The hashes of the code are in the reference, so equal references are equal functions.
impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.reference == other.reference
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.reference.hash(state);
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        &self.reference.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, kinds: &[DataType]) -> Result<DataType> {
        check_arguments(&self.reference, kinds)?;
        self.reference.return_type()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let code = self.body.code(&self.reference)?;
        let names = self.reference.arguments(args.args.len())?;
        // A call with constants only is one run.
        let is_constant = !self.reference.is_volatile
            && args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let columns =
            args.args.into_iter().map(|value| value.into_array(rows)).collect::<Result<Vec<_>>>()?;
        let arguments = Arguments::new(&self.reference, names, &columns, rows)?;
        let values = column(&code, &self.reference, &arguments, args.return_field.data_type())?;
        Ok(match is_constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?),
            false => ColumnarValue::Array(values),
        })
    }
}
