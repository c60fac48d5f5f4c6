//! Checks of fields looked up in results of tools against the known schemas of those results.

use super::paths::{root_of, steps};
use super::report::Absent;
use crate::shape::{FieldShape, RecordShape, Shape};
use ptc_bytecode::ToolName;
use ptc_compiler::Reads;
use ptc_compiler::reads::{Key, Of, PathId, Step};

/// Keys of the map that `tool/call` returns: the result, or the reason why there is none.
const ENVELOPE: [&str; 6] = ["ok", "value", "value_kind", "reason", "message", "raw"];

impl Absent<'_> {
    /// Looks for the field in the maps that come from a result of this shape.
    pub fn look_in_shape(&mut self, reads: &Reads, root: PathId, tool: &ToolName, shape: &Shape) {
        let is_upstream = matches!(tool, ToolName::Upstream { .. });
        for of in &self.lookup.of {
            let Of::Path(path) = of else { continue };
            if self.is_settled() || root_of(reads, *path) != root {
                continue;
            }
            let steps = steps(reads, *path);
            let at = match &steps[..] {
                steps if !is_upstream => follow(shape, steps),
                [Step::Field(key), steps @ ..] if *key.name == *"value" => follow(shape, steps),
                [] if !ENVELOPE.contains(&&*self.lookup.key.name) => {
                    ENVELOPE.iter().for_each(|name| self.add_key(name));
                    continue;
                }
                _ => &Shape::Anything,
            };
            match at {
                Shape::Nothing => {}
                Shape::Record(record) if record.field(&self.lookup.key).is_none() => self.add_record(record),
                _ => self.give_up(),
            }
        }
    }
}

impl RecordShape {
    /// Returns the field that a lookup finds. Tools spell their fields as they like, so `-` is as good as `_`.
    pub(super) fn field(&self, key: &Key) -> Option<&FieldShape> {
        let plain = |c: char| if c == '-' { '_' } else { c };
        let is_same = |name: &str| name.chars().map(plain).eq(key.name.chars().map(plain));
        self.fields
            .get(&*key.name)
            .or_else(|| self.fields.iter().find(|(name, _)| is_same(name)).map(|(_, field)| field))
    }
}

/// Returns the shape at a path.
fn follow<'s>(shape: &'s Shape, steps: &[&Step]) -> &'s Shape {
    let mut at = shape;
    for step in steps {
        while let Shape::Nullable(inner) = at {
            at = inner;
        }
        at = match (step, at) {
            (_, Shape::Nothing) => return at,
            (Step::Field(key), Shape::Record(record)) => match record.field(key) {
                Some(field) => &field.shape,
                None if record.is_closed => return &Shape::Nothing,
                None => return &Shape::Anything,
            },
            (Step::Each | Step::Nth(_), Shape::List(items)) => items,
            _ => return &Shape::Anything,
        };
    }
    while let Shape::Nullable(inner) = at {
        at = inner;
    }
    at
}
