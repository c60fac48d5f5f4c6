//! Table of the fuzz targets.

pub mod artifact;
pub mod compiler;
pub mod config;
pub mod json;
pub mod mcp;
pub mod openapi;
pub mod prelude;
pub mod printers;
pub mod programs;
pub mod reader;
pub mod run;
pub mod signature;
pub mod snapshot;
pub mod template;
pub mod upstream;

/// One entry point for untrusted input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the module here, of the binary in `libfuzzer/`, and of the folder in `found/`.
    pub name: &'static str,
    /// Runs one input; panics on a finding.
    pub body: fn(&[u8]),
    /// Promise for all bytes, besides that nothing panics, hangs or is an internal error.
    pub promise: &'static str,
    /// Function that returns inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Maximum length of an input, in bytes: longer ones find nothing more.
    pub max_len: usize,
    /// Number of inputs that a plain `cargo test` tries.
    pub cases: u32,
}

macro_rules! targets {
    ($($(#[doc = $promise:literal])* $name:ident: max_len $max_len:expr, cases $cases:expr;)*) => {
        /// All targets.
        pub const TARGETS: &[Target] = &[
            $(Target {
                name: stringify!($name),
                body: $name::body,
                promise: concat!($($promise,)*),
                seeds: $name::seeds,
                max_len: $max_len,
                cases: $cases,
            },)*
        ];
    };
}

targets! {
    /// Text becomes forms, or is refused with at most ten messages. Printed forms read back as the same forms, and
    /// every byte that is not white space belongs to a token.
    reader: max_len 4096, cases 20000;
    /// With and without optimisation, text becomes code that verifies, or error messages. The same text always gives
    /// the same bytes.
    compiler: max_len 4096, cases 4000;
    /// Any text, run as a program, ends within its limits, with the same value and fuel with and without optimisation.
    run: max_len 4096, cases 4000;
    /// A generated program gives the same value as in the slow reference evaluator.
    programs: max_len 400, cases 3000;
    /// A changed artifact is refused, or runs within its limits.
    artifact: max_len 512, cases 6000;
    /// A changed `.ptcp` file is refused, or its exports run within their limits.
    prelude: max_len 512, cases 4000;
    /// A changed suspended run is refused, or continues within its limits and can be saved again.
    snapshot: max_len 512, cases 5000;
    /// JSON is read as RFC 8259 defines it or refused, within its limit. Granted data comes back unchanged.
    json: max_len 4096, cases 20000;
    /// A signature reads back from its own text and from Malli. Values that coercion accepts fit the signature.
    signature: max_len 2048, cases 10000;
    /// A template is filled in or refused, within its limit. A value in a program becomes exactly one literal, whatever
    /// it contains.
    template: max_len 4096, cases 10000;
    /// A service description becomes the requested tools, or a fault. The list of tools stays short.
    openapi: max_len 8192, cases 3000;
    /// A program that looks up and calls the tools of a server ends within its limits, whatever the server lists and
    /// returns.
    upstream: max_len 4096, cases 1500;
    /// Every request of a client is answered exactly once, or at most once if it was cancelled. Messages that
    /// need no reply get none.
    mcp: max_len 4096, cases 1000;
    /// Files of agents, models, plans, servers, traces and settings are refused, or read and written back unchanged.
    config: max_len 4096, cases 1500;
    /// Data of every kind is printed within the given limits, and can be read back if nothing was cut. Firewalled values
    /// are not shown.
    printers: max_len 1024, cases 4000;
}

/// Returns the target with this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
