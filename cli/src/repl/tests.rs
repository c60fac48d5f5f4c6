//! Answers to inputs, without a terminal.

use super::Feed;
use super::{Answer, Interrupt, Look, Repl, World};
use crate::args::{Args, Command};
use clap::Parser;

fn repl_with(args: &[&str], look: Look) -> Repl {
    let args = Args::parse_from(["ptc", "repl"].iter().chain(args));
    let Command::Repl(args) = args.command else { panic!("not the REPL") };
    Repl::new(World::new(&args, Interrupt::default()).expect("a world"), look, false)
}

fn plain() -> Repl {
    repl_with(&[], Look::PLAIN)
}

fn on_terminal() -> Repl {
    repl_with(&[], Look { colour: false, width: Some(60), excerpts: Some(false) })
}

#[track_caller]
fn says(repl: &mut Repl, input: &str, out: &str) {
    let answer = repl.feed(input);
    assert_eq!((answer.out.as_str(), answer.err.as_str(), answer.failed), (out, "", false), "{input}");
}

#[track_caller]
fn fails(repl: &mut Repl, input: &str, part: &str) -> Answer {
    let answer = repl.feed(input);
    assert!(answer.failed && answer.err.contains(part), "{input}: {answer:?}");
    answer
}

#[test]
fn a_session_keeps_definitions_and_values() {
    let mut repl = plain();
    says(&mut repl, "(def x 20)", "#'x\n");
    says(&mut repl, "(+ x 1)", "21\n");
    says(&mut repl, "(+ *1 x)", "41\n");
    says(&mut repl, "[*1 *2 *3]", "[41 21 #'x]\n");
    says(&mut repl, "(println \"a\") (println \"b\") :c", "a\nb\n:c\n");
    says(&mut repl, " ; nothing\n", "");
}

#[test]
fn a_failure_changes_nothing() {
    let mut repl = plain();
    says(&mut repl, "(def x 1)", "#'x\n");
    let answer = fails(&mut repl, "(def x 2) (println \"on the way\") (+ 1 nil)", "type_error");
    assert_eq!(answer.out, "on the way\n");
    fails(&mut repl, "(fliter odd? [1])", "did you mean `filter`?");
    fails(&mut repl, "(inc 1]", "parse_error");
    says(&mut repl, "x", "1\n");
}

#[test]
fn a_terminal_shows_an_arrow_and_cuts_what_is_long() {
    let mut repl = on_terminal();
    says(&mut repl, "(println \"p\") {:a 1}", "p\n=> {:a 1}\n");
    let answer = repl.feed("(range 100000)");
    assert!(answer.out.starts_with("=> [0 1 2"), "{}", answer.out);
    assert!(answer.out.ends_with("… cut after 24 lines; :full shows all of it\n"), "{}", answer.out);
    assert!(answer.out.lines().all(|line| line.chars().count() <= 60), "{}", answer.out);
    let answer = repl.feed(":full");
    assert!(answer.out.ends_with("99999]\n"), "all of it");
    let answer = repl.feed("(map (fn [n] {:number n}) (range 60))");
    assert!(answer.out.ends_with("… cut after 24 lines; :full shows all of it\n"), "{}", answer.out);
    let answer = fails(&mut repl, "(+ 1\n nil)", "--> input:1:1");
    assert!(answer.err.contains("(+ 1"), "{answer:?}");
}

#[test]
fn looking_up_in_the_language_reads_well_on_a_terminal() {
    let mut repl = on_terminal();
    let answer = repl.feed("(doc frequencies)");
    assert!(answer.out.starts_with("frequencies\nDescription: A map"), "{}", answer.out);
    assert!(repl.feed("(apropos \"sort\")").out.contains("local: sort - "));
    assert!(repl.feed("(dir str)").out.lines().count() > 10);
    // In a pipe they are values like any other.
    assert!(plain().feed("(doc frequencies)").out.starts_with("\"frequencies\\nDescription"));
}

#[test]
fn doc_knows_session_language_and_namespaces() {
    let mut repl = plain();
    says(&mut repl, "(defn twice \"Doubles.\" [x] (* 2 x)) (def n 7)", "#'n\n");
    says(&mut repl, ":doc twice", "(twice x)\n\n  Doubles.\n\n  defined in this session\n");
    says(&mut repl, ":doc n", "n = 7\n\n  defined in this session\n");
    assert!(repl.feed(":doc 'str/join").out.contains("(join sep coll)"));
    assert!(repl.feed(":doc clojure.set").out.contains("union"));
    assert!(repl.feed(":doc :load").out.contains("runs a file"));
    fails(&mut repl, ":doc fliter", "did you mean `filter`?");
    fails(&mut repl, ":doc", "which name?");
    says(&mut repl, ":source twice", "(defn twice \"Doubles.\" [x] (* 2 x))\n");
    fails(&mut repl, ":source map", "part of the language");
    fails(&mut repl, ":source nope", "there is no source of `nope`");
    says(&mut repl, ":defs", "n      7\ntwice  (twice x)  Doubles.\n");
    assert!(repl.feed(":apropos group").out.contains("group-by"));
    fails(&mut repl, ":apropos zzzzz", "nothing matches");
    assert!(repl.feed(":dir").out.contains("clojure.string\n"));
    fails(&mut repl, ":dir nope", "there is no namespace `nope`");
}

