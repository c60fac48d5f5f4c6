//! Composition of several sources into one prelude.

use super::assemble::{assemble, compiled};
use super::constants::MAX_MEMORY;
use super::uses::{order_of, usable};
use super::{Attach, Prelude, PreludeError, Provenance, Standing};
use crate::host::Runtime;
use crate::run::Failure;
use crate::watch::CompileClock;
use ptc_bytecode::{Code, Component, Diagnostic, Limits, hex};
use ptc_compiler::Meter;
use ptc_compiler::prelude::{Compiled, Outline, Used, outline};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fmt;

/// One source of a composition.
///
/// ```
/// use ptc_runtime::{Selection, SourceOrigin};
/// let paged = Selection::new("paged", "(ns paged) (defn pages [n] n)");
/// let paged = paged.origin(SourceOrigin::File("paged.clj".into()));
/// assert_eq!(paged.id, "paged");
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    /// Id chosen by the host.
    pub id: String,
    /// Source text.
    pub source: String,
    /// Version, from 1.
    pub version: Option<u64>,
    /// Required SHA-256 of the source in hexadecimal.
    pub checksum: Option<String>,
    /// Origin of the source.
    pub origin: Option<Origin>,
    /// True if it came out of a store; composing does not change that.
    pub(crate) is_stored: bool,
    /// Hash of the text as it was in its prelude, and the parties that answer for that text.
    pub(crate) vouched: Option<([u8; 32], Vec<Provenance>)>,
}

impl Selection {
    /// Makes a selection of a source under an id.
    pub fn new(id: impl Into<String>, source: impl Into<String>) -> Selection {
        Selection {
            id: id.into(),
            source: source.into(),
            version: None,
            checksum: None,
            origin: None,
            vouched: None,
            is_stored: false,
        }
    }

    /// Returns the sources of a prelude, to be composed with others; None if it does not hold them.
    pub fn all_of(prelude: &Prelude) -> Option<Vec<Selection>> {
        let sources = prelude.sources()?;
        let components = prelude.components();
        if let (true, [only]) = (components.is_empty(), sources) {
            let name = prelude.namespaces().first().map_or("prelude", |namespace| &namespace.name);
            let is_stored = prelude.namespaces().iter().any(|namespace| prelude.is_stored(&namespace.name));
            let only = Selection { is_stored, ..Selection::new(name, only.as_str()) };
            return Some(vec![only.vouched_by(prelude.provenance())]);
        }
        let selection = |(source, component): (&String, &Component)| {
            Selection::of_component(source, component, prelude.standing())
        };
        Some(sources.iter().zip(components).map(selection).collect())
    }

    /// Makes a selection of a source of a prelude with this standing.
    pub(super) fn of_component(source: &str, component: &Component, standing: &Standing) -> Selection {
        let is_stored = component.namespaces.iter().any(|namespace| standing.stored.contains(namespace));
        let selection = Selection { is_stored, ..Selection::recorded(source, component) };
        selection.vouched_by(&standing.provenance)
    }

    /// Sets the parties that answer for its text, as long as the text is unchanged.
    pub(super) fn vouched_by(mut self, provenance: &[Provenance]) -> Selection {
        self.vouched = Some((sha256(&self.source), provenance.to_vec()));
        self
    }

    /// Returns the parties that answer for the current text.
    pub(crate) fn provenance(&self) -> &[Provenance] {
        match &self.vouched {
            Some((hash, provenance)) if *hash == sha256(&self.source) => provenance,
            _ => &[Provenance::Source],
        }
    }

    /// Makes a selection of a source from the record of a component.
    pub(super) fn recorded(source: &str, component: &Component) -> Selection {
        Selection {
            id: component.id.clone(),
            source: source.to_string(),
            version: component.version,
            checksum: (component.checksum != hex(&component.source_hash)).then(|| component.checksum.clone()),
            origin: component.origin.clone().map(Origin::Text),
            vouched: None,
            is_stored: false,
        }
    }

    /// Sets its version, from 1.
    #[must_use]
    pub fn version(mut self, version: u64) -> Selection {
        self.version = Some(version);
        self
    }

