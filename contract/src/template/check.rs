//! Checks of a template's tags against the parameters of a signature.

use super::{Part, Tag, Template, TemplateError};
use crate::keys;
use crate::signature::{Field, Type};
use ptc_bytecode::nearest;

/// Scope of a name lookup: fields, or something that may hold anything.
enum Scope<'f> {
    Fields(&'f [Field]),
    /// An item without fields: only `{{.}}` can read it.
    Scalar,
    Unknown,
}

/// Result of resolving a name.
enum Found<'f> {
    Type(&'f Type),
    Unknown,
}

impl Template {
    /// Returns the tags that do not fit: each must name a parameter, or a part that the parameter's type
    /// has.
    ///
    /// ```
    /// use ptc_contract::{template::Template, Signature};
    /// let signature = Signature::parse("(user {name :string}, topic :string) -> :any")?;
    /// let good = Template::parse("Find emails for {{user.name}} about {{topic}}").unwrap();
    /// assert!(good.check(&signature.params).is_empty());
    /// let bad = Template::parse("About {{topik}}").unwrap();
    /// assert_eq!(bad.check(&signature.params)[0].to_string(),
    ///     "`{{topik}}` is not a parameter of the signature; did you mean `topic`? (line 1, column 7)");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn check(&self, params: &[Field]) -> Vec<TemplateError> {
        let mut errors = Vec::new();
        self.check_parts(&self.parts, &mut vec![Scope::Fields(params)], &mut errors);
        errors
    }

    /// Returns the parameters that no tag uses. A text agent never sees those.
    pub fn unused<'f>(&self, params: &'f [Field]) -> Vec<&'f str> {
        let names = self.names();
        let is_used = |field: &Field| {
            names.iter().any(|name| keys::same(name.split('.').next().unwrap_or_default(), &field.name))
        };
        params.iter().filter(|field| !is_used(field)).map(|field| &*field.name).collect()
    }

    fn check_parts<'f>(&self, parts: &[Part], scopes: &mut Vec<Scope<'f>>, errors: &mut Vec<TemplateError>) {
        for part in parts {
            match part {
                Part::Text(_) => {}
                Part::Value(tag) if tag.path.is_empty() => match scopes.last() {
                    Some(Scope::Fields(_)) if scopes.len() > 1 => errors.push(self.error(
                        tag,
                        "`{{.}}` stands for a plain item, and these items have fields: use their names",
                    )),
                    Some(Scope::Fields(_)) => {
                        errors.push(self.error(tag, "`{{.}}` is outside of any section over a list"));
                    }
                    _ => {}
                },
                Part::Value(tag) => {
                    if let Err(error) = self.resolve(tag, scopes) {
                        errors.push(error);
                    }
                }
                Part::Section { tag, is_inverted, parts } => {
                    let scope = match self.resolve(tag, scopes) {
                        Err(error) => {
                            errors.push(error);
                            Some(Scope::Unknown)
                        }
                        Ok(_) if *is_inverted => None,
                        Ok(Found::Unknown) => Some(Scope::Unknown),
                        Ok(Found::Type(ty)) => inside(ty),
                    };
                    let is_pushed = scope.is_some();
                    scopes.extend(scope);
                    self.check_parts(parts, scopes, errors);
                    if is_pushed {
                        scopes.pop();
                    }
                }
            }
        }
    }

    /// Resolves the type of a name, from the innermost scope outward.
    fn resolve<'f>(&self, tag: &Tag, scopes: &[Scope<'f>]) -> Result<Found<'f>, TemplateError> {
        let Some((first, rest)) = tag.path.split_first() else { return Ok(Found::Unknown) };
        let mut found = None;
        for scope in scopes.iter().rev() {
            match scope {
                Scope::Unknown => return Ok(Found::Unknown),
                Scope::Scalar => {}
                Scope::Fields(fields) => found = crate::signature::find(fields, first),
            }
            if found.is_some() {
                break;
            }
        }
        let Some(mut ty) = found.map(|field| &field.ty) else { return Err(self.unknown(tag, first, scopes)) };
        let mut before = first;
        for name in rest {
            match step(ty, name) {
                Ok(Found::Type(next)) => ty = next,
                Ok(Found::Unknown) => return Ok(Found::Unknown),
                Err(why) => {
                    return Err(self.error(tag, format!("`{{{{{}}}}}`: `{before}` {why}", tag.name())));
                }
            }
            before = name;
        }
        Ok(Found::Type(ty))
    }

    fn unknown(&self, tag: &Tag, name: &str, scopes: &[Scope<'_>]) -> TemplateError {
        let known = scopes.iter().flat_map(|scope| match scope {
            Scope::Fields(fields) => *fields,
            _ => &[],
        });
        let hint = nearest(name, known.map(|field| &*field.name));
        let hint = hint.map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
        let what = if scopes.len() > 1 {
            "a field of the items, nor a parameter"
        } else {
            "a parameter of the signature"
        };
        self.error(tag, format!("`{{{{{}}}}}` is not {what}{hint}", tag.name()))
    }
}

/// Returns the scope inside a section over a value of this type; None if it opens none.
fn inside(ty: &Type) -> Option<Scope<'_>> {
    match ty.required() {
        Type::List(item) => Some(match item.required() {
            Type::Record { fields, .. } if !fields.is_empty() => Scope::Fields(fields),
            Type::Any | Type::Map | Type::Record { .. } | Type::Or(_) => Scope::Unknown,
            _ => Scope::Scalar,
        }),
        Type::Record { fields, .. } if !fields.is_empty() => Some(Scope::Fields(fields)),
        Type::And(inner, _) => inside(inner),
        Type::Any | Type::Map | Type::Record { .. } | Type::Or(_) => Some(Scope::Unknown),
        _ => None,
    }
}

/// Returns the type of a field of a value of this type, or the reason why it has none.
fn step<'f>(ty: &'f Type, name: &str) -> Result<Found<'f>, String> {
    match ty.required() {
        Type::Record { fields, .. } if !fields.is_empty() => match ty.field(name) {
            Some(field) => Ok(Found::Type(&field.ty)),
            None => {
                let hint = nearest(name, fields.iter().map(|field| &*field.name));
                Err(format!(
                    "has no field `{name}`{}",
                    hint.map_or(String::new(), |h| format!("; did you mean `{h}`?"))
                ))
            }
        },
        Type::Any | Type::Map | Type::Record { .. } | Type::Or(_) => Ok(Found::Unknown),
        Type::And(inner, _) => step(inner, name),
        Type::List(_) => Err(format!("is a list: go over it with `{{{{#…}}}}` to reach `{name}`")),
        other => Err(format!("is `{other}`, which has no field `{name}`")),
    }
}
