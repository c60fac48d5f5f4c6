//! Plans in the text of issues, which people edit too.

use proptest::prelude::*;
use ptc_agent::plan::{Execution, Plan, PlanErrorKind, PlanStep, StepState, merge, read, seen};

const ISSUE: &str = "\
# Quarterly report

Numbers for the board, from the *orders* of
the last quarter.

<!-- Please keep this list short.
- [ ] not a step: a comment
-->

- [x] Load the orders
- [ ] Sum them by category (ask @anna)
  * [ ] also the returns
1. [ ] Write the mail

```markdown
- [ ] not a step: code
```

Thanks!
- no box, no step
- [y] neither
- [ ]
";

fn report() -> Plan {
    read("Report", ISSUE).expect("a plan")
}

#[test]
fn a_checklist_is_found_wherever_it_stands() {
    let plan = report();
    assert_eq!(plan.title, "Report");
    assert_eq!(plan.goal.as_deref(), Some("Numbers for the board, from the *orders* of the last quarter."));
    let steps: Vec<(&str, &str, StepState)> =
        plan.steps.iter().map(|step| (step.id.as_str(), step.text.as_str(), step.state)).collect();
    let wanted = [
        ("1", "Load the orders", StepState::Done),
        ("2", "Sum them by category (ask @anna)", StepState::Pending),
        ("3", "also the returns", StepState::Pending),
        ("4", "Write the mail", StepState::Pending),
    ];
    assert_eq!(steps, wanted);
}

#[test]
fn a_text_without_a_checklist_is_no_plan() {
    for body in ["", "Just words", "```\n- [ ] code\n```", "<!--\n- [ ] hidden\n-->", "- [ ]\n"] {
        let error = read("Report", body).unwrap_err();
        assert_eq!(error.kind, PlanErrorKind::Invalid, "{body}");
        assert!(error.message.contains("`- [ ] Load the orders`"), "{error}");
    }
}

#[test]
fn everything_people_wrote_stays() {
    let mut plan = report();
    let before = seen(&plan);
    plan.record(Execution::new("2031-04-02T08:00:01Z", "ok").step("2", "3 categories"));
    let body = merge(ISSUE, &mut plan, &before).expect("merged");
    let (text, history) = body.split_once("<!-- ptc:history:start -->").expect("a history");
    let bare: String = text
        .lines()
        .map(|line| line.split(" <!-- ptc {").next().unwrap().to_string() + "\n")
        .collect::<String>()
        .replace("[x] Sum", "[ ] Sum");
    assert_eq!(bare.trim_end(), ISSUE.trim_end());
    assert!(body.contains("- [x] Sum them by category (ask @anna) <!-- ptc {\"id\":\"2\"} -->\n"), "{body}");
    assert!(history.contains("- `2031-04-02T08:00:01Z` `ok`\n  - `2`: `3 categories`\n"), "{history}");
    // Reading it again gives the same plan, and writing it again the same text.
    let again = read("Report", &body).expect("a plan");
    assert_eq!((&again.steps, &again.history), (&plan.steps, &plan.history));
    let before = seen(&plan);
    assert_eq!(merge(&body, &mut plan, &before).expect("merged"), body);
}

#[test]
fn lines_keep_their_ends() {
    let body = "Hello\r\n- [ ] Load\r\n- [ ] Sum";
    let mut plan = read("Report", body).expect("a plan");
    let before = seen(&plan);
    plan.steps.push(PlanStep::new("mail", "Write the mail"));
    plan.record(Execution::new("2031", "ok").step("1", "done"));
    let body = merge(body, &mut plan, &before).expect("merged");
    assert!(body.starts_with("Hello\r\n- [x] Load <!-- ptc {\"id\":\"1\"} -->\r\n- [ ] Sum "), "{body:?}");
    assert!(body.contains("\r\n- [ ] Write the mail <!-- ptc {\"id\":\"mail\"} -->\r\n"), "{body:?}");
    assert!(!body.replace("\r\n", "").contains('\n'));
}

/// Returns a plan of three steps, synced once.
fn synced() -> (Plan, String) {
    let body = "- [ ] Load\n- [ ] Sum\n- [ ] Mail\n";
    let mut plan = read("Report", body).expect("a plan");
    let before = seen(&plan);
    plan.record(Execution::new("2031-01", "ok").step("1", "44 rows"));
    let body = merge(body, &mut plan, &before).expect("merged");
    (plan, body)
}

