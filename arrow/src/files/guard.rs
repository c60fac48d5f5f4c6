//! Guard around decoders, whose panics become errors.

use arrow_schema::ArrowError;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Why a step into a decoder gave nothing.
#[derive(Debug)]
pub(super) enum Damage {
    Told(String),
    Panicked,
}

impl Damage {
    pub fn told(why: impl fmt::Display) -> Damage {
        Damage::Told(why.to_string())
    }
}

impl From<ArrowError> for Damage {
    fn from(error: ArrowError) -> Damage {
        Damage::told(error)
    }
}

impl From<parquet::errors::ParquetError> for Damage {
    fn from(error: parquet::errors::ParquetError) -> Damage {
        Damage::told(error)
    }
}

impl From<std::io::Error> for Damage {
    fn from(error: std::io::Error) -> Damage {
        Damage::told(error)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Told(why) => f.write_str(why),
            Damage::Panicked => f.write_str("the data does not match its header"),
        }
    }
}

thread_local! {
    /// True if this thread is inside a decoder, whose panics are no news for the user.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// A step into a decoder. The decoders assert what damaged files do not hold, and checking all of that first would be
/// decoding twice. The decoder must not be entered again once this has failed.
pub(super) fn guarded<T>(step: impl FnOnce() -> Result<T, Damage>) -> Result<T, Damage> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !DECODING.get() {
                hook(panic);
            }
        }));
    });
    let before = DECODING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    DECODING.set(before);
    done.unwrap_or(Err(Damage::Panicked))
}
