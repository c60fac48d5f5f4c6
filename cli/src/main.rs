//! The `ptc` binary; everything is in the library beside it, where tests reach it.
#![forbid(unsafe_code)]

/// Gives memory back soon after it was freed, whichever thread did it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ptc_cli::main()
}
