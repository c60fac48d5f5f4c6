//! `.ptcp` files: the same source gives the same bytes, and every defect of a file is detected and reported.

use super::common::*;
use ptc_bytecode::{
    Code, Container, Op, PreludeFile, Section, Target, ToolName, abi, decode_prelude, encode_prelude, kind,
    seal, seal_for,
};
use ptc_runtime::{
    Attach, Diagnostic, Effects, Grants, LoadOptions, Prelude, Signing, Stale, TrustedKeys, Visibility,
};

fn load(bytes: &[u8]) -> Result<Prelude, Diagnostic> {
    Prelude::load(&runtime(), bytes, &LoadOptions::default())
}

/// Returns the error for the guide's file after a change to its content, with its hashes recomputed.
fn refusal(change: impl FnOnce(&mut PreludeFile)) -> Diagnostic {
    let mut file = compiled(CRM).to_file();
    change(&mut file);
    load(&encode_prelude(&file)).expect_err("this must not load")
}

/// Returns the error like [`refusal`], with all derived fields filled in as a forger would.
fn forgery(change: impl FnOnce(&mut PreludeFile)) -> Diagnostic {
    let mut file = compiled(CRM).to_file();
    change(&mut file);
    load(&encode_prelude(&file.sealed())).expect_err("this must not load")
}

#[test]
fn what_is_written_is_read_back() {
    let prelude = compiled(CRM);
    let bytes = prelude.to_bytes();
    assert_eq!(encode_prelude(&decode_prelude(&bytes).unwrap()), bytes);
    let loaded = load(&bytes).unwrap();
    assert_eq!(loaded.manifest(), prelude.manifest());
    assert_eq!(loaded.to_bytes(), bytes);
    assert_eq!(loaded.sources(), Some(&[CRM.to_string()][..]));
    let bare = load(&prelude.to_bytes_without_source()).unwrap();
    assert_eq!((bare.sources(), bare.artifact_hash()), (None, prelude.artifact_hash()));
}

#[test]
fn identities_change_with_what_they_stand_for() {
    let ids = |source: &str| {
        let prelude = compiled(source);
        let code = prelude.manifest().code_hash;
        (prelude.source_hash(), prelude.interface_hash(), code, prelude.artifact_hash())
    };
    let base = ids("(ns a) (defn f [x] (+ x 1))");
    let comment = ids("(ns a) (defn f [x] (+ x 1)) ; said");
    assert!(base.0 != comment.0 && base.1 == comment.1 && base.2 == comment.2 && base.3 != comment.3);
    let body = ids("(ns a) (defn f [x] (+ x 2))");
    assert!(base.1 == body.1 && base.2 != body.2);
    let doc = ids("(ns a) (defn f \"Doc.\" [x] (+ x 1))");
    assert!(base.1 != doc.1 && base.2 == doc.2);
}

#[test]
fn the_manifest_is_held_against_the_code() {
    // An export that calls upstream, with fewer requirements than its code has.
    let claim = |change: &dyn Fn(&mut ptc_runtime::ExportRecord)| {
        forgery(|file| change(&mut file.manifest.exports[1]))
    };
    for problem in [
        claim(&|export| export.requires.clear()),
        claim(&|export| export.tool_refs.clear()),
        claim(&|export| export.tool_refs.push("more".into())),
        claim(&|export| export.dynamic = true),
        claim(&|export| export.data_keys.push("rows".into())),
        claim(&|export| export.requires.insert(0, "z".into())),
    ] {
        assert_eq!(problem.code, Code::AuthorityMismatch, "{problem}");
        assert!(problem.message.contains("crm/get-user"), "{problem}");
    }
    // More may be required than was derived, and facts that cannot be recomputed are claims.
    let mut file = compiled(CRM).to_file();
    file.manifest.exports[1].requires.push("upstream:crm/other".into());
    file.manifest.exports[1].requires.sort();
    file.manifest.exports[1].effect = Effects::Write;
    assert!(load(&encode_prelude(&file.sealed())).is_ok());
}

