//! Handles of collections that a register owns; see `owned.rs` for what is done with them.

use crate::value::Value;

impl Value {
    /// Returns true if the register that holds this owns the collection.
    #[inline(always)]
    pub fn is_owned(&self) -> bool {
        matches!(self, Value::OwnVector(_) | Value::OwnMap(_) | Value::OwnSet(_))
    }

    /// Returns the value as anybody may hold it.
    #[inline(always)]
    pub fn shared(self) -> Value {
        match self {
            Value::OwnVector(r) => Value::Vector(r),
            Value::OwnMap(r) => Value::Map(r),
            Value::OwnSet(r) => Value::Set(r),
            other => other,
        }
    }

    /// Returns the owned handle of a collection that nothing else refers to: one that an operation has just made, or the
    /// argument of a native that asked for room and is run again.
    pub(crate) fn claimed(self) -> Value {
        match self {
            Value::Vector(r) if r.space() == 0 => Value::OwnVector(r),
            Value::Map(r) if r.space() == 0 => Value::OwnMap(r),
            Value::Set(r) if r.space() == 0 => Value::OwnSet(r),
            other => other,
        }
    }
}

/// Makes values ordinary that are about to be taken by something that does not change them; says whether the first was
/// owned.
#[inline]
pub(crate) fn share_all(values: &mut [Value]) -> bool {
    let is_any = values.iter().fold(false, |found, value| found | value.is_owned());
    is_any && share_each(values)
}

#[inline(never)]
fn share_each(values: &mut [Value]) -> bool {
    let first = values.first().is_some_and(Value::is_owned);
    values.iter_mut().for_each(|value| *value = value.shared());
    first
}