    /// Sets the required SHA-256 of its source in hexadecimal.
    #[must_use]
    pub fn checksum(mut self, checksum: impl Into<String>) -> Selection {
        self.checksum = Some(checksum.into());
        self
    }

    /// Sets its origin.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Selection {
        self.origin = Some(origin);
        self
    }
}

/// The origin of a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A file, by the path to show.
    File(String),
    /// Memory of the host, perhaps under a name.
    Memory(Option<String>),
    /// Any other origin, as text.
    Text(String),
}

/// Maximum length of an origin that is shown.
const MAX_ORIGIN: usize = 128;

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Origin::File(path) => format!("file:{path}"),
            Origin::Memory(None) => "memory".to_string(),
            Origin::Memory(Some(id)) => format!("memory:{id}"),
            Origin::Text(text) => text.clone(),
        };
        let mut end = text.len().min(MAX_ORIGIN);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        f.write_str(&text[..end])
    }
}

impl Prelude {
    /// Compiles one source, which may require the namespaces of preludes that are attached to the runtime.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let crm = Prelude::compile(&runtime, "(ns crm) (defn find [id] {:id id})")?;
    /// let runtime = runtime.attach(&crm, &Attach::new())?;
    /// let source = "(ns billing (:require [crm :as c])) (defn due [id] (:id (c/find id)))";
    /// let billing = Prelude::compile(&runtime, source)?;
    /// let runtime = runtime.attach(&billing, &Attach::new())?;
    /// assert_eq!(runtime.eval("(billing/due 7)", &Default::default())?.get::<i64>()?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile(runtime: &Runtime, source: &str) -> Result<Prelude, PreludeError> {
        Prelude::compile_with(runtime, source, &CompileOptions::default())
    }

    /// Compiles one source with options.
    pub fn compile_with(
        runtime: &Runtime,
        source: &str,
        options: &CompileOptions<'_>,
    ) -> Result<Prelude, PreludeError> {
        let used = options.usable(runtime);
        let source = compiled(runtime, source, &used, MAX_MEMORY)?;
        assemble(runtime, &[source], Vec::new(), &used, Provenance::Source.into(), options.positions)
    }

    /// Reads the namespaces a source declares and requires, without compiling it.
    ///
    /// ```
    /// use ptc_runtime::{Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let outline = Prelude::outline_of(&runtime, "(ns billing (:require [crm :as c]))")?;
    /// assert_eq!(outline.requires, ["crm"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outline_of(runtime: &Runtime, source: &str) -> Result<Outline, PreludeError> {
        let limits = runtime.current_limits();
        let clock = CompileClock::new(limits.compile_ms);
        let stop = || clock.is_up();
        let (compile_ms, compile_fuel) = (limits.compile_ms, limits.compile_fuel);
        let limits = Limits { compile_ms, compile_fuel, ..Limits::default() };
        outline(source, &limits, &Meter::new(&limits, &stop))
    }

    /// Returns whether a text is the source of a prelude: a namespace, then nothing but definitions.
    ///
    /// ```
    /// use ptc_runtime::{Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// assert!(Prelude::is_source(&runtime, "(ns crm) (defn find [id] id)"));
    /// assert!(!Prelude::is_source(&runtime, "(ns app) (def x 1) (+ x 1)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_source(runtime: &Runtime, text: &str) -> bool {
        let limits = runtime.current_limits();
        let clock = CompileClock::new(limits.compile_ms);
        let stop = || clock.is_up();
        ptc_compiler::prelude::is_source(text, limits, &Meter::new(limits, &stop))
    }

    /// Returns warnings about the text of a prelude, in its order: see [`Program::warnings`](crate::Program::warnings).
    pub fn warnings_of(runtime: &Runtime, source: &str) -> Vec<ptc_bytecode::Diagnostic> {
        let limits = runtime.current_limits();
        let clock = CompileClock::new(limits.compile_ms);
        let stop = || clock.is_up();
        ptc_compiler::warnings(source, limits, &Meter::new(limits, &stop))
    }

    /// Compiles a source out of a store, whose constants may take `heap` bytes while they are computed.
    pub(crate) fn compile_stored(
        runtime: &Runtime,
        source: &str,
        heap: u64,
    ) -> Result<Prelude, PreludeError> {
        let used = CompileOptions::default().usable(runtime);
        let compiled = compiled(runtime, source, &used, heap)?;
        let stored = compiled.names().into_iter().collect();
        let standing = Standing { provenance: vec![Provenance::Source], stored };
        assemble(runtime, &[compiled], Vec::new(), &used, standing, false)
    }

    /// Compiles several sources into one prelude, in this order. Each is compiled separately, after those whose
    /// namespaces it requires; no two may declare the same namespace.
    ///
    /// ```
    /// use ptc_runtime::{Prelude, Runtime, Selection};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let a = Selection::new("a", "(ns a) (def x 1)");
    /// let b = Selection::new("b", "(ns b) (def x 2)").version(3);
    /// let both = Prelude::compose(&runtime, &[a.clone(), b])?;
    /// assert_eq!(both.components()[1].version, Some(3));
    /// let error = Prelude::compose(&runtime, &[a.clone(), a]).unwrap_err();
    /// assert_eq!(error.reason(), "invalid_namespace");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compose(runtime: &Runtime, selections: &[Selection]) -> Result<Prelude, PreludeError> {
        Prelude::compose_with(runtime, selections, &CompileOptions::default())
    }

    /// Compiles several sources into one prelude with options.
    pub fn compose_with(
        runtime: &Runtime,
        selections: &[Selection],
        options: &CompileOptions<'_>,
    ) -> Result<Prelude, PreludeError> {
        let refuse = |code, message: String| PreludeError::new(Diagnostic::without_span(code, message));
        if selections.is_empty() {
            return Err(refuse(Code::CompileError, "no sources to compose".into()));
        }
        let mut sources = Sources::of(runtime, selections, options)?;
        let mut parts = Vec::with_capacity(selections.len());
        let mut components: Vec<Component> = Vec::with_capacity(selections.len());
        let mut provenance: Vec<Provenance> = Vec::new();
        let mut stored = std::collections::BTreeSet::new();
        for (i, selection) in selections.iter().enumerate() {
            let id = &selection.id;
            if selection.version == Some(0) {
                return Err(refuse(
                    Code::CompileError,
                    format!("version of `{id}` must be positive, but it is 0"),
                ));
            }
            let source_hash = sha256(&selection.source);
            let actual = hex(&source_hash);
            if let Some(checksum) = selection.checksum.as_ref().filter(|checksum| **checksum != actual) {
                let message = format!("checksum of `{id}` is {actual}, but {checksum} was expected");
                return Err(refuse(Code::CompileError, message));
            }
            let source = sources.compiled(i)?;
            let namespaces = source.names();
            for (name, other) in components.iter().flat_map(|c| c.namespaces.iter().map(move |n| (n, &c.id)))
            {
                if namespaces.contains(name) {
                    let message =
                        format!("duplicate namespace '{name}': both `{other}` and `{id}` declare it");
                    return Err(refuse(Code::InvalidNamespace, message));
                }
            }
            if selection.is_stored {
                stored.extend(namespaces.iter().cloned());
            }
            components.push(Component {
                id: id.clone(),
                version: selection.version,
                checksum: selection.checksum.clone().unwrap_or(actual),
                source_hash,
                namespaces,
                origin: selection.origin.as_ref().map(Origin::to_string),
            });
            for who in selection.provenance() {
                if !provenance.contains(who) {
                    provenance.push(who.clone());
                }
            }
            parts.push(source);
        }
        let standing = Standing { provenance, stored };
        assemble(runtime, &parts, components, &sources.given, standing, options.positions)
    }
}

