//! Binding forms and destructuring: patterns become plain `let*` bindings.

use super::{Call, Expanded, Expander, Forms, MADE_FORM, function};
use crate::form::{Form, FormKind, Special, split_qualified};
use ptc_bytecode::{Code, Diagnostic};
use smallvec::SmallVec;

/// The test of `if-let` and its variants on the bound value.
#[derive(Clone, Copy)]
pub(super) enum Test {
    Truthy,
    NotNil,
}

impl<'a> Expander<'a> {
    pub(super) fn let_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(let [name value] body)";
        let (pairs, body) = binding_vector(call, usage)?;
        let mut bindings = Forms::new();
        for pair in pairs.chunks_exact(2) {
            self.bind(pair[0], pair[1], &mut bindings)?;
        }
        Ok(self.let_star(call.span, &bindings, body))
    }

    /// Expands `loop`, which rebinds whole values on `recur`: a pattern becomes a temporary that is destructured at
    /// the head of every round.
    pub(super) fn loop_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let (pairs, body) = binding_vector(call, "(loop [name start] body)")?;
        let is_plain = |form: &Form<'_>| matches!(form.kind, FormKind::Symbol(_));
        let (mut outer, mut targets, mut inner) = (Forms::new(), Forms::new(), Forms::new());
        // Start values may use names of earlier patterns: then everything is also bound once outside.
        let first_pattern = pairs.chunks_exact(2).position(|pair| !is_plain(&pair[0]));
        let needs_outer = first_pattern.is_some_and(|at| at + 1 < pairs.len() / 2);
        for pair in pairs.chunks_exact(2) {
            let (pattern, start) = (pair[0], pair[1]);
            let name = if is_plain(&pattern) {
                check_name(&pattern)?;
                pattern
            } else {
                self.temp("loop", pattern.span)
            };
            if needs_outer {
                outer.extend([name, start]);
                targets.extend([name, name]);
                if !is_plain(&pattern) {
                    self.bind(pattern, name, &mut outer)?;
                }
            } else {
                targets.extend([name, start]);
            }
            if !is_plain(&pattern) {
                self.bind(pattern, name, &mut inner)?;
            }
        }
        let mut items = Forms::new();
        items.push(self.vector(call.span, &targets));
        if inner.is_empty() {
            items.extend_from_slice(body);
        } else {
            items.push(self.let_star(call.span, &inner, body));
        }
        let looped = self.special(call.span, Special::Loop, &items);
        Ok(self.let_star(call.span, &outer, &[looped]))
    }

    /// Expands `(if-let [pattern value] then else?)`.
    pub(super) fn if_let_form(&mut self, call: Call<'_, 'a>, test: Test) -> Expanded<'a> {
        let usage = format!("({} [name value] then else)", call.name);
        call.takes(2, 3, &usage)?;
        let (pattern, value) = one_binding(call, &usage)?;
        self.bind_if(call, test, pattern, value, &call.args[1..2], call.args.get(2).copied())
    }

    /// Expands `(when-let [pattern value] body…)`.
    pub(super) fn when_let_form(&mut self, call: Call<'_, 'a>, test: Test) -> Expanded<'a> {
        let usage = format!("({} [name value] body)", call.name);
        call.takes(1, usize::MAX, &usage)?;
        let (pattern, value) = one_binding(call, &usage)?;
        self.bind_if(call, test, pattern, value, &call.args[1..], None)
    }

    /// Expands `(when-first [pattern coll] body…)`.
    pub(super) fn when_first_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(when-first [name coll] body)";
        call.takes(1, usize::MAX, usage)?;
        let (pattern, coll) = one_binding(call, usage)?;
        let items = self.temp("seq", coll.span);
        let seq = self.builtin(coll.span, "seq", &[coll]);
        let mut bindings = Forms::new();
        self.bind(pattern, self.builtin(coll.span, "first", &[items]), &mut bindings)?;
        let then = self.let_star(call.span, &bindings, &call.args[1..]);
        let test = self.special(call.span, Special::If, &[items, then, self.nil(call.span)]);
        Ok(self.let_star(call.span, &[items, seq], &[test]))
    }

    /// Expands a binding with a test on the whole value; only the `then` branch sees the pattern's names.
    fn bind_if(
        &mut self,
        call: Call<'_, 'a>,
        test: Test,
        pattern: Form<'a>,
        value: Form<'a>,
        then: &[Form<'a>],
        otherwise: Option<Form<'a>>,
    ) -> Expanded<'a> {
        let temp = self.temp("let", value.span);
        let mut bindings = Forms::new();
        self.bind(pattern, temp, &mut bindings)?;
        let then = self.let_star(call.span, &bindings, then);
        let otherwise = otherwise.unwrap_or(self.nil(call.span));
        let choice = match test {
            Test::Truthy => [temp, then, otherwise],
            Test::NotNil => [self.builtin(value.span, "nil?", &[temp]), otherwise, then],
        };
        let choice = self.special(call.span, Special::If, &choice);
        Ok(self.let_star(call.span, &[temp, value], &[choice]))
    }

    /// Adds the plain bindings that match `pattern` against `value`.
    pub(super) fn bind(
        &mut self,
        pattern: Form<'a>,
        value: Form<'a>,
        out: &mut Forms<'a>,
    ) -> Result<(), Diagnostic> {
        self.bound += 1;
        self.did(MADE_FORM);
        self.check_size(pattern.span)?;
        match pattern.kind {
            FormKind::Symbol(_) => {
                check_name(&pattern)?;
                out.extend([pattern, value]);
                Ok(())
            }
            FormKind::Vector(parts) => {
                let source = self.hold(value, out);
                self.bind_vector(parts, source, out)
            }
            FormKind::Map(parts) => {
                check_map_source(&pattern, &value)?;
                let source = self.hold(value, out);
                self.bind_map(parts, source, out)
            }
            _ => Err(not_a_pattern(&pattern)),
        }
    }

    /// Binds the value to a name that the pattern cannot rebind on the way.
    fn hold(&mut self, value: Form<'a>, out: &mut Forms<'a>) -> Form<'a> {
        if value.as_symbol().is_some_and(|name| name.contains('·')) {
            return value;
        }
        let temp = self.temp("part", value.span);
        out.extend([temp, value]);
        temp
    }

    fn bind_vector(
        &mut self,
        parts: &'a [Form<'a>],
        source: Form<'a>,
        out: &mut Forms<'a>,
    ) -> Result<(), Diagnostic> {
        // With a rest parameter, the pattern also takes maps and sets, whose elements are in order of iteration.
        let has_rest = parts.iter().any(|part| matches!(part.kind, FormKind::Symbol("&")));
        let mut rest = parts;
        let mut index = 0;
        while let [part, tail @ ..] = rest {
            rest = tail;
            match part.kind {
                FormKind::Symbol("&") => {
                    let [pattern, tail @ ..] = tail else { return Err(lone_ampersand(part)) };
                    let count = Form::new(part.span, FormKind::Int(index));
                    let mut left = self.builtin(pattern.span, "%drop", &[source, count]);
                    if matches!(pattern.kind, FormKind::Map(_)) {
                        left = self.builtin(pattern.span, "%kwargs", &[left]);
                    }
                    self.bind(*pattern, left, out)?;
                    rest = tail;
                    if !matches!(tail, [] | [Form { kind: FormKind::Keyword("as"), .. }, _]) {
                        return Err(lone_ampersand(part));
                    }
                }
                FormKind::Keyword("as") => {
                    let [name] = tail else { return Err(bad_as(part)) };
                    check_name(name)?;
                    out.extend([*name, source]);
                    rest = &[];
                }
                _ => {
                    let at = Form::new(part.span, FormKind::Int(index));
                    let any = Form::new(part.span, FormKind::Bool(true));
                    let args = &[source, at, any][..if has_rest { 3 } else { 2 }];
                    let element = self.builtin(part.span, "%nth", args);
                    self.bind(*part, element, out)?;
                    index += 1;
                }
            }
        }
        Ok(())
    }

    fn bind_map(
        &mut self,
        parts: &'a [Form<'a>],
        source: Form<'a>,
        out: &mut Forms<'a>,
    ) -> Result<(), Diagnostic> {
        let mut defaults = Defaults::new();
        for pair in parts.chunks_exact(2) {
            match (pair[0].kind, pair[1].kind) {
                (FormKind::Keyword("or"), FormKind::Map(entries)) => {
                    let named = |entry: &[Form<'a>]| Some((entry[0].as_symbol()?, entry[1]));
                    defaults = entries.chunks_exact(2).filter_map(named).collect();
                    defaults.sort_unstable_by_key(|(name, _)| *name);
                }
                (FormKind::Keyword("or"), _) => {
                    return Err(Diagnostic::error(
                        Code::UnsupportedPattern,
                        pair[1].span,
                        format!("`:or` needs a map of defaults, not {}", pair[1].kind_name()),
                    )
                    .hint("write {:keys [a] :or {a 0}}"));
                }
                // `:as` is bound first, so that defaults may use it.
                (FormKind::Keyword("as"), _) => {
                    check_name(&pair[1])?;
                    out.extend([pair[1], source]);
                }
                _ => {}
            }
        }
        for pair in parts.chunks_exact(2) {
            let (pattern, key) = (pair[0], pair[1]);
            let FormKind::Keyword(word) = pattern.kind else {
                let value = self.lookup(source, key, pattern.as_symbol(), &defaults);
                self.bind(pattern, value, out)?;
                continue;
            };
            match word.rsplit_once('/').map_or(("", word), |(space, word)| (space, word)) {
                ("", "or" | "as") => {}
                (space, "keys") => self.bind_names(key, source, space, Keys::Keywords, &defaults, out)?,
                ("", "strs") => self.bind_names(key, source, "", Keys::Strings, &defaults, out)?,
                _ => return Err(bad_map_keyword(&pattern, &key, word)),
            }
        }
        Ok(())
    }

    /// Expands `:keys [a b]`, `:strs [a b]`, `:space/keys [a b]`.
    fn bind_names(
        &mut self,
        names: Form<'a>,
        source: Form<'a>,
        space: &str,
        keys: Keys,
        defaults: &[(&'a str, Form<'a>)],
        out: &mut Forms<'a>,
    ) -> Result<(), Diagnostic> {
        let FormKind::Vector(names) = names.kind else {
            return Err(Diagnostic::error(
                Code::UnsupportedPattern,
                names.span,
                format!("`{}` needs a vector of names, not {}", keys.word(), names.kind_name()),
            )
            .hint(format!("write {{{} [a b]}}", keys.word())));
        };
        for name in names {
            let (FormKind::Symbol(full) | FormKind::Keyword(full)) = name.kind else {
                return Err(not_a_pattern(name));
            };
            let local = full.rsplit_once('/').map_or(full, |(_, local)| local);
            let local = Form::new(name.span, FormKind::Symbol(local));
            check_name(&local)?;
            let full = if space.is_empty() {
                full
            } else {
                bumpalo::format!(in self.arena, "{}/{}", space, full).into_bump_str()
            };
            let key = Form::new(name.span, keys.form(full));
            let value = self.lookup(source, key, local.as_symbol(), defaults);
            out.extend([local, value]);
        }
        Ok(())
    }

    /// Makes `(get source key)`, with the default of `name` if there is one. `get` returns its default only for an
    /// absent key, but always evaluates it, as Clojure does here.
    fn lookup(
        &self,
        source: Form<'a>,
        key: Form<'a>,
        name: Option<&str>,
        defaults: &[(&'a str, Form<'a>)],
    ) -> Form<'a> {
        let default = name.and_then(|name| defaults.binary_search_by_key(&name, |(name, _)| name).ok());
        match default {
            Some(at) => self.builtin(key.span, "get", &[source, key, defaults[at].1]),
            None => self.builtin(key.span, "get", &[source, key]),
        }
    }
}

