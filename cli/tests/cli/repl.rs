//! `ptc repl` with input from pipes and files; `terminal` has the one with a prompt.

use crate::{file, ptc, ptc_with};

const MONEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/preludes/money.clj");
const CRM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/preludes/crm.clj");

/// Seed §1 and §8: the REPL attaches what other runs attach, source or compiled.
#[test]
fn s1_the_same_artifact_serves_the_repl() {
    let dist = file("repl/dist/keep", "");
    let dist = std::path::Path::new(&dist).parent().expect("a folder").display().to_string();
    assert_eq!(ptc(&["build", MONEY, "-o", &dist]).code, 0);
    let compiled = format!("{dist}/money.ptcp");
    for prelude in [MONEY, &compiled] {
        let args = ["repl", "-p", prelude];
        ptc_with(&args, b"(money/with-tax 1000 \"de\")\n(money/show *1)\n").expect(0, "1190\n\"11.90\"\n");
        ptc(&["eval", "-p", prelude, "-e", "(money/show 1190)"]).expect(0, "\"11.90\"\n");
    }
    // Its source is there for commands and for programs, of a file that was just built too.
    for prelude in [MONEY, &compiled] {
        for input in [&b":source money/total\n"[..], b"(source 'money/total)\n"] {
            let shown = ptc_with(&["repl", "-p", prelude], input);
            assert!(
                shown.out.contains("(defn total\n  \"The sum of the :cents of rows.\"\n  [rows]"),
                "{shown:?}"
            );
        }
        let shown = ptc(&["eval", "-p", prelude, "-e", "(source 'money/total)"]);
        assert!(shown.out.contains("(defn total\n") && !shown.out.contains("no source"), "{shown:?}");
    }
    // What a compiled file says of a source that is not inside need not be true.
    assert_eq!(ptc(&["build", MONEY, "-o", &dist, "--no-source"]).code, 0);
    let refused = ptc_with(&["repl", "-p", &compiled], b":source money/total\n");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("ptc inspect --source money/total"), "{refused:?}");
}

