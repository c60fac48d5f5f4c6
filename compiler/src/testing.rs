//! Test files: programs that know `deftest`, `is` and their variants in addition to the language.
//!
//! A test file is compiled once for each test and each stub, selected by [`Scope::test`](crate::Scope): the other tests
//! are left out, so a test sees the definitions of the file and nothing of other tests. `is` becomes a call of the tool
//! `%check`, a name that no program can write, with its place; the host counts the checks. Everything else about a
//! check (its text, its operands, the texts of enclosing `testing` forms) is found in the source by [`TestFile`].

mod difference;

pub use difference::{differences, equal};

use crate::form::{Form, FormKind, Special};
use crate::meter::Meter;
use crate::parse::parse_metered;
use bumpalo::Bump;
use ptc_bytecode::{Code, Diagnostic, FormName, Limits, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Tool that `is` reports to: `{"at" offset}` for a passed check, with `"failed"` for a failed one.
pub const CHECK_TOOL: &str = "%check";

/// Tool behind `(tool-calls 'name)`: `{"tool" name}` returns the arguments of each call, in order.
pub const CALLS_TOOL: &str = "%calls";

/// True for the tools that the code of a test calls implicitly.
pub fn is_of_tests(tool: &str) -> bool {
    matches!(tool, CHECK_TOOL | CALLS_TOOL)
}

/// Name of the data that a stub program reads: the arguments of the call.
pub const STUB_REQUEST: &str = "request";

/// A part of a test file that is compiled as a separate program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestPart {
    /// The `deftest` that begins at this byte.
    Test(u32),
    /// The `stub-tool` that begins at this byte.
    Stub(u32),
    /// The whole text: a program that may use `is`.
    Checks,
}

/// A test file that was read but not compiled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestFile {
    /// Tests in order.
    pub tests: Vec<Test>,
    /// Stubs for all tests.
    pub stubs: Vec<Stub>,
    /// Each `is`, by the byte at which it begins.
    pub checks: BTreeMap<u32, Check>,
}

/// A `deftest`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// Name of the test.
    pub name: String,
    /// Span of the whole form.
    pub span: Span,
    /// Stubs for this test, which take precedence over those of the file.
    pub stubs: Vec<Stub>,
}

/// A `stub-tool`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stub {
    /// Tool it replaces: `find`, or `crm/find` of an upstream server.
    pub tool: String,
    /// Span of the whole form.
    pub span: Span,
}

/// An `is`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Span of the whole form.
    pub span: Span,
    /// Span of the checked expression.
    pub expr: Span,
    /// Deciding function, if the expression calls one by name.
    pub head: Option<String>,
    /// Operands of that function: the span of each, and true for a literal.
    pub operands: Vec<(Span, bool)>,
    /// Texts of the enclosing `testing` forms, the outermost first. All checks in a form share its text: there may
    /// be a hundred thousand of them, and the text may be as long as a file.
    pub contexts: Vec<Arc<str>>,
}

/// Names of forms that only test files know, with their syntax.
const FORMS: &[(&str, &str)] = &[
    ("deftest", "(deftest finds-a-user (is (= 1 (crm/find 1))))"),
    ("testing", "(testing \"unknown ids\" (is …))"),
    ("is", "(is (= expected (f x)))"),
    ("stub-tool", "(stub-tool 'find (fn [args] {:ok true}))"),
    ("tool-calls", "(tool-calls 'find)"),
    ("thrown?", "(is (thrown? Exception (f x)))"),
    ("thrown-with-msg?", "(is (thrown-with-msg? Exception #\"no row\" (f x)))"),
    ("fails?", "(is (fails? (f x)))"),
    ("fails-with?", "(is (fails-with? {:reason \"timeout\"} (f x)))"),
];

/// Returns the names of the forms that only test files know.
pub fn form_names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(name, _)| *name)
}

/// Returns the syntax of a form of test files; None for any other name.
pub(crate) fn usage(name: &str) -> Option<&'static str> {
    FORMS.iter().find(|(known, _)| *known == name).map(|(_, usage)| *usage)
}

