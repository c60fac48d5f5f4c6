//! Plans and approvals at the command line, with a bank that counts what it was really told to do.

use crate::agents::Mission;
use crate::effects::{World, in_file};
use crate::{command, file, finish, ptc, ptc_with, trial};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("a_plan_is_made_and_carried_out", a_plan_is_made_and_carried_out),
        trial("a_policy_decides_and_a_person_is_asked", a_policy_decides_and_a_person_is_asked),
        trial("fourteen_refunds_by_an_agent", fourteen_refunds_by_an_agent),
    ]
}

const PAY_THREE: &str = r#"(mapv (fn [n] (tool/call {:server "bank" :tool "pay" :args {:n n}})) [1 2 3])"#;

fn with_config<'a>(world: &'a World, command: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [command, &["--upstreams-config", &world.config], rest].concat()
}

fn a_plan_is_made_and_carried_out() {
    let world = in_file("planned", "--bank", "");
    let plan = world.payments.with_file_name("plan.json").display().to_string();
    let to_plan = format!("--plan={plan}");
    let planned = ptc(&with_config(&world, &["eval", &to_plan], &["-e", PAY_THREE]));
    assert_eq!(planned.code, 0, "{planned:?}");
    assert!(
        planned.out.starts_with("3 writes planned, none sent\n  1. bank.pay {\"n\":1}  (line 1, "),
        "{planned:?}"
    );
    assert!(world.paid().is_empty());
    let carried =
        |program: &str| ptc(&with_config(&world, &["effects", "apply", &plan, "eval"], &["-e", program]));
    let other = carried(&PAY_THREE.replace("[1 2 3]", "[1 2 4]"));
    assert_eq!(other.code, 2, "{other:?}");
    assert!(other.err.contains("nothing was run: the plan is for another program"), "{other:?}");
    // What the plan says of itself helps nobody: its calls and its program must both be right.
    let text = std::fs::read_to_string(&plan).expect("a plan");
    std::fs::write(&plan, text.replacen("\"n\": 2", "\"n\": 20", 1)).expect("written");
    let forged = carried(PAY_THREE);
    assert!(forged.err.contains("the plan has other arguments for `bank.pay`"), "{forged:?}");
    assert_eq!(world.paid().into_keys().collect::<Vec<_>>(), [1]);
    std::fs::write(&plan, text).expect("written");
    let made = carried(PAY_THREE);
    assert_eq!((made.code, made.out.matches(":ok true").count()), (0, 3), "{made:?}");
    let json = ptc(&with_config(&world, &["eval", "--plan", "--json"], &["-e", PAY_THREE])).json();
    assert_eq!(json["plan"]["writes"].as_array().map(Vec::len), Some(3), "{json}");
    for wrong in [&["effects", "apply", &plan, "fmt", "x"][..], &["effects", "apply", "/nowhere", "run", "x"]]
    {
        let ran = ptc(wrong);
        assert_eq!(ran.code, 2, "{ran:?}");
    }
}

