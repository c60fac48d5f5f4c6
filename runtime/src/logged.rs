//! Failures as data, for the logs of a host.

use crate::{FIREWALLED, Failure, bridge};
use ptc_bytecode::{Datum, Diagnostic};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// For logs: `kind`, `message`, `hint`, and `line` and `column` of the first diagnostic, then all `diagnostics`,
/// `warnings`, the `value` of `(fail value)`, `prints`, `fuel` and `compile_fuel`. Firewalled values are hidden; the program's
/// text is left out.
///
/// ```
/// use ptc_runtime::{Grants, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let failure = runtime.eval("(+ 1\n nil)", &Grants::new()).unwrap_err();
/// let logged = serde_json::to_value(&failure)?;
/// assert_eq!((&logged["kind"], &logged["line"]), (&"type_error".into(), &1.into()));
/// assert_eq!(logged["diagnostics"][0]["label"], "E0302");
/// let failure = runtime.eval("(fail {:reason \"none\"})", &Grants::new()).unwrap_err();
/// assert_eq!(serde_json::to_value(&failure)?["value"]["reason"], "none");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let first = self.diagnostic();
        let place = first.place(self.source());
        let placed = |all: &[Diagnostic]| -> Vec<Value> {
            all.iter().map(|diagnostic| placed(diagnostic, self.source())).collect()
        };
        let mut out = to.serialize_struct("Failure", 11)?;
        out.serialize_field("kind", self.reason())?;
        out.serialize_field("message", &first.message)?;
        out.serialize_field("hint", &first.hint)?;
        out.serialize_field("line", &place.map(|place| place.line))?;
        out.serialize_field("column", &place.map(|place| place.column))?;
        out.serialize_field("diagnostics", &placed(&self.diagnostics))?;
        out.serialize_field("warnings", &placed(self.warnings()))?;
        out.serialize_field("value", &self.value.as_ref().map(shown))?;
        out.serialize_field("prints", &self.prints)?;
        out.serialize_field("fuel", &self.fuel)?;
        out.serialize_field("compile_fuel", &self.compile_fuel)?;
        out.end()
    }
}

/// A diagnostic with the line and column of its place.
fn placed(diagnostic: &Diagnostic, source: &str) -> Value {
    let mut value = serde_json::to_value(diagnostic).unwrap_or_default();
    if let Some(place) = diagnostic.place(source) {
        value["line"] = place.line.into();
        value["column"] = place.column.into();
    }
    value
}

/// The value of `(fail value)`. Parts cannot be hidden one by one here, so a value with firewalled parts is hidden as a whole.
fn shown(value: &Datum) -> Value {
    match value.veiled().is_empty() {
        true => bridge::datum_to_json(value).unwrap_or_else(|_| "#<no JSON>".into()),
        false => FIREWALLED.into(),
    }
}
