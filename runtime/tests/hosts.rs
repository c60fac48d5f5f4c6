//! What a host meets that uses a run wrongly, or writes one into its log.

use ptc_runtime::{Grants, Runtime};

#[test]
fn what_a_host_does_twice_is_told() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let program = runtime.compile("(pmap (fn [x] (tool/price {:of x})) [1 2])").unwrap();
    let mut run = runtime.start(&program).unwrap();
    run.step();
    let calls = run.pending();
    run.resume(&calls[0].id, &5).unwrap();
    let again = run.resume(&calls[0].id, &5).unwrap_err();
    let told = &again.diagnostic().message;
    assert!(told.contains("it was answered already") && told.contains(&calls[1].id.to_string()), "{told}");
    run.resume(&calls[1].id, &6).unwrap();
    assert!(matches!(run.step(), ptc_runtime::Step::Done(Ok(_))));
    let ended = run.resume(&calls[1].id, &6).unwrap_err();
    assert!(ended.diagnostic().message.ends_with("the run has ended"), "{ended}");
    let finished = run.finish().unwrap_err();
    assert_eq!(finished.reason(), "invalid_config");
    assert!(finished.to_string().contains("hint: keep the outcome of `Step::Done`"), "{finished}");
}

#[test]
fn debug_of_an_outcome_is_short() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let long = format!("{:?}", runtime.eval("(range 100000)", &Grants::new()).unwrap());
    assert!(long.len() < 300 && long.starts_with("Outcome { value: [0 1 2 ") && long.contains('…'), "{long}");
    let short = format!("{:?}", runtime.eval("[1 2]", &Grants::new()).unwrap());
    assert!(short.starts_with("Outcome { value: [1 2], fuel: "), "{short}");
}
