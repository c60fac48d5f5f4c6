//! Preludes pinned by their artifact hash: only that build is accepted, and the hash covers everything that programs
//! get.

use super::common::*;
use super::files::stale;
use ptc_bytecode::{Code, Diagnostic, PreludeFile, Target, decode_prelude, encode_prelude};
use ptc_runtime::{ArtifactHash, Attach, Grants, InputError, LoadOptions, Prelude, PreludeInput};

const RATES: &str = "(ns tax \"Rates.\") (def low 7) (def high 19) (defn of [x] (* x high))";

fn pin(hash: &str) -> ArtifactHash {
    ArtifactHash::parse(hash).unwrap()
}

fn load(bytes: &[u8], pin: ArtifactHash) -> Result<Prelude, Diagnostic> {
    Prelude::load(&runtime(), bytes, &LoadOptions { pin: Some(pin), ..LoadOptions::default() })
}

/// Returns the refusal of this input, which must name the first input.
fn refusal(input: PreludeInput) -> Diagnostic {
    match Prelude::make_ready(&runtime(), &[input]) {
        Err(InputError::Refused(0, problem)) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_pinned_build_is_taken() {
    let (ours, other) = (compiled(RATES), compiled(&RATES.replace("(* x high)", "(* x low)")));
    let hash = pin(&ours.artifact_hash());
    assert_eq!(load(&ours.to_bytes(), hash).unwrap().artifact_hash(), ours.artifact_hash());
    // Without its sources it is the same build.
    assert!(load(&ours.to_bytes_without_source(), hash).is_ok());
    let problem = load(&other.to_bytes(), hash).unwrap_err();
    assert_eq!(problem.code, Code::HashMismatch);
    let (expected, found) = (ours.artifact_hash(), other.artifact_hash());
    assert_eq!(problem.message, format!("its artifact hash is {found}, but {expected} is pinned"));
    assert!(problem.hint.unwrap().ends_with(&format!("@artifact:{found}")));
    // In every form of input.
    let file = |prelude: &Prelude| PreludeInput::file("tax.ptcp", prelude.to_bytes(), None).pinned(hash);
    assert!(Prelude::make_ready(&runtime(), &[file(&ours)]).is_ok());
    assert_eq!(refusal(file(&other)).code, Code::HashMismatch);
    assert!(Prelude::make_ready(&runtime(), &[PreludeInput::ready("", ours).pinned(hash)]).is_ok());
    assert_eq!(refusal(PreludeInput::ready("", other).pinned(hash)).code, Code::HashMismatch);
}

#[test]
fn the_hash_covers_what_programs_get() {
    let ours = compiled(RATES);
    let hash = pin(&ours.artifact_hash());
    let changes = [
        ("(ns tax \"Rates.\")", "(ns tax \"Other rates.\")"),
        ("(def low 7)", "(def low 8)"),
        ("(defn of [x]", "(defn of {:visibility :discoverable} [x]"),
        ("(defn of [x]", "(defn of \"Tax.\" [x]"),
        ("(defn of [x]", "(defn of [y x]"),
        ("(* x high)", "(+ x high)"),
    ];
    for (old, new) in changes {
        let source = RATES.replace(old, new);
        assert_ne!(source, RATES, "{old}");
        let changed = compiled(&source);
        // Without its source, a file's claimed source hash cannot be checked.
        let mut forged = changed.to_file();
        (forged.manifest.source_hash, forged.sources) = (ours.manifest().source_hash, None);
        for bytes in [changed.to_bytes(), encode_prelude(&forged.sealed())] {
            assert_eq!(load(&bytes, hash).unwrap_err().code, Code::HashMismatch, "{new}");
        }
    }
}

/// Code and interface alone do not tell if two constants have traded places.
#[test]
fn constants_cannot_trade_places_under_the_hash() {
    let ours = compiled(RATES);
    let mut file = ours.to_file();
    let constants: Vec<usize> = (0..file.manifest.exports.len())
        .filter(|i| matches!(file.manifest.exports[*i].target, Target::Data(_)))
        .collect();
    let [low, high] = constants[..] else { panic!("{constants:?}") };
    let target = file.manifest.exports[low].target;
    file.manifest.exports[low].target = file.manifest.exports[high].target;
    file.manifest.exports[high].target = target;
    let forged = encode_prelude(&file.sealed());
    // It is well formed, but another prelude.
    let loaded = Prelude::load(&runtime(), &forged, &LoadOptions::default()).unwrap();
    let runtime = runtime().attach(&loaded, &Attach::new()).unwrap();
    assert_eq!(runtime.eval("[tax/low tax/high]", &Grants::new()).unwrap().print().unwrap(), "[19 7]");
    assert_ne!(loaded.artifact_hash(), ours.artifact_hash());
    let problem = load(&forged, pin(&ours.artifact_hash())).unwrap_err();
    assert_eq!(problem.code, Code::HashMismatch);
}

/// A file cannot claim the pinned hashes for itself: each is found to be false, or leads to another artifact hash.
#[test]
fn the_hash_is_computed_from_the_bytes() {
    let (ours, evil) = (compiled(RATES), compiled(&RATES.replace("(* x high)", "(* x 1000)")));
    let hash = pin(&ours.artifact_hash());
    let claiming = |change: fn(&mut PreludeFile, &PreludeFile)| {
        let mut file = decode_prelude(&evil.to_bytes()).unwrap();
        change(&mut file, &ours.to_file());
        load(&encode_prelude(&file), hash).unwrap_err().code
    };
    assert_eq!(claiming(|file, ours| file.manifest = ours.manifest.clone()), Code::Corrupt);
    assert_eq!(claiming(|file, ours| file.manifest.code_hash = ours.manifest.code_hash), Code::Corrupt);
    assert_eq!(
        claiming(|file, ours| file.manifest.source_hash = ours.manifest.source_hash),
        Code::SourceMismatch
    );
    let claimed = claiming(|file, ours| {
        (file.manifest.source_hash, file.sources) = (ours.manifest.source_hash, None);
    });
    assert_eq!(claimed, Code::HashMismatch);
}

#[test]
fn what_would_be_compiled_anew_is_another_build() {
    let ours = compiled(RATES);
    let mut claimed = ours.manifest().clone();
    claimed.abi ^= 1;
    let old = stale(&ours.to_bytes(), |_| {});
    assert!(Prelude::load(&runtime(), &old, &LoadOptions::default()).is_ok());
    for hash in [ours.artifact_hash(), ptc_bytecode::hex(&claimed.artifact_hash())] {
        let problem = load(&old, pin(&hash)).unwrap_err();
        assert_eq!(problem.code, Code::AbiMismatch);
        assert!(problem.hint.unwrap().contains("pin the hash of the new build"));
    }
}

#[test]
fn sources_are_refused_before_they_are_compiled() {
    let hash = pin(&compiled(RATES).artifact_hash());
    for source in [RATES, "(ns tax) (def x (nope))"] {
        let problem = refusal(PreludeInput::source("tax.clj", source).pinned(hash));
        assert_eq!(problem.code, Code::HashMismatch, "{source}");
        assert!(problem.message.contains("it is a source") && problem.hint.unwrap().contains("ptc build"));
    }
}

#[test]
fn other_hashes_and_parts_of_one_are_no_pins() {
    let ours = compiled(RATES);
    for (name, hash) in [("source", ours.source_hash()), ("interface", ours.interface_hash())] {
        let problem = load(&ours.to_bytes(), pin(&hash)).unwrap_err();
        assert_eq!(problem.code, Code::HashMismatch);
        assert!(problem.message.contains(&format!("pinned by its {name} hash")), "{problem}");
        assert!(problem.hint.unwrap().ends_with(&ours.artifact_hash()));
    }
    let hash = ours.artifact_hash();
    let long = format!("{hash}0");
    let signed = format!("+{}", &hash[1..]);
    for bad in ["", &hash[..16], &hash[..63], &long, &signed, "é"] {
        let problem = ArtifactHash::parse(bad).unwrap_err();
        assert_eq!(problem.code, Code::InvalidConfig, "{bad}");
        assert!(problem.hint.unwrap().contains("ptc inspect"));
        assert!(ArtifactHash::split(&format!("tax.ptcp@artifact:{bad}")).is_err());
    }
    assert_eq!(pin(&hash.to_uppercase()), pin(&hash));
    assert_eq!(ArtifactHash::split("store:dir#tax@7").unwrap(), ("store:dir#tax@7", None));
}
