//! The library of the language that is written in the language: compiled when this crate is
//! built, embedded as an artifact, checked like any other when it is loaded.
#![forbid(unsafe_code)]

/// The core library as an artifact: every builtin of the table whose body is PTC-Lisp.
pub fn core() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/core.ptcp"))
}

/// The source the core library was compiled from, all its files in order.
pub fn core_source() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/core.clj"))
}

#[cfg(test)]
mod tests {
    use ptc_bytecode::{BUILTINS, Body, decode, verify};

    #[test]
    fn every_core_row_has_a_function() {
        let artifact = verify(decode(super::core()).unwrap()).unwrap();
        let exports: Vec<&str> = artifact.artifact().exports.iter().map(|export| &*export.name).collect();
        for row in BUILTINS {
            let found = exports.contains(&row.name);
            assert_eq!(found, row.body == Body::Core, "{}", row.name);
        }
        assert!(super::core_source().contains("(defn map"));
    }
}
