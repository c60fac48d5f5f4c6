//! Checks of values against types. A *misfit* is a place where a value does not fit its type. Nothing is coerced
//! here.

use super::parse::pattern;
use super::types::{Field, Literal, Num, Pred, Type};
use super::{Path, Segment, Signature, ValidationError};
use crate::data::{Shown, Tree, View, show};
use crate::firewall::FIREWALLED;
use crate::keys::normalize_key;
use ptc_bytecode::calendar::read_instant;
use ptc_bytecode::{Datum, Node};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum number of errors kept; the first ones tell enough of a list with a million wrong rows.
pub(super) const MAX_ERRORS: usize = 20;

impl Signature {
    /// Checks a result and returns the misfits. Extra fields are allowed.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// use ptc_runtime::bridge::json_to_datum;
    /// use serde_json::json;
    /// let signature = Signature::parse("{count :int, items [:string]}")?;
    /// assert!(signature.validate(&json_to_datum(&json!({"count": 1, "items": ["a"], "more": true}))?).is_empty());
    /// let errors = signature.validate(&json_to_datum(&json!({"count": "1"}))?);
    /// let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    /// assert_eq!(lines, [r#"count: expected int, got string "1""#, "items: expected list, got nil"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate(&self, value: &Datum) -> Vec<ValidationError> {
        self.returns.check(value, false)
    }

    /// Checks arguments and returns the misfits. Nothing is coerced.
    pub fn validate_input(&self, args: &Datum) -> Vec<ValidationError> {
        self.params_type().check(args, false)
    }
}

impl Type {
    /// Checks a value and returns the misfits; `strict` refuses undeclared fields.
    pub fn check(&self, value: &Datum, strict: bool) -> Vec<ValidationError> {
        let tree = Tree::new(value);
        let mut check = Check::new(strict);
        check.value(self, tree.root());
        check.errors
    }
}

pub(super) struct Check {
    pub strict: bool,
    pub errors: Vec<ValidationError>,
    pub path: Path,
    /// Compiled patterns, so that a list of a million texts compiles its pattern once.
    patterns: HashMap<String, Option<regex::Regex>>,
}

impl Check {
    pub fn new(strict: bool) -> Check {
        Check { strict, errors: Vec::new(), path: Path::default(), patterns: HashMap::new() }
    }

    /// Returns whether `view` fits `ty`, without leaving errors behind.
    pub fn fits(&mut self, ty: &Type, view: View<'_>) -> bool {
        let before = std::mem::take(&mut self.errors);
        self.value(ty, view);
        std::mem::replace(&mut self.errors, before).is_empty()
    }

    /// Checks one value. Recurses as deep as the type, not as deep as the data.
    pub fn value(&mut self, ty: &Type, view: View<'_>) {
        if self.errors.len() >= MAX_ERRORS {
            return;
        }
        let fits = match (ty, view.node()) {
            (Type::Any, _) => true,
            (Type::Optional(_), Node::Nil) => true,
            (Type::Optional(inner), _) => return self.value(inner, view),
            (Type::List(item), Node::Vector(_)) => return self.items(item, view),
            (Type::Record { fields, closed }, Node::Map(_)) => return self.fields(fields, *closed, view),
            (Type::Or(types), _) => types.iter().any(|ty| self.fits(ty, view)),
            (Type::And(inner, preds), _) => {
                let before = self.errors.len();
                self.value(inner, view);
                let is_base = self.errors.len() == before;
                if is_base && !preds.iter().all(|pred| self.meets(pred, view)) {
                    self.wrong(ty, view);
                }
                return;
            }
            (ty, node) => is_scalar(ty, node),
        };
        if !fits {
            self.wrong(ty, view);
        }
    }

    fn items(&mut self, item: &Type, view: View<'_>) {
        for (i, child) in view.items().into_iter().enumerate() {
            self.path.0.push(Segment::Index(i));
            self.value(item, child);
            self.path.0.pop();
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
        }
    }

