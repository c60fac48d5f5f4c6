//! Extraction of JSON from replies, for agents that answer in text.

use serde_json::Value;
use std::fmt;

/// Reason why a reply holds no JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JsonError {
    /// Nothing in the reply looks like JSON.
    NotFound,
    /// The text that looks like JSON is invalid.
    Invalid(String),
}

impl JsonError {
    /// Returns the reason's name in results.
    pub fn reason(&self) -> &'static str {
        match self {
            JsonError::NotFound => "no_json_found",
            JsonError::Invalid(_) => "invalid_json",
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonError::NotFound => f.write_str("there is no JSON in the answer"),
            JsonError::Invalid(why) => write!(f, "the JSON in the reply cannot be read: {why}"),
        }
    }
}

impl std::error::Error for JsonError {}

/// Returns the JSON object or list in a reply. Looks for a fenced block first, then at the whole text, then for the
/// first bracket in the prose and its closing one.
///
/// ```
/// use ptc_agent::protocol::extract_json;
/// use serde_json::json;
/// assert_eq!(extract_json("Sure:\n```json\n{\"a\": 1}\n```"), Ok(json!({"a": 1})));
/// assert_eq!(extract_json("The list is [1, 2] as asked."), Ok(json!([1, 2])));
/// assert_eq!(extract_json("no idea").unwrap_err().reason(), "no_json_found");
/// ```
pub fn extract_json(reply: &str) -> Result<Value, JsonError> {
    let text = reply.replace("\r\n", "\n");
    if let Some(block) = fenced(&text) {
        return read(block.trim());
    }
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '[']) {
        // Text after the JSON is ignored.
        return read(closed(trimmed).unwrap_or(trimmed));
    }
    let start = trimmed.find(['{', '[']).ok_or(JsonError::NotFound)?;
    read(closed(&trimmed[start..]).ok_or(JsonError::NotFound)?)
}

fn read(text: &str) -> Result<Value, JsonError> {
    serde_json::from_str(text).map_err(|error| JsonError::Invalid(error.to_string()))
}

/// Returns the body of the first block that is tagged `json` or not tagged.
fn fenced(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let start = rest.find("```")?;
        let after = &rest[start + 3..];
        let (tag, body) = after.split_once('\n')?;
        let end = body.find("```").unwrap_or(body.len());
        if matches!(tag.trim().to_lowercase().as_str(), "" | "json") {
            return Some(&body[..end]);
        }
        rest = body.get(end + 3..)?;
    }
}

/// Returns the text from the bracket at its start to the closing one.
fn closed(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if in_string {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&text[..at + 1]);
                }
            }
            _ => {}
        }
    }
    None
}
