//! Sessions: programs of one owner that see each other's definitions, for a while.
//!
//! Everything here may be called from any thread. Nothing waits, except [`Reservation::eval`], which runs a program, and
//! what writes to [`Settings::session_dir`].

use crate::host::Host;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use ptc_runtime::{Cancel, Prelude, PreludeStore};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// Whom sessions belong to: a hash, so that nothing of whom it stands for is kept.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Owner([u8; 32]);

impl Owner {
    /// Of anything that names somebody: a token, an id of a connection.
    ///
    /// ```
    /// use ptc_mcp::sessions::Owner;
    /// assert_eq!(Owner::new("a"), Owner::new(b"a"));
    /// assert!(!format!("{:?}", Owner::new("token")).contains("token"));
    /// ```
    pub fn new(identity: impl AsRef<[u8]>) -> Owner {
        Owner(Sha256::digest(identity.as_ref()).into())
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(f, "Owner({a:02x}{b:02x}{c:02x}{d:02x})")
    }
}

/// What time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// All sessions of a server. Clones are the same sessions.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    local: Owner,
}

/// How sessions are made.
#[must_use]
pub struct SessionsBuilder {
    _store: Option<PreludeStore>,
    _authoring: Option<Prelude>,
}

impl SessionsBuilder {
    /// Where preludes that sessions name come from, and go to.
    pub fn store(mut self, store: &PreludeStore) -> SessionsBuilder {
        self._store = Some(store.clone());
        self
    }

    /// The shipped prelude `prelude`, for sessions that may write to the store.
    pub fn authoring(mut self, authoring: &Prelude) -> SessionsBuilder {
        self._authoring = Some(authoring.clone());
        self
    }

    /// Time comes from here.
    pub fn clock(self, _clock: Clock) -> SessionsBuilder {
        self
    }

    /// Makes them, with those that a folder kept. The error says what is wrong with that folder.
    pub fn open(self) -> Result<Sessions, String> {
        Ok(Sessions(Arc::new(Inner { local: Owner::new("local") })))
    }
}

impl Sessions {
    /// Sessions whose programs run with what the host gives them, within the limits of the settings.
    pub fn builder(_host: &Host, _settings: &Settings) -> SessionsBuilder {
        SessionsBuilder { _store: None, _authoring: None }
    }

    /// What is odd, such as files that could not be read.
    pub fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The owner of everything where there is only one client: another one in each process, unless sessions are kept in a
    /// folder.
    pub fn local_owner(&self) -> Owner {
        self.0.local.clone()
    }

    /// `lisp_session_start`.
    pub fn start(&self, _owner: &Owner, _args: &Map<String, Value>) -> Payload {
        off()
    }

    /// `lisp_session_list`.
    pub fn list(&self, _owner: &Owner, _args: &Map<String, Value>) -> Payload {
        off()
    }

    /// `lisp_session_list_preludes`.
    pub fn list_preludes(&self, _owner: &Owner, _args: &Map<String, Value>) -> Payload {
        off()
    }

    /// `lisp_session_inspect`.
    pub fn inspect(&self, _owner: &Owner, _args: &Map<String, Value>) -> Payload {
        off()
    }

    /// `lisp_session_forget`.
    pub fn forget(&self, _owner: &Owner, _args: &Map<String, Value>) -> Payload {
        off()
    }

    /// `lisp_session_close`.
    pub fn close(&self, _owner: &Owner, _args: &Map<String, Value>) -> Payload {
        off()
    }

    /// `lisp_session_eval`, up to the point where the program would run: the arguments are right, and nobody else runs
    /// anything in the session until the reservation is used or dropped.
    pub fn reserve(&self, _owner: &Owner, _args: &Map<String, Value>) -> Result<Reservation, Box<Payload>> {
        Err(Box::new(off()))
    }

    /// Ends what is over, and stops what runs in it. To be called now and then.
    pub fn sweep(&self) {}

    /// Ends all sessions of an owner.
    pub fn close_owner(&self, _owner: &Owner) {}

    /// Ends all sessions of this process: programs are stopped. What is kept in a folder stays there.
    pub fn close_all(&self) {}
}

/// A session that waits for a program.
#[must_use]
pub struct Reservation {
    _private: (),
}

impl Reservation {
    /// Runs the program to its end, blocking. All of it is kept, or nothing.
    pub fn eval(self, _cancel: &Cancel) -> Payload {
        off()
    }
}

fn off() -> Payload {
    Payload::error(Reason::SessionsDisabled, "this server has no sessions")
}