#[test]
fn code_that_reaches_more_than_it_says_is_refused() {
    // The table of tools decides where a call goes: after a change there, the manifest no longer fits.
    let problem = forgery(|file| {
        for tool in &mut file.artifact.tools {
            *tool = ToolName::Upstream { server: "bank".into(), tool: "transfer".into() };
        }
    });
    assert_eq!(problem.code, Code::AuthorityMismatch);
    assert!(problem.message.contains("bank/transfer"), "{problem}");
    let problem = forgery(|file| file.artifact.tools[0] = ToolName::Named("call".into()));
    assert_eq!(problem.code, Code::AuthorityMismatch);
}

#[test]
fn a_call_goes_where_the_table_says_whatever_its_arguments() {
    // The map still says "crm", but the table was changed along with the manifest.
    let mut file = compiled("(ns a) (defn f [] (tool/call {:server \"crm\" :tool \"x\"}))").to_file();
    file.artifact.tools[0] = ToolName::Upstream { server: "erp".into(), tool: "y".into() };
    file.manifest.exports[0].requires = vec!["upstream:erp/y".into()];
    let prelude = load(&encode_prelude(&file.sealed())).unwrap();
    let runtime = runtime().with_tools(stub()).attach(&prelude, &Attach::new()).unwrap();
    let asked = runtime.eval("(select-keys (:value (a/f)) [:server :tool])", &Grants::new()).unwrap();
    assert_eq!(asked.print().unwrap(), "{:server \"erp\" :tool \"y\"}");
}

#[test]
fn exports_are_what_they_say() {
    for (what, problem) in [
        ("target", forgery(|file| file.manifest.exports[1].target = Target::Function(999))),
        ("kind", forgery(|file| file.manifest.exports[1].target = Target::Data(0))),
        ("data", forgery(|file| file.manifest.exports[0].target = Target::Data(999))),
        ("params", forgery(|file| file.manifest.exports[1].params = vec![vec![]])),
        ("rest", forgery(|file| file.manifest.exports[1].params = vec![vec!["&".into()]])),
        ("twice", forgery(|file| file.manifest.exports[2].symbol = "get-user".into())),
        ("namespace", forgery(|file| file.manifest.exports[1].namespace = "erp".into())),
        ("symbol", forgery(|file| file.manifest.exports[1].symbol = "a b".into())),
        (
            "reserved",
            forgery(|file| {
                file.manifest.namespaces[0].name = "tool".into();
                file.manifest.exports.iter_mut().for_each(|export| export.namespace = "tool".into());
            }),
        ),
        ("hidden export", forgery(|file| drop(file.manifest.exports.remove(1)))),
        ("no namespace", forgery(|file| file.manifest.namespaces.clear())),
        ("interface hash", refusal(|file| file.manifest.exports[3].visibility = Visibility::Prompt)),
    ] {
        assert_eq!(problem.code, Code::BadExport, "{what}: {problem}");
    }
}

#[test]
fn totals_and_imports_are_held_against_the_code() {
    assert_eq!(refusal(|file| file.manifest.totals.functions += 1).code, Code::BadFunction);
    assert_eq!(refusal(|file| drop(file.manifest.imports.pop())).code, Code::BadFunction);
    // A builtin that took more arguments when the file was made.
    let mut file = compiled("(ns a) (defn f [x] (str/trim x))").to_file();
    file.manifest.imports[0].max = Some(2);
    let problem = load(&encode_prelude(&file)).unwrap_err();
    assert_eq!(problem.code, Code::UnresolvedBuiltin, "{problem}");
    assert!(problem.message.contains("`trim`"), "{problem}");
    // A builtin reserved for the core library.
    let mut file = compiled("(ns a) (defn f [x] (str/trim x))").to_file();
    file.artifact.imports[0] = "%state".into();
    assert_eq!(load(&encode_prelude(&file.sealed())).unwrap_err().code, Code::UnresolvedBuiltin);
    let problem = refusal(|file| {
        file.manifest.imports[0].name = "flurb".into();
        file.artifact.imports[0] = "flurb".into();
        file.manifest.code_hash = file.clone().sealed().manifest.code_hash;
    });
    assert_eq!(problem.code, Code::UnresolvedBuiltin, "{problem}");
    assert_eq!(refusal(|file| file.manifest.abi ^= 1).code, Code::AbiMismatch);
    assert_eq!(refusal(|file| file.manifest.code_hash[0] ^= 1).code, Code::Corrupt);
}