impl TestFile {
    /// Reads a test file without compiling it.
    ///
    /// ```
    /// use ptc_compiler::testing::TestFile;
    /// let source = "(deftest adds (testing \"small\" (is (= 3 (+ 1 2)))))";
    /// let file = TestFile::read(source, &Default::default()).unwrap();
    /// assert_eq!(file.tests[0].name, "adds");
    /// let check = file.checks.values().next().unwrap();
    /// assert_eq!((check.expr.text(source), &*check.contexts[0]), ("(= 3 (+ 1 2))", "small"));
    /// ```
    pub fn read(source: &str, limits: &Limits) -> Result<TestFile, Vec<Diagnostic>> {
        let arena = Bump::new();
        let meter = Meter::new(limits, &|| false);
        let forms = parse_metered(source, &arena, limits, &meter, &mut Vec::new())?.forms;
        let forms = without_alias(forms, &arena);
        let mut reader =
            Reader { file: TestFile::default(), errors: Vec::new(), contexts: Vec::new(), last: None };
        let mut names = BTreeSet::new();
        for form in forms {
            match headed(form) {
                Some(("deftest", args)) => reader.test(form, args, &mut names),
                Some(("stub-tool", args)) => {
                    if let Some(stub) = reader.stub(form.span, args) {
                        reader.file.stubs.push(stub);
                    }
                }
                _ => reader.walk(form, &mut None),
            }
        }
        match reader.errors.is_empty() {
            true => Ok(reader.file),
            false => Err(reader.errors),
        }
    }
}

/// The state of one walk over a test file.
struct Reader {
    file: TestFile,
    errors: Vec<Diagnostic>,
    contexts: Vec<Arc<str>>,
    /// Offset of the form that ends the test.
    last: Option<u32>,
}

impl Reader {
    fn test<'a>(&mut self, form: &Form<'a>, args: &'a [Form<'a>], names: &mut BTreeSet<&'a str>) {
        let Some((name, body)) = args.split_first().and_then(|(name, body)| Some((name.as_symbol()?, body)))
        else {
            return self.wrong(form.span, "deftest", "needs a name");
        };
        if !names.insert(name) {
            let message = format!("there are two tests called `{name}`");
            self.errors
                .push(Diagnostic::error(Code::InvalidForm, form.span, message).hint("rename one of them"));
        }
        self.last = body.last().map(|form| last_of(form).span.start);
        let mut stubs = Some(Vec::new());
        for form in body {
            self.walk(form, &mut stubs);
        }
        self.last = None;
        let stubs = stubs.unwrap_or_default();
        self.file.tests.push(Test { name: name.to_string(), span: form.span, stubs });
    }

    fn stub(&mut self, span: Span, args: &[Form<'_>]) -> Option<Stub> {
        if let [Form { kind: FormKind::Quote(Form { kind: FormKind::Symbol(tool), .. }), .. }, _] = args {
            return Some(Stub { tool: tool.strip_prefix("tool/").unwrap_or(tool).to_string(), span });
        }
        self.wrong(span, "stub-tool", "takes the quoted name of a tool, and a function or a result");
        None
    }

    /// Records checks and stubs in a form. `stubs` is None where none are allowed.
    fn walk(&mut self, form: &Form<'_>, stubs: &mut Option<Vec<Stub>>) {
        let items = match form.kind {
            FormKind::List(items)
            | FormKind::Vector(items)
            | FormKind::Map(items)
            | FormKind::Set(items)
            | FormKind::ShortFn(items) => items,
            _ => return,
        };
        let contexts = self.contexts.len();
        match headed(form) {
            Some(("quote" | "comment", _)) => return,
            Some(("testing", [Form { kind: FormKind::Str(text), .. }, ..])) => {
                self.contexts.push((*text).into());
            }
            Some(("is", [expr, ..])) => self.check(form.span, expr),
            Some(("deftest", _)) => {
                self.wrong(form.span, "deftest", "belongs at the top level of a test file")
            }
            Some(("stub-tool", args)) => {
                let stub = self.stub(form.span, args);
                match stubs {
                    Some(stubs) => stubs.extend(stub),
                    None => self.wrong(
                        form.span,
                        "stub-tool",
                        "belongs at the top level of a test file, or in a deftest",
                    ),
                }
                return;
            }
            _ => {}
        }
        for item in items {
            self.walk(item, stubs);
        }
        self.contexts.truncate(contexts);
    }

    fn check(&mut self, span: Span, expr: &Form<'_>) {
        let call = headed(expr);
        if let Some((name @ ("fails?" | "fails-with?"), _)) = call
            && self.last != Some(span.start)
        {
            let message = format!("`{name}` must be the last check of its deftest: what fails ends the run");
            let hint = "move (is (fails? …)) to the end, or to a deftest of its own";
            self.errors.push(Diagnostic::error(Code::InvalidForm, span, message).hint(hint));
        }
        let call = call.filter(|(name, _)| FormName::lookup(name).is_none());
        self.file.checks.insert(
            span.start,
            Check {
                span,
                expr: expr.span,
                head: call.map(|(name, _)| name.to_string()),
                operands: call.map_or(Vec::new(), |(_, args)| {
                    args.iter().map(|arg| (arg.span, is_literal(arg))).collect()
                }),
                contexts: self.contexts.clone(),
            },
        );
    }

    fn wrong(&mut self, span: Span, name: &str, message: &str) {
        let usage = usage(name).unwrap_or_default();
        let problem = Diagnostic::error(Code::InvalidForm, span, format!("`{name}` {message}"));
        self.errors.push(problem.hint(format!("write {usage}")));
    }
}