/// Refuses a map pattern on a literal number or keyword, which is a mistake. Other scalars pass: `get` finds
/// nothing in them, since data may be dirty.
fn check_map_source(pattern: &Form<'_>, value: &Form<'_>) -> Result<(), Diagnostic> {
    match value.kind {
        FormKind::Int(_)
        | FormKind::BigInt(_)
        | FormKind::Float(_)
        | FormKind::Bool(_)
        | FormKind::Keyword(_) => {
            let message =
                format!("{} takes a map apart, but the value is {}", pattern.brief(), value.kind_name());
            Err(Diagnostic::error(Code::TypeError, value.span, message)
                .hint("write (let [{:keys [a b]} {:a 1 :b 2}] a)"))
        }
        _ => Ok(()),
    }
}

/// The names of an `:or` with their defaults, sorted by name.
type Defaults<'a> = SmallVec<[(&'a str, Form<'a>); 4]>;

#[derive(Clone, Copy)]
enum Keys {
    Keywords,
    Strings,
}

impl Keys {
    fn word(self) -> &'static str {
        match self {
            Keys::Keywords => ":keys",
            Keys::Strings => ":strs",
        }
    }

    fn form(self, name: &str) -> FormKind<'_> {
        match self {
            Keys::Keywords => FormKind::Keyword(name),
            Keys::Strings => FormKind::Str(name),
        }
    }
}

