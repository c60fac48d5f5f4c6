//! Preludes from the outside: compiled, attached, looked up, written to files and read back.
#![allow(missing_docs)]

mod preludes {
    mod attach;
    mod authoring;
    mod authority;
    mod beside;
    pub mod common;
    mod compose;
    mod constants;
    mod coverage;
    mod discovery;
    mod effects;
    mod files;
    mod forge;
    mod golden;
    mod guide;
    mod isolation;
    mod metadata;
    mod mutants;
    mod paged;
    mod pinning;
    mod pins;
    mod private_tools;
    mod returns;
    mod saga;
    mod source_rules;
    mod store;
    mod store_crash;
    mod store_disk;
    mod suspended;
    mod texts;
    mod trust;
    mod uses;
}