    fn fields(&mut self, fields: &[Field], closed: bool, view: View<'_>) {
        let known = index(view);
        for field in fields {
            let key = Segment::Key(field.name.clone());
            self.path.0.push(key);
            match known.get(&normalize_key(&field.name)) {
                Some((_, value)) => self.value(&field.ty, *value),
                None if field.ty.is_optional() => {}
                None => self.missing(&field.ty),
            }
            self.path.0.pop();
        }
        if self.strict || closed {
            let declared: HashMap<Cow<'_, str>, ()> =
                fields.iter().map(|field| (normalize_key(&field.name), ())).collect();
            for (key, _) in view.entries() {
                if key.name().is_some_and(|name| declared.contains_key(&normalize_key(name))) {
                    continue;
                }
                let is_secret = key.is_veiled() || self.path.is_firewalled();
                let name = match key.name() {
                    _ if is_secret => FIREWALLED.to_string(),
                    Some(name) => name.to_string(),
                    None => brief(key),
                };
                self.path.0.push(Segment::Key(name));
                let error = ValidationError::saying(&self.path, "is not a field of the signature");
                self.path.0.pop();
                if self.errors.len() >= MAX_ERRORS {
                    return;
                }
                self.errors.push(error);
            }
        }
    }

    pub fn missing(&mut self, ty: &Type) {
        if matches!(ty, Type::Any | Type::Nil) {
            // Nil is a value of these types, so the field may be absent.
            return;
        }
        let error = ValidationError::new(&self.path, expected(ty), "nil");
        self.errors.push(error);
    }

    pub fn wrong(&mut self, ty: &Type, view: View<'_>) {
        let error = ValidationError::new(&self.path, expected(ty), self.got(view));
        self.errors.push(error);
    }

    fn meets(&mut self, pred: &Pred, view: View<'_>) -> bool {
        let ordered = |bound: &Num, wanted: fn(std::cmp::Ordering) -> bool| {
            compare(view.node(), *bound).is_some_and(wanted)
        };
        let length = || match view.node() {
            Node::Str(text) | Node::Keyword(text) => text.chars().count() as u64,
            _ => view.len() as u64,
        };
        match pred {
            Pred::Gt(bound) => ordered(bound, std::cmp::Ordering::is_gt),
            Pred::Ge(bound) => ordered(bound, std::cmp::Ordering::is_ge),
            Pred::Lt(bound) => ordered(bound, std::cmp::Ordering::is_lt),
            Pred::Le(bound) => ordered(bound, std::cmp::Ordering::is_le),
            Pred::Min(least) => length() >= *least,
            Pred::Max(most) => length() <= *most,
            Pred::Re(source) => match view.node() {
                Node::Str(text) | Node::Keyword(text) => {
                    if !self.patterns.contains_key(source) {
                        self.patterns.insert(source.clone(), pattern(source).ok());
                    }
                    self.patterns[source].as_ref().is_some_and(|regex| regex.is_match(text))
                }
                _ => false,
            },
        }
    }

    /// Describes the value found. Values of firewalled fields stay out of every message.
    pub fn got(&self, view: View<'_>) -> String {
        match view.node() {
            Node::Nil => "nil".to_string(),
            Node::Vector(_) | Node::Map(_) | Node::Set(_) | Node::Opaque(_) => view.kind().to_string(),
            _ if self.path.is_firewalled() || view.is_veiled() => format!("{} {FIREWALLED}", view.kind()),
            _ => format!("{} {}", view.kind(), brief(view)),
        }
    }
}

fn brief(view: View<'_>) -> String {
    show(view, Shown { string: 60, chars: 80, depth: 2, items: 5 })
}

/// Indexes the entries of a map by their normalised names. An exactly spelled entry wins over an equivalent one.
pub(super) fn index<'t>(view: View<'t>) -> HashMap<Cow<'t, str>, (View<'t>, View<'t>)> {
    let mut known: HashMap<Cow<'t, str>, (View<'t>, View<'t>)> = HashMap::new();
    for (key, value) in view.entries() {
        let Some(name) = key.name() else { continue };
        let plain = normalize_key(name);
        if matches!(plain, Cow::Borrowed(_)) || !known.contains_key(&plain) {
            known.insert(plain, (key, value));
        }
    }
    known
}

