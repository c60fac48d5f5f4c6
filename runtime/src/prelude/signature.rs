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

/// Tags in front of keys, which say what they are: the digits alone look the same for both.
const PUBLIC: &str = "ptc-public:";
const PRIVATE: &str = "ptc-private:";

/// Returns the digits of a public key, with or without its tag.
pub(super) fn bare(key: &str) -> &str {
    key.strip_prefix(PUBLIC).unwrap_or(key)
}

impl Signing {
    /// Parses a key file: `ptc-private:` and 64 hexadecimal digits. Older files have the digits alone.
    ///
    /// ```
    /// use ptc_runtime::{Signing, TrustedKeys};
    /// let key = Signing::from_hex(&"07".repeat(32)).unwrap();
    /// let trusted = TrustedKeys::parse(&key.public_key()).unwrap();
    /// assert_eq!(trusted.len(), 1);
    /// assert!(Signing::from_hex("nonsense").is_err());
    /// ```
    pub fn from_hex(text: &str) -> Result<Signing, Diagnostic> {
        let text = text.trim();
        if text.starts_with(PUBLIC) {
            let message =
                "this is a public key, which can only check signatures; signing takes a private key";
            return Err(Diagnostic::without_span(Code::InvalidConfig, message)
                .hint("name the file that `ptc key new` wrote; it begins with `ptc-private:`"));
        }
        let seed = from_hex::<32>(text.strip_prefix(PRIVATE).unwrap_or(text)).ok_or_else(|| {
            Diagnostic::without_span(Code::InvalidConfig, "a signing key is 64 hexadecimal digits")
                .hint("make one with: ptc key new key.hex")
        })?;
        Ok(Signing(SigningKey::from_bytes(&seed)))
    }

    /// Returns the public key that checks its signatures, in hexadecimal.
    pub fn public_key(&self) -> String {
        to_hex(self.0.verifying_key().as_bytes())
    }

    /// Returns the text of a file with the public key, which says what it is.
    ///
    /// ```
    /// use ptc_runtime::{Signing, TrustedKeys};
    /// let key = Signing::from_hex(&"07".repeat(32)).unwrap();
    /// assert!(key.public_text().starts_with("ptc-public:"));
    /// assert_eq!(TrustedKeys::parse(&key.public_text()).unwrap().len(), 1);
    /// assert!(TrustedKeys::parse(&key.private_text()).is_err());
    /// assert!(Signing::from_hex(&key.private_text()).is_ok() && Signing::from_hex(&key.public_text()).is_err());
    /// ```
    pub fn public_text(&self) -> String {
        format!("{PUBLIC}{}\n", self.public_key())
    }

    /// Returns the text of a key file, which says what it is. It is secret.
    pub fn private_text(&self) -> String {
        format!("{PRIVATE}{}\n", to_hex(self.0.as_bytes()))
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

/// Reason why a text is not a public key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WrongKey {
    /// It is tagged as a private key.
    Private,
    /// It is no key.
    Malformed,
}

impl WrongKey {
    /// Returns the rest of a sentence about the text.
    pub fn what(self) -> &'static str {
        match self {
            WrongKey::Private => "is a private key, and only a public key can be trusted",
            WrongKey::Malformed => "is not a public key",
        }
    }

    pub fn hint(self) -> &'static str {
        match self {
            WrongKey::Private => {
                "`ptc key public KEY` prints the public key of a private one, which stays where files are signed"
            }
            WrongKey::Malformed => {
                "a public key is 64 hexadecimal digits: `ptc key public` prints that of a signing key"
            }
        }
    }
}

fn trusted_key(text: &str) -> Result<VerifyingKey, WrongKey> {
    if text.starts_with(PRIVATE) {
        return Err(WrongKey::Private);
    }
    let key = from_hex::<32>(bare(text)).and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
    key.ok_or(WrongKey::Malformed)
}

impl TrustedKeys {
    /// Parses text with one key on each line: `ptc-public:` and its hexadecimal digits, or the digits alone. Text after
    /// `#` is ignored.
    pub fn parse(text: &str) -> Result<TrustedKeys, Diagnostic> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let lines = lines.zip(1..).filter(|(line, _)| !line.is_empty());
        let keys = lines.map(|(line, number)| {
            // Without the text: it may be a signing key, and messages end up in logs.
            trusted_key(line).map_err(|wrong| {
                let message = format!("line {number} {}", wrong.what());
                Diagnostic::without_span(Code::InvalidConfig, message).hint(wrong.hint())
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

    /// Parses a text that is meant as one key; None if it is the name of a file of keys.
    pub(super) fn one(text: &str) -> Option<Result<TrustedKeys, WrongKey>> {
        let is_bare = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_key = is_bare || text.starts_with(PUBLIC) || text.starts_with(PRIVATE);
        is_key.then(|| trusted_key(text).map(|key| TrustedKeys(vec![key])))
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