/// Splits `let` and `loop` into their even binding vector and the body.
fn binding_vector<'a>(
    call: Call<'_, 'a>,
    usage: &str,
) -> Result<(&'a [Form<'a>], &'a [Form<'a>]), Diagnostic> {
    let Some((first, body)) = call.args.split_first() else {
        return Err(call.error(Code::InvalidForm, "needs a vector of bindings", usage));
    };
    let FormKind::Vector(pairs) = first.kind else {
        let message = format!("needs a vector of bindings, but found {}", first.kind_name());
        return Err(call.error_at(first.span, Code::InvalidForm, message, usage));
    };
    if pairs.len() % 2 == 1 {
        let last = pairs[pairs.len() - 1];
        let message = format!("needs a value for every name, but {} has none", last.brief());
        return Err(call.error_at(last.span, Code::InvalidForm, message, usage));
    }
    Ok((pairs, body))
}

/// Returns the one binding of `if-let` and its variants.
fn one_binding<'a>(call: Call<'_, 'a>, usage: &str) -> Result<(Form<'a>, Form<'a>), Diagnostic> {
    let vector = call.args[0];
    match vector.kind {
        FormKind::Vector([pattern, value]) => Ok((*pattern, *value)),
        FormKind::Vector(items) => {
            let message = format!("binds one name to one value, but its vector has {} forms", items.len());
            Err(call.error_at(vector.span, Code::InvalidForm, message, usage))
        }
        _ => {
            let message = format!("needs a vector with one binding, but found {}", vector.kind_name());
            Err(call.error_at(vector.span, Code::InvalidForm, message, usage))
        }
    }
}

