//! Exports of preludes as tools of models that call tools themselves.
//!
//! Exports have positional parameters and models pass named arguments, so each parameter becomes a property of the
//! schema, and a call becomes the program that an agent would have written: `(crm/find id)`.

use super::native::parameter_name;
use ptc_bytecode::{Datum, ExportRecord, Node};
use ptc_contract::data::Tree;
use ptc_contract::keys::same;
use ptc_contract::signature::{Field, Signature, Type};

/// A prelude's export as a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportTool {
    reference: String,
    /// Call forms for people: `(find id)`.
    signatures: String,
    /// Arities, those with the most parameters first.
    arities: Vec<Arity>,
}

/// Parameters of one arity, by the names that a model gives them.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Arity {
    fixed: Vec<String>,
    /// Parameter that takes a list of all further arguments.
    rest: Option<String>,
}

/// A program that calls an export, with its definitions: names, their parameters, values.
pub(crate) struct ExportProgram {
    pub source: String,
    pub definitions: Vec<(String, String, Datum)>,
}

impl ExportTool {
    pub(super) fn new(export: &ExportRecord) -> ExportTool {
        let mut arities: Vec<Arity> = export.params.iter().map(|params| Arity::new(params)).collect();
        arities.sort_by_key(|arity| std::cmp::Reverse(arity.fixed.len()));
        let signatures = export.signatures();
        ExportTool { reference: export.reference(), signatures: signatures.join(" or "), arities }
    }

    /// Returns the name as programs write it: `ns/name`.
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// Returns whether the export has several arities.
    pub(super) fn has_arities(&self) -> bool {
        self.arities.len() > 1
    }

    /// Returns the call forms: `(find id)`, joined with `or` if there are several.
    pub(crate) fn signatures(&self) -> &str {
        &self.signatures
    }

    /// Returns a signature with the parameters of all arities; those that some arity lacks are optional.
    pub(super) fn signature(&self) -> Signature {
        let mut names: Vec<&String> = Vec::new();
        for arity in self.arities.iter().rev() {
            for name in arity.names() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let is_needed = |name: &String| self.arities.iter().all(|arity| arity.fixed.contains(name));
        let is_rest = |name: &String| self.arities.iter().any(|arity| arity.rest.as_ref() == Some(name));
        let field = |name: &String| {
            let ty = if is_rest(name) { Type::List(Box::new(Type::Any)) } else { Type::Any };
            Field::new(name, if is_needed(name) { ty } else { Type::Optional(Box::new(ty)) })
        };
        Signature { params: names.into_iter().map(field).collect(), returns: Type::Any }
    }

    /// Returns the program of a call with these arguments. The error states the expected arguments.
    pub(crate) fn program(&self, args: &Datum) -> Result<ExportProgram, String> {
        let tree = Tree::new(args);
        let given = tree.root().entries();
        let names: Vec<&str> = given.iter().filter_map(|(key, _)| key.name()).collect();
        let Some(arity) = self.arities.iter().find(|arity| arity.takes(&names)) else {
            let names = if names.is_empty() { "nothing".to_string() } else { names.join(", ") };
            return Err(format!(
                "`{}` is called as {}, and was given {names}",
                self.reference, self.signatures
            ));
        };
        let value = |name: &String| {
            let found = given.iter().find(|(key, _)| key.name().is_some_and(|key| same(key, name)));
            found.map(|(_, value)| value.datum())
        };
        let mut definitions = Vec::new();
        let mut source = String::new();
        for name in arity.names() {
            let value = value(name);
            let is_rest = arity.rest.as_ref() == Some(name);
            let value = match value {
                Some(list)
                    if is_rest && !matches!(list.nodes().last(), Some(Node::Vector(_) | Node::Nil)) =>
                {
                    return Err(format!("`{name}` of `{}` takes a list", self.reference));
                }
                None if is_rest => continue,
                value => value.unwrap_or_else(|| Datum::scalar(Node::Nil)),
            };
            let defined = format!("argument-{}", definitions.len() + 1);
            source.push(' ');
            source.push_str(&defined);
            definitions.push((defined, name.clone(), value));
        }
        let has_rest = definitions.len() > arity.fixed.len();
        let source = match has_rest {
            true => format!("(apply {}{source})", self.reference),
            false => format!("({}{source})", self.reference),
        };
        Ok(ExportProgram { source, definitions })
    }
}

impl Arity {
    /// Returns an arity. Names that tell a model nothing, such as a repeated `_`, become `arg1`, `arg2`, by position.
    fn new(params: &[String]) -> Arity {
        let (fixed, rest) = match params.iter().position(|name| name == "&") {
            Some(at) => (&params[..at], params.get(at + 1)),
            None => (params, None),
        };
        let mut names: Vec<String> = Vec::new();
        for (i, name) in fixed.iter().chain(rest).enumerate() {
            let wanted = parameter_name(name).filter(|name| !names.contains(name));
            let by_place = || (i + 1..).map(|n| format!("arg{n}")).find(|name| !names.contains(name));
            names.push(wanted.or_else(by_place).unwrap_or_default());
        }
        let rest = rest.and_then(|_| names.pop());
        Arity { fixed: names, rest }
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.fixed.iter().chain(&self.rest)
    }

