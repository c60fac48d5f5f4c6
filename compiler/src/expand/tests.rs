//! Tests of expansions as text, and of every refused shape.

use super::{Expander, expand, expand_short_fn};
use crate::form::{Form, FormKind, Special};
use bumpalo::Bump;
use proptest::prelude::*;
use ptc_bytecode::{Diagnostic, FORMS, FormName, Limits};

/// The builtins that expansions call.
const USED_BUILTINS: &[&str] = &[
    "=",
    "nil?",
    "get",
    "first",
    "seq",
    "vec",
    "range",
    "%nth",
    "%drop",
    "%kwargs",
    "%bounded",
    "%builder",
    "%push",
    "%finish",
    "%assert-failed",
    "%task-get",
    "%task-put",
    "%task-reset",
    "%step-done",
];

/// Expands everywhere, as the resolver does when nothing is shadowed.
fn expand_all<'a>(form: Form<'a>, cx: &mut Expander<'a>) -> Result<Form<'a>, Diagnostic> {
    let mut form = form;
    loop {
        match form.kind {
            FormKind::ShortFn(_) => form = expand_short_fn(form, cx)?,
            FormKind::List([Form { kind: FormKind::Symbol(head), .. }, ..]) => {
                match expand(head, form, cx)? {
                    Some(next) => form = next,
                    None => break,
                }
            }
            _ => break,
        }
    }
    let kind = match form.kind {
        FormKind::List([Form { kind: FormKind::Special(Special::Quote), .. }, ..]) => return Ok(form),
        FormKind::List(items) => FormKind::List(expand_each(items, cx)?),
        FormKind::Vector(items) => FormKind::Vector(expand_each(items, cx)?),
        FormKind::Map(items) => FormKind::Map(expand_each(items, cx)?),
        FormKind::Set(items) => FormKind::Set(expand_each(items, cx)?),
        other => other,
    };
    Ok(Form::new(form.span, kind))
}

fn expand_each<'a>(items: &'a [Form<'a>], cx: &mut Expander<'a>) -> Result<&'a [Form<'a>], Diagnostic> {
    let items: Result<Vec<_>, _> = items.iter().map(|item| expand_all(*item, cx)).collect();
    Ok(cx.arena.alloc_slice_copy(&items?))
}

fn expanded(source: &str, core: bool) -> Result<String, Diagnostic> {
    let arena = Bump::new();
    let forms = crate::parse(source, &arena, &Limits::default()).expect(source);
    let mut cx = Expander::new(&arena, core);
    let texts: Result<Vec<_>, _> =
        forms.iter().map(|form| expand_all(*form, &mut cx).map(|form| form.to_string())).collect();
    texts.map(|texts| texts.join(" "))
}

#[track_caller]
fn check(source: &str, expect: &str) {
    assert_eq!(expanded(source, false).as_deref(), Ok(expect), "{source}");
}

/// Checks the reason, that the message mentions `part`, and that the error has a place and a hint.
#[track_caller]
fn refuse(source: &str, reason: &str, part: &str) {
    let problem = expanded(source, false).expect_err(source);
    assert_eq!(problem.code.reason(), reason, "{source}: {}", problem.message);
    assert!(problem.message.contains(part), "{source}: {}", problem.message);
    assert!(problem.span.is_some() && problem.hint.is_some(), "{source}: {problem:?}");
}

#[test]
fn core_forms_only_change_their_head() {
    check("(if a b)", "(if a b)");
    check("(do 1 2)", "(do 1 2)");
    check("(and)", "(and)");
    check("(or a 0)", "(or a 0)");
    check("(quote (if))", "(quote (if))");
    check("(return 1)", "(return 1)");
    check("(fail :x)", "(fail :x)");
    check("(f (if a b c))", "(f (if a b c))");
    check("(comment (if))", "nil");
    refuse("(if)", "invalid_arity", "`if` takes 2 to 3 operands, but got 0");
    refuse("(if 1 2 3 4)", "invalid_arity", "got 4");
    refuse("(return)", "invalid_arity", "`return` takes 1 operand");
    refuse("(fail 1 2)", "invalid_arity", "`fail`");
    refuse("(quote)", "invalid_arity", "`quote`");
}

