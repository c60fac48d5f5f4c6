//! The attribute `ptc::tool`. Use it through the crate `ptc` with its feature `macros`: the generated code names `ptc`.
#![forbid(unsafe_code)]

mod expand;
mod function;
mod options;
#[cfg(test)]
mod tests;

use options::Options;
use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a tool of a function: adds `find_orders_tool()` next to `find_orders`. It returns a `ptc::ToolDefinition` for
/// `Engine::with_tool` and, with the feature `agent`, for `Agent::builder().tool(…)`. The function itself is unchanged
/// and can still be called and tested.
///
/// - Parameters are the arguments, by name. Each has a type that implements `serde::Deserialize` and
///   `schemars::JsonSchema`, and owns its data: `String`, not `&str`. Calls may omit an `Option` and parameters with
///   `#[serde(default)]`; attributes of `serde` and `schemars` are allowed before any parameter.
/// - The result has a type that implements `serde::Serialize` and `schemars::JsonSchema`, or is a `Result` of such a
///   type with an error that implements `Display`. The return type must be written as `Result<…>`, under any path.
///   Errors and panics become errors of the tool.
/// - Doc comments are for models: the function's describe the tool, and those before parameters the arguments.
/// - `async` functions become async tools: a waiting call holds no thread.
/// - State goes into a struct: a method with `&self` is a tool of that value, and `find_orders_tool` is then a method
///   of an `Arc` of it.
///
/// Options: `name = "find-orders"` sets the name for programs, in place of the function's; `effect = "read"` or
/// `effect = "write"` states the effect of a call.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as Options);
    let function = parse_macro_input!(item as ItemFn);
    expand::expand(&options, function).unwrap_or_else(|error| error.to_compile_error()).into()
}