#[test]
fn commands_that_change_the_session() {
    let mut repl = plain();
    says(&mut repl, "(def a 1)", "#'a\n");
    assert!(repl.feed(":limits").out.contains("fuel"));
    let answer = repl.feed(":limits fuel=50 timeout_ms=2s");
    assert!(answer.out.contains("50") && answer.out.lines().count() == 2, "{answer:?}");
    fails(&mut repl, "(reduce + (range 1000))", "fuel_exceeded");
    fails(&mut repl, ":limits speed=1", "there is no limit `speed`");
    fails(&mut repl, ":limits fuel", "expected NAME=VALUE");
    repl.feed(":limits fuel=1000000");
    says(&mut repl, "(reduce + (range 1000))", "499500\n");
    says(&mut repl, ":data", "no data is granted\n");
    says(&mut repl, ":data rows=[1, 2]", "granted data/rows\n");
    says(&mut repl, "(count data/rows)", "2\n");
    fails(&mut repl, ":data rows=[1,", "data/rows");
    says(&mut repl, ":tools price={\"eur\": 3}", "granted tool/price\n");
    says(&mut repl, "(tool/price {:of \"tea\"})", "{\"eur\" 3}\n");
    says(&mut repl, ":tools", "tool/price\n");
    says(&mut repl, ":reset", "1 definition forgotten\n");
    fails(&mut repl, "a", "unbound_var");
    says(&mut repl, "(tool/price {})", "{\"eur\" 3}\n");
    assert!(repl.feed(":quit").leaves && repl.feed(" :q ").leaves);
}

#[test]
fn time_json_disasm_and_turns() {
    let mut repl = plain();
    let answer = repl.feed(":time (+ 1 2)");
    assert!(answer.out.starts_with("3\n") && answer.out.ends_with(" fuel\n"), "{answer:?}");
    says(&mut repl, "*1", "3\n");
    says(&mut repl, ":time", "time and fuel of each program: on\n");
    assert!(repl.feed("7").out.contains(" fuel\n"));
    assert!(fails(&mut repl, "(+ 1 nil)", " fuel\n").out.is_empty());
    repl.feed(":time");
    says(&mut repl, "7", "7\n");
    says(&mut repl, ":json {:a [1 nil]}", "{\"a\":[1,null]}\n");
    says(&mut repl, ":json", "{\"a\":[1,null]}\n");
    fails(&mut repl, ":json inc", "error: ");
    says(&mut repl, ":json (println \"p\") 1", "p\n1\n");
    assert!(repl.feed(":disasm (+ 1 2)").out.contains("return"));
    repl.feed("(defn f [x] (* x x))");
    assert!(repl.feed(":disasm f").out.contains("mul"), "{:?}", repl.feed(":disasm f"));
    fails(&mut repl, ":disasm (nope)", "unbound_var");
    fails(&mut repl, ":disasm", "what should be listed");
    let turns = repl.feed(":turns").out;
    assert!(turns.contains("failed") && turns.contains("(* x x)"), "{turns}");
}

#[test]
fn help_lists_every_command() {
    let mut repl = plain();
    let help = repl.feed(":help").out;
    for command in super::commands::COMMANDS {
        assert!(help.contains(&format!("\n{}", command.names[0])), "{}", command.names[0]);
        assert!(repl.feed(&format!(":help {}", command.names[0])).out.contains(command.about));
    }
    assert!(repl.feed(":help load").out.contains("also :l"));
    fails(&mut repl, ":help nope", "there is no command `:nope`");
}

#[test]
fn keywords_are_no_commands() {
    let mut repl = on_terminal();
    says(&mut repl, ":done", "=> :done\n");
    assert_eq!(repl.feed(":hepl").err, "note: `:hepl` is a keyword; the command is `:help`\n");
    assert_eq!(plain().feed(":hepl").err, "");
}

#[test]
fn a_panic_of_ours_or_a_runaway_leaves_the_session() {
    let mut repl = repl_with(&["--timeout", "50ms"], Look::PLAIN);
    says(&mut repl, "(def kept 1)", "#'kept\n");
    fails(&mut repl, "(loop [i 0] (recur (inc i)))", "timeout");
    fails(&mut repl, "(into [] (range 100000000))", "exceeded");
    says(&mut repl, "kept", "1\n");
}

#[test]
fn ctrl_c_stops_a_run_and_nothing_else() {
    let args = Args::parse_from(["ptc", "repl", "--timeout", "60s", "--fuel", "1000000000000"]);
    let Command::Repl(args) = args.command else { panic!("not the REPL") };
    let interrupt = Interrupt::default();
    let mut repl = Repl::new(World::new(&args, interrupt.clone()).expect("a world"), Look::PLAIN, false);
    says(&mut repl, "(def kept 1)", "#'kept\n");
    let presses = std::thread::spawn(move || {
        // Until it hits the run: before that there is nothing to stop.
        while !interrupt.press() {
            std::thread::yield_now();
        }
    });
    fails(&mut repl, "(def kept 2) (loop [i 0] (recur (inc i)))", "stopped by Ctrl-C");
    presses.join().expect("pressed");
    says(&mut repl, "kept", "1\n");
}