#[test]
fn what_people_change_is_taken_over() {
    let (mut plan, body) = synced();
    let before = seen(&plan);
    // Step 1 was reopened, 2 was ticked and reworded, 3 was removed, and another was added.
    let edited = body
        .replace("- [x] Load", "- [ ] Load")
        .replace("- [ ] Sum", "- [X] Sum up")
        .lines()
        .filter(|line| !line.contains("Mail"))
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        .replace("- [X] Sum up", "- [ ] Print\n- [X] Sum up");
    plan.record(Execution::new("2031-02", "ok").step("3", "sent"));
    let body = merge(&edited, &mut plan, &before).expect("merged");
    let steps: Vec<(&str, &str, StepState)> =
        plan.steps.iter().map(|step| (step.id.as_str(), step.text.as_str(), step.state)).collect();
    let wanted = [
        ("1", "Load", StepState::Pending),
        ("4", "Print", StepState::Pending),
        ("2", "Sum up", StepState::Done),
    ];
    assert_eq!(steps, wanted, "{body}");
    assert_eq!(plan.step("1").unwrap().result, None);
    assert!(body.contains("`3`: `sent`"), "what was done is told, though the step is gone");
    assert!(body.contains("- [X] Sum up <!-- ptc {\"id\":\"2\"} -->"), "their tick stays theirs: {body}");
}

#[test]
fn lines_without_names_are_known_by_words_or_place() {
    let body = "- [ ] Load\n- [ ] Sum\n- [ ] Mail\n";
    let done = |edited: &str| {
        let mut plan = read("Report", body).expect("a plan");
        let before = seen(&plan);
        plan.record(Execution::new("2031-01", "ok").step("2", "3 categories"));
        merge(edited, &mut plan, &before).expect("merged")
    };
    let ticked = |text: String| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("- [x] "));
        lines.map(|line| line.split(" <!--").next().unwrap().to_string()).collect()
    };
    assert_eq!(ticked(done("- [ ] New\n- [ ] Load\n- [ ] Sum\n- [ ] Mail\n")), ["Sum"]);
    assert_eq!(ticked(done("- [ ] Mail\n- [ ] Sum\n- [ ] Load\n")), ["Sum"]);
    assert_eq!(ticked(done("- [ ] Load\n- [ ] Sum them\n- [ ] Mail\n")), ["Sum them"]);
    assert_eq!(ticked(done("- [ ] Load\n- [ ] Mail\n")), [""; 0]);
}

#[test]
fn a_line_that_was_copied_is_a_new_one() {
    let (mut plan, body) = synced();
    let before = seen(&plan);
    let line = body.lines().nth(1).unwrap().to_string();
    let edited = body.replace(&line, &format!("{line}\n{}", line.replace("Sum", "Sum again")));
    let body = merge(&edited, &mut plan, &before).expect("merged");
    let ids: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "4", "3"], "{body}");
    assert!(plan.check().is_ok());
}

#[test]
fn steps_of_the_plan_are_added_and_renamed() {
    let (mut plan, body) = synced();
    let before = seen(&plan);
    plan.steps[1].text = "Sum by\ncategory, as @anna said <!-- ptc {} -->".to_string();
    plan.steps.push(PlanStep::new("a -->b", "Check").tool("get_orders"));
    let body = merge(&body, &mut plan, &before).expect("merged");
    // Programs cannot mention people, and texts from plans cannot open comments.
    assert!(body.contains("Sum by category, as @\u{200b}anna said &lt;!-- ptc {} --&gt; <!-- ptc"), "{body}");
    let again = read("Report", &body).expect("a plan");
    assert_eq!(again.step("a -->b").unwrap().tools, ["get_orders"]);
    assert!(again.step("2").unwrap().text.starts_with("Sum by category, as @anna said"));
    let before = seen(&plan);
    assert_eq!(merge(&body, &mut plan, &before).expect("merged"), body);
}

#[test]
fn an_issue_without_a_list_gets_one() {
    let mut plan = Plan::new("Report", [PlanStep::new("load", "Load"), PlanStep::new("sum", "Sum")]);
    plan.steps[0].state = StepState::Done;
    let body = merge("Some words", &mut plan, &[]).expect("merged");
    let wanted =
        "Some words\n\n- [x] Load <!-- ptc {\"id\":\"load\"} -->\n- [ ] Sum <!-- ptc {\"id\":\"sum\"} -->\n";
    assert_eq!(body, wanted);
    assert_eq!(
        read("Report", &merge("", &mut plan, &[]).expect("merged")).expect("a plan").steps,
        plan.steps
    );
    // Merging without an earlier state: done steps stay done.
    let mut other = Plan::new("Report", [PlanStep::new("load", "Load"), PlanStep::new("sum", "Sum")]);
    other.steps[1].state = StepState::Done;
    merge(&body, &mut other, &[]).expect("merged");
    assert_eq!(other.remaining().count(), 0);
}

#[test]
fn the_history_of_two_hosts_is_one() {
    let (plan, body) = synced();
    let before = seen(&plan);
    let (mut a, mut b) = (plan.clone(), plan);
    a.record(Execution::new("2031-03", "ok").step("2", "by a"));
    b.record(
        Execution { agent: Some("b".into()), turns: 3, ..Execution::new("2031-02", "failed") }
            .failed("3", "`no`"),
    );
    let body = merge(&body, &mut a, &before).expect("merged");
    let body = merge(&body, &mut b, &before).expect("merged");
    let at: Vec<&str> = b.history.iter().map(|execution| execution.at.as_str()).collect();
    assert_eq!(at, ["2031-01", "2031-02", "2031-03"]);
    assert_eq!(b.step("2").unwrap().state, StepState::Done, "what the other did is known");
    assert!(body.contains("- `2031-02` `failed` by `b`, 3 turns\n  - `3` failed: `'no'`\n"), "{body}");
    let read = read("Report", &body).expect("a plan");
    assert_eq!((read.step("3").unwrap().state, read.history.len()), (StepState::Failed, 3));
    assert_eq!(body.matches("ptc:history:start").count(), 1);
}

