//! Prompts with `{{placeholders}}`: values, sections over lists, and nothing that could run.
//!
//! A template is parsed once, checked against the parameters of a signature or the keys of a context, and filled from
//! data. `-` and `_` are equal in names; values of firewalled names never appear.
//!
//! ```
//! use ptc_contract::{data::Tree, template::{Filling, Template}};
//! let template = Template::parse("Rate {{user.name}}:{{#tags}} {{.}}{{/tags}}")?;
//! let context = serde_json::json!({"user": {"name": "Ann"}, "tags": ["new", "vip"]});
//! let context = ptc_runtime::bridge::json_to_datum(&context)?;
//! let text = template.fill(Tree::new(&context).root(), &Filling::text())?;
//! assert_eq!(text, "Rate Ann: new vip");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod fill;
mod parse;

pub use fill::Filling;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Maximum nesting of sections.
pub const MAX_SECTIONS: usize = 20;

/// A parsed prompt template.
#[derive(Clone, PartialEq, Debug)]
pub struct Template {
    source: Arc<str>,
    parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, PartialEq, Debug)]
enum Part {
    Text(String),
    Value(Tag),
    Section { tag: Tag, is_inverted: bool, parts: Vec<Part> },
}

/// A name in braces: its dotted segments (none for `{{.}}`) and its position.
#[derive(Clone, PartialEq, Debug)]
struct Tag {
    path: Vec<String>,
    at: usize,
}

impl Tag {
    fn name(&self) -> String {
        if self.path.is_empty() { ".".to_string() } else { self.path.join(".") }
    }

    fn is_firewalled(&self) -> bool {
        self.path.iter().any(|name| crate::firewall::is_firewalled(name))
    }
}

/// Rendering of a tag's value in agents that write programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateStyle {
    /// The value itself, or a name to read it by if it is large or has parts.
    #[default]
    Value,
    /// Always a name to read the value by.
    Reference,
}

/// Treatment of tags without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMissing {
    /// Fails, so that the mission does not start.
    #[default]
    Error,
    /// Leaves the tag as it is.
    Keep,
}

/// Problem with a template, or with the data that fills it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TemplateError {
    /// Description of the problem.
    pub message: String,
    /// Line of the problem, from 1.
    pub line: usize,
    /// Column of the problem in characters, from 1.
    pub column: usize,
}

impl TemplateError {
    fn at(source: &str, at: usize, message: impl Into<String>) -> TemplateError {
        let before = &source[..at.min(source.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        TemplateError { message: message.into(), line, column }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.line, self.column)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Returns the source text of the template.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of all tags and sections, in order and each once: `user.name`, `items`; `.` is left out.
    ///
    /// ```
    /// use ptc_contract::template::Template;
    /// let template = Template::parse("{{a.b}} {{#rows}}{{id}}{{/rows}} {{a.b}}")?;
    /// assert_eq!(template.names(), ["a.b", "rows", "id"]);
    /// # Ok::<(), ptc_contract::template::TemplateError>(())
    /// ```
    pub fn names(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        each_tag(&self.parts, &mut |tag| {
            if !tag.path.is_empty() && seen.insert(tag.name()) {
                found.push(tag.name());
            }
        });
        found
    }

    fn error(&self, tag: &Tag, message: impl Into<String>) -> TemplateError {
        TemplateError::at(&self.source, tag.at, message)
    }
}

fn each_tag(parts: &[Part], visit: &mut dyn FnMut(&Tag)) {
    for part in parts {
        match part {
            Part::Text(_) => {}
            Part::Value(tag) => visit(tag),
            Part::Section { tag, parts, .. } => {
                visit(tag);
                each_tag(parts, visit);
            }
        }
    }
}
