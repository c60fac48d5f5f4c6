//! Signatures as text.

use super::parse::{NAMES, is_name};
use super::types::{Field, Literal, Num, Pred, Type};
use super::{Signature, lex};
use crate::{firewall, keys};
use ptc_bytecode::text::write_quoted;
use std::fmt::{self, Display, Write};

/// Spelling of names in rendered signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Names as declared; the text reads back as the same signature.
    Canonical,
    /// `-` for `_`, as programs write keys; a leading `_` stays.
    Kebab,
    /// Names as declared, without firewalled fields: the view of a result that callers get.
    Public,
}

impl Signature {
    /// Renders the signature as text.
    ///
    /// ```
    /// use ptc_contract::signature::{Signature, Style};
    /// let signature = Signature::parse("(user_id :int) -> {order_count :int, _ids [:int]}")?;
    /// assert_eq!(signature.render(Style::Kebab), "(user-id :int) -> {order-count :int, _ids [:int]}");
    /// assert_eq!(signature.render(Style::Public), "(user_id :int) -> {order_count :int}");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn render(&self, style: Style) -> String {
        let mut out = String::from("(");
        // Callers must pass firewalled parameters, so these are always shown.
        let for_params = if style == Style::Public { Style::Canonical } else { style };
        fields(&self.params, for_params, &mut out);
        out.push_str(") -> ");
        ty(&self.returns, style, &mut out);
        out
    }

    /// Returns the firewalled fields of the result, such as `_email_ids [:int]`, with a path inside records. The second
    /// line of a tool's entry names them.
    pub fn firewalled(&self) -> Vec<String> {
        let mut found = Vec::new();
        firewalled(&self.returns, "", &mut found);
        found
    }
}

impl Type {
    /// Renders the type as text.
    pub fn render(&self, style: Style) -> String {
        let mut out = String::new();
        ty(self, style, &mut out);
        out
    }
}

impl Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Canonical))
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Canonical))
    }
}

fn firewalled(ty: &Type, inside: &str, found: &mut Vec<String>) {
    match ty {
        Type::Record { fields, .. } => {
            for field in fields {
                let path = format!("{inside}{}", field.name);
                if firewall::is_firewalled(&field.name) {
                    found.push(format!("{path} {}", field.ty));
                } else {
                    firewalled(&field.ty, &format!("{path}."), found);
                }
            }
        }
        Type::List(inner) => firewalled(inner, &format!("{}[].", inside.trim_end_matches('.')), found),
        Type::Optional(inner) | Type::And(inner, _) => firewalled(inner, inside, found),
        Type::Or(types) => types.iter().for_each(|ty| firewalled(ty, inside, found)),
        _ => {}
    }
}

fn fields(all: &[Field], style: Style, out: &mut String) {
    let mut first = true;
    for field in all {
        if style == Style::Public && firewall::is_firewalled(&field.name) {
            continue;
        }
        if !std::mem::take(&mut first) {
            out.push_str(", ");
        }
        match style {
            Style::Kebab => name(&keys::kebab_key(&field.name), out),
            _ => name(&field.name, out),
        }
        out.push(' ');
        ty(&field.ty, style, out);
    }
}

fn name(text: &str, out: &mut String) {
    if is_name(text) { out.push_str(text) } else { write_quoted(text, out) }
}

fn ty(this: &Type, style: Style, out: &mut String) {
    match this {
        Type::List(item) => {
            out.push('[');
            ty(item, style, out);
            out.push(']');
        }
        Type::Record { fields: all, .. } => {
            out.push('{');
            fields(all, style, out);
            out.push('}');
        }
        Type::Optional(inner) => {
            // Behind the last alternative of a choice, `?` applies to the whole choice.
            ty(inner, style, out);
            out.push('?');
        }
        Type::Or(types) => {
            for (i, one) in types.iter().enumerate() {
                if i > 0 {
                    out.push('|');
                }
                ty(one, style, out);
            }
        }
        Type::Enum(values) => {
            out.push_str(":enum[");
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                literal(value, out);
            }
            out.push(']');
        }
        Type::And(inner, preds) => {
            ty(inner, style, out);
            out.push('[');
            conditions(preds, out);
            out.push(']');
        }
        simple => {
            let name = NAMES.iter().find(|(_, known)| known == simple).map_or("any", |(name, _)| name);
            out.push(':');
            out.push_str(name);
        }
    }
}

pub(super) fn literal(value: &Literal, out: &mut String) {
    match value {
        Literal::Nil => out.push_str("nil"),
        Literal::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Literal::Num(number) => number.write(out),
        Literal::Keyword(name) => {
            out.push(':');
            out.push_str(name);
        }
        Literal::Str(text) => {
            let is_word = !matches!(&**text, "nil" | "true" | "false") && lex::is_word(text);
            if is_word { out.push_str(text) } else { write_quoted(text, out) }
        }
    }
}

fn conditions(preds: &[Pred], out: &mut String) {
    let mut rest = preds;
    while let Some((first, after)) = rest.split_first() {
        if rest.len() < preds.len() {
            out.push(' ');
        }
        rest = match (first, after.first()) {
            (Pred::Ge(low), Some(Pred::Le(high))) if low.get() <= high.get() => {
                low.write(out);
                out.push_str("..");
                high.write(out);
                &after[1..]
            }
            (Pred::Min(low), Some(Pred::Max(high))) if low <= high => {
                let _ = write!(out, "{low}..{high}");
                &after[1..]
            }
            _ => {
                let _ = write!(out, "{first}");
                after
            }
        };
    }
}

impl Num {
    /// Writes the number so that the parser reads it back unchanged.
    pub(super) fn write(self, out: &mut String) {
        let _ = match self {
            Num::Int(n) => write!(out, "{n}"),
            Num::Float(x) => write!(out, "{x:?}"),
        };
    }
}

impl Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

impl Display for Pred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pred::Gt(n) => write!(f, ">{n}"),
            Pred::Ge(n) => write!(f, ">={n}"),
            Pred::Lt(n) => write!(f, "<{n}"),
            Pred::Le(n) => write!(f, "<={n}"),
            Pred::Min(n) => write!(f, "min {n}"),
            Pred::Max(n) => write!(f, "max {n}"),
            Pred::Re(source) => {
                let mut out = String::new();
                write_quoted(source, &mut out);
                write!(f, "re {out}")
            }
        }
    }
}
