//! Envelope of a saved machine: the program's text, its warnings, and the preludes that must be attached when it goes
//! on.

use crate::prelude::Prelude;
use crate::program::Program;
use ptc_bytecode::text::is_hidden;
use ptc_bytecode::{Code, Diagnostic, Span, is_namespace_name};
use serde::{Deserialize, Serialize};

/// The part of a saved run besides its machine. Written as its length in eight bytes, then JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Envelope {
    /// Text of the program.
    pub source: String,
    /// Preludes that were attached.
    preludes: Vec<Needed>,
    /// Name of the run in its ledger of effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_run: Option<String>,
    /// Warnings of compiling it: it is not compiled again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<SavedWarning>,
}

/// A warning about a saved program.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedWarning {
    reason: String,
    message: String,
    hint: Option<String>,
    /// Start and end in the source.
    place: Option<(u32, u32)>,
}

impl SavedWarning {
    fn of(warning: &Diagnostic) -> SavedWarning {
        SavedWarning {
            reason: warning.code.reason().to_string(),
            message: warning.message.clone(),
            hint: warning.hint.clone(),
            place: warning.span.map(|span| (span.start, span.end)),
        }
    }

    /// Returns the warning, or None if it was forged: the bytes are not trusted.
    fn read(&self, source: &str) -> Option<Diagnostic> {
        let code = Code::from_reason(&self.reason).filter(|code| code.is_warning())?;
        let mut warning = Diagnostic::without_span(code, &*self.message);
        warning.hint.clone_from(&self.hint);
        if let Some((start, end)) = self.place {
            source.get(start as usize..end as usize)?;
            warning.span = Some(Span { start, end });
        }
        Some(warning)
    }
}

/// A prelude that a saved run needs.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Needed {
    /// [`Prelude::artifact_hash`].
    artifact: String,
    /// Namespaces it declares, for messages.
    namespaces: Vec<String>,
}

impl Envelope {
    pub fn new(program: &Program, ledger_run: Option<&str>) -> Envelope {
        let preludes = program.attached().into_iter().flat_map(|attached| attached.preludes());
        Envelope {
            source: program.source().to_string(),
            preludes: preludes.map(Needed::of).collect(),
            ledger_run: ledger_run.map(str::to_string),
            warnings: program.warnings().iter().map(SavedWarning::of).collect(),
        }
    }

    /// Returns the warnings of compiling the program.
    pub fn warnings(&self) -> Result<Vec<Diagnostic>, Diagnostic> {
        let read: Option<Vec<_>> = self.warnings.iter().map(|warning| warning.read(&self.source)).collect();
        read.ok_or_else(|| invalid("its warnings are damaged"))
    }

    /// Builds the bytes of a saved run with this machine.
    pub fn seal(&self, machine: &[u8]) -> Vec<u8> {
        // Texts and lists always have a JSON form.
        let head = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes = Vec::with_capacity(8 + head.len() + machine.len());
        bytes.extend_from_slice(&(head.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(machine);
        bytes
    }

    /// Splits the bytes of a saved run into the envelope and the machine.
    pub fn open(bytes: &[u8]) -> Result<(Envelope, &[u8]), Diagnostic> {
        let parts = bytes
            .split_first_chunk::<8>()
            .and_then(|(len, rest)| rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?));
        let (head, machine) = parts.ok_or_else(|| invalid("it is cut short"))?;
        let envelope: Envelope = serde_json::from_slice(head).map_err(|_| {
            invalid("it is damaged, or was written by another version; run the program again")
        })?;
        if !envelope.preludes.iter().all(Needed::is_sound) {
            return Err(invalid("its list of preludes is damaged"));
        }
        Ok((envelope, machine))
    }

    /// Fails unless the attached preludes are those of the saved run.
    pub fn check<'p>(&self, preludes: impl Iterator<Item = &'p Prelude>) -> Result<(), Diagnostic> {
        let found: Vec<Needed> = preludes.map(Needed::of).collect();
        if self.preludes == found {
            return Ok(());
        }
        let message =
            format!("it was saved with {}, but {} is attached", shown(&self.preludes), shown(&found));
        Err(invalid(&message).hint("attach what it was saved with, or run the program again"))
    }
}

impl Needed {
    fn of(prelude: &Prelude) -> Needed {
        let namespaces = prelude.namespaces().iter().map(|namespace| namespace.name.clone()).collect();
        Needed { artifact: prelude.artifact_hash(), namespaces }
    }

    /// True if it is safe to show in a message.
    fn is_sound(&self) -> bool {
        let is_hash = self.artifact.len() == 64 && self.artifact.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash && self.namespaces.iter().all(|name| is_namespace_name(name) && !name.contains(is_hidden))
    }
}

/// Lists preludes for a message.
fn shown(preludes: &[Needed]) -> String {
    let one = |needed: &Needed| {
        format!("the prelude `{}` (artifact {})", needed.namespaces.join(" "), &needed.artifact)
    };
    match preludes {
        [] => "no prelude".to_string(),
        several => several.iter().map(one).collect::<Vec<_>>().join(" and "),
    }
}

fn invalid(what: &str) -> Diagnostic {
    Diagnostic::without_span(Code::SnapshotInvalid, format!("the snapshot cannot be loaded: {what}"))
}