#[test]
fn when_and_its_kin() {
    check("(when a b c)", "(if a (do b c) nil)");
    check("(when a)", "(if a nil nil)");
    check("(when-not a b)", "(if a nil b)");
    check("(if-not a b c)", "(if a c b)");
    check("(if-not a b)", "(if a nil b)");
    refuse("(when)", "invalid_arity", "`when`");
    refuse("(if-not a)", "invalid_arity", "`if-not`");
}

#[test]
fn cond_is_flat() {
    check("(cond)", "nil");
    check("(cond a 1 b 2)", "(cond* a 1 b 2 nil)");
    check("(cond a 1 :else 2)", "(cond* a 1 2)");
    check("(cond :else 2)", "2");
    refuse("(cond a)", "invalid_cond_form", "has no result");
    refuse("(cond a 1 b)", "invalid_cond_form", "b has no result");
}

#[test]
fn case_compares_with_constants() {
    check("(case x 1 :a :b)", "(let* [case·0 x] (cond* (core/= case·0 1) :a :b))");
    check(
        "(case x (1 \"s\") a [1 2] b)",
        "(let* [case·0 x] (cond* (or (core/= case·0 1) (core/= case·0 \"s\")) a (core/= case·0 '[1 2]) b nil))",
    );
    check("(case x :only)", "(let* [case·0 x] :only)");
    refuse("(case)", "invalid_form", "`case` needs a value");
    refuse("(case 1 1 :a 1 :b)", "invalid_form", "the constant 1 twice");
    refuse("(case 1 (1 2) :a 2 :b)", "invalid_form", "the constant 2 twice");
    refuse("(case x () 1)", "invalid_form", "empty group");
    refuse("(case x y 1)", "invalid_form", "`y` is a name");
    refuse("(case x 'y 1)", "invalid_form", "not quoted");
}

#[test]
fn condp_with_and_without_outcome() {
    check("(condp = x 1 :a :b)", "(let* [condp·0 x] (cond* (= 1 condp·0) :a :b))");
    check(
        "(condp (f) x 1 :>> g 2 :b)",
        "(let* [pred·0 (f) condp·1 x] (let* [holds·2 (pred·0 1 condp·1)] \
         (if holds·2 (g holds·2) (cond* (pred·0 2 condp·1) :b nil))))",
    );
    refuse("(condp =)", "invalid_form", "`condp`");
    refuse("(condp = 1)", "invalid_form", "at least one clause");
    refuse("(condp = 1 2 :>>)", "invalid_form", ":>>");
}

#[test]
fn let_keeps_plain_names() {
    check("(let [a 1 b a] (f a) b)", "(let* [a 1 b a] (f a) b)");
    check("(let [] 1 2)", "(do 1 2)");
    check("(let [a 1])", "(let* [a 1])");
    refuse("(let)", "invalid_form", "needs a vector");
    refuse("(let x 1)", "invalid_form", "found a name");
    refuse("(let [x] x)", "invalid_form", "x has none");
    refuse("(let [true 1] true)", "unsupported_pattern", "found a boolean");
    refuse("(let [a/b 1] 1)", "unsupported_pattern", "`a/b`");
    refuse("(let [& 1] 1)", "unsupported_pattern", "`&`");
    refuse("(let [% 1] 1)", "invalid_placeholder", "`%`");
    refuse("(let [(f) 1] 1)", "unsupported_pattern", "a list");
}