/// Returns the form that is evaluated last in a form.
fn last_of<'a, 'f>(form: &'f Form<'a>) -> &'f Form<'a> {
    let mut form = form;
    while let Some(("do" | "let" | "testing", [.., last])) = headed(form) {
        form = last;
    }
    form
}

/// Splits a list that begins with a name into the name and the rest.
fn headed<'a>(form: &Form<'a>) -> Option<(&'a str, &'a [Form<'a>])> {
    let (FormKind::List([head, args @ ..]) | FormKind::ShortFn([head, args @ ..])) = form.kind else {
        return None;
    };
    Some((head.as_symbol()?, args))
}

/// True if a form is a literal value.
fn is_literal(form: &Form<'_>) -> bool {
    match form.kind {
        FormKind::Vector(items) | FormKind::Map(items) | FormKind::Set(items) => items.iter().all(is_literal),
        FormKind::Symbol(_)
        | FormKind::List(_)
        | FormKind::ShortFn(_)
        | FormKind::VarRef(_)
        | FormKind::Special(_)
        | FormKind::Builtin(_) => false,
        _ => true,
    }
}

/// Rewrites `t/is`, in a file that requires `[clojure.test :as t]`, and `clojure.test/is` as `is`. Names that test
/// files do not know stay as they are, so that a message can show them.
fn without_alias<'a>(forms: &'a [Form<'a>], arena: &'a Bump) -> &'a [Form<'a>] {
    let mut aliases = Vec::new();
    for form in forms {
        match headed(form) {
            Some(("ns", clauses)) => {
                let specs = clauses.iter().filter_map(Form::as_list).filter_map(<[_]>::split_first);
                let required = specs.filter(|(head, _)| matches!(head.kind, FormKind::Keyword("require")));
                aliases.extend(required.flat_map(|(_, specs)| specs).flat_map(aliases_of));
            }
            Some(("require", specs)) => {
                let quoted = specs.iter().filter_map(|spec| match spec.kind {
                    FormKind::Quote(spec) => Some(spec),
                    _ => None,
                });
                aliases.extend(quoted.flat_map(aliases_of));
            }
            _ => {}
        }
    }
    if aliases.is_empty() { forms } else { renamed(forms, &aliases, arena) }
}

/// Returns the names that this spec gives to `clojure.test`, if it requires it: the full name, and the alias.
fn aliases_of<'a>(spec: &Form<'a>) -> Vec<&'a str> {
    let (FormKind::Vector(parts) | FormKind::List(parts)) = spec.kind else {
        return spec.as_symbol().filter(|name| *name == CLOJURE_TEST).into_iter().collect();
    };
    let [name, options @ ..] = parts else { return Vec::new() };
    if name.as_symbol() != Some(CLOJURE_TEST) {
        return Vec::new();
    }
    let alias = options.as_chunks::<2>().0.iter().filter_map(|[option, alias]| match option.kind {
        FormKind::Keyword("as" | "as-alias") => alias.as_symbol(),
        _ => None,
    });
    alias.chain([CLOJURE_TEST]).collect()
}

