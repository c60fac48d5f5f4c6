//! Parts of messages that are no text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An image or a document in a message of the user. Providers see it before the words of the message; those that take
/// none refuse the request before anything is sent.
///
/// ```
/// use ptc_model::{Message, Part};
/// let message = Message::user("Which number is it?").part(Part::image("image/png", b"\x89PNG"));
/// assert_eq!(serde_json::to_value(&message)?["parts"][0]["data"], "iVBORw==");
/// assert_eq!(format!("{:?}", message.parts[0]), "Image(image/png, 8 bytes of base64)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// A picture.
    Image {
        /// Its media type, such as `image/png`.
        media_type: String,
        /// Its bytes, in base64.
        data: String,
    },
    /// A file that the model reads, such as a PDF.
    Document {
        /// What the model is told that it is called.
        name: String,
        /// Its media type, such as `application/pdf`.
        media_type: String,
        /// Its bytes, in base64.
        data: String,
    },
}

impl Part {
    /// An image of this media type.
    pub fn image(media_type: impl Into<String>, bytes: &[u8]) -> Part {
        Part::Image { media_type: media_type.into(), data: STANDARD.encode(bytes) }
    }

    /// A document with this name and media type.
    pub fn document(name: impl Into<String>, media_type: impl Into<String>, bytes: &[u8]) -> Part {
        Part::Document { name: name.into(), media_type: media_type.into(), data: STANDARD.encode(bytes) }
    }

    /// The media type.
    pub fn media_type(&self) -> &str {
        match self {
            Part::Image { media_type, .. } | Part::Document { media_type, .. } => media_type,
        }
    }

    /// The bytes, in base64.
    pub fn data(&self) -> &str {
        match self {
            Part::Image { data, .. } | Part::Document { data, .. } => data,
        }
    }

    /// The part as an address that holds its bytes.
    #[cfg(feature = "http")]
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type(), self.data())
    }
}

/// Without the bytes, which fill screens.
impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Part::Image { .. } => "Image",
            Part::Document { .. } => "Document",
        };
        write!(f, "{name}({}, {} bytes of base64)", self.media_type(), self.data().len())
    }
}
