//! Generation of code: the unchanged function, and the one that returns the tool.

use crate::function::{Function, Parameter, plain_name};
use crate::options::Options;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemFn, LitStr, Result};

/// Expands a function to itself and the function that returns its tool.
pub fn expand(options: &Options, mut item: ItemFn) -> Result<TokenStream> {
    let function = Function::take(&mut item)?;
    let name = &item.sig.ident;
    let plain = plain_name(name);
    let called = options.name.as_ref().map_or_else(|| plain.clone(), LitStr::value);
    let (visibility, maker) = (&item.vis, format_ident!("{plain}_tool", span = name.span()));
    let conditions = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let doc = format!("The tool `{called}`, which calls [`{plain}`]({link}{plain}).", link = link(&function));
    let names = Names::new();
    let fields = names.fields(&function.parameters);
    let make = names.make(&item, &function, &called);
    let state = &names.state;
    let description = Some(&function.description).filter(|text| !text.is_empty());
    let description = description.map(|text| quote!(.description(#text)));
    let effect = options.effect.as_ref().map(|effect| quote!(.effect(::ptc::runtime::Effects::#effect)));
    let receiver = function.is_method.then(|| quote!(self: &::std::sync::Arc<Self>));
    let shared = function.is_method.then(|| quote!(let #state = ::std::sync::Arc::clone(self);));
    Ok(quote! {
        #item

        #(#conditions)*
        #[doc = #doc]
        #[must_use]
        #visibility fn #maker(#receiver) -> ::ptc::ToolDefinition {
            #fields
            #shared
            #make #description #effect
        }
    })
}

/// Returns the prefix of a doc link: methods are linked by their type.
fn link(function: &Function) -> &'static str {
    if function.is_method { "Self::" } else { "" }
}

/// Names in the generated code, all of one hygiene, whatever spans surround them.
struct Names {
    /// Struct that arguments are deserialized into.
    reader: Ident,
    arguments: Ident,
    state: Ident,
}

impl Names {
    fn new() -> Names {
        let [reader, arguments, state] =
            ["__ToolArguments", "__arguments", "__state"].map(|name| Ident::new(name, Span::call_site()));
        Names { reader, arguments, state }
    }

    /// Generates the struct that arguments are deserialized into.
    fn fields(&self, parameters: &[Parameter]) -> TokenStream {
        let reader = &self.reader;
        let field = |Parameter { attributes, name, ty }: &Parameter| quote!(#(#attributes)* #name: #ty);
        let fields = parameters.iter().map(field);
        quote! {
            #[derive(::ptc::__private::serde::Deserialize, ::ptc::__private::schemars::JsonSchema)]
            #[serde(crate = "::ptc::__private::serde")]
            #[schemars(crate = "::ptc::__private::schemars")]
            struct #reader { #(#fields),* }
        }
    }

    /// Generates the definition of the tool, from a closure that calls the function.
    fn make(&self, item: &ItemFn, function: &Function, called: &str) -> TokenStream {
        let (Names { reader, arguments, state }, name) = (self, &item.sig.ident);
        let given = function.parameters.iter().map(|Parameter { name, .. }| quote!(#arguments.#name));
        let call = match function.is_method {
            true => quote!(Self::#name(&#state, #(#given),*)),
            false => quote!(#name(#(#given),*)),
        };
        let is_async = item.sig.asyncness.is_some();
        let call = if is_async { quote!(#call.await) } else { call };
        // Compile errors about the answer's type then point to the return type.
        let span = item.sig.output.span();
        let answer = match function.is_fallible {
            true => quote_spanned!(span=> #call.map_err(::ptc::__private::tool_error)),
            false => quote_spanned!(span=> ::core::result::Result::Ok(#call)),
        };
        let again = function.is_method.then(|| quote!(let #state = ::std::sync::Arc::clone(&#state);));
        match is_async {
            true => quote_spanned! {span=>
                ::ptc::ToolDefinition::new_async(#called, move |#arguments: #reader| {
                    #again
                    async move { #answer }
                })
            },
            false => quote_spanned! {span=>
                ::ptc::ToolDefinition::new(#called, move |#arguments: #reader| #answer)
            },
        }
    }
}