/// Namespace whose names test files know without requiring it.
pub(crate) const CLOJURE_TEST: &str = "clojure.test";

fn renamed<'a>(forms: &'a [Form<'a>], aliases: &[&str], arena: &'a Bump) -> &'a [Form<'a>] {
    let within = |items: &'a [Form<'a>]| renamed(items, aliases, arena);
    let one = |form: &Form<'a>| {
        let kind = match form.kind {
            FormKind::Symbol(name) => match name.split_once('/') {
                Some((space, member)) if aliases.contains(&space) && usage(member).is_some() => {
                    FormKind::Symbol(member)
                }
                _ => form.kind,
            },
            FormKind::List(items) => FormKind::List(within(items)),
            FormKind::Vector(items) => FormKind::Vector(within(items)),
            FormKind::Map(items) => FormKind::Map(within(items)),
            FormKind::Set(items) => FormKind::Set(within(items)),
            FormKind::ShortFn(items) => FormKind::ShortFn(within(items)),
            other => other,
        };
        Form::new(form.span, kind)
    };
    arena.alloc_slice_fill_iter(forms.iter().map(one))
}

/// Selects the forms of one part of a test file: the definitions of the file, and the test or stub.
pub(crate) fn select<'a>(forms: &'a [Form<'a>], part: TestPart, arena: &'a Bump) -> &'a [Form<'a>] {
    let forms = without_alias(forms, arena);
    if part == TestPart::Checks {
        return forms;
    }
    let of_file = |form: &&Form<'a>| !matches!(headed(form), Some(("deftest" | "stub-tool", _)));
    let mut kept: Vec<Form<'a>> = forms.iter().filter(of_file).copied().collect();
    match part {
        TestPart::Test(start) => {
            let test = forms.iter().find(|form| form.span.start == start);
            if let Some((test, [_, body @ ..])) = test.and_then(|form| Some((form, headed(form)?.1))) {
                kept.push(listed(arena, test.span, Special::Do, body));
            }
        }
        TestPart::Stub(start) => {
            let mut found = None;
            let mut left: Vec<&Form<'a>> = forms.iter().collect();
            while let Some(form) = left.pop() {
                match form.kind {
                    FormKind::List(_) if form.span.start == start => {
                        found = headed(form).map(|(_, args)| (form, args))
                    }
                    FormKind::List(items)
                    | FormKind::Vector(items)
                    | FormKind::Map(items)
                    | FormKind::Set(items) => {
                        left.extend(items);
                    }
                    _ => {}
                }
            }
            if let Some((stub, [tool, body])) = found {
                kept.push(stub_program(arena, stub.span, tool, *body));
            }
        }
        TestPart::Checks => {}
    }
    arena.alloc_slice_copy(&kept)
}

/// Makes `(let* [stub· body] (if (fn? stub·) (stub· request) stub·))`.
fn stub_program<'a>(arena: &'a Bump, span: Span, tool: &Form<'a>, body: Form<'a>) -> Form<'a> {
    let at = |kind| Form::new(span, kind);
    let list = |items: &[Form<'a>]| at(FormKind::List(arena.alloc_slice_copy(items)));
    let stub = at(FormKind::Symbol("stub·"));
    let request = at(FormKind::Symbol("data/request"));
    let is_operation = matches!(tool.kind, FormKind::Quote(Form { kind: FormKind::Symbol(name), .. })
        if name.strip_prefix("tool/").unwrap_or(name).contains('/'));
    // The arguments of a server's operation are inside the request of `tool/call`.
    let given = match is_operation {
        true => list(&[at(FormKind::Builtin("get")), request, at(FormKind::Str("args"))]),
        false => request,
    };
    let is_function = list(&[at(FormKind::Builtin("fn?")), stub]);
    let answer = [is_function, list(&[stub, given]), stub];
    let answer = listed(arena, span, Special::If, &answer);
    let bindings = at(FormKind::Vector(arena.alloc_slice_copy(&[stub, body])));
    listed(arena, span, Special::Let, &[bindings, answer])
}

