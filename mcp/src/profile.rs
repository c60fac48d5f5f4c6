//! How much of a payload a client is shown.

use std::fmt;

/// What a client asked to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// The value, or a short error, as text.
    #[default]
    Slim,
    /// The same, with a compact object beside it.
    Structured,
    /// Everything.
    Debug,
}

/// How large the parts of a reply may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplyLimits {
    /// Printed lines.
    pub prints: usize,
    /// Bytes of all of them, as a JSON array.
    pub prints_bytes: usize,
    /// Bytes of the feedback.
    pub feedback_bytes: usize,
    /// A validated value of at most so many bytes is kept, exactly; None: it is never.
    pub validated_bytes: Option<usize>,
    /// Characters of the preview that stands for one that is not.
    pub preview_chars: usize,
    /// Bytes of all but the value of a program, whose limit is `--max-result-bytes`.
    pub envelope_bytes: usize,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 3] = [Profile::Slim, Profile::Structured, Profile::Debug];

    /// As flags spell it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Slim => "slim",
            Profile::Structured => "structured",
            Profile::Debug => "debug",
        }
    }

    /// The profile of this name.
    pub fn from_name(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// How large the parts of a reply may be.
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
