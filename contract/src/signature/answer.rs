//! Checks of tool results against the tools' signatures.

use super::check::{Check, MAX_ERRORS};
use super::types::Type;
use super::{Rejection, Segment, Signature, Validation, ValidationError};
use crate::data::{Tree, View};
use ptc_bytecode::{Datum, Node};
use ptc_runtime::{Frozen, ToolAnswer};
use std::ops::ControlFlow;

/// Key or first item by which a tool's result reports a failure that the program should look at.
const FAILURE: &str = "error";

impl Signature {
    /// Checks the result of a tool in this mode: returns the tolerated misfits, or the reason why the result is
    /// refused. Nothing is coerced. A failure reported as a value, `{"error": …}` or `["error", …]`, always
    /// fits.
    ///
    /// ```
    /// use ptc_contract::signature::{Signature, Validation};
    /// use ptc_runtime::{ToolAnswer, bridge::json_to_datum};
    /// use serde_json::json;
    /// let signature = Signature::parse("(id :int) -> {total :float}")?;
    /// let check = |answer| signature.check_answer(&ToolAnswer::Datum(json_to_datum(&answer).unwrap()), Validation::Enabled);
    /// assert!(check(json!({"total": 2.5})).is_ok());
    /// assert!(check(json!({"error": "not_found", "message": "no such order"})).is_ok());
    /// let rejected = check(json!({"total": "2.5"})).unwrap_err();
    /// assert_eq!(rejected.errors[0].to_string(), "total: expected float, got string \"2.5\"");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn check_answer(
        &self,
        answer: &ToolAnswer,
        mode: Validation,
    ) -> Result<Vec<ValidationError>, Rejection> {
        if mode == Validation::Disabled || self.returns.required() == &Type::Any {
            return Ok(Vec::new());
        }
        let mut check = Check::new(mode == Validation::Strict);
        match answer {
            ToolAnswer::Datum(datum) => self.value(&mut check, datum),
            ToolAnswer::Frozen(frozen) => self.shared(&mut check, frozen),
        }
        match check.errors {
            errors if errors.is_empty() || mode == Validation::WarnOnly => Ok(errors),
            errors => Err(Rejection { errors, warnings: Vec::new() }),
        }
    }

    fn value(&self, check: &mut Check, datum: &Datum) {
        let tree = Tree::new(datum);
        check.value(&self.returns, tree.root());
        if !check.errors.is_empty() && self.tells_failure(tree.root()) {
            check.errors.clear();
        }
    }

    /// Checks a list item by item: results may be too large to be held twice.
    fn shared(&self, check: &mut Check, frozen: &Frozen) {
        let whole = || frozen.to_datum(usize::MAX);
        let Type::List(item) = self.returns.required() else {
            if let Ok(datum) = whole() {
                self.value(check, &datum);
            }
            return;
        };
        // Two items may be a failure, `["error", …]`.
        if frozen.outline(0, 0).len <= 2 {
            if let Ok(datum) = whole() {
                self.value(check, &datum);
            }
            return;
        }
        if item.required() == &Type::Any && frozen.outline(0, 0).kind == "array" {
            return;
        }
        let is_list = frozen.each_item(|i, datum| {
            check.path.0.push(Segment::Index(i));
            check.value(item, Tree::new(&datum).root());
            check.path.0.pop();
            if check.errors.len() < MAX_ERRORS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if !is_list && let Ok(datum) = whole() {
            self.value(check, &datum);
        }
    }

    /// Returns whether a value reports a failure. A map with fields of the result is a result.
    fn tells_failure(&self, view: View<'_>) -> bool {
        match view.node() {
            Node::Map(_) => {
                let has_error = view.get(FAILURE).is_some_and(|error| error.node() != &Node::Nil);
                let declared = self.returns.fields().unwrap_or_default();
                has_error && declared.iter().all(|field| view.get(&field.name).is_none())
            }
            Node::Vector(2) => view.items()[0].name() == Some(FAILURE),
            _ => false,
        }
    }
}
