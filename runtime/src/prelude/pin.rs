//! Pins: a host names the hash of the one build it accepts, and every other build is refused.

use super::signature::from_hex;
use ptc_bytecode::{Code, Diagnostic, Manifest, hex};
use std::fmt;

/// Separator between the name of a prelude and its pin.
const PIN: &str = "@artifact:";

/// The artifact hash of a prelude, by which a host [pins](crate::PreludeInput::pinned) it: it covers interface, code and
/// constants, and is computed from the bytes that would run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArtifactHash([u8; 32]);

impl ArtifactHash {
    /// Parses 64 hexadecimal digits, as `ptc inspect` prints them. Fewer are refused: a file whose hash begins like
    /// this one can be found by trying.
    ///
    /// ```
    /// use ptc_runtime::ArtifactHash;
    /// assert_eq!(ArtifactHash::parse(&"AB".repeat(32)).unwrap().to_string(), "ab".repeat(32));
    /// assert_eq!(ArtifactHash::parse("abababab").unwrap_err().code.reason(), "invalid_config");
    /// ```
    pub fn parse(text: &str) -> Result<ArtifactHash, Diagnostic> {
        from_hex::<32>(text).map(ArtifactHash).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            let message = match text.chars().count() {
                64 => format!("a pin is an artifact hash in hexadecimal, but `{shown}` is not"),
                count => {
                    format!("a pin is an artifact hash of 64 hexadecimal digits, but `{shown}` has {count}")
                }
            };
            Diagnostic::without_span(Code::InvalidConfig, message)
                .hint("`ptc inspect FILE` prints the whole hash after `artifact`")
        })
    }

    /// Splits the pin off a name such as `crm.ptcp@artifact:3f…`.
    ///
    /// ```
    /// use ptc_runtime::ArtifactHash;
    /// let hash = "ab".repeat(32);
    /// let pinned = format!("dist/crm.ptcp@artifact:{hash}");
    /// assert_eq!(ArtifactHash::split(&pinned)?, ("dist/crm.ptcp", Some(ArtifactHash::parse(&hash)?)));
    /// assert_eq!(ArtifactHash::split("store:kept#shop@2")?, ("store:kept#shop@2", None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split(name: &str) -> Result<(&str, Option<ArtifactHash>), Diagnostic> {
        match name.rsplit_once(PIN) {
            None => Ok((name, None)),
            Some((name, pin)) => Ok((name, Some(ArtifactHash::parse(pin)?))),
        }
    }

    /// Refuses a prelude with another hash. The manifest must be verified: a file's own claims prove nothing.
    pub(super) fn check(&self, manifest: &Manifest) -> Result<(), Diagnostic> {
        let found = manifest.artifact_hash();
        if self.0 == found {
            return Ok(());
        }
        let others = [
            ("source", manifest.source_hash),
            ("interface", manifest.interface_hash),
            ("code", manifest.code_hash),
        ];
        let other = others.iter().find(|(_, hash)| *hash == self.0);
        let found = hex(&found);
        let (message, hint) = match other {
            Some((name, _)) => (
                format!("it is pinned by its {name} hash, but only its artifact hash covers all that runs"),
                format!("pin its artifact hash: {PIN}{found}"),
            ),
            None => (
                format!("its artifact hash is {found}, but {self} is pinned"),
                format!("deploy the build that was pinned; or review this one, and pin it: {PIN}{found}"),
            ),
        };
        Err(Diagnostic::without_span(Code::HashMismatch, message).hint(hint))
    }

    /// Makes the refusal of a source that is pinned.
    pub(super) fn of_source() -> Diagnostic {
        Diagnostic::without_span(Code::HashMismatch, "it is a source, and only a build has an artifact hash")
            .hint("build it with `ptc build SOURCE -o DIR`, and pin the file")
    }
}

impl fmt::Display for ArtifactHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ArtifactHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArtifactHash({self})")
    }
}