#[test]
fn vector_patterns() {
    check("(let [[a b] x] a)", "(let* [part·0 x a (%nth part·0 0) b (%nth part·0 1)] a)");
    check(
        "(let [[a & r :as all] x] a)",
        "(let* [part·0 x a (%nth part·0 0 true) r (%drop part·0 1) all part·0] a)",
    );
    check(
        "(let [[[a] {:keys [b]}] x] a)",
        "(let* [part·0 x part·1 (%nth part·0 0) a (%nth part·1 0) part·2 (%nth part·0 1) b (core/get part·2 :b)] a)",
    );
    check(
        "(let [[& {:keys [a]}] x] a)",
        "(let* [part·0 x part·1 (%kwargs (%drop part·0 0)) a (core/get part·1 :a)] a)",
    );
    check("(let [[x y] x] y)", "(let* [part·0 x x (%nth part·0 0) y (%nth part·0 1)] y)");
    refuse("(let [[a &] x] a)", "invalid_form", "`&` needs exactly one");
    refuse("(let [[a & b c] x] a)", "invalid_form", "`&` needs exactly one");
    refuse("(let [[a :as] x] a)", "unsupported_pattern", ":as");
    refuse("(let [[a :as b c] x] a)", "unsupported_pattern", ":as");
    refuse("(let [[1] x] 1)", "unsupported_pattern", "a number");
}

#[test]
fn map_patterns() {
    check(
        "(let [{:keys [a :b n/c] :strs [d] :as m} x] a)",
        "(let* [part·0 x m part·0 a (core/get part·0 :a) b (core/get part·0 :b) c (core/get part·0 :n/c) \
         d (core/get part·0 \"d\")] a)",
    );
    check(
        "(let [{:keys [a] b :k [c] 0 :or {a (f) b 2}} x] a)",
        "(let* [part·0 x a (core/get part·0 :a (f)) b (core/get part·0 :k 2) part·1 (core/get part·0 0) \
         c (%nth part·1 0)] a)",
    );
    check("(let [{:n/keys [a]} x] a)", "(let* [part·0 x a (core/get part·0 :n/a)] a)");
    check("(let [{:as m} x] m)", "(let* [part·0 x m part·0] m)");
    refuse("(let [{:a a} x] a)", "unsupported_pattern", "`:a` cannot be bound");
    refuse("(let [{:syms [a]} x] a)", "unsupported_pattern", "`:syms`");
    refuse("(let [{:keys a} x] a)", "unsupported_pattern", "a vector of names");
    refuse("(let [{:keys [1]} x] a)", "unsupported_pattern", "a number");
    refuse("(let [{:keys [a] :or [1]} x] a)", "unsupported_pattern", "`:or`");
    refuse("(let [{:as 1} x] a)", "unsupported_pattern", "a number");
}

#[test]
fn loops() {
    check("(loop [i 0] (recur (inc i)))", "(loop* [i 0] (recur (inc i)))");
    check("(loop [[a] x] (recur a))", "(loop* [loop·0 x] (let* [a (%nth loop·0 0)] (recur a)))");
    check(
        "(loop [[a] x b a] (recur a b))",
        "(let* [loop·0 x a (%nth loop·0 0) b a] (loop* [loop·0 loop·0 b b] (let* [a (%nth loop·0 0)] (recur a b))))",
    );
    check("(while t (f))", "(loop* [] (if t (do (f) (recur)) nil))");
    check("(while t)", "(loop* [] (if t (recur) nil))");
    check("(lazy-seq a b)", "(core/vec (do a b))");
    refuse("(loop [x 1 y] x)", "invalid_form", "y has none");
}

#[test]
fn conditional_bindings() {
    check("(if-let [a x] a b)", "(let* [let·0 x] (if let·0 (let* [a let·0] a) b))");
    check("(if-let [[a] x] a)", "(let* [let·0 x] (if let·0 (let* [a (%nth let·0 0)] a) nil))");
    check("(if-some [a x] a b)", "(let* [let·0 x] (if (core/nil? let·0) b (let* [a let·0] a)))");
    check("(when-let [a x] a b)", "(let* [let·0 x] (if let·0 (let* [a let·0] a b) nil))");
    check("(when-some [a x] a)", "(let* [let·0 x] (if (core/nil? let·0) nil (let* [a let·0] a)))");
    check(
        "(when-first [a x] a)",
        "(let* [seq·0 (core/seq x)] (if seq·0 (let* [a (core/first seq·0)] a) nil))",
    );
    refuse("(if-let [a x])", "invalid_arity", "`if-let`");
    refuse("(if-let [a x b y] 1 2)", "invalid_form", "4 forms");
    refuse("(when-let x 1)", "invalid_form", "found a name");
    refuse("(when-first [] 1)", "invalid_form", "0 forms");
}