/// Refuses names that cannot be bound.
pub(super) fn check_name(form: &Form<'_>) -> Result<(), Diagnostic> {
    let FormKind::Symbol(name) = form.kind else { return Err(not_a_pattern(form)) };
    if function::is_placeholder(name) {
        return Err(Diagnostic::error(
            Code::InvalidPlaceholder,
            form.span,
            format!("`{name}` is a parameter of #(…) and cannot be bound"),
        )
        .hint("give it a name of letters, such as x"));
    }
    if split_qualified(name).is_some() || name == "&" {
        return Err(Diagnostic::error(
            Code::UnsupportedPattern,
            form.span,
            format!("`{name}` cannot be bound as a local name"),
        )
        .hint("local names have no `/`; `&` comes before the rest in a vector pattern"));
    }
    Ok(())
}

fn not_a_pattern(form: &Form<'_>) -> Diagnostic {
    Diagnostic::error(
        Code::UnsupportedPattern,
        form.span,
        format!("expected a name or a pattern to bind, but found {}: {}", form.kind_name(), form.brief()),
    )
    .hint("patterns are name, [a b & rest :as all] and {:keys [a b] :or {a 0} :as all}")
}

fn lone_ampersand(ampersand: &Form<'_>) -> Diagnostic {
    Diagnostic::error(Code::InvalidForm, ampersand.span, "`&` needs exactly one name or pattern after it")
        .hint("write [a b & rest]")
}

fn bad_as(form: &Form<'_>) -> Diagnostic {
    Diagnostic::error(Code::UnsupportedPattern, form.span, "`:as` needs one name and must come last")
        .hint("write [a b :as all]")
}

fn bad_map_keyword(pattern: &Form<'_>, key: &Form<'_>, word: &str) -> Diagnostic {
    let problem = Diagnostic::error(
        Code::UnsupportedPattern,
        pattern.span,
        format!("`:{word}` cannot be bound: a map pattern has the name before its key"),
    );
    match (word, key.kind) {
        ("syms", _) => problem.hint("there are no symbol keys: use :keys or :strs"),
        (_, FormKind::Symbol(name)) => {
            problem.hint(format!("write {{{name} :{word}}} or {{:keys [{word}]}}"))
        }
        _ => problem.hint("write {name :key} or {:keys [name]}"),
    }
}
