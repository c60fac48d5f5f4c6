//! Generated programs in the subset shared with Clojure: real Clojure gives the same answers, or an explanation
//! says why not. Statements of the reference page about Clojure are checked too. Without a `clojure` command
//! nothing is compared.
//!
//! `PTC_CLOJURE_PROGRAMS` sets the number of programs, `PTC_TEST_SEED` the first seed.
#![allow(missing_docs)]

use ptc_bytecode::Limits;
use ptc_snapshots::canon::{Printed, parse};
use ptc_snapshots::clojure::reference::{SPECIAL_FORMS, Status, names, sections, stated};
use ptc_snapshots::clojure::{Answer, Clojure, bytes, explanations, ours, program};
use ptc_snapshots::generate::shrink;
use ptc_snapshots::oracle::Subject;
use ptc_snapshots::setting;
use ptc_snapshots::tried::tried;
use std::collections::{BTreeMap, BTreeSet};

/// Programs, one per line, that once revealed a bug or needed an explanation.
const ONCE_DIFFERENT: &str = include_str!("../clojure/programs.txt");

struct Judges {
    subject: Subject,
    clojure: Clojure,
}

enum Verdict {
    Agreed { is_value: bool },
    Slow,
    Explained(Vec<String>),
    Differs,
}

impl Judges {
    fn judge(&mut self, source: &str) -> (Verdict, Answer, Answer) {
        let mine = ours(&mut self.subject, source);
        // Programs that exceed our limits would keep Clojure busy up to its own.
        let theirs = if mine == Answer::Slow { Answer::Slow } else { self.clojure.eval(source, &[]) };
        let is_internal = mine == Answer::Fault("internal_error".into());
        let verdict = if theirs == Answer::Slow {
            Verdict::Slow
        } else if mine.agrees(&theirs) && !is_internal {
            Verdict::Agreed { is_value: matches!(mine, Answer::Value(..)) }
        } else {
            self.clojure.explain(source, &mine).map_or(Verdict::Differs, Verdict::Explained)
        };
        (verdict, mine, theirs)
    }
}

fn story(judges: &mut Judges, seed: u64) -> String {
    let mut tries = 0;
    let small = shrink(&bytes(seed), |tried| {
        tries += 1;
        tries < 60 && matches!(judges.judge(&program(tried)).0, Verdict::Differs)
    });
    let source = program(&small);
    let (_, mine, theirs) = judges.judge(&source);
    format!("===== seed {seed}\n{source}\n----- ours    {mine:?}\n----- Clojure {theirs:?}\n")
}

#[test]
fn clojure_answers_alike() {
    let Some(clojure) = Clojure::start() else {
        println!("skipped: no `clojure` command (Debian: apt-get install clojure)");
        return;
    };
    let listed: Vec<String> = explanations().into_iter().map(|known| known.id).collect();
    assert_eq!(clojure.known(), listed, "explanations.clj and explanations.toml name the same rules");
    // Programs that end do so long before these limits; the others are of no use here.
    let limits = Limits { fuel: 2_000_000, ..Limits::default() };
    let mut judges = Judges { subject: Subject::new(ptc_snapshots::runtime().limits(limits)), clojure };
    let (start, programs) = (setting("PTC_TEST_SEED", 0), setting("PTC_CLOJURE_PROGRAMS", 300));
    let (mut values, mut faults, mut slow, mut explained) = (0, 0, 0, 0);
    let mut by_rule: BTreeMap<String, u64> = BTreeMap::new();
    let mut stories = Vec::new();
    for source in ONCE_DIFFERENT.lines() {
        if let (Verdict::Differs, mine, theirs) = judges.judge(source) {
            stories.push(format!("===== {source}\n----- ours    {mine:?}\n----- Clojure {theirs:?}\n"));
        }
    }
    for seed in start..start + programs {
        match judges.judge(&program(&bytes(seed))).0 {
            Verdict::Agreed { is_value: true } => values += 1,
            Verdict::Agreed { is_value: false } => faults += 1,
            Verdict::Slow => slow += 1,
            Verdict::Explained(rules) => {
                explained += 1;
                rules.into_iter().for_each(|rule| *by_rule.entry(rule).or_default() += 1);
            }
            Verdict::Differs => {
                stories.push(story(&mut judges, seed));
                if stories.len() as u64 >= setting("PTC_CLOJURE_STORIES", 10) {
                    break;
                }
            }
        }
    }
    println!(
        "{programs} programs: {values} same values, {faults} faults on both sides, {explained} explained, \
         {slow} ended by a limit"
    );
    for rule in explanations() {
        println!("  {:5} {:8}  {}", by_rule.get(&rule.id).unwrap_or(&0), rule.id, rule.rule);
    }
    assert!(stories.is_empty(), "{}", stories.join("\n"));
    assert!(slow * 100 <= programs, "too many programs run into limits: {slow}");
    assert!(values * 2 >= programs, "too many programs stop early: {values}");
}

