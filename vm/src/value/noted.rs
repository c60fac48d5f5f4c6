//! Notes of field lookups, for watched fields.

use crate::heap::Heap;
use crate::value::{Ref, Value, is_firewalled};
use crate::watched::{MAX_KEYS, MAX_NAME, Watched};

impl Heap {
    /// Watches these fields from now on.
    pub(crate) fn watch_fields(&mut self, watched: Option<Box<Watched>>) {
        self.watched = watched;
    }

    /// Notes the lookup of a field in a map, except those on the quick path.
    #[inline]
    pub fn note_lookup(&mut self, map: Ref, key: Value, is_found: bool) {
        if self.watched.as_ref().is_some_and(|watched| watched.is_waiting()) {
            self.note_watched(map, key, is_found);
        }
    }

    #[inline(never)]
    fn note_watched(&mut self, map: Ref, key: Value, is_found: bool) {
        let (Value::Keyword(name) | Value::Str(name)) = key else { return };
        let Some(mut watched) = self.watched.take() else { return };
        if let Some(at) = watched.waits_for(self.str(name)) {
            match is_found {
                true => watched.found(at),
                false => watched.missed(at, &self.told_keys(map)),
            }
        }
        self.watched = Some(watched);
    }

    /// Returns the keys of a map that may be shown, and true for each keyword.
    fn told_keys(&self, map: Ref) -> Vec<(&str, bool)> {
        let mut keys = Vec::new();
        let mut cursor = 0;
        while keys.len() < MAX_KEYS
            && let Some((key, _, next)) = self.map_next(map, cursor)
        {
            cursor = next;
            let is_keyword = matches!(key, Value::Keyword(_));
            if let Value::Keyword(text) | Value::Str(text) = key
                && let text = self.str(text)
                && text.len() <= MAX_NAME
                && !is_firewalled(text)
            {
                keys.push((text, is_keyword));
            }
        }
        keys
    }
}
