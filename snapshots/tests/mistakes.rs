//! Slips in correct programs: they must not silently give a wrong answer, and correct programs get no warnings.

use ptc_snapshots::mistakes::{Kind, Met, Tally, generated, right_programs, slips};
use ptc_snapshots::runtime;

#[test]
fn a_wrong_name_is_told() {
    let runtime = runtime();
    let mut tally = Tally::default();
    let mut silent = Vec::new();
    let made_up = generated(&runtime, 100);
    for right in right_programs(&runtime).into_iter().chain(made_up) {
        for slip in slips(&right) {
            let met = right.meet(&runtime, &slip.program, &slip.right_name);
            if met == Met::Silent {
                silent
                    .push(format!("{:?} {} ({}): {}", slip.kind, right.name, slip.right_name, slip.program));
            }
            tally.count(slip.kind, met);
        }
    }
    println!("{}\n{}", tally.to_text(), silent.join("\n"));
    let named = |met| matches!(met, Met::Before { named: true } | Met::After { named: true });
    for kind in [Kind::Field, Kind::Data] {
        assert!(tally.harmful(kind) > 100, "too few slips to tell");
        assert!(tally.share(kind, |met| met == Met::Silent) <= 0.03, "{kind:?}");
        assert!(tally.share(kind, named) >= 0.92, "{kind:?}");
    }
    assert!(tally.share(Kind::Field, |met| matches!(met, Met::Before { .. })) >= 0.85);
}

#[test]
fn a_right_program_is_not_warned_of() {
    let runtime = runtime();
    let mut warned = Vec::new();
    let made_up = generated(&runtime, 1_000);
    assert_eq!(made_up.len(), 1_000);
    let right: Vec<_> = right_programs(&runtime).into_iter().chain(made_up).collect();
    for right in &right {
        let outcome = runtime.eval(&right.program, &right.grants()).expect("it is right");
        if let Some(warning) = outcome.warnings().first() {
            warned.push(format!("{}: {}\n{}", right.name, warning.to_line(&right.program), right.program));
        }
    }
    println!("{} of {}\n{}", warned.len(), right.len(), warned.join("\n"));
    assert!(warned.len() * 200 <= right.len());
}
