//! Sessions: programs that see each other's definitions.

use crate::diagnostic::{JsFailure, Told, before};
use crate::frozen::JsGrants;
use crate::outcome::JsOutcome;
use crate::packed::{Packed, pack};
use napi_derive::napi;
use ptc::binding::{When, call_of};
use ptc::runtime::{Run, Runtime};
use ptc::{Cancel, Failure, Grants, Session};

/// The memory of a session.
#[napi(js_name = "SessionCore")]
pub struct JsSession {
    session: Session,
    grants: Grants,
}

impl JsSession {
    pub fn new(session: Session, grants: Grants) -> JsSession {
        JsSession { session, grants }
    }

    /// Returns a copy whose programs run in another runtime.
    pub fn with_runtime(&self, runtime: Runtime) -> Result<JsSession, Failure> {
        let mut session = self.session.clone();
        session.set_runtime(runtime)?;
        Ok(JsSession { session, grants: self.grants.clone() })
    }

    /// Makes a run of a program.
    pub fn start(&self, source: &str, cancel: &Cancel) -> Result<Run, Failure> {
        start(self.session.clone(), source, self.grants.clone(), cancel)
    }

    /// Makes a run that calls a function with these arguments as `data/arguments`.
    pub fn call(&self, name: &str, arguments: Grants, cancel: &Cancel) -> Result<Run, Failure> {
        start(self.session.clone(), &call_of(name)?, arguments, cancel)
    }
}

fn start(mut session: Session, source: &str, grants: Grants, cancel: &Cancel) -> Result<Run, Failure> {
    session.set_grants(grants.cancel(cancel));
    session.start(source)
}

#[napi]
impl JsSession {
    /// Makes the definitions of a finished run those of the session.
    #[napi]
    pub fn commit(&mut self, outcome: &JsOutcome, source: String) -> Option<JsFailure> {
        let committed: Result<(), Failure> = self.session.commit_within_limits(&outcome.outcome, &source);
        committed.err().map(|failure| JsFailure::new(&failure, When::Running))
    }

    /// Grants other data from now on.
    #[napi]
    pub fn grant(&mut self, grants: &JsGrants) {
        self.grants = grants.grants.clone();
    }

    /// Returns an independent copy.
    #[napi]
    pub fn copy(&self) -> JsSession {
        JsSession { session: self.session.clone(), grants: self.grants.clone() }
    }

    /// Names defined so far, sorted.
    #[napi]
    pub fn defined(&self) -> Vec<String> {
        self.session.defined().map(str::to_string).collect()
    }

    /// Returns the value of a definition, if there is one.
    #[napi]
    pub fn definition(&self, name: String) -> Option<Told<Packed>> {
        let found = self.session.definition(&name)?.to_datum(usize::MAX);
        Some(before(found.map(|datum| pack(&datum)).map_err(Failure::from)))
    }
}