/// Options for compiling sources.
///
/// ```
/// use ptc_runtime::{CompileOptions, Prelude, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let crm = Prelude::compile(&runtime, "(ns crm) (defn find [id] id)")?;
/// let options = CompileOptions { uses: &[crm], ..CompileOptions::default() };
/// let source = "(ns billing (:require [crm :as c])) (defn due [id] (c/find id))";
/// let billing = Prelude::compile_with(&runtime, source, &options)?;
/// assert_eq!(billing.uses()[0].namespace, "crm");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions<'a> {
    /// True to write source positions of instructions into the file.
    pub positions: bool,
    /// Preludes whose namespaces the sources may require, besides those attached to the runtime.
    pub uses: &'a [Prelude],
}

impl CompileOptions<'_> {
    pub(super) fn usable(&self, runtime: &Runtime) -> Used {
        usable(self.uses.iter().chain(runtime.preludes()))
    }
}

/// Sources that become one prelude, compiled on demand, each after those it requires.
struct Sources<'s> {
    runtime: &'s Runtime,
    selections: &'s [Selection],
    /// Namespaces available before any of them.
    given: Used,
    /// Namespaces available now: the given ones, and the exports of the sources compiled so far.
    used: Used,
    order: VecDeque<usize>,
    done: Vec<Option<Compiled>>,
}

