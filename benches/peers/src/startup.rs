//! Start-up time (W8): from starting a process to its end, printing the sum of 1 and 2.

use crate::row::{Row, Timing};
use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Measures one row for each program that is installed.
pub fn measure(ptc: &Path, quick: bool) -> Result<Vec<Row>, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let programs: [(&str, &Path, &[&str]); 8] = [
        ("native", &own, &["--hello"]),
        ("ptc", ptc, &["eval", "-e", "(+ 1 2)"]),
        ("lua5.4", Path::new("lua5.4"), &["-e", "print(1+2)"]),
        ("luajit", Path::new("luajit"), &["-e", "print(1+2)"]),
        ("jaq", Path::new("jaq"), &["-n", "1+2"]),
        ("python3", Path::new("python3"), &["-S", "-E", "-c", "print(1+2)"]),
        ("node", Path::new("node"), &["-e", "console.log(1+2)"]),
        ("clojure", Path::new("clojure"), &["-e", "(+ 1 2)"]),
    ];
    let mut rows = Vec::new();
    for (name, program, args) in programs {
        eprintln!("== start of {name}");
        let note = format!("{} {}", program.file_name().unwrap_or_default().display(), args.join(" "));
        let row = Row { arm: name.into(), workload: "W8".into(), note: Some(note), ..Row::default() };
        rows.push(match starts(program, args, quick) {
            Ok((timing, answer)) => Row { timing: Some(timing), answer: answer.into(), ..row },
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Row { unable: Some("not installed".into()), ..row }
            }
            Err(error) => return Err(format!("{}: {error}", program.display()).into()),
        });
    }
    Ok(rows)
}

fn starts(program: &Path, args: &[&str], quick: bool) -> std::io::Result<(Timing, String)> {
    let (warm, runs) = if quick { (1, 3) } else { (3, 31) };
    let mut clock = Vec::new();
    let mut answer = String::new();
    for run in 0..warm + runs {
        let started = Instant::now();
        let output = Command::new(program).args(args).stdin(Stdio::null()).output()?;
        let took = started.elapsed();
        if run >= warm {
            clock.push(took.as_nanos() as f64);
        }
        answer = String::from_utf8_lossy(&output.stdout).trim().to_string();
    }
    Ok((Timing::of(clock, Vec::new(), 1, 1), answer))
}
