//! Programs built to beat the limits, each run by the real `ptc` in a process of its own and measured from outside: by
//! what the system says it had resident, and how much processor time it took.
//!
//! Bars, for every attack, whichever limit it is on:
//!
//! - resident memory: 3 × (`memory_bytes` + `stack_bytes`) + what was granted + 64 MB;
//! - time: `timeout_ms`, and 50 ms more in bytecode or 250 ms more inside one native.
//!
//! Time is processor time beyond what the same process takes for no program at all. The clock of a run is that on the wall,
//! and a machine with other work gives a run less processor time before its clock is up, never more. So the bar is
//! as strict as one of wall time where nothing else runs.
//!
//! These bars are those of a release build on a machine with nothing else to do: `.ci/run limits`. The ordinary tests
//! allow several times as much time, as their build is slower and processor time differs with what else runs; work that
//! no limit stops takes far longer than that.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod attack;
#[cfg(target_os = "linux")]
mod bignum;
#[cfg(target_os = "linux")]
mod bursts;
#[cfg(target_os = "linux")]
mod data;
#[cfg(target_os = "linux")]
mod endless;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod natives;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod parallel;
#[cfg(target_os = "linux")]
#[allow(dead_code)]
#[path = "../cli/process.rs"]
mod process;
#[cfg(target_os = "linux")]
mod sessions;
#[cfg(target_os = "linux")]
mod sources;
#[cfg(target_os = "linux")]
mod unfolding;

/// Nothing to measure with.
#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use libtest_mimic::{Arguments, Trial};
    let mut args = std::env::args();
    if args.nth(1).as_deref() == Some(measure::FLAG) {
        return measure::measure(args);
    }
    let attacks = all();
    let mut tests = vec![Trial::test("no_limit_is_without_an_attack", || {
        no_limit_is_without_an_attack();
        Ok(())
    })];
    tests.extend(attacks.into_iter().map(|attack| {
        Trial::test(attack.title(), move || {
            attack.is_held();
            Ok(())
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

#[cfg(target_os = "linux")]
fn all() -> Vec<attack::Attack> {
    let parts = [
        bursts::growing_data(),
        bignum::large_integers(),
        data::hostile_data(),
        endless::loops_and_recursions_without_an_end(),
        natives::work_inside_natives(),
        outputs::prints_results_and_messages(),
        parallel::branches_and_tool_storms(),
        sessions::many_turns(),
        sources::hostile_sources(),
        unfolding::data_that_unfold(),
    ];
    parts.into_iter().flatten().collect()
}

/// Every limit of the table has programs that try to beat it, and every name is another.
#[cfg(target_os = "linux")]
fn no_limit_is_without_an_attack() {
    let attacks = all();
    for row in ptc_bytecode::LIMITS {
        assert!(attacks.iter().any(|attack| attack.limit == row.name), "nothing attacks {}", row.name);
    }
    let mut titles: Vec<String> = attacks.iter().map(attack::Attack::title).collect();
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), attacks.len(), "two attacks have one name");
}
