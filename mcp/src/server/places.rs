//! Places for programs that compute: how many there are, and who is next when one comes free.
//!
//! A program that finds none waits in line, and owners take turns: one that sends a thousand programs delays those of
//! another by a slice of time. A slice can be long where one operation is. So there are as many places again, for owners
//! who have none: an owner whose slow programs have all the others delays nobody else. Of one owner, programs that have
//! begun go first and take turns, and the others begin in the order in which they came: if all began at once, none would
//! end in time. The line of those that have not begun is bounded. A program that finds it full is told to come back, unless
//! another owner has more in it: then it is that owner's last program that is told.

use crate::sessions::Owner;
use futures_util::FutureExt;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// All places of a server. Cheap to clone.
#[derive(Clone)]
pub struct Places(Arc<Room>);

struct Room {
    count: usize,
    most_waiting: usize,
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    /// Places that are taken, by who has them.
    taken: Vec<(Owner, usize)>,
    /// Who waits, by owner; the owner in front is next, and then goes to the end.
    owners: VecDeque<(Owner, OwnLine)>,
}

/// Those of one owner.
#[derive(Default)]
struct OwnLine {
    begun: VecDeque<Sender<Place>>,
    new: VecDeque<Sender<Place>>,
}

/// The right to run a program. Dropped, it goes to whoever is next.
pub struct Place(Option<(Places, Owner)>);

