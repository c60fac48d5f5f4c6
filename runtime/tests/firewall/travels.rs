//! Propagation of firewall marks: through definitions, branches, saved runs, tools, and into data.

use super::{both, eval, public, runtime, shown};
use ptc_bytecode::{Datum, Node};
use ptc_runtime::{Grants, Runtime, Step, Tools};

const USER: &str = r#"{"name": "Ada", "_mail": "ada@engine.uk", "_born": "1815-12-10", "_pin": 77,
    "_rate": 12345.678, "tags": [{"_t": "x"}]}"#;

fn grants() -> Grants {
    Grants::new().json("user", USER).unwrap().json("_ids", "[4711, 4712]").unwrap().firewall(true)
}

#[test]
fn the_host_gets_clear_values_and_prints_show_none() {
    let program = "(do (println (:_mail data/user) (:_pin data/user)) (println data/user data/_ids)
        (println (str \"to \" (:_mail data/user)) (format \"%.2f\" (:_rate data/user)) (parse (:_born data/user)))
        {:mail (:_mail data/user) :next (inc (:_pin data/user)) :n (count (:_mail data/user))})";
    let outcome = eval(program, &grants()).unwrap();
    assert_eq!(outcome.print().unwrap(), "{:mail \"ada@engine.uk\" :next 78 :n 13}");
    assert_eq!(outcome.json().unwrap(), "{\"mail\":\"ada@engine.uk\",\"next\":78,\"n\":13}");
    assert_eq!(outcome.get::<std::collections::BTreeMap<String, serde_json::Value>>().unwrap()["next"], 78);
    assert_eq!(shown(&outcome), "{:mail <Firewalled> :next <Firewalled> :n 13}");
    assert_eq!(
        outcome.prints,
        [
            "<Firewalled> <Firewalled>",
            "{\"name\" \"Ada\" \"_mail\" <Firewalled> \"_born\" <Firewalled> \"_pin\" <Firewalled> \"_rate\" \
             <Firewalled> \"tags\" [{\"_t\" <Firewalled>}]} <Firewalled>",
            "<Firewalled> <Firewalled> <Firewalled>",
        ]
    );
}

#[test]
fn looking_for_marks_is_paid_for() {
    let fuel = |calls: usize| {
        let program =
            format!("(let [v (mapv inc (range 10000))] (dotimes [_ {calls}] (compare v 1)) (count v))");
        eval(&program, &grants()).unwrap().fuel
    };
    // Each call may have to search all of it.
    assert!(fuel(20) - fuel(10) > 10 * 10_000 / 16, "{} units more", fuel(20) - fuel(10));
}

#[test]
fn elements_stay_apart() {
    // Clear elements of mixed collections are shown.
    for (program, wanted) in [
        ("[1 (:_pin data/user)]", "[1 <Firewalled>]"),
        ("(map inc data/_ids)", "[<Firewalled> <Firewalled>]"),
        ("(reduce + data/_ids)", "<Firewalled>"),
        ("(assoc {:a 1} :b (:_pin data/user))", "{:a 1 :b <Firewalled>}"),
        ("(conj [1] (:_pin data/user))", "[1 <Firewalled>]"),
        ("(select-keys data/user [:name :_mail])", "{:name \"Ada\" :_mail <Firewalled>}"),
        ("(update data/user :_pin inc)", "{\"name\" \"Ada\" \"_mail\" <Firewalled>"),
        ("(sort-by :_t (:tags data/user))", "[{\"_t\" <Firewalled>}]"),
        (
            "(let [{:keys [name _mail]} data/user [a b] data/_ids] [name _mail a b])",
            "[\"Ada\" <Firewalled> <Firewalled> <Firewalled>]",
        ),
        ("(into {} (map (fn [[k v]] [k v]) data/user))", "{\"name\" \"Ada\" \"_mail\" <Firewalled>"),
        (
            "(let [a (atom (:_pin data/user))] [@a (swap! a inc) a])",
            "[<Firewalled> <Firewalled> <Firewalled>]",
        ),
        ("(let [a (atom 1)] (reset! a data/_ids) (str a))", "\"#atom <Firewalled>\""),
        (
            "(let [a (atom [1 (:_mail data/user)])] (println a) (compare-and-set! a [1 2] 3) [a (pr-str a)])",
            "[[1 <Firewalled>] \"#atom [1 <Firewalled>]\"]",
        ),
        ("(let [v (volatile! 1)] (doseq [x data/_ids] (vswap! v + x)) @v)", "<Firewalled>"),
        ("(count data/_ids)", "2"),
        ("(= 77 (:_pin data/user))", "true"),
        ("(type (:_mail data/user))", ":string"),
        // A firewalled key is shown neither itself nor through the value it selects.
        ("{(:_mail data/user) 1}", "<Firewalled>"),
        ("#{(:_mail data/user)}", "<Firewalled>"),
        ("(get {\"ada@engine.uk\" \"found\"} (:_mail data/user))", "<Firewalled>"),
        ("(get (set (map vector (range 100))) [(:_pin data/user)])", "<Firewalled>"),
        ("((set (map vector (range 100))) [(:_pin data/user)])", "<Firewalled>"),
        ("(group-by :_t (:tags data/user))", "<Firewalled>"),
        ("(nth \"0123456789\" (mod (:_pin data/user) 10))", "<Firewalled>"),
        ("(let [_p 1 m (json/parse-string \"{\\\"_a\\\": 55}\")] [_p (get m \"_a\")])", "[1 <Firewalled>]"),
    ] {
        let (_, found) = both(program, &grants());
        assert!(found.starts_with(wanted), "{program}: {found}");
    }
}

#[test]
fn faults_say_their_kind_and_not_the_value() {
    for program in [
        "(subs (:_mail data/user) 500)",
        "(nth [1 2] (:_rate data/user))",
        "(assoc [1] (:_pin data/user) 2)",
        "((:_rate data/user) 1)",
        "(assert false (:_mail data/user))",
        "(assert false (str \"because \" (:_rate data/user)))",
        "(fail {:reason (:_mail data/user)})",
        "(sort-by (fn [x] (+ nil x)) [(:_rate data/user) (:_pin data/user)])",
        "(re-pattern (str \"(\" (:_mail data/user)))",
        "(parse (:_mail data/user))",
        "(.substring (:_mail data/user) 90)",
        "(repeat (* 4711000000 (:_pin data/user)) 1)",
        "(+ 1 (:_mail data/user))",
        "(tool/gone {:a (:_mail data/user)})",
        "(format (:_mail data/user) (:_pin data/user) \"%d\" \"%d\")",
    ] {
        let result = eval(program, &grants());
        let told = public(&result);
        for secret in ["engine", "12345", "1815", "362747", "ada@"] {
            assert!(!told.contains(secret), "{program} tells {secret}: {told}");
        }
    }
    let failure = eval("(subs (:_mail data/user) \"x\")", &grants()).err().unwrap();
    assert!(failure.diagnostic().message.contains("subs"), "{failure:?}");
}

#[test]
fn sessions_keep_the_mark_between_turns() {
    let mut session = runtime().session().with_grants(grants());
    session
        .eval("(def mail (:_mail data/user)) (def _own 31) (def make (fn [] (str \"<\" mail \">\")))")
        .unwrap();
    let outcome = session.eval("[mail _own (make) *1]").unwrap();
    assert_eq!(shown(&outcome), "[<Firewalled> <Firewalled> <Firewalled> #'make]");
    assert_eq!(session.eval("(nth *1 2)").unwrap().print().unwrap(), "\"<ada@engine.uk>\"");
    let defined = session.definition("mail").unwrap().to_datum(1000).unwrap();
    assert_eq!((defined.nodes(), defined.veiled()), (&[Node::Str("ada@engine.uk".into())][..], &[0][..]));
}

#[test]
fn branches_keep_it() {
    let (clear, shown) =
        both("(pmap (fn [id] [id (inc id) {:_own (count data/_ids)}]) data/_ids)", &grants());
    assert_eq!(clear, "[[4711 4712 {:_own 2}] [4712 4713 {:_own 2}]]");
    let one = "[<Firewalled> <Firewalled> {:_own <Firewalled>}]";
    assert_eq!(shown, format!("[{one} {one}]"));
}

fn with_tool() -> Runtime {
    runtime().with_tools(Tools::new().with("send", |_| Ok(serde_json::json!({"ok": 1, "_receipt": "r-881"}))))
}

#[test]
fn tools_get_clear_values_and_the_driver_is_told_which() {
    let program = with_tool().compile("(tool/send {:to (:_mail data/user) :body {:_x 5} :n 1})").unwrap();
    let mut run = with_tool().start_with(&program, &grants()).unwrap();
    assert!(matches!(run.step(), Step::NeedsTools(_)));
    let call = run.pending().pop().unwrap();
    let nodes = [
        Node::Str("to".into()),
        Node::Str("ada@engine.uk".into()),
        Node::Str("body".into()),
        Node::Str("_x".into()),
        Node::Int(5),
        Node::Map(1),
        Node::Str("n".into()),
        Node::Int(1),
        Node::Map(3),
    ];
    assert_eq!(call.args.nodes(), nodes);
    assert!(call.args.is_veiled(1) && !call.args.is_veiled(5) && !call.args.is_veiled(8));
    let outcome = with_tool().eval("(let [r (tool/send {})] [r (:_receipt r)])", &grants()).unwrap();
    assert_eq!(shown(&outcome), "[{\"_receipt\" <Firewalled> \"ok\" 1} <Firewalled>]");
}

#[test]
fn a_saved_run_keeps_it() {
    let source =
        "(let [mail (:_mail data/user) own {:_x (str mail \"!\")}] (tool/send {}) [mail own data/_ids])";
    let runtime = with_tool();
    let program = runtime.compile(source).unwrap();
    let mut run = runtime.start_with(&program, &grants()).unwrap();
    assert!(matches!(run.step(), Step::NeedsTools(_)));
    let bytes = run.snapshot().unwrap();
    let mut run = runtime.load(&bytes, &grants()).unwrap();
    let call = run.pending().pop().unwrap();
    run.resume(&call.id, &1).unwrap();
    let outcome = run.finish().unwrap();
    assert_eq!(outcome.print().unwrap(), "[\"ada@engine.uk\" {:_x \"ada@engine.uk!\"} [4711 4712]]");
    assert_eq!(shown(&outcome), "[<Firewalled> {:_x <Firewalled>} <Firewalled>]");
    // Without the firewall, the granted data differs.
    let open = Grants::new().json("user", USER).unwrap().json("_ids", "[4711, 4712]").unwrap();
    assert!(runtime.load(&bytes, &open).is_err());
}

#[test]
fn data_says_what_is_marked_and_takes_the_mark_back() {
    let outcome = eval("{:a [(:_pin data/user) 1] :m {:_k (vec (range 1 3))}}", &grants()).unwrap();
    let datum = outcome.datum().unwrap();
    let at = |node: Node| datum.nodes().iter().position(|known| *known == node).unwrap();
    assert_eq!(datum.veiled(), [at(Node::Int(77)) as u32, datum.nodes().len() as u32 - 3]);
    let back = Grants::new().frozen("x", ptc_runtime::Frozen::from_datum(&datum).unwrap());
    // The mark holds even without a firewall in this run.
    let (clear, shown) = both("[(first (:a data/x)) (:_k (:m data/x))]", &back);
    assert_eq!((clear.as_str(), shown.as_str()), ("[77 [1 2]]", "[<Firewalled> <Firewalled>]"));
    assert_eq!(datum, Datum::new(datum.nodes().to_vec()).unwrap(), "a mark is no part of the value");
}

#[test]
fn without_the_firewall_nothing_is_marked() {
    let open = Grants::new().json("user", USER).unwrap();
    let (clear, shown) = both("[(:_mail data/user) {:_x 1} data/user]", &open);
    assert_eq!(clear, shown);
    assert!(eval("data/user", &open).unwrap().datum().unwrap().veiled().is_empty());
}
