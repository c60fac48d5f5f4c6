//! Expansion of functions and definitions.

use super::{Call, Expanded, Expander, Forms, MADE_FORM, MAX_CLAUSES, binding};
use crate::form::{Form, FormKind, Special, split_qualified};
use ptc_bytecode::{Code, Diagnostic, FormName, PROTECTED, Span, lookup};

/// Maximum number of parameters `%1` … of one `#(…)`.
const MAX_PLACEHOLDERS: usize = 20;

/// Maximum number of parameters of one function; more are passed as a map or vector.
const MAX_PARAMS: usize = 100;

impl<'a> Expander<'a> {
    /// Expands `(fn name? [params] body…)` and `(fn name? ([params] body…)…)`.
    pub(super) fn fn_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let (name, rest) = match call.args {
            [name @ Form { kind: FormKind::Symbol(_), .. }, rest @ ..] => {
                binding::check_name(name)?;
                (Some(*name), rest)
            }
            _ => (None, call.args),
        };
        self.function(call, name, rest, "(fn [x] body)", &[])
    }

    /// Expands `(def name "doc"? value)` and `defonce`.
    pub(super) fn def_form(&mut self, call: Call<'_, 'a>, special: Special) -> Expanded<'a> {
        let usage = format!("({} name value)", call.name);
        let Some(name) = call.args.first() else {
            return Err(call.error(Code::InvalidArity, "needs a name and a value", &usage));
        };
        self.check_definable(call, name, &usage)?;
        call.takes(2, 3, &usage)?;
        if let [_, doc, _] = call.args
            && !matches!(doc.kind, FormKind::Str(_))
        {
            let message =
                format!("with three operands has a doc string second, but found {}", doc.kind_name());
            let usage = format!("({} name \"what it is\" value)", call.name);
            return Err(call.error_at(doc.span, Code::InvalidForm, message, &usage));
        }
        Ok(self.respell(call, special))
    }

    /// Expands `(defn name "doc"? {meta}? [params] body…)` into a `def` of a function. The function itself gets no
    /// name: recursion goes through the definition, so that `(def f (memoize f))` works afterwards.
    pub(super) fn defn_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = format!("({} name [x] body)", call.name);
        let Some((name, mut rest)) = call.args.split_first() else {
            return Err(call.error(Code::InvalidArity, "needs a name, parameters and a body", &usage));
        };
        self.check_definable(call, name, &usage)?;
        let mut items = Forms::new();
        items.push(*name);
        if let [doc @ Form { kind: FormKind::Str(_), .. }, more @ ..] = rest {
            items.push(*doc);
            rest = more;
        }
        if let [Form { kind: FormKind::Map(_), .. }, more @ ..] = rest {
            rest = more;
        }
        if rest.is_empty() {
            return Err(call.error(Code::InvalidArity, "needs a parameter vector and a body", &usage));
        }
        items.push(self.function(call, None, rest, &usage, &[])?);
        Ok(self.special(call.span, Special::Def, &items))
    }

    /// Expands `(declare name…)` into definitions without a value.
    pub(super) fn declare_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let mut items = Forms::new();
        for name in call.args {
            self.check_definable(call, name, "(declare name)")?;
            items.push(self.special(name.span, Special::Def, &[*name]));
        }
        items.push(self.nil(call.span));
        Ok(self.body(call.span, &items))
    }

    /// Expands `(letfn [(f [x] body…) …] body…)`. Captures are copied when a closure is made, so mutually recursive
    /// functions cannot capture each other. Instead one function, which may name itself, makes each of them by
    /// number, and a body that mentions another calls it again.
    pub(super) fn letfn_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(letfn [(f [x] body)] body)";
        let Some((Form { kind: FormKind::Vector(specs), .. }, body)) = call.args.split_first() else {
            return Err(call.error(Code::InvalidForm, "needs a vector of functions", usage));
        };
        if specs.len() > MAX_CLAUSES {
            let message = format!("has more than {MAX_CLAUSES} functions");
            return Err(call.error(Code::InvalidForm, message, "them as `defn`"));
        }
        let mut functions: Vec<(Form<'a>, &'a [Form<'a>])> = Vec::new();
        for spec in *specs {
            let FormKind::List([name @ Form { kind: FormKind::Symbol(_), .. }, rest @ ..]) = spec.kind else {
                let message = format!("needs functions as (name [x] body), but found {}", spec.kind_name());
                return Err(call.error_at(spec.span, Code::InvalidForm, message, usage));
            };
            binding::check_name(name)?;
            functions.push((*name, rest));
        }
        if let [(name, rest)] = functions[..] {
            let function = self.function(call, Some(name), rest, usage, &[])?;
            return Ok(self.let_star(call.span, &[name, function], body));
        }
        let maker = self.temp("letfn", call.span);
        let number = self.temp("n", call.span);
        let make = |cx: &Expander<'a>, i: usize, span: Span| {
            cx.list(span, &[maker, Form::new(span, FormKind::Int(i as i64))])
        };
        // Every function is searched for the names of all others.
        self.did(functions.len() * call.span.bytes() / 4);
        let mut choices = Forms::new();
        let mut bindings = Forms::new();
        for (i, (name, rest)) in functions.iter().enumerate() {
            let mut others = Forms::new();
            for (j, (other, _)) in functions.iter().enumerate() {
                if i != j && other.as_symbol().is_some_and(|other| mentions(rest, other)) {
                    others.extend([*other, make(self, j, other.span)]);
                }
            }
            let function = self.function(call, Some(*name), rest, usage, &others)?;
            let wanted = Form::new(name.span, FormKind::Int(i as i64));
            choices.extend([self.builtin(name.span, "=", &[number, wanted]), function]);
            bindings.extend([*name, make(self, i, name.span)]);
        }
        choices.push(self.nil(call.span));
        let choice = self.special(call.span, Special::Cond, &choices);
        let arity = self.list(call.span, &[self.vector(call.span, &[number]), choice]);
        let maker_function = self.special(call.span, Special::Fn, &[maker, arity]);
        bindings.insert(0, maker_function);
        bindings.insert(0, maker);
        Ok(self.let_star(call.span, &bindings, body))
    }

    /// Makes `(fn* name? ([params] body…)+)` from one parameter vector with its body, or a list of both per arity.
    /// `also` are bindings every body may use, unless a parameter has the name.
    fn function(
        &mut self,
        call: Call<'_, 'a>,
        name: Option<Form<'a>>,
        rest: &'a [Form<'a>],
        usage: &str,
        also: &[Form<'a>],
    ) -> Expanded<'a> {
        let mut items = Forms::new();
        items.extend(name);
        let mut arities = Arities::default();
        match rest {
            [Form { kind: FormKind::Vector(params), span }, body @ ..] => {
                items.push(self.arity(*span, params, body, also, &mut arities)?);
            }
            [Form { kind: FormKind::List(_), span }, ..] if !is_arity(&rest[0]) => {
                let (message, usage) = no_parameters(call, name, rest);
                return Err(call.error_at(*span, Code::InvalidForm, message, &usage));
            }
            [Form { kind: FormKind::List(_), .. }, ..] => {
                for arity in rest {
                    let FormKind::List([Form { kind: FormKind::Vector(params), .. }, body @ ..]) = arity.kind
                    else {
                        let message =
                            format!("needs every arity as ([x] body), but found {}", arity.kind_name());
                        let usage = "(fn ([x] one) ([x y] two))";
                        return Err(call.error_at(arity.span, Code::InvalidForm, message, usage));
                    };
                    items.push(self.arity(arity.span, params, body, also, &mut arities)?);
                    arities.check(call, arity.span)?;
                }
            }
            [other, ..] => {
                let message = format!("needs a parameter vector, but found {}", other.kind_name());
                return Err(call.error_at(other.span, Code::InvalidForm, message, usage));
            }
            [] => return Err(call.error(Code::InvalidForm, "needs a parameter vector", usage)),
        }
        Ok(self.special(call.span, Special::Fn, &items))
    }

    /// Expands one arity. Plain names stay in the parameter list; patterns become temporaries that are destructured
    /// in the body.
    fn arity(
        &mut self,
        span: Span,
        params: &'a [Form<'a>],
        body: &'a [Form<'a>],
        also: &[Form<'a>],
        arities: &mut Arities,
    ) -> Expanded<'a> {
        let (mut names, mut bindings) = (Forms::new(), Forms::new());
        for pair in also.chunks_exact(2) {
            if pair[0].as_symbol().is_some_and(|name| !mentions(params, name)) {
                bindings.extend_from_slice(pair);
            }
        }
        let mut variadic = false;
        let mut rest = params;
        while let [param, tail @ ..] = rest {
            rest = tail;
            if let FormKind::Symbol("&") = param.kind {
                let [pattern] = tail else {
                    return Err(Diagnostic::error(
                        Code::InvalidForm,
                        param.span,
                        "`&` needs exactly one name or pattern after it",
                    )
                    .hint("write [a b & rest]"));
                };
                names.push(*param);
                variadic = true;
                if let FormKind::Map(_) = pattern.kind {
                    let arguments = self.temp("rest", pattern.span);
                    names.push(arguments);
                    let map = self.builtin(pattern.span, "%kwargs", &[arguments]);
                    self.bind(*pattern, map, &mut bindings)?;
                } else {
                    names.push(self.param(*pattern, &mut bindings)?);
                }
                break;
            }
            let name = self.param(*param, &mut bindings)?;
            names.push(name);
        }
        let fixed = if variadic { names.len() - 2 } else { names.len() };
        if fixed > MAX_PARAMS {
            let message = format!("a function takes at most {MAX_PARAMS} parameters, but this has {fixed}");
            return Err(Diagnostic::error(Code::InvalidForm, span, message)
                .hint("take a map: (fn [{:keys [a b]}] …)"));
        }
        arities.add(fixed, variadic);
        let conditional = self.with_conditions(span, body)?;
        let body = conditional.as_deref().unwrap_or(body);
        let mut items = Forms::new();
        items.push(self.vector(span, &names));
        if bindings.is_empty() {
            items.extend_from_slice(body);
        } else {
            items.push(self.let_star(span, &bindings, body));
        }
        Ok(self.list(span, &items))
    }

    /// Refuses names that cannot be defined: only an unqualified symbol can.
    fn check_definable(&self, call: Call<'_, '_>, name: &Form<'_>, usage: &str) -> Result<(), Diagnostic> {
        let wrong =
            |message: String, usage: &str| Err(call.error_at(name.span, Code::InvalidForm, message, usage));
        let FormKind::Symbol(text) = name.kind else {
            return wrong(format!("needs a name to define, but found {}", name.kind_name()), usage);
        };
        if self.core {
            // The core library defines builtins under their names in the table.
            return Ok(());
        }
        if is_placeholder(text) {
            return binding::check_name(name);
        }
        if text.starts_with('%') {
            return wrong(format!("cannot define `{text}`: names do not start with %"), usage);
        }
        let Some((space, member)) = split_qualified(text) else { return Ok(()) };
        let why = match PROTECTED.contains(&space) {
            true => format!("the namespace `{space}` belongs to the language"),
            false => "qualified definitions are not supported".to_string(),
        };
        wrong(format!("cannot define `{text}`: {why}"), &format!("({} {member} …)", call.name))
    }

    fn param(&mut self, pattern: Form<'a>, bindings: &mut Forms<'a>) -> Expanded<'a> {
        if pattern.as_symbol().is_some() {
            binding::check_name(&pattern)?;
            return Ok(pattern);
        }
        let temp = self.temp("arg", pattern.span);
        self.bind(pattern, temp, bindings)?;
        Ok(temp)
    }
}

