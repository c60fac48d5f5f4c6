//! Lookups over the language, an attached prelude and upstream servers.

use super::common::*;
use ptc_runtime::{Attach, Catalog, Datum, Entry, Grants, Known, Lookup, Node, Origin, Runtime, Upstream};
use std::sync::Arc;

struct Remote;

fn remote_entry(server: &str, tool: &str, about: &str) -> Entry {
    let mut entry = Entry::new(Origin::Upstream, "tool", server, tool, about);
    entry.reference = format!("{server}/{tool}");
    entry.with_words(&format!("{server} {tool}"), about)
}

impl Upstream for Remote {
    fn operation(&self, _: &str, _: &str) -> Known {
        Known::NotLoaded
    }

    fn servers(&self) -> Lookup<Datum> {
        Lookup::Found(Datum::new(vec![Node::Str("mail".into()), Node::Vector(1)]).unwrap())
    }

    fn entries(&self, load: bool) -> Lookup<Vec<Entry>> {
        let mut entries = vec![remote_entry("mail", "find_user", "Finds a user by address.")];
        match load {
            true => entries.push(remote_entry("cold", "user_count", "Counts users.")),
            false => {
                let mut server = Entry::new(Origin::Unloaded, "server", "cold", "cold", "Users in the cold.");
                server.reference = "cold".into();
                entries.push(server.with_words("cold", "Users in the cold."));
            }
        }
        Lookup::Found(entries)
    }

    fn dir(&self, server: &str) -> Lookup<Vec<Entry>> {
        match server {
            "mail" => Lookup::Found(vec![remote_entry("mail", "find_user", "Finds a user by address.")]),
            "cold" => Lookup::Unavailable,
            _ => Lookup::Unknown,
        }
    }

    fn doc(&self, reference: &str) -> Lookup<String> {
        match reference {
            "mail/find_user" => Lookup::Found("mail/find_user\nFinds a user.".into()),
            "cold/x" => Lookup::Unavailable,
            _ => Lookup::Unknown,
        }
    }

    fn meta(&self, reference: &str) -> Lookup<Datum> {
        match reference {
            "mail/find_user" => Lookup::Found(
                Datum::new(vec![Node::Str("server".into()), Node::Str("mail".into()), Node::Map(1)]).unwrap(),
            ),
            _ => Lookup::Unknown,
        }
    }
}

fn attached() -> Runtime {
    runtime().with_tools(stub()).attach(&compiled(CRM), &Attach::new().upstream(Arc::new(Remote))).unwrap()
}

fn run(program: &str) -> String {
    attached()
        .clone()
        .with_tools(stub())
        .eval(program, &Grants::new())
        .unwrap_or_else(|f| panic!("{program}\n{f}"))
        .print()
        .unwrap()
}

#[test]
fn preludes_come_before_servers_and_those_before_the_language() {
    let lines = run("(apropos \"user\" {:limit 50})");
    let order: Vec<usize> = [
        "prelude: crm/get-user ",
        "mail/find_user - ",
        "cold - Users in the cold. (not loaded; try (dir \\\"cold\\\"))",
    ]
    .iter()
    .map(|line| lines.find(line).unwrap_or_else(|| panic!("{line} in {lines}")))
    .collect();
    assert!(order.is_sorted(), "{lines}");
    if let Some(local) = lines.find("local: ") {
        assert!(local > order[2], "{lines}");
    }
    assert!(run("(apropos \"user\" {:limit 50 :load true})").contains("cold/user_count - Counts users."));
}

#[test]
fn scores_are_exact() {
    // Exact 10, prefix 5, part 2; names get 2 more; sums over names and texts.
    let source = "(ns a) (defn sort-rows \"x\" [] 1) (defn rows \"sorts\" [] 1) (defn resort \"x\" [] 1) (defn other \"sort sort\" [] 1)";
    let found = value(source, "(filter #(str/starts-with? % \"prelude\") (apropos \"sort\" {:limit 50}))");
    assert_eq!(
        found,
        "[\"prelude: a/sort-rows - x\" \"prelude: a/other - sort sort\" \"prelude: a/rows - sorts\" \"prelude: a/resort - x\"]"
    );
    assert_eq!(value(source, "(apropos \"--\")"), "[]");
    assert_eq!(fault(source, "(apropos \" \")").0, "runtime_error");
}

