//! Preludes from the outside: compiled, attached, looked up, written to files and read back.
#![allow(missing_docs)]

mod preludes {
    mod attach;
    mod authority;
    pub mod common;
    mod compose;
    mod constants;
    mod coverage;
    mod discovery;
    mod files;
    mod golden;
    mod guide;
    mod isolation;
    mod mutants;
    mod private_tools;
    mod source_rules;
}
