//! Shapes of the replies of tools without an output schema, learned from their replies so far. Shapes hold
//! names of fields and kinds of values, never a value.

use ptc_runtime::Shape;
use std::sync::{Arc, Mutex, PoisonError};

/// Shape of one tool's replies so far.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    seen: Mutex<Option<(Arc<Shape>, u64)>>,
}

impl Shapes {
    /// Learns from a reply, given as JSON text; only its shape is kept.
    pub fn learn(&self, answer: &str) {
        let Some(shape) = Shape::of_json(answer) else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, times) = seen.take().unwrap_or((Arc::new(Shape::Nothing), 0));
        let all = Arc::unwrap_or_clone(known).or(shape);
        *seen = Some((Arc::new(all), times + 1));
    }

    /// Returns the shape, and the number of replies it was learned from.
    pub fn seen(&self) -> Option<(Arc<Shape>, u64)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Copies the shape that another tool entry has learned.
    pub fn take_over(&self, other: &Shapes) {
        let known = other.seen();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn shapes_grow_with_what_is_seen() {
        let shapes = Shapes::default();
        assert_eq!(shapes.seen(), None);
        shapes.learn(r#"{"items": [{"id": 1, "tag": "a"}, {"id": 2.5, "tag": null}], "next": null}"#);
        assert_eq!(shapes.seen().unwrap().0.to_string(), "{:items [{:id number :tag string?}] :next null?}");
        shapes.learn(r#"{"items": []}"#);
        let (shape, times) = shapes.seen().unwrap();
        assert_eq!((&*shape.to_string(), times), ("{:items [{:id number :tag string?}] :next null?}", 2));
        shapes.learn("\"text\"");
        assert_eq!(shapes.seen().unwrap().0.to_string(), "any");
    }

    #[test]
    fn keys_that_are_data_are_not_kept() {
        let shapes = Shapes::default();
        let many: serde_json::Map<String, Value> = (0..100).map(|n| (format!("user{n}"), json!(n))).collect();
        shapes.learn(&json!({"users": many}).to_string());
        assert_eq!(shapes.seen().unwrap().0.to_string(), "{:users object}");
    }

    #[test]
    fn nothing_inside_of_a_firewalled_field_is_kept() {
        let shapes = Shapes::default();
        shapes.learn(r#"{"n": 1, "_team": {"ada": {"pin": 1}}, "_mails": ["x"]}"#);
        assert_eq!(shapes.seen().unwrap().0.to_string(), "{:_mails array :_team object :n integer}");
    }
}
