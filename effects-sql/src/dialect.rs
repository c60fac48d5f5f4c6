//! Statements, in the words of each database. Rows go in as one JSON text, and come out as one for each row.

/// Kind of database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "sqlite")]
    Sqlite,
}

/// Statements of a dialect.
pub struct Statements {
    /// Settings of a connection.
    pub settings: &'static [&'static str],
    /// Makes tables, one process at a time.
    pub setup: &'static [&'static str],
    pub begin: &'static str,
    /// Reads calls and keeps others from changing them. Takes ids.
    pub lock: &'static str,
    /// Inserts those rows that are not there. Takes rows.
    pub insert: &'static str,
    /// Changes rows. Takes rows.
    pub update: &'static str,
    /// Takes a run or "", states as JSON, and the number of rows.
    pub list: &'static str,
    /// Size of the tables, quickly.
    pub size: &'static str,
}

/// Version of the tables, in the form of names and values.
pub const FACT: &str = "SELECT value FROM ptc_ledger WHERE name = $1";

/// Says something about the ledger, unless somebody else was faster.
pub const SET_FACT: &str =
    "INSERT INTO ptc_ledger (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";

/// Size of what is kept, which takes reading all of it.
pub const KEPT: &str = "SELECT CAST(COALESCE(SUM(LENGTH(args) + COALESCE(LENGTH(outcome), 0) + 600), 0) AS BIGINT) \
                        FROM ptc_effects";

/// Forgets runs that are older than a time and have no open call. A call that is sent again meanwhile stays.
pub const FORGET_OLD: &str = "DELETE FROM ptc_effects WHERE state NOT IN ('sent', 'unknown') AND run IN (SELECT run FROM ptc_effects GROUP BY run \
     HAVING MAX(last_ms) < $1 AND MAX(CASE WHEN state IN ('sent', 'unknown') THEN 1 ELSE 0 END) = 0)";

/// Counts the calls of a run that are open.
pub const OPEN: &str = "SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM(CASE WHEN state IN ('sent', 'unknown') THEN 1 ELSE 0 \
                        END), 0) AS BIGINT) FROM ptc_effects WHERE run = $1";

/// Forgets a run; $2 is 1 if open calls go, too.
pub const FORGET_RUN: &str =
    "DELETE FROM ptc_effects WHERE run = $1 AND ($2 = 1 OR state NOT IN ('sent', 'unknown'))";

impl Dialect {
    /// Returns the statements.
    pub fn statements(self) -> &'static Statements {
        match self {
            #[cfg(feature = "postgres")]
            Dialect::Postgres => &POSTGRES,
            #[cfg(feature = "sqlite")]
            Dialect::Sqlite => &SQLITE,
        }
    }
}

/// Ids are locked, and rows inserted, in the order of their names, so that processes with the same run do not wait for each other
/// in a circle.
#[cfg(feature = "postgres")]
const POSTGRES: Statements = Statements {
    settings: &[
        // A server that acknowledges before it is durable would lose calls that were sent. What waits for more stays.
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
        // A replica that the network cut off in the middle must not keep the others from their calls.
        "SET idle_in_transaction_session_timeout = '20s'",
        "SET lock_timeout = '15s'",
    ],
    setup: &[
        "SELECT pg_advisory_xact_lock(5066563000501)",
        "CREATE TABLE IF NOT EXISTS ptc_ledger (name text PRIMARY KEY, value text NOT NULL)",
        "CREATE TABLE IF NOT EXISTS ptc_effects (run text NOT NULL, key text NOT NULL, number bigint NOT NULL, tool text NOT NULL, \
         args text NOT NULL, args_hash text NOT NULL, effect text NOT NULL, line bigint, at_ms bigint NOT NULL, \
         state text NOT NULL, attempts bigint NOT NULL, outcome text, ended_ms bigint, last_ms bigint NOT NULL, \
         is_settled smallint NOT NULL, is_doubtful smallint NOT NULL, PRIMARY KEY (run, key))",
        "CREATE INDEX IF NOT EXISTS ptc_effects_number ON ptc_effects (number)",
        "CREATE INDEX IF NOT EXISTS ptc_effects_open ON ptc_effects (state) WHERE state IN ('sent', 'unknown')",
    ],
    begin: "BEGIN",
    lock: "SELECT CAST(row_to_json(e) AS text) FROM ptc_effects e JOIN json_to_recordset(CAST($1 AS json)) AS w(run text, key \
           text) ON e.run = w.run AND e.key = w.key ORDER BY e.run, e.key FOR UPDATE OF e",
    insert: "INSERT INTO ptc_effects (run, key, number, tool, args, args_hash, effect, line, at_ms, state, attempts, outcome, \
             ended_ms, last_ms, is_settled, is_doubtful) SELECT run, key, number, tool, args, args_hash, effect, line, at_ms, \
             state, attempts, outcome, ended_ms, last_ms, is_settled, is_doubtful FROM json_to_recordset(CAST($1 AS json)) AS w(run \
             text, key text, number bigint, tool text, args text, args_hash text, effect text, line bigint, at_ms bigint, \
             state text, attempts bigint, outcome text, ended_ms bigint, last_ms bigint, is_settled smallint, is_doubtful \
             smallint) ORDER BY run, key ON CONFLICT (run, key) DO NOTHING",
    update: "UPDATE ptc_effects e SET tool = w.tool, args = w.args, args_hash = w.args_hash, effect = w.effect, line = w.line, \
             at_ms = w.at_ms, state = w.state, attempts = w.attempts, outcome = w.outcome, ended_ms = w.ended_ms, \
             last_ms = w.last_ms, is_settled = w.is_settled, is_doubtful = w.is_doubtful FROM json_to_recordset(CAST($1 AS json)) \
             AS w(run text, key text, tool text, args text, args_hash text, effect text, line bigint, at_ms bigint, \
             state text, attempts bigint, outcome text, ended_ms bigint, last_ms bigint, is_settled smallint, is_doubtful \
             smallint) WHERE e.run = w.run AND e.key = w.key",
    list: "SELECT CAST(row_to_json(e) AS text) FROM ptc_effects e WHERE ($1 = '' OR e.run = $1) AND e.state IN (SELECT \
           json_array_elements_text(CAST($2 AS json))) ORDER BY e.number DESC, e.run DESC, e.key DESC LIMIT $3",
    size: "SELECT CAST(pg_total_relation_size('ptc_effects') AS bigint)",
};

