//! Resolution of `(ns …)` and `(require …)` at the top level of a program: other names for existing namespaces.
//!
//! Nothing is loaded. An alias lasts for its program: a later program of the session needs its own.

use super::Resolver;
use crate::form::{Form, FormKind, split_qualified};
use crate::resolved::{Constant, Kind};
use crate::suggest;
use ptc_bytecode::{Code, Diagnostic, NAMESPACES, PROTECTED, Span, namespace, qualified};
use std::collections::HashMap;

/// Units of work per part of a declaration.
const DECLARED_PART: usize = 8;

/// Names that `ns` and `require` have introduced so far.
#[derive(Default)]
pub(super) struct Required<'a> {
    /// Namespace of each alias.
    aliases: HashMap<&'a str, &'a str>,
    /// Qualified name of each referred name.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Resolver<'a, '_> {
    /// Handles a top-level `(ns …)` or `(require …)`; None for any other form.
    pub(super) fn declaration(&mut self, form: &Form<'a>) -> Option<Kind<'a>> {
        let FormKind::List([Form { kind: FormKind::Symbol(head), .. }, args @ ..]) = form.kind else {
            return None;
        };
        if !matches!(*head, "ns" | "require") || self.defines_function(head) {
            return None;
        }
        let done = match *head {
            "ns" => self.ns_form(form.span, args),
            _ if args.is_empty() => Err(malformed(form.span, "`require` names no namespace")),
            _ => args.iter().try_for_each(|spec| match spec.kind {
                FormKind::Quote(spec) => self.required_spec(spec),
                FormKind::Keyword("reload" | "reload-all" | "verbose") => Ok(()),
                _ => Err(malformed(spec.span, "`require` takes quoted specs")),
            }),
        };
        Some(match done {
            Ok(()) => Kind::Const(Constant::Nil),
            Err(problem) => self.fail(problem),
        })
    }

    fn ns_form(&mut self, span: Span, args: &'a [Form<'a>]) -> Result<(), Diagnostic> {
        let [Form { kind: FormKind::Symbol(_), .. }, clauses @ ..] = args else {
            return Err(Diagnostic::error(Code::InvalidForm, span, "`ns` needs a name")
                .hint("write (ns app (:require [clojure.string :as s]))"));
        };
        for clause in clauses {
            match clause.kind {
                // A doc string.
                FormKind::Str(_) => {}
                FormKind::Map(_) => {
                    let message = "an `ns` with attributes begins a prelude, not a program";
                    return Err(Diagnostic::error(Code::InvalidForm, clause.span, message)
                        .hint("attach one with `--prelude FILE`, then call its exports"));
                }
                FormKind::List([Form { kind: FormKind::Keyword("require"), .. }, specs @ ..]) => {
                    specs.iter().try_for_each(|spec| self.required_spec(spec))?;
                }
                _ => return Err(self.refused_clause(clause)),
            }
        }
        Ok(())
    }

    /// Handles `clojure.string` or `[clojure.string :as s :refer [join]]`.
    pub(super) fn required_spec(&mut self, spec: &Form<'a>) -> Result<(), Diagnostic> {
        let (name, options) = match spec.kind {
            FormKind::Symbol(name) => (name, &[][..]),
            FormKind::Vector([Form { kind: FormKind::Symbol(name), .. }, options @ ..])
            | FormKind::List([Form { kind: FormKind::Symbol(name), .. }, options @ ..]) => (*name, options),
            _ => return Err(malformed(spec.span, "this names no namespace")),
        };
        if !self.meter.pay(DECLARED_PART * (1 + options.len())) {
            return Ok(());
        }
        // Test files know its forms without requiring it.
        if self.expander.in_test && name == crate::testing::CLOJURE_TEST {
            return Ok(());
        }
        if namespace(name).is_none() && !self.is_attached(name) {
            return Err(self.unknown_namespace(name, spec.span));
        }
        for option in options.chunks(2) {
            match option {
                [Form { kind: FormKind::Keyword("as" | "as-alias"), .. }, alias] => {
                    let taken = |name: &&str| split_qualified(name).is_none() && !PROTECTED.contains(name);
                    let Some(alias) = alias.as_symbol().filter(taken) else {
                        return Err(malformed(alias.span, "this cannot be an alias"));
                    };
                    self.required.aliases.insert(alias, name);
                }
                [Form { kind: FormKind::Keyword("refer"), .. }, names] => self.refer(name, names)?,
                [option, ..] => {
                    return Err(malformed(option.span, "only `:as` and `:refer` are allowed here"));
                }
                [] => {}
            }
        }
        Ok(())
    }

    /// Handles `:refer [join split]`.
    fn refer(&mut self, space: &'a str, names: &Form<'a>) -> Result<(), Diagnostic> {
        let (FormKind::Vector(items) | FormKind::List(items)) = names.kind else {
            return Err(malformed(names.span, "`:refer` takes a vector of names"));
        };
        if !self.meter.pay(DECLARED_PART * items.len()) {
            return Ok(());
        }
        for item in items {
            let Some(member) = item.as_symbol().filter(|member| split_qualified(member).is_none()) else {
                return Err(malformed(item.span, "`:refer` takes a vector of names"));
            };
            let full: &str = self.arena.alloc_str(&format!("{space}/{member}"));
            let exports = self.scope.interface.as_ref();
            if qualified(space, member).is_none() && exports.is_none_or(|all| all.export(full).is_none()) {
                // The message for a call suggests the nearest name.
                let _ = self.symbol(full, item.span);
                continue;
            }
            self.required.names.insert(member, full);
        }
        Ok(())
    }

    /// Returns the full name if it goes by an alias or was referred.
    pub(super) fn in_full(&self, name: &'a str) -> Option<&'a str> {
        let Required { aliases, names } = &self.required;
        if (aliases.is_empty() && names.is_empty()) || self.binding(name).is_some() {
            return None;
        }
        match split_qualified(name) {
            Some((space, member)) => {
                let space = aliases.get(space)?;
                Some(self.arena.alloc_str(&format!("{space}/{member}")))
            }
            // Definitions of the program come first.
            None if self.defines(name) => None,
            None => names.get(name).copied(),
        }
    }

    fn defines(&self, name: &str) -> bool {
        self.scope.has_def(name)
            || self.siblings.as_ref().is_some_and(|siblings| siblings.has(name))
            || self.def_ids.get(name).is_some_and(|def| self.defs[def.0 as usize].definitions > 0)
    }

    fn is_attached(&self, name: &str) -> bool {
        self.scope.interface.as_ref().is_some_and(|interface| interface.has_namespace(name))
    }

    /// Returns the namespaces that can be required, in their usual spelling.
    fn known_namespaces(&self) -> Vec<&str> {
        let attached = self.scope.interface.iter().flat_map(|interface| interface.namespaces());
        let starts = |names: &[&str], start: &str| names.iter().any(|name| name.starts_with(start));
        let own = NAMESPACES.iter().map(|space| space.names);
        // Classes exist without being required; `clojure.math` is both.
        let own = own.filter(|names| starts(names, "clojure.") || !starts(names, "java."));
        let in_clojure = |names: &'static [&'static str]| {
            names.iter().find(|name| name.starts_with("clojure.")).copied().unwrap_or(names[0])
        };
        attached.chain(own.map(in_clojure)).collect()
    }

    #[cold]
    fn unknown_namespace(&self, name: &str, span: Span) -> Diagnostic {
        let known = self.known_namespaces();
        let list = format!("namespaces that can be required: {}", known.join(" "));
        let problem =
            Diagnostic::error(Code::InvalidForm, span, format!("there is no namespace `{name}` to require"));
        match suggest::nearest(name, known.iter().copied()) {
            Some(near) => problem.hint(format!("did you mean `{near}`? {list}")),
            None => problem.hint(list),
        }
    }

    #[cold]
    fn refused_clause(&self, clause: &Form<'a>) -> Diagnostic {
        let known = || format!("namespaces that can be required: {}", self.known_namespaces().join(" "));
        let named = match clause.kind {
            FormKind::List([Form { kind: FormKind::Keyword(name), .. }, ..]) => *name,
            _ => "",
        };
        let (message, hint) = match named {
            "use" => {
                ("`ns` has no (:use …) here", format!("write (:require [clojure.set :as set]); {}", known()))
            }
            "import" => (
                "`ns` has no (:import …) here: nothing needs to be imported",
                format!(
                    "leave it out, and write (LocalDate/parse s) or (Math/sqrt x) as they are; {}",
                    known()
                ),
            ),
            _ => (
                "`ns` takes a name and (:require …) here",
                format!("write (ns app (:require [clojure.string :as s])); {}", known()),
            ),
        };
        Diagnostic::error(Code::InvalidForm, clause.span, message).hint(hint)
    }
}

#[cold]
fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::InvalidForm, span, message)
        .hint("write (require '[clojure.string :as s]), or (ns app (:require [clojure.string :as s :refer [join]]))")
}
