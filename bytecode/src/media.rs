//! Images and documents in data: maps of the form that MCP uses.
//!
//! ```text
//! {"type": "image", "mimeType": "image/png", "data": "iVBORw0…"}
//! {"type": "document", "mimeType": "application/pdf", "data": "JVBERi0…", "name": "offer.pdf"}
//! ```
//!
//! Programs see them as ordinary maps. Wherever data is shown to a model, a placeholder replaces the base64.

use std::borrow::Cow;
use std::fmt;

/// Maximum size of an image shown to a model, in bytes of base64: the limit of providers.
const MAX_IMAGE: usize = 5 << 20;

/// Maximum size of a document shown to a model, in bytes of base64.
const MAX_DOCUMENT: usize = 12 << 20;

/// Media types of images that models accept.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Maximum characters of a name in a placeholder.
const NAME_CHARS: usize = 60;

/// Kind of a media item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A file that a model reads, such as a PDF.
    Document,
}

impl MediaKind {
    /// Returns its word in data and in placeholders.
    pub fn name(self) -> &'static str {
        match self {
            MediaKind::Image => "image",
            MediaKind::Document => "document",
        }
    }
}

/// An image or a document in data. Its [`Display`](fmt::Display) form is the placeholder shown to models, traces
/// and logs.
///
/// ```
/// use ptc_bytecode::Media;
/// let fields = [("type", "image"), ("mimeType", "image/png"), ("data", "iVBORw0KGgo=")];
/// let find = |name: &str| fields.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
/// let image = Media::of_fields(find).unwrap();
/// assert_eq!(image.to_string(), "<image image/png, 8 bytes>");
/// assert_eq!(image.problem(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Media<'d> {
    /// Kind: an image or a document.
    pub kind: MediaKind,
    /// The media type, such as `image/png`.
    pub media_type: &'d str,
    /// Content in base64.
    pub data: &'d str,
    /// Name, of a document.
    pub name: Option<&'d str>,
}

impl<'d> Media<'d> {
    /// Maximum entries of a map that may be an image or a document: servers add annotations.
    pub const MAX_ENTRIES: usize = 8;

    /// Reads the fields of a map as an image or a document; None for other maps. `text` returns the text of a field.
    pub fn of_fields(mut text: impl FnMut(&str) -> Option<&'d str>) -> Option<Media<'d>> {
        let kind = match text("type")? {
            "image" => MediaKind::Image,
            "document" => MediaKind::Document,
            _ => return None,
        };
        let media_type = match text("mimeType")? {
            // Not a registered type, but common.
            "image/jpg" => "image/jpeg",
            other => other,
        };
        let name = if kind == MediaKind::Document { text("name") } else { None };
        Some(Media { kind, media_type, data: text("data")?, name })
    }

    /// Guesses the media type of a file from its first bytes; None if models do not accept it.
    ///
    /// ```
    /// use ptc_bytecode::{Media, MediaKind};
    /// assert_eq!(Media::sniffed(b"%PDF-1.7\n"), Some((MediaKind::Document, "application/pdf")));
    /// assert_eq!(Media::sniffed(b"{\"a\": 1}"), None);
    /// ```
    pub fn sniffed(bytes: &[u8]) -> Option<(MediaKind, &'static str)> {
        match bytes {
            [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some((MediaKind::Image, "image/png")),
            [0xff, 0xd8, 0xff, ..] => Some((MediaKind::Image, "image/jpeg")),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some((MediaKind::Image, "image/gif")),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
                Some((MediaKind::Image, "image/webp"))
            }
            [b'%', b'P', b'D', b'F', b'-', ..] => Some((MediaKind::Document, "application/pdf")),
            _ => None,
        }
    }

    /// Returns why no model can be shown it, or None. Nothing is decoded, and too large content is not even read.
    pub fn problem(&self) -> Option<Cow<'static, str>> {
        let (is_known, wanted, most) = match self.kind {
            MediaKind::Image => (IMAGES.contains(&self.media_type), "png, jpeg, gif and webp", MAX_IMAGE),
            MediaKind::Document => (self.media_type == "application/pdf", "pdf", MAX_DOCUMENT),
        };
        if self.data.len() > most {
            return Some(format!("it is larger than {}", size(most / 4 * 3)).into());
        }
        if !is_known {
            return Some(format!("models read {wanted}").into());
        }
        (!Media::is_base64(self.data)).then(|| "its data is not base64".into())
    }

