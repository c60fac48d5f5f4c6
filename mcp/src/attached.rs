//! Images, audio, files and links in a program's value, which clients get as content blocks of their own.
//!
//! In programs they are maps as MCP writes them, so a program can pass them on to any tool. In the reply, content in
//! base64 would cost a model thousands of tokens that it cannot read: a placeholder stands in its place, and the
//! client shows the block.

use crate::protocol::Revision;
use ptc_bytecode::{Datum, Media, Node};
use ptc_contract::data::{Action, Tree, View, rewrite};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Maximum number of blocks in one reply.
const MAX_BLOCKS: usize = 16;

/// Reason for a placeholder without a block.
const NO_ROOM: &str = "the reply has no room for it (--max-attached-bytes)";

/// Maximum entries of a map that may be a block: servers add annotations.
const MAX_ENTRIES: usize = 12;

/// A value with placeholders, and the blocks that they stand for.
pub(crate) struct Attached {
    pub value: Datum,
    pub blocks: Vec<Value>,
    /// Bytes of content that became blocks.
    pub bytes: u64,
}

impl Attached {
    /// Takes the blocks out of a value without firewalled parts, up to `most` bytes of content.
    pub fn of(public: Datum, most: u64) -> Attached {
        let mut attached = Attached { value: public, blocks: Vec::new(), bytes: 0 };
        if !may_have_blocks(&attached.value) {
            return attached;
        }
        let places = found(&attached.value);
        if places.is_empty() {
            return attached;
        }
        let value = attached.value.clone();
        let tree = Tree::new(&value);
        let mut words = HashMap::new();
        for place in places {
            let Some(block) = Block::of(tree.at(place)) else { continue };
            if let Some(placeholder) = attached.place(&block, most) {
                words.insert(place, placeholder);
            }
        }
        attached.value = rewrite(&value, |_, view| match words.remove(&view.index()) {
            Some(words) => Action::Replace(Node::Str(words.into())),
            None => Action::Keep,
        });
        attached
    }

    /// Adds a block, and returns the placeholder for its content; None for links, which stay in the value.
    fn place(&mut self, block: &Block<'_>, most: u64) -> Option<String> {
        let placeholder = block.placeholder();
        let content = block.content.unwrap_or_default();
        let bytes = content.len() as u64;
        // Content is copied and compared only while there is room: a value may have very many blocks.
        let why = if self.blocks.len() >= MAX_BLOCKS {
            format!("a reply has at most {MAX_BLOCKS}")
        } else if bytes > most {
            NO_ROOM.to_string()
        } else if block.content.is_some() && !Media::is_base64(content) {
            "its data is not base64".to_string()
        } else {
            let json = block.to_json();
            if self.blocks.contains(&json) {
                return placeholder;
            }
            if self.bytes + bytes <= most {
                self.bytes += bytes;
                self.blocks.push(json);
                return placeholder;
            }
            NO_ROOM.to_string()
        };
        placeholder.map(|words| format!("{}, not shown: {why}>", words.trim_end_matches('>')))
    }
}

/// Returns whether a value could hold blocks; most hold none and are not copied.
fn may_have_blocks(value: &Datum) -> bool {
    let is_key = |node: &Node| matches!(node, Node::Str(name) | Node::Keyword(name) if matches!(&**name, "mimeType" | "uri"));
    value.nodes().iter().any(is_key)
}

/// Returns the places of all blocks, in the order of the value.
fn found(value: &Datum) -> Vec<usize> {
    let mut places = Vec::new();
    rewrite(value, |_, view| match Block::of(view) {
        Some(_) => {
            places.push(view.index());
            Action::KeepWhole
        }
        None => Action::Keep,
    });
    // `rewrite` works from the end.
    places.reverse();
    places
}

/// A map that MCP calls a content block.
struct Block<'t> {
    kind: &'t str,
    /// Text members, without the content.
    fields: Vec<(&'t str, &'t str)>,
    /// Content in base64; None for links.
    content: Option<&'t str>,
    media_type: &'t str,
    name: Option<&'t str>,
}

impl<'t> Block<'t> {
    /// Reads a value as a block: an image, audio, a document, an embedded file or a link. Text is none: it is
    /// readable as it is.
    fn of(view: View<'t>) -> Option<Block<'t>> {
        let fields = texts(view)?;
        let text = |name: &str| find(&fields, name);
        let kind = text("type")?;
        match kind {
            "image" | "audio" | "document" => Some(Block {
                kind,
                content: Some(text("data")?),
                media_type: text("mimeType")?,
                name: text("name"),
                fields: Vec::new(),
            }),
            "resource" => {
                let resource = view.get("resource")?;
                let fields = texts(resource)?;
                let (content, uri) = (find(&fields, "blob")?, find(&fields, "uri")?);
                let media_type = find(&fields, "mimeType").unwrap_or_default();
                let fields = fields.into_iter().filter(|(name, _)| *name != "blob").collect();
                Some(Block { kind, content: Some(content), media_type, name: Some(uri), fields })
            }
            "resource_link" => {
                text("uri").and(text("name"))?;
                Some(Block { kind, content: None, media_type: "", name: None, fields })
            }
            _ => None,
        }
    }

    /// Returns the text in place of the content; None if there is no content.
    fn placeholder(&self) -> Option<String> {
        let content = self.content?;
        Some(Media::placeholder(self.kind, self.name, self.media_type, content))
    }

    fn to_json(&self) -> Value {
        let fields = || -> Map<String, Value> {
            self.fields.iter().map(|(name, text)| (name.to_string(), json!(text))).collect()
        };
        match self.kind {
            "image" | "audio" => {
                json!({"type": self.kind, "mimeType": self.media_type, "data": self.content})
            }
            "resource" => {
                let mut resource = fields();
                resource.insert("blob".to_string(), json!(self.content));
                json!({"type": "resource", "resource": resource})
            }
            "resource_link" => Value::Object(fields()),
            // MCP has no documents; to it they are embedded files.
            _ => {
                let uri =
                    format!("ptc://document/{}", self.name.map_or_else(|| "unnamed".to_string(), plain));
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": self.media_type, "blob": self.content}})
            }
        }
    }
}

/// Replaces the characters of a name that a URI cannot contain.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
    name.chars().take(80).map(keep).collect()
}

/// Returns the entries of a small map whose values are text; None for other values.
fn texts<'t>(view: View<'t>) -> Option<Vec<(&'t str, &'t str)>> {
    if !matches!(view.node(), Node::Map(_)) || view.len() > MAX_ENTRIES {
        return None;
    }
    let text = |(key, value): (View<'t>, View<'t>)| Some((key.name()?, value.name()?));
    Some(view.entries().into_iter().filter_map(text).collect())
}

fn find<'t>(fields: &[(&'t str, &'t str)], name: &str) -> Option<&'t str> {
    fields.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns whether a revision of the protocol knows a kind of block.
pub(crate) fn is_known(block: &Value, revision: Revision) -> bool {
    match block["type"].as_str() {
        Some("audio") => revision >= Revision::V2025_03_26,
        Some("resource_link") => revision >= Revision::V2025_06_18,
        _ => true,
    }
}
