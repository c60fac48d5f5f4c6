//! Checks that the committed parser is generated from the grammar. `PTC_BLESS=1 cargo test -p ptc-compiler --test
//! grammar` writes it.
#![allow(missing_docs)]

use std::path::Path;

#[test]
fn the_parser_is_made_from_the_grammar() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/parse");
    let made = tempfile::tempdir().expect("a folder");
    lalrpop::Configuration::new()
        .set_in_dir(&source)
        .set_out_dir(made.path())
        .force_build(true)
        .process()
        .expect("a parser");
    let parser = std::fs::read_to_string(made.path().join("grammar.rs")).expect("the parser");
    let committed = source.join("grammar.rs");
    if std::env::var_os("PTC_BLESS").is_some() {
        std::fs::write(&committed, &parser).expect("the parser can be written");
    }
    let is_fresh = std::fs::read_to_string(&committed).is_ok_and(|old| old == parser);
    assert!(
        is_fresh,
        "src/parse/grammar.rs is not made from src/parse/grammar.lalrpop; PTC_BLESS=1 writes it"
    );
}
