//! Creation of sessions, new or from a folder.

use super::disk::{self, Disk};
use super::state::SessionState;
use super::table::{self, Entry, Gate, Table};
use super::turns::TurnLog;
use super::{Clock, Inner, Owner, Sessions};
use crate::host::Host;
use crate::moment;
use crate::settings::Settings;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ptc_runtime::{Failure, Prelude, PreludeStore, Session, StoreRef};
use ptc_upstream::ProgramHost;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Configuration of a server's sessions.
#[must_use]
pub struct SessionsBuilder {
    host: Host,
    settings: Settings,
    store: Option<PreludeStore>,
    authoring: Option<Prelude>,
    clock: Clock,
}

impl SessionsBuilder {
    pub(super) fn new(host: &Host, settings: &Settings) -> SessionsBuilder {
        SessionsBuilder {
            host: host.clone(),
            settings: settings.clone(),
            store: None,
            authoring: None,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Sets the store for preludes that sessions name.
    pub fn store(mut self, store: &PreludeStore) -> SessionsBuilder {
        self.store = Some(store.clone());
        self
    }

    /// Sets the shipped prelude `prelude`, for sessions that may write to the store.
    pub fn authoring(mut self, authoring: &Prelude) -> SessionsBuilder {
        self.authoring = Some(authoring.clone());
        self
    }

    /// Sets the clock.
    pub fn clock(mut self, clock: Clock) -> SessionsBuilder {
        self.clock = clock;
        self
    }

    /// Creates the sessions and loads those kept in a folder. The error says what is wrong with the folder.
    pub fn open(self) -> Result<Sessions, String> {
        let disk = self.settings.session_dir.as_ref().map(|dir| Disk::open(Path::new(dir))).transpose()?;
        let random = || random::<32>().map(|bytes| bytes.to_vec());
        let local = match &disk {
            Some(disk) => disk.local_owner(random)?,
            None => Owner::new(random()?),
        };
        let turns = TurnLog::open(&self.settings, (self.clock)())?;
        let mut inner = Inner {
            host: self.host,
            settings: self.settings,
            store: self.store,
            authoring: self.authoring,
            clock: self.clock,
            disk,
            local,
            warnings: Vec::new(),
            table: Mutex::default(),
            turns,
        };
        let warnings = inner.load()?;
        inner.warnings = warnings;
        Ok(Sessions(Arc::new(inner)))
    }
}

impl Inner {
    /// Loads the sessions kept in the folder; returns warnings about the others.
    fn load(&self) -> Result<Vec<String>, String> {
        let Some(disk) = &self.disk else { return Ok(Vec::new()) };
        let (records, mut warnings) = disk.load()?;
        let now = self.now();
        let mut table = Table::default();
        for record in records {
            let expires = moment::from_ms(record.expires_ms);
            if expires <= now {
                let _ = disk.remove(&record.id);
                continue;
            }
            let number = table.number();
            match self.restored(&record, number, now) {
                Ok(entry) => {
                    table.live.insert(table::key(&record.id), entry);
                }
                Err(problem) => warnings.push(disk.set_aside(&disk.file(&record.id), &problem)),
            }
        }
        *self.table() = table;
        Ok(warnings)
    }

    fn restored(&self, record: &disk::Record, number: u64, now: SystemTime) -> Result<Entry, String> {
        let owner = Owner::from_hex(&record.owner).ok_or("it is damaged: it has no owner")?;
        let preludes = record.preludes.as_ref().map(|refs| {
            let refs = refs.iter();
            refs.map(|(id, version, sum)| StoreRef::version(id, *version).checksum(sum)).collect()
        });
        let has_preludes = record.preludes.is_some();
        let (blank, programs) =
            self.blank(record.is_write_capable, preludes).map_err(|failure| failure.to_string())?;
        let kept = record.state(&blank)?;
        let (created, expires) = (moment::from_ms(record.created_ms), moment::from_ms(record.expires_ms));
        Ok(Entry {
            id: record.id.clone(),
            owner,
            title: record.title.clone(),
            is_write_capable: record.is_write_capable,
            has_preludes,
            created,
            // A shorter lifetime in the settings also applies to existing sessions.
            expires: expires.min(created + Duration::from_millis(self.settings.session_ttl_ms)),
            // Nobody could use it while the server was down.
            used: now,
            attempts: record.attempts.max(record.turn),
            number,
            blank,
            programs: Arc::new(programs),
            kept: Arc::new(kept),
            running: None,
            gate: Gate::default(),
        })
    }

    /// Creates a session with no definitions and results.
    pub(super) fn blank(
        &self,
        is_write_capable: bool,
        preludes: Option<Vec<StoreRef>>,
    ) -> Result<(Session, ProgramHost), Failure> {
        let programs = self.host.begin_session();
        let runtime = programs.runtime(self.host.runtime().clone());
        let mut builder = Session::builder(&runtime);
        if let Some(store) = &self.store {
            builder = builder.store(store);
        }
        if let Some(preludes) = preludes {
            builder = builder.preludes(preludes);
        }
        if let Some(authoring) = self.authoring.as_ref().filter(|_| is_write_capable) {
            builder = builder.write_capable(authoring);
        }
        Ok((builder.start()?, programs))
    }

    /// Creates the table entry of a new session.
    pub(super) fn entry(
        &self,
        owner: &Owner,
        blank: Session,
        programs: ProgramHost,
        ttl_ms: u64,
    ) -> Result<Entry, String> {
        let id = format!("ptcs_{}", BASE64_URL_SAFE_NO_PAD.encode(random::<18>()?));
        let now = self.now();
        Ok(Entry {
            id,
            owner: owner.clone(),
            title: None,
            is_write_capable: false,
            has_preludes: false,
            created: now,
            expires: now + Duration::from_millis(ttl_ms.min(1 << 40)),
            used: now,
            attempts: 0,
            number: 0,
            kept: Arc::new(SessionState::new(blank.clone(), now)),
            blank,
            programs: Arc::new(programs),
            running: None,
            gate: Gate::default(),
        })
    }
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("the system cannot provide random numbers: {error}"))?;
    Ok(bytes)
}
