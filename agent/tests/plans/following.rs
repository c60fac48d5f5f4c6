//! Plans in files that missions follow.

use ptc_agent::plan::{Execution, FollowedPlan, Plan, PlanErrorKind, PlanStep, StepState};
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions, Step, run};
use ptc_model::{LlmError, LlmRetry, Reply, Scripted};
use std::fs;
use std::path::{Path, PathBuf};

fn steps() -> [PlanStep; 3] {
    [
        PlanStep::new("load", "Load the orders").tool("get_orders"),
        PlanStep::new("sum", "Sum them"),
        PlanStep::new("mail", "Mail the sums"),
    ]
}

/// Returns a plan with one finished and one failed step.
fn begun() -> Plan {
    let mut plan = Plan::new("Orders", steps());
    let before = Execution::new("2031-04-02T08:00:01Z", "failed").step("load", "44 rows");
    plan.record(before.failed("sum", "no categories"));
    plan
}

fn saved(dir: &Path, plan: &Plan) -> PathBuf {
    let path = dir.join("orders.json");
    plan.save(&path).unwrap();
    path
}

fn worker() -> Agent {
    let retry = LlmRetry { max_attempts: 1, ..LlmRetry::default() };
    Agent::builder().name("worker").prompt("Follow the plan").llm_retry(retry).build().unwrap()
}

fn follow(plan: &FollowedPlan, model: &Scripted) -> Result<Step, Box<Step>> {
    run(&worker(), &plan.follow(RunOptions::new().llm(LlmRef::client(model.clone()))))
}

fn told(model: &Scripted, request: usize) -> String {
    model.requests()[request - 1].messages.last().unwrap().content.clone()
}

fn states(plan: &Plan) -> Vec<(StepState, Option<&str>)> {
    plan.steps.iter().map(|step| (step.state, step.result.as_deref())).collect()
}

#[test]
fn s001_a_saved_plan_is_resumed_and_kept_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), &begun());
    let plan = FollowedPlan::open(&path).unwrap();
    let seen = path.clone();
    let model = Scripted::new([
        Reply::from("(step-done \"sum\" \"3 sums\") 3"),
        // The file is updated before the mission goes on, so a crash now loses nothing.
        Reply::from_fn(move |_| {
            let now = Plan::load(&seen).unwrap();
            assert_eq!(states(&now)[1], (StepState::Done, Some("3 sums")));
            assert_eq!((now.history.len(), now.history[1].status.as_str()), (2, "unfinished"));
            Ok("(step-done \"mail\" \"sent\") (return 3)")
        }),
    ]);
    let step = follow(&plan, &model).unwrap();
    assert!(step.warnings.is_empty(), "{:?}", step.warnings);
    plan.finish(&step).unwrap();
    // Earlier completions and failures are shown with their reports.
    let wanted = "- [x] load: Load the orders (44 rows)\n- [ ] sum: Sum them (failed before: no categories)\n\
                  - [ ] mail: Mail the sums";
    assert!(told(&model, 1).contains(wanted), "{}", told(&model, 1));
    let wanted =
        "- [x] load: Load the orders (44 rows)\n- [x] sum: Sum them (3 sums)\n- [ ] mail: Mail the sums";
    assert!(told(&model, 2).contains(wanted), "{}", told(&model, 2));

    let now = Plan::load(&path).unwrap();
    assert_eq!(
        states(&now),
        [
            (StepState::Done, Some("44 rows")),
            (StepState::Done, Some("3 sums")),
            (StepState::Done, Some("sent")),
        ]
    );
    assert_eq!(now.steps[0].tools, ["get_orders"]);
    let last = now.history.last().unwrap();
    assert_eq!((now.history.len(), last.status.as_str(), last.turns), (2, "ok", 2));
    assert_eq!((last.agent.as_deref(), last.steps.len()), (Some("worker"), 2));
    assert_eq!(now.history[0], begun().history[0], "what was done before stays");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_mission_that_fails_leaves_what_it_did() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), &Plan::new("Orders", steps()));
    let plan = FollowedPlan::open(&path).unwrap();
    let model = Scripted::new([
        Reply::from("(step-done \"load\" \"44 rows\") 1"),
        Reply::from("(step-done \"sum\" \"lost\") (+ 1 nil)"),
        LlmError::from("down").into(),
    ]);
    let step = follow(&plan, &model).unwrap_err();
    plan.finish(&step).unwrap();
    let now = Plan::load(&path).unwrap();
    let pending = (StepState::Pending, None);
    assert_eq!(states(&now), [(StepState::Done, Some("44 rows")), pending, pending]);
    assert_eq!(now.history[0].status, "llm_error");

    // The next mission continues from there.
    let plan = FollowedPlan::open(&path).unwrap();
    let model = Scripted::new(["(return 1)"]);
    plan.finish(&follow(&plan, &model).unwrap()).unwrap();
    assert!(
        told(&model, 1).contains("- [x] load: Load the orders (44 rows)\n- [ ] sum"),
        "{}",
        told(&model, 1)
    );
    assert_eq!(Plan::load(&path).unwrap().history.len(), 2);
}

