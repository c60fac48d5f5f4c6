//! Ledgers in databases: the rules of all stores, and what only databases have.
//!
//! PostgreSQL is tested if `PTC_TEST_POSTGRES` is the address of an empty database; `.ci/run database` starts one.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[path = "../../../effects/tests/rules/mod.rs"]
mod rules;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use ptc_effects_sql::connect;

#[test]
fn what_is_no_address_is_refused_without_being_shown() {
    for text in ["mysql://app:secret@db/app", "effects.ledger", "sqlite:", "sqlite::memory:", ""] {
        let refused = connect(text).unwrap_err().to_string();
        assert!(!refused.contains("secret"), "{refused}");
    }
}

#[cfg(not(any(feature = "postgres", feature = "sqlite")))]
#[test]
fn a_build_without_databases_says_so() {
    let refused = connect("postgres://app@127.0.0.1/app").unwrap_err().to_string();
    assert!(refused.contains("it has no `postgres` feature"), "{refused}");
    let refused = connect("sqlite:effects.db").unwrap_err().to_string();
    assert!(refused.contains("it has no `sqlite` feature"), "{refused}");
}