#[test]
fn a_long_history_keeps_its_end() {
    let (mut plan, body) = synced();
    for i in 0..150 {
        plan.record(Execution::new(format!("2032-{i:03}"), "ok").step("1", "x".repeat(2000)));
    }
    let before = seen(&plan);
    let body = merge(&body, &mut plan, &before).expect("merged");
    assert!(body.chars().count() <= 65_536);
    assert!(body.contains("2032-149") && !body.contains("2032-000") && body.contains(" older\n"));
    assert_eq!(plan.history.len(), 151, "the plan itself keeps all");
    let error = merge(&"x".repeat(65_530), &mut plan, &[]).unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::TooLarge);
}

#[test]
fn texts_without_measure_are_refused() {
    let many = "- [ ] a\n".repeat(300_000);
    assert_eq!(read("Report", &many).unwrap_err().kind, PlanErrorKind::TooLarge);
    let (mut plan, body) = synced();
    assert_eq!(merge(&many, &mut plan, &[]).unwrap_err().kind, PlanErrorKind::TooLarge);
    // More reports than an issue holds, and more than could be written out here.
    let mut huge = Execution::new("2040", "ok");
    for i in 0..1000 {
        huge = huge.step(i.to_string(), "x".repeat(4000));
    }
    plan.record(huge);
    let before = seen(&plan);
    let merged = merge(&body, &mut plan, &before).expect("merged");
    assert!(merged.chars().count() <= 65_536 && merged.contains("`2040`"), "{}", merged.len());
    assert_eq!(read("Report", &merged).expect("a plan").history[1].steps.len(), 40);
    assert_eq!(plan.history[1].steps.len(), 1000, "the plan itself keeps all");
    let before = seen(&plan);
    assert_eq!(merge(&merged, &mut plan, &before).expect("merged"), merged);
}

#[test]
fn half_a_section_costs_nobody_their_words() {
    let (mut plan, body) = synced();
    let before = seen(&plan);
    let edited = body.replace("<!-- ptc:history:end -->\n", "Words behind it\n");
    let merged = merge(&edited, &mut plan, &before).expect("merged");
    assert!(merged.contains("Words behind it\n"), "{merged}");
    let before = seen(&plan);
    let again = merge(&merged, &mut plan, &before).expect("merged");
    assert!(again.contains("Words behind it\n"), "{again}");
    // Damaged data: the list is written anew from the plan.
    let edited = body.replace("<!-- ptc:history [", "<!-- ptc:history [oops");
    assert!(merge(&edited, &mut plan, &before).expect("merged").contains("`44 rows`"));
}

fn some_line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[-*+] \\[[ xX]\\] [a-c]{1,3}",
        1 => "  - \\[ \\] [a-c]{1,2} <!-- ptc \\{\"id\":\"[1-4]\"\\} -->",
        2 => "\\PC{0,20}",
        1 => Just("```".to_string()),
        1 => Just("<!-- x".to_string()),
        1 => Just("-->".to_string()),
        1 => Just("<!-- ptc:history:start -->".to_string()),
        1 => Just("<!-- ptc:history:end -->".to_string()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    (proptest::collection::vec(some_line(), 0..16), prop_oneof![Just("\n"), Just("\r\n")], any::<bool>())
        .prop_map(|(lines, eol, ends)| lines.join(eol) + if ends { eol } else { "" })
}

proptest! {
    #[test]
    fn any_text_is_read_and_merged(body in text(), edited in text()) {
        let Ok(mut plan) = read("Report", &body) else { return Ok(()) };
        let before = seen(&plan);
        if let Some(step) = plan.steps.first() {
            let execution = Execution::new("2031", "ok").step(step.id.clone(), "done");
            plan.record(execution);
        }
        let merged = merge(&edited, &mut plan, &before).expect("merged");
        prop_assert!(plan.check().is_ok());
        // Merging again changes nothing.
        let before = seen(&plan);
        let mut again = plan.clone();
        prop_assert_eq!(&merge(&merged, &mut again, &before).expect("merged"), &merged);
        prop_assert_eq!(&again.steps, &plan.steps);
        // All other lines are still there, in order.
        let is_ours = |line: &str| line.contains("[") || line.contains("ptc");
        let mut lines = merged.lines();
        if !edited.contains("ptc:history:end") {
            for line in edited.lines().filter(|line| !is_ours(line)) {
                prop_assert!(lines.any(|other| other == line), "{:?} is gone from {:?}", line, merged);
            }
        }
    }
}
