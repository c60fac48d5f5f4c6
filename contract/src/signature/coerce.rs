//! Coercion of inputs: models quote numbers and write keywords for text. Changes are reported as warnings, values that
//! cannot be changed as errors.

use super::check::{Check, MAX_ERRORS, index, instant, is_keyword_name, is_literal};
use super::types::{Field, Literal, Type};
use super::{Segment, ValidationError};
use crate::data::{Tree, View};
use crate::keys::normalize_key;
use ptc_bytecode::text::{write_day, write_instant};
use ptc_bytecode::{Datum, Node};
use std::collections::HashMap;

/// Result of coercing a value.
pub(super) struct Coercion {
    pub datum: Datum,
    pub warnings: Vec<String>,
    pub errors: Vec<ValidationError>,
}

pub(super) fn coerce(ty: &Type, value: &Datum, strict: bool) -> Coercion {
    let tree = Tree::new(value);
    let mut work = Work {
        check: Check::new(strict),
        warnings: Vec::new(),
        out: Vec::with_capacity(value.nodes().len()),
        veiled: Vec::new(),
    };
    work.value(ty, tree.root());
    let datum = Datum::new(work.out).map(|datum| datum.with_veiled(work.veiled));
    let datum = datum.unwrap_or_else(|| value.clone());
    Coercion { datum, warnings: work.warnings, errors: work.check.errors }
}

struct Work {
    check: Check,
    warnings: Vec<String>,
    /// Nodes of the result, children before their collection.
    out: Vec<Node>,
    /// Indexes in `out` where firewalled parts end.
    veiled: Vec<u32>,
}

impl Work {
    /// Writes one value, coerced where needed. Recurses as deep as the type.
    fn value(&mut self, ty: &Type, view: View<'_>) {
        self.write(ty, view);
        // Coercion keeps the mark of a firewalled value.
        self.veiled.extend(view.is_marked().then(|| self.out.len().saturating_sub(1) as u32));
    }

    /// Copies one value unchanged.
    fn copy(&mut self, view: View<'_>) {
        self.veiled.extend(view.marks_below(self.out.len()));
        self.out.extend_from_slice(view.nodes());
    }

    fn write(&mut self, ty: &Type, view: View<'_>) {
        match (ty, view.node()) {
            (Type::Optional(_), Node::Nil) => self.out.push(Node::Nil),
            (Type::Optional(inner), _) => self.value(inner, view),
            (Type::List(item), Node::Vector(count)) => {
                for (i, child) in view.items().into_iter().enumerate() {
                    self.check.path.0.push(Segment::Index(i));
                    self.value(item, child);
                    self.check.path.0.pop();
                }
                self.out.push(Node::Vector(*count));
            }
            (Type::Record { fields, .. }, Node::Map(count)) => self.record(ty, fields, *count, view),
            (Type::Or(types), _) => self.choice(ty, types, view),
            (Type::And(inner, _), _) => {
                let start = self.out.len();
                let errors = self.check.errors.len();
                self.value(inner, view);
                if self.check.errors.len() == errors && self.out.len() == start + 1 {
                    // Conditions apply to the coerced scalar.
                    let marks = if view.is_veiled() { vec![0] } else { Vec::new() };
                    let became = Datum::scalar(self.out[start].clone()).with_veiled(marks);
                    self.check.value(ty, Tree::new(&became).root());
                } else if self.check.errors.len() == errors {
                    self.check.value(ty, view);
                }
            }
            (ty, node) => match changed(ty, node) {
                Some((node, warn)) => {
                    if warn {
                        self.warn(ty, view);
                    }
                    self.out.push(node);
                }
                None => {
                    self.check.value(ty, view);
                    self.copy(view);
                }
            },
        }
    }

    fn record(&mut self, ty: &Type, fields: &[Field], count: u32, view: View<'_>) {
        let known = index(view);
        let mut declared: HashMap<usize, &Field> = HashMap::new();
        for field in fields {
            match known.get(&normalize_key(&field.name)) {
                Some((key, _)) => {
                    declared.insert(key.index(), field);
                }
                None if field.ty.is_optional() => {}
                None if self.check.errors.len() < MAX_ERRORS => {
                    self.check.path.0.push(Segment::Key(field.name.clone()));
                    self.check.missing(&field.ty);
                    self.check.path.0.pop();
                }
                None => {}
            }
        }
        for (key, value) in view.entries() {
            self.copy(key);
            match declared.get(&key.index()) {
                Some(field) => {
                    self.check.path.0.push(Segment::Key(field.name.clone()));
                    self.value(&field.ty, value);
                    self.check.path.0.pop();
                }
                // Undeclared keys are kept.
                None => self.copy(value),
            }
        }
        self.out.push(Node::Map(count));
        // Excess fields are left to the checker, which need not look inside the values again.
        let names: Vec<Field> =
            fields.iter().map(|field| Field::new(&*field.name, Type::optional(Type::Any))).collect();
        let closed = matches!(ty, Type::Record { closed: true, .. });
        self.check.value(&Type::Record { fields: names, closed }, view);
    }

