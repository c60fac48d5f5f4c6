//! A run that computes in slices of time, with others in between, gives the same result as in one go.

use futures_util::future::join;
use ptc_runtime::{Grants, Limits, Pool, Runtime, Schedule, SliceFuture, Tools, Work};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A schedule with the shortest possible slices: a run pauses whenever it can.
#[derive(Default)]
struct Shortest {
    slices: AtomicUsize,
    pool: Option<Arc<Pool>>,
}

impl Schedule for Shortest {
    fn run(&self, work: Work) -> SliceFuture<'_> {
        self.slices.fetch_add(1, Relaxed);
        Box::pin(async {
            yield_now().await;
            drop(work());
        })
    }

    fn slice(&self) -> Duration {
        Duration::ZERO
    }

    fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref()
    }
}

fn runtime(limits: Limits) -> Runtime {
    let tools = Tools::new().with("twice", |args| Ok(2 * args.json()?["n"].as_i64().unwrap_or(0)));
    Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits).with_tools(tools)
}

/// Describes a run as its host sees it, and counts its slices.
fn seen(runtime: &Runtime, source: &str, is_sliced: bool) -> (String, usize) {
    let schedule = Arc::new(Shortest::default());
    let mut run = runtime.start_with(&runtime.compile(source).unwrap(), &Grants::new()).unwrap();
    if is_sliced {
        run = run.scheduled(schedule.clone());
    }
    let told = match pollster::block_on(run.finish_async()) {
        Ok(outcome) => format!(
            "{} prints={:?} fuel={} calls={}",
            outcome.print().unwrap(),
            outcome.prints,
            outcome.fuel,
            outcome.tool_calls
        ),
        Err(failure) => format!("{failure} prints={:?} fuel={}", failure.prints, failure.fuel),
    };
    (told, schedule.slices.load(Relaxed))
}

const PROGRAMS: &[&str] = &[
    "(loop [i 0 sum 0] (if (= i 200000) sum (recur (inc i) (+ sum i))))",
    // One loop, which pauses half way; the second is given up at its last element.
    "(->> (range 60000) (map #(* % %)) (filter #(= 0 (mod % 3))) (reduce (fn [a x] (+ a x)) 0))",
    "(->> (conj (vec (range 60000)) nil) (map #(if % (inc %) %)) (map #(* 2 %)) (reduce (fn [a x] (+ a x)) 0))",
    "(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 22)",
    "(count (for [a (range 300) b (range 300) :when (= 0 (mod (+ a b) 7))] [a b]))",
    "(reduce (fn [m i] (assoc m (mod i 97) i)) {} (range 60000))",
    "(sort-by (fn [n] (- (mod (* n 7919) 10007))) (range 5000))",
    "(take 3 (drop 20000 (iterate (fn [n] (mod (+ n 12345) 99991)) 1)))",
    "(transduce (comp (map inc) (filter even?)) + (range 50000))",
    "(doseq [i (range 30000)] (when (= 0 (mod i 9999)) (println i)))",
    "(loop [i 0 all []] (if (= i 40000) (count all) (recur (inc i) (conj all (str \"row \" i)))))",
    // Branches, branches of branches, and calls between computations.
    "(pmap (fn [k] (reduce + (map (fn [n] (mod (* n k) 13)) (range 20000)))) (range 12))",
    "(pmap (fn [k] (pmap (fn [j] (loop [i 0] (if (< i 9000) (recur (inc i)) (* k j)))) (range 4))) (range 4))",
    "(pmap (fn [n] (let [a (reduce + (range 30000)) b (tool/twice {:n n})] (+ a b (reduce max (range 30000))))) (range 9))",
    "(loop [i 0 sum 0] (if (= i 20) sum (recur (inc i) (+ sum (tool/twice {:n i}) (reduce (fn [a b] (+ a b)) 0 (range 5000))))))",
    // Runs with other endings.
    "(loop [i 0] (if (= i 90000) (+ i nil) (recur (inc i))))",
    "(loop [i 0] (if (= i 90000) (fail {:at i}) (recur (inc i))))",
    "(pmap (fn [k] (loop [i 0] (if (= i 30000) (if (= k 3) (+ k nil) k) (recur (inc i))))) (range 8))",
    "(loop [i 0] (recur (inc i)))",
    "(loop [all []] (recur (conj all [all (str (count all))])))",
    "(defn deep [n] (+ 1 (deep n))) (deep 1)",
    "(pmap (fn [k] (loop [i 0 all []] (recur (inc i) (conj all [i k])))) (range 3))",
];

