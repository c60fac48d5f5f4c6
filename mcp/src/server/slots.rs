//! Slots for computing programs: how many there are, and which program is next when one becomes free.
//!
//! A program that finds no free slot waits in a queue, where owners take turns: an owner who sends a thousand
//! programs delays those of another by one time slice. A slice can be long if a single operation is. So there
//! is a second set of slots, as many again, for owners who have none: an owner whose slow programs fill the
//! first set delays nobody else. Among programs of one owner, started ones go first and take turns, and the
//! others start in order of arrival: if all started at once, none would end in time. The queue of programs not
//! started yet is bounded. A program that finds it full is refused, unless another owner has more programs in
//! it: then that owner's last program is refused.

use crate::sessions::Owner;
use futures_util::FutureExt;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// All slots of a server. Cheap to clone.
#[derive(Clone)]
pub struct Slots(Arc<Room>);

struct Room {
    count: usize,
    most_waiting: usize,
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    /// Number of slots taken, by owner.
    taken: Vec<(Owner, usize)>,
    /// Waiting programs, by owner; the owner in front is next, and then moves to the end.
    owners: VecDeque<(Owner, OwnLine)>,
}

/// Queue of one owner.
#[derive(Default)]
struct OwnLine {
    begun: VecDeque<Sender<Slot>>,
    new: VecDeque<Sender<Slot>>,
}

/// A slot for running a program. When dropped, it goes to the next program in the queue.
pub struct Slot(Option<(Slots, Owner)>);

/// Error: the queue is full.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Slots {
    /// Creates `count` slots, with a queue of at most `most_waiting`.
    pub fn new(count: usize, most_waiting: usize) -> Slots {
        Slots(Arc::new(Room { count, most_waiting, line: Mutex::default() }))
    }

    /// Returns a slot when it is the owner's turn, unless others need the room in the queue first. Dropping the
    /// future leaves the queue.
    pub fn next(&self, owner: &Owner) -> Result<impl Future<Output = Result<Slot, Full>> + use<>, Full> {
        let mut line = self.line();
        line.leave();
        let must_wait = !line.has_slot_for(owner, self.0.count);
        if must_wait && line.unbegun() >= self.0.most_waiting && !line.make_room_for(owner) {
            return Err(Full);
        }
        let wait = self.join(line, owner, |own| &mut own.new);
        Ok(wait.map(|slot| slot.map_err(|_| Full)))
    }

    /// Returns a slot for a program that has started; unlike in [`Slots::next`], it is never refused.
    pub fn next_of_begun(&self, owner: &Owner) -> impl Future<Output = Slot> + use<> {
        // The sender is dropped only with all slots, and then nobody waits.
        self.join(self.line(), owner, |own| &mut own.begun).map(|slot| slot.unwrap_or(Slot(None)))
    }

    fn join(
        &self,
        mut line: MutexGuard<'_, Line>,
        owner: &Owner,
        part: fn(&mut OwnLine) -> &mut VecDeque<Sender<Slot>>,
    ) -> Receiver<Slot> {
        let (give, wait): (Sender<Slot>, Receiver<Slot>) = channel();
        if line.has_slot_for(owner, self.0.count) {
            line.take(owner);
            drop(line);
            // The receiver cannot be gone: `wait` is still here.
            let _ = give.send(Slot(Some((self.clone(), owner.clone()))));
        } else {
            part(line.of(owner)).push_back(give);
        }
        wait
    }

    /// Returns the number of slots, without those for owners who have none.
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// Returns whether the queue accepts no more programs.
    pub fn is_full(&self) -> bool {
        let mut line = self.line();
        line.leave();
        line.taken() >= self.0.count && line.unbegun() >= self.0.most_waiting
    }

    /// Returns whether other programs must run before this owner's computing program may continue.
    pub fn is_awaited(&self, owner: &Owner) -> bool {
        let mut line = self.line();
        line.leave();
        line.owners.iter().any(|(other, own)| other != owner || !own.begun.is_empty())
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// Returns the number of slots taken.
    fn taken(&self) -> usize {
        self.taken.iter().map(|(_, count)| count).sum()
    }

    /// Returns whether there is a slot for this owner: `count` slots for all, and as many again for owners who
    /// have none.
    fn has_slot_for(&self, owner: &Owner, count: usize) -> bool {
        let taken = self.taken();
        taken < count || (taken < 2 * count && self.taken.iter().all(|(known, _)| known != owner))
    }

    fn take(&mut self, owner: &Owner) {
        match self.taken.iter_mut().find(|(known, _)| known == owner) {
            Some((_, count)) => *count += 1,
            None => self.taken.push((owner.clone(), 1)),
        }
    }

    fn give_back(&mut self, owner: &Owner) {
        if let Some((_, count)) = self.taken.iter_mut().find(|(known, _)| known == owner) {
            *count -= 1;
        }
        self.taken.retain(|(_, count)| *count > 0);
    }

    /// Returns the number of programs waiting to start.
    fn unbegun(&self) -> usize {
        self.owners.iter().map(|(_, own)| own.new.len()).sum()
    }

    /// Refuses the last program of the owner with the most in the queue, if that is more than this owner would
    /// have; returns whether it did.
    fn make_room_for(&mut self, owner: &Owner) -> bool {
        let own = self.owners.iter().find(|(known, _)| known == owner).map_or(0, |(_, own)| own.new.len());
        let longest = self.owners.iter_mut().max_by_key(|(_, line)| line.new.len());
        let Some((_, line)) = longest.filter(|(_, line)| line.new.len() > own + 1) else { return false };
        line.new.pop_back();
        true
    }

    /// Removes programs that have left the queue.
    fn leave(&mut self) {
        self.owners.retain_mut(|(_, own)| {
            own.begun.retain(|give| !give.is_closed());
            own.new.retain(|give| !give.is_closed());
            !own.is_empty()
        });
    }

    fn of(&mut self, owner: &Owner) -> &mut OwnLine {
        let at = match self.owners.iter().position(|(known, _)| known == owner) {
            Some(at) => at,
            None => {
                self.owners.push_back((owner.clone(), OwnLine::default()));
                self.owners.len() - 1
            }
        };
        &mut self.owners[at].1
    }

    /// Takes the next program out of the queue for which there is a slot.
    fn pop(&mut self, count: usize) -> Option<(Owner, Sender<Slot>)> {
        let at = self.owners.iter().position(|(owner, _)| self.has_slot_for(owner, count))?;
        let (owner, mut own) = self.owners.remove(at)?;
        let next = own.begun.pop_front().or_else(|| own.new.pop_front());
        if !own.is_empty() {
            self.owners.push_back((owner.clone(), own));
        }
        next.map(|next| (owner, next))
    }
}

