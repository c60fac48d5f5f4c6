//! Firewalled values in every argument of every builtin, alone and inside collections: nothing shown to a model
//! contains any of them, in any spelling.

use super::{public, runtime};
use ptc_bytecode::BUILTINS;
use ptc_runtime::{Grants, Runtime};

/// Expressions for each secret, and the texts that would reveal it.
const SECRETS: [(&str, &[&str]); 11] = [
    ("(:_text data/s)", &["xq7hiddenzw93kk"]),
    ("(:_int data/s)", &["987654321987", "e5f4c9d903", "1110010111110100110010011101100100000011"]),
    ("(:_float data/s)", &["271828.459", "271828", "271829", "27182.8"]),
    ("(:_big data/s)", &["98765432109876543210987"]),
    ("(parse (:_day data/s))", &["1987-11-23", "19871123", "23 nov 1987", "564624000"]),
    ("(parse (:_time data/s))", &["1987-11-23", "04:05:06", "564638706"]),
    ("(Duration/ofMillis (:_span data/s))", &["98765432", "98765"]),
    ("(keyword (:_word data/s))", &["wxhiddenword"]),
    ("(:_map data/s)", &["innerkey77", "innerval88"]),
    ("(:_list data/s)", &["xq7listed", "33445566"]),
    ("(:_short data/s)", &["q\u{17f}z"]),
];

const DATA: &str = r#"{"_text": "Xq7hiddenZw93kk", "_int": 987654321987, "_float": 271828.459,
    "_big": 98765432109876543210987, "_day": "1987-11-23", "_time": "1987-11-23T04:05:06Z", "_span": 98765432,
    "_word": "wxHiddenWord", "_map": {"innerKey77": "innerVal88"}, "_list": ["xq7Listed", 33445566],
    "_short": "qſz"}"#;

/// Values for the other arguments.
const FILLERS: [&str; 9] =
    ["1", "\"ab\"", "[1 2]", "{:a 1}", "inc", ":a", "#\"[a-z]+\"", "nil", "(parse \"2024-05-01\")"];

/// Forms of the argument that holds the secret.
const PLACES: [&str; 5] = ["S", "[S 1]", "{:a S}", "[[S] {:k S}]", "(atom [S])"];

/// Returns the texts that would reveal a secret: as it is, reversed, and its parts of six characters.
fn needles(secret: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for text in secret {
        let chars: Vec<char> = text.to_lowercase().chars().collect();
        let reversed: Vec<char> = chars.iter().rev().copied().collect();
        for chars in [chars, reversed] {
            // Six binary digits would match by chance.
            let wide = chars.len().min(if chars.len() > 30 { 20 } else { 6 });
            all.extend(chars.windows(wide).map(|window| window.iter().collect::<String>()));
        }
    }
    all
}

fn grants() -> Grants {
    Grants::new().json("s", DATA).unwrap().firewall(true)
}

/// Runs a program with the firewall up and searches all its visible output for a secret.
fn look(runtime: &Runtime, grants: &Grants, program: &str, needles: &[String], found: &mut Vec<String>) {
    let shown = public(&runtime.eval(program, grants));
    let text = shown.to_lowercase();
    if let Some(needle) = needles.iter().find(|needle| text.contains(*needle)) {
        found.push(format!("{program}\n  shows {needle:?}: {shown}"));
    }
}

#[test]
fn no_builtin_shows_a_firewalled_value() {
    let (runtime, grants) = (runtime(), grants());
    let mut found = Vec::new();
    let mut programs = 0;
    for row in BUILTINS.iter().filter(|row| !row.name.starts_with('%') && !row.name.starts_with("tool/")) {
        let most = row.max.unwrap_or(row.min + 1).clamp(1, 3).max(row.min) as usize;
        for n in (row.min.max(1) as usize)..=most {
            for at in 0..n {
                for (i, (read, texts)) in SECRETS.iter().enumerate() {
                    let needles = needles(texts);
                    for (j, filler) in FILLERS.iter().enumerate() {
                        // Alone, and inside one of the other forms in turn.
                        for place in [PLACES[0], PLACES[1 + (i + j + at) % 3]] {
                            let place = place.replace('S', "s");
                            let args: Vec<&str> =
                                (0..n).map(|k| if k == at { place.as_str() } else { filler }).collect();
                            let call = format!("({} {})", row.name, args.join(" "));
                            let program = format!("(let [s {read} r {call}] (println r) (prn r) r)");
                            look(&runtime, &grants, &program, &needles, &mut found);
                            programs += 1;
                        }
                        if n == 1 {
                            break;
                        }
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{} of {programs}:\n{}", found.len(), found.join("\n"));
}