#[test]
fn the_whole_of_each_form() {
    assert_eq!(run("(count (apropos \"user\" {:limit 2}))"), "2");
    assert_eq!(run("(dir 'mail)"), "[\"mail/find_user - Finds a user by address.\"]");
    assert_eq!(run("[(dir 'cold) (doc 'cold/x)]"), "[nil nil]");
    assert_eq!(run("(doc 'mail/find_user)"), "\"mail/find_user\\nFinds a user.\"");
    assert_eq!(run("(meta 'mail/find_user)"), "{\"server\" \"mail\"}");
    assert_eq!(run("(tool/servers)"), "[\"mail\"]");
    assert_eq!(run("(str/includes? (doc map) \"Kind: function\")"), "true");
    for program in [
        "(dir 'nowhere)",
        "(doc 'crm/nope)",
        "(ns-publics 'mail)",
        "(ns-name 'mail)",
        "(dir 'crm {:limit 0})",
        "(dir 'crm {:offset -1})",
    ] {
        let failure = attached().with_tools(stub()).eval(program, &Grants::new()).expect_err(program);
        assert_eq!(failure.reason(), "runtime_error", "{program}");
    }
}

#[test]
fn a_local_shadows_a_form_and_a_prelude_does_not() {
    assert_eq!(
        value("(ns a) (defn doc [x] [:mine x])", "[(a/doc 1) (let [doc inc] (doc 1))]"),
        "[[:mine 1] 2]"
    );
}

#[test]
fn all_members_of_publics() {
    assert_eq!(
        value(CRM, "(get (ns-publics 'crm) \"get-user\")"),
        "{:source \"prelude\" :name \"get-user\" :doc \"Return a CRM user by id.\" :arity 1 :arglists [\"[id]\"] :visibility \"prompt\" :effect \"unknown\"}"
    );
    assert_eq!(value(CRM, "(:arity (meta 'crm/page-size))"), "0");
    assert_eq!(
        value("(ns a) (defn f [x & more] 1)", "(select-keys (meta 'a/f) [:arity :arglists])"),
        "{:arity \"variadic\" :arglists [\"[x & more]\"]}"
    );
}

#[test]
fn names_as_symbol_text_or_bare() {
    for reference in ["'crm/get-user", "\"crm/get-user\"", "crm/get-user", "(str \"crm/\" \"get-user\")"] {
        assert_eq!(
            value(CRM, &format!("(str/starts-with? (doc {reference}) \"crm/get-user\")")),
            "true",
            "{reference}"
        );
    }
}

#[test]
fn dead_helpers_are_as_unknown_as_names_that_never_were() {
    let source = "(ns a) (defn- dead [] 1) (defn- used [] (deep)) (defn- deep [] 2) (defn f [] (used))";
    let outcome =
        eval(source, "(source a/dead) (source a/never) (source a/used) (source a/deep)", &stub()).unwrap();
    assert_eq!(outcome.prints[0], "no source available for a/dead");
    assert_eq!(outcome.prints[1], "no source available for a/never");
    assert!(
        outcome.prints[2].contains(";; a/used: private, arity 0")
            && outcome.prints[2].contains("(source a/deep)")
    );
    assert!(outcome.prints[3].contains("(defn- deep [] 2)"));
}

#[test]
fn a_long_source_is_cut_as_any_print() {
    let source = format!("(ns a) (defn f [] [{}])", "\"some text\" ".repeat(400));
    let outcome = eval(&source, "(source a/f)", &stub()).unwrap();
    assert!(outcome.prints[0].contains("... (2000/"), "{}", &outcome.prints[0][1900..]);
}

