//! Each statement of the guide to agents. `docs/agents/coverage.md` lists them.
#![allow(missing_docs)]

mod coverage;
mod definitions;
mod missions;
mod models;
mod prompts;
mod replies;
mod traces;

use ptc_bytecode::Datum;
use ptc_contract::Signature;
use serde_json::Value;

fn data(json: Value) -> Datum {
    ptc_runtime::bridge::json_to_datum(&json).unwrap()
}

fn sig(text: &str) -> Signature {
    Signature::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
