use super::store::{MOST_BYTES, held};
use super::{Engine, Meter, Purpose, Refused, Span};
use ptc_vm::{Budget, Heap};

const FUEL: u64 = 1 << 40;

/// Returns the result of a search, and the fuel it takes.
fn search(pattern: &str, text: &str, purpose: Purpose) -> (Result<Option<Vec<Span>>, Refused>, u64) {
    let (heap, mut budget) = (Heap::unbounded(), Budget::new(FUEL, None));
    let mut meter = Meter::new(&heap, &mut budget);
    let found = Engine::of(pattern, false, purpose, &mut meter)
        .and_then(|engine| engine.searcher().groups(&mut meter, text, 0));
    meter.settle().unwrap();
    (found, budget.spent())
}

fn find(pattern: &str, text: &str) -> Option<String> {
    let found = search(pattern, text, Purpose::Use).0.unwrap();
    found.map(|spans| spans[0].map(|(from, to)| text[from..to].to_string()).unwrap())
}

fn refusal(pattern: &str, text: &str) -> String {
    match search(pattern, text, Purpose::Use).0 {
        Err(Refused::Words(problem)) => problem,
        other => panic!("{pattern}: {other:?}"),
    }
}

#[test]
fn classes_are_ascii() {
    assert_eq!(find(r"\w+", "é1x"), Some("1x".into()));
    assert_eq!(find(r"[\w.]+@", "a.b@c"), Some("a.b@".into()));
    assert_eq!(find(r"[^\s]+", " ab "), Some("ab".into()));
    assert_eq!(find(r"\bb", "ab b"), Some("b".into()));
    assert_eq!(find(r"\Bb", "é ab"), Some("b".into()));
}

#[test]
fn what_looks_around_works_within_limits() {
    assert_eq!(find(r"(?<=a)b", "ab"), Some("b".into()));
    assert_eq!(find(r"(\w)\1", "abb"), Some("bb".into()));
    assert!(refusal(r"(?:(?=a)a|a)*b", &"a".repeat(40)).contains("backtracked too often"));
    assert!(refusal("(", "").starts_with("bad pattern"));
}

/// Patterns that exercise every path of the linear engine.
const LINEAR: &[&str] = &[
    "a+b",
    "(a+)(b+)?",
    "(a|ab)(c|bcd)?",
    "a*",
    "a*?b",
    "(?:)",
    "^a",
    "a$",
    "(?m)^.",
    "(?m).$",
    r"\bb\w*",
    r"\Bb",
    "[^a]+",
    "é|ß+",
    ".",
    "(?s).{2,3}",
    "(x)|(y)|z",
    "(a?){5}a",
    "(.*)=(.*)",
    "(?i)É",
    "((a)|b)*",
    r"\p{L}+\d",
    "foo|bar|quux",
    "a.*c|a",
    "(?:b.*c|b)",
    "[ab]*a[ab]{3}c",
    r"(\d+)-(\d+)",
    "",
    "b|",
    r"\<a",
    "a\\>",
];

const TEXTS: &[&str] = &[
    "",
    "a",
    "ab",
    "aabb abcd",
    "xaab\nab",
    "éß ßß é1x",
    "a=b=c",
    "12-34 5-6",
    "zzz foo quux bar",
    "bbbbc bbb",
    "aaaaab",
    "ÉéE",
    "日本 ab1",
    "\n\n",
    "abababababcab",
];

#[test]
fn the_linear_engine_finds_what_regex_finds() {
    for pattern in LINEAR {
        let regex = regex::Regex::new(&super::ascii_classes(pattern, true)).unwrap();
        for text in TEXTS {
            let (heap, mut budget) = (Heap::unbounded(), Budget::new(FUEL, None));
            let mut meter = Meter::new(&heap, &mut budget);
            let engine = Engine::of(pattern, false, Purpose::Use, &mut meter).unwrap();
            let mut searcher = engine.searcher();
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let wanted: Option<Vec<Span>> = regex.captures_at(text, at).map(|found| {
                    found.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
                });
                let found = searcher.groups(&mut meter, text, at).unwrap();
                assert_eq!(found, wanted, "{pattern} in {text:?} from {at}");
                let place = searcher.find(&mut meter, text, at).unwrap();
                assert_eq!(place, wanted.and_then(|spans| spans[0]), "{pattern} in {text:?} from {at}");
            }
        }
    }
}

/// Patterns with lookaround and backreferences, and some without, on which both engines must agree.
const STEPWISE: &[&str] = &[
    "(?=a)a+b",
    "a(?!b)",
    "(?<=a)b+",
    "(?<!a)b",
    r"(a|b)\1",
    "(?>a+)b",
    "a++b",
    "(?<=ab|c)d?",
    r"(?i)(é)\1",
    "(?=(a+))a*b",
    "(?:(?=b)b{1,3}){2}",
    r"(?<=\b)b",
    r"(?<=a{1,2})b",
    "(?<=a+)b",
    "(?!)|a",
    "(?=)(a*)*b",
    "(?=)((a)|b)*",
    "(?=)(?:a|ab)(?:c|bcd)?",
    "(?=)(.*)=(.*)",
    "(?=)a??b",
    "(?=)(x)|(y)|z",
    r"(?=)\bb",
    "(?=)(?m)^.$",
    r"(?<y>a)\k<y>",
    r"(?=)[^a\n]{2,}?b",
    "(?=)(a?){3}a",
    "(a)?(?(1)b|é)",
    r"a\Kb",
    r"\Ga",
];

