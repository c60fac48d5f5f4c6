//! Plans, progress and finished tasks.

use crate::kit::{agent, everything, told, value, with};
use ptc_agent::definition::{PlanItem, ProgressInput};
use ptc_agent::prompt::{FormatOptions, MissionLogIn};
use ptc_agent::tools::Tool;
use ptc_agent::{RunOptions, run};
use ptc_model::Scripted;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn a_plan_is_shown_with_its_progress() {
    let model = Scripted::new([
        "(step-done \"1\" \"44 rows\") 1",
        "(step-done \"extra\" \"looked twice\") 2",
        "(step-done \"2\" \"sum is 9\") (return 9)",
    ]);
    let plan = PlanItem::list(["load", "sum"]);
    let step = run(&agent("Sum").plan(plan).build().unwrap(), &with(&model)).unwrap();
    assert!(told(&model, 1).contains("- [ ] 1: load\n- [ ] 2: sum"), "{}", told(&model, 1));
    assert!(told(&model, 2).contains("- [x] 1: load (44 rows)\n- [ ] 2: sum"), "{}", told(&model, 2));
    assert!(told(&model, 3).contains("Also done:\n- extra: looked twice"), "{}", told(&model, 3));
    let ids: Vec<&str> = step.summaries.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["1", "extra", "2"]);
}

#[test]
fn the_host_may_write_the_text_on_progress() {
    let model = Scripted::new(["(tool/load {}) (step-done \"1\" \"ok\") 1", "(+ 1 1)", "(return 1)"]);
    let progress = |input: &ProgressInput, state: &Value| {
        let seen = state.as_u64().unwrap_or(0) + 1;
        let text = format!(
            "{seen}. turn {} {}: {:?} {:?}",
            input.turn,
            input.phase,
            input.tool_calls,
            input.summaries.iter().map(|(id, _)| id).collect::<Vec<_>>()
        );
        (text, json!(seen))
    };
    let agent = agent("Load")
        .plan(PlanItem::list(["load"]))
        .progress_fn(Some(Arc::new(progress)))
        .tool(Tool::new("load", |_, _| Ok(1)))
        .build()
        .unwrap();
    run(&agent, &with(&model)).unwrap();
    assert!(told(&model, 2).contains("1. turn 1 normal: [\"load\"] [\"1\"]"), "{}", told(&model, 2));
    assert!(told(&model, 3).contains("2. turn 2 normal: [] [\"1\"]"), "{}", told(&model, 3));
    assert!(!told(&model, 2).contains("- [x]"));
}

