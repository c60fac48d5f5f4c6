//! Two web services on the loopback, each with an OpenAPI document: one like GitHub, one for a shop.

pub mod document;
pub mod forge;
mod http;
pub mod shop;

pub use http::{get, serve};

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request: the path without its query, split, and the query.
pub struct Request<'a> {
    pub path: Vec<&'a str>,
    pub query: BTreeMap<String, String>,
}

impl Request<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// A number of the query, or an answer that says what is wrong with it.
    fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, (u16, Value)> {
        let Some(text) = self.text(name) else { return Ok(default) };
        match text.parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err((
                422,
                json!({"message": format!("`{name}` must be a number from 1 to {most}, got {text:?}")}),
            )),
        }
    }

    /// One of these words.
    fn word(&self, name: &str, default: &str, words: &[&str]) -> Result<String, (u16, Value)> {
        let text = self.text(name).unwrap_or(default);
        match words.contains(&text) {
            true => Ok(text.to_string()),
            false => Err((
                422,
                json!({"message": format!("`{name}` must be one of {}, got {text:?}", words.join(", "))}),
            )),
        }
    }
}