#[test]
fn the_second_engine_finds_what_fancy_regex_finds() {
    for pattern in STEPWISE {
        let regex = fancy_regex::Regex::new(&super::ascii_classes(pattern, false)).unwrap();
        for text in TEXTS {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let wanted: Option<Vec<Span>> = regex.captures_from_pos(text, at).unwrap().map(|found| {
                    found.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
                });
                let (heap, mut budget) = (Heap::unbounded(), Budget::new(FUEL, None));
                let mut meter = Meter::new(&heap, &mut budget);
                let engine = Engine::of(pattern, false, Purpose::Use, &mut meter).unwrap();
                let found = engine.searcher().groups(&mut meter, text, at).unwrap();
                assert_eq!(found, wanted, "{pattern} in {text:?} from {at}");
            }
        }
    }
}

#[test]
fn compiling_costs_the_same_however_often() {
    for pattern in ["never-seen-[0-9]+-(x)", "(?<=never)seen", ",", r"\p{L}+1"] {
        let first = search(pattern, "abc", Purpose::Make).1;
        assert_eq!(search(pattern, "abc", Purpose::Make).1, first, "{pattern}");
        let used = search(pattern, "abc", Purpose::Use).1;
        assert!(used < first && used > first / 16, "{pattern}: {used} of {first}");
    }
}

#[test]
fn a_pattern_costs_what_it_stands_for() {
    let price = |pattern: &str| search(pattern, "", Purpose::Make).1;
    assert!(price("(?:[ab]c){500}") > 20 * price("(?:[ab]c){5}"));
    assert!(price(&"(a)?".repeat(900)) > 50 * price("(a)?(a)?"));
    assert!(price(r"\p{L}\p{L}\p{L}\p{L}x") > 3 * price(r"\p{L}x"));
    assert!(price("(?=a)(?:ab){2000}") > 20 * price("(?=a)(?:ab){20}"));
}

#[test]
fn large_patterns_are_refused_before_they_are_built() {
    for pattern in ["((a{100}){100}){100}", "(?<=a)(?:(?:b{300}){300}){300}", r"(?:\p{L}{100}){10}"] {
        assert!(refusal(pattern, "abc").contains("too large"), "{pattern}");
    }
}

#[test]
fn a_search_costs_what_it_looks_at() {
    let text = "b".repeat(2000);
    let cost = |pattern: &str, text: &str| {
        let (found, fuel) = search(pattern, text, Purpose::Use);
        found.unwrap();
        fuel
    };
    // It scans all the rest.
    assert!(cost("b.*c|b", &text) > 300 + cost("b.*c|b", "b"));
    // It stops soon.
    assert!(cost("b|cc", &text) < cost("b|cc", "b") + 20);
    // Each byte leads to a new state, whose size grows with the pattern.
    let mut seed = 1u32;
    let mixed: String = (0..2000)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if seed >> 31 == 0 { 'a' } else { 'b' }
        })
        .collect();
    assert!(cost("[ab]*a[ab]{200}c", &mixed) > 10 * cost("[ab]*a[ab]{2}c", &mixed));
    assert!(cost("(?=b*c)b", &text) > 1000 * cost("(?=b*c)b", "b"));
}

#[test]
fn a_search_costs_the_same_whatever_was_searched_before() {
    let text = "abbababaabbbabaababbababbbbaab".repeat(30);
    for pattern in ["[ab]*a[ab]{12}c", "(a|b)*?a(?:a|b){6}(c|d)", "(?i)b+A(b)", r"\p{L}+\d"] {
        let first = search(pattern, &text, Purpose::Use).1;
        for other in ["", "b", "aaaaaaaaaaaaaaaaaaaaaaaaaaab", "cdé", &text[7..], &text] {
            search(pattern, other, Purpose::Use).0.unwrap();
            assert_eq!(search(pattern, &text, Purpose::Use).1, first, "{pattern} after {other}");
        }
        // On a new thread, with empty tables.
        let text = text.clone();
        let fresh = std::thread::spawn(move || search(pattern, &text, Purpose::Use).1);
        assert_eq!(fresh.join().unwrap(), first, "{pattern}");
    }
}

#[test]
fn engines_are_kept_within_their_bytes() {
    for i in 0..150 {
        search(&format!("(x{i})?[ab]*a[ab]{{900}}"), "abab", Purpose::Use).0.unwrap();
        search(&format!("(?<=a{i})(?:ab){{2000}}"), "abab", Purpose::Use).0.unwrap();
        // Another test may hold some at the moment.
        assert!(held() < MOST_BYTES + (16 << 20), "{}", held());
    }
}