/// Returns whether a scalar has a type that has no parts.
fn is_scalar(ty: &Type, node: &Node) -> bool {
    match (ty, node) {
        (Type::String, Node::Str(_)) => true,
        (Type::Int, Node::Int(_) | Node::Big(_)) => true,
        (Type::Float, Node::Float(_) | Node::Int(_) | Node::Big(_)) => true,
        (Type::Bool, Node::Bool(_)) => true,
        (Type::Keyword, Node::Keyword(_)) => true,
        (Type::Keyword, Node::Str(name)) => is_keyword_name(name),
        (Type::Map, Node::Map(_)) => true,
        (Type::DateTime, Node::Instant(_)) => true,
        (Type::DateTime, Node::Str(text)) => instant(text).is_some(),
        (Type::Nil, Node::Nil) => true,
        (Type::Enum(values), node) => values.iter().any(|value| is_literal(value, node)),
        _ => false,
    }
}

/// Returns whether a text could follow the colon of a keyword.
pub(super) fn is_keyword_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == ':')
        && name.chars().all(|c| c.is_alphanumeric() || "_-+*/!?<>=.&%$#'".contains(c))
}

/// Reads a point in time from text with an offset; the flag says that the offset is not zero.
pub(super) fn instant(text: &str) -> Option<(i64, bool)> {
    let (_, time) = text.split_once(['T', 't', ' '])?;
    let offset = time.rfind(['Z', 'z', '+', '-']).map(|at| &time[at..])?;
    let is_shifted = offset.bytes().any(|b| (b'1'..=b'9').contains(&b));
    read_instant(text).map(|micros| (micros, is_shifted))
}

pub(super) fn is_literal(literal: &Literal, node: &Node) -> bool {
    match (literal, node) {
        (Literal::Nil, Node::Nil) => true,
        (Literal::Bool(a), Node::Bool(b)) => a == b,
        (Literal::Num(Num::Int(a)), Node::Int(b)) => a == b,
        (Literal::Num(a), Node::Int(b)) => a.get() == *b as f64,
        (Literal::Num(a), Node::Float(b)) => a.get() == *b,
        (Literal::Str(a) | Literal::Keyword(a), Node::Str(b) | Node::Keyword(b)) => **a == **b,
        _ => false,
    }
}

fn compare(node: &Node, bound: Num) -> Option<std::cmp::Ordering> {
    match (node, bound) {
        (Node::Int(a), Num::Int(b)) => Some(a.cmp(&b)),
        (Node::Int(a), Num::Float(b)) => (*a as f64).partial_cmp(&b),
        (Node::Float(a), b) => a.partial_cmp(&b.get()),
        // Integers beyond 64 bits are beyond every bound on their side.
        (Node::Big(digits), _) if digits.starts_with('-') => Some(std::cmp::Ordering::Less),
        (Node::Big(_), _) => Some(std::cmp::Ordering::Greater),
        _ => None,
    }
}

/// Returns a type in the words of messages.
pub(super) fn expected(ty: &Type) -> String {
    match ty {
        Type::List(_) => "list".to_string(),
        Type::Record { .. } => "map".to_string(),
        Type::Optional(inner) => expected(inner),
        Type::Enum(values) => {
            let mut shown: Vec<String> = values.iter().take(12).map(literal_text).collect();
            if values.len() > shown.len() {
                shown.push(format!("…(+{})", values.len() - shown.len()));
            }
            format!("one of {}", shown.join(" "))
        }
        Type::Or(types) => {
            let mut names: Vec<String> = types.iter().take(12).map(expected).collect();
            names.dedup();
            names.join(" or ")
        }
        Type::And(inner, preds) => {
            let preds: Vec<String> = preds.iter().map(ToString::to_string).collect();
            format!("{} {}", expected(inner), preds.join(" "))
        }
        simple => simple.to_string().trim_start_matches(':').to_string(),
    }
}

fn literal_text(literal: &Literal) -> String {
    let mut out = String::new();
    super::render::literal(literal, &mut out);
    out
}
