//! Profiles: how much of a payload a client is shown.

use std::fmt;

/// Profile of the replies a client wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// The value or a short error, as text.
    #[default]
    Slim,
    /// Text as in `Slim`, and a compact object.
    Structured,
    /// All details.
    Debug,
}

/// Size limits of the parts of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplyLimits {
    /// Maximum number of printed lines.
    pub prints: usize,
    /// Maximum size of all printed lines as a JSON array, in bytes.
    pub prints_bytes: usize,
    /// Maximum size of the feedback, in bytes.
    pub feedback_bytes: usize,
    /// Maximum size of a validated value that is included, in bytes; None: never included.
    pub validated_bytes: Option<usize>,
    /// Maximum length of the preview in place of a validated value, in characters.
    pub preview_chars: usize,
    /// Maximum size of a reply without the program's value, whose limit is `--max-result-bytes`, in bytes.
    pub envelope_bytes: usize,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 3] = [Profile::Slim, Profile::Structured, Profile::Debug];

    /// Returns the profile's name in flags.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Slim => "slim",
            Profile::Structured => "structured",
            Profile::Debug => "debug",
        }
    }

    /// Returns the profile of this name.
    pub fn from_name(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Returns the size limits of the parts of a reply.
    pub fn limits(self) -> ReplyLimits {
        let (prints, kib, validated, preview_chars, envelope) = match self {
            Profile::Slim => (20, 8, None, 512, 32),
            Profile::Structured => (50, 16, Some(32 << 10), 1024, 96),
            Profile::Debug => (200, 64, Some(128 << 10), 2048, 512),
        };
        ReplyLimits {
            prints,
            prints_bytes: kib << 10,
            feedback_bytes: kib << 10,
            validated_bytes: validated,
            preview_chars,
            envelope_bytes: envelope << 10,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