impl OwnLine {
    fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.new.is_empty()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some((slots, owner)) = self.0.take() else { return };
        let mut line = slots.line();
        line.give_back(&owner);
        while let Some((owner, give)) = line.pop(slots.0.count) {
            line.take(&owner);
            drop(line);
            let sent = give.send(Slot(Some((slots.clone(), owner))));
            line = slots.line();
            // The next in the queue may have left. Then the slot comes back, and must not be passed on by a
            // recursive call: a long queue of programs that left would recurse deeply.
            if let Err(mut slot) = sent
                && let Some((_, owner)) = slot.0.take()
            {
                line.give_back(&owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::{Pin, pin};

    fn owner(name: &str) -> Owner {
        Owner::new(name)
    }

    /// Returns one slot taken by one owner, and the additional slot taken by another.
    fn crowded(most_waiting: usize) -> (Slots, Slot, Slot) {
        let slots = Slots::new(1, most_waiting);
        let [first, second] =
            ["a", "z"].map(|name| now(pin!(slots.next(&owner(name)).unwrap())).unwrap().unwrap());
        (slots, first, second)
    }

    /// Returns the slot, if it is available by now.
    fn now<F: Future>(waiting: Pin<&mut F>) -> Option<F::Output> {
        waiting.now_or_never()
    }

    #[test]
    fn owners_take_turns() {
        let (slots, first, second) = crowded(10);
        let mut waiting: Vec<_> = ["a", "a", "a", "b", "c", "b"]
            .map(|name| (name, Box::pin(slots.next(&owner(name)).unwrap())))
            .into();
        let mut order = String::new();
        let mut taken = Some(Ok(first));
        while !waiting.is_empty() {
            drop(taken.take());
            let (at, slot) = waiting
                .iter_mut()
                .enumerate()
                .find_map(|(at, (_, waiting))| Some((at, now(waiting.as_mut())?)))
                .unwrap();
            order.push_str(waiting.remove(at).0);
            taken = Some(slot);
        }
        assert_eq!(order, "abcaba");
        assert_eq!(slots.line().taken(), 2);
        drop((taken, second));
        assert_eq!(slots.line().taken(), 0);
    }

    #[test]
    fn an_owner_who_has_no_slot_does_not_wait_for_one_who_has_all() {
        let slots = Slots::new(2, 10);
        let slot = |name| now(pin!(slots.next(&owner(name)).unwrap())).map(Result::unwrap);
        let slow = [slot("slow").unwrap(), slot("slow").unwrap()];
        assert!(slot("slow").is_none());
        let other = slot("b").unwrap();
        assert!(slot("b").is_none(), "one is enough not to wait");
        let third = slot("c").unwrap();
        assert!(slot("d").is_none(), "there are as many again, and no more");
        // A slot that no other owner needs goes to an owner who has one and waits for more.
        let mut again = pin!(slots.next(&owner("b")).unwrap());
        drop((third, other));
        assert!(now(again.as_mut()).is_some());
        drop(slow);
        assert!(slots.line().owners.is_empty());
    }

    #[test]
    fn the_line_is_bounded_and_those_who_left_do_not_count() {
        let (slots, first, _second) = crowded(2);
        let left = slots.next(&owner("b")).unwrap();
        let mut stays = pin!(slots.next(&owner("b")).unwrap());
        assert!(slots.is_full());
        assert!(slots.next(&owner("b")).is_err());
        drop(left);
        assert!(!slots.is_full());
        let mut last = pin!(slots.next(&owner("c")).unwrap());
        // A program that has started is never refused.
        let mut begun = pin!(slots.next_of_begun(&owner("d")));
        drop(first);
        drop(now(stays.as_mut()).unwrap());
        drop(now(last.as_mut()).unwrap());
        drop(now(begun.as_mut()).unwrap());
        assert!(!slots.is_full());
        assert_eq!(slots.line().taken(), 1);
    }

    #[test]
    fn who_fills_the_line_makes_room_for_others() {
        let (slots, first, _second) = crowded(4);
        let mut greedy: Vec<_> = (0..4).map(|_| Box::pin(slots.next(&owner("a")).unwrap())).collect();
        assert!(slots.next(&owner("a")).is_err(), "it has the most itself");
        let mut other = pin!(slots.next(&owner("b")).unwrap());
        let second = slots.next(&owner("b")).unwrap();
        // Both owners have two now, and neither must give way.
        assert!(slots.next(&owner("b")).is_err());
        let answers: Vec<_> = greedy.iter_mut().map(|waiting| now(waiting.as_mut())).collect();
        assert!(
            matches!(answers[..], [None, None, Some(Err(Full)), Some(Err(Full))]),
            "the last are turned away"
        );
        drop(second);
        drop(first);
        drop(now(greedy[0].as_mut()).unwrap());
        assert!(now(other.as_mut()).unwrap().is_ok());
    }

    #[test]
    fn those_who_have_begun_go_first_among_their_own() {
        let (slots, first, _second) = crowded(10);
        assert!(!slots.is_awaited(&owner("a")));
        let mut new = pin!(slots.next(&owner("a")).unwrap());
        // The waiting program of this owner would not be next.
        assert!(!slots.is_awaited(&owner("a")));
        let mut begun = pin!(slots.next_of_begun(&owner("a")));
        assert!(slots.is_awaited(&owner("a")));
        let mut other = pin!(slots.next(&owner("b")).unwrap());
        drop(first);
        let slot = now(begun.as_mut()).unwrap();
        assert!(slots.is_awaited(&owner("a")) && slots.is_awaited(&owner("b")));
        drop(slot);
        drop(now(other.as_mut()).unwrap());
        drop(now(new.as_mut()).unwrap());
        assert!(!slots.is_awaited(&owner("c")));
    }

    #[test]
    fn a_place_passes_by_those_who_left() {
        let (slots, first, _second) = crowded(100_000);
        for _ in 0..50 {
            drop(slots.next(&owner("a")).unwrap());
        }
        let gone: Vec<_> = (0..1_000).map(|_| slots.next_of_begun(&owner("b"))).collect();
        drop(gone);
        drop(first);
        assert_eq!(slots.line().taken(), 1);
    }
}
