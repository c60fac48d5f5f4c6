//! Editors see what the checker says, for every kind of mistake: programs with one slip each, sent to the language server.

use ptc_lsp::Project;
use ptc_snapshots::mistakes::{Kind, generated, right_programs, slips};
use ptc_snapshots::runtime;
use ptc_testkit::editor::Editor;
use std::collections::BTreeSet;
use std::io::{BufReader, pipe};

#[test]
fn a_slip_is_marked_as_the_checker_says() {
    let runtime = runtime();
    let (input, to_server) = pipe().expect("a pipe");
    let (from_server, output) = pipe().expect("a pipe");
    let of_server = runtime.clone();
    let server = std::thread::spawn(move || {
        let project = Project::new(of_server, Vec::new(), Box::new(|| Ok(Vec::new()))).expect("a project");
        ptc_lsp::serve(project, BufReader::new(input), output)
    });
    let mut editor = Editor::new(from_server, to_server);
    editor.start();
    let (mut marked, mut seen) = (BTreeSet::new(), 0);
    let uri = "untitled:slip";
    editor.open(uri, "");
    let all = right_programs(&runtime).into_iter().chain(generated(&runtime, 50));
    for (version, slip) in all.flat_map(|right| slips(&right)).enumerate() {
        let told = match runtime.compile(&slip.program) {
            Ok(program) => program.warnings().to_vec(),
            Err(failure) => failure.diagnostics.iter().chain(failure.warnings()).cloned().collect(),
        };
        let found = editor.change(uri, version as i64, &slip.program);
        assert_eq!(found.len(), told.len(), "{}", slip.program);
        for (found, told) in found.iter().zip(&told) {
            assert_eq!(found["code"], told.code.label(), "{}", slip.program);
            assert_eq!(found["severity"], if told.code.is_warning() { 2 } else { 1 });
            let message = found["message"].as_str().expect("text");
            assert!(message.starts_with(&told.message), "{message}");
            assert!(told.hint.as_ref().is_none_or(|hint| message.ends_with(hint.as_str())), "{message}");
            let Some(place) = told.place(&slip.program) else { continue };
            // There, characters are UTF-16 units.
            if !slip.program.is_ascii() {
                continue;
            }
            let start = &found["range"]["start"];
            assert_eq!(
                (start["line"].as_u64(), start["character"].as_u64()),
                (Some(u64::from(place.line) - 1), Some(u64::from(place.column) - 1),)
            );
        }
        seen += 1;
        if !told.is_empty() {
            marked.insert(slip.kind);
        }
    }
    editor.end();
    assert!(server.join().expect("it ends").expect("the pipes work"));
    println!("{seen} slips; kinds that the checker marks: {marked:?}");
    // The others are mistakes in data, which no editor has.
    let by_text = [Kind::Function, Kind::Arity, Kind::Bracket];
    assert!(by_text.iter().all(|kind| marked.contains(kind)), "{marked:?}");
}
