//! A ledger's store in a database: one connection, and one transaction for all calls that wait.

use crate::address::Address;
use crate::dialect::{self, Dialect, Statements};
use crate::row::Row;
use ptc_effects::{Book, Decide, EffectId, Entry, Filter, Forget, LedgerError, State, Store};
use serde_json::json;
use sqlx::any::{AnyConnectOptions, AnyRow};
use sqlx::{AnyConnection, ConnectOptions, Row as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::{Duration, Instant, UNIX_EPOCH};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Version of the tables.
const VERSION: &str = "1";

/// How long to wait for a connection, or for a transaction.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits between tries. A server that restarts is back by then, or the call is not sent.
const RETRIES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(500), Duration::from_secs(3)];

/// How often a decision is made anew because another process was faster.
const RACES: usize = 20;

/// How long a measured size is believed, unless this process writes much.
const SIZE_AGE: Duration = Duration::from_secs(30);

/// A database with a ledger.
pub struct Database {
    runtime: Runtime,
    options: AnyConnectOptions,
    dialect: Dialect,
    key: [u8; 32],
    max_bytes: u64,
    /// None after a failure: the next request connects again.
    connection: Option<AnyConnection>,
    /// The size, as it was last measured.
    size: Option<Size>,
    /// Number of the last row that was inserted here.
    last_number: i64,
}

/// What a measurement of the tables said.
struct Size {
    at: Instant,
    /// Bytes written since.
    written: u64,
    /// Reason why no further call fits.
    full: Option<String>,
}

/// Failure of a request.
enum Failed {
    /// Of the connection, or of the server: it may work next time.
    Passing(String),
    /// The rules, the data, or a statement that the database refuses.
    Lasting(LedgerError),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Failed {
        let is_lasting = match &error {
            // Serialization failures, deadlocks, shutdowns and connections (classes 40, 57, 08, 53), and SQLite's "busy".
            sqlx::Error::Database(error) => !error.code().is_some_and(|code| {
                ["40", "57", "08", "53", "55"].iter().any(|class| code.len() == 5 && code.starts_with(class))
                    || code == "5"
                    || code.parse().is_ok_and(|code: u32| code < 10_000 && code & 255 == 5)
            }),
            sqlx::Error::Configuration(_) | sqlx::Error::Tls(_) => true,
            _ => false,
        };
        match is_lasting {
            true => Failed::Lasting(storage(error)),
            false => Failed::Passing(error.to_string()),
        }
    }
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Failed {
        Failed::Lasting(error)
    }
}

fn storage(error: impl Display) -> LedgerError {
    LedgerError::Storage(format!("the database: {error}"))
}

impl Database {
    /// Connects. Makes the tables if there are none and `makes` is set.
    pub fn open(address: Address, max_bytes: u64, makes: bool) -> Result<Database, LedgerError> {
        sqlx::any::install_default_drivers();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(storage)?;
        let (dialect, url) = match address {
            #[cfg(feature = "postgres")]
            Address::Postgres(url) => (Dialect::Postgres, url),
            #[cfg(feature = "sqlite")]
            Address::Sqlite(path) => (Dialect::Sqlite, sqlite::prepared(&path, makes)?),
        };
        // An error of the parser could show the password.
        let options: AnyConnectOptions = url
            .parse()
            .map_err(|_| LedgerError::Storage("this is not the address of a database".to_string()))?;
        let mut database = Database {
            runtime,
            options: options.disable_statement_logging(),
            dialect,
            key: [0; 32],
            max_bytes,
            connection: None,
            size: None,
            last_number: 0,
        };
        database.key = database.within(async |database| database.set_up(makes).await)?;
        Ok(database)
    }

    /// Does work that may be done again if the connection fails.
    fn within<T>(
        &mut self,
        mut work: impl AsyncFnMut(&mut Open<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        let mut waits = RETRIES.iter();
        loop {
            let tried = self.runtime.block_on(async {
                let connect = async {
                    let mut connection = match self.connection.take() {
                        Some(connection) => connection,
                        None => connected(&self.options, self.dialect.statements()).await?,
                    };
                    let mut open = Open {
                        on: &mut connection,
                        statements: self.dialect.statements(),
                        max_bytes: self.max_bytes,
                        size: &mut self.size,
                        last_number: &mut self.last_number,
                    };
                    let done = work(&mut open).await;
                    if done.is_err() {
                        // A transaction that stays open would lock its calls.
                        execute(&mut connection, "ROLLBACK").await.ok();
                    }
                    Ok::<_, Failed>((connection, done))
                };
                timeout(PATIENCE, connect).await
            });
            let failed = match tried {
                Ok(Ok((connection, Ok(done)))) => {
                    self.connection = Some(connection);
                    return Ok(done);
                }
                Ok(Ok((connection, Err(Failed::Lasting(error))))) => {
                    self.connection = Some(connection);
                    return Err(error);
                }
                Ok(Err(Failed::Lasting(error))) => return Err(error),
                Ok(Ok((_, Err(Failed::Passing(why)))) | Err(Failed::Passing(why))) => why,
                Err(_) => format!("no answer within {} s", PATIENCE.as_secs()),
            };
            match waits.next() {
                Some(wait) => std::thread::sleep(*wait),
                None => return Err(storage(failed)),
            }
        }
    }
}

async fn connected(options: &AnyConnectOptions, statements: &Statements) -> Result<AnyConnection, Failed> {
    let mut connection = options.connect().await?;
    for setting in statements.settings {
        execute(&mut connection, setting).await?;
    }
    Ok(connection)
}

async fn execute(on: &mut AnyConnection, statement: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(statement).execute(on).await.map(|_| ())
}

/// A connection, and what is known of its database.
struct Open<'d> {
    on: &'d mut AnyConnection,
    statements: &'static Statements,
    max_bytes: u64,
    size: &'d mut Option<Size>,
    last_number: &'d mut i64,
}

