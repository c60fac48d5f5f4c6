//! The `ptc` binary; everything is in the library beside it, where tests reach it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ptc_cli::main()
}
