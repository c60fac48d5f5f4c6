//! Turns `src/grammar.lalrpop` into the reader's LR tables.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=src/grammar.lalrpop");
    lalrpop::Configuration::new().use_cargo_dir_conventions().process()
}
