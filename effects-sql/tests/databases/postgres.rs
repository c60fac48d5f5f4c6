//! PostgreSQL.

use crate::rules;
use pollster::block_on;
use ptc_effects::{Begun, EffectId, Filter, Forget, Intent, Ledger, LedgerError, Outcome};
use ptc_effects_sql::connect;
use serde_json::json;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

static SCHEMAS: AtomicU32 = AtomicU32::new(0);

/// A schema of its own in the database of the tests.
struct Schema {
    database: String,
    name: String,
}

impl Schema {
    /// None if there is no database.
    fn new() -> Option<Schema> {
        let database = std::env::var("PTC_TEST_POSTGRES").ok()?;
        let name = format!("ptc_{}_{}", std::process::id(), SCHEMAS.fetch_add(1, Ordering::SeqCst));
        let schema = Schema { database, name };
        schema.sql(&format!("CREATE SCHEMA {}", schema.name));
        Some(schema)
    }

    fn sql(&self, statement: &str) -> String {
        let statement = statement.replace("SCHEMA.", &format!("{}.", self.name));
        let mut psql = Command::new("psql");
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", &self.database, "-c", &statement]);
        let ran = psql.output().expect("psql runs");
        assert!(ran.status.success(), "{statement}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_string()
    }

    fn address(&self) -> String {
        let sign = if self.database.contains('?') { '&' } else { '?' };
        format!("{}{sign}options=-c%20search_path%3D{}", self.database, self.name)
    }

    fn open(&self) -> Arc<dyn Ledger> {
        connect(&self.address()).unwrap()
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        self.sql(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name));
    }
}

/// Passes a function that opens the ledger of a new schema.
fn with_postgres(test: &dyn Fn(rules::Open<'_>)) {
    if let Some(schema) = Schema::new() {
        test(&|| schema.open());
    }
}

crate::test_store!(with_postgres);

fn pay(run: &str, key: usize) -> Intent {
    Intent::new(EffectId::new(run, &key.to_string()), "pay", json!({"eur": key}))
}

#[test]
fn replicas_that_begin_the_same_calls_in_any_order_send_each_once() {
    let Some(schema) = Schema::new() else { return };
    let replica = |turn: usize| {
        let ledger = schema.open();
        let all: Vec<_> = (0..60).map(|n| ledger.begin(pay("run", (n * 7 + turn * 13) % 60))).collect();
        let begun = all.into_iter().map(|one| block_on(one).unwrap());
        begun.filter(|begun| matches!(begun, Begun::Send { .. })).count()
    };
    let replica = &replica;
    let sent: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|turn| scope.spawn(move || replica(turn))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(sent, 60);
}

#[test]
fn replicas_that_make_the_tables_at_the_same_time_agree_on_the_key() {
    let Some(schema) = Schema::new() else { return };
    let hashes: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| schema.open().keyed_hash(b"iban"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn a_connection_that_was_cut_is_made_again() {
    let Some(schema) = Schema::new() else { return };
    let ledger = connect(&format!("{}&application_name={}", schema.address(), schema.name)).unwrap();
    assert_eq!(block_on(ledger.begin(pay("run", 1))).unwrap(), Begun::Send { attempt: 1 });
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name";
    assert_eq!(schema.sql(&format!("{cut} = '{}'", schema.name)), "1");
    block_on(ledger.end(&EffectId::new("run", "1"), 1, Outcome::done(json!("paid")))).unwrap();
    assert_eq!(block_on(ledger.begin(pay("run", 1))).unwrap(), Begun::Known(Outcome::done(json!("paid"))));
}

#[test]
fn without_a_server_nothing_is_sent() {
    let refused = connect("postgres://nobody:secret@127.0.0.1:1/none").unwrap_err();
    assert!(matches!(refused, LedgerError::Storage(_)), "{refused}");
    assert!(!refused.to_string().contains("secret"), "{refused}");
}

#[test]
fn a_user_who_may_not_make_tables_can_use_them() {
    let Some(schema) = Schema::new() else { return };
    drop(schema.open());
    let role = format!("{}_user", schema.name);
    schema.sql(&format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {0} TO {role}; GRANT SELECT ON {0}.ptc_ledger TO {role}; \
         GRANT SELECT, INSERT, UPDATE ON {0}.ptc_effects TO {role}",
        schema.name
    ));
    let (scheme, rest) =
        schema.address().split_once("://").map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
    let host = rest.split_once('@').map_or(rest.as_str(), |(_, host)| host);
    let ledger = connect(&format!("{scheme}://{role}@{host}")).unwrap();
    assert_eq!(block_on(ledger.begin(pay("run", 1))).unwrap(), Begun::Send { attempt: 1 });
    let refused =
        block_on(ledger.forget(Forget::Run { name: "run".to_string(), with_open: true })).unwrap_err();
    assert!(refused.to_string().contains("permission denied"), "{refused}");
    drop(ledger);
    schema.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_row_that_was_changed_by_hand_stops_the_call() {
    let Some(schema) = Schema::new() else { return };
    let ledger = schema.open();
    for (n, change) in [
        "state = 'not-done', outcome = '{\"outcome\":\"done\"}'",
        "outcome = '{}'",
        "args = 'x'",
        "state = 'odd'",
        "at_ms = -1",
    ]
    .iter()
    .enumerate()
    {
        let intent = pay("run", n);
        block_on(ledger.begin(intent.clone())).unwrap();
        schema.sql(&format!("UPDATE SCHEMA.ptc_effects SET {change} WHERE key = '{n}'"));
        let refused = block_on(ledger.begin(intent)).unwrap_err();
        assert!(matches!(refused, LedgerError::Damaged(_)), "{change}: {refused}");
    }
}

#[test]
fn tables_of_a_later_version_are_refused() {
    let Some(schema) = Schema::new() else { return };
    drop(schema.open());
    schema.sql("UPDATE SCHEMA.ptc_ledger SET value = '2' WHERE name = 'version'");
    let refused = connect(&schema.address()).unwrap_err();
    assert!(matches!(&refused, LedgerError::Damaged(why) if why.contains("version 2")), "{refused}");
}

#[test]
fn an_operator_can_read_the_table() {
    let Some(schema) = Schema::new() else { return };
    let ledger = schema.open();
    for key in [1, 2] {
        block_on(ledger.begin(pay("run", key))).unwrap();
    }
    block_on(ledger.end(&EffectId::new("run", "1"), 1, Outcome::done(json!("paid")))).unwrap();
    let sums = schema.sql("SELECT state, sum(CAST(CAST(args AS json) ->> 'eur' AS int)) FROM SCHEMA.ptc_effects GROUP BY state ORDER BY state");
    assert_eq!(sums, "done|1\nsent|2");
    assert_eq!(block_on(ledger.list(Filter::default())).unwrap().len(), 2);
}
