//! The table of targets.

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

/// One seam that takes untrusted input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: of the module here, of the binary in `libfuzzer/`, of the folder in `found/`.
    pub name: &'static str,
    /// What is done with the bytes.
    pub body: fn(&[u8]),
    /// What holds for all bytes, besides that nothing panics, hangs or is an internal error.
    pub promise: &'static str,
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Longer inputs find nothing that shorter ones do not.
    pub max_len: usize,
    /// How many inputs a plain `cargo test` tries.
    pub cases: u32,
}

macro_rules! targets {
    ($($(#[doc = $promise:literal])* $name:ident: max_len $max_len:expr, cases $cases:expr;)*) => {
        /// All of them.
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
    /// Text is read into forms or refused in at most ten messages; what is printed reads back as the same forms; every
    /// byte belongs to a piece.
    reader: max_len 4096, cases 20000;
    /// Text becomes code that verifies, or messages; the same text the same bytes; optimised or not.
    compiler: max_len 4096, cases 4000;
    /// A program of any text ends within its limits, with the same answer and fuel whether it was optimised or not.
    run: max_len 4096, cases 4000;
    /// A generated program answers as the slow evaluator does.
    programs: max_len 400, cases 3000;
    /// An artifact with any change is refused, or runs within its limits.
    artifact: max_len 512, cases 6000;
    /// A `.ptcp` file with any change is refused, or its exports run within their limits.
    prelude: max_len 512, cases 4000;
    /// A suspended run with any change is refused, or goes on within its limits and can be saved again.
    snapshot: max_len 512, cases 5000;
    /// JSON is read as RFC 8259 has it or refused, within its limit; as granted data it comes back the same.
    json: max_len 4096, cases 20000;
    /// A signature reads back from its text and from Malli; what coercion lets through fits.
    signature: max_len 2048, cases 10000;
    /// A template is filled in or refused, within its limit; a value in a program is one literal, whatever is in it.
    template: max_len 4096, cases 10000;
    /// A description of a service becomes the tools that were asked for, or a fault; their listing stays short.
    openapi: max_len 8192, cases 3000;
    /// Whatever another server lists and answers, a program that looks at it and calls it ends within its limits.
    upstream: max_len 4096, cases 1500;
    /// Every request of a client is answered exactly once, or at most once when it was cancelled; nothing else is.
    mcp: max_len 4096, cases 1000;
    /// Files of agents, models, plans, servers, traces and settings are understood, and written back the same, or refused.
    config: max_len 4096, cases 1500;
    /// Data of every kind prints within the limits of whoever shows it, and reads back where all of it is shown.
    printers: max_len 1024, cases 4000;
}

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