impl<'s> Sources<'s> {
    fn of(
        runtime: &'s Runtime,
        selections: &'s [Selection],
        options: &CompileOptions<'_>,
    ) -> Result<Sources<'s>, PreludeError> {
        // A source that cannot be read is compiled in its place: its error is reported then.
        let outline = |selection: &Selection| {
            let found = Prelude::outline_of(runtime, &selection.source).unwrap_or_default();
            (format!("`{}`", selection.id), found)
        };
        let outlines: Vec<_> = selections.iter().map(outline).collect();
        let order = order_of(&outlines).map_err(PreludeError::new)?.into();
        let given = options.usable(runtime);
        let done = selections.iter().map(|_| None).collect();
        Ok(Sources { runtime, selections, used: given.clone(), given, order, done })
    }

    fn compiled(&mut self, index: usize) -> Result<Compiled, PreludeError> {
        while self.done[index].is_none()
            && let Some(next) = self.order.pop_front()
        {
            let source = compiled(self.runtime, &self.selections[next].source, &self.used, MAX_MEMORY)?;
            self.used = self.used.beside(&source.interface());
            self.done[next] = Some(source);
        }
        let missing = || Diagnostic::without_span(Code::CompileError, "a source has no place in the order");
        self.done[index].take().ok_or_else(|| PreludeError::new(missing()))
    }
}

fn sha256(source: &str) -> [u8; 32] {
    Sha256::digest(source.as_bytes()).into()
}

impl Runtime {
    /// Attaches sources as [`Runtime::attach`] does, after compiling them: one by itself, several composed. The
    /// failure of a source that does not compile has the compiler's own reason.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Runtime, Selection};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let failure = runtime.attach_sources(&[Selection::new("a", "(ns tool)")], &Attach::new()).err().unwrap();
    /// assert_eq!(failure.reason(), "reserved_namespace");
    /// assert!(failure.diagnostic().message.starts_with("prelude attach failed: "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach_sources(&self, sources: &[Selection], attach: &Attach<'_>) -> Result<Runtime, Failure> {
        for source in sources {
            // Compiling evaluates constants, which runs code.
            self.check_trust(source.provenance(), || source.id.clone())
                .map_err(|problem| Failure::compile(vec![problem], ""))?;
        }
        let prelude = match sources {
            [
                Selection {
                    source,
                    version: None,
                    checksum: None,
                    origin: None,
                    vouched: None,
                    is_stored: false,
                    ..
                },
            ] => Prelude::compile(self, source),
            _ => Prelude::compose(self, sources),
        };
        let prelude = prelude.map_err(|error| {
            let mut diagnostics = error.diagnostics;
            for diagnostic in &mut diagnostics {
                diagnostic.message = format!("prelude attach failed: {}", diagnostic.message);
            }
            let source = sources.first().filter(|_| sources.len() == 1).map_or("", |only| &only.source);
            Failure::compile(diagnostics, source)
        })?;
        self.attach(&prelude, attach)
    }
}