/// Seed §8: `--prelude`, `--show-prompt-inventory`, `-e`, `-l`, `--help`.
#[test]
fn s8_flags_of_the_repl() {
    let inventory = ptc(&["repl", "--prelude", CRM, "--show-prompt-inventory"]);
    assert_eq!(inventory.code, 0);
    assert!(
        inventory.out.starts_with(";; -- host capabilities: call as (ns/name ...) --\n;; crm - Customers.\n")
    );
    assert!(inventory.out.contains("crm/get-user (get-user id) [unknown] - Return a CRM user by id."));
    assert!(!inventory.out.contains("list-users"), "it is not for prompts");
    let first = ptc(&["repl", "-p", CRM, "--show-prompt-inventory", "-e", "crm/page-size"]);
    assert!(first.out.starts_with(";; -- host") && first.out.ends_with("\n50\n"), "{first:?}");
    ptc(&["repl", "--prelude", CRM, "-e", "(sort (keys (ns-publics 'crm)))"])
        .expect(0, "[\"get-user\" \"get-user!\" \"list-users\" \"page-size\"]\n");
    // -l is for ordinary code, whose definitions stay; its value is not shown, what it prints is.
    let definitions =
        file("repl/definitions.clj", "(defn twice [x] (* 2 x))\n(println \"loaded\")\n(twice 4)\n");
    ptc(&["repl", "-l", &definitions, "-e", "(twice 21)"]).expect(0, "loaded\n42\n");
    ptc(&["repl", "--load", &definitions, "-p", CRM, "-e", "(twice crm/page-size)"])
        .expect(0, "loaded\n100\n");
    let ran = ptc(&["repl", "-l", CRM, "-e", "1"]);
    assert_eq!(ran.code, 1, "a prelude is no ordinary code");
    assert!(ran.err.contains("attach one with `--prelude FILE`"), "{ran:?}");
    // Help reads nothing.
    let short = ptc(&["repl", "--prelude", "no/such.clj", "--help"]);
    assert_eq!((short.code, short.err.as_str()), (0, ""));
    assert!(short.out.contains("--prelude") && short.out.contains("--expr"), "{short:?}");
    let help = ptc(&["repl", "--prelude", "no/such.clj", "--help-all"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    for flag in
        ["-e, --expr", "-l, --load", "-p, --prelude", "--show-prompt-inventory", "--no-history", "SCRIPT"]
    {
        assert!(help.out.contains(flag), "{flag}");
    }
}

/// Seed §8: what the REPL shows is, byte for byte, what an agent with that prelude is told.
#[test]
fn s8_the_repl_shows_the_inventory_that_an_agent_is_told() {
    let folder = std::path::Path::new(&file("repl/told/keep", "")).with_file_name("");
    for (prelude, policy, flags) in [
        (CRM, "", &[][..]),
        (MONEY, "", &[]),
        (
            CRM,
            "policy = { discoverable = [\"crm/get-user!\"] }\n",
            &["--prelude-discoverable", "crm/get-user!"],
        ),
    ] {
        let agent = folder.join("agent.toml");
        let prelude = std::path::Path::new(prelude).canonicalize().expect("a prelude").display().to_string();
        std::fs::write(&agent, format!("prompt = \"Help\"\npreludes = [{prelude:?}]\n{policy}"))
            .expect("written");
        let model = ptc_model::Scripted::new(["(return 1)"]);
        let options = ptc_agent::RunOptions::new().llm(ptc_agent::tools::LlmRef::client(model.clone()));
        ptc_agent::run(&ptc_agent::Agent::from_file(&agent).expect("an agent"), &options).expect("a result");
        let shown = ptc(&[&["repl", "-p", &prelude, "--show-prompt-inventory"], flags].concat());
        assert!(shown.out.starts_with(";; -- host capabilities"), "{shown:?}");
        assert!(!flags.contains(&"crm/get-user!") || !shown.out.contains("get-user!"), "{shown:?}");
        let system = model.requests()[0].system.clone();
        assert!(system.contains(shown.out.trim_end()), "{system}\n\n{}", shown.out);
    }
}

#[test]
fn inputs_end_where_their_brackets_do() {
    ptc_with(&["repl"], b"(def x\n  20)\n(str \"a\nb)\" \\( x)\n\n; comment (\n*1\n")
        .expect(0, "#'x\n\"a\\nb)(20\"\n\"a\\nb)(20\"\n");
    ptc_with(&["repl"], b"1 2 3\n4").expect(0, "3\n4\n");
}

#[test]
fn an_input_that_fails_is_told_and_the_rest_goes_on() {
    let ran = ptc_with(&["repl"], b"(def a 1)\n(+ a nil)\n(nope)\n(+ a 1)\n(never closed\n");
    ran.expect(1, "#'a\n2\n");
    for part in ["type_error", " 1 │ (+ a nil)", "unbound_var", "is never closed"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains('\u{1b}'), "no colours in pipes");
}

#[test]
fn programs_of_the_command_line_share_a_session_and_stop_at_a_failure() {
    ptc(&["repl", "-e", "(def a 1)", "-e", "(+ a 1)"]).expect(0, "#'a\n2\n");
    let ran = ptc(&["repl", "-e", "(+ 1 nil)", "-e", "2"]);
    ran.expect(1, "");
    let script = file("repl/script.clj", "(defn f [x]\n  (* 2 x))\n(f 4)\n");
    ptc(&["repl", &script]).expect(0, "8\n");
    ptc_with(&["repl", "-"], b"(def a 1)\n(+ a 1)").expect(0, "2\n");
    ptc_with(&["repl", "-i", &script], b"(f 5)\n").expect(0, "8\n10\n");
    let bad = file("repl/bad.clj", "(def a 1)\n(+ a nil)\n");
    let ran = ptc(&["repl", &bad]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("(line 2, column 1)"), "{ran:?}");
    assert_eq!(ptc(&["repl", "-l", &bad, "-e", "1"]).code, 1);
}

#[test]
fn what_is_given_wrongly_ends_with_2() {
    for args in [
        &["repl", "no/such.clj"][..],
        &["repl", "-l", "no/such.clj"],
        &["repl", "-p", "no/such.clj"],
        &["repl", "-e", "1", "script.clj"],
        &["repl", "--stub", "call"],
        &["repl", "--data", "x=@no/such.json"],
        &["repl", "--history", "a", "--no-history"],
        &["repl", "--echo", "--json"],
    ] {
        let ran = ptc(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{args:?}: {ran:?}");
    }
    let bad = file("repl/bad-prelude.clj", "(ns bad)\n(defn f [x] (nope x))");
    let ran = ptc(&["repl", "-p", &bad]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("bad-prelude.clj:2:14") && ran.err.contains("nope"), "{ran:?}");
}

#[test]
fn stubs_stand_in_for_tools() {
    let answer = r#"call={"ok":true,"value":{"name":"Ada"}}"#;
    ptc(&["repl", "-p", CRM, "--stub", answer, "-e", "(:name (crm/get-user! 1))"]).expect(0, "\"Ada\"\n");
    let ran = ptc(&["repl", "-p", CRM, "-e", "(crm/get-user 1)"]);
    assert!(ran.err.contains("--stub call=JSON"), "{ran:?}");
    let prelude = file("repl/needs.clj", "(ns a) (defn all [] (tool/fetch {}))");
    let ran = ptc(&["repl", "-p", &prelude, "-e", "(a/all)"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("requires granted tool `fetch`") && ran.err.contains("--stub"), "{ran:?}");
    ptc(&["repl", "-p", &prelude, "--stub", "fetch=[1]", "-e", "(a/all)"]).expect(0, "[1]\n");
}

#[test]
fn one_object_for_each_program() {
    let ran = ptc_with(&["repl", "--json"], b"(println \"hi\") (def a 1)\n(+ a nil)\n{:a a}\n");
    assert_eq!(ran.code, 1);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 3, "{ran:?}");
    assert_eq!((&lines[0]["ok"], &lines[0]["prints"][0]), (&true.into(), &"hi".into()));
    assert_eq!(lines[1]["error"]["kind"], "type_error");
    assert_eq!(lines[2]["json"]["a"], 1);
    let (good, bad) = (file("repl/good.clj", "(def b 2)"), file("repl/worse.clj", "(+ 1 nil)"));
    assert_eq!(ptc(&["repl", "--json", "-l", &good, "-e", "b"]).json()["json"], 2);
    let ran = ptc(&["repl", "--json", "-l", &bad, "-e", "1"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (1, &false.into()));
}

#[test]
fn echo_shows_a_session_as_a_terminal_would() {
    ptc_with(&["repl", "--echo"], b"(map inc\n [1 2])\n:limits fuel=9\n").expect(
        0,
        "ptc> (map inc\n...   [1 2])\n=> [2 3]\nptc> :limits fuel=9\nfuel                                9  Work: every instruction, and every builtin by the items it touches.\n",
    );
}

#[test]
fn preludes_can_be_changed_while_definitions_stay() {
    let a = file("repl/a.clj", "(ns a) (defn f [x] (+ x 1))");
    let script = format!(
        ":prelude\n:prelude {a}\n(defn mine [x] (a/f x))\n(mine 1)\n:prelude off\n(mine 1)\n:prelude no/such.clj\n:prelude {a}\n(mine 2)\n"
    );
    let ran = ptc_with(&["repl"], script.as_bytes());
    ran.expect(
        1,
        "no prelude is attached; `:prelude FILE` attaches one\na (1 export)\n#'mine\n2\nno prelude is attached; `:prelude FILE` attaches one\na (1 export)\n3\n",
    );
    assert!(ran.err.contains("a/f") && ran.err.contains("cannot read no/such.clj"), "{ran:?}");
}

#[test]
fn a_changed_prelude_is_read_again() {
    // From a shell, so that the file changes between two inputs.
    let a = file("repl/again.clj", "(ns a) (defn f [x] (+ x 1))");
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_ptc"))
        .args(["repl", "-p", &a])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let mut child = child.expect("ptc starts");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ask = |text: &str| {
        use std::io::{BufRead, Write};
        input.write_all(text.as_bytes()).expect("written");
        let mut line = String::new();
        output.read_line(&mut line).expect("an answer");
        line
    };
    assert_eq!(ask("(a/f 1)\n"), "2\n");
    file("repl/again.clj", "(ns a \"Other.\") (defn f [x] (+ x 100))");
    assert_eq!(ask(":reload\n"), "a (1 export) - Other.\n");
    assert_eq!(ask("(a/f 1)\n"), "101\n");
    drop(input);
    assert!(child.wait().expect("ended").success());
}

#[test]
fn preludes_of_a_store_and_of_ptc() {
    let keep = file("repl/store/keep", "");
    let folder = std::path::Path::new(&keep).parent().expect("a folder").join(std::process::id().to_string());
    let folder = folder.display().to_string();
    let write = "(prelude/write {:id \"shop\" :source \"(ns shop) (defn f [x] (* 2 x))\"})";
    let script = format!(
        "(get {write} \"version\")\n:prelude store:{folder}#shop\n(shop/f 21)\n(count (prelude/list))\n"
    );
    ptc_with(&["repl", "--prelude-write", &folder], script.as_bytes())
        .expect(0, "1\nshop (1 export)\nprelude (6 exports) - Stored preludes: read them, write new versions, choose the current one.\n42\n1\n");
    ptc(&["repl", "-p", "ptc:paged", "-e", "(string? (doc paged/fold))"]).expect(0, "true\n");
}

#[test]
fn bytes_that_are_no_text_and_a_reader_that_left() {
    let ran = ptc_with(&["repl"], b"(def a 1)\n\xff\xfe\na\n");
    ran.expect(1, "#'a\n1\n");
    assert!(ran.err.contains("not UTF-8"), "{ran:?}");
}