    /// Writes a value as the first alternative that fits as it is, or else the first that it can be coerced to.
    fn choice(&mut self, ty: &Type, types: &[Type], view: View<'_>) {
        if types.iter().any(|one| self.check.fits(one, view)) {
            return self.copy(view);
        }
        let start = self.out.len();
        let warnings = self.warnings.len();
        for one in types {
            let before = std::mem::take(&mut self.check.errors);
            self.value(one, view);
            if std::mem::replace(&mut self.check.errors, before).is_empty() {
                return;
            }
            self.out.truncate(start);
            self.veiled.retain(|place| (*place as usize) < start);
            self.warnings.truncate(warnings);
        }
        if self.check.errors.len() < MAX_ERRORS {
            self.check.wrong(ty, view);
        }
        self.copy(view);
    }

    fn warn(&mut self, ty: &Type, view: View<'_>) {
        if self.warnings.len() >= MAX_ERRORS {
            return;
        }
        let got = self.check.got(view);
        let to = super::check::expected(ty);
        let to = if matches!(ty, Type::Enum(_)) { "a value of the enum" } else { &to };
        let at = &self.check.path;
        self.warnings.push(if at.is_root() {
            format!("coerced {got} to {to}")
        } else {
            format!("{at}: coerced {got} to {to}")
        });
    }
}

/// Returns the coerced form of a scalar and whether that deserves a warning; None if it stays as it is.
fn changed(ty: &Type, node: &Node) -> Option<(Node, bool)> {
    match (ty, node) {
        (Type::Int, Node::Str(text)) => integer(text).map(|node| (node, true)),
        (Type::Float, Node::Str(text)) => float(text).map(|x| (Node::Float(x), true)),
        (Type::Float, Node::Int(n)) => Some((Node::Float(*n as f64), false)),
        (Type::Bool, Node::Str(text)) => match &**text {
            "true" => Some((Node::Bool(true), true)),
            "false" => Some((Node::Bool(false), true)),
            _ => None,
        },
        (Type::String, Node::Keyword(name)) => Some((Node::Str(name.clone()), true)),
        (Type::String, Node::Day(day)) => {
            let mut text = String::new();
            write_day(i64::from(*day), &mut text);
            Some((Node::Str(text.into()), true))
        }
        (Type::String, Node::Instant(micros)) => {
            let mut text = String::new();
            write_instant(*micros, &mut text);
            Some((Node::Str(text.into()), true))
        }
        (Type::Keyword, Node::Str(name)) if is_keyword_name(name) => {
            Some((Node::Keyword(name.clone()), true))
        }
        (Type::DateTime, Node::Str(text)) => {
            instant(text).map(|(micros, is_shifted)| (Node::Instant(micros), is_shifted))
        }
        (Type::Enum(values), node) => {
            // Keywords for text, and text for keywords, are a matter of notation, not a mistake.
            let value = values.iter().find(|value| is_literal(value, node))?;
            match (value, node) {
                (Literal::Str(text), Node::Keyword(_)) => Some((Node::Str(text.as_str().into()), false)),
                (Literal::Keyword(name), Node::Str(_)) => Some((Node::Keyword(name.as_str().into()), false)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn integer(text: &str) -> Option<Node> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if let Ok(n) = text.parse() {
        return Some(Node::Int(n));
    }
    let digits = digits.trim_start_matches('0');
    // Digits of the longest number that a program may write.
    (digits.len() <= 100).then(|| {
        let sign = if text.starts_with('-') { "-" } else { "" };
        Node::Big(format!("{sign}{digits}").into())
    })
}

fn float(text: &str) -> Option<f64> {
    let is_plain = text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E'));
    is_plain.then(|| text.parse().ok()).flatten().filter(|x: &f64| x.is_finite())
}