#[test]
fn functions() {
    check("(fn [a & r] a r)", "(fn* ([a & r] a r))");
    check("(fn self [a] (self a))", "(fn* self ([a] (self a)))");
    check("(fn ([a] 1) ([a b] 2) ([a b & c] 3))", "(fn* ([a] 1) ([a b] 2) ([a b & c] 3))");
    check("(fn [[a] b] a)", "(fn* ([arg·0 b] (let* [a (%nth arg·0 0)] a)))");
    check(
        "(fn [a & {:keys [b]}] b)",
        "(fn* ([a & rest·0] (let* [part·1 (%kwargs rest·0) b (core/get part·1 :b)] b)))",
    );
    check("(fn [& [a]] a)", "(fn* ([& arg·0] (let* [a (%nth arg·0 0)] a)))");
    check("(fn [])", "(fn* ([]))");
    refuse("(fn x)", "invalid_form", "parameter vector");
    refuse("(fn)", "invalid_form", "parameter vector");
    refuse("(fn 5 [x] x)", "invalid_form", "found a number");
    refuse("(fn [a &] a)", "invalid_form", "`&`");
    refuse("(fn ([a] 1) ([b] 2))", "invalid_form", "same number");
    refuse("(fn ([& a] 1) ([& b] 2))", "invalid_form", "more than one");
    refuse("(fn ([a b] 1) ([& b] 2))", "invalid_form", "more parameters");
    refuse("(fn ([a] 1) [b])", "invalid_form", "found a vector");
    refuse("(fn [1] 1)", "unsupported_pattern", "a number");
}

#[test]
fn definitions() {
    check("(def x 1)", "(def x 1)");
    check("(def x \"doc\" 1)", "(def x \"doc\" 1)");
    check("(defonce x (f))", "(defonce x (f))");
    check("(defn f \"doc\" {:a 1} [x] x)", "(def f \"doc\" (fn* ([x] x)))");
    check("(defn- f ([x] x) ([x y] y))", "(def f (fn* ([x] x) ([x y] y)))");
    check("(defn f [x] {:pre 1} x)", "(def f (fn* ([x] {:pre 1} x)))");
    check("(defn f [x] {:pre [x]})", "(def f (fn* ([x] {:pre [x]})))");
    check(
        "(fn [x] {:pre [(a x)] :post [(b %)]} (c x) (d x))",
        "(fn* ([x] (if (a x) nil (%assert-failed \"(a x)\")) (let* [% (do (c x) (d x))] (if (b %) nil (%assert-failed \"(b %)\")) %)))",
    );
    check("(declare f g)", "(do (def f) (def g) nil)");
    refuse("(def x)", "invalid_arity", "`def`");
    refuse("(def)", "invalid_arity", "`def`");
    refuse("(def nil 1)", "invalid_form", "found nil");
    refuse("(def x 1 2)", "invalid_form", "doc string");
    refuse("(def data/x 1)", "invalid_form", "belongs to the language");
    refuse("(def a/x 1)", "invalid_form", "not supported");
    refuse("(defn f)", "invalid_arity", "`defn`");
    refuse("(defn 5 [x] x)", "invalid_form", "found a number");
    refuse("(declare 5)", "invalid_form", "found a number");
}

#[test]
fn short_functions() {
    check("#(+ % %2)", "(fn* ([p·0 p·1] (+ p·0 p·1)))");
    check("#(f %3)", "(fn* ([p·0 p·1 p·2] (f p·2)))");
    check("#(f %&)", "(fn* ([& rest·0] (f rest·0)))");
    check("#(f [% {:a %1}])", "(fn* ([p·0] (f [p·0 {:a p·0}])))");
    check("#(f)", "(fn* ([] (f)))");
    check("#(42)", "(fn* ([] 42))");
    check("#(%)", "(fn* ([p·0] p·0))");
    check("#([% 1])", "(fn* ([p·0] [p·0 1]))");
    check("#()", "(fn* ([] nil))");
    check("#((f %))", "(fn* ([p·0] ((f p·0))))");
    refuse("#(f #(g %))", "invalid_form", "another #(…)");
    refuse("#(f %21)", "invalid_placeholder", "`%21`");
    refuse("#(f %0)", "invalid_placeholder", "`%0`");
}

