//! Counts the instructions of every case under callgrind and compares them with `benches/instructions.txt`. See
//! `benches/README.md`.
//!
//! Times mean little on a shared machine; instruction counts are equal everywhere to a fraction of a percent.
//! Each case runs in two processes, one doing twice the work of the other: the difference is the work alone,
//! without start-up and preparation.

use crate::cases::{CASES, Case};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Tolerated difference of a count from the baseline, in percent.
const TOLERANCE: f64 = 2.0;
/// Environment variable that, if 1, makes the counts the new baseline.
const BLESS: &str = "PTC_BLESS";

/// Counts the named cases, or all of them.
pub fn run(args: &[String]) -> ExitCode {
    let done = match args {
        [work, name, times] if work == "--work" => work_on(name, times),
        names if names.iter().all(|name| CASES.iter().any(|case| case.name == name)) => compare(names),
        _ => Err(format!("usage: measure instructions [CASE]…, of {}", names().join(", ")).into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn names() -> Vec<&'static str> {
    CASES.iter().map(|case| case.name).collect()
}

/// Does the work of a case; runs under callgrind.
fn work_on(name: &str, times: &str) -> Result<bool, Box<dyn Error>> {
    let case = CASES.iter().find(|case| case.name == name).ok_or("no such case")?;
    if !ptc_bytecode::fix_hash_secret_for_measuring(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344) {
        return Err("something was hashed before the secret was fixed".into());
    }
    let mut work = (case.prepare)();
    for _ in 0..times.parse::<u32>()? {
        work();
    }
    Ok(true)
}

fn compare(names: &[String]) -> Result<bool, Box<dyn Error>> {
    let baseline = read_baseline()?;
    let bless = std::env::var(BLESS).is_ok_and(|value| value == "1");
    let mut kept = baseline.clone();
    let (mut slower, mut faster) = (0, 0);
    println!("{:16} {:>14} {:>14} {:>8}", "case", "instructions", "baseline", "change");
    for case in CASES.iter().filter(|case| names.is_empty() || names.iter().any(|name| name == case.name)) {
        let count = count(case)?;
        kept.insert(case.name.to_string(), count);
        let Some(before) = baseline.get(case.name) else {
            slower += 1;
            println!("{:16} {count:>14} {:>14} {:>8}", case.name, "none", "new");
            continue;
        };
        let percent = (count as f64 / *before as f64 - 1.0) * 100.0;
        let remark = if percent > TOLERANCE {
            slower += 1;
            "  too many"
        } else if percent < -TOLERANCE {
            faster += 1;
            "  fewer: bless it"
        } else {
            ""
        };
        println!("{:16} {count:>14} {before:>14} {percent:>+7.2}%{remark}", case.name);
    }
    if bless {
        kept.retain(|name, _| CASES.iter().any(|case| case.name == name));
        write_baseline(&kept)?;
        println!("the baseline is now as counted");
        return Ok(true);
    }
    if slower + faster > 0 {
        println!("{slower} above the baseline by more than {TOLERANCE} % or new, {faster} below");
        println!("if that is meant: {BLESS}=1 .ci/run instructions, and commit benches/instructions.txt");
    }
    Ok(slower == 0)
}

/// Counts the instructions of a case's repetitions.
fn count(case: &Case) -> Result<u64, Box<dyn Error>> {
    let (once, twice) = std::thread::scope(|scope| {
        let once = scope.spawn(|| under_callgrind(case, case.times).map_err(|error| error.to_string()));
        let twice = under_callgrind(case, 2 * case.times);
        (once.join(), twice)
    });
    let once = once.map_err(|_| "a thread panicked")??;
    Ok(twice?.saturating_sub(once))
}

fn under_callgrind(case: &Case, times: u32) -> Result<u64, Box<dyn Error>> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(std::env::current_exe()?);
    let output = command
        .args(["instructions", "--work", case.name, &times.to_string()])
        .output()
        .map_err(|error| format!("cannot run valgrind, which has to be installed: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} failed:\n{text}", case.name).into());
    }
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.ok_or_else(|| format!("valgrind gave no count:\n{text}"))?;
    Ok(count.trim().parse()?)
}

fn baseline_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

fn read_baseline() -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let file = baseline_file();
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut counts = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, count) =
            line.split_once(' ').ok_or_else(|| format!("{}: no count in {line:?}", file.display()))?;
        counts.insert(name.to_string(), count.trim().parse()?);
    }
    Ok(counts)
}

fn write_baseline(counts: &BTreeMap<String, u64>) -> Result<(), Box<dyn Error>> {
    let mut text = String::from(
        "# Instructions per case. Written by `PTC_BLESS=1 .ci/run instructions`; see README.md.\n",
    );
    for case in CASES {
        if let Some(count) = counts.get(case.name) {
            writeln!(text, "{:16} {count}", case.name)?;
        }
    }
    std::fs::write(baseline_file(), text)?;
    Ok(())
}
