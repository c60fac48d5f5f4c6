//! The library of the language that is written in the language, and the preludes that come with it:
//! compiled when this crate is built, embedded as artifacts.
//!
//! It holds bytes and runs nothing: whoever loads them checks them like any other artifact.
//!
//! ```
//! use ptc_bytecode::{decode, verify};
//!
//! let core = verify(decode(ptc_preludes::core()).unwrap()).unwrap();
//! assert!(core.artifact().exports.iter().any(|export| &*export.name == "map"));
//! ```
#![forbid(unsafe_code)]

/// The core library as an artifact: every builtin of the table whose body is PTC-Lisp.
pub fn core() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/core.ptcp"))
}

/// The prelude `log`, as a `.ptcp` file: programs look at recorded turns with it. It needs the tools that a log
/// grants.
pub fn log() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/log.ptcp"))
}

/// The prelude `paged`, as a `.ptcp` file: folds over tools that answer page by page.
pub fn paged() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/paged.ptcp"))
}

/// The prelude `prelude`, as a `.ptcp` file: programs read and write stored preludes with it. It needs
/// the tools that a store grants.
pub fn prelude() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/prelude.ptcp"))
}

/// The prelude `saga`, as a `.ptcp` file: steps that are undone in reverse when a later one fails.
pub fn saga() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/saga.ptcp"))
}

/// Every shipped prelude by name.
pub fn shipped() -> [(&'static str, &'static [u8]); 4] {
    [("log", log()), ("paged", paged()), ("prelude", prelude()), ("saga", saga())]
}

#[cfg(test)]
mod tests {
    use ptc_bytecode::{BUILTINS, Body, decode, decode_prelude, verify, verify_prelude};

    #[test]
    fn every_shipped_prelude_declares_its_name() {
        for (name, bytes) in super::shipped() {
            let file = decode_prelude(bytes).unwrap();
            let names: Vec<&str> = file.manifest.namespaces.iter().map(|n| n.name.as_str()).collect();
            assert_eq!(names, [name]);
            verify_prelude(file).unwrap();
        }
    }

    #[test]
    fn every_core_row_has_a_function() {
        let artifact = verify(decode(super::core()).unwrap()).unwrap();
        let exports: Vec<&str> = artifact.artifact().exports.iter().map(|export| &*export.name).collect();
        for row in BUILTINS {
            let found = exports.contains(&row.name);
            assert_eq!(found, row.body == Body::Core, "{}", row.name);
        }
    }
}