/// True if the form looks like one arity of several: `([x] body)`.
fn is_arity(form: &Form<'_>) -> bool {
    matches!(form.kind, FormKind::List([Form { kind: FormKind::Vector(_), .. }, ..]))
}

/// Explains a body in place of the parameters: `(fn x (inc x))`, `(defn f (inc 1))`.
#[cold]
fn no_parameters(call: Call<'_, '_>, name: Option<Form<'_>>, rest: &[Form<'_>]) -> (String, String) {
    let message = format!("needs its parameters in a vector, but found {}", rest[0].brief());
    let body = rest[0].brief();
    if let Some((params, body)) = listed_parameters(rest).filter(|_| call.name != "letfn") {
        let names = match (call.name, name) {
            ("fn", Some(name)) => format!("{} ", name.brief()),
            ("fn", None) => String::new(),
            _ => call.args.first().map_or(String::new(), |name| format!("{} ", name.brief())),
        };
        return (message, format!("({} {names}[{params}] {body})", call.name));
    }
    let usage = match (call.name, name) {
        ("fn", Some(name)) => format!("(fn [{}] {body})", name.brief()),
        ("fn", None) => format!("(fn [] {body})"),
        _ => match call.args.first() {
            Some(name) if call.name != "letfn" => format!("({} {} [] {body})", call.name, name.brief()),
            _ => "(letfn [(f [x] body)] body)".to_owned(),
        },
    };
    (message, usage)
}

