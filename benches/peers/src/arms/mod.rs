//! One file for each language. An arm sets its engine up as its documentation recommends, keeps the compiled
//! program between calls if it can, and notes its particularities.

use crate::bench::Bench;

pub mod native;

#[cfg(feature = "cel")]
mod cel;
#[cfg(feature = "jaq")]
mod jaq;
#[cfg(feature = "koto")]
mod koto;
#[cfg(any(feature = "lua54", feature = "luajit"))]
mod lua;
#[cfg(feature = "monty")]
mod monty;
#[cfg(feature = "ptc")]
mod ptc;
#[cfg(feature = "quickjs")]
mod quickjs;
#[cfg(feature = "rhai")]
mod rhai;
#[cfg(feature = "starlark")]
mod starlark;
#[cfg(feature = "steel")]
mod steel;
#[cfg(feature = "vrl")]
mod vrl;

/// A language to measure.
pub struct Arm {
    pub name: &'static str,
    pub version: fn() -> String,
    pub run: fn(&mut Bench),
}

/// Returns the arms of this build, in the order they are run and shown.
pub fn all() -> Vec<Arm> {
    vec![
        Arm { name: "native", version: native::version, run: native::run },
        #[cfg(feature = "ptc")]
        Arm { name: "ptc", version: ptc::version, run: ptc::run },
        #[cfg(feature = "lua54")]
        Arm { name: "lua54", version: lua::version, run: lua::run },
        #[cfg(feature = "luajit")]
        Arm { name: "luajit", version: lua::version, run: lua::run },
        #[cfg(feature = "quickjs")]
        Arm { name: "quickjs", version: quickjs::version, run: quickjs::run },
        #[cfg(feature = "koto")]
        Arm { name: "koto", version: koto::version, run: koto::run },
        #[cfg(feature = "rhai")]
        Arm { name: "rhai", version: rhai::version, run: rhai::run },
        #[cfg(feature = "steel")]
        Arm { name: "steel", version: steel::version, run: steel::run },
        #[cfg(feature = "starlark")]
        Arm { name: "starlark", version: starlark::version, run: starlark::run },
        #[cfg(feature = "monty")]
        Arm { name: "monty", version: monty::version, run: monty::run },
        #[cfg(feature = "jaq")]
        Arm { name: "jaq", version: jaq::version, run: jaq::run },
        #[cfg(feature = "vrl")]
        Arm { name: "vrl", version: vrl::version, run: vrl::run },
        #[cfg(feature = "cel")]
        Arm { name: "cel", version: cel::version, run: cel::run },
    ]
}
