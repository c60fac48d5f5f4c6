//! Forged files with correct hashes go through load, verify and a run. In every case, nothing panics, hangs or says
//! "internal error".
//!
//! `PTC_MUTANTS=1000000 cargo test --release -p ptc-runtime --test preludes mutants -- --nocapture` tries more of them,
//! `PTC_MUTANTS_SECONDS=1800` sets a time instead, and `PTC_MUTANTS_SEED` other ones.

use super::common::*;
use super::forge::{Dice, bend, bend_file, forged_section, setting};
use ptc_bytecode::{Section, code_bytes, encode_prelude, kind, seal};
use ptc_runtime::{Attach, CompileOptions, Grants, Limits, LoadOptions, Prelude, Runtime};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SOURCE: &str = "(ns m) (def k {:a [1 2] :b \"text\"}) (def f (fn [x] (+ x 1)))
    (defn- helper [x] (if (map? x) (:a x) [x]))
    (defn loops [n] (loop [i 0 acc []] (if (< i n) (recur (inc i) (conj acc (helper i))) acc)))
    (defn calls [x] (tool/call {:server \"s\" :tool \"t\" :args {:x x}}))
    (defn data [] (get-in data/rows [0 :id]))
    (defn many ([] (f 1)) ([a & more] (reduce + a (map f more))))
    (defn branches [x] (cond (nil? x) :nil (string? x) (str x k) :else {:x x :k k}))";

const PROGRAM: &str = "[(m/loops 3) (m/calls 1) (m/data) (m/many) (m/many 1 2 3) (m/branches nil) (m/branches \"a\") m/k ((m/f) 1)]";

/// A prelude used by [`USER`], with a tool that is private to it.
const USED: &str = "(ns crm) (def size 50) (defn- raw [id] (tool/secret {:id id}))
    (defn find [id] {:id id :raw (raw id)}) (defn tag [id] (str \"c\" id))";

const USER: &str = "(ns m (:require [crm :as c]))
    (def k {:a [1 2]}) (defn- helper [x] (if (map? x) (:id x) (c/tag x)))
    (defn loops [n] (loop [i 0 acc []] (if (< i n) (recur (inc i) (conj acc (helper i))) acc)))
    (defn calls [x] (helper (c/find x))) (defn many ([] c/size) ([a & more] (map c/tag (cons a more))))
    (defn data [] (get-in data/rows [0 :id])) (defn branches [x] (cond (nil? x) c/size (string? x) (c/find x) :else k))";

const USER_PROGRAM: &str =
    "[(m/loops 3) (m/calls 1) (m/data) (m/many) (m/many 1 2) (m/branches nil) (m/branches \"a\") m/k]";

/// A series of mutants of one kind: a fixed number, or as many as the time allows.
struct Course {
    most: u64,
    until: Option<Instant>,
    tried: u64,
    ran: u64,
    /// Counts of refusals, by reason.
    refused: BTreeMap<&'static str, u64>,
}

impl Course {
    fn new() -> Course {
        let seconds = setting("PTC_MUTANTS_SECONDS");
        let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let most = setting("PTC_MUTANTS").unwrap_or(if until.is_some() { u64::MAX } else { 4_000 });
        Course { most, until, tried: 0, ran: 0, refused: BTreeMap::new() }
    }

    fn goes_on(&self) -> bool {
        self.tried < self.most && self.until.is_none_or(|until| Instant::now() < until)
    }

    fn try_out(&mut self, bytes: &[u8]) {
        self.note(try_out(bytes));
    }

    fn note(&mut self, tried: Result<(), &'static str>) {
        self.tried += 1;
        match tried {
            Ok(()) => self.ran += 1,
            Err(reason) => *self.refused.entry(reason).or_default() += 1,
        }
    }

    /// Reports the counts, and asserts that each of these reasons occurred.
    fn end(self, name: &str, reasons: &[&str]) {
        let Course { tried, ran, refused, .. } = self;
        println!("{name}: {tried} tried, {ran} ran, refused: {refused:?}");
        assert!(!refused.contains_key("internal_error"), "{refused:?}");
        for reason in reasons {
            assert!(refused.contains_key(reason), "nothing was refused for {reason}: {refused:?}");
        }
    }
}

fn small(runtime: Runtime) -> Runtime {
    runtime.limits(Limits { fuel: 20_000, memory_bytes: 2_000_000, timeout_ms: 2_000, ..Limits::default() })
}

/// Loads a file and runs its exports. The error is the reason for its refusal.
fn try_out(bytes: &[u8]) -> Result<(), &'static str> {
    let prelude = Prelude::load(&runtime(), bytes, &LoadOptions::default());
    let prelude = prelude.map_err(|problem| problem.code.reason())?;
    // A loaded prelude can be written, shown and looked up.
    let _ = (prelude.to_bytes(), prelude.inventory(Default::default()));
    let tools = stub();
    let attached = match small(runtime()).with_tools(tools.clone()).attach(&prelude, &Attach::new()) {
        Ok(attached) => attached,
        Err(failure) => {
            assert_ne!(failure.reason(), "internal_error", "{failure}");
            return Ok(());
        }
    };
    let grants = Grants::new().json("rows", "[{\"id\": 1}]").unwrap();
    let everything = prelude.exports().iter().map(|export| match export.is_constant() {
        true => export.reference(),
        false => format!("({} {})", export.reference(), "1 ".repeat(export.min_arity())),
    });
    for program in std::iter::once(PROGRAM.to_string()).chain(everything) {
        if let Err(failure) = attached.eval(&program, &grants) {
            assert_ne!(failure.reason(), "internal_error", "{program}\n{failure}");
        }
    }
    let _ = attached.eval("[(all-ns) (dir 'm) (apropos \"loops\") (source m/loops)]", &grants);
    Ok(())
}

#[test]
fn the_original_runs() {
    assert_eq!(try_out(&compiled(SOURCE).to_bytes()), Ok(()));
    let grants = Grants::new().json("rows", "[{\"id\": 7}]").unwrap();
    let found = attached(SOURCE, &stub()).with_tools(stub()).eval(PROGRAM, &grants).unwrap();
    assert!(found.print().unwrap().starts_with("[[[0] [1] [2]] {"), "{}", found.print().unwrap());
}

/// Bytes of a section are changed, then all hashes are recomputed.
#[test]
fn mutants_of_sections() {
    let bytes = compiled(SOURCE).to_bytes();
    let (mut dice, mut course) = (Dice::new(1), Course::new());
    while course.goes_on() {
        course.try_out(&forged_section(&bytes, &mut dice));
    }
    course.end("sections", &["corrupt", "source_mismatch"]);
}

/// Bytes of the file are changed, and no hash is recomputed.
#[test]
fn mutants_of_bytes() {
    let bytes = compiled(SOURCE).to_bytes();
    let (mut dice, mut course) = (Dice::new(4), Course::new());
    while course.goes_on() {
        let mut bent = bytes.clone();
        match dice.roll(8) {
            0 => bent.truncate(dice.roll(bytes.len())),
            // The header and the table of sections, where most checks apply.
            1 => bent[dice.roll(400)] = dice.roll(256) as u8,
            _ => {
                for _ in 0..=dice.roll(3) {
                    bend(&mut bent, &mut dice);
                }
            }
        }
        course.try_out(&bent);
    }
    course.end("bytes", &["bad_magic", "corrupt", "unsupported_format"]);
}

/// The meaning of the file is changed, then every hash and total is recomputed, as a forger would.
#[test]
fn mutants_of_structure() {
    let file = compiled(SOURCE).to_file();
    let (mut dice, mut course) = (Dice::new(2), Course::new());
    while course.goes_on() {
        let mut bent = file.clone();
        for _ in 0..=dice.roll(2) {
            bend_file(&mut bent, &mut dice);
        }
        course.try_out(&encode_prelude(&bent.sealed()));
    }
    // Some changes are harmless: another constant, another name. Those files must run too.
    assert!(course.ran > 0 && course.ran < course.tried);
    let rules = [
        "authority_mismatch",
        "bad_constant",
        "bad_control_flow",
        "bad_export",
        "bad_function",
        "bad_instruction",
        "limit_exceeded",
        "missing_fuel_check",
        "source_mismatch",
        "uninitialised_register",
        "unresolved_builtin",
    ];
    course.end("structure", &rules);
}

/// Makes a host with the used prelude, whose tool is private to it; also returns that prelude.
fn beside_used() -> (Runtime, Prelude) {
    let tools = stub().with("secret", |_| Ok("for crm")).private_to("secret", "crm");
    let used = compiled(USED);
    (small(runtime()).with_tools(tools).attach(&used, &Attach::new()).unwrap(), used)
}

fn user(used: &Prelude) -> Prelude {
    let options = CompileOptions { uses: std::slice::from_ref(used), ..CompileOptions::default() };
    Prelude::compile_with(&runtime(), USER, &options).unwrap()
}

/// Loads a file, attaches it beside the prelude it uses, and runs its exports. The error is the reason for its refusal.
fn try_beside(host: &Runtime, used: &Prelude, bytes: &[u8]) -> Result<(), &'static str> {
    let options = LoadOptions { uses: std::slice::from_ref(used), ..LoadOptions::default() };
    let prelude = Prelude::load(&runtime(), bytes, &options).map_err(|problem| problem.code.reason())?;
    let _ = (prelude.to_bytes(), prelude.inventory(Default::default()));
    let attached = host.attach(&prelude, &Attach::new());
    let attached = attached.map_err(|failure| {
        assert_ne!(failure.reason(), "internal_error", "{failure}");
        failure.reason()
    })?;
    let grants = Grants::new().json("rows", "[{\"id\": 1}]").unwrap();
    let everything = prelude.exports().iter().map(|export| match export.is_constant() {
        true => export.reference(),
        false => format!("({} {})", export.reference(), "1 ".repeat(export.min_arity())),
    });
    for program in std::iter::once(USER_PROGRAM.to_string()).chain(everything) {
        if let Err(failure) = attached.eval(&program, &grants) {
            assert_ne!(failure.reason(), "internal_error", "{program}\n{failure}");
        }
    }
    // The used prelude still runs its own code, and its tool stays private.
    let of_used = attached.eval("[crm/size (crm/tag 7) (:raw (crm/find 1))]", &grants).unwrap();
    assert_eq!(of_used.print().unwrap(), "[50 \"c7\" \"for crm\"]");
    Ok(())
}

/// A file that uses another prelude may make false claims about it, too.
#[test]
fn mutants_of_a_file_that_uses_another() {
    let (host, used) = beside_used();
    let sound = user(&used);
    assert_eq!(try_beside(&host, &used, &sound.to_bytes()), Ok(()));
    let grants = Grants::new().json("rows", "[{\"id\": 7}]").unwrap();
    let found = host.attach(&sound, &Attach::new()).unwrap().eval(USER_PROGRAM, &grants).unwrap();
    let wanted = "[[\"c0\" \"c1\" \"c2\"] 1 7 50 [\"c1\" \"c2\"] 50 {:id \"a\" :raw \"for crm\"} {:a [1 2]}]";
    assert_eq!(found.print().unwrap(), wanted);
    let (bytes, file) = (sound.to_bytes(), sound.to_file());
    let (mut dice, mut course) = (Dice::new(5), Course::new());
    while course.goes_on() {
        let mutant = match dice.roll(3) {
            0 => forged_section(&bytes, &mut dice),
            _ => {
                let mut bent = file.clone();
                for _ in 0..=dice.roll(2) {
                    bend_file(&mut bent, &mut dice);
                }
                encode_prelude(&bent.sealed())
            }
        };
        course.note(try_beside(&host, &used, &mutant));
    }
    assert!(course.ran > 0 && course.ran < course.tried);
    let rules =
        ["bad_export", "interface_changed", "prelude_attach_failed", "source_mismatch", "bad_instruction"];
    course.end("beside another", &rules);
}

#[test]
fn any_bytes() {
    let mut dice = Dice::new(3);
    for length in 0..400 {
        let bytes: Vec<u8> = (0..length).map(|_| dice.roll(256) as u8).collect();
        assert!(try_out(&bytes).is_err());
        let code = Section { kind: kind::CODE, ancillary: false, body: &bytes };
        assert!(try_out(&seal(0, &[code])).is_err());
        let manifest = Section { kind: kind::MANIFEST, ancillary: false, body: &bytes };
        let code = code_bytes(&Default::default());
        let code = Section { kind: kind::CODE, ancillary: false, body: &code };
        assert!(try_out(&seal(0, &[manifest, code])).is_err());
    }
}
