//! Builder of a session: data, stored preludes, and permission to write them.

use super::Session;
use crate::host::{Grants, Runtime};
use crate::prelude::{Attach, FrozenRef, Prelude, PreludeStore, StoreError, StoreRef, ToStoreRef};
use crate::run::Failure;
use crate::tools::Tools;
use ptc_bytecode::{Code, Diagnostic};

/// Builder of a session.
///
/// ```
/// use ptc_runtime::{PreludeStore, Runtime, Session};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let store = PreludeStore::new(&runtime);
/// store.write("shop", "(ns shop) (def rate 19)", serde_json::json!({}))?;
///
/// let mut session = Session::builder(&runtime).store(&store).preludes(["shop"]).start()?;
/// store.write("shop", "(ns shop) (def rate 7)", serde_json::json!({}))?;
/// // What the session started with stays.
/// assert_eq!(session.eval("shop/rate")?.print()?, "19");
/// assert_eq!(session.frozen()[0].version, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct SessionBuilder {
    runtime: Runtime,
    grants: Grants,
    store: Option<PreludeStore>,
    preludes: Option<Vec<Result<StoreRef, StoreError>>>,
    fixed: Option<Prelude>,
    authoring: Option<Prelude>,
}

impl SessionBuilder {
    pub(super) fn new(runtime: &Runtime) -> SessionBuilder {
        SessionBuilder {
            runtime: runtime.clone(),
            grants: Grants::new(),
            store: None,
            preludes: None,
            fixed: None,
            authoring: None,
        }
    }

    /// Grants data to all its programs.
    pub fn grants(mut self, grants: Grants) -> SessionBuilder {
        self.grants = grants;
        self
    }

    /// Sets the store its preludes come from and are written to.
    pub fn store(mut self, store: &PreludeStore) -> SessionBuilder {
        self.store = Some(store.clone());
        self
    }

    /// Sets the stored preludes, such as `"paged"` or `"paged@2"`: resolved once, at the start, and kept beside
    /// those of the runtime.
    pub fn preludes<R: ToStoreRef>(mut self, references: impl IntoIterator<Item = R>) -> SessionBuilder {
        self.preludes = Some(references.into_iter().map(|reference| reference.to_store_ref()).collect());
        self
    }

    /// Adds a prelude that is not in the store, beside those of the runtime. It cannot be combined with
    /// [`SessionBuilder::preludes`].
    pub fn prelude(mut self, prelude: &Prelude) -> SessionBuilder {
        self.fixed = Some(prelude.clone());
        self
    }

    /// Lets programs write to the store: `authoring` is the shipped prelude `prelude`, which is attached beside the
    /// others.
    pub fn write_capable(mut self, authoring: &Prelude) -> SessionBuilder {
        self.authoring = Some(authoring.clone());
        self
    }

    /// Starts the session. A failure comes before any program is compiled.
    pub fn start(self) -> Result<Session, Failure> {
        let wrong = |message: &str| {
            Err(Failure::compile(vec![Diagnostic::without_span(Code::InvalidConfig, message)], ""))
        };
        if self.preludes.is_some() && self.fixed.is_some() {
            return wrong("a session has stored preludes or a fixed one, not both");
        }
        if self.store.is_none() && self.preludes.is_some() {
            return wrong("stored preludes need a store");
        }
        if self.store.is_none() && self.authoring.is_some() {
            return wrong("a session can write preludes only with a store");
        }
        let (stored, frozen) = self.stored()?;
        let mut runtime = self.runtime;
        if let (Some(store), Some(_)) = (&self.store, &self.authoring) {
            let tools = store.grant(Tools::clone(runtime.tools())).map_err(|e| refused(&e))?;
            runtime = runtime.with_tools(tools);
        }
        for prelude in [stored, self.fixed, self.authoring].iter().flatten() {
            runtime = runtime.attach(prelude, &Attach::new())?;
        }
        let frozen = self.preludes.is_some().then_some(frozen);
        Ok(Session { frozen, ..Session::new(runtime).with_grants(self.grants) })
    }

    /// Composes the stored preludes into one; also returns their versions.
    fn stored(&self) -> Result<(Option<Prelude>, Vec<FrozenRef>), Failure> {
        let references = self.preludes.iter().flatten().cloned().collect::<Result<Vec<_>, _>>();
        let references = references.map_err(|error| refused(&error))?;
        let Some(store) = self.store.as_ref().filter(|_| !references.is_empty()) else {
            return Ok((None, Vec::new()));
        };
        let bundle = store.bundle(&references, &[]);
        bundle.map(|(prelude, frozen)| (Some(prelude), frozen)).map_err(|error| refused(&error))
    }
}

#[cold]
fn refused(error: &StoreError) -> Failure {
    let mut problem = error.to_diagnostic();
    problem.message = format!("prelude attach failed: {}", problem.message);
    Failure::compile(vec![problem], "")
}
