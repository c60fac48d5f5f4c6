//! Builder of maps with keywords as keys, entry by entry.

use ptc_vm::{Call, Stop, Value};

/// Keys and values in turn.
#[derive(Default)]
pub(super) struct Build {
    items: Vec<Value>,
}

impl Build {
    pub(super) fn put(&mut self, call: &mut Call<'_>, name: &str, value: Value) -> Result<(), Stop> {
        let key = call.heap.new_keyword(name)?;
        self.items.extend([key, value]);
        Ok(())
    }

    /// Adds an entry with a string as its key.
    pub(super) fn named(&mut self, call: &mut Call<'_>, name: &str, value: Value) -> Result<(), Stop> {
        let key = call.heap.new_str(name)?;
        self.items.extend([key, value]);
        Ok(())
    }

    pub(super) fn number(&mut self, call: &mut Call<'_>, name: &str, n: i64) -> Result<(), Stop> {
        self.put(call, name, Value::Int(n))
    }

    pub(super) fn text(&mut self, call: &mut Call<'_>, name: &str, text: &str) -> Result<(), Stop> {
        let text = call.heap.new_str(text)?;
        self.put(call, name, text)
    }

    /// Adds a map of counts by kind.
    pub(super) fn counts(
        &mut self,
        call: &mut Call<'_>,
        name: &str,
        counts: &[(&'static str, i64)],
    ) -> Result<(), Stop> {
        let mut kinds = Build::default();
        for (kind, n) in counts {
            kinds.named(call, kind, Value::Int(*n))?;
        }
        let kinds = kinds.finish(call)?;
        self.put(call, name, kinds)
    }

    pub(super) fn finish(self, call: &mut Call<'_>) -> Result<Value, Stop> {
        call.heap.new_map(&self.items)
    }
}
