//! Missions with the clients of providers, against local servers that speak the providers' formats.
#![allow(missing_docs)]

mod agents;
mod real;
// The tests of the clients use the rest of it.
#[allow(dead_code)]
#[path = "../../../model/tests/providers/server.rs"]
mod server;
