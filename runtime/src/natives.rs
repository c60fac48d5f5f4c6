//! Natives: the Rust bodies of builtins, bound to the rows of the builtin table.
//!
//! A native takes values and returns a value; it never calls a function of the program. Builtins that do are PTC-Lisp,
//! in `preludes/core`.

mod agent;
mod args;
mod atom;
mod bits;
mod build;
mod compare;
mod cost;
mod date;
mod date_text;
mod date_unit;
mod decimal;
mod describe;
mod discovery;
mod endless;
mod exception;
mod format;
mod internal;
mod java;
mod json;
mod map;
mod math;
mod method;
mod number;
mod parse;
mod path;
mod pattern;
mod plain;
mod predicate;
mod regex;
mod rounding;
mod search;
mod seq;
mod set;
mod slice;
mod sorted;
mod sorting;
mod string;
mod table;
mod tally;
mod text;
mod transient;
mod unknown;
mod veil;

pub(crate) use text::is_keyword_name;

use ptc_bytecode::{BuiltinId, for_each_builtin};
use ptc_vm::{Call, NativeFn, Stop, StopKind, Value};

macro_rules! natives {
    ($(section $section:literal { $($name:literal => $kind:ident $(($path:path, $cost:ident $(, $veil:ident)?))?, $min:literal .. $($max:literal)?,
        $effect:ident, $(inline $inline:ident,)? $doc:literal, $example:literal;)* })*) => {
        /// Bodies by the row of the builtin table; None for those of the core library.
        const NATIVES: &[Option<NativeFn>] = &[$($(native_of!($kind $($path, $cost)?),)*)*];
    };
}

macro_rules! native_of {
    (core) => {
        None
    };
    (native $path:path, $cost:ident) => {{
        fn plain(call: &mut Call<'_>) -> Result<Value, Stop> {
            cost::$cost(call)?;
            $path(call)
        }
        fn body(call: &mut Call<'_>) -> Result<Value, Stop> {
            if call.heap.has_veils() {
                return ask_for_all(call, |call| veil::through(call, plain));
            }
            cost::$cost(call)?;
            ask_for_all(call, $path)
        }
        Some(body)
    }};
}

for_each_builtin!(natives);

/// Returns the body of a builtin; None for one of the core library.
pub fn native(id: BuiltinId) -> Option<NativeFn> {
    NATIVES.get(id.0 as usize).copied().flatten()
}

/// Runs a native; if it runs out of room, also requests the memory it had already allocated. It starts over after
/// the collection, so requesting the last piece alone would get it no further.
#[inline(always)]
fn ask_for_all(
    call: &mut Call<'_>,
    body: impl FnOnce(&mut Call<'_>) -> Result<Value, Stop>,
) -> Result<Value, Stop> {
    let (cells, text) = (call.heap.live_cells(), call.heap.live_text());
    match body(call) {
        Ok(value) => Ok(value),
        Err(stop) => Err(add_used(call, stop, cells, text)),
    }
}

#[cold]
fn add_used(call: &Call<'_>, stop: Stop, cells_before: usize, text_before: usize) -> Stop {
    if stop.is_twin() || stop.is_attach() {
        return stop;
    }
    match stop.into_kind() {
        StopKind::Room { cells, text } => {
            let more_cells = call.heap.live_cells().saturating_sub(cells_before);
            let more_text = call.heap.live_text().saturating_sub(text_before);
            let cells = cells.saturating_add(more_cells);
            args::ask_ahead(call.heap, more_cells > 0, cells, text.saturating_add(more_text))
        }
        StopKind::Fault(fault) => fault.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::native;
    use ptc_bytecode::{BUILTINS, Body, BuiltinId};

    #[test]
    fn every_native_row_has_a_body() {
        for (i, row) in BUILTINS.iter().enumerate() {
            let found = native(BuiltinId(i as u32)).is_some();
            assert_eq!(found, row.body == Body::Native, "{}", row.name);
        }
    }

    /// Runs every example of the table and compares its result, also with a collection at every step.
    #[test]
    fn examples_hold() {
        let runtime = crate::Runtime::with_core(ptc_preludes::core()).unwrap();
        for runtime in [runtime.clone(), runtime.stress(true)] {
            for row in BUILTINS.iter().filter(|row| !row.example.is_empty()) {
                let (source, wanted) = row.example.split_once(" ;=> ").unwrap();
                if let Some(reason) = wanted.strip_prefix("fails ") {
                    let outcome = runtime.eval(source, &crate::Grants::new());
                    assert_eq!(outcome.map_err(|failure| failure.reason()).err(), Some(reason), "{source}");
                    continue;
                }
                let program = format!("(let [found {source}] (if (= found {wanted}) nil (pr-str found)))");
                let outcome = runtime.eval(&program, &crate::Grants::new());
                match outcome.map(|outcome| outcome.get::<Option<String>>()) {
                    Ok(Ok(None)) => {}
                    Ok(found) => panic!("{}: {found:?}", row.example),
                    Err(failure) => panic!("{}: {failure:?}", row.example),
                }
            }
        }
    }
}