/// Recognises parameters in parentheses with the body after them: `(x) (inc x)`. A call of a known function is a
/// body itself.
fn listed_parameters(rest: &[Form<'_>]) -> Option<(String, String)> {
    let [Form { kind: FormKind::List(params), .. }, body @ ..] = rest else { return None };
    let names: Vec<&str> = params.iter().map(|param| param.as_symbol()).collect::<Option<_>>()?;
    let is_call = names.len() > 1 && (lookup(names[0]).is_some() || FormName::lookup(names[0]).is_some());
    let body: Vec<String> = body.iter().map(|form| form.brief()).collect();
    (!body.is_empty() && !is_call).then(|| (names.join(" "), body.join(" ")))
}

/// Argument counts of the arities of one function, to refuse arities that overlap.
#[derive(Default)]
struct Arities {
    fixed: Vec<usize>,
    variadic: Option<usize>,
    clash: Option<&'static str>,
}

impl Arities {
    fn add(&mut self, fixed: usize, variadic: bool) {
        if variadic {
            if self.variadic.replace(fixed).is_some() {
                self.clash = Some("has more than one arity with `&`");
            }
        } else {
            if self.fixed.contains(&fixed) {
                self.clash = Some("has two arities with the same number of parameters");
            }
            self.fixed.push(fixed);
        }
        if self.variadic.is_some_and(|least| self.fixed.iter().any(|fixed| *fixed > least)) {
            self.clash = Some("has an arity with more parameters than the one with `&`");
        }
    }

    fn check(&self, call: Call<'_, '_>, span: Span) -> Result<(), Diagnostic> {
        match self.clash {
            Some(message) => {
                Err(call.error_at(span, Code::InvalidForm, message, "one arity per number of parameters"))
            }
            None => Ok(()),
        }
    }
}

/// True if the symbol occurs anywhere in the forms.
fn mentions(forms: &[Form<'_>], name: &str) -> bool {
    forms.iter().any(|form| match form.kind {
        FormKind::Symbol(text) => text == name,
        FormKind::List(items)
        | FormKind::Vector(items)
        | FormKind::Map(items)
        | FormKind::Set(items)
        | FormKind::ShortFn(items) => mentions(items, name),
        _ => false,
    })
}

/// True if `name` is `%`, `%&` or `%` and digits, which only mean something inside `#(…)`.
pub fn is_placeholder(name: &str) -> bool {
    name.strip_prefix('%').is_some_and(|rest| rest == "&" || rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Expands `#(…)` into a `fn*` of one arity.
///
/// Several elements make a call and a lone name is called; a lone literal or `%` is returned.
pub fn expand_short_fn<'a>(form: Form<'a>, cx: &mut Expander<'a>) -> Expanded<'a> {
    let FormKind::ShortFn(items) = form.kind else { return Ok(form) };
    let mut params = ShortParams { highest: 0, rest: None, names: Forms::new() };
    let items = params.replace_all(items, cx)?.unwrap_or(items);
    let body = match items {
        [] => cx.nil(form.span),
        [only] => match only.kind {
            FormKind::Symbol(name) if !name.contains('·') => cx.list(form.span, items),
            FormKind::List(_) | FormKind::ShortFn(_) => cx.list(form.span, items),
            _ => *only,
        },
        _ => Form::new(form.span, FormKind::List(items)),
    };
    let mut names = params.names;
    names.truncate(params.highest);
    if let Some(rest) = params.rest {
        names.push(Form::new(form.span, FormKind::Symbol("&")));
        names.push(rest);
    }
    let arity = cx.list(form.span, &[cx.vector(form.span, &names), body]);
    Ok(cx.special(form.span, Special::Fn, &[arity]))
}

/// Parameters of a `#(…)`, collected while its body is copied.
struct ShortParams<'a> {
    /// Highest `%n` seen.
    highest: usize,
    rest: Option<Form<'a>>,
    /// Temporaries for `%1`, `%2`, …
    names: Forms<'a>,
}

impl<'a> ShortParams<'a> {
    /// Replaces placeholders in the forms; `None` if there are none.
    fn replace_all(
        &mut self,
        forms: &'a [Form<'a>],
        cx: &mut Expander<'a>,
    ) -> Result<Option<&'a [Form<'a>]>, Diagnostic> {
        cx.did(forms.len());
        let mut copy: Option<Forms<'a>> = None;
        for (i, form) in forms.iter().enumerate() {
            let Some(new) = self.replace(form, cx)? else { continue };
            cx.did(MADE_FORM);
            copy.get_or_insert_with(|| Forms::from_slice(forms))[i] = new;
        }
        Ok(copy.map(|copy| &*cx.arena.alloc_slice_copy(&copy)))
    }

    fn replace(&mut self, form: &Form<'a>, cx: &mut Expander<'a>) -> Result<Option<Form<'a>>, Diagnostic> {
        let kind = match form.kind {
            FormKind::Symbol(name) if is_placeholder(name) => {
                return self.placeholder(form, name, cx).map(Some);
            }
            FormKind::List(items) => self.replace_all(items, cx)?.map(FormKind::List),
            FormKind::Vector(items) => self.replace_all(items, cx)?.map(FormKind::Vector),
            FormKind::Map(items) => self.replace_all(items, cx)?.map(FormKind::Map),
            FormKind::Set(items) => self.replace_all(items, cx)?.map(FormKind::Set),
            FormKind::ShortFn(_) => {
                return Err(Diagnostic::error(
                    Code::InvalidForm,
                    form.span,
                    "#(…) cannot contain another #(…)",
                )
                .hint("write one of them as (fn [x] …)"));
            }
            _ => None,
        };
        Ok(kind.map(|kind| Form::new(form.span, kind)))
    }

    fn placeholder(&mut self, form: &Form<'a>, name: &str, cx: &mut Expander<'a>) -> Expanded<'a> {
        if name == "%&" {
            let rest = *self.rest.get_or_insert_with(|| cx.temp("rest", form.span));
            return Ok(Form::new(form.span, rest.kind));
        }
        let number = match &name[1..] {
            "" => 1,
            digits => digits.parse::<usize>().unwrap_or(usize::MAX),
        };
        if !(1..=MAX_PLACEHOLDERS).contains(&number) {
            return Err(Diagnostic::error(
                Code::InvalidPlaceholder,
                form.span,
                format!("`{name}` is not a parameter: #(…) has % or %1 to %{MAX_PLACEHOLDERS}, and %&"),
            )
            .hint("write (fn [a b] …) with names"));
        }
        self.highest = self.highest.max(number);
        while self.names.len() < number {
            let temp = cx.temp("p", form.span);
            self.names.push(temp);
        }
        Ok(Form::new(form.span, self.names[number - 1].kind))
    }
}
