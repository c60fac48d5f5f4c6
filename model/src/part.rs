//! Images and documents in messages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ptc_bytecode::{Media, MediaKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// An image or a document in a message. It is serialised in the format of MCP, so tools may return it and data may
/// contain it. In requests to providers, it comes before the text of the message.
///
/// ```
/// use ptc_model::{Message, Part};
/// let message = Message::user("Which number is it?").part(Part::image("image/png", b"\x89PNG"));
/// let written = serde_json::json!({"type": "image", "mimeType": "image/png", "data": "iVBORw=="});
/// assert_eq!(serde_json::to_value(&message.parts[0])?, written);
/// assert_eq!(message.parts[0].to_string(), "<image image/png, 4 bytes>");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// A picture.
    Image {
        /// Media type, such as `image/png`.
        #[serde(rename = "mimeType", alias = "media_type")]
        media_type: String,
        /// Bytes in base64, shared by requests, histories and turns.
        #[serde(with = "shared")]
        data: Arc<str>,
    },
    /// A file that the model reads, such as a PDF.
    Document {
        /// File name that the model is told.
        #[serde(default)]
        name: String,
        /// Media type, such as `application/pdf`.
        #[serde(rename = "mimeType", alias = "media_type")]
        media_type: String,
        /// Bytes in base64, shared by requests, histories and turns.
        #[serde(with = "shared")]
        data: Arc<str>,
    },
}

impl Part {
    /// Returns an image of this media type.
    pub fn image(media_type: impl Into<String>, bytes: &[u8]) -> Part {
        Part::Image { media_type: media_type.into(), data: STANDARD.encode(bytes).into() }
    }

    /// Returns a document with this name and media type.
    pub fn document(name: impl Into<String>, media_type: impl Into<String>, bytes: &[u8]) -> Part {
        Part::Document {
            name: name.into(),
            media_type: media_type.into(),
            data: STANDARD.encode(bytes).into(),
        }
    }

    /// Returns the image or document in a file, if models can read its format: PNG, JPEG, GIF, WebP or PDF, detected
    /// from the bytes and not from the name.
    pub fn from_file(name: impl Into<String>, bytes: &[u8]) -> Option<Part> {
        Some(match Media::sniffed(bytes)? {
            (MediaKind::Image, media_type) => Part::image(media_type, bytes),
            (MediaKind::Document, media_type) => Part::document(name, media_type, bytes),
        })
    }

    /// Returns the media type.
    pub fn media_type(&self) -> &str {
        match self {
            Part::Image { media_type, .. } | Part::Document { media_type, .. } => media_type,
        }
    }

    /// Returns the bytes, in base64.
    pub fn data(&self) -> &str {
        match self {
            Part::Image { data, .. } | Part::Document { data, .. } => data,
        }
    }

    /// Estimates the tokens that a model reads for it: providers count an image by its area, a document by its pages.
    pub fn estimated_tokens(&self) -> u64 {
        const IMAGE: u64 = 1_500;
        const BASE64_OF_A_TOKEN: u64 = 50;
        match self {
            Part::Image { .. } => IMAGE,
            Part::Document { data, .. } => IMAGE.max(data.len() as u64 / BASE64_OF_A_TOKEN),
        }
    }

    /// Returns the part in its form as data.
    pub fn media(&self) -> Media<'_> {
        let (kind, name) = match self {
            Part::Image { .. } => (MediaKind::Image, None),
            Part::Document { name, .. } => (MediaKind::Document, Some(name.as_str())),
        };
        Media { kind, media_type: self.media_type(), data: self.data(), name }
    }

    /// Returns the file name for providers: some refuse a document without one.
    #[cfg(feature = "http")]
    pub(crate) fn file_name(&self) -> &str {
        match self {
            Part::Document { name, .. } if !name.is_empty() => name,
            _ => "document.pdf",
        }
    }

    /// Returns a `data:` URL that holds the bytes.
    #[cfg(feature = "http")]
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type(), self.data())
    }
}

impl From<Media<'_>> for Part {
    fn from(media: Media<'_>) -> Part {
        let (media_type, data) = (media.media_type.to_string(), media.data.into());
        match media.kind {
            MediaKind::Image => Part::Image { media_type, data },
            MediaKind::Document => {
                Part::Document { name: media.name.unwrap_or_default().to_string(), media_type, data }
            }
        }
    }
}

/// Writes the placeholder that stands for the part in texts.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.media().fmt(f)
    }
}

/// Omits the bytes, which would fill screens.
impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({self})")
    }
}

/// Gives images and documents one type: signatures have no types that depend on a value.
impl JsonSchema for Part {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "type": {"enum": ["image", "document"]},
                "mimeType": {"type": "string"},
                "data": {"type": "string"},
                "name": {"type": "string"},
            },
            "required": ["type", "mimeType", "data"],
        })
    }
}

mod shared {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        Ok(String::deserialize(from)?.into())
    }
}
