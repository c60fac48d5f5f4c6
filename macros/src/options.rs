//! Options in the parentheses of the attribute.

use proc_macro2::{Ident, Span};
use syn::parse::{Parse, ParseStream};
use syn::{Error, LitStr, Result, Token};

/// Maximum length of a tool's name.
const MAX_NAME: usize = 128;

/// The options of one tool.
#[derive(Default)]
pub struct Options {
    /// Name in place of the function's.
    pub name: Option<LitStr>,
    /// Variant of `Effects` for a call.
    pub effect: Option<Ident>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let is_known = key == "name" || key == "effect";
            if !is_known {
                let message = format!(
                    "`{key}` is not an option of a tool; the options are `name = \"find-orders\"` and \
                     `effect = \"read\"`"
                );
                return Err(Error::new(key.span(), message));
            }
            input.parse::<Token![=]>()?;
            let value: LitStr = input.parse()?;
            let is_again = match key == "name" {
                true => options.name.replace(named(value)?).is_some(),
                false => options.effect.replace(effect(&value)?).is_some(),
            };
            if is_again {
                return Err(Error::new(key.span(), format!("`{key}` is given twice; keep one")));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// Checks that programs can write the name after `tool/`.
fn named(name: LitStr) -> Result<LitStr> {
    let text = name.value();
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match begins && text.len() <= MAX_NAME && text.chars().all(is_name) {
        true => Ok(name),
        false => {
            let message = "a tool's name has letters, digits, `_`, `-` and `.`, the first a letter or `_`; write e.g. `find-orders`";
            Err(Error::new(name.span(), message))
        }
    }
}

fn effect(effect: &LitStr) -> Result<Ident> {
    let variant = match effect.value().as_str() {
        "read" => "Read",
        "write" => "Write",
        _ => {
            let message = "a tool's effect is `\"read\"` or `\"write\"`; leave it out if it is not known";
            return Err(Error::new(effect.span(), message));
        }
    };
    Ok(Ident::new(variant, Span::call_site()))
}