#[test]
fn local_functions() {
    check("(letfn [(f [x] (f x))] (f 1))", "(let* [f (fn* f ([x] (f x)))] (f 1))");
    check(
        "(letfn [(f [x] (g x)) (g [f] f)] (f 1))",
        "(let* [letfn·0 (fn* letfn·0 ([n·1] (cond* (core/= n·1 0) (fn* f ([x] (let* [g (letfn·0 1)] (g x)))) \
         (core/= n·1 1) (fn* g ([f] f)) nil))) f (letfn·0 0) g (letfn·0 1)] (f 1))",
    );
    refuse("(letfn)", "invalid_form", "`letfn`");
    refuse(&format!("(letfn [{}] 1)", "(f [] 1) ".repeat(65)), "invalid_form", "more than 64");
    refuse("(letfn [f] 1)", "invalid_form", "found a name");
}

#[test]
fn threading_is_flat() {
    check("(-> x)", "x");
    check("(-> x f (g 1) :k)", "(let* [it·0 (f x) it·0 (g it·0 1)] (:k it·0))");
    check("(->> xs (map f) (filter g))", "(let* [it·0 (map f xs)] (filter g it·0))");
    check("(-> x #(f %))", "((fn* ([p·0] (f p·0))) x)");
    check("(-> 1 inc)", "(inc 1)");
    check("(-> x nil)", "(nil x)");
    check("(-> seen (or 0))", "(or seen 0)");
    check("(-> (f) (if 1 2) g)", "(let* [it·0 (f) it·0 (if it·0 1 2)] (g it·0))");
    check("(->> (f x) (let [x 1]))", "(let* [x 1] (f x))");
    check("(->> (f) (g) (when a) (h))", "(let* [it·0 (if a (let* [it·0 (f)] (g it·0)) nil)] (h it·0))");
    check("(->> (f) g (-> x))", "(g x (f))");
    check("(->> (f) (g 1) (some-> x))", "(let* [it·1 x] (if (core/nil? it·1) nil (g it·1 1 (f))))");
    // Loops that can be one stand inside each other.
    check(
        "(->> xs (map #(f %)) (filter #(g %)) (reduce #(h %1 %2) 0))",
        "(reduce (fn* ([p·0 p·1] (h p·0 p·1))) 0 (filter (fn* ([p·2] (g p·2))) (map (fn* ([p·3] (f p·3))) xs)))",
    );
    check("(->> xs (map #(f %)) (map g))", "(let* [it·0 (map (fn* ([p·1] (f p·1))) xs)] (map g it·0))");
    refuse(&format!("(->> x {}(-> y))", "f ".repeat(65)), "invalid_thread_form", "more than 64");
    refuse("(->)", "invalid_thread_form", "`->`");
    refuse("(->>)", "invalid_thread_form", "`->>`");
    refuse("(-> x ())", "invalid_thread_form", "empty list");
}

#[test]
fn other_threading() {
    check("(as-> 1 x (f x) (g x))", "(let* [x 1 x (f x)] (g x))");
    check("(as-> 1 x)", "1");
    check(
        "(cond-> x a (f 1) b g)",
        "(let* [it·0 x it·0 (if a (f it·0 1) it·0) it·0 (if b (g it·0) it·0)] it·0)",
    );
    check("(cond->> x a (f 1))", "(let* [it·0 x it·0 (if a (f 1 it·0) it·0)] it·0)");
    check(
        "(some-> x f (g 1))",
        "(let* [it·0 x it·0 (if (core/nil? it·0) nil (f it·0))] (if (core/nil? it·0) nil (g it·0 1)))",
    );
    check("(some->> x (f 1))", "(let* [it·0 x] (if (core/nil? it·0) nil (f 1 it·0)))");
    check("(some-> x)", "x");
    check("(doto x f (g 1))", "(let* [it·0 x] (f it·0) (g it·0 1) it·0)");
    refuse("(as->)", "invalid_thread_form", "`as->`");
    refuse("(as-> 5 6 x)", "invalid_thread_form", "found a number");
    refuse("(cond-> 5 true)", "invalid_thread_form", "true has no step");
    refuse("(some->)", "invalid_thread_form", "`some->`");
}