/// Runs a mission during whose second turn the file is changed.
fn meanwhile(path: &Path, change: impl Fn(&Path) + Send + Sync + 'static) -> (Step, FollowedPlan) {
    let plan = FollowedPlan::open(path).unwrap();
    let file = path.to_path_buf();
    let model = Scripted::new([
        Reply::from("(step-done \"load\" \"44 rows\") 1"),
        Reply::from_fn(move |_| {
            change(&file);
            Ok("(step-done \"sum\" \"3 sums\") (return 3)")
        }),
    ]);
    (follow(&plan, &model).unwrap(), plan)
}

#[test]
fn changes_that_others_made_meanwhile_stay() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), &Plan::new("Orders", steps()));
    let (step, plan) = meanwhile(&path, |file| {
        let mut theirs = Plan::load(file).unwrap();
        theirs.title = "Orders of March".to_string();
        theirs.steps[2].text = "Mail the sums to Ann".to_string();
        theirs.steps.push(PlanStep::new("print", "Print them"));
        theirs.save(file).unwrap();
    });
    assert!(step.warnings.is_empty(), "{:?}", step.warnings);
    plan.finish(&step).unwrap();
    let now = Plan::load(&path).unwrap();
    assert_eq!((now.title.as_str(), now.steps[2].text.as_str()), ("Orders of March", "Mail the sums to Ann"));
    assert_eq!(states(&now)[..2], [(StepState::Done, Some("44 rows")), (StepState::Done, Some("3 sums"))]);
    assert_eq!((now.steps.len(), now.history.len()), (4, 1));
    assert_eq!(plan.plan(), now);
}

#[test]
fn a_step_that_somebody_else_changed_is_told_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), &Plan::new("Orders", steps()));
    let (step, plan) = meanwhile(&path, |file| {
        let mut theirs = Plan::load(file).unwrap();
        theirs.steps[1].text = "Sum them by country".to_string();
        theirs.save(file).unwrap();
    });
    let [warning] = &step.warnings[..] else { panic!("{:?}", step.warnings) };
    assert!(
        warning.contains("orders.json` was changed in the meantime") && warning.ends_with("`sum`"),
        "{warning}"
    );
    plan.finish(&step).unwrap();
    let now = Plan::load(&path).unwrap();
    assert_eq!(states(&now)[1], (StepState::Pending, None));
    assert_eq!(now.history[0].steps[1].summary, "3 sums", "the history has it");
}

#[test]
fn a_file_that_is_no_plan_any_more_is_told_and_left() {
    type Change = fn(&Path);
    let changes: [(Change, PlanErrorKind); 3] = [
        (|file| fs::write(file, "{\"version\": 1, \"title\":").unwrap(), PlanErrorKind::Damaged),
        (|file| fs::write(file, "somebody's notes").unwrap(), PlanErrorKind::Damaged),
        (|file| fs::remove_file(file).unwrap(), PlanErrorKind::NotFound),
    ];
    for (change, kind) in changes {
        let dir = tempfile::tempdir().unwrap();
        let path = saved(dir.path(), &Plan::new("Orders", steps()));
        let (step, plan) = meanwhile(&path, change);
        let after = fs::read(&path).ok();
        let [warning] = &step.warnings[..] else { panic!("{:?}", step.warnings) };
        assert!(warning.contains("orders.json") && warning.contains("sum (3 sums)"), "{warning}");
        let error = plan.finish(&step).unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.message.ends_with("done, but not in the file: sum (3 sums)"), "{error}");
        assert_eq!(fs::read(&path).ok(), after, "it is as somebody left it");
    }
}

#[test]
fn reports_are_public_and_of_any_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), &Plan::new("Orders", steps()));
    let plan = FollowedPlan::open(&path).unwrap();
    let model = Scripted::new([
        "(step-done \"load\" (str \"with \" data/_key)) (step-done \"sum\" (apply str (repeat 20000 \"x\"))) (return 1)",
    ]);
    let options = RunOptions::new().context(&serde_json::json!({"_key": "canary-99812"})).unwrap();
    let step = run(&worker(), &plan.follow(options.llm(LlmRef::client(model)))).unwrap();
    plan.finish(&step).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("canary-99812") && text.len() < 12_000, "{}", text.len());
}

#[test]
fn a_checkpoint_goes_on_with_a_plan_that_has_moved_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), &begun());
    let checkpoints = dir.path().join("checkpoints");
    let plan = FollowedPlan::open(&path).unwrap();
    let model = Scripted::new([
        Reply::from("(def n 3) (step-done \"sum\" \"3 sums\") n"),
        LlmError::from("down").into(),
    ]);
    let options = RunOptions { checkpoint_dir: Some(checkpoints.clone()), ..RunOptions::new() };
    run(&worker(), &plan.follow(options.llm(LlmRef::client(model)))).unwrap_err();

    let plan = FollowedPlan::open(&path).unwrap();
    let model = Scripted::new(["(+ n 1)", "(step-done \"mail\" \"sent\") (return n)"]);
    let options = RunOptions { resume_from: Some(checkpoints), ..RunOptions::new() };
    let step = run(&worker(), &plan.follow(options.llm(LlmRef::client(model.clone()))));
    let step = step.unwrap_or_else(|step| panic!("{:?}", step.fail));
    plan.finish(&step).unwrap();
    assert!(told(&model, 2).contains("- [x] sum: Sum them (3 sums)\n- [ ] mail"), "{}", told(&model, 2));
    assert_eq!(Plan::load(&path).unwrap().remaining().count(), 0);
}
