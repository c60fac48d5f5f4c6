//! A model check: two processes have the same run, each may be killed at any time and start again, answers may be lost or
//! late, and an operator settles what is unknown. All orders of these steps are tried, with the rules of [`Book`].

use ptc_effects::{Begun, Book, EffectId, Intent, Outcome, Record, State, Verdict};
use serde_json::json;
use stateright::{Checker, Model, Property};
use std::hash::{Hash, Hasher};

/// Processes with the run.
const PROCESSES: usize = 2;

/// How often a process may start again.
const RESTARTS: u8 = 2;

/// How often the operator settles the call.
const SETTLES: u8 = 2;

/// Where a process is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Ready,
    /// The ledger said to send.
    Sending(u32),
    /// The call is on its way, or its answer is.
    Waiting(u32),
    /// The answer arrived.
    Answered(u32),
    /// The program knows what came of the call, or that this is unknown.
    Told,
}

/// A call on its way. It outlives the process that sent it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Flight {
    attempt: u32,
    is_done: bool,
}

#[derive(Clone, Debug)]
struct World {
    book: Book,
    places: [Place; PROCESSES],
    restarts: [u8; PROCESSES],
    flights: Vec<Flight>,
    /// How often the call had its effect.
    effects: u8,
    settles: u8,
    /// True if the operator said "not done" of a call that was still on its way: a mistake that no ledger can prevent.
    is_misjudged: bool,
}

/// What can be seen of a ledger: all but the times.
type Seen = Option<(State, u32, bool, bool)>;

impl World {
    fn seen(&self) -> Seen {
        let entry = self.book.get(&id())?;
        Some((entry.state, entry.attempts, entry.is_settled, entry.is_doubtful))
    }

    fn key(&self) -> impl PartialEq + Hash + '_ {
        let (state, attempts, settled, doubtful) = self
            .seen()
            .map_or((None, 0, false, false), |(state, n, settled, doubt)| (Some(state), n, settled, doubt));
        (
            (state, attempts, settled, doubtful),
            (self.places, self.restarts, self.flights.as_slice()),
            (self.effects, self.settles, self.is_misjudged),
        )
    }

    fn write(&mut self, record: Option<Record>) {
        if let Some(record) = record {
            self.book.apply(record).expect("it follows");
        }
    }
}

impl PartialEq for World {
    fn eq(&self, other: &World) -> bool {
        self.key() == other.key()
    }
}

impl Eq for World {}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    Begin(usize),
    Send(usize),
    /// The call of this flight has its effect.
    Effect(usize),
    /// The answer of this flight arrives at its process, if that still waits.
    Arrive(usize),
    /// Neither the call nor its answer gets there.
    Lose(usize),
    /// A process gives up waiting.
    GiveUp(usize),
    End(usize),
    Kill(usize),
    Settle(bool),
}

fn id() -> EffectId {
    EffectId::new("run", "1")
}

fn intent() -> Intent {
    Intent::new(id(), "pay", json!({"eur": 5}))
}

struct Protocol;

impl Model for Protocol {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            book: Book::default(),
            places: [Place::Ready; PROCESSES],
            restarts: [0; PROCESSES],
            flights: Vec::new(),
            effects: 0,
            settles: 0,
            is_misjudged: false,
        }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        for (process, place) in world.places.iter().enumerate() {
            match place {
                Place::Ready => steps.push(Step::Begin(process)),
                Place::Sending(_) => steps.push(Step::Send(process)),
                Place::Waiting(_) => steps.push(Step::GiveUp(process)),
                Place::Answered(_) => steps.push(Step::End(process)),
                Place::Told => {}
            }
            if world.restarts[process] < RESTARTS {
                steps.push(Step::Kill(process));
            }
        }
        for (flight, Flight { is_done, .. }) in world.flights.iter().enumerate() {
            steps.push(Step::Lose(flight));
            steps.push(if *is_done { Step::Arrive(flight) } else { Step::Effect(flight) });
        }
        if world.settles < SETTLES && world.seen().is_some_and(|(state, ..)| state.is_open()) {
            // The operator looks at what the tool did.
            steps.push(Step::Settle(world.effects > 0));
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Begin(process) => {
                let (begun, record) = next.book.begin(&intent());
                next.write(record);
                next.places[process] = match begun {
                    Begun::Send { attempt } => Place::Sending(attempt),
                    _ => Place::Told,
                };
            }
            Step::Send(process) => {
                let Place::Sending(attempt) = next.places[process] else { return None };
                next.flights.push(Flight { attempt, is_done: false });
                next.flights.sort();
                next.places[process] = Place::Waiting(attempt);
            }
            Step::Effect(flight) => {
                next.effects += 1;
                next.flights[flight].is_done = true;
                next.flights.sort();
            }
            Step::Arrive(flight) => {
                let Flight { attempt, .. } = next.flights.remove(flight);
                match next.places.iter().position(|place| *place == Place::Waiting(attempt)) {
                    Some(process) => next.places[process] = Place::Answered(attempt),
                    // Late: its run has ended or given up, and what is left of it writes the answer down.
                    None => {
                        let record = next.book.end(&id(), attempt, Outcome::done(json!("paid")));
                        next.write(record);
                    }
                }
            }
            Step::Lose(flight) => {
                next.flights.remove(flight);
            }
            Step::GiveUp(process) => {
                let record = next.book.abandon(&id(), "no answer".to_string());
                next.write(record);
                next.places[process] = Place::Told;
            }
            Step::End(process) => {
                let Place::Answered(attempt) = next.places[process] else { return None };
                let record = next.book.end(&id(), attempt, Outcome::done(json!("paid")));
                next.write(record);
                next.places[process] = Place::Told;
            }
            Step::Kill(process) => {
                next.places[process] = Place::Ready;
                next.restarts[process] += 1;
            }
            Step::Settle(is_done) => {
                next.settles += 1;
                let under_way = next.flights.iter().any(|flight| !flight.is_done)
                    || next.places.iter().any(|place| matches!(place, Place::Sending(_)));
                next.is_misjudged |= !is_done && under_way;
                let verdict = if is_done { Verdict::Done { answer: json!(null) } } else { Verdict::NotDone };
                let record = next.book.settle(&id(), verdict).expect("it is open");
                next.write(Some(record));
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Protocol>> {
        vec![
            Property::always("nothing is done twice", |_, world: &World| {
                world.effects <= 1 || world.is_misjudged
            }),
            Property::always("nothing is done that the ledger does not have", |_, world: &World| {
                world.effects == 0 || world.seen().is_some()
            }),
            Property::always("what is done is not called refused or not done", |_, world: &World| {
                let denied =
                    |(state, ..): (State, u32, bool, bool)| matches!(state, State::NotDone | State::Refused);
                world.effects == 0 || world.is_misjudged || !world.seen().is_some_and(denied)
            }),
            Property::always("what is called done was done", |_, world: &World| {
                world.effects > 0 || !world.seen().is_some_and(|(state, ..)| state == State::Done)
            }),
            Property::sometimes("a call is done after it was not", |_, world: &World| {
                world.seen().is_some_and(|(state, attempts, ..)| state == State::Done && attempts > 1)
            }),
            Property::sometimes("an unknown call is settled by a late answer", |_, world: &World| {
                world.places.iter().all(|place| *place == Place::Told)
                    && world.seen().is_some_and(|(state, _, settled, _)| state == State::Done && !settled)
            }),
        ]
    }
}

#[test]
fn in_every_order_of_faults_nothing_is_done_twice() {
    let checker = Protocol.checker().spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    assert!(checker.unique_state_count() > 1_000);
    checker.assert_properties();
}
