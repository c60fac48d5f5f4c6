//! Missions with the HTTP clients of providers, against local servers that speak the providers' formats.
#![allow(missing_docs)]

mod agents;
mod parts;
mod real;
mod stops;
mod streams;
