//! The attribute `ptc::tool`. Use it through the crate `ptc` with its feature `macros`; the code it makes names that crate.
#![forbid(unsafe_code)]

mod expand;
mod function;
mod options;
#[cfg(test)]
mod tests;

use options::Options;
use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a tool of a function: beside `find_orders` there is `find_orders_tool()`, which gives a `ptc::ToolDefinition`
/// for `Engine::with_tool` and, with the feature `agent`, for `Agent::builder().tool(…)`. The function itself stays as it
/// is, to be called and tested.
///
/// - Parameters are the arguments, by name. Each is a type that implements `serde::Deserialize` and
///   `schemars::JsonSchema`, and owns its data: `String`, not `&str`. An `Option` may be left out of a call, and so may
///   one with `#[serde(default)]`; attributes of `serde` and `schemars` may stand before any parameter.
/// - The answer is a type that implements `serde::Serialize` and `schemars::JsonSchema`, or a `Result` with such a type,
///   whose error implements `Display`. The return type must be written as `Result<…>`, under any path; an error becomes
///   one of the tool. A panic becomes one, too.
/// - Doc comments are what models read: the function's describe the tool, and those before parameters the arguments.
/// - `async` functions become async tools: a call that waits holds no thread.
/// - State goes into a struct: a method with `&self` is a tool of that value, and `find_orders_tool` is then a method of an
///   `Arc` of it.
///
/// Options: `name = "find-orders"` is the name programs call, in place of the function's; `effect = "read"` or
/// `effect = "write"` says what a call changes.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as Options);
    let function = parse_macro_input!(item as ItemFn);
    expand::expand(&options, function).unwrap_or_else(|error| error.to_compile_error()).into()
}
