//! Trust in preludes where only certain keys are trusted: one decision for every place that attaches one.

use super::TrustedKeys;
use super::signature::signer;
use ptc_bytecode::{Code, Diagnostic};
use std::path::Path;

/// The party that answers for the code of a prelude, as far as this process knows.
///
/// ```
/// use ptc_runtime::{LoadOptions, Prelude, Provenance, Runtime, Signing};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let prelude = Prelude::compile(&runtime, "(ns a) (def x 1)")?;
/// assert_eq!(prelude.provenance(), [Provenance::Source]);
///
/// let (key, bytes) = (Signing::from_hex(&"07".repeat(32))?, prelude.to_bytes());
/// let signature = key.sign(&bytes)?;
/// let options = LoadOptions { signature: Some(&signature), ..LoadOptions::default() };
/// let loaded = Prelude::load(&runtime, &bytes, &options)?;
/// assert_eq!(loaded.provenance(), [Provenance::Signed(key.public_key())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Provenance {
    /// The host: the prelude is built into it.
    Host,
    /// The holder of this public key, in hexadecimal: the file has their valid signature.
    Signed(String),
    /// No party: a file without a valid signature; the text says what is wrong with it.
    Unsigned(&'static str),
    /// No party: this process compiled it from a source, and sources are not signed.
    Source,
}

impl Provenance {
    /// Returns the provenance of a `.ptcp` file with this signature file, if there is one.
    pub(super) fn of_file(file: &[u8], signature: Option<&str>) -> Result<Provenance, Diagnostic> {
        match signature {
            None => Ok(Provenance::Unsigned("the file has no signature")),
            Some(signature) => signer(file, signature),
        }
    }
}

impl TrustedKeys {
    /// Decides whether a prelude may run where only these keys are trusted: every party that answers for it must
    /// hold one of them, or be the host itself. Every way of attaching a prelude ends here.
    ///
    /// ```
    /// use ptc_runtime::{Provenance, TrustedKeys};
    /// let keys = TrustedKeys::default();
    /// assert!(keys.decide(&[Provenance::Host]).is_ok());
    /// assert_eq!(keys.decide(&[Provenance::Source]).unwrap_err().code.reason(), "untrusted");
    /// ```
    pub fn decide<'p>(&self, provenance: impl IntoIterator<Item = &'p Provenance>) -> Result<(), Diagnostic> {
        provenance.into_iter().try_for_each(|who| match who {
            Provenance::Host => Ok(()),
            Provenance::Signed(key) if self.contains(key) => Ok(()),
            Provenance::Signed(_) => Err(untrusted("the file is signed by a key that is not trusted")
                .hint("have it signed with a trusted key, or add its public key with --trusted")),
            Provenance::Unsigned(why) => Err(untrusted(why)
                .hint("sign it with `ptc build SOURCE -o DIR --sign key.hex`, or drop --trusted")),
            Provenance::Source => Err(untrusted("it is a source, and sources are not signed")
                .hint("build and sign it with `ptc build SOURCE -o DIR --sign key.hex`, or drop --trusted")),
        })
    }

    /// Reads keys as settings list them: each entry is a public key in hexadecimal, or a file of such keys,
    /// relative to `folder`. A file without a key is refused.
    ///
    /// ```
    /// use ptc_runtime::{Signing, TrustedKeys};
    /// let key = Signing::from_hex(&"07".repeat(32))?.public_key();
    /// assert_eq!(TrustedKeys::named(&[key], ".")?.len(), 1);
    /// assert!(TrustedKeys::named(&["no-such-file"], ".").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named<T: AsRef<str>>(entries: &[T], folder: impl AsRef<Path>) -> Result<TrustedKeys, Diagnostic> {
        let wrong = |message: String| {
            Diagnostic::without_span(Code::InvalidConfig, message)
                .hint("a trusted key is 64 hexadecimal digits, or a file with one such key on each line")
        };
        let mut all = TrustedKeys::default();
        for entry in entries {
            let entry = entry.as_ref().trim();
            match TrustedKeys::one(entry) {
                Some(Ok(key)) => {
                    all.extend(key);
                    continue;
                }
                // Not quoted: it may be a signing key.
                Some(Err(wrong)) => {
                    let message = format!("a trusted key {}", wrong.what());
                    return Err(Diagnostic::without_span(Code::InvalidConfig, message).hint(wrong.hint()));
                }
                None => {}
            }
            let file = folder.as_ref().join(entry);
            let text = read(&file).map_err(|why| wrong(format!("trusted key `{entry}`: {why}")))?;
            let keys = TrustedKeys::parse(&text).map_err(|problem| Diagnostic {
                message: format!("trusted key `{entry}`: {}", problem.message),
                ..problem
            })?;
            if keys.is_empty() {
                return Err(wrong(format!("trusted key `{entry}`: the file has no key in it")));
            }
            all.extend(keys);
        }
        Ok(all)
    }
}

/// Maximum length of a file of keys in bytes.
const MAX_KEYS: u64 = 1 << 20;

/// Reads the text of a file of keys. Only regular files: devices never end, and pipes would block.
fn read(file: &Path) -> Result<String, String> {
    let about = std::fs::metadata(file).map_err(|error| format!("cannot be read: {error}"))?;
    if !about.is_file() || about.len() > MAX_KEYS {
        return Err(format!("is not a file of at most {MAX_KEYS} bytes"));
    }
    std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"))
}

fn untrusted(message: &str) -> Diagnostic {
    Diagnostic::without_span(Code::Untrusted, message)
}
