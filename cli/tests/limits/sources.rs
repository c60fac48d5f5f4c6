//! Source texts that were made to do harm to the compiler.

use crate::attack::Attack;

pub fn hostile_sources() -> Vec<Attack> {
    let mut all = Vec::new();
    let long = "1 ".repeat(600_000);
    all.push(Attack::new("source_bytes", "long", long.clone(), &["program_too_large"]));
    all.push(Attack::new(
        "source_bytes",
        "long_comment",
        format!(";{}", "x".repeat(2_000_000)),
        &["program_too_large"],
    ));
    let names: String = (0..20_000).map(|i| format!("(def n{i} 1) ")).collect();
    all.push(Attack::new("symbols", "definitions", names, &["symbol_limit_exceeded"]));
    let keywords: String = (0..20_000).map(|i| format!(":k{i} ")).collect();
    all.push(Attack::new("symbols", "keywords", format!("[{keywords}]"), &["symbol_limit_exceeded", "ok"]));
    for (name, open) in [
        ("brackets", "["),
        ("parens", "("),
        ("braces", "{"),
        ("sets", "#{"),
        ("functions", "#("),
        ("quotes", "'"),
        ("lets", "(let [x "),
        ("ifs", "(if "),
        ("threads", "(-> "),
        ("discards", "#_"),
        ("metadata", "^:a "),
        ("derefs", "@"),
    ] {
        all.push(Attack::new("nesting", name, open.repeat(100_000), &["parse_error", "ok"]));
    }
    for (name, number) in [
        ("integer", "9".repeat(500_000)),
        ("float", format!("{}.5", "9".repeat(500_000))),
        ("fraction", format!("0.{}", "9".repeat(500_000))),
        ("exponent", format!("1e{}", "9".repeat(500_000))),
        ("hexadecimal", format!("0x{}", "f".repeat(500_000))),
        ("ratio", format!("1/{}", "9".repeat(500_000))),
        ("radix", format!("36r{}", "z".repeat(500_000))),
    ] {
        all.push(Attack::new("digits", name, number, &["parse_error", "ok", "invalid_form", "unbound_var"]));
    }
    let at_most = 990_000;
    let fill = |open: &str, item: &str, close: &str| {
        format!("{open}{}{close}", item.repeat((at_most - open.len() - close.len()) / item.len()))
    };
    for (name, program) in [
        ("numbers", fill("[", "1 ", "]")),
        ("maps", fill("[", "{:a 1} ", "]")),
        ("one_map", format!("{{{}}}", (0..60_000).map(|i| format!("{i} {i} ")).collect::<String>())),
        ("one_set", format!("#{{{}}}", (0..80_000).map(|i| format!("{i} ")).collect::<String>())),
        ("calls", fill("(do ", "(f) ", ")")),
        ("functions", fill("[", "#(+ % 1) ", "]")),
        ("nested_functions", fill("[", "(fn [x] (fn [y] (fn [z] (+ x y z)))) ", "]")),
        ("bindings", fill("(let [", "x 1 ", "] x)")),
        ("patterns", fill("(let [", "{:keys [a b c d e f g h]} {} ", "] a)")),
        ("parameters", fill("(fn [", "x ", "] x)")),
        ("parameter_patterns", fill("(fn [", "[[]] ", "] 1)")),
        ("nested_patterns", fill("(fn [[", "[[[a]]] ", "]] 1)")),
        ("one_pattern", fill("(let [[", "a ", "] []] a)")),
        ("default_patterns", fill("(fn [", "{:keys [a] :or {a 1}} ", "] 1)")),
        ("conditions", fill("(cond ", "false 1 ", ")")),
        ("cases", format!("(case 1 {})", (0..60_000).map(|i| format!("{i} {i} ")).collect::<String>())),
        ("and", fill("(and ", "true ", ")")),
        ("or", fill("(or ", "nil ", ")")),
        ("threaded", fill("(-> 1 ", "inc ", ")")),
        ("threaded_forms", fill("(-> 1 ", "(+ 1) ", ")")),
        ("conditionally_threaded", fill("(cond-> 1 ", "true inc ", ")")),
        ("sums", fill("(+ ", "1 ", ")")),
        ("comparisons", fill("(< ", "1 ", ")")),
        ("text", fill("\"", "x", "\"")),
        ("unclosed_text", fill("\"", "x", "")),
        ("escapes", fill("\"", "\\u00e9", "\"")),
        ("unclosed", fill("", "( ) [ ", "")),
        ("closed", fill("", ") ] } ", "")),
        ("unknown_names", fill("", "nope ", "")),
        ("loops", fill("(for [", "x [1] ", "] x)")),
        ("definitions", fill("", "(def x 1) ", "")),
        ("regexes", fill("[", "#\"a+b\" ", "]")),
        ("large_regex", fill("#\"", "a", "\"")),
        ("tools", fill("", "(tool/x {}) ", "")),
        ("data", fill("[", "data/x ", "]")),
        ("inlined", fill("[", "(map (fn [x] (map (fn [y] (map inc y)) x)) []) ", "]")),
        ("folded", fill("(str ", "(str \"aaaaaaaa\" \"bbbbbbbb\") ", ")")),
        ("folded_products", "(do ".to_string() + &"(* 99999999999999999999999999999999999999999999999999 99999999999999999999999999999999999999999999999999) ".repeat(9_000) + ")"),
    ] {
        // Whatever it says, it says it in time and within memory.
        let ends = &[
            "ok", "timeout", "compile_timeout", "compile_fuel_exceeded", "compile_memory_exceeded", "compile_error", "parse_error", "symbol_limit_exceeded", "unbound_var", "invalid_form", "unknown_tool",
            "runtime_error", "type_error", "invalid_arity", "unsupported_pattern", "duplicate_key", "arity_error", "memory_exceeded", "stack_exceeded", "program_too_large",
        ];
        all.push(Attack::new("compile_ms", name, program.clone(), ends).with("timeout_ms", 100).with("compile_ms", 100).compiling());
    }
    let numbered = |item: fn(usize) -> String, n: usize| (0..n).map(item).collect::<String>();
    let bound = format!("(let [{}", "x 1 ".repeat(100_000));
    for (name, program) in [
        ("nested_in_a_set", format!("#{{{}}}", numbered(|i| format!("{{:a {{:b {i}}}}} "), 30_000))),
        ("nested_in_a_map", format!("{{{}}}", numbered(|i| format!("[[{i}]] 1 "), 30_000))),
        (
            "sets_in_sets",
            format!("{}{}{}", "#{1 ".repeat(60), numbered(|i| format!("[{i}] "), 80_000), "}".repeat(60)),
        ),
        ("names_beside_many", format!("{bound}] [{}])", "y ".repeat(200_000))),
        ("unknown_beside_many", format!("{bound}] [{}])", numbered(|i| format!("n{i} "), 9_000))),
        (
            "captured",
            format!("{bound}a 1] {}[{}]{})", "(fn [] ".repeat(50), "a ".repeat(200_000), ")".repeat(50)),
        ),
        ("members", format!("[{}]", "core/zzzz ".repeat(90_000))),
    ] {
        let ends = &["ok", "compile_fuel_exceeded", "unbound_var", "invalid_form", "timeout"];
        all.push(
            Attack::new("compile_fuel", name, program, ends)
                .with("compile_ms", 600_000)
                .with("timeout_ms", 1000),
        );
    }
    all
}
