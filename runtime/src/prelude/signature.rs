//! Signatures of prelude files. Hashes tell that a file is whole; only a signature tells who made it.
//!
//! A signature stands in a file of its own, `f.ptcp.sig`: one line with a mark, the public key and the
//! Ed25519 signature of the file's digest, in hexadecimal. A key file holds 32 bytes in hexadecimal.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use ptc_bytecode::{Code, Container, Diagnostic};

/// What a signature file starts with.
const MARK: &str = "ptc-sig-1";
/// What is signed is this and the digest, so that a signature means nothing elsewhere.
const CONTEXT: &[u8] = b"ptc-sig-1\0";

/// A key that signs. Not shown by `{:?}`.
pub struct Signing(SigningKey);

impl Signing {
    /// From a key file: 64 hexadecimal digits.
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
                .hint("make one with: openssl rand -hex 32 > key.hex")
        })?;
        Ok(Signing(SigningKey::from_bytes(&seed)))
    }

    /// The key others need to check its signatures, in hexadecimal.
    pub fn public_key(&self) -> String {
        to_hex(self.0.verifying_key().as_bytes())
    }

    /// The text of the signature file for these bytes of a `.ptcp` file.
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

/// The public keys a host trusts.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys(Vec<VerifyingKey>);

impl TrustedKeys {
    /// From text: one key in hexadecimal on each line; what follows `#` is left out.
    pub fn parse(text: &str) -> Result<TrustedKeys, Diagnostic> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let keys = lines.filter(|line| !line.is_empty()).map(|line| {
            let key = from_hex::<32>(line).and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
            key.ok_or_else(|| {
                let message = format!("`{}` is no public key", line.chars().take(80).collect::<String>());
                Diagnostic::without_span(Code::InvalidConfig, message).hint("a key is 64 hexadecimal digits")
            })
        });
        keys.collect::<Result<Vec<_>, _>>().map(TrustedKeys)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails with `untrusted` unless `signature`, the text of a signature file, was made for these bytes
    /// by one of the keys.
    pub fn check(&self, file: &[u8], signature: Option<&str>) -> Result<(), Diagnostic> {
        let untrusted = |message: &str| {
            Diagnostic::without_span(Code::Untrusted, message)
                .hint("sign it with ptc build --sign key.hex, and trust the public key")
        };
        let Some(text) = signature else { return Err(untrusted("the file has no signature")) };
        let mut words = text.split_whitespace();
        let parts =
            (words.next(), words.next().and_then(from_hex::<32>), words.next().and_then(from_hex::<64>));
        let (Some(MARK), Some(key), Some(signature), None) = (parts.0, parts.1, parts.2, words.next()) else {
            return Err(untrusted("the signature file is malformed"));
        };
        let Some(key) = self.0.iter().find(|known| *known.as_bytes() == key) else {
            return Err(untrusted("the file is signed by a key that is not trusted"));
        };
        let digest = Container::read(file)?.header.digest;
        key.verify_strict(&message(&digest), &Signature::from_bytes(&signature))
            .map_err(|_| untrusted("the signature was made for another file"))
    }
}

/// The key that a signature file names, in hexadecimal.
pub(super) fn signer(signature: &str) -> Option<String> {
    signature.split_whitespace().nth(1).map(str::to_lowercase)
}

fn message(digest: &[u8; 32]) -> Vec<u8> {
    [CONTEXT, digest].concat()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(bytes)
}
