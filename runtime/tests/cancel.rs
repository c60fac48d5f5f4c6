//! Runs that are cancelled from outside, wherever they are, and tools that panic.

use ptc_runtime::{
    Batch, Cancel, Driven, Failure, Grants, Outcome, Run, Runtime, ToolAnswer, ToolError, ToolFuture, Tools,
    until_held,
};
use std::future::{Future, pending};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn runtime(tools: Tools) -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools)
}

fn start(tools: Tools, source: &str, cancel: &Cancel) -> Run {
    let runtime = runtime(tools);
    let program = runtime.compile(source).unwrap();
    runtime.start_with(&program, &Grants::new().cancel(cancel)).unwrap()
}

/// Function that takes a run to its end, blocking or async.
type Finish = fn(Run) -> Result<Outcome, Failure>;
const WAYS: [Finish; 2] = [Run::finish, |run| pollster::block_on(run.finish_async())];

/// Runs `work`, which must end long before the tools in it would.
fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = channel();
    std::thread::spawn(move || done.send(work()));
    wait.recv_timeout(Duration::from_secs(20)).expect("it did not come back")
}

/// Makes a tool that cancels and one that counts its calls.
fn cancelling(cancel: &Cancel, calls: &Arc<AtomicU32>) -> [Tools; 2] {
    let (blocking, other) = (cancel.clone(), cancel.clone());
    let (count, other_count) = (calls.clone(), calls.clone());
    [
        Tools::new()
            .with("stop", move |_| {
                blocking.cancel();
                Ok(1)
            })
            .with("next", move |_| Ok(count.fetch_add(1, Ordering::Relaxed))),
        Tools::new()
            .with_async("stop", move |_| {
                other.cancel();
                async { Ok(1) }
            })
            .with_async("next", move |_| {
                other_count.fetch_add(1, Ordering::Relaxed);
                async { Ok(1) }
            }),
    ]
}

#[test]
fn no_call_begins_after_a_cancellation() {
    for source in [
        "(tool/stop {}) (tool/next {}) (tool/next {})",
        "(tool/stop {})",
        "(pmap (fn [_] (tool/stop {})) [1])",
    ] {
        for finish in WAYS {
            for which in 0..2 {
                let (cancel, calls) = (Cancel::new(), Arc::new(AtomicU32::new(0)));
                let [blocking, asynchronous] = cancelling(&cancel, &calls);
                let tools = if which == 0 { blocking } else { asynchronous };
                let failure = finish(start(tools, source, &cancel)).err().unwrap();
                assert_eq!(failure.reason(), "cancelled", "{source}");
                assert_eq!(calls.load(Ordering::Relaxed), 0, "{source}");
            }
        }
    }
}