#[test]
fn bad_code_is_refused_by_its_rule() {
    let op = |change: &dyn Fn(&mut Vec<Op>)| forgery(|file| change(&mut file.artifact.blocks[0].ops)).code;
    assert_eq!(op(&|ops| ops[1] = Op::Const { dst: 250, id: 0 }), Code::BadInstruction);
    assert_eq!(op(&|ops| ops[0] = Op::Enter { fuel: 0 }), Code::MissingFuelCheck);
    assert_eq!(op(&|ops| ops.truncate(ops.len() - 1)), Code::BadControlFlow);
    let last = compiled(CRM).artifact().blocks[0].regs as u8 - 1;
    assert_eq!(op(&move |ops| ops[1] = Op::Move { dst: 2, src: last }), Code::UninitialisedRegister);
    let problem = forgery(|file| file.artifact.defs.push("x".into()));
    assert_eq!(problem.code, Code::BadExport);
    let problem = forgery(|file| file.artifact.entry = Some(0));
    assert!(matches!(problem.code, Code::BadFunction | Code::BadExport), "{problem}");
    let problem = forgery(|file| file.manifest.exports[1].doc = Some("x".repeat(20_000)));
    assert_eq!(problem.code, Code::BadConstant);
}

#[test]
fn sources_and_texts_belong_to_the_file() {
    let other = refusal(|file| file.sources = Some(vec!["(ns crm)".into()]));
    assert_eq!(other.code, Code::SourceMismatch);
    let extra = refusal(|file| file.rendered.push(("crm/zzz".into(), "secret".into())));
    assert_eq!(extra.code, Code::SourceMismatch);
    let twice = refusal(|file| file.rendered.insert(0, file.rendered[0].clone()));
    assert_eq!(twice.code, Code::SourceMismatch);
    let both = ptc_runtime::Selection::new("a", "(ns a) (def x 1)");
    let mut bundle = Prelude::compose(&runtime(), &[both]).unwrap().to_file();
    bundle.manifest.components[0].namespaces = vec!["b".into()];
    assert_eq!(load(&encode_prelude(&bundle)).unwrap_err().code, Code::SourceMismatch);
}

