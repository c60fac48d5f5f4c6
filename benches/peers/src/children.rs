//! Runs every arm in a process of its own, so that none is affected by another's heap, caches or allocator, and
//! collects the rows they print.

use crate::data;
use crate::options::Options;
use crate::report::time;
use crate::row::Row;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// One process to run.
struct Job {
    arm: String,
    command: Command,
}

/// Measures all requested arms and returns their rows.
pub fn measure(options: &Options) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for job in jobs(options)? {
        eprintln!("== {}", job.arm);
        let arm = job.arm.clone();
        if let Err(error) = collect(job, &mut rows) {
            let (workload, failed) = ("*".to_string(), Some(error.to_string()));
            rows.push(Row { arm, workload, failed, ..Row::default() });
        }
    }
    Ok(rows)
}

fn jobs(options: &Options) -> Result<Vec<Job>, Box<dyn Error>> {
    let wanted =
        |name: &str| options.arms.as_ref().is_none_or(|arms| arms.iter().any(|wanted| wanted == name));
    let mut jobs: Vec<Job> = Vec::new();
    let own = std::env::current_exe()?;
    for bin in std::iter::once(&own).chain(&options.bins) {
        for arm in arms_of(bin)? {
            if wanted(&arm) && jobs.iter().all(|job| job.arm != arm) {
                let mut command = Command::new(bin);
                command.args(["--child", &arm]);
                jobs.push(Job { arm, command });
            }
        }
    }
    for command in &options.commands {
        let (arm, words) = command.split_once('=').ok_or("--cmd needs NAME=COMMAND")?;
        if !wanted(arm) {
            continue;
        }
        data::ensure(&options.data)?;
        let mut words = words.split_whitespace();
        let mut command = Command::new(words.next().ok_or("--cmd needs a command")?);
        command.args(words).arg("--data").arg(&options.data);
        jobs.push(Job { arm: arm.to_string(), command });
    }
    // Steel writes to its home directory when it starts.
    let home = std::env::temp_dir().join("ptc-peers-steel");
    std::fs::create_dir_all(&home)?;
    for Job { command, .. } in &mut jobs {
        command.env("STEEL_HOME", &home).stdout(Stdio::piped());
        if options.quick {
            command.arg("--quick");
        }
        if let Some(only) = &options.only {
            command.args(["--only", &only.join(",")]);
        }
    }
    Ok(jobs)
}

fn arms_of(bin: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let output = Command::new(bin).arg("--list").output()?;
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_string).collect())
}

/// Collects rows as they come and shows them; other lines are passed on.
fn collect(mut job: Job, rows: &mut Vec<Row>) -> Result<(), Box<dyn Error>> {
    let mut child = job.command.spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        let Ok(row) = serde_json::from_str::<Row>(&line) else {
            eprintln!("{line}");
            continue;
        };
        let shown = row.timing.as_ref().map_or("–".to_string(), |timing| time(timing.shown()));
        eprintln!("   {:12} {shown}", row.workload);
        rows.push(row);
    }
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}
