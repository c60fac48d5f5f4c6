//! Aggregates: `init`, `step`, `combine` and `finish` of a namespace.

use crate::code::{Body, Code, OTHER, ROWS, STATE};
use crate::evaluate::{Arguments, check_arguments, failure_text, value, values_of};
use crate::reference::{OnError, Reference};
use crate::state;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature};
use datafusion::scalar::ScalarValue;
use ptc_arrow::Value;
use ptc_runtime::{Evaluator, Frozen, Grants, Outcome, Rows};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// An aggregate of the values of many rows.
#[derive(Clone, Debug)]
pub struct Aggregate {
    reference: Reference,
    signature: Signature,
    body: Body,
}

impl Aggregate {
    /// Makes the aggregate that a reference names.
    pub fn new(reference: Reference, body: Body) -> Aggregate {
        Aggregate { signature: reference.signature(), reference, body }
    }

    /// Returns what plans say of it.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }
}

impl PartialEq for Aggregate {
    fn eq(&self, other: &Aggregate) -> bool {
        self.reference == other.reference
    }
}

impl Eq for Aggregate {}

impl Hash for Aggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.reference.hash(state);
    }
}

impl AggregateUDFImpl for Aggregate {
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

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let name = &self.reference.name;
        if args.is_distinct {
            let message =
                format!("`{name}(distinct …)` is not supported: select distinct rows in a subquery");
            return Err(DataFusionError::NotImplemented(message));
        }
        if !args.order_bys.is_empty() {
            let message =
                format!("`{name}(… order by …)` is not supported: `combine` merges parts in any order");
            return Err(DataFusionError::NotImplemented(message));
        }
        let kind = args.return_field.data_type().clone();
        Ok(Box::new(Folding::new(self.reference.clone(), self.body.clone(), kind)))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "state"), DataType::Binary, true))])
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// The state of one group.
#[derive(Debug)]
pub(crate) struct Folding {
    reference: Reference,
    body: Body,
    kind: DataType,
    /// None until there are rows.
    state: Option<State>,
}

struct State(Frozen);

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.bytes())
    }
}

impl Folding {
    pub fn new(reference: Reference, body: Body, kind: DataType) -> Folding {
        Folding { reference, body, kind, state: None }
    }

    fn failed(&self, why: impl std::fmt::Display) -> DataFusionError {
        DataFusionError::Execution(format!("`{}`: {why}", self.reference.name))
    }

    /// Folds rows on top of the state. A part of them has the limits of one run: one that fails is folded in halves, so
    /// that a batch is not refused for its size, and a row that fails by itself is known.
    fn fold(&mut self, code: &Code, arguments: &Arguments, names: &[String]) -> Result<()> {
        let program = code.fold(&self.reference.target, names)?;
        let mut waiting: Vec<Range<usize>> = Vec::new();
        waiting.push(0..arguments.rows());
        while let Some(piece) = waiting.pop() {
            if piece.is_empty() {
                continue;
            }
            let state = self.current(code)?;
            let grants = Grants::new().frozen(STATE, state);
            let mut evaluator = Evaluator::new(code.runtime(), &program).grants(grants);
            let folded = arguments.table().run_all(piece.clone(), &mut evaluator, ROWS);
            match folded.map_err(|failure| failure_text(&failure)).and_then(owned) {
                Ok(state) => self.state = Some(State(state)),
                Err(_) if piece.len() > 1 => {
                    let half = piece.start + piece.len() / 2;
                    waiting.extend([half..piece.end, piece.start..half]);
                }
                Err(_) if self.reference.on_error == OnError::Null => {}
                Err(why) => return Err(arguments.failed(&self.reference, piece.start, &why)),
            }
        }
        Ok(())
    }

    fn current(&self, code: &Code) -> Result<Frozen> {
        match &self.state {
            Some(State(state)) => Ok(state.clone()),
            None => code.initial(&self.reference.target),
        }
    }

    /// Returns the value of the state.
    pub fn value(&self) -> Result<Value> {
        let code = self.body.code(&self.reference)?;
        let program = code.finish(&self.reference.target)?;
        let grants = Grants::new().frozen(STATE, self.current(&code)?);
        let outcome = code.once(&program, grants).map_err(|failure| self.failed(failure_text(&failure)))?;
        value(&outcome).map_err(|why| self.failed(why))
    }
}

impl Accumulator for Folding {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let code = self.body.code(&self.reference)?;
        let names = self.reference.arguments(values.len())?;
        let rows = values.first().map_or(0, |column| column.len());
        let arguments = Arguments::new(&self.reference, names.clone(), values, rows)?;
        self.fold(&code, &arguments, &names)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut column = values_of(&self.reference, &self.kind)?;
        let pushed = self.value().and_then(|value| column.push(value).map_err(|misfit| self.failed(misfit)));
        match (pushed, self.reference.on_error) {
            (Ok(()), _) => {}
            (Err(error), OnError::Null) => column.push_failure(&error.to_string()),
            (Err(error), OnError::Fail) => return Err(error),
        }
        ScalarValue::try_from_array(column.finish()?.column(0), 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.state.as_ref().map_or(0, |State(state)| state.bytes())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes = self.state.as_ref().map(|State(state)| state::to_bytes(state)).transpose();
        Ok(vec![ScalarValue::Binary(bytes.map_err(|why| self.failed(why))?)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let code = self.body.code(&self.reference)?;
        let program = code.combine(&self.reference.target)?;
        let Some(parts) = states.first().and_then(|states| states.as_binary_opt::<i32>()) else {
            return Err(self.failed("the states of its parts are not bytes"));
        };
        for part in parts.iter().flatten() {
            let part = state::from_bytes(part).map_err(|why| self.failed(why))?;
            let combined = match self.state.take() {
                None => part,
                Some(State(state)) => {
                    let grants = Grants::new().frozen(STATE, state).frozen(OTHER, part);
                    let outcome = code.once(&program, grants).map_err(|failure| failure_text(&failure));
                    outcome.and_then(|outcome| owned(&outcome)).map_err(|why| self.failed(why))?
                }
            };
            self.state = Some(State(combined));
        }
        Ok(())
    }
}

/// Copies the value of a run, so that it keeps no rows alive.
fn owned(outcome: &Outcome) -> Result<Frozen, String> {
    let frozen = outcome.datum().and_then(|datum| Frozen::from_datum(&datum));
    frozen.map_err(|fault| format!("the state: {}", fault.to_diagnostic().message))
}