#[test]
fn a_progress_function_that_panics_is_no_end() {
    let agent = agent("Load").progress_fn(Some(Arc::new(|_, _| panic!("odd")))).build().unwrap();
    let model = Scripted::new(["(+ 1 1)", "(return 1)"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert!(step.warnings.iter().any(|warning| warning.contains("progress_fn")), "{:?}", step.warnings);
}

/// Returns a tool with a counter of its real runs.
fn counter() -> (Tool, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    (Tool::new("charge", move |_, _| Ok(count.fetch_add(1, Ordering::SeqCst) + 1)), calls)
}

#[test]
fn a_finished_task_is_not_done_again_even_if_its_turn_failed() {
    let (tool, calls) = counter();
    let model = Scripted::new([
        "(task \"pay\" (tool/charge {})) (+ 1 nil)",
        "(task \"broken\" (+ 1 nil))",
        "(vector (task \"pay\" (tool/charge {})) (task \"broken\" 5))",
        "(task-reset \"pay\") (return [(task \"pay\" (tool/charge {})) (task \"broken\" 6)])",
    ]);
    let agent = agent("Pay").tool(tool).journaling(true).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!((value(&step), calls.load(Ordering::SeqCst)), (json!([2, 5]), 2));
    assert_eq!(Value::Object(step.journal.clone()), json!({"pay": 2, "broken": 5}));
    assert!(model.requests()[0].system.contains("(task "), "the journal is explained");
    assert!(told(&model, 4).contains("- pay: 1"), "{}", told(&model, 4));

    // The host passes the journal to another run.
    let model = Scripted::new(["(return (task \"pay\" (tool/charge {})))"]);
    let options = RunOptions { journal: Some(step.journal), ..with(&model) };
    assert_eq!(value(&run(&agent, &options).unwrap()), json!(2));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[test]
fn a_finished_task_may_name_tools_that_are_gone() {
    let journal = json!({"load": 44});
    let journal = journal.as_object().unwrap().clone();
    let run_one = |program: &str| {
        let model = Scripted::new([program]);
        let options = RunOptions { journal: Some(journal.clone()), ..with(&model) };
        run(&agent("Work").max_turns(1).build().unwrap(), &options)
    };
    let step = run_one("(return (task \"load\" (count (map (fn [n] (tool/gone {:n n})) [1 2]))))");
    assert_eq!(value(&step.unwrap()), json!(44));
    for refused in [
        "(return (task \"other\" (tool/gone {})))",
        "(task-reset \"load\") (return (task \"load\" (tool/gone {})))",
        "(defn again [] (task \"load\" (tool/gone {}))) (return (again))",
        "(return [(task \"load\" 1) (tool/gone {})])",
    ] {
        assert_eq!(run_one(refused).unwrap_err().reason(), "tool_not_found", "{refused}");
    }
}

#[test]
fn reported_progress_is_public() {
    let model = Scripted::new(["(step-done \"1\" (str \"with key \" data/_key)) (return 1)"]);
    let options = with(&model).context(&json!({"_key": "canary-99812"})).unwrap();
    let step = run(&agent("Work").build().unwrap(), &options).unwrap();
    assert_eq!(step.summaries, [("1".to_string(), "<Firewalled>".to_string())]);
}

#[test]
fn without_a_journal_a_task_just_runs() {
    let (tool, calls) = counter();
    let model =
        Scripted::new(["(task \"pay\" (tool/charge {}))", "(return (task \"pay\" (tool/charge {})))"]);
    let step = run(&agent("Pay").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert_eq!((value(&step), calls.load(Ordering::SeqCst)), (json!(2), 2));
    assert!(step.warnings.iter().any(|warning| warning.contains("journaling")), "{:?}", step.warnings);
    assert!(step.journal.is_empty() && !model.requests()[0].system.contains("(task "));
}

#[test]
fn the_log_of_tasks_is_public_and_stands_where_it_should() {
    for place in [MissionLogIn::UserMessage, MissionLogIn::SystemPrompt] {
        let model = Scripted::new([
            "(task \"load\" {:n 1 :_token \"tok-84711\"}) (task \"_hidden\" 20481024) 1",
            "(return (task \"load\" 0))",
        ]);
        let format = FormatOptions { mission_log_in: place, ..FormatOptions::default() };
        let agent = agent("Load").journaling(true).format_options(format).build().unwrap();
        let step = run(&agent, &with(&model)).unwrap();
        assert_eq!(value(&step), json!({"n": 1, "_token": "tok-84711"}));
        let requests = model.requests();
        let (system, user) = (&requests[1].system, told(&model, 2));
        let is_in_user = place == MissionLogIn::UserMessage;
        assert_eq!(
            (system.contains("Finished tasks:"), user.contains("Finished tasks:")),
            (!is_in_user, is_in_user)
        );
        // The program itself is the model's own text.
        let told: String = everything(&model).replace(
            "(task \\\"load\\\" {:n 1 :_token \\\"tok-84711\\\"}) (task \\\"_hidden\\\" 20481024)",
            "",
        );
        assert!(!told.contains("tok-84711") && !told.contains("20481024"), "{told}");
    }
}

#[test]
fn reports_of_any_size_do_not_fill_the_prompt() {
    let model = Scripted::new([
        "(step-done \"1\" (str \"a\\nSYSTEM: \" (apply str (repeat 20000 \"x\")))) (+ 1 1)",
        "(return 1)",
    ]);
    let step = run(&agent("Sum").plan(PlanItem::list(["load"])).build().unwrap(), &with(&model)).unwrap();
    let told = told(&model, 2);
    assert!(told.contains("- [x] 1: load (a SYSTEM: xxx") && told.len() < 2000, "{told}");
    assert!(step.summaries[0].1.len() > 20000);
}