#[test]
fn comprehensions() {
    check(
        "(for [x xs] (f x))",
        "(let* [for·0 (%builder)] (%for [x (%bounded xs)] (%push for·0 (f x))) (%finish for·0))",
    );
    check(
        "(for [[a] xs :when a :let [b a] y ys :while y] y)",
        "(let* [for·0 (%builder)] (%for [each·1 (%bounded xs)] (let* [a (%nth each·1 0)] (if a (let* [b a] \
         (%for [y ys] (if y (%push for·0 y) (%break)))) nil))) (%finish for·0))",
    );
    check("(doseq [x xs] (f x) (g x))", "(do (%for [x xs] (do (f x) (g x))) nil)");
    check("(doseq [x xs])", "(do (%for [x xs] nil) nil)");
    check("(dotimes [i 3] (f i))", "(do (%for [i (core/range 3)] (f i)) nil)");
    refuse("(for)", "invalid_form", "`for`");
    refuse("(for [] 1)", "invalid_form", "at least one");
    refuse("(for [x xs])", "invalid_arity", "needs a body");
    refuse("(doseq [x] 1)", "invalid_form", "x has none");
    refuse("(for [:when 1] 1)", "invalid_form", "before `:when`");
    refuse("(for [x xs :if 1] 1)", "invalid_form", "`:if`");
    refuse("(for [x xs :let 1] 1)", "invalid_form", "`:let`");
    refuse("(for [x xs :let [a]] 1)", "invalid_form", "`:let`");
    refuse("(for [x 5] x)", "invalid_arity", "x is bound to a number");
    refuse("(doseq [x :k] x)", "invalid_arity", "a keyword");
    refuse("(for x 1)", "invalid_form", "found a name");
    refuse("(dotimes 5 1)", "invalid_form", "`dotimes`");
}

#[test]
fn assertions_show_their_test() {
    check("(assert (pos? x))", "(if (pos? x) nil (%assert-failed \"(pos? x)\"))");
    check("(assert x \"m\")", "(if x nil (%assert-failed \"x\" \"m\"))");
    refuse("(assert)", "invalid_arity", "`assert`");
}

#[test]
fn core_library_forms() {
    let core = |source| expanded(source, true).unwrap();
    assert_eq!(
        core("(%for [[a] xs] (%set! s a) (%break))"),
        "(%for [each·0 xs] (let* [a (%nth each·0 0)] (%set! s a) (%break)))"
    );
    assert_eq!(core("(%exit 1)"), "(%exit 1)");
    assert_eq!(core("(%nth x 0)"), "(%nth x 0)");
    check("(%exit 1)", "(%exit 1)");
    let arena = Bump::new();
    let forms = crate::parse("(%exit 1)", &arena, &Limits::default()).unwrap();
    assert!(expand("%exit", forms[0], &mut Expander::new(&arena, false)).unwrap().is_none());
}

#[test]
fn long_forms_stay_shallow() {
    let arena = Bump::new();
    let depth = |source: &str| {
        let forms = crate::parse(source, &arena, &Limits::default()).unwrap();
        fn depth(form: &Form<'_>) -> usize {
            match form.kind {
                FormKind::List(items) | FormKind::Vector(items) => {
                    1 + items.iter().map(depth).max().unwrap_or(0)
                }
                _ => 0,
            }
        }
        let mut cx = Expander::new(&arena, false);
        depth(&expand_all(forms[0], &mut cx).unwrap())
    };
    for (head, step) in [
        ("-> x", " (f 1)"),
        ("-> x", " (when 1)"),
        ("->> x", " (f 1)"),
        ("some-> x", " f"),
        ("cond-> x", " a f"),
        ("as-> x y", " (f y)"),
        ("cond", " a b"),
        ("case x", " :k 1"),
        ("condp = x", " 1 2"),
        ("doto x", " f"),
    ] {
        let steps: String = (0..2000).map(|i| step.replace(":k", &format!(":k{i}"))).collect();
        assert!(depth(&format!("({head}{steps})")) < 8, "{head}");
    }
    let many = |head: &str, step: &str, tail: &str| format!("({head}{}{tail})", step.repeat(100));
    refuse(&many("for [", " x xs", "] 1"), "invalid_form", "more than 64");
    refuse(&many("->> x", " (when a)", ""), "invalid_thread_form", "more than 64");
    refuse(&many("condp = x", " 1 :>> f", ""), "invalid_form", "more than 64");
}

