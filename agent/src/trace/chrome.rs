//! Export to the format of Chrome's trace viewer, which Perfetto and Speedscope read too.

use super::{Span, Timestamp, Tree};
use serde_json::{Value, json};

/// Maximum number of lanes. Further spans may overlap: nobody looks at so many, and finding a free lane takes time.
const MAX_LANES: usize = 500;

/// Exports the tree. Viewers nest spans of one lane by time, so overlapping spans of which neither contains the other
/// get lanes of their own.
pub(super) fn export(tree: &Tree) -> Value {
    let began = tree.spans.iter().map(|span| span.start).min().unwrap_or_default();
    let mut lanes = vec![0usize; tree.spans.len()];
    // End of the last span in each lane used by a parent's children.
    let mut ends: Vec<i64> = Vec::new();
    let mut place = |at: usize, wanted: usize, lanes: &mut Vec<usize>| {
        let start = micros(began, tree.spans[at].start);
        let mut lane = wanted;
        while lane < wanted + MAX_LANES && ends.get(lane).is_some_and(|end| *end > start) {
            lane += 1;
        }
        if ends.len() <= lane {
            ends.resize(lane + 1, i64::MIN);
        }
        ends[lane] = start.saturating_add(took(&tree.spans[at]));
        lanes[at] = lane;
    };
    for root in &tree.roots {
        place(*root, 0, &mut lanes);
    }
    for (at, span) in tree.spans.iter().enumerate() {
        let mut free = i64::MIN;
        for child in &span.children {
            let start = micros(began, tree.spans[*child].start);
            if start >= free {
                // The span fits behind its siblings, in its parent's lane.
                lanes[*child] = lanes[at];
                free = start.saturating_add(took(&tree.spans[*child]));
            } else {
                place(*child, lanes[at] + 1, &mut lanes);
            }
        }
    }
    let events: Vec<Value> =
        tree.spans.iter().enumerate().map(|(at, span)| row(span, began, lanes[at])).collect();
    json!({"displayTimeUnit": "ms", "traceEvents": events})
}

fn row(span: &Span, began: Timestamp, lane: usize) -> Value {
    json!({
        "name": span.name, "cat": span.kind.name(), "ph": "X", "pid": 1, "tid": lane,
        "ts": micros(began, span.start), "dur": took(span),
        "args": {
            "trace_id": span.trace_id.to_string(), "span_id": span.id.to_string(), "turn": span.turn,
            "status": span.status, "tokens": span.tokens,
        },
    })
}

fn micros(began: Timestamp, at: Timestamp) -> i64 {
    i64::try_from(at.duration_since(began).as_micros()).unwrap_or(i64::MAX)
}

fn took(span: &Span) -> i64 {
    i64::try_from(span.duration.as_micros()).unwrap_or(i64::MAX)
}
