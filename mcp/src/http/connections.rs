//! Limits on open connections, and the choice of connections to close for new ones.
//!
//! A connection *waits* until its client has sent the headers of a request, and is *busy* until the reply is
//! sent. If there is no room, a new connection replaces a waiting one, preferably from the address with the
//! most connections: half-sent headers cost their sender's slots. Connections that wait too long are closed.

use super::address::Proxies;
use crate::network::subscriber;
use crate::settings::Settings;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

pub struct Connections {
    most: usize,
    most_per_address: usize,
    patience: Duration,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// Slots by number, oldest first.
    slots: BTreeMap<u64, Arc<Slot>>,
    by_address: HashMap<IpAddr, usize>,
}

struct Slot {
    address: IpAddr,
    state: Mutex<SlotState>,
    /// Notified when the slot is given to another connection.
    expelled: Notify,
}

struct SlotState {
    /// Number of requests in progress; HTTP/2 allows several.
    busy: usize,
    waits_since: Instant,
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns since when the connection waits; None while it is busy.
    fn waits_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.busy == 0).then_some(state.waits_since)
    }
}

impl Connections {
    pub fn new(settings: &Settings) -> Connections {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Connections {
            most: count(settings.http_max_connections).min(files_for_connections()),
            most_per_address: count(settings.http_max_connections_per_address),
            patience: Duration::from_millis(settings.http_header_timeout_ms),
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot for a new connection; None if every connection it could replace is busy. A trusted proxy
    /// stands for many clients and has no limit per address.
    pub fn admit(self: &Arc<Self>, peer: IpAddr, proxies: &Proxies) -> Option<Admitted> {
        let address = subscriber(peer);
        let mut open = self.open();
        let of_address = open.by_address.get(&address).copied().unwrap_or_default();
        if of_address >= self.most_per_address && !proxies.contain(peer) {
            open.expel(|slot| slot.address == address)?;
        }
        if open.slots.len() >= self.most {
            open.expel(|_| true)?;
        }
        let state = Mutex::new(SlotState { busy: 0, waits_since: Instant::now() });
        let slot = Arc::new(Slot { address, state, expelled: Notify::new() });
        let number = open.next;
        open.next += 1;
        open.slots.insert(number, slot.clone());
        *open.by_address.entry(address).or_default() += 1;
        Some(Admitted { connections: self.clone(), number, slot })
    }

    /// Closes a waiting connection; false if there is none.
    pub fn make_room(&self) -> bool {
        self.open().expel(|_| true).is_some()
    }
}

impl Open {
    /// Removes the connection that has waited longest, among those of the address with the most.
    fn expel(&mut self, is_eligible: impl Fn(&Slot) -> bool) -> Option<()> {
        let waiting = self.slots.iter().filter_map(|(number, slot)| {
            let since = if is_eligible(slot) { slot.waits_since()? } else { return None };
            let crowd = self.by_address.get(&slot.address).copied().unwrap_or_default();
            Some((std::cmp::Reverse(crowd), since, *number))
        });
        let (_, _, number) = waiting.min()?;
        self.remove(number)?.expelled.notify_one();
        Some(())
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Slot>> {
        let slot = self.slots.remove(&number)?;
        if let Some(count) = self.by_address.get_mut(&slot.address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&slot.address);
            }
        }
        Some(slot)
    }
}

/// Returns the number of connections that the file limit allows: a quarter is left to sessions, traces and
/// upstream servers.
fn files_for_connections() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        if let Some(files) = getrlimit(Resource::Nofile).current {
            return usize::try_from(files / 4 * 3).unwrap_or(usize::MAX).max(1);
        }
    }
    usize::MAX
}

/// A connection that was admitted. Its slot is freed when this is dropped.
pub struct Admitted {
    connections: Arc<Connections>,
    number: u64,
    slot: Arc<Slot>,
}

impl Admitted {
    /// Begins a request; the connection is busy until the result is dropped.
    pub fn begin(&self) -> Busy {
        self.slot.state().busy += 1;
        Busy(self.slot.clone())
    }

    /// Waits until the connection must be closed: it was replaced, or no request arrived in time.
    pub async fn lost(&self) {
        let patience = self.connections.patience;
        loop {
            let left = match self.slot.waits_since() {
                Some(since) => patience.saturating_sub(since.elapsed()),
                // Checked again before it could have waited too long.
                None => patience,
            };
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = self.slot.expelled.notified() => return,
                () = tokio::time::sleep(left) => {}
            }
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.connections.open().remove(self.number);
    }
}

/// A request in progress.
pub struct Busy(Arc<Slot>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.busy -= 1;
        state.waits_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: u64, per_address: u64) -> (Arc<Connections>, Proxies) {
        let settings = Settings {
            http_max_connections: most,
            http_max_connections_per_address: per_address,
            http_trusted_proxy: vec!["10.0.0.1".to_string()],
            ..Settings::default()
        };
        (Arc::new(Connections::new(&settings)), Proxies::new(&settings))
    }

    fn is_open(connections: &Connections, admitted: &Admitted) -> bool {
        connections.open().slots.contains_key(&admitted.number)
    }

    #[test]
    fn a_new_connection_takes_the_place_of_one_that_waits() {
        let (all, proxies) = connections(4, 2);
        let admit = |last: u8| all.admit(IpAddr::from([192, 0, 2, last]), &proxies);
        let (first, second) = (admit(1).unwrap(), admit(1).unwrap());
        let busy = first.begin();
        let third = admit(1).unwrap();
        assert!(is_open(&all, &first) && !is_open(&all, &second) && is_open(&all, &third));
        // All connections of this address are busy, so it must wait, but other addresses need not.
        let also_busy = third.begin();
        assert!(admit(1).is_none());
        let others = [admit(2).unwrap(), admit(3).unwrap()];
        let _third_other = admit(4).unwrap();
        assert_eq!(others.iter().filter(|admitted| is_open(&all, admitted)).count(), 1);
        drop((busy, also_busy));
        // Now the address with the most connections loses one.
        let _last = admit(5).unwrap();
        assert!(!is_open(&all, &first));
    }

    #[test]
    fn slots_are_free_again_and_proxies_have_no_limit_of_their_own() {
        let (all, proxies) = connections(100, 2);
        let proxy = IpAddr::from([10, 0, 0, 1]);
        let admitted: Vec<Admitted> = (0..50).map(|_| all.admit(proxy, &proxies).unwrap()).collect();
        assert!(admitted.iter().all(|admitted| is_open(&all, admitted)));
        drop(admitted);
        let open = all.open();
        assert!(open.slots.is_empty() && open.by_address.is_empty());
    }
}
