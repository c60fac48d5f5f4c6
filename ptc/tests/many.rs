//! One program over many borrowed records, on threads and as futures.

use ptc::prelude::*;
use ptc::{Ending, Input};
use std::future::Future;
use std::io::Read;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// Yields to other tasks `times` times.
async fn waiting(mut times: u32) {
    std::future::poll_fn(|context| {
        times = times.saturating_sub(1);
        context.waker().wake_by_ref();
        if times == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn engine() -> Result<Engine, Failure> {
    let engine = Engine::new()?.data("rate", &10)?;
    Ok(engine.tool_async("wait", |args: serde_json::Value| async move {
        MOST.fetch_max(UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        waiting(50).await;
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
        Ok(args["n"].clone())
    }))
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn an_evaluator_borrows_its_records() -> Result<(), Failure> {
    let text = String::from("a bee sees");
    let program = engine()?.compile("(* data/rate (tool/wait {:n (count data/row)}))")?;
    let mut evaluator = program.evaluator();
    let lengths = pollster::block_on(async {
        let mut lengths: Vec<i64> = Vec::new();
        for word in text.split(' ') {
            lengths.push(is_send(evaluator.call_async(word)).await?);
        }
        Ok::<_, Failure>(lengths)
    })?;
    assert_eq!(lengths, [10, 30, 40]);
    // A future dropped halfway leaves the evaluator unchanged.
    let mut dropped = Box::pin(evaluator.call_async::<i64>("dropped"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    drop(dropped);
    assert_eq!(evaluator.call::<i64>("next")?, 40);
    Ok(())
}

#[test]
fn a_batch_of_futures_borrows_and_keeps_the_order() -> Result<(), Failure> {
    let words: Vec<String> = (0..40).map(|n| "x".repeat(n)).collect();
    let program =
        engine()?.compile("(if (= 7 (count data/row)) (+ nil) (tool/wait {:n (count data/row)}))")?;
    for ordered in [true, false] {
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        let batch = program.batch().threads(8).ordered(ordered);
        let each = |index, length: Result<usize, Failure>| {
            match length {
                Ok(length) => found.push((index as usize, length)),
                Err(failure) => failed.push((index, failure.reason())),
            }
            ControlFlow::Continue(())
        };
        let summary = pollster::block_on(is_send(batch.map_async(&words, each)));
        assert!(matches!(summary.ending, Ending::Complete));
        assert_eq!((summary.records, summary.failures, &failed[..]), (40, 1, &[(7, "type_error")][..]));
        if !ordered {
            found.sort_unstable();
        }
        assert!(found.iter().all(|(index, length)| index == length) && found.is_sorted());
    }
    assert!(MOST.load(Ordering::SeqCst) > 1, "calls wait together");
    Ok(())
}

#[test]
fn a_batch_of_futures_ends_early() -> Result<(), Failure> {
    let program = engine()?.compile("(tool/wait {:n (/ 100 data/row)})")?;
    let ran = |batch: ptc::Batch, enough: u64| {
        let mut seen = 0;
        let each = |_, _: Result<f64, Failure>| {
            seen += 1;
            if seen == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let records = (0..1000).map(|n| 500 - n);
        let summary = pollster::block_on(pin!(batch.map_async(records, each)));
        (summary.ending, seen)
    };
    let batch = || program.batch().threads(4);
    assert!(matches!(ran(batch(), 10), (Ending::Closed, 10)));
    assert!(matches!(ran(batch().take(5), 10), (Ending::Complete, 5)));
    assert!(matches!(ran(batch().fail_fast(true), 2000), (Ending::Failed, 501)));
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(matches!(ran(batch().cancel(&cancel), 10), (Ending::Cancelled, 0)));
    Ok(())
}

#[test]
fn what_cancels_an_engine_ends_its_batches() -> Result<(), Failure> {
    let cancel = Cancel::new();
    let program = engine()?.cancel(&cancel).compile("data/row")?;
    let mut seen = 0;
    let each = |_, _: Result<i64, Failure>| {
        seen += 1;
        cancel.cancel();
        ControlFlow::Continue(())
    };
    let summary = program.batch().threads(2).map(0_i64.., each);
    assert!(matches!(summary.ending, Ending::Cancelled), "{summary:?}");
    assert!(seen > 0);
    Ok(())
}

#[test]
fn lines_are_read_from_what_is_borrowed() -> Result<(), Failure> {
    let program = engine()?.compile("(* data/rate data/row)")?;
    let text = String::from("1\n2\nx\n4\n");
    let mut rest = text.as_bytes();
    let (mut output, mut failed) = (Vec::new(), Vec::new());
    // A reader borrowed from another one, which can be used afterwards.
    let summary = program.batch().lines(Read::take(&mut rest, 6), &mut output, |line, failure| {
        failed.push((line, failure.reason()));
        Ok(())
    });
    assert_eq!((output, failed), (b"10\n20\n".to_vec(), vec![(3, "invalid_data")]));
    assert_eq!((summary.records, rest), (3, &b"4\n"[..]));
    Ok(())
}

#[test]
fn a_detached_reader_keeps_no_batch_waiting() -> Result<(), Failure> {
    let program = engine()?.compile("data/row")?;
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    std::io::Write::write_all(&mut writer, b"1\n").expect("written");
    let cancel = Cancel::new();
    let flag = cancel.clone();
    let mut output = Vec::new();
    let told = |_, _| Ok(());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            flag.cancel();
        });
        let summary = program.batch().cancel(&cancel).lines(Input::detached(reader), &mut output, told);
        assert!(matches!(summary.ending, Ending::Cancelled));
    });
    assert_eq!(output, b"1\n");
    drop(writer);
    Ok(())
}
