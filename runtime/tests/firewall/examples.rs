//! Examples of the builtin table with firewalled values in every place: the host gets the same values as without the
//! firewall.

use super::{public, runtime};
use ptc_bytecode::BUILTINS;
use ptc_runtime::Grants;

/// Splits an expression into itself and its parts, each a range of the text.
fn parts(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut open, mut found): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b' ' | b',' | b'\n' => {
                at += 1;
                continue;
            }
            b'(' | b'[' | b'{' => {
                open.push(start);
                at += 1;
                continue;
            }
            b'#' if matches!(bytes.get(at + 1), Some(b'{' | b'(')) => {
                open.push(start);
                at += 2;
                continue;
            }
            b')' | b']' | b'}' => {
                at += 1;
                found.extend(open.pop().map(|start| (start, at)));
                continue;
            }
            b'#' if bytes.get(at + 1) == Some(&b'"') => at += 1,
            _ => {}
        }
        if bytes[at] == b'"' {
            at += 1;
            while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                at += 1 + usize::from(bytes[at] == b'\\');
            }
            at += 1;
        } else {
            at += 1;
            while bytes.get(at).is_some_and(|byte| !b" ,()[]{}\"\n".contains(byte)) {
                at += 1;
            }
        }
        found.push((start, at.min(bytes.len())));
    }
    found
}

/// Replaces some parts of the text by reads of a firewalled field.
fn veiled(text: &str, chosen: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (start, end) in chosen {
        out.push_str(&text[at..*start]);
        // A literal map would be a constant of the program, which cannot hold runtime values.
        out.push_str(&format!("(:_v (assoc data/none :_v {}))", &text[*start..*end]));
        at = *end;
    }
    out.push_str(&text[at..]);
    out
}

#[test]
fn every_builtin_gives_the_host_what_it_gives_without_the_firewall() {
    let runtime = runtime();
    let open = Grants::new().json("none", "{}").unwrap();
    let walled = open.clone().firewall(true);
    let mut compared = 0;
    let mut wrong = Vec::new();
    for row in BUILTINS.iter().filter(|row| !row.example.is_empty()) {
        let (source, _) = row.example.split_once(" ;=> ").unwrap();
        let parts = parts(source);
        // Each part alone, and all atoms at once.
        let mut variants: Vec<String> = parts.iter().map(|part| veiled(source, &[*part])).collect();
        let is_atom = |part: &&(usize, usize)| !source[part.0..part.1].contains([' ', '(', '[', '{']);
        let atoms: Vec<(usize, usize)> = parts.iter().filter(is_atom).copied().collect();
        variants.extend((1..atoms.len()).map(|from| veiled(source, &atoms[from..])));
        for program in variants {
            // A part that is no expression there (a parameter, a namespace) does not compile, or fails in the same way.
            let Ok(wanted) = runtime.eval(&program, &open) else { continue };
            let found = runtime.eval(&program, &walled);
            compared += 1;
            // Times differ between runs.
            let is_same = match &found {
                Ok(found) => {
                    found.print().ok() == wanted.print().ok()
                        || matches!(row.effect, ptc_bytecode::Effect::Clock)
                }
                Err(_) => false,
            };
            if !is_same {
                let found = found.map(|found| found.print()).map_err(|failure| failure.diagnostics);
                wrong.push(format!("{program}\n  wanted {:?}\n  found  {found:?}", wanted.print()));
            }
            let stressed = runtime.clone().stress(true).eval(&program, &walled);
            assert_eq!(public(&stressed), public(&runtime.eval(&program, &walled)), "{program}");
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 1_000, "only {compared} programs were compared");
}
