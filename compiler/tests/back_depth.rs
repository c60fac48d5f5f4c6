//! Deeply nested programs compile within a small stack, or are refused.

use ptc_bytecode::{Limits, verify};
use ptc_compiler::{Options, Scope, compile};

#[test]
fn deep_nesting_fits_a_two_megabyte_stack() {
    let limits = Limits { nesting: 256, ..Limits::default() };
    let shapes = [
        ("(f ", "1", ")"),
        ("(+ (f 1) ", "1", ")"),
        ("[", "1", "]"),
        ("{:a ", "1", "}"),
        ("#{", "1", "}"),
        ("(if 1 2 ", "1", ")"),
        ("(cond 1 2 :else ", "1", ")"),
        ("(let [x ", "1", "] x)"),
        ("(let [[a {:keys [b]}] ", "1", "] a)"),
        ("(let [x 1] ", "1", ")"),
        ("(fn [x] ", "1", ")"),
        ("(fn [{:keys [x]}] ", "1", ")"),
        ("(defn g [x & r] ", "1", ")"),
        ("(loop [x 1] (if x ", "1", " (recur 1)))"),
        ("(for [x [1] y [2] :when 1] ", "1", ")"),
        ("(-> 1 (f ", "1", "))"),
        ("(some-> 1 (f ", "1", "))"),
        ("(cond-> 1 1 (f ", "1", "))"),
        ("(case 1 1 2 ", "1", ")"),
        ("(or nil (and 1 ", "1", "))"),
        ("(if (and 1 (or nil ", "1", ")) 2 3)"),
        ("(when-let [x ", "1", "] x)"),
        ("'(", "1", ")"),
        ("(not ", "1", ")"),
        ("(doseq [x ", "[1]", "] x)"),
        ("(letfn [(h [] ", "1", ")] (h))"),
    ];
    let work = move || {
        for (open, middle, close) in shapes {
            for depth in [10, 60, 80, 120, 250] {
                let source = format!("(def f 1) {}{middle}{}", open.repeat(depth), close.repeat(depth));
                for optimize in [false, true] {
                    let options = Options { optimize, library: false };
                    match compile(&source, &Scope::default(), &limits, options) {
                        Ok(artifact) => {
                            verify(artifact).unwrap_or_else(|problem| panic!("{open} {depth}: {problem:?}"));
                        }
                        Err(problems) => {
                            let reason = problems[0].code.reason();
                            assert!(
                                matches!(reason, "invalid_form" | "parse_error"),
                                "{open} {depth}: {problems:?}"
                            );
                            assert!(depth > 60, "{open} {depth}: {problems:?}");
                        }
                    }
                }
            }
        }
    };
    // Frames with a sanitizer are several times as large.
    let times = if option_env!("PTC_TEST_LARGE_FRAMES").is_some() { 8 } else { 1 };
    std::thread::Builder::new().stack_size(times * (2 << 20)).spawn(work).unwrap().join().unwrap();
}

#[test]
fn long_programs_do_not_nest() {
    let limits = Limits::default();
    let many = 2_000;
    let sources = [
        format!("(-> 1 {})", "inc ".repeat(many)),
        format!("(->> [1] {})", "(map inc) ".repeat(many)),
        format!("(cond {} :else 1)", "nil 1 ".repeat(many)),
        format!("(and {})", "1 ".repeat(many)),
        format!("(let [{}] x)", "x 1 ".repeat(many)),
        format!("(do {})", "1 ".repeat(many)),
        format!("(+ {})", "1 ".repeat(many)),
        format!("[{}]", "1 ".repeat(many)),
        format!("(some-> 1 {})", "inc ".repeat(200)),
        format!("(case 1 {})", (0..many).map(|i| format!("{i} 2 ")).collect::<String>()),
    ];
    for source in sources {
        for optimize in [false, true] {
            let options = Options { optimize, library: false };
            let artifact = compile(&source, &Scope::default(), &limits, options);
            let artifact = artifact.unwrap_or_else(|p| panic!("{}: {p:?}", &source[..20]));
            verify(artifact).unwrap_or_else(|p| panic!("{}: {p:?}", &source[..20]));
        }
    }
}
