//! The run of a request in the ledger of effects.
//!
//! A client that repeats a request, after a broken connection for example, sends the same key with it. Its program then has the
//! same name in the ledger, so its calls are not made again.

use super::Server;
use super::calling::Calling;
use crate::pending::RunEffects;
use crate::protocol::META_REQUEST_KEY;
use crate::reason::Reason;
use crate::reply::Payload;
use ptc_runtime::effects::{EffectId, new_run_id};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Longest key, in bytes.
const MAX_KEY: usize = 100;

/// Names of the runs with a key that are in progress.
#[derive(Clone, Default)]
pub(super) struct RunningKeys(Arc<Mutex<BTreeSet<String>>>);

/// A run in progress; dropping it ends it.
pub(super) struct RunningKey {
    of: RunningKeys,
    /// None if the request has no key.
    run: Option<String>,
}

impl Drop for RunningKey {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            self.of.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
        }
    }
}

impl Server {
    /// Returns the place of a request's effects; None without a ledger. The error is the reply.
    pub(super) fn effects_of(
        &self,
        calling: &Calling<'_>,
    ) -> Result<Option<(RunEffects, RunningKey)>, Box<Payload>> {
        let refused = |reason, message: String| Err(Box::new(Payload::error(reason, message)));
        let key = calling.request_key.as_ref();
        let Some(ledger) = self.0.parts.host.effects() else {
            return match key {
                None => Ok(None),
                // The client would believe that nothing is done twice.
                Some(_) => refused(
                    Reason::ArgsError,
                    format!(
                        "`{META_REQUEST_KEY}` needs a ledger of effects: start the server with --effects"
                    ),
                ),
            };
        };
        let of = self.0.running.clone();
        let Some(key) = key else {
            let run = format!("mcp.{}", new_run_id());
            return Ok(Some((RunEffects { ledger, run }, RunningKey { of, run: None })));
        };
        let sound =
            |key: &&str| (1..=MAX_KEY).contains(&key.len()) && format!("{key}/1").parse::<EffectId>().is_ok();
        let Some(key) = key.as_str().filter(sound) else {
            let message = format!(
                "`{META_REQUEST_KEY}` must be a text of at most {MAX_KEY} letters, digits and `-_.:@+`"
            );
            return refused(Reason::ArgsError, message);
        };
        // One client must not get the answers of another by guessing its key. The holder of a token is the same client in
        // every protocol session; on stdio there is only one.
        let client = match self.0.parts.settings.http {
            true => calling.flight.connection().payer().label(),
            false => "stdio".to_string(),
        };
        let run = format!("mcp.{client}.{key}");
        if !of.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone()) {
            let message = "the request with this key is still running; repeat it when that has ended";
            return refused(Reason::Busy, message.to_string());
        }
        Ok(Some((RunEffects { ledger, run: run.clone() }, RunningKey { of, run: Some(run) })))
    }
}
