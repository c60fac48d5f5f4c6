//! Cases of the corpus, each as a test of its own, against the strict list of known gaps.
//!
//! `PTC_BLESS_GAPS=1` rewrites the list and prints how many cases pass.

use libtest_mimic::{Arguments, Failed, Trial};
use ptc_runtime::Runtime;
use ptc_snapshots::conformance::{Case, Gaps, cases, limits};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let runtime = Arc::new(ptc_snapshots::runtime().limits(limits()));
    let cases = cases();
    if std::env::var_os("PTC_BLESS_GAPS").is_some() {
        return bless(&runtime, &cases);
    }
    let mut gaps = Gaps::load().0;
    let mut trials: Vec<Trial> = cases
        .into_iter()
        .map(|case| {
            let (runtime, ticket) = (runtime.clone(), gaps.remove(&case.id));
            let name = format!("{}::{}", case.file, case.id);
            let kind = if ticket.is_some() { "gap" } else { "" };
            Trial::test(name, move || verdict(&case, &runtime, ticket.as_deref())).with_kind(kind)
        })
        .collect();
    trials.push(Trial::test("known_gaps_name_cases", move || match gaps.is_empty() {
        true => Ok(()),
        false => Err(format!("known-gaps.toml lists what is no case: {:?}", gaps.keys()).into()),
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn verdict(case: &Case, runtime: &Runtime, ticket: Option<&str>) -> Result<(), Failed> {
    match (case.check(runtime), ticket) {
        (Ok(()), None) => Ok(()),
        (Err(miss), Some(_)) if !miss.panicked => Ok(()),
        (Err(miss), _) => Err(miss.story.into()),
        (Ok(()), Some(ticket)) => {
            Err(format!("{} passes now; take it off known-gaps.toml ({ticket})", case.id).into())
        }
    }
}

fn bless(runtime: &Runtime, cases: &[Case]) -> ExitCode {
    let known = Gaps::load().0;
    let mut gaps = BTreeMap::new();
    let mut panics = 0;
    for case in cases {
        if let Err(miss) = case.check(runtime) {
            if miss.panicked {
                eprintln!("{}\n", miss.story);
                panics += 1;
            }
            let ticket = known.get(&case.id).filter(|ticket| !ticket.starts_with("part-2:"));
            gaps.insert(case.id.clone(), ticket.cloned().unwrap_or(format!("part-2: {}", miss.reason)));
        }
    }
    println!("{} of {} cases pass, {panics} panic", cases.len() - gaps.len(), cases.len());
    match Gaps(gaps).save() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("known-gaps.toml: {error}");
            ExitCode::FAILURE
        }
    }
}
