//! Pipeline of one feeder, several workers and one taker, with bounded queues between them.
//!
//! To keep the order, every task brings its own channel for its results, and the taker empties these channels in the
//! order the tasks were fed. A worker ahead of the taker waits when its channel is full, so nothing piles up behind one
//! slow task.

use crate::watch::Cancel;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which a waiting thread checks whether to continue waiting.
const LOOK: Duration = Duration::from_millis(20);
/// Maximum parts of one task that wait for the taker.
const PARTS: usize = 2;

/// Signal for all threads to end, set when the taker is done or the host cancels.
#[derive(Clone)]
pub(super) struct Stop {
    ended: Arc<AtomicBool>,
    cancel: Cancel,
}

impl Stop {
    pub fn new(cancel: &Cancel) -> Stop {
        Stop { ended: Arc::default(), cancel: cancel.clone() }
    }

    pub fn is_set(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    pub fn set(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// A part of a task's results.
enum Part<M> {
    More(M),
    Last(M),
}

struct Task<J, M> {
    job: J,
    /// Channel for the parts; None for the channel all workers share.
    reply: Option<SyncSender<Part<M>>>,
}

type Ordered<M> = Receiver<Receiver<Part<M>>>;

/// Entrance of the job queue.
pub(super) struct Feed<J, M> {
    tasks: SyncSender<Task<J, M>>,
    order: Option<SyncSender<Receiver<Part<M>>>>,
    fed: Arc<AtomicU64>,
}

impl<J, M> Feed<J, M> {
    /// Hands over a job, waiting while the queue is full; false once the pipeline has ended.
    pub fn send(&self, job: J) -> bool {
        self.fed.fetch_add(1, Ordering::Release);
        let Some(order) = &self.order else {
            return self.tasks.send(Task { job, reply: None }).is_ok();
        };
        let (reply, parts) = sync_channel(PARTS);
        self.tasks.send(Task { job, reply: Some(reply) }).is_ok() && order.send(parts).is_ok()
    }
}

/// Exit of the job queue.
pub(super) struct Queue<J, M> {
    tasks: Receiver<Task<J, M>>,
    order: Option<Ordered<M>>,
    threads: usize,
    fed: Arc<AtomicU64>,
}

/// Makes both ends of a queue for this many workers.
pub(super) fn queue<J, M>(threads: usize, ordered: bool) -> (Feed<J, M>, Queue<J, M>) {
    let (tasks_in, tasks) = sync_channel(2 * threads);
    let (order_in, order) = sync_channel(4 * threads);
    let (order_in, order) = if ordered { (Some(order_in), Some(order)) } else { (None, None) };
    let fed = Arc::<AtomicU64>::default();
    (Feed { tasks: tasks_in, order: order_in, fed: fed.clone() }, Queue { tasks, order, threads, fed })
}

/// Output of a worker for the parts of a job; returns false once no more are wanted.
pub(super) struct Give<'a, M>(&'a dyn Fn(Part<M>) -> bool);

impl<M> Give<'_, M> {
    /// Delivers a part that is not the last.
    pub fn more(&self, made: M) -> bool {
        (self.0)(Part::More(made))
    }

    /// Delivers the last part of a job. A job that ends without it was cut short.
    pub fn last(&self, made: M) -> bool {
        (self.0)(Part::Last(made))
    }
}

impl<J: Send, M: Send> Queue<J, M> {
    /// Runs the workers until the feeder is done or `stop` is set. `worker` makes the state of one thread, `work`
    /// uses it on a job. True if every job fed was finished and taken.
    pub fn drain<W>(
        self,
        stop: &Stop,
        worker: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, J, &Give<'_, M>) + Sync,
        mut take: impl FnMut(M) -> ControlFlow<()>,
        idle: impl FnMut() -> ControlFlow<()>,
    ) -> bool {
        let Queue { tasks, order, threads, fed } = self;
        let (shared, parts) = sync_channel(PARTS * threads);
        let tasks = Arc::new(Mutex::new(tasks));
        let alive = AtomicUsize::new(threads);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (tasks, shared, stop) = (tasks.clone(), shared.clone(), stop.clone());
                let (worker, work, alive) = (&worker, &work, &alive);
                scope.spawn(move || {
                    let _left = Left(alive);
                    let mut state = worker();
                    while let Some(Task { job, reply }) = next_task(&tasks, &stop) {
                        let reply = reply.as_ref().unwrap_or(&shared);
                        work(&mut state, job, &Give(&|part| reply.send(part).is_ok()));
                    }
                });
            }
            // The workers own clones now: when the last worker ends, the channels close.
            drop((tasks, shared));
            let gone = || stop.is_set() && alive.load(Ordering::Acquire) == 0;
            let idle = RefCell::new(idle);
            let mut finished = 0;
            // Takes the parts of one task, or of all; false once there are no more.
            let mut take_from = |parts: &Receiver<Part<M>>, one: bool| loop {
                let Some(part) = eager(parts, &mut || idle.borrow_mut()(), &gone) else { return false };
                let (made, last) = match part {
                    Part::More(made) => (made, false),
                    Part::Last(made) => (made, true),
                };
                if take(made).is_break() {
                    return false;
                }
                finished += u64::from(last);
                if last && one {
                    return true;
                }
            };
            match order {
                None => {
                    take_from(&parts, false);
                }
                Some(order) => {
                    while let Some(parts) = eager(&order, &mut || idle.borrow_mut()(), &gone) {
                        if !take_from(&parts, true) {
                            break;
                        }
                    }
                }
            }
            stop.set();
            // Workers that still send learn that the receiver is gone.
            drop(parts);
            finished == fed.load(Ordering::Acquire)
        })
    }
}

/// Guard that counts a worker out, even if it panics.
struct Left<'a>(&'a AtomicUsize);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

fn next_task<J, M>(tasks: &Mutex<Receiver<Task<J, M>>>, stop: &Stop) -> Option<Task<J, M>> {
    let tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
    if stop.is_set() { None } else { receive(&tasks, &|| stop.is_set()) }
}

/// Receives like [`receive`], but calls `idle` before it blocks.
fn eager<T>(
    channel: &Receiver<T>,
    idle: &mut impl FnMut() -> ControlFlow<()>,
    gone: &impl Fn() -> bool,
) -> Option<T> {
    match channel.try_recv() {
        Ok(item) => Some(item),
        Err(_) if idle().is_break() => None,
        Err(_) => receive(channel, gone),
    }
}

/// Receives the next item of a channel; None when it is closed, or when it is empty and `gone`.
fn receive<T>(channel: &Receiver<T>, gone: &impl Fn() -> bool) -> Option<T> {
    loop {
        match channel.recv_timeout(LOOK) {
            Ok(item) => return Some(item),
            Err(RecvTimeoutError::Disconnected) => return None,
            // Items sent before the last sender was dropped are still in the channel.
            Err(RecvTimeoutError::Timeout) if gone() => return channel.try_recv().ok(),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