#[test]
fn slices_change_nothing_but_the_order_of_work() {
    let runtime = runtime(Limits {
        fuel: 3_000_000,
        memory_bytes: 4_000_000,
        timeout_ms: 600_000,
        ..Limits::default()
    });
    for source in PROGRAMS {
        let (whole, _) = seen(&runtime, source, false);
        let (sliced, slices) = seen(&runtime, source, true);
        assert_eq!(sliced, whole, "{source}");
        assert!(slices > 2, "{source} took {slices} slices: {whole}");
    }
}

#[test]
fn a_long_run_lets_others_pass() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let runtime = runtime(Limits { fuel: 100_000_000, timeout_ms: 600_000, ..Limits::default() });
    let start = |source: &str| {
        let run = runtime.start(&runtime.compile(source).unwrap()).unwrap();
        run.scheduled(Arc::new(Shortest::default()))
    };
    let (long, short) = (start("(reduce (fn [a b] (+ a b)) 0 (range 2000000))"), start("(+ 1 2)"));
    let ended = |name: &'static str, run: ptc_runtime::Run| {
        let order = order.clone();
        async move {
            run.finish_async().await.unwrap();
            order.lock().unwrap().push(name);
        }
    };
    // One thread polls both, and computes for both.
    pollster::block_on(join(ended("long", long), ended("short", short)));

    assert_eq!(*order.lock().unwrap(), ["short", "long"]);
}

async fn yield_now() {
    let mut is_second = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut is_second, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[test]
fn a_run_that_pauses_or_waits_reserves_what_it_holds() {
    const MEMORY: u64 = 4_000_000;
    let runtime = runtime(Limits { memory_bytes: MEMORY, timeout_ms: 600_000, ..Limits::default() });
    let start = |pool: &Arc<Pool>| {
        let source = "(let [rows (mapv inc (range 50000))] (loop [i 0] (if (< i 90000) (recur (inc i)) (count rows))))";
        let schedule = Shortest { pool: Some(pool.clone()), ..Shortest::default() };
        runtime.start(&runtime.compile(source).unwrap()).unwrap().scheduled(Arc::new(schedule))
    };
    let pool = Pool::new(2 * MEMORY);
    // While computing it holds its rows, which is less than its maximum.
    let mut paused = start(&pool);
    while pool.used() < 800_000 {
        assert!(paused.slice().is_none(), "{}", pool.used());
    }
    assert!(pool.used() < MEMORY);
    // Meanwhile others have room.
    assert_eq!(start(&pool).finish().unwrap().print().unwrap(), "50000");
    assert_eq!(paused.finish().unwrap().print().unwrap(), "50000");
    assert_eq!(pool.used(), 0);
}

/// Schedule that checks the pool whenever a slice begins.
struct Watched {
    pool: Arc<Pool>,
    most: AtomicU64,
}

impl Schedule for Watched {
    fn run(&self, work: Work) -> SliceFuture<'_> {
        self.most.fetch_max(self.pool.used(), Relaxed);
        Box::pin(async { drop(work()) })
    }

    fn slice(&self) -> Duration {
        Duration::ZERO
    }

    fn pool(&self) -> Option<&Arc<Pool>> {
        Some(&self.pool)
    }
}

#[test]
fn branches_that_are_paused_hold_no_more_than_those_that_are_not() {
    const MEMORY: u64 = 4_000_000;
    let runtime = runtime(Limits {
        memory_bytes: MEMORY,
        fuel: 1_000_000_000,
        timeout_ms: 600_000,
        ..Limits::default()
    });
    let source = "(reduce + (pmap (fn [k] (loop [i 0 all []] (if (= i 30000) (count all) (recur (inc i) (conj all [i k]))))) (range 200)))";
    let watched = Arc::new(Watched { pool: Pool::new(1 << 40), most: AtomicU64::new(0) });
    let run = runtime.start(&runtime.compile(source).unwrap()).unwrap().scheduled(watched.clone());
    assert_eq!(pollster::block_on(run.finish_async()).unwrap().print().unwrap(), "6000000");
    let most = watched.most.load(Relaxed);
    // Each branch grows to about 3 MB, and branches that compute side by side may all do so.
    let allowed = MEMORY * (2 + rayon::current_num_threads() as u64);
    assert!(most > MEMORY / 2 && most < allowed, "{most} bytes where {allowed} are allowed");
}
