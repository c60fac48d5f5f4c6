//! `lisp_task`: a scripted model, scripted servers, and the server between them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod args;
mod boot;
mod firewall;
mod listing;
mod metrics;
#[path = "../server/pipe.rs"]
#[allow(dead_code)]
mod pipe;
mod runs;
mod stops;
mod summary;
mod world;