/// Checks programs with calls wrapped in `try`, most of which stop on both sides.
#[test]
fn clojure_catches_alike() {
    let Some(clojure) = Clojure::start() else { return };
    let limits = Limits { fuel: 2_000_000, ..Limits::default() };
    let mut judges = Judges { subject: Subject::new(ptc_snapshots::runtime().limits(limits)), clojure };
    let (start, programs) = (setting("PTC_TEST_SEED", 0), setting("PTC_CLOJURE_PROGRAMS", 300));
    let (mut asked, mut values, mut explained, mut slow, mut stories) = (0, 0, 0, 0, Vec::new());
    for seed in start..start + programs {
        let Some(source) = tried(&program(&bytes(seed)), seed) else { continue };
        // A wrapper may pass strings that are not numbers to these; they return nil here, and Clojure throws.
        if source.contains("/parse") {
            continue;
        }
        asked += 1;
        match judges.judge(&source) {
            (Verdict::Agreed { is_value }, ..) => values += u64::from(is_value),
            (Verdict::Slow, ..) => slow += 1,
            (Verdict::Explained(_), ..) => explained += 1,
            // Vectors return nil for a missing index, also when called. Generated programs never call one, but
            // here a form that returns a vector may replace a function.
            (Verdict::Differs, Answer::Value(..), Answer::Fault(fault))
                if fault.starts_with("IndexOutOfBoundsException") =>
            {
                explained += 1;
            }
            (Verdict::Differs, mine, theirs) => {
                stories.push(format!(
                    "===== seed {seed}\n{source}\n----- ours    {mine:?}\n----- Clojure {theirs:?}\n"
                ));
            }
        }
        if stories.len() as u64 >= setting("PTC_CLOJURE_STORIES", 10) {
            break;
        }
    }
    println!(
        "{asked} programs with `try`: {values} same values, {explained} explained, {slow} ended by a limit"
    );
    assert!(stories.is_empty(), "{}", stories.join("\n"));
    assert!(asked * 2 >= programs && values * 2 >= asked, "{asked} programs, {values} values");
}

/// Returns whether Clojure answered as the reference states; of a fault, only the class counts.
fn is_as_stated(text: &str, answer: &Answer) -> bool {
    match (stated(text), answer) {
        (Answer::Fault(class), Answer::Fault(told)) => told.split(':').next() == Some(&class),
        (wanted, answer) => *answer != Answer::Slow && wanted.agrees(answer),
    }
}

#[test]
fn the_reference_states_what_clojure_answers() {
    let Some(mut clojure) = Clojure::start() else {
        println!("skipped: no `clojure` command (Debian: apt-get install clojure)");
        return;
    };
    let mut wrong = Vec::new();
    for row in sections().iter().flat_map(|section| &section.rows) {
        for example in row.examples.iter().filter(|_| row.status != Status::Absent) {
            let answer = clojure.eval(&example.program, &[]);
            let wanted = example.clojure.as_ref().unwrap_or(&example.ours);
            if !is_as_stated(wanted, &answer) {
                wrong.push(format!("{}\n  states {wanted}\n  gives {answer:?}", example.program));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the strings in the vector that a program evaluates to.
fn strings(clojure: &mut Clojure, program: &str) -> BTreeSet<String> {
    let Answer::Value(text, _) = clojure.eval(program, &[]) else { panic!("{program} gives no value") };
    let Ok(Printed::Vector(items)) = parse(&text) else { panic!("{program} gives no vector: {text}") };
    let text = |item| match item {
        Printed::Str(text) => text,
        other => panic!("no string: {other:?}"),
    };
    items.into_iter().map(text).collect()
}

#[test]
fn the_list_of_names_is_that_of_clojure() {
    let Some(mut clojure) = Clojure::start() else {
        println!("skipped: no `clojure` command (Debian: apt-get install clojure)");
        return;
    };
    let listed = names();
    let version = strings(&mut clojure, "[(clojure-version)]");
    if !version.contains(&listed.version) {
        println!("skipped: the list is of Clojure {}, and this is {version:?}", listed.version);
        return;
    }
    for (group, names) in listed.groups {
        let program = match group.as_str() {
            SPECIAL_FORMS => "(map name (keys (. clojure.lang.Compiler specials)))".to_string(),
            space => format!("(map str (keys (ns-publics '{space})))"),
        };
        assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), strings(&mut clojure, &program), "{group}");
    }
}

/// Checks the table in the documentation; `PTC_BLESS=1` rewrites it.
#[test]
fn the_book_lists_every_explanation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/internals/clojure.md");
    let text = std::fs::read_to_string(page).expect("the page");
    let head = "| Name | Rule |\n|---|---|\n";
    let start = text.find(head).expect("the table") + head.len();
    let rows: String =
        explanations().iter().map(|known| format!("| {} | {} |\n", known.id, known.rule)).collect();
    let wanted = format!("{}{rows}", &text[..start]);
    if std::env::var("PTC_BLESS").is_ok_and(|set| set == "1") {
        std::fs::write(page, &wanted).expect("the page is written");
    } else {
        assert_eq!(text, wanted, "PTC_BLESS=1 writes it anew");
    }
}
