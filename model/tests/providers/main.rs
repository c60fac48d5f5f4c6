//! Clients of providers, against local servers that speak the providers' formats.
#![allow(missing_docs)]

mod anthropic;
mod chat;
mod faults;
mod gemini;
mod matrix;
mod ollama;
mod parts;
mod real;
mod responses;
mod schemas;
mod settings;
mod stops;
mod talk;
mod thoughts;