#[test]
fn builtins_used_here_exist() {
    for name in USED_BUILTINS {
        assert!(ptc_bytecode::lookup(name).is_some(), "{name}");
    }
}

#[test]
fn doubling_ends() {
    let limits = Limits { nesting: 256, ..Limits::default() };
    let levels = 60;
    let source = format!("{}1{}", "(loop [{:keys [a] :or {a ".repeat(levels), "}} x b 1] a)".repeat(levels));
    let arena = Bump::new();
    let forms = crate::parse(&source, &arena, &limits).unwrap();
    let problem = expand_all(forms[0], &mut Expander::new(&arena, false)).unwrap_err();
    assert_eq!(problem.code.reason(), "compile_memory_exceeded");
}

#[test]
fn many_defaults_are_quick() {
    let names: Vec<String> = (0..20_000).map(|i| format!("a{i}")).collect();
    let defaults: String = names.iter().map(|name| format!("{name} 1 ")).collect();
    let source = format!("(let [{{:keys [{}] :or {{{defaults}}}}} x] a1)", names.join(" "));
    let limits = Limits { symbols: 100_000, ..Limits::default() };
    let arena = Bump::new();
    let forms = crate::parse(&source, &arena, &limits).unwrap();
    assert!(expand_all(forms[0], &mut Expander::new(&arena, false)).is_ok());
}

/// Generates forms of any shape under the heads of forms.
fn any_form() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "x", "y", "&", "%", "%2", "%&", "a/b", "1", ":as", ":keys", ":or", ":when", ":while", ":let", ":>>",
        ":k", "nil", "\"s\"", "'q", "_", "true",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 40, 6, |inner| {
        let many = prop::collection::vec(inner, 0..6).boxed();
        prop_oneof![
            3 => (prop::sample::select(FORMS), many.clone())
                .prop_map(|(form, args)| format!("({} {})", form.name, args.join(" "))),
            1 => many.clone().prop_map(|items| format!("({})", items.join(" "))),
            3 => many.clone().prop_map(|items| format!("[{}]", items.join(" "))),
            1 => many.clone().prop_map(|items| format!("{{{}}}", items.join(" "))),
            1 => many.prop_map(|items| format!("#({})", items.join(" "))),
        ]
    })
}

proptest! {
    #[test]
    fn any_shape_is_expanded_or_refused(source in any_form()) {
        let arena = Bump::new();
        if let Ok(forms) = crate::parse(&source, &arena, &Limits::default()) {
            let mut cx = Expander::new(&arena, true);
            for form in forms {
                if let Err(problem) = expand_all(*form, &mut cx) {
                    prop_assert!(problem.span.is_some() && problem.hint.is_some(), "{:?}", problem);
                }
            }
        }
    }

    #[test]
    fn what_expansion_lets_through_is_well_formed(source in any_form()) {
        let arena = Bump::new();
        let found = crate::resolve_source(
            &source, &crate::Scope::default(), &Limits::default(), crate::Options::default(), &arena,
        );
        for problem in found.err().into_iter().flatten() {
            prop_assert!(!problem.message.contains("malformed"), "{}: {}", source, problem.message);
        }
    }
}

#[test]
fn rows_of_forms_are_whole() {
    for row in FORMS {
        assert_eq!(FormName::lookup(row.name).map(|form| form.row().name), Some(row.name));
        assert!(row.doc.ends_with('.') && row.usage.starts_with(&format!("({}", row.name)), "{}", row.name);
    }
}
