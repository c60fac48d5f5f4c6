//! Well-behaved and broken servers: child processes over pipes, and HTTP servers.
//!
//! This binary is its own server: with `--server` it runs as one, and with `--host` as a program that starts
//! one and is killed.
#![forbid(unsafe_code)]

mod chaos;
mod children;
mod fixture;
#[cfg(feature = "http")]
mod hostile;
#[cfg(feature = "http")]
mod http;
mod stdio;
mod support;
#[cfg(feature = "http")]
mod tls;
#[cfg(feature = "http")]
mod web;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("--server") => return fixture::serve(args.collect()),
        Some("--host") => return children::host(),
        _ => {}
    }
    support::capture_logs();
    let mut tests: Vec<Trial> = Vec::new();
    tests.extend(stdio::tests());
    tests.extend(children::tests());
    tests.extend(chaos::tests());
    #[cfg(feature = "http")]
    tests.extend(http::tests().into_iter().chain(tls::tests()).chain(hostile::tests()));
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