impl Open<'_> {
    /// Makes the tables and the key, unless they are there. Returns the key.
    async fn set_up(&mut self, makes: bool) -> Result<[u8; 32], Failed> {
        // Whoever may only read and write rows finds the tables made.
        match self.facts().await {
            Ok(key) => return key,
            Err(error) if !makes => {
                return Err(match Failed::from(error) {
                    Failed::Lasting(_) => {
                        storage("it has no ledger; `ptc run --effects ADDRESS` makes one").into()
                    }
                    passing => passing,
                });
            }
            Err(_) => {}
        }
        execute(self.on, "ROLLBACK").await.ok();
        execute(self.on, self.statements.begin).await?;
        for statement in self.statements.setup {
            execute(self.on, statement).await?;
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(storage)?;
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        for (name, value) in [("version", VERSION), ("key", &digits)] {
            sqlx::query(dialect::SET_FACT).bind(name).bind(value).execute(&mut *self.on).await?;
        }
        execute(self.on, "COMMIT").await?;
        self.facts().await?
    }

    /// Reads version and key. The outer error is that of a database without the tables.
    async fn facts(&mut self) -> Result<Result<[u8; 32], Failed>, sqlx::Error> {
        let mut facts = Vec::new();
        for name in ["version", "key"] {
            let row = sqlx::query(dialect::FACT).bind(name).fetch_one(&mut *self.on).await?;
            facts.push(row.try_get::<String, _>(0)?);
        }
        let damaged = |why: String| Err(Failed::Lasting(LedgerError::Damaged(why)));
        if facts[0] != VERSION {
            let why =
                format!("its tables have version {}, and this program writes version {VERSION}", facts[0]);
            return Ok(damaged(why));
        }
        Ok(match read_key(&facts[1]) {
            Some(key) => Ok(key),
            None => damaged("its key is not 64 hexadecimal digits".to_string()),
        })
    }

    async fn update(&mut self, ids: &BTreeSet<EffectId>, decide: &mut Decide<'_>) -> Result<bool, Failed> {
        let full = self.full().await?;
        execute(self.on, self.statements.begin).await?;
        let wanted: Vec<_> = ids.iter().map(|id| json!({"run": id.run(), "key": id.key()})).collect();
        let found = sqlx::query(self.statements.lock).bind(json!(wanted).to_string());
        let mut numbers = BTreeMap::new();
        let mut book = Book::default();
        for row in found.fetch_all(&mut *self.on).await? {
            let row = read(&row)?;
            let number = row.number;
            let entry = row.entry()?;
            numbers.insert(entry.id().clone(), number);
            book.insert(entry);
        }
        if let Some(why) = full {
            book.set_full(why);
        }
        let changed: BTreeSet<EffectId> =
            decide(&mut book)?.iter().map(|record| record.id().clone()).collect();
        let (mut added, mut updated) = (Vec::new(), Vec::new());
        for entry in book.entries().filter(|entry| changed.contains(entry.id())) {
            match numbers.get(entry.id()) {
                Some(number) => updated.push(Row::of(entry, *number)?),
                None => {
                    let time = i64::try_from(entry.intent.at_ms).unwrap_or(i64::MAX).saturating_mul(1_000);
                    *self.last_number = time.max(self.last_number.saturating_add(1));
                    added.push(Row::of(entry, *self.last_number)?);
                }
            }
        }
        // Of all who insert the same call, one does; the others wait here, and then see that it is there.
        if !added.is_empty() && self.write(self.statements.insert, &added).await? != added.len() as u64 {
            execute(self.on, "ROLLBACK").await?;
            return Ok(false);
        }
        if !updated.is_empty() {
            self.write(self.statements.update, &updated).await?;
        }
        execute(self.on, "COMMIT").await?;
        Ok(true)
    }

    async fn write(&mut self, statement: &'static str, rows: &[Row]) -> Result<u64, Failed> {
        let rows = serde_json::to_string(rows).map_err(storage)?;
        if let Some(size) = self.size {
            size.written += rows.len() as u64;
        }
        Ok(sqlx::query(statement).bind(rows).execute(&mut *self.on).await?.rows_affected())
    }

    /// Returns why no further call fits; None if there is room.
    async fn full(&mut self) -> Result<Option<String>, Failed> {
        if let Some(size) = &*self.size
            && size.at.elapsed() < SIZE_AGE
            && size.written < self.max_bytes / 64
        {
            return Ok(size.full.clone());
        }
        let mut bytes = self.count(self.statements.size).await?;
        // Space of rows that were deleted is still counted, so the rows themselves say.
        if bytes >= self.max_bytes {
            bytes = self.count(dialect::KEPT).await?;
        }
        let full = (bytes >= self.max_bytes).then(|| {
            format!("its tables have {} MiB; `ptc effects prune --older-than DAYS` makes room", bytes >> 20)
        });
        *self.size = Some(Size { at: Instant::now(), written: 0, full: full.clone() });
        Ok(full)
    }

    async fn count(&mut self, statement: &'static str) -> Result<u64, Failed> {
        let row = sqlx::query(statement).fetch_one(&mut *self.on).await?;
        Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0))
    }

    async fn list(&mut self, filter: &Filter) -> Result<Vec<Entry>, Failed> {
        let states = if filter.states.is_empty() { &State::ALL[..] } else { &filter.states };
        let states: Vec<&str> = states.iter().map(|state| state.name()).collect();
        let most = filter.newest.map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let list = sqlx::query(self.statements.list)
            .bind(filter.run.clone().unwrap_or_default())
            .bind(json!(states).to_string())
            .bind(most);
        let rows = list.fetch_all(&mut *self.on).await?;
        rows.iter().rev().map(|row| Ok(read(row)?.entry()?)).collect()
    }

    async fn forget(&mut self, what: &Forget) -> Result<u64, Failed> {
        *self.size = None;
        match what {
            Forget::Run { name, with_open } => {
                let row = sqlx::query(dialect::OPEN).bind(name.clone()).fetch_one(&mut *self.on).await?;
                let (all, open): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
                if all == 0 {
                    return Err(Forget::missing(name).into());
                }
                if open > 0 && !with_open {
                    return Err(Forget::refused(name, open.unsigned_abs()).into());
                }
                let forget = sqlx::query(dialect::FORGET_RUN).bind(name.clone()).bind(i64::from(*with_open));
                Ok(forget.execute(&mut *self.on).await?.rows_affected())
            }
            Forget::OlderThan(time) => {
                let before = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                let forget = sqlx::query(dialect::FORGET_OLD).bind(i64::try_from(before).unwrap_or(i64::MAX));
                Ok(forget.execute(&mut *self.on).await?.rows_affected())
            }
            // Kinds that were added since.
            _ => Err(Failed::Lasting(LedgerError::Refused("databases cannot forget this".to_string()))),
        }
    }
}

