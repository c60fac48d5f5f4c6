//! Compile errors for functions that cannot be tools.

use crate::expand::expand;
use crate::options::Options;
use syn::parse::{Parse, Parser};

fn refused(options: &str, function: &str) -> String {
    let options = match syn::parse_str::<Options>(options) {
        Ok(options) => options,
        Err(error) => return error.to_string(),
    };
    let function = syn::parse_str(function).expect("a function");
    match expand(&options, function) {
        Ok(_) => "fine".to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn functions_that_can_be_tools() {
    for function in [
        "fn f() {}",
        "pub async fn f(/** Which. */ a: String, #[serde(default)] mut b: Option<u8>) -> anyhow::Result<Vec<u8>> { x }",
        "fn f(&self, r#type: String) -> u8 { 1 }",
    ] {
        assert_eq!(refused("", function), "fine", "{function}");
    }
    assert_eq!(refused("name = \"find-orders\", effect = \"read\",", "fn f() {}"), "fine");
}

#[test]
fn functions_that_cannot_say_what_to_write_instead() {
    for (function, told) in [
        ("fn f(a: &str) {}", "write `String`"),
        ("fn f(a: &[u8]) {}", "write a `Vec`"),
        ("fn f(a: &Order) {}", "write the type without `&`"),
        ("fn f(a: impl Into<String>) {}", "such as `String`"),
        ("fn f((a, b): (u8, u8)) {}", "write e.g. `order: Order`"),
        ("fn f<T>(a: T) {}", "cannot be generic"),
        ("fn f<'a>(a: Cow<'a, str>) {}", "cannot be generic"),
        ("fn f(a: u8) where u8: Copy {}", "leave out the `where` clause"),
        ("extern \"C\" fn f(a: u8) {}", "leave out `extern`"),
        (concat!("un", "safe fn f(a: u8) {}"), "with any arguments"),
        ("fn f(self) {}", "takes `&self`"),
        ("fn f(&mut self) {}", "put what changes into a `Mutex`"),
    ] {
        let message = refused("", function);
        assert!(message.contains(told), "{function}: {message}");
    }
}

#[test]
fn options_that_are_none() {
    for (options, told) in [
        ("nmae = \"x\"", "`nmae` is not an option of a tool; the options are `name"),
        ("name = \"find orders\"", "write e.g. `find-orders`"),
        ("name = \"1st\"", "the first a letter or `_`"),
        ("name = \"\"", "the first a letter or `_`"),
        ("effect = \"none\"", "`\"read\"` or `\"write\"`"),
        ("effect = \"read\", effect = \"write\"", "given twice"),
        ("name", "expected `=`"),
        ("name = find", "expected string literal"),
    ] {
        let message = refused(options, "fn f() {}");
        assert!(message.contains(told), "{options}: {message}");
    }
}

#[test]
fn what_is_only_for_the_tool_is_not_left_in_the_function() {
    let function = "fn f(/** Which. */ #[serde(default)] #[allow(unused)] a: String) {}";
    let made = expand(&Options::default(), syn::parse_str(function).expect("a function")).expect("a tool");
    let file = syn::File::parse.parse2(made).expect("items");
    let syn::Item::Fn(kept) = &file.items[0] else { panic!("the function comes first") };
    let syn::FnArg::Typed(argument) = &kept.sig.inputs[0] else { panic!("an argument") };
    assert_eq!(argument.attrs.len(), 1);
    assert!(argument.attrs[0].path().is_ident("allow"));
}