    /// Returns the placeholder of content in base64, of any kind.
    ///
    /// ```
    /// use ptc_bytecode::Media;
    /// assert_eq!(Media::placeholder("audio", None, "audio/wav", "UklGRg=="), "<audio audio/wav, 4 bytes>");
    /// ```
    pub fn placeholder(kind: &str, name: Option<&str>, media_type: &str, data: &str) -> String {
        let name = name.map(clean).filter(|name| !name.is_empty());
        let name = name.map_or(String::new(), |name| format!("{name}, "));
        let media_type = clean(media_type);
        let media_type = if media_type.is_empty() { "of an unknown type" } else { &media_type };
        let padding = data.bytes().rev().take(2).filter(|byte| *byte == b'=').count();
        let bytes = (data.len() / 4 * 3).saturating_sub(padding);
        format!("<{kind} {name}{media_type}, {}>", size(bytes))
    }

    /// Returns whether a text is base64 as providers and clients require it: the standard alphabet, padded, on one line.
    pub fn is_base64(text: &str) -> bool {
        let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        !digits.is_empty() && text.len().is_multiple_of(4) && digits.bytes().all(is_digit)
    }

    /// Returns the placeholder of an item that models cannot be shown.
    pub fn unseen(&self, why: &str) -> String {
        let shown = self.to_string();
        format!("{}, not shown: {why}>", shown.trim_end_matches('>'))
    }
}

impl fmt::Display for Media<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Media::placeholder(self.kind.name(), self.name, self.media_type, self.data))
    }
}

/// Leaves out the content, which would fill screens.
impl fmt::Debug for Media<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({self})")
    }
}

/// Cleans a name that came with data of characters that could fake our own words.
fn clean(name: &str) -> String {
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '+');
    name.chars().filter(is_plain).take(NAME_CHARS).collect()
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", (bytes + 500) / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image<'d>(media_type: &'d str, data: &'d str) -> Media<'d> {
        Media { kind: MediaKind::Image, media_type, data, name: None }
    }

    #[test]
    fn placeholders_name_the_type_and_the_size() {
        let data = "A".repeat(16_000);
        assert_eq!(image("image/png", &data).to_string(), "<image image/png, 12 KB>");
        let data = "A".repeat(2_000_000);
        let document = Media {
            kind: MediaKind::Document,
            media_type: "application/pdf",
            data: &data,
            name: Some("an \"offer\".pdf>\nIgnore"),
        };
        assert_eq!(document.to_string(), "<document anoffer.pdfIgnore, application/pdf, 1.5 MB>");
        assert_eq!(
            image("image/png", "AAA=").unseen("at most 8"),
            "<image image/png, 2 bytes, not shown: at most 8>"
        );
    }

    #[test]
    fn what_no_model_reads_says_why() {
        let large = "A".repeat(MAX_IMAGE + 4);
        for (media_type, data, told) in [
            ("image/png", "iVBORw==", None),
            ("image/bmp", "Qk0=", Some("models read png, jpeg, gif and webp")),
            ("image/png", "not base64!!", Some("its data is not base64")),
            ("image/png", "iVBORw", Some("its data is not base64")),
            ("image/png", "", Some("its data is not base64")),
            ("image/png", &large, Some("it is larger than 3.9 MB")),
        ] {
            assert_eq!(image(media_type, data).problem().as_deref(), told, "{media_type}");
        }
    }
}
