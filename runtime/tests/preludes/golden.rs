//! A stored file: while the instruction set stays the same it must load and run as before, and once it has changed, the
//! file must be recognised as stale and be recompiled.
//!
//! `PTC_BLESS=1 cargo test -p ptc-runtime --test preludes golden` adds one for the current instruction set.

use super::common::*;
use ptc_bytecode::{Code, Header, abi};
use ptc_runtime::{Attach, Grants, LoadOptions, Prelude, Stale};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/preludes/golden")
}

#[test]
fn files_of_every_instruction_set_load_or_are_recovered() {
    if std::env::var_os("PTC_BLESS").is_some() {
        let file = folder().join(format!("{:08x}.ptcp", abi()));
        if !file.exists() {
            std::fs::write(file, compiled(CRM).to_bytes()).unwrap();
        }
    }
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let strict = LoadOptions { stale: Stale::Refuse, ..LoadOptions::default() };
        let loaded = match Prelude::load(&runtime(), &bytes, &strict) {
            Ok(prelude) => prelude,
            Err(problem) => {
                assert_eq!(problem.code, Code::AbiMismatch, "{}: {problem}", path.display());
                assert_ne!(Header::read(&bytes).unwrap().abi, abi());
                Prelude::load(&runtime(), &bytes, &LoadOptions::default()).unwrap()
            }
        };
        let runtime = runtime().with_tools(stub()).attach(&loaded, &Attach::new()).unwrap();
        let program = "[crm/page-size (get-in (crm/get-user 7) [:value :args :id]) (crm/get-user! 7)]";
        let found = runtime.eval(program, &Grants::new()).unwrap().print().unwrap();
        assert!(found.starts_with("[50 \"norm:7\" {"), "{}: {found}", path.display());
        seen += 1;
    }
    assert!(seen > 0, "there is no file to look at");
}
