//! Learned shapes, for tools without a declared result: their results so far.

use super::Shape;
use super::outline::Outlined;
use crate::bridge;
use crate::tools::ToolAnswer;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum results inspected per tool: more tell little, and it may be called a million times.
const MAX_ANSWERS: u32 = 16;

/// Maximum size of an inspected result: nodes of owned data, and bytes of shared data.
const MAX_NODES: usize = 50_000;
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of tools.
const MAX_TOOLS: usize = 1_000;

/// Shapes of results so far, by name of the tool.
#[derive(Default)]
pub(crate) struct Learned {
    seen: Mutex<BTreeMap<String, (Arc<Shape>, u32)>>,
}

impl Learned {
    /// Inspects a result.
    pub fn look(&self, tool: &str, answer: &ToolAnswer) {
        {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = seen.get(tool).map(|(_, times)| *times >= MAX_ANSWERS);
            if is_known.unwrap_or(seen.len() >= MAX_TOOLS) {
                return;
            }
        }
        let shape = match answer {
            ToolAnswer::Datum(datum) if datum.nodes().len() <= MAX_NODES && datum.veiled().is_empty() => {
                bridge::from_datum::<Outlined>(datum).map_or(Shape::Anything, |Outlined(shape)| shape)
            }
            ToolAnswer::Frozen(frozen) if frozen.bytes() <= MAX_BYTES => frozen.read(|heap, value| {
                bridge::from_value::<Outlined>(heap, value).map_or(Shape::Anything, |Outlined(shape)| shape)
            }),
            _ => Shape::Anything,
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, times) = seen.remove(tool).unwrap_or((Arc::new(Shape::Nothing), 0));
        let all = Arc::unwrap_or_clone(known).or(shape);
        seen.insert(tool.to_string(), (Arc::new(all), times + 1));
    }

    /// Returns the shape of a tool's results so far.
    pub fn of(&self, tool: &str) -> Option<Arc<Shape>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(tool).map(|(shape, _)| shape.clone())
    }
}
