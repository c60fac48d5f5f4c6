//! `ptc build`, `ptc inspect`, `ptc verify`, and `--prelude`.

use crate::{Ran, ptc, ptc_with};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder of its own, below what is built.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("preludes-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

const CRM: &str = "(ns crm \"Customers.\")\n(def size 50)\n(defn- raw [id] (tool/call {:server \"crm\" :tool \"get\" :args {:id id}}))\n(defn find \"Finds one.\" [id] (raw id))\n(defn pages [n] (quot (+ n size -1) size))\n";
const ANY: &str = "(ns any)\n(defn call [s t] (tool/call {:server s :tool t}))\n";

fn build(sources: &[&str], output: &Path, more: &[&str]) -> Ran {
    let output = output.display().to_string();
    let args: Vec<&str> = [&["build"], sources, &["-o", &output], more].concat();
    ptc(&args)
}

#[test]
fn build_writes_inspect_shows_verify_checks() {
    let dir = folder("all");
    let (crm, any) = (put(&dir, "crm.clj", CRM), put(&dir, "any.clj", ANY));
    let ran = build(&[&crm, &any], &dir.join("dist"), &["--warn-dynamic"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("crm.ptcp: written, 3 exports, 1 requirement,"), "{ran:?}");
    assert!(ran.err.contains("warning: any/call may call any upstream operation"), "{ran:?}");
    let file = dir.join("dist/crm.ptcp").display().to_string();
    let shown = ptc(&["inspect", &file]);
    assert!(
        shown.out.contains("(find id) prompt, effect unknown\n      requires upstream:crm/get"),
        "{shown:?}"
    );
    let json = ptc(&["inspect", &file, "--json"]).json();
    assert_eq!(json["exports"][1]["tool_refs"], serde_json::json!(["call"]));
    assert!(ptc(&["inspect", &file, "--disasm", "crm/pages"]).out.starts_with("fn#"), "listing");
    assert!(ptc(&["inspect", &file, "--source", "crm/raw"]).out.contains("(defn- raw"));
    assert!(
        ptc(&["inspect", &file, "--inventory"]).out.contains("crm/find (find id) [unknown] - Finds one.")
    );
    assert_eq!(ptc(&["inspect", &file, "--source", "crm/nope"]).code, 5);
    assert!(ptc(&["disasm", &file]).out.contains("call_tool"), "listing");
    let verified = ptc(&["verify", &file, "--rebuild"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    assert!(verified.out.contains("valid, 3 exports, rebuilt byte for byte"), "{verified:?}");
    assert_eq!(ptc(&["verify", &file, "--rebuild", &crm]).code, 0);
    let other = ptc(&["verify", &file, "--rebuild", &any]);
    assert_eq!(other.code, 5, "{other:?}");
    assert!(other.err.contains("its source is different"), "{other:?}");
    // Whoever looks for the source finds it under either flag.
    let ran = ptc(&["verify", &file, "--against", &crm]);
    assert!(ran.code == 0 && ran.out.contains("rebuilt byte for byte"), "{ran:?}");
    let ran = ptc(&["verify", &file, "--against", &any]);
    assert_eq!(ran.code, 5, "{ran:?}");
    let hash = json["source_hash"].as_str().unwrap();
    assert!(ran.err.contains(&format!("source {} in the file", &hash[..16])), "{ran:?}");
}

#[test]
fn requirements_that_are_computed_are_unknown() {
    let dir = folder("unknown");
    let any = put(&dir, "any.clj", ANY);
    let some =
        put(&dir, "some.clj", "(ns some)\n(defn a [] (tool/call 's/t {}))\n(defn b [r] (tool/call r))\n");
    let ran = build(&[&any, &some], &dir.join("dist"), &[]);
    let unknown = "requirements unknown: calls tools by computed names, ";
    assert!(ran.out.contains(&format!("any.ptcp: written, 1 export, {unknown}")), "{ran:?}");
    assert!(
        ran.out.contains(&format!("some.ptcp: written, 2 exports, 1 requirement and {unknown}")),
        "{ran:?}"
    );
    let shown = ptc(&["inspect", &dir.join("dist/any.ptcp").display().to_string()]);
    assert!(shown.out.contains("      requirements unknown: calls tools by computed names\n"), "{shown:?}");
}

#[test]
fn a_folder_is_built_as_a_whole_or_not_at_all() {
    let dir = folder("whole");
    let (crm, any) = (put(&dir, "crm.clj", CRM), put(&dir, "any.clj", ANY));
    let dist = dir.join("dist");
    let ran = build(&[&crm, &put(&dir, "bad.clj", "(ns bad) (defn f [] (oops))")], &dist, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("crm.ptcp: not written, 3 exports") && !dist.exists(), "{ran:?}");
    std::fs::remove_file(dir.join("bad.clj")).unwrap();
    assert_eq!(build(&[&crm, &any], &dist, &[]).code, 0);
    let before = std::fs::read(dist.join("crm.ptcp")).unwrap();
    put(&dir, "crm.clj", &CRM.replace("50", "60"));
    put(&dir, "any.clj", "(ns any) (defn call [");
    let ran = build(&[&dir.display().to_string()], &dist, &["--json"]);
    assert_eq!((ran.code, &ran.json()["files"][1]["status"]), (1, &"not written".into()), "{ran:?}");
    assert_eq!(std::fs::read(dist.join("crm.ptcp")).unwrap(), before);
    // Nor does a file that cannot be written leave another one behind.
    put(&dir, "any.clj", ANY);
    std::fs::remove_file(dist.join("any.ptcp")).unwrap();
    std::fs::create_dir_all(dist.join("any.ptcp/x")).unwrap();
    let ran = build(&[&dir.display().to_string()], &dist, &[]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(std::fs::read_dir(&dist).unwrap().count(), 2, "no temporary files");
}

#[test]
fn a_second_build_does_nothing_and_a_change_does() {
    let dir = folder("again");
    let crm = put(&dir, "crm.clj", CRM);
    let dist = dir.join("dist");
    build(&[&crm], &dist, &[]);
    let before = std::fs::read(dist.join("crm.ptcp")).unwrap();
    assert!(build(&[&crm], &dist, &[]).out.contains("up to date"));
    assert!(build(&[&crm], &dist, &["--force"]).out.contains("written"));
    assert_eq!(std::fs::read(dist.join("crm.ptcp")).unwrap(), before);
    // A damaged file is built anew, and so is one with other options.
    std::fs::write(dist.join("crm.ptcp"), &before[..100]).unwrap();
    assert!(build(&[&crm], &dist, &[]).out.contains("written"));
    assert!(build(&[&crm], &dist, &["--no-source"]).out.contains("written"));
    assert!(build(&[&crm], &dist, &["--no-source"]).out.contains("up to date"));
    assert!(build(&[&crm], &dist, &["--debug-info"]).out.contains("written"));
    assert!(build(&[&crm], &dist, &["--debug-info"]).out.contains("up to date"));
    let file = dist.join("crm.ptcp").display().to_string();
    assert!(ptc(&["inspect", &file, "--disasm", "crm/pages"]).out.contains("; 5:"), "positions");
    assert_eq!(ptc(&["verify", &file, "--rebuild"]).code, 0);
    put(&dir, "crm.clj", &CRM.replace("50", "60"));
    assert!(build(&[&crm], &dist, &[]).out.contains("written"));
    assert!(std::fs::read_dir(&dist).unwrap().all(|file| !file.unwrap().path().ends_with(".tmp")));
}

#[test]
fn check_compares_and_writes_nothing() {
    let dir = folder("check");
    let crm = put(&dir, "crm.clj", CRM);
    let dist = dir.join("dist");
    let ran = build(&[&crm], &dist, &["--check"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("missing") && !dist.exists(), "{ran:?}");
    build(&[&crm], &dist, &[]);
    assert_eq!(build(&[&crm], &dist, &["--check"]).code, 0);
    put(&dir, "crm.clj", &CRM.replace("50", "60"));
    let ran = build(&[&crm], &dist, &["--check"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("  source: ") && ran.out.contains("  code: "), "{ran:?}");
    assert!(!ran.out.contains("  interface: "), "{ran:?}");
    std::fs::write(dist.join("crm.ptcp"), "nonsense").unwrap();
    assert!(build(&[&crm], &dist, &["--check"]).out.contains("cannot be read"));
}

#[test]
fn errors_end_with_their_codes() {
    let dir = folder("errors");
    let (good, bad) = (put(&dir, "good.clj", CRM), put(&dir, "bad.clj", "(ns bad)\n(defn f [x] (nope x))"));
    let ran = build(&[&good, &bad], &dir.join("dist"), &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("bad.clj:2:14") && ran.err.contains("references undefined variable(s): nope"),
        "{ran:?}"
    );
    // The good one is not written either.
    assert!(ran.out.contains("good.ptcp: not written") && !dir.join("dist").exists(), "{ran:?}");
    let json = build(&[&bad], &dir.join("dist"), &["--json"]).json();
    assert_eq!(json["files"][0]["error"]["reason"], "compile_error");
    assert_eq!(json["files"][0]["error"]["ref"], "bad/f");
    assert_eq!(build(&[&dir.join("none.clj").display().to_string()], &dir.join("dist"), &[]).code, 3);
    assert_eq!(build(&[&good], &dir.join("good.clj/sub"), &[]).code, 3);
    assert_eq!(build(&[&good, &good], &dir.join("dist"), &[]).code, 2);
    assert_eq!(build(&[], &dir.join("dist"), &[]).code, 2);
    let any = put(&dir, "any.clj", ANY);
    let ran = build(&[&any], &dir.join("dist"), &["--deny-dynamic"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("any/call"), "{ran:?}");
    for file in [&good, &dir.join("none.ptcp").display().to_string()] {
        assert_ne!(ptc(&["verify", file]).code, 0);
        assert_ne!(ptc(&["inspect", file]).code, 0);
    }
    assert_eq!(ptc(&["verify", &good]).code, 5);
}

#[test]
fn a_bundle_records_its_parts() {
    let dir = folder("bundle");
    let (crm, any) = (put(&dir, "crm.clj", CRM), put(&dir, "any.clj", ANY));
    assert_eq!(build(&[&crm, &any], &dir.join("dist"), &["--bundle", "both"]).code, 0);
    let file = dir.join("dist/both.ptcp").display().to_string();
    let json = ptc(&["inspect", &file, "--json"]).json();
    let parts: Vec<&Value> = json["components"].as_array().unwrap().iter().map(|c| &c["origin"]).collect();
    assert_eq!(parts, ["file:crm.clj", "file:any.clj"]);
    assert_eq!(ptc(&["verify", &file, "--rebuild"]).code, 0);
    let same = put(&dir, "same.clj", CRM);
    let ran = build(&[&crm, &same], &dir.join("dist"), &["--bundle", "twice"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("both `crm` and `same` declare it"), "{ran:?}");
}

#[test]
fn verify_against_a_configuration() {
    let dir = folder("against");
    let source = put(
        &dir,
        "a.clj",
        "(ns a) (defn f [] (tool/call {:server \"crm\" :tool \"get\"})) (defn g [] (tool/fetch {}))",
    );
    build(&[&source], &dir, &[]);
    let file = dir.join("a.ptcp").display().to_string();
    let config = |text: &str| put(&dir, "upstreams.json", text);
    let verify = |config: &str, tools: &str| ptc(&["verify", &file, "--against", config, "--tools", tools]);
    let listed = config(r#"{"upstreams": {"crm": {"tools": ["get"]}}}"#);
    assert!(verify(&listed, "fetch,other").out.contains("fits the configuration"));
    let ran = verify(&listed, "other");
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("requires granted tool `fetch`"), "{ran:?}");
    let cold = config(r#"{"upstreams": {"crm": {"transport": "stdio"}}}"#);
    assert!(verify(&cold, "fetch").out.contains("1 operation can only be checked when servers answer"));
    assert_eq!(verify(&config(r#"{"upstreams": {"crm": {"tools": []}}}"#), "fetch").code, 5);
    assert_eq!(verify(&config(r#"{"upstreams": {}}"#), "fetch").code, 5);
    assert_eq!(verify(&config("[]"), "fetch").code, 2);
}

#[test]
fn signatures() {
    let dir = folder("signed");
    let crm = put(&dir, "crm.clj", CRM);
    let key = put(&dir, "key.hex", &"5a".repeat(32));
    assert_eq!(build(&[&crm], &dir, &["--sign", &key]).code, 0);
    let file = dir.join("crm.ptcp").display().to_string();
    let signature = std::fs::read_to_string(dir.join("crm.ptcp.sig")).unwrap();
    let public = signature.split_whitespace().nth(1).unwrap();
    let keys = put(&dir, "keys.txt", public);
    let verify = |keys: &str| ptc(&["verify", &file, "--require-signed", "--trusted", keys]);
    assert!(verify(&keys).out.contains("signed by a trusted key"), "{:?}", verify(&keys));
    let others = put(&dir, "others.txt", &"00".repeat(32));
    assert_ne!(verify(&others).code, 0);
    std::fs::remove_file(dir.join("crm.ptcp.sig")).unwrap();
    let ran = verify(&keys);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("untrusted"), "{ran:?}");
    assert_eq!(ptc(&["verify", &file, "--require-signed"]).code, 2);
    let bad = put(&dir, "bad.hex", "xyz");
    assert_eq!(build(&[&crm], &dir, &["--sign", &bad]).code, 2);
}

#[test]
fn preludes_attach_to_eval_run_and_batch() {
    let dir = folder("attach");
    let crm = put(&dir, "crm.clj", CRM);
    build(&[&crm], &dir.join("dist"), &[]);
    let compiled = dir.join("dist/crm.ptcp").display().to_string();
    for prelude in [&crm, &compiled] {
        ptc(&["eval", "-p", prelude, "-e", "(crm/pages 101)"]).expect(0, "3\n");
        let program = put(&dir, "program.clj", "(crm/pages data/n)");
        ptc(&["run", &program, "--prelude", prelude, "--data", "n=51"]).expect(0, "2\n");
        let batch = ptc_with(
            &["batch", "-e", "(crm/pages (:n data/row))", "--prelude", prelude, "--quiet"],
            b"{\"n\":1}\n{\"n\":51}\n",
        );
        batch.expect(0, "1\n2\n");
        let lines = ptc_with(&["eval", "--jsonl", "-p", prelude], b"{\"program\":\"crm/size\"}\n");
        assert!(lines.out.contains("\"value\":\"50\""), "{lines:?}");
    }
    let any = put(&dir, "any.clj", ANY);
    ptc(&["eval", "-p", &crm, "-p", &any, "-e", "(count (filter #{\"any\" \"crm\"} (all-ns)))"])
        .expect(0, "2\n");
    let bad = put(&dir, "bad.clj", "(ns bad)\n(defn f [x] (nope x))");
    let ran = ptc(&["eval", "-p", &bad, "-e", "1"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("prelude attach failed: ") && ran.err.contains("bad.clj:2:14"), "{ran:?}");
    let ran = ptc(&["eval", "-p", &crm, "-e", "(crm/find 1)"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("calls `tool/call`, which is not granted"), "{ran:?}");
}

#[test]
fn preludes_of_every_sort_attach_side_by_side() {
    let dir = folder("beside");
    let (crm, shop) = (put(&dir, "crm.clj", CRM), put(&dir, "shop.clj", "(ns shop) (def rate 19)"));
    let kept = put(&dir, "kept.clj", "(ns kept) (def two 2)");
    build(&[&crm, &shop], &dir.join("dist"), &["--no-source"]);
    let file = |name: &str| dir.join("dist").join(name).display().to_string();
    let store = dir.join("store").display().to_string();
    ptc(&["store", "write", &store, &kept]);
    let (crm, shop, stored) = (file("crm.ptcp"), file("shop.ptcp"), format!("store:{store}#kept"));
    let any = put(&dir, "any.clj", ANY);
    let all = ["-p", &crm, "-p", &shop, "-p", &any, "-p", "ptc:paged", "-p", &stored];
    let program =
        "[(crm/pages 101) shop/rate kept/two (count (ns-publics 'any)) (pos? (count (ns-publics 'paged)))]";
    let answer = "[3 19 2 1 true]\n";
    ptc(&[&["eval"][..], &all, &["-e", program]].concat()).expect(0, answer);
    let path = put(&dir, "program.clj", program);
    ptc(&[&["run", &path][..], &all, &[]].concat()).expect(0, answer);
    ptc_with(
        &[&["batch", "-e", "(+ (:n data/row) shop/rate kept/two)", "--quiet"][..], &all, &[]].concat(),
        b"{\"n\":1}\n",
    )
    .expect(0, "22\n");
    let ran = ptc(&[&["repl"][..], &all, &["-e", program]].concat());
    assert!(ran.out.contains("[3 19 2 1 true]"), "{ran:?}");
    // A namespace that two declare is told of with both.
    let double = put(&dir, "double.clj", "(ns shop)");
    for (first, second) in [(&shop, &double), (&double, &shop)] {
        let ran = ptc(&["eval", "-p", first, "-p", second, "-e", "1"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        let told = format!("duplicate namespace 'shop': both `{first}` and `{second}` declare it");
        assert!(ran.err.contains(&told), "{ran:?}");
    }
    let agent = put(&dir, "agent.toml", "prompt = \"Work\"\n");
    let ran = ptc(&["agent", "check", &agent, "-p", &shop, "-p", &double]);
    assert_ne!(ran.code, 0, "{ran:?}");
    let told = format!("both `{shop}` and `{double}` declare it");
    assert!(ran.err.contains(&told) || ran.out.contains(&told), "{ran:?}");
    let ran = ptc(&["agent", "check", &agent, "-p", &shop, "-p", &crm, "--stub", "call=1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Two folders, one and two threads, another time zone and language, any order of the files: the same
/// bytes.
#[test]
fn the_same_sources_give_the_same_bytes() {
    let sources = [
        ("crm.clj", CRM),
        ("any.clj", ANY),
        ("c.clj", "(ns c) (def m {:b 1 :a #{3 1 2}}) (def t (fn [x] (str x m)))"),
    ];
    let mut results = Vec::new();
    for (i, (threads, zone, language)) in
        [("1", "UTC", "C"), ("2", "Asia/Kathmandu", "de_DE.UTF-8"), ("2", "America/St_Johns", "tr_TR.UTF-8")]
            .iter()
            .enumerate()
    {
        let dir = folder(&format!("same{i}{}", "x".repeat(i * 7)));
        let mut files: Vec<String> = sources.iter().map(|(name, text)| put(&dir, name, text)).collect();
        files.rotate_left(i);
        let run = |more: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_ptc"))
                .arg("build")
                .args(&files)
                .args(["-o", "dist"])
                .args(more)
                .current_dir(&dir)
                .env("RAYON_NUM_THREADS", threads)
                .env("TZ", zone)
                .env("LC_ALL", language)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        run(&[]);
        let mut made: Vec<(String, Vec<u8>)> = std::fs::read_dir(dir.join("dist"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
            })
            .collect();
        made.sort();
        results.push(made);
    }
    assert_eq!(results[0].len(), 3);
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Every command of the workflow in the examples runs in a fresh repository, and one of them fails when something is wrong.
#[test]
fn the_workflow_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let workflow = std::fs::read_to_string(root.join("examples/preludes/preludes.yml")).unwrap();
    let commands: Vec<&str> = workflow
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- run: "))
        .filter(|command| command.contains("ptc ") && !command.starts_with("cargo"))
        .collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    let dir = folder("workflow");
    std::fs::create_dir_all(dir.join("preludes")).unwrap();
    for entry in std::fs::read_dir(root.join("examples/preludes")).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "clj") {
            std::fs::copy(&file, dir.join("preludes").join(file.file_name().unwrap())).unwrap();
        }
    }
    put(&dir, "upstreams.json", r#"{"upstreams": {"crm": {}}}"#);
    let bin = Path::new(env!("CARGO_BIN_EXE_ptc")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let shell = |command: &str, key: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-ec", command]).current_dir(&dir).env("PATH", &path).env("PRELUDE_KEY", key);
        shell.output().unwrap()
    };
    let run = |command: &str| {
        let output = shell(command, "");
        assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
    };
    run("ptc key new key.hex > keys.txt");
    let key = std::fs::read_to_string(dir.join("key.hex")).unwrap();
    run("ptc build preludes -o dist");
    // As a runner does it: the first command that fails is the last. Gives its number.
    let workflow_fails_at =
        || commands.iter().position(|command| !shell(command, key.trim()).status.success());
    assert_eq!(workflow_fails_at(), None);
    run("ptc verify dist/*.ptcp --require-signed --trusted keys.txt");
    assert!(!dir.join("key.hex").exists());
    // What is uploaded has the signatures.
    assert!(workflow.contains("dist/*.ptcp.sig"));
    // A change that breaks a test, one that nobody has built, one that calls whatever it likes, and a file that is not its
    // source's: none of them is signed.
    run("rm dist/*.sig && cp -r preludes kept && cp -r dist kept-dist");
    for (change, step) in [
        ("sed -i.old 's/(str.trim (str raw))/(str raw)/' preludes/crm.clj", 0),
        ("echo '(def more 1)' >> preludes/money.clj", 1),
        (
            "echo '(defn any [s t] (tool/call {:server s :tool t}))' >> preludes/crm.clj && ptc build preludes -o dist",
            1,
        ),
        ("cp dist/crm.ptcp dist/other.ptcp", 1),
        ("echo '{\"upstreams\": {\"erp\": {}}}' > upstreams.json", 2),
    ] {
        run(change);
        assert_eq!(workflow_fails_at(), Some(step), "{change}");
        run("rm -rf preludes dist && cp -r kept preludes && cp -r kept-dist dist");
        assert!(!dir.join("key.hex").exists() && !dir.join("dist/crm.ptcp.sig").exists(), "{change}");
    }
}

#[test]
fn keys_are_made_shown_and_never_replaced() {
    let dir = folder("keys");
    let key = dir.join("key.hex").display().to_string();
    let made = ptc(&["key", "new", &key]);
    assert!(made.code == 0 && made.out.starts_with("ptc-public:") && made.out.len() == 76, "{made:?}");
    ptc(&["key", "public", &key]).expect(0, &made.out);
    let secret = std::fs::read_to_string(&key).unwrap();
    assert!(secret.starts_with("ptc-private:") && secret.len() == 77);
    // Each in the place of the other is told, and an older file without a tag is still read.
    let public = put(&dir, "keys.txt", &made.out);
    let ran = ptc(&["key", "public", &public]);
    assert!(
        ran.code == 2 && ran.err.contains("keys.txt") && ran.err.contains("this is a public key"),
        "{ran:?}"
    );
    for trusted in [&key, secret.trim()] {
        let ran = ptc(&["eval", "-e", "1", "--trusted", trusted]);
        assert!(
            ran.code == 2 && ran.err.contains("is a private key, and only a public key can be trusted"),
            "{ran:?}"
        );
        assert!(!ran.err.contains(secret.trim().trim_start_matches("ptc-private:")), "{ran:?}");
    }
    let old = put(&dir, "old.hex", secret.trim().trim_start_matches("ptc-private:"));
    ptc(&["key", "public", &old]).expect(0, &made.out);
    let bare = made.out.trim().trim_start_matches("ptc-public:");
    ptc(&["eval", "-e", "1", "--trusted", bare]).expect(0, "1\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = ptc(&["key", "new", &key]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("a key is never replaced"), "{again:?}");
    assert_eq!(std::fs::read_to_string(&key).unwrap(), secret);
    assert!(again.err.contains("ptc key public"), "{again:?}");
    let other = ptc(&["key", "new", &dir.join("other.hex").display().to_string()]);
    assert_ne!(other.out, made.out);
    let bad = ptc(&["key", "public", &put(&dir, "bad.hex", "xyz")]);
    assert_eq!(bad.code, 2, "{bad:?}");
    assert!(bad.err.contains("64 hexadecimal digits") && bad.err.contains("ptc key new"), "{bad:?}");
}

#[test]
fn files_in_the_wrong_place_are_told() {
    let dir = folder("misplaced");
    let (crm, key) = (put(&dir, "crm.clj", CRM), dir.join("key.hex").display().to_string());
    let public = ptc(&["key", "new", &key]).out;
    build(&[&crm], &dir.join("dist"), &[]);
    let (dist, file) =
        (dir.join("dist").display().to_string(), dir.join("dist/crm.ptcp").display().to_string());
    let missing = dir.join("none.hex").display().to_string();
    let told = |args: &[&str], code: i32, parts: &[&str]| {
        let ran = ptc(args);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{args:?}: {ran:?}");
    };
    told(&["key", "public", &missing], 2, &["cannot read", "ptc key new"]);
    told(&["build", &crm, "-o", &dist, "--sign", &missing], 2, &["cannot read", "ptc key new"]);
    // The key comes first.
    told(&["key", "sign", &file, &key], 2, &["crm.ptcp", "64 hexadecimal digits"]);
    told(&["key", "sign", &key, &crm], 2, &["bad_magic", "not its source"]);
    for args in [&["key", "sign", &key, &dist][..], &["inspect", &dist], &["verify", &dist]] {
        told(args, 2, &["it is a folder", "*.ptcp"]);
    }
    told(&["inspect", &file, "--source", "crm/nope"], 5, &["crm.ptcp has no `crm/nope`", "ptc inspect"]);
    // Without --require-signed, a missing signature is told and is no error; signing twice is signing once.
    let verify = || ptc(&["verify", &file, "--trusted", public.trim()]);
    assert!(verify().out.contains("3 exports, not signed"), "{:?}", verify());
    for _ in 0..2 {
        let signed = ptc(&["key", "sign", &key, &file]);
        let signer = &public.trim_start_matches("ptc-public:")[..16];
        assert!(signed.out.contains(&format!("signed by {signer}")), "{signed:?}");
        assert!(verify().out.contains("3 exports, signed by a trusted key"), "{:?}", verify());
    }
}

#[test]
fn pins_are_printed_as_lines_to_paste() {
    let dir = folder("pin");
    let (crm, any) = (put(&dir, "crm.clj", CRM), put(&dir, "any.clj", ANY));
    let (key, dist) = (dir.join("key.hex").display().to_string(), dir.join("dist"));
    let public = ptc(&["key", "new", &key]).out.trim().to_string();
    build(&[&crm, &any], &dist, &[]);
    let of = |name: &str| dist.join(name).display().to_string();
    assert_eq!(ptc(&["key", "sign", &key, &of("crm.ptcp")]).code, 0);
    let hash =
        ptc(&["inspect", &of("crm.ptcp"), "--json"]).json()["artifact_hash"].as_str().unwrap().to_string();
    let pinned = format!("{}@artifact:{hash}", of("crm.ptcp"));
    let ran = ptc(&["inspect", &of("crm.ptcp"), "--pin"]);
    let wanted = format!(
        "# agent file\npreludes = [\"{pinned}\"]\ntrusted = [\"{public}\"]\n\n\
         # server settings\nPTC_MCP_PRELUDE={pinned}\nPTC_MCP_TRUSTED={public}\n\n\
         # flags\n-p {pinned} --trusted {public}\n"
    );
    ran.expect(0, &wanted);
    // It is what the commands take.
    let flags = ran.out.lines().last().unwrap().split(' ').collect::<Vec<_>>();
    ptc(&[&["eval", "-e", "crm/size", "--stub", "call=1"], &flags[..]].concat()).expect(0, "50\n");
    // Without a signature by one key on all files, there is no key to name.
    let both = ptc(&["inspect", &of("crm.ptcp"), &of("any.ptcp"), "--pin"]);
    assert!(!both.out.contains("TRUSTED") && both.out.contains(&of("any.ptcp")), "{both:?}");
    assert!(both.err.contains("any.ptcp is not signed"), "{both:?}");
}

#[test]
fn only_what_the_source_inside_gives_is_signed() {
    let dir = folder("sign");
    let (crm, any) = (put(&dir, "crm.clj", CRM), put(&dir, "any.clj", ANY));
    let key = dir.join("key.hex").display().to_string();
    let public = ptc(&["key", "new", &key]).out.trim().to_string();
    let dist = dir.join("dist");
    build(&[&crm, &any], &dist, &[]);
    let file = |name: &str| dist.join(name).display().to_string();
    let (crm_file, any_file) = (file("crm.ptcp"), file("any.ptcp"));
    let signed = ptc(&["key", "sign", &key, &crm_file, &any_file]);
    assert_eq!(signed.code, 0, "{signed:?}");
    assert!(signed.out.contains("crm.ptcp: rebuilt byte for byte, signed"), "{signed:?}");
    let verified = ptc(&["verify", &crm_file, &any_file, "--require-signed", "--trusted", &public]);
    assert_eq!((verified.code, verified.out.lines().count()), (0, 2), "{verified:?}");
    // One of them has other code than its source: none is signed.
    std::fs::remove_file(dist.join("any.ptcp.sig")).unwrap();
    let mut forged = ptc_bytecode::decode_prelude(&std::fs::read(&crm_file).unwrap()).unwrap();
    forged.sources = Some(vec![ANY.to_string()]);
    let forged = ptc_bytecode::encode_prelude(&forged.sealed());
    std::fs::write(dist.join("forged.ptcp"), forged).unwrap();
    let refused = ptc(&["key", "sign", &key, &any_file, &file("forged.ptcp")]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.err.contains("forged.ptcp"), "{refused:?}");
    assert!(!dist.join("any.ptcp.sig").exists() && !dist.join("forged.ptcp.sig").exists());
    // Nobody can see where this code comes from.
    build(&[&crm], &dir.join("bare"), &["--no-source"]);
    let bare = ptc(&["key", "sign", &key, &dir.join("bare/crm.ptcp").display().to_string()]);
    assert_ne!(bare.code, 0, "{bare:?}");
    assert!(bare.err.contains("no source inside"), "{bare:?}");
}

#[test]
fn a_folder_is_built_and_what_no_source_makes_is_told() {
    let dir = folder("tree");
    let sources = dir.join("preludes");
    std::fs::create_dir_all(&sources).unwrap();
    put(&sources, "crm.clj", CRM);
    put(&sources, "any.clj", ANY);
    put(&sources, "crm_test.clj", "(ns crm-test)");
    put(&sources, "notes.txt", "no prelude");
    let (given, dist) = (sources.display().to_string(), dir.join("dist"));
    let built = build(&[&given], &dist, &[]);
    assert_eq!(built.code, 0, "{built:?}");
    assert_eq!(built.out.lines().count(), 2, "{built:?}");
    assert_eq!(build(&[&given], &dist, &["--check"]).code, 0);
    std::fs::remove_file(sources.join("any.clj")).unwrap();
    let checked = build(&[&given], &dist, &["--check"]);
    assert_eq!(checked.code, 4, "{checked:?}");
    assert!(checked.out.contains("any.ptcp: has no source"), "{checked:?}");
    let json = build(&[&given], &dist, &["--check", "--json"]);
    assert_eq!(json.json()["files"][1]["status"], "orphan");
    let warned = build(&[&given], &dist, &[]);
    assert_eq!(warned.code, 0, "{warned:?}");
    assert!(
        warned.err.contains("any.ptcp has no source; delete it") && dist.join("any.ptcp").exists(),
        "{warned:?}"
    );
    // Named by itself, a file is one of many.
    let one = sources.join("crm.clj").display().to_string();
    assert_eq!(build(&[&one], &dist, &["--check"]).code, 0);
    let empty = dir.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let none = build(&[&empty.display().to_string()], &dist, &[]);
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.err.contains("has no preludes"), "{none:?}");
}

#[test]
fn several_files_are_shown_and_checked() {
    let dir = folder("several");
    let (crm, any) = (put(&dir, "crm.clj", CRM), put(&dir, "any.clj", ANY));
    build(&[&crm, &any], &dir, &[]);
    let (crm, any) = (dir.join("crm.ptcp").display().to_string(), dir.join("any.ptcp").display().to_string());
    let shown = ptc(&["inspect", &crm, &any]);
    assert!(shown.out.contains("(find id)") && shown.out.contains("(call s t)"), "{shown:?}");
    let json = ptc(&["inspect", &crm, &any, "--json"]);
    let files: Vec<Value> = json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&files[0]["file"], &files[1]["file"]), (&Value::from(&*crm), &Value::from(&*any)));
    let bad = put(&dir, "bad.ptcp", "nothing");
    let checked = ptc(&["verify", &crm, &bad, &any]);
    assert_eq!(checked.code, 5, "{checked:?}");
    assert_eq!(checked.out.lines().count(), 2, "the sound ones are told too: {checked:?}");
}