#[test]
fn a_fresh_file_shows_the_definitions_of_the_source_inside() {
    let source =
        "(ns a) (def ^:private k 2) (def n (* k 3)) (defn- h [x] (+ x k)) (defn f \"F.\" [x & more] (h n))
        (ns b) (defn g [{:keys [x]}] #(str % x #\"a+\")) (defn- dead [] 1)";
    let fresh = compiled(source);
    let other = ptc_runtime::Selection::new("other", "(ns c) (defn one [] 1)");
    let bundle = Prelude::compose(&runtime(), &[ptc_runtime::Selection::new("a", source), other]).unwrap();
    for prelude in [fresh, bundle] {
        let file = load(&prelude.to_bytes()).unwrap();
        for name in ["a/n", "a/f", "a/h", "b/g"] {
            assert!(file.source_of(name).is_some(), "{name}");
            assert_eq!(file.source_of(name), prelude.source_of(name));
        }
        assert_eq!(file.source_of("b/dead"), None);
        // Without the source, the texts cannot be checked.
        let bare = load(&prelude.to_bytes_without_source()).unwrap();
        assert_eq!(bare.source_of("a/f"), None);
    }
    let runtime =
        runtime().with_tools(stub()).attach(&load(&compiled(CRM).to_bytes()).unwrap(), &Attach::new());
    let outcome = runtime.unwrap().eval("(source 'crm/get-user)", &Grants::new()).unwrap();
    assert!(outcome.prints[0].contains("(defn get-user"), "{:?}", outcome.prints);
}

#[test]
fn one_text_that_differs_from_the_source_hides_all() {
    type Forge = fn(&mut String);
    let forgeries: [Forge; 4] = [
        |text| text.push_str(" (println 1)"),
        |text| *text = text.replace("(effective)", "(harmless)"),
        |text| text.insert_str(text.find('\n').unwrap() + 1, ";; uses (source crm/nope)\n"),
        |text| text.insert_str(text.find('\n').unwrap() + 1, ";; reviewed by security\n"),
    ];
    for forge in forgeries {
        let mut file = compiled(CRM).to_file();
        let text = file.rendered.iter_mut().find(|(name, _)| name == "crm/list-users").unwrap();
        forge(&mut text.1);
        let prelude = load(&encode_prelude(&file)).unwrap();
        assert_eq!(prelude.source_of("crm/list-users"), None);
        assert_eq!(prelude.source_of("crm/get-user"), None);
    }
}

#[test]
fn a_lying_text_is_never_shown() {
    let mut file = compiled(CRM).to_file();
    for (_, text) in &mut file.rendered {
        *text = "(defn get-user [id] :harmless)".into();
    }
    let prelude = load(&encode_prelude(&file)).unwrap();
    assert_eq!(prelude.source_of("crm/get-user"), None);
    let runtime = runtime().with_tools(stub()).attach(&prelude, &Attach::new()).unwrap();
    let outcome = runtime.eval("(source 'crm/get-user)", &Grants::new()).unwrap();
    assert_eq!(outcome.prints, ["no source available for crm/get-user"]);
    // Preludes compiled here show their source, even if compiled from a file's own source.
    assert!(compiled(CRM).source_of("crm/get-user").is_some());
    assert!(
        prelude.rebuilt(&super::common::runtime(), &[]).unwrap().unwrap().source_of("crm/get-user").is_some()
    );
}

#[test]
fn a_file_of_another_instruction_set_is_compiled_anew_where_that_is_allowed() {
    let bytes = stale(&compiled(CRM).to_bytes(), |_| {});
    let refused =
        Prelude::load(&runtime(), &bytes, &LoadOptions { stale: Stale::Refuse, ..LoadOptions::default() });
    assert_eq!(refused.unwrap_err().code, Code::AbiMismatch);
    let recovered = load(&bytes).unwrap();
    assert_eq!(recovered.artifact_hash(), compiled(CRM).artifact_hash());
    // Without its source it cannot be recompiled.
    let bare = stale(&compiled(CRM).to_bytes_without_source(), |_| {});
    assert_eq!(load(&bare).unwrap_err().code, Code::AbiMismatch);
    // The recompiled interface must be the promised one.
    let other = stale(&compiled(CRM).to_bytes(), |file| file.manifest.interface_hash[0] ^= 1);
    assert_eq!(load(&other).unwrap_err().code, Code::InterfaceChanged);
}

/// Rebuilds the file for another instruction set.
pub fn stale(bytes: &[u8], change: impl FnOnce(&mut PreludeFile)) -> Vec<u8> {
    let mut file = decode_prelude(bytes).unwrap();
    file.manifest.abi ^= 1;
    change(&mut file);
    let bytes = encode_prelude(&file);
    let container = Container::read(&bytes).unwrap();
    seal_for(container.header.flags, abi() ^ 1, &container.sections)
}

#[test]
fn a_bundle_is_recovered_with_its_components() {
    let a = ptc_runtime::Selection::new("a", "(ns a) (def x 1)").version(2);
    let b = ptc_runtime::Selection::new("b", "(ns b) (defn f [] (tool/t {}))");
    let bundle = Prelude::compose(&runtime(), &[a, b]).unwrap();
    let recovered = load(&stale(&bundle.to_bytes(), |_| {})).unwrap();
    assert_eq!(recovered.components(), bundle.components());
    assert_eq!(recovered.to_bytes(), bundle.to_bytes());
}

#[test]
fn a_file_that_is_too_large_is_not_looked_at() {
    let bytes = compiled(CRM).to_bytes();
    let options = LoadOptions { max_bytes: 100, ..LoadOptions::default() };
    let problem = Prelude::load(&runtime(), &bytes, &options).unwrap_err();
    assert_eq!(problem.code, Code::ArtifactTooLarge);
}

#[test]
fn code_without_a_manifest_is_no_prelude() {
    assert_eq!(load(ptc_preludes::core()).unwrap_err().code, Code::UnsupportedFormat);
    let bytes = compiled(CRM).to_bytes();
    let container = Container::read(&bytes).unwrap();
    let without = |kind: u32| -> Vec<Section<'_>> {
        container.sections.iter().copied().filter(|section| section.kind != kind).collect()
    };
    assert_eq!(load(&seal(1, &without(kind::CODE))).unwrap_err().code, Code::Corrupt);
    // Flags that contradict the sections.
    assert_eq!(load(&seal(1, &without(kind::SOURCE))).unwrap_err().code, Code::Corrupt);
    assert!(load(&seal(0, &without(kind::SOURCE))).is_ok());
    assert!(load(&seal(1, &without(kind::RENDERED))).is_ok());
}