/// The line is full.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Places {
    /// So many places, and so many who may wait for one.
    pub fn new(count: usize, most_waiting: usize) -> Places {
        Places(Arc::new(Room { count, most_waiting, line: Mutex::default() }))
    }

    /// A place as soon as it is the owner's turn, unless others need the room in the line first. Who drops the future leaves
    /// the line.
    pub fn next(&self, owner: &Owner) -> Result<impl Future<Output = Result<Place, Full>> + use<>, Full> {
        let mut line = self.line();
        line.leave();
        let must_wait = !line.has_place_for(owner, self.0.count);
        if must_wait && line.unbegun() >= self.0.most_waiting && !line.make_room_for(owner) {
            return Err(Full);
        }
        let wait = self.join(line, owner, |own| &mut own.new);
        Ok(wait.map(|place| place.map_err(|_| Full)))
    }

    /// As [`Places::next`], for a program that has begun: it is never turned away.
    pub fn next_of_begun(&self, owner: &Owner) -> impl Future<Output = Place> + use<> {
        // Its sender is only dropped with all places, and then nobody waits.
        self.join(self.line(), owner, |own| &mut own.begun).map(|place| place.unwrap_or(Place(None)))
    }

    fn join(
        &self,
        mut line: MutexGuard<'_, Line>,
        owner: &Owner,
        part: fn(&mut OwnLine) -> &mut VecDeque<Sender<Place>>,
    ) -> Receiver<Place> {
        let (give, wait): (Sender<Place>, Receiver<Place>) = channel();
        if line.has_place_for(owner, self.0.count) {
            line.take(owner);
            drop(line);
            // Nobody can have left: `wait` is at hand.
            let _ = give.send(Place(Some((self.clone(), owner.clone()))));
        } else {
            part(line.of(owner)).push_back(give);
        }
        wait
    }

    /// The number of places, without those for owners who have none.
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// Whether nobody may join the line.
    pub fn is_full(&self) -> bool {
        let mut line = self.line();
        line.leave();
        line.taken() >= self.0.count && line.unbegun() >= self.0.most_waiting
    }

    /// Whether others wait whose turn it is before that of a program of this owner's which computes.
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
    /// The number of places that are taken.
    fn taken(&self) -> usize {
        self.taken.iter().map(|(_, count)| count).sum()
    }

    /// Whether there is a place for this owner. `count` are for all, and as many again for owners who have none.
    fn has_place_for(&self, owner: &Owner, count: usize) -> bool {
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

    /// The number of those that wait to begin.
    fn unbegun(&self) -> usize {
        self.owners.iter().map(|(_, own)| own.new.len()).sum()
    }

    /// Turns away the last of whoever has the most in line, if that is more than this owner would have; whether it did.
    fn make_room_for(&mut self, owner: &Owner) -> bool {
        let own = self.owners.iter().find(|(known, _)| known == owner).map_or(0, |(_, own)| own.new.len());
        let longest = self.owners.iter_mut().max_by_key(|(_, line)| line.new.len());
        let Some((_, line)) = longest.filter(|(_, line)| line.new.len() > own + 1) else { return false };
        line.new.pop_back();
        true
    }

    /// Forgets those who have left.
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

    /// Takes the next one out of the line for whom there is a place.
    fn pop(&mut self, count: usize) -> Option<(Owner, Sender<Place>)> {
        let at = self.owners.iter().position(|(owner, _)| self.has_place_for(owner, count))?;
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

impl Drop for Place {
    fn drop(&mut self) {
        let Some((places, owner)) = self.0.take() else { return };
        let mut line = places.line();
        line.give_back(&owner);
        while let Some((owner, give)) = line.pop(places.0.count) {
            line.take(&owner);
            drop(line);
            let sent = give.send(Place(Some((places.clone(), owner))));
            line = places.line();
            // The next in line may have left. Then the place comes back and must not go through here again: a long line of
            // those who left would be a deep recursion.
            if let Err(mut place) = sent
                && let Some((_, owner)) = place.0.take()
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

    /// One place, which somebody has, and the one for others, which somebody else has.
    fn crowded(most_waiting: usize) -> (Places, Place, Place) {
        let places = Places::new(1, most_waiting);
        let [first, second] =
            ["a", "z"].map(|name| now(pin!(places.next(&owner(name)).unwrap())).unwrap().unwrap());
        (places, first, second)
    }

    /// The place, if it is there by now.
    fn now<F: Future>(waiting: Pin<&mut F>) -> Option<F::Output> {
        waiting.now_or_never()
    }

    #[test]
    fn owners_take_turns() {
        let (places, first, second) = crowded(10);
        let mut waiting: Vec<_> = ["a", "a", "a", "b", "c", "b"]
            .map(|name| (name, Box::pin(places.next(&owner(name)).unwrap())))
            .into();
        let mut order = String::new();
        let mut taken = Some(Ok(first));
        while !waiting.is_empty() {
            drop(taken.take());
            let (at, place) = waiting
                .iter_mut()
                .enumerate()
                .find_map(|(at, (_, waiting))| Some((at, now(waiting.as_mut())?)))
                .unwrap();
            order.push_str(waiting.remove(at).0);
            taken = Some(place);
        }
        assert_eq!(order, "abcaba");
        assert_eq!(places.line().taken(), 2);
        drop((taken, second));
        assert_eq!(places.line().taken(), 0);
    }

    #[test]
    fn an_owner_who_has_no_place_does_not_wait_for_one_who_has_all() {
        let places = Places::new(2, 10);
        let place = |name| now(pin!(places.next(&owner(name)).unwrap())).map(Result::unwrap);
        let slow = [place("slow").unwrap(), place("slow").unwrap()];
        assert!(place("slow").is_none());
        let other = place("b").unwrap();
        assert!(place("b").is_none(), "one is enough not to wait");
        let third = place("c").unwrap();
        assert!(place("d").is_none(), "there are as many again, and no more");
        // A place that others do not need goes to an owner who has one and waits for more.
        let mut again = pin!(places.next(&owner("b")).unwrap());
        drop((third, other));
        assert!(now(again.as_mut()).is_some());
        drop(slow);
        assert!(places.line().owners.is_empty());
    }

    #[test]
    fn the_line_is_bounded_and_those_who_left_do_not_count() {
        let (places, first, _second) = crowded(2);
        let left = places.next(&owner("b")).unwrap();
        let mut stays = pin!(places.next(&owner("b")).unwrap());
        assert!(places.is_full());
        assert!(places.next(&owner("b")).is_err());
        drop(left);
        assert!(!places.is_full());
        let mut last = pin!(places.next(&owner("c")).unwrap());
        // A program that has begun is never turned away.
        let mut begun = pin!(places.next_of_begun(&owner("d")));
        drop(first);
        drop(now(stays.as_mut()).unwrap());
        drop(now(last.as_mut()).unwrap());
        drop(now(begun.as_mut()).unwrap());
        assert!(!places.is_full());
        assert_eq!(places.line().taken(), 1);
    }

    #[test]
    fn who_fills_the_line_makes_room_for_others() {
        let (places, first, _second) = crowded(4);
        let mut greedy: Vec<_> = (0..4).map(|_| Box::pin(places.next(&owner("a")).unwrap())).collect();
        assert!(places.next(&owner("a")).is_err(), "it has the most itself");
        let mut other = pin!(places.next(&owner("b")).unwrap());
        let second = places.next(&owner("b")).unwrap();
        // Both have two now, and nobody has to give way.
        assert!(places.next(&owner("b")).is_err());
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
        let (places, first, _second) = crowded(10);
        assert!(!places.is_awaited(&owner("a")));
        let mut new = pin!(places.next(&owner("a")).unwrap());
        // It would not be its turn.
        assert!(!places.is_awaited(&owner("a")));
        let mut begun = pin!(places.next_of_begun(&owner("a")));
        assert!(places.is_awaited(&owner("a")));
        let mut other = pin!(places.next(&owner("b")).unwrap());
        drop(first);
        let place = now(begun.as_mut()).unwrap();
        assert!(places.is_awaited(&owner("a")) && places.is_awaited(&owner("b")));
        drop(place);
        drop(now(other.as_mut()).unwrap());
        drop(now(new.as_mut()).unwrap());
        assert!(!places.is_awaited(&owner("c")));
    }

    #[test]
    fn a_place_passes_by_those_who_left() {
        let (places, first, _second) = crowded(100_000);
        for _ in 0..50 {
            drop(places.next(&owner("a")).unwrap());
        }
        let gone: Vec<_> = (0..1_000).map(|_| places.next_of_begun(&owner("b"))).collect();
        drop(gone);
        drop(first);
        assert_eq!(places.line().taken(), 1);
    }
}