#[cfg(feature = "sqlite")]
const SQLITE: Statements = Statements {
    settings: &[
        "PRAGMA busy_timeout = 15000",
        // Readers do not keep a writer waiting; each commit is on disk before it is acknowledged.
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
    ],
    setup: &[
        "CREATE TABLE IF NOT EXISTS ptc_ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE IF NOT EXISTS ptc_effects (run TEXT NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, tool TEXT NOT \
         NULL, args TEXT NOT NULL, args_hash TEXT NOT NULL, effect TEXT NOT NULL, line INTEGER, at_ms INTEGER NOT NULL, \
         state TEXT NOT NULL, attempts INTEGER NOT NULL, outcome TEXT, ended_ms INTEGER, last_ms INTEGER NOT NULL, \
         is_settled INTEGER NOT NULL, is_doubtful INTEGER NOT NULL, PRIMARY KEY (run, key))",
        "CREATE INDEX IF NOT EXISTS ptc_effects_number ON ptc_effects (number)",
        "CREATE INDEX IF NOT EXISTS ptc_effects_open ON ptc_effects (state) WHERE state IN ('sent', 'unknown')",
    ],
    // One writer at a time, which also keeps others from changing what was read.
    begin: "BEGIN IMMEDIATE",
    lock: "SELECT json_object('run', e.run, 'key', e.key, 'number', e.number, 'tool', e.tool, 'args', e.args, 'args_hash', \
           e.args_hash, 'effect', e.effect, 'line', e.line, 'at_ms', e.at_ms, 'state', e.state, 'attempts', e.attempts, \
           'outcome', e.outcome, 'ended_ms', e.ended_ms, 'last_ms', e.last_ms, 'is_settled', e.is_settled, 'is_doubtful', \
           e.is_doubtful) FROM json_each($1) w CROSS JOIN ptc_effects e ON e.run = json_extract(w.value, '$.run') AND \
           e.key = json_extract(w.value, '$.key')",
    insert: "INSERT INTO ptc_effects (run, key, number, tool, args, args_hash, effect, line, at_ms, state, attempts, outcome, \
             ended_ms, last_ms, is_settled, is_doubtful) SELECT json_extract(value, '$.run'), json_extract(value, '$.key'), \
             json_extract(value, '$.number'), json_extract(value, '$.tool'), json_extract(value, '$.args'), \
             json_extract(value, '$.args_hash'), json_extract(value, '$.effect'), json_extract(value, '$.line'), \
             json_extract(value, '$.at_ms'), json_extract(value, '$.state'), json_extract(value, '$.attempts'), \
             json_extract(value, '$.outcome'), json_extract(value, '$.ended_ms'), json_extract(value, '$.last_ms'), \
             json_extract(value, '$.is_settled'), json_extract(value, '$.is_doubtful') FROM json_each($1) WHERE true \
             ON CONFLICT (run, key) DO NOTHING",
    update: "UPDATE ptc_effects SET tool = json_extract(w.value, '$.tool'), args = json_extract(w.value, '$.args'), \
             args_hash = json_extract(w.value, '$.args_hash'), effect = json_extract(w.value, '$.effect'), \
             line = json_extract(w.value, '$.line'), at_ms = json_extract(w.value, '$.at_ms'), \
             state = json_extract(w.value, '$.state'), attempts = json_extract(w.value, '$.attempts'), \
             outcome = json_extract(w.value, '$.outcome'), ended_ms = json_extract(w.value, '$.ended_ms'), \
             last_ms = json_extract(w.value, '$.last_ms'), is_settled = json_extract(w.value, '$.is_settled'), \
             is_doubtful = json_extract(w.value, '$.is_doubtful') FROM json_each($1) w \
             WHERE ptc_effects.run = json_extract(w.value, '$.run') AND ptc_effects.key = json_extract(w.value, '$.key')",
    list: "SELECT json_object('run', e.run, 'key', e.key, 'number', e.number, 'tool', e.tool, 'args', e.args, 'args_hash', \
           e.args_hash, 'effect', e.effect, 'line', e.line, 'at_ms', e.at_ms, 'state', e.state, 'attempts', e.attempts, \
           'outcome', e.outcome, 'ended_ms', e.ended_ms, 'last_ms', e.last_ms, 'is_settled', e.is_settled, 'is_doubtful', \
           e.is_doubtful) FROM ptc_effects e WHERE ($1 = '' OR e.run = $1) AND e.state IN (SELECT value FROM \
           json_each($2)) ORDER BY e.number DESC, e.run DESC, e.key DESC LIMIT $3",
    size: "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), \
           pragma_page_size()",
};