fn a_policy_decides_and_a_person_is_asked() {
    let world = in_file("approved", "--bank", "");
    let policy = json!({"rules": [
        {"tool": "bank.pay", "when": "(< (:n data/args) 2)", "decide": "allow"},
        {"tool": "bank.*", "when": "(> (:n data/args) 8)", "decide": "deny", "because": "too much"},
        {"tool": "bank.*", "decide": "ask", "edit": ["n"]},
    ]});
    let policy = format!("--approve={}", file("approved/policy.json", policy.to_string()));
    let program = r#"(mapv (fn [n] (let [r (tool/call {:server "bank" :tool "pay" :args {:n n}})]
                       (if (:ok r) :paid [(:reason r) (:message r)]))) [1 2 3 4 9])"#;
    let run =
        |typed: &str| ptc_with(&with_config(&world, &["eval", &policy], &["-e", program]), typed.as_bytes());
    // Once, edited, denied with a reason; the first is allowed, and the last denied, without a question.
    let ran = run("y\ne\n5\nn\nnot this one\n");
    let expected = "[:paid :paid :paid [:approval_denied \"a person declined the call: not this one\"] \
                    [:approval_denied \"too much\"]]\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, expected), "{ran:?}");
    assert_eq!(world.paid().into_keys().collect::<Vec<_>>(), [1, 2, 5]);
    assert!(
        ran.err.contains("the program wants to call bank.pay: {\"n\":2}\n  line 1: (mapv (fn [n]"),
        "{ran:?}"
    );
    assert!(ran.err.contains("so far: 1 call\n  done    bank.pay {\"n\":1}"), "{ran:?}");
    // Nobody answers: nothing is done.
    let ran = run("");
    assert_eq!(ran.out.matches(":approval_denied").count(), 4, "{ran:?}");
    // Questions of branches come together.
    let together = r#"(count (filter :ok (pmap (fn [n] (tool/call {:server "bank" :tool "pay" :args {:n n}})) [5 6 7])))"#;
    let ran = ptc_with(&with_config(&world, &["eval", &policy], &["-e", together]), b"A\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "3\n"), "{ran:?}");
    assert!(ran.err.contains("(1 of 3)"), "{ran:?}");
    let wrong = ptc(&["eval", "--approve=/nowhere", "-e", "1"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

/// A new user has fourteen orders to refund: a plan first, then the refunds, each approved, with a crash in the middle.
fn fourteen_refunds_by_an_agent() {
    let program = r#"(return (count (filter :ok
  (mapv (fn [order] (tool/call {:server "bank" :tool "pay" :args {:n order}})) (range 101 115)))))"#;
    let world = in_file("refunds", "--bank", "");
    let mission = Mission::with("refunds", &world.config, &[program]);
    // Recording the model's replies paid, too.
    std::fs::remove_file(&world.payments).expect("payments");
    let plan = world.payments.with_file_name("plan.json").display().to_string();
    let planned = mission.run(&[&format!("--plan-writes={plan}")]);
    assert_eq!(planned.code, 0, "{planned:?}");
    assert!(
        planned.out.starts_with("14 writes planned, none sent\n  1. bank.pay {\"n\":101}"),
        "{planned:?}"
    );
    assert!(world.paid().is_empty());

    let apply = || {
        command(&[
            "effects",
            "apply",
            &plan,
            "agent",
            "run",
            &mission.agent,
            "--replay",
            &mission.cassette,
            "--upstreams-config",
            &mission.config,
            "--effects",
            &world.ledger,
            "--approve",
        ])
    };
    let mut process = apply();
    process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = process.spawn().expect("ptc starts");
    let mut typing = process.stdin.take().expect("a pipe");
    typing.write_all(b"y\ny\ny\ny\ny\n").expect("typed");
    let since = Instant::now();
    let lines = || std::fs::read_to_string(&world.payments).map_or(0, |text| text.lines().count());
    while lines() < 5 {
        assert!(since.elapsed() < Duration::from_secs(60), "{} of 5 refunds", lines());
        std::thread::sleep(Duration::from_millis(20));
    }
    // The sixth question waits for its answer.
    std::thread::sleep(Duration::from_millis(300));
    process.kill().expect("killed");
    process.wait().expect("gone");
    assert_eq!(world.paid().len(), 5);

    let states = || {
        let listed = world.effects(&["list", "--json"]).json();
        let states = listed["effects"].as_array().into_iter().flatten().map(|entry| entry["state"].clone());
        states.collect::<Vec<Value>>()
    };
    let before = states();
    assert!(before.len() == 5, "{before:?}");
    // A refund whose answer was not written down is settled as the bank's records say: it was made.
    let listed = world.effects(&["list", "--state", "sent", "--json"]).json();
    for entry in listed["effects"].as_array().into_iter().flatten() {
        let settled = world.effects(&["settle", entry["id"].as_str().expect("an id"), "done"]);
        assert_eq!(settled.code, 0, "{settled:?}");
    }
    let again = finish(apply(), "y\n".repeat(9).as_bytes());
    assert_eq!((again.code, again.out.as_str()), (0, "14\n"), "{again:?}");
    assert_eq!(again.err.matches("the program wants to call bank.pay").count(), 9, "{again:?}");
    let paid = world.paid();
    assert!(paid.len() == 14 && paid.values().all(|times| *times == 1), "{paid:?}");
    assert_eq!(states(), vec![json!("done"); 14]);
}