/// Makes `(special items…)`.
fn listed<'a>(arena: &'a Bump, span: Span, special: Special, items: &[Form<'a>]) -> Form<'a> {
    let mut all = vec![Form::new(span, FormKind::Special(special))];
    all.extend_from_slice(items);
    Form::new(span, FormKind::List(arena.alloc_slice_copy(&all)))
}

#[cfg(test)]
mod tests {
    use super::TestFile;
    use ptc_bytecode::Limits;

    fn problem(source: &str) -> String {
        TestFile::read(source, &Limits::default()).unwrap_err()[0].message.clone()
    }

    #[test]
    fn what_stands_in_the_wrong_place_is_told() {
        for (source, wanted) in [
            ("(deftest a (is", "is never closed"),
            ("(deftest)", "needs a name"),
            ("(deftest \"a\" 1)", "needs a name"),
            ("(deftest a 1) (deftest a 2)", "two tests called `a`"),
            ("(do (deftest a 1))", "belongs at the top level"),
            ("(stub-tool find 1)", "takes the quoted name of a tool"),
            ("(defn f [] (stub-tool 'find 1))", "or in a deftest"),
            ("(deftest a (is (fails? 1)) (is 2))", "must be the last check"),
            ("(defn f [] (is (fails? 1)))", "must be the last check"),
        ] {
            let message = problem(source);
            assert!(message.contains(wanted), "{source}: {message}");
        }
    }

    #[test]
    fn forms_may_go_by_an_alias_of_clojure_test() {
        for head in [
            "(ns a (:require [clojure.test :as t] [crm :as c]))",
            "(require '[clojure.test :refer [is] :as t])",
            "(ns a (:require clojure.string [clojure.test :as-alias t]))",
        ] {
            let source = format!(
                "{head} (t/deftest one (t/testing \"b\" (t/is (t/thrown? (f)))) (clojure.test/is #(t/is %)) (t/are 1))"
            );
            let file = TestFile::read(&source, &Limits::default()).unwrap();
            assert_eq!((&*file.tests[0].name, file.checks.len()), ("one", 3), "{head}");
            let first = file.checks.values().next().unwrap();
            assert_eq!((first.contexts.join(" "), first.head.as_deref()), ("b".into(), Some("thrown?")));
        }
        // Aliases of other namespaces do not count.
        let other = "(ns a (:require [crm :as t])) (t/deftest one (t/is 1))";
        assert!(TestFile::read(other, &Limits::default()).unwrap().tests.is_empty());
    }

    #[test]
    fn all_checks_of_a_form_share_its_text() {
        let source = format!("(deftest a (testing \"{}\" {}))", "x".repeat(500_000), "(is 1)".repeat(20_000));
        let file = TestFile::read(&source, &Limits::default()).unwrap();
        let mut texts = file.checks.values().map(|check| &check.contexts[0]);
        let first = texts.next().unwrap();
        assert!(first.len() == 500_000 && texts.all(|text| std::sync::Arc::ptr_eq(first, text)));
    }

    #[test]
    fn checks_stubs_and_contexts_are_found() {
        let source = "(defn ok [x] (is x))\n(stub-tool 'crm/find {:ok true})\n(comment (is 9))\n\
                      (deftest a (testing \"b\" (testing \"c\" (is (= 1 x))) (is (fails? (f)))))";
        let file = TestFile::read(source, &Limits::default()).unwrap();
        let contexts: Vec<String> = file.checks.values().map(|check| check.contexts.join(" ")).collect();
        assert_eq!(contexts, ["", "b c", "b"]);
        assert_eq!(file.stubs[0].tool, "crm/find");
        let literal: Vec<bool> = file.checks.values().nth(1).unwrap().operands.iter().map(|o| o.1).collect();
        assert_eq!(literal, [true, false]);
    }
}