#[test]
fn every_cut_and_every_flipped_bit_is_found() {
    let bytes = compiled("(ns a) (defn f [x] (tool/t {:x x}))").to_bytes();
    for end in 0..bytes.len() {
        assert!(load(&bytes[..end]).is_err(), "cut at {end}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bent = bytes.clone();
            bent[at] ^= 1 << bit;
            assert!(load(&bent).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn only_a_trusted_key_signs() {
    let bytes = compiled(CRM).to_bytes();
    let ours = Signing::from_hex(&"11".repeat(32)).unwrap();
    let theirs = Signing::from_hex(&"22".repeat(32)).unwrap();
    let keys = TrustedKeys::parse(&format!("# ours\n{} # main\n\n", ours.public_key())).unwrap();
    let signature = ours.sign(&bytes).unwrap();
    let load = |bytes: &[u8], signature: Option<&str>| {
        let options = LoadOptions { trusted: Some(&keys), signature, ..LoadOptions::default() };
        Prelude::load(&runtime(), bytes, &options)
    };
    // A signed file shows its texts: a trusted party made it.
    let prelude = load(&bytes, Some(&signature)).unwrap();
    assert!(prelude.source_of("crm/get-user").is_some());
    let theirs = theirs.sign(&bytes).unwrap();
    let other = compiled("(ns a) (def x 1)").to_bytes();
    let mut bent = signature.clone();
    bent.replace_range(100..102, if &bent[100..102] == "00" { "01" } else { "00" });
    for (bytes, signature) in [
        (&bytes, None),
        (&bytes, Some("")),
        (&bytes, Some("ptc-sig-1 zz")),
        (&bytes, Some(theirs.as_str())),
        (&bytes, Some(bent.as_str())),
        (&other, Some(signature.as_str())),
    ] {
        assert_eq!(load(bytes, signature).unwrap_err().code, Code::Untrusted, "{signature:?}");
    }
    assert!(TrustedKeys::parse("nonsense").is_err() && Signing::from_hex("11").is_err());
}

#[test]
fn a_loaded_prelude_runs_as_the_compiled_one() {
    let source = "(ns a) (def k {:a [1 2]}) (def f (fn [x] (+ x 1))) (defn g [& xs] (map f xs)) (defn h ([] k) ([x] x))";
    let loaded = load(&compiled(source).to_bytes()).unwrap();
    let runtime = runtime().attach(&loaded, &Attach::new()).unwrap();
    let found = runtime.eval("[a/k (a/g 1 2) (a/h) (a/h 5) ((a/f) 1)]", &Grants::new()).unwrap();
    assert_eq!(found.print().unwrap(), "[{:a [1 2]} [2 3] {:a [1 2]} 5 2]");
}
