//! Source text that is not a program.

use super::{Victim, limited, on_a_small_stack};
use ptc_runtime::{Grants, Limits};
use ptc_snapshots::generate::{self, SCRAPS};

/// Texts are built from scraps of source, so that many of them nearly are programs.
#[test]
fn any_text_is_refused_or_run() {
    on_a_small_stack(|| {
        let runtime = limited(Limits { fuel: 100_000, ..Limits::default() });
        for seed in 0..4_000 {
            let bytes = generate::bytes(seed);
            let scraps = bytes.iter().take(1 + seed as usize % 40);
            let source: String = scraps.map(|byte| SCRAPS[usize::from(*byte) % SCRAPS.len()]).collect();
            if let Err(failure) = runtime.eval(&source, &Grants::new()) {
                assert_ne!(failure.reason(), "internal_error", "{source:?}");
                assert_ne!(failure.reason(), "compile_error", "{source:?}");
            }
        }
        for byte in 0..=255u8 {
            let text = String::from_utf8_lossy(&[byte]).into_owned();
            let _ = runtime.eval(&text, &Grants::new());
        }
    });
}

#[test]
fn a_million_opening_brackets() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        let mut patient = Victim::new(Limits { source_bytes: 200 << 20, ..Limits::default() });
        for opener in ["(", "[", "{", "#{", "#(", "'", "#_", "^", "#'", "(fn [] ", "(let [a ", "{:a "] {
            let source = opener.repeat(1_000_000);
            let told = victim.tell(&source);
            assert!(told == "parse_error" || told == "program_too_large", "{opener} gave {told}");
            let told = patient.tell(&source);
            assert!(told == "parse_error", "{opener} gave {told}");
        }
        // As deep as allowed, and one level deeper.
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        victim.gives(&nested(64), &nested(64));
        victim.gives(&nested(65), "parse_error");
    });
}

#[test]
fn brackets_that_only_close() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { source_bytes: 200 << 20, ..Limits::default() });
        for closer in [")", "]", "}"] {
            victim.gives(&closer.repeat(1_000_000), "nil");
        }
        victim.gives(&"(] ".repeat(300_000), "parse_error");
    });
}

#[test]
fn a_hundred_megabytes_of_string() {
    on_a_small_stack(|| {
        let source = format!("(count \"{}\")", "x".repeat(100 << 20));
        Victim::new(Limits::default()).gives(&source, "program_too_large");
        let roomy = Limits { source_bytes: 200 << 20, timeout_ms: 20_000, ..Limits::default() };
        let told = Victim::new(roomy).tell(&source);
        assert!(["104857600", "memory_exceeded", "compile_memory_exceeded"].contains(&&*told), "{told}");
        // A text that never ends.
        let open = &source[..source.len() - 2];
        Victim::new(roomy).gives(open, "parse_error");
    });
}

#[test]
fn wide_programs() {
    on_a_small_stack(|| {
        let roomy = Limits { source_bytes: 200 << 20, timeout_ms: 20_000, ..Limits::default() };
        let mut victim = Victim::new(roomy);
        victim.gives(&format!("(count [{}])", "1 ".repeat(300_000)), "300000");
        victim.gives(&format!("(+ {})", "1 ".repeat(300_000)), "300000");
        victim.gives(&format!("(do {} 7)", "(inc 1) ".repeat(100_000)), "7");
        let names: String = (0..20_000).map(|i| format!("(def name{i} {i}) ")).collect();
        victim.gives(&names, "symbol_limit_exceeded");
        let keys: String = (0..5_000).map(|i| format!("{i} {i} ")).collect();
        victim.gives(&format!("(count {{{keys}}})"), "5000");
        victim.gives(&format!("(count {{{keys} 7 7}})"), "duplicate_key");
        let tests: String = (0..3_000).map(|i| format!("(= 1 {i}) {i} ")).collect();
        victim.gives(&format!("(cond {tests} :else 5)"), "1");
        let lets: String = (0..3_000).map(|i| format!("a{i} {i} ")).collect();
        victim.gives(&format!("(let [{lets}] a2999)"), "2999");
        let params: String = (0..300).map(|i| format!("p{i} ")).collect();
        let told = victim.tell(&format!("((fn [{params}] p299) {})", "1 ".repeat(300)));
        assert!(["1", "invalid_form"].contains(&&*told), "{told}");
        victim.gives(&format!("(-> 1 {})", "inc ".repeat(20_000)), "20001");
    });
}
