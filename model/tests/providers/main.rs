//! The clients of providers, against local servers that speak the providers' formats.
#![allow(missing_docs)]

mod anthropic;
mod chat;
mod faults;
mod real;
mod responses;
