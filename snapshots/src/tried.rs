//! Programs with `try`: calls in a generated program, wrapped in forms that catch, rethrow and clean up.

use bumpalo::Bump;
use ptc_bytecode::{Limits, Span};
use ptc_compiler::{Form, FormKind, parse};

/// Forms with parts that are not all expressions, or that are changed before evaluation.
const NOT_INTO: &[&str] = &[
    "->", "->>", "cond->", "cond->>", "some->", "some->>", "as->", "doto", "case", "quote", "catch", "ns",
    "require",
];

/// Calls that are not wrapped: their result is thrown, called, or endless.
const NOT_AROUND: &[&str] = &[
    "Exception.",
    "ex-info",
    "comp",
    "partial",
    "juxt",
    "complement",
    "constantly",
    "fnil",
    "memoize",
    "iterate",
    "cycle",
    "repeat",
    "repeatedly",
];

/// Wrappers; `_` is the call, `#` a number that makes names unique.
const FORMS: &[&str] = &[
    "(try _ (catch Exception e# :caught#))",
    "(try _ (catch ArithmeticException e# :math#) (catch Exception e# :other#))",
    "(try _ (finally nil))",
    "(try (throw (ex-info \"m#\" {:v _})) (catch Exception e# (:v (ex-data e#))))",
    "(try (throw (Exception. \"m#\")) (catch Exception e# [(= \"m#\" (ex-message e#)) _]))",
    "(try (try _ (finally (throw (ex-info \"f#\" {})))) (catch Exception e# (if (= (ex-message e#) \"f#\") :thrown# :other#)))",
    "(let [a# (atom [])] [(try _ (catch Exception e# :caught#) (finally (swap! a# conj #))) @a#])",
    "(try (try _ (catch Exception e# (throw (ex-info \"again#\" {:n #} e#)))) (catch Exception e# (:n (ex-data e#))))",
    "(try (let [v# _] (if (coll? v#) (throw (ex-info \"coll\" {:v v#})) v#)) (catch Exception e# [:coll# (:v (ex-data e#))]))",
];

/// Wraps one to three calls of a program; None if it has no suitable call.
///
/// ```
/// use ptc_snapshots::tried::tried;
/// assert_eq!(tried("(+ 1 2)", 0).unwrap(), "(try (+ 1 2) (catch Exception e0 :caught0))");
/// assert_eq!(tried("(-> 1 (+ 2))", 0), None);
/// ```
pub fn tried(source: &str, seed: u64) -> Option<String> {
    let mut state = seed;
    let mut text = source.to_string();
    let mut changed = None;
    for number in 0..1 + seed % 3 {
        let mut pick = |n: usize| {
            let picked = state % n as u64;
            state /= n as u64;
            picked as usize
        };
        let calls = calls(&text);
        if calls.is_empty() {
            break;
        }
        let form = FORMS[pick(FORMS.len())].replace('#', &number.to_string());
        let call = calls[pick(calls.len())];
        let (start, end) = (call.start as usize, call.end as usize);
        text = format!("{}{}{}", &text[..start], form.replace('_', &text[start..end]), &text[end..]);
        changed = Some(text.clone());
    }
    changed
}

/// Returns the positions of calls of builtins that may be wrapped.
fn calls(source: &str) -> Vec<Span> {
    let arena = Bump::new();
    let mut found = Vec::new();
    if let Ok(forms) = parse(source, &arena, &Limits::default()) {
        forms.iter().for_each(|form| _ = visit(form, &mut found));
    }
    found
}

/// Adds the calls of a form; returns true if it contains a `recur`, which cannot leave a `try`.
fn visit(form: &Form<'_>, found: &mut Vec<Span>) -> bool {
    let items = match form.kind {
        FormKind::List(items) => items,
        FormKind::ShortFn(items) | FormKind::Vector(items) | FormKind::Set(items) | FormKind::Map(items) => {
            return items.iter().fold(false, |any, item| visit(item, found) | any);
        }
        FormKind::Symbol(name) => return name == "recur",
        _ => return false,
    };
    let callee = match items.first().map(|first| first.kind) {
        Some(FormKind::Symbol(name)) => name,
        _ => "",
    };
    let known = found.len();
    let recurs = items.iter().fold(false, |any, item| visit(item, found) | any);
    if NOT_INTO.contains(&callee) {
        found.truncate(known);
    } else if !recurs && !NOT_AROUND.contains(&callee) && ptc_bytecode::lookup(callee).is_some() {
        found.push(form.span);
    }
    // A `recur` restarts its own function or loop, and does not leave the forms around that.
    recurs && !matches!(callee, "fn" | "loop" | "defn")
}