#[test]
fn branches_behind_a_cancellation_make_no_call() {
    for finish in WAYS {
        let (cancel, calls) = (Cancel::new(), Arc::new(AtomicU32::new(0)));
        let [_, tools] = cancelling(&cancel, &calls);
        let source = "(pmap (fn [i] (if (= i 0) (tool/stop {}) (tool/next {}))) (range 30))";
        assert_eq!(finish(start(tools, source, &cancel)).err().unwrap().reason(), "cancelled");
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn an_approved_call_behind_a_cancellation_is_not_made() {
    let (cancel, calls) = (Cancel::new(), Arc::new(AtomicU32::new(0)));
    let tools = Tools::new().with("pay", |_| Err::<(), _>(ToolError::hold(serde_json::json!("may it?"))));
    let run = start(tools, "(pmap (fn [n] (tool/pay {:n n})) (range 2))", &cancel);
    let Driven::Held(run, held) = pollster::block_on(until_held(run, Vec::new())).unwrap() else {
        panic!("both calls wait")
    };
    let [first, second] = &held[..] else { panic!("{} calls wait", held.len()) };
    let (stop, made) = (cancel.clone(), calls.clone());
    let given: Vec<(_, ToolFuture)> = vec![
        (
            first.call.id.clone(),
            Box::pin(async move {
                stop.cancel();
                ToolAnswer::from_serialize(&1)
            }),
        ),
        (
            second.call.id.clone(),
            Box::pin(async move {
                made.fetch_add(1, Ordering::Relaxed);
                ToolAnswer::from_serialize(&2)
            }),
        ),
    ];
    let ended = pollster::block_on(until_held(run, given));
    assert_eq!(ended.err().unwrap().reason(), "cancelled");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[test]
fn a_run_that_is_cancelled_before_it_starts_does_nothing() {
    for finish in WAYS {
        let (cancel, calls) = (Cancel::new(), Arc::new(AtomicU32::new(0)));
        let [tools, _] = cancelling(&cancel, &calls);
        cancel.cancel();
        assert_eq!(finish(start(tools, "(tool/next {})", &cancel)).err().unwrap().reason(), "cancelled");
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}

/// Makes tools that never reply; the receiver gets a message for every call that began.
fn endless() -> (Tools, Receiver<()>) {
    let (began, calls) = channel();
    let also = began.clone();
    let began = Mutex::new(began);
    let tools = Tools::new()
        .with_async("wait", move |_| {
            also.send(()).unwrap();
            pending::<Result<u32, ToolError>>()
        })
        .with("block", move |_| {
            began.lock().unwrap().send(()).unwrap();
            loop {
                std::thread::park();
            }
            #[allow(unreachable_code)]
            Ok(1)
        });
    (tools, calls)
}

#[test]
fn a_run_that_waits_for_tools_is_woken() {
    for (source, waiting) in [
        ("(tool/wait {})", 1),
        ("(tool/block {})", 1),
        ("(pmap (fn [_] (tool/wait {})) (range 5))", 5),
        ("(pmap (fn [i] (if (odd? i) (tool/wait {}) (tool/block {}))) (range 5))", 5),
        ("(pcalls (fn [] 1) (fn [] (tool/wait {})))", 1),
    ] {
        for finish in WAYS {
            let cancel = Cancel::new();
            let (tools, calls) = endless();
            let run = start(tools, source, &cancel);
            let ended = soon(move || {
                std::thread::spawn(move || {
                    for _ in 0..waiting {
                        calls.recv().unwrap();
                    }
                    cancel.cancel();
                });
                finish(run).map(|_| ())
            });
            assert_eq!(ended.unwrap_err().reason(), "cancelled", "{source}");
        }
    }
}

#[test]
fn a_run_that_waits_for_its_turn_on_the_pool_is_woken() {
    let pool = rayon::current_num_threads();
    let (busy, wait) = channel();
    let mut release = Vec::new();
    for _ in 0..pool {
        let (let_go, held) = channel::<()>();
        release.push(let_go);
        let busy = busy.clone();
        rayon::spawn(move || {
            busy.send(()).unwrap();
            let _ = held.recv();
        });
    }
    for _ in 0..pool {
        wait.recv().unwrap();
    }
    let cancel = Cancel::new();
    let run = start(Tools::new(), "(+ 1 1)", &cancel);
    let ended = soon(move || {
        let other = cancel.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            other.cancel();
        });
        pollster::block_on(run.finish_async()).map(|_| ())
    });
    assert_eq!(ended.unwrap_err().reason(), "cancelled");
    drop(release);
}

/// Makes tools that panic: when the future is made, when it is first polled, and later.
fn panicking() -> Tools {
    async fn later(text: &'static str) -> Result<u32, ToolError> {
        let mut is_asked = false;
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut is_asked, true) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        panic!("{text}")
    }
    fn made(is_bad: bool) -> impl Future<Output = Result<u32, ToolError>> + Send {
        assert!(!is_bad, "no such luck");
        async { Ok(1) }
    }
    Tools::new()
        .with("block", |_| -> Result<u32, ToolError> { panic!("no such luck") })
        .with_async("make", |_| made(true))
        .with_async("ask", |_| async { if true { panic!("no such luck") } else { Ok(1) } })
        .with_async("later", |_| later("no such luck"))
}

#[test]
fn a_tool_that_panics_is_an_error_of_the_tool() {
    for name in ["block", "make", "ask", "later"] {
        for source in [format!("(tool/{name} {{}})"), format!("(pmap (fn [_] (tool/{name} {{}})) [1 2])")] {
            for cancel in [None, Some(Cancel::new())] {
                for finish in WAYS {
                    let runtime = runtime(panicking());
                    let grants = cancel.iter().fold(Grants::new(), |grants, cancel| grants.cancel(cancel));
                    let program = runtime.compile(&source).unwrap();
                    let failure = finish(runtime.start_with(&program, &grants).unwrap()).err().unwrap();
                    let reason = if source.starts_with("(pmap") { "pmap_error" } else { "tool_error" };
                    assert_eq!(failure.reason(), reason, "{source}");
                    let message = &failure.diagnostic().message;
                    assert!(
                        message.contains(&format!("`tool/{name}` failed: it panicked: no such luck")),
                        "{message}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_tool_that_panics_is_an_error_of_its_record() {
    let runtime = runtime(panicking());
    let program = runtime.compile("(if (odd? data/row) (tool/later {}) data/row)").unwrap();
    let mut reasons = Vec::new();
    let _ = Batch::new(&runtime, &program).map([1, 2, 3, 4], |_, found: Result<i64, Failure>| {
        reasons.push(found.map_err(|failure| failure.reason()));
        ControlFlow::Continue(())
    });
    assert_eq!(reasons, [Err("tool_error"), Ok(2), Err("tool_error"), Ok(4)]);
}