#[test]
fn an_inventory_shows_the_most_telling_exports_that_fit() {
    let constants: String = (0..9).map(|i| format!("(def a{i} {i})")).collect();
    let functions: String = (0..300).map(|i| format!("(defn plain{i} [x] x)")).collect();
    let source = format!("(ns b) {constants} {functions} (defn zoom \"Enlarges.\" [x] x)");
    let prelude = compiled(&source);
    for max_tokens in [60, 200, 1024, 100_000] {
        let how = ptc_runtime::Inventory { max_tokens, calls: None };
        let text = prelude.inventory(how).unwrap();
        assert!(text.len() <= 4 * max_tokens, "{text}");
        // Documented exports come first, constants last.
        let first = text.lines().nth(2).unwrap();
        assert!(first.starts_with("  b/zoom (zoom x) [pure]"), "{text}");
        assert_eq!(text.contains("b/a0"), max_tokens == 100_000, "{text}");
        // The budget is used: the next line would not have fit.
        let left = 4 * max_tokens - text.len();
        assert!(left < 40 || max_tokens == 100_000, "{left} bytes are left\n{text}");
    }
}

#[test]
fn namespaces_can_be_looked_up() {
    assert_eq!(
        value(CRM, "(doc 'crm)"),
        "\"crm\\nDescription: CRM helpers.\\nKind: namespace\\nExports: 4, listed by (dir 'crm)\""
    );
    assert_eq!(value(CRM, "(= (doc 'crm) (doc \"crm\") (doc crm))"), "true");
    assert_eq!(
        value(CRM, "(select-keys (meta 'crm) [:kind :doc :exports])"),
        "{:kind \"namespace\" :doc \"CRM helpers.\" :exports [\"get-user\" \"get-user!\" \"list-users\" \"page-size\"]}"
    );
    assert_eq!(fault(CRM, "(doc 'crn)").0, "runtime_error");
}

#[test]
fn a_word_with_letters_left_out_is_found_where_nothing_else_is() {
    let found = value(CRM, "(apropos \"usr\")");
    assert!(found.contains("crm/get-user ") && found.contains("crm/list-users "), "{found}");
    assert_eq!(value(CRM, "(apropos \"zzzz\")"), "[]");
    // A literal match brings no merely similar names.
    assert!(
        !value("(ns a) (defn str-ing [] 1) (defn storing [] 1)", "(apropos \"str\")").contains("storing")
    );
}

#[test]
fn other_forms_of_a_word_are_found_after_the_word_itself() {
    let source = "(ns a) (defn get-invoice \"One.\" [] 1) (defn invoices-of \"Some.\" [] 1) (defn sumBy \"Adds.\" [] 1)";
    let found = |query: &str| {
        let only = "(filter #(str/starts-with? % \"prelude\")";
        value(source, &format!("{only} (apropos \"{query}\" {{:limit 50}}))"))
    };
    assert_eq!(found("invoices"), "[\"prelude: a/invoices-of - Some.\" \"prelude: a/get-invoice - One.\"]");
    assert_eq!(found("invoice"), "[\"prelude: a/get-invoice - One.\" \"prelude: a/invoices-of - Some.\"]");
    assert_eq!(found("sums"), "[\"prelude: a/sumBy - Adds.\"]");
    // A question is about its words, and not about "the".
    assert_eq!(found("what is the sum of the rows?"), "[\"prelude: a/sumBy - Adds.\"]");
}

#[test]
fn inventories_are_short_and_stable() {
    let many: String = (0..9).map(|i| format!("(defn f{i} \"Doc {i}\n   more.\" [x] x)")).collect();
    let prelude = compiled(&format!("(ns b \"Bees.\") {many} (ns a) (def k 1)"));
    let text = prelude.inventory(Default::default()).unwrap();
    assert_eq!(text, prelude.inventory(Default::default()).unwrap());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1..5], [";; a", "  a/k k [pure]", ";; b - Bees.", "  b/f0 (f0 x) [pure] - Doc 0 more."]);
    assert_eq!(lines[12], "  b/f8 (f8 x) [pure] - Doc 8 more.");
    let calls = ptc_runtime::Calls { made: 3, failed: 1 };
    let how = ptc_runtime::Inventory { calls: Some(calls), ..Default::default() };
    assert!(prelude.inventory(how).unwrap().contains(";; tool calls made: 3, tool call errors: 1"));
    let short = prelude.inventory(ptc_runtime::Inventory { max_tokens: 80, calls: None }).unwrap();
    assert!(
        short.len() <= 320 && short.contains("b/f0 (f0 x) [pure]\n") && !short.contains("Doc 0"),
        "{short}"
    );
    assert!(Catalog::language().find("map").is_some());
}