    /// Returns whether these are the arity's arguments: all that it needs, and no others.
    fn takes(&self, given: &[&str]) -> bool {
        self.fixed.iter().all(|name| given.iter().any(|given| same(given, name)))
            && given.iter().all(|given| self.names().any(|name| same(given, name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::{Prelude, Runtime};
    use serde_json::{Value, json};

    fn export(source: &str) -> ExportTool {
        let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
        let prelude = Prelude::compile(&runtime, &format!("(ns a) {source}")).unwrap();
        ExportTool::new(&prelude.exports()[0])
    }

    fn call(export: &ExportTool, args: Value) -> Result<String, String> {
        let args = ptc_runtime::bridge::json_to_datum(&args).unwrap();
        export.program(&args).map(|made| {
            let names: Vec<String> = made.definitions.into_iter().map(|(_, name, _)| name).collect();
            format!("{} {}", made.source, names.join(" "))
        })
    }

    #[test]
    fn arguments_by_name_choose_the_arity() {
        let find = export("(defn find ([id] id) ([id opts] opts) ([id opts & more-ids] more-ids))");
        assert_eq!(find.signature().to_string(), "(id :any, opts :any?, more_ids [:any]?) -> :any");
        assert_eq!(call(&find, json!({"id": 1})).unwrap(), "(a/find argument-1) id");
        let two = "(a/find argument-1 argument-2) id opts";
        assert_eq!(call(&find, json!({"opts": null, "id": 1})).unwrap(), two);
        let all = "(apply a/find argument-1 argument-2 argument-3) id opts more_ids";
        assert_eq!(call(&find, json!({"more-ids": [3], "opts": 2, "id": 1})).unwrap(), all);
        for (wrong, told) in [
            (
                json!({}),
                "`a/find` is called as (find id) or (find id opts) or (find id opts & more-ids), and was given nothing",
            ),
            (json!({"id": 1, "ops": 2}), "and was given id, ops"),
            (json!({"id": 1, "opts": 2, "more_ids": 3}), "`more_ids` of `a/find` takes a list"),
        ] {
            let error = call(&find, wrong).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn parameters_have_names_that_providers_take() {
        let odd = export("(defn f [user-id is-new? _ _ {:keys [a]} arg5] 1)");
        assert_eq!(
            odd.signature().to_string(),
            "(user_id :any, is_new_ :any, _ :any, arg4 :any, arg5 :any, arg6 :any) -> :any"
        );
        assert_eq!(call(&export("(defn f [] 1)"), json!({})).unwrap(), "(a/f) ");
    }
}
