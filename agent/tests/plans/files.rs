//! Plans in files.

use proptest::prelude::*;
use ptc_agent::plan::{
    Execution, FilePlans, MAX_FILE_BYTES, MAX_HISTORY, Plan, PlanErrorKind, PlanStep, PlanStore, StepState,
};
use std::fs;

fn plan() -> Plan {
    let mut plan = Plan::new(
        "Quarterly report",
        [PlanStep::new("load", "Load the orders").tool("get_orders"), PlanStep::new("sum", "Sum them")],
    );
    plan.goal = Some("Numbers for the board".to_string());
    plan.record(Execution::new("2031-04-02T08:00:01Z", "ok").step("load", "44 rows"));
    plan
}

#[test]
fn s001_a_plan_is_saved_and_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plans/workflow-001.json");
    plan().save(&path).expect("saved");
    assert_eq!(Plan::load(&path).expect("loaded"), plan());
    // Saving again replaces the old file, and leaves nothing next to it.
    let mut later = plan();
    later.record(Execution::new("2031-04-03T08:00:01Z", "max_turns_exceeded").failed("sum", "no category"));
    later.save(&path).expect("saved");
    assert_eq!(Plan::load(&path).expect("loaded").step("sum").unwrap().state, StepState::Failed);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"version\": 1") && text.ends_with("}\n"), "{text}");
}

#[test]
fn work_is_recorded_on_the_steps_it_was_about() {
    let mut plan = plan();
    assert_eq!(plan.step("load").unwrap().result.as_deref(), Some("44 rows"));
    plan.record(
        Execution::new("2031-04-03T08:00:01Z", "ok").step("sum", "x".repeat(9000)).step("extra", "?"),
    );
    let result = plan.step("sum").unwrap().result.clone().unwrap();
    assert!(result.chars().count() == 4000 && result.ends_with('…'));
    assert_eq!(plan.remaining().count(), 0);
    for i in 0..2 * MAX_HISTORY {
        plan.record(Execution::new(format!("2032-{i:04}"), "ok"));
    }
    assert_eq!(plan.history.len(), MAX_HISTORY);
    assert_eq!(plan.history.last().unwrap().at, "2032-0399");
}

#[test]
fn files_that_are_no_plans_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.json");
    let kind = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let error = Plan::load(&path).expect_err("refused");
        assert!(error.message.contains("plan.json"), "{error}");
        error.kind
    };
    assert_eq!(Plan::load(dir.path().join("none.json")).unwrap_err().kind, PlanErrorKind::NotFound);
    assert_eq!(Plan::load(dir.path()).unwrap_err().kind, PlanErrorKind::Io);
    let whole = plan().to_json().unwrap();
    let damaged = [
        "",
        "[]",
        "null",
        "{}",
        &whole[..whole.len() / 2],
        r#"{"version": 2, "title": "a", "steps": []}"#,
        r#"{"version": 1, "title": "a"}"#,
        r#"{"version": 1, "title": "a", "steps": [], "colour": "red"}"#,
        r#"{"version": 1, "title": " ", "steps": []}"#,
        r#"{"version": 1, "title": "a", "steps": [{"id": "1", "text": "x"}, {"id": "1", "text": "y"}]}"#,
        r#"{"version": 1, "title": "a", "steps": [{"id": "", "text": "x"}]}"#,
        r#"{"version": 1, "title": "a", "steps": [{"id": "1", "text": "x", "state": "later"}]}"#,
    ];
    for text in damaged {
        assert_eq!(kind(text.as_bytes()), PlanErrorKind::Damaged, "{text}");
    }
    assert_eq!(kind(b"\xff\xfe"), PlanErrorKind::Damaged);
    assert_eq!(kind("[".repeat(100_000).as_bytes()), PlanErrorKind::Damaged);
    assert_eq!(kind(&vec![b' '; MAX_FILE_BYTES as usize + 1]), PlanErrorKind::TooLarge);
}

#[test]
fn a_plan_that_is_not_well_formed_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.json");
    plan().save(&path).unwrap();
    let twice = Plan::new("a", [PlanStep::new("1", "x"), PlanStep::new("1", "y")]);
    let error = twice.save(&path).unwrap_err();
    assert_eq!((error.kind, error.to_string().contains("ids are unique")), (PlanErrorKind::Invalid, true));
    let steps = (0..1001).map(|i| PlanStep::new(i.to_string(), "x"));
    assert!(Plan::new("a", steps).save(&path).unwrap_err().to_string().contains("1001 steps"));
    assert_eq!(Plan::load(&path).unwrap(), plan(), "what was there is still there");
    assert_eq!(plan().save(path.join("below.json")).unwrap_err().kind, PlanErrorKind::Io);
}

#[tokio::test]
async fn a_folder_keeps_plans_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let store = FilePlans::new(dir.path().join("new"));
    let plans: &dyn PlanStore = &store;
    plans.save("workflow-001", &mut plan()).await.expect("saved");
    assert_eq!(plans.load("workflow-001").await.expect("loaded"), plan());
    assert_eq!(plans.load("workflow-002").await.unwrap_err().kind, PlanErrorKind::NotFound);
    for name in ["", "..", "../x", "a/b", "a\\b", ".hidden", "a b", "ä", &"x".repeat(101)] {
        let error = plans.load(name).await.unwrap_err();
        assert_eq!(error.kind, PlanErrorKind::Invalid, "{name}");
    }
}

proptest! {
    #[test]
    fn any_plan_comes_back_from_its_text(
        title in "[a-zA-Z][ -~]{0,40}", texts in proptest::collection::vec(("\\PC{1,30}", 0..3_u8), 0..8),
    ) {
        let steps = texts.iter().enumerate().map(|(i, (text, state))| {
            let state = [StepState::Pending, StepState::Done, StepState::Failed][*state as usize];
            PlanStep { state, ..PlanStep::new(format!("s{i}"), format!("do {text}")) }
        });
        let plan = Plan::new(title, steps);
        prop_assert_eq!(Plan::from_json(&plan.to_json().unwrap()).unwrap(), plan);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        prop_assert!(Plan::from_json(&text).is_err());
    }
}