fn read(row: &AnyRow) -> Result<Row, Failed> {
    let json: String = row.try_get(0)?;
    let row = serde_json::from_str(&json);
    row.map_err(|error| LedgerError::Damaged(format!("a row of ptc_effects: {error}")).into())
}

fn read_key(digits: &str) -> Option<[u8; 32]> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    bytes?.try_into().ok()
}

impl Store for Database {
    fn key(&self) -> [u8; 32] {
        self.key
    }

    fn update(&mut self, ids: &BTreeSet<EffectId>, decide: &mut Decide<'_>) -> Result<(), LedgerError> {
        for _ in 0..RACES {
            if self.within(async |open| open.update(ids, decide).await)? {
                return Ok(());
            }
        }
        Err(storage("other processes write the same calls all the time"))
    }

    fn list(&mut self, filter: &Filter) -> Result<Vec<Entry>, LedgerError> {
        self.within(async |open| open.list(filter).await)
    }

    fn forget(&mut self, what: &Forget) -> Result<u64, LedgerError> {
        self.within(async |open| open.forget(what).await)
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    //! Files of SQLite.

    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use ptc_effects::LedgerError;
    use std::path::Path;

    /// Returns the address of a file. Makes it, so that only its owner can read it, if there is none and `makes` is set.
    pub fn prepared(path: &Path, makes: bool) -> Result<String, LedgerError> {
        let unusable = |why: String| LedgerError::Storage(format!("{}: {why}", path.display()));
        let mut options = std::fs::OpenOptions::new();
        options.read(true).append(true).create(makes);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| unusable(error.to_string()))?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(unusable("it is not a regular file".to_string()));
        }
        let text = path.to_str().ok_or_else(|| unusable("its name is not Unicode".to_string()))?;
        Ok(format!("sqlite:{}", utf8_percent_encode(text, NON_ALPHANUMERIC)))
    }
}
