//! Parsing of functions into tools: parameters, results, and refusals.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Pat, ReceiverKind, Result, ReturnType, Safety,
    Type,
};

/// A parameter, as a field of the struct of arguments.
pub struct Parameter {
    /// Doc comments, and attributes of `serde` and `schemars`.
    pub attributes: Vec<Attribute>,
    pub name: Ident,
    pub ty: Type,
}

/// A function that can be a tool.
pub struct Function {
    /// Text of the doc comments.
    pub description: String,
    pub parameters: Vec<Parameter>,
    /// Flag: the function is a method with `&self`.
    pub is_method: bool,
    /// Flag: the function returns a `Result`.
    pub is_fallible: bool,
}

impl Function {
    /// Reads a function, and removes the attributes of its parameters, which only the tool may have.
    pub fn take(item: &mut ItemFn) -> Result<Function> {
        refuse(item)?;
        let mut function = Function {
            description: description(&item.attrs),
            parameters: Vec::new(),
            is_method: false,
            is_fallible: is_result(&item.sig.output),
        };
        for input in &mut item.sig.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    if !matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) {
                        let message = "calls of a tool may run side by side, so a method takes `&self`; put what changes into a `Mutex`";
                        return Err(Error::new(receiver.span(), message));
                    }
                    function.is_method = true;
                }
                FnArg::Typed(typed) => {
                    let Pat::Ident(pattern) = &*typed.pat else {
                        let message = "an argument of a tool needs a name; write e.g. `order: Order`, and take it apart in the body";
                        return Err(Error::new(typed.pat.span(), message));
                    };
                    owned(&typed.ty)?;
                    let name = pattern.ident.clone();
                    let (told, kept) = typed.attrs.drain(..).partition(is_told);
                    typed.attrs = kept;
                    function.parameters.push(Parameter { attributes: told, name, ty: (*typed.ty).clone() });
                }
            }
        }
        Ok(function)
    }
}

/// Returns the name of a function without `r#`.
pub fn plain_name(name: &Ident) -> String {
    name.unraw().to_string()
}

/// Refuses functions that no program can call.
fn refuse(item: &ItemFn) -> Result<()> {
    let signature = &item.sig;
    let wrong = |span, message: &str| Err(Error::new(span, message));
    if let Some(parameter) = signature.generics.params.first() {
        let message = "a tool has one type for each argument, so the function cannot be generic; write the types it is used with";
        return wrong(parameter.span(), message);
    }
    if let Some(clause) = &signature.generics.where_clause {
        return wrong(clause.span(), "a tool cannot be generic; leave out the `where` clause");
    }
    if let Safety::Unsafe(keyword) = &signature.safety {
        return wrong(keyword.span(), "programs call a tool with any arguments, so it cannot be `unsafe`");
    }
    if let Some(abi) = &signature.abi {
        return wrong(abi.span(), "a tool is a plain Rust function; leave out `extern`");
    }
    match &signature.variadic {
        Some(variadic) => {
            wrong(variadic.span(), "a tool has a fixed list of arguments; take a `Vec` for any number")
        }
        None => Ok(()),
    }
}

/// Returns whether an attribute of a parameter belongs to the struct of arguments.
fn is_told(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}

fn owned(ty: &Type) -> Result<()> {
    match ty {
        Type::Reference(reference) => {
            let instead = match &*reference.elem {
                Type::Path(path) if path.path.is_ident("str") => "`String`",
                Type::Slice(_) => "a `Vec`",
                _ => "the type without `&`",
            };
            let message =
                format!("a tool owns its arguments, since they come out of a program; write {instead}");
            Err(Error::new(ty.span(), message))
        }
        Type::ImplTrait(_) => {
            let message = "a tool has one type for each argument; write a type that can be deserialised, such as `String`";
            Err(Error::new(ty.span(), message))
        }
        _ => Ok(()),
    }
}

/// Returns whether the return type is written as a `Result`, under any path.
fn is_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let mut ty = &**ty;
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Result"))
}

/// Returns the lines of doc comments, without the space that each begins with.
fn description(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let lines = lines.iter().flat_map(|text| text.split('\n'));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    lines.join("\n").trim().to_string()
}
