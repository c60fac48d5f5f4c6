//! Signatures of prelude files. Hashes show that a file is intact; only a signature shows who made it.
//!
//! A signature is a separate file, `f.ptcp.sig`: one line with a mark, the public key and the Ed25519 signature of the
//! file's digest, in hexadecimal. A key file holds 32 bytes in hexadecimal.

use super::Provenance;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use ptc_bytecode::{Code, Container, Diagnostic};

/// Mark at the start of a signature file.
const MARK: &str = "ptc-sig-1";
/// Prefix of the signed digest, so that a signature is valid nowhere else.
const CONTEXT: &[u8] = b"ptc-sig-1\0";

/// A signing key. Not shown by `{:?}`.
pub struct Signing(SigningKey);

impl Signing {
    /// Parses a key file: 64 hexadecimal digits.
    ///
    /// ```
    /// use ptc_runtime::{Signing, TrustedKeys};
    /// let key = Signing::from_hex(&"07".repeat(32)).unwrap();
    /// let trusted = TrustedKeys::parse(&key.public_key()).unwrap();
    /// assert_eq!(trusted.len(), 1);
    /// assert!(Signing::from_hex("nonsense").is_err());
    /// ```
    pub fn from_hex(text: &str) -> Result<Signing, Diagnostic> {
        let seed = from_hex::<32>(text.trim()).ok_or_else(|| {
            Diagnostic::without_span(Code::InvalidConfig, "a signing key is 64 hexadecimal digits")
                .hint("make one with: ptc key new key.hex")
        })?;
        Ok(Signing(SigningKey::from_bytes(&seed)))
    }

    /// Returns the public key that checks its signatures, in hexadecimal.
    pub fn public_key(&self) -> String {
        to_hex(self.0.verifying_key().as_bytes())
    }

    /// Signs these bytes of a `.ptcp` file; returns the text of the signature file.
    pub fn sign(&self, file: &[u8]) -> Result<String, Diagnostic> {
        let digest = Container::read(file)?.header.digest;
        let signature = self.0.sign(&message(&digest));
        Ok(format!("{MARK} {} {}\n", self.public_key(), to_hex(&signature.to_bytes())))
    }
}

impl std::fmt::Debug for Signing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signing({})", self.public_key())
    }
}

/// The public keys that a host trusts.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys(Vec<VerifyingKey>);

impl TrustedKeys {
    /// Parses text with one key in hexadecimal on each line; text behind `#` is ignored.
    pub fn parse(text: &str) -> Result<TrustedKeys, Diagnostic> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let lines = lines.zip(1..).filter(|(line, _)| !line.is_empty());
        let keys = lines.map(|(line, number)| {
            let key = from_hex::<32>(line).and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
            key.ok_or_else(|| {
                // Without the text: it may be a signing key, and messages end up in logs.
                let message = format!("line {number} is not a public key");
                let hint =
                    "a public key is 64 hexadecimal digits: `ptc key public` prints that of a signing key";
                Diagnostic::without_span(Code::InvalidConfig, message).hint(hint)
            })
        });
        keys.collect::<Result<Vec<_>, _>>().map(TrustedKeys)
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails with `untrusted` unless `signature`, the text of a signature file, was made for these bytes
    /// by one of the keys.
    pub fn check(&self, file: &[u8], signature: Option<&str>) -> Result<(), Diagnostic> {
        self.decide(&[Provenance::of_file(file, signature)?])
    }

    /// Formats the keys one per line, as [`TrustedKeys::parse`] reads them.
    pub fn to_text(&self) -> String {
        self.0.iter().map(|key| to_hex(key.as_bytes()) + "\n").collect()
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        from_hex::<32>(key).is_some_and(|key| self.0.iter().any(|known| *known.as_bytes() == key))
    }

    pub(super) fn extend(&mut self, more: TrustedKeys) {
        self.0.extend(more.0);
    }
}

/// Verifies a signature of a file and returns its signer; trust is checked elsewhere.
pub(super) fn signer(file: &[u8], signature: &str) -> Result<Provenance, Diagnostic> {
    let mut words = signature.split_whitespace();
    let parts = (words.next(), words.next().and_then(from_hex::<32>), words.next().and_then(from_hex::<64>));
    let (Some(MARK), Some(key), Some(signature), None) = (parts.0, parts.1, parts.2, words.next()) else {
        return Ok(Provenance::Unsigned("the signature file is malformed"));
    };
    let digest = Container::read(file)?.header.digest;
    let holds = VerifyingKey::from_bytes(&key)
        .is_ok_and(|key| key.verify_strict(&message(&digest), &Signature::from_bytes(&signature)).is_ok());
    Ok(match holds {
        true => Provenance::Signed(to_hex(&key)),
        false => Provenance::Unsigned("the signature was made for another file"),
    })
}

fn message(digest: &[u8; 32]) -> Vec<u8> {
    [CONTEXT, digest].concat()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    // Parsed numbers may begin with a sign, digits of a hash may not.
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(bytes)
}
