//! Tests of every rule of the reader.

use super::parse;
use bumpalo::Bump;
use proptest::prelude::*;
use ptc_bytecode::{Diagnostic, Limits};

fn read_with(source: &str, limits: &Limits) -> Result<String, Vec<Diagnostic>> {
    let arena = Bump::new();
    let forms = parse(source, &arena, limits)?;
    Ok(forms.iter().map(|form| form.to_string()).collect::<Vec<_>>().join(" "))
}

fn read(source: &str) -> Result<String, Vec<Diagnostic>> {
    read_with(source, &Limits::default())
}

#[track_caller]
fn check(source: &str, expect: &str) {
    assert_eq!(read(source).as_deref(), Ok(expect), "{source}");
}

/// Checks that there is exactly one error, its message and its hint.
#[track_caller]
fn refuse(source: &str, message: &str, hint: &str) {
    let errors = read(source).expect_err(source);
    assert_eq!(errors.len(), 1, "{source}: {errors:?}");
    assert_eq!(errors[0].code.reason(), "parse_error", "{source}");
    assert!(errors[0].message.contains(message), "{source}: {}", errors[0].message);
    assert!(errors[0].span.is_some());
    assert!(errors[0].hint.as_deref().unwrap_or("").contains(hint), "{source}: {:?}", errors[0].hint);
}

#[test]
fn integers() {
    check("0 42 -17 +5 -0 007", "0 42 -17 5 0 7");
    check("9223372036854775807 -9223372036854775808", "9223372036854775807 -9223372036854775808");
    check("9223372036854775808 -9223372036854775809", "9223372036854775808 -9223372036854775809");
    check("+00009223372036854775808", "9223372036854775808");
    check("10N -3N 0xFF 0Xff -0x10 2r101 16rFF 36rZ 0xFFN", "10 -3 255 255 -16 5 255 35 255");
    check("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175");
    check("-0x8000000000000000 36rN", "-9223372036854775808 23");
    let digits = "9".repeat(100);
    check(&digits, &digits);
    refuse(&"9".repeat(101), "101 digits, more than 100 (limits.digits)", "");
    refuse(&format!("{}.5", "9".repeat(101)), "limits.digits", "");
    refuse(&format!("0x{}", "F".repeat(101)), "limits.digits", "");
}

#[test]
fn floats() {
    check("1.0 -0.5 1e3 1E3 2.5e-3 +1.5 1e400 -1e400", "1.0 -0.5 1000.0 1000.0 0.0025 1.5 ##Inf ##-Inf");
    check("##Inf ##-Inf ##NaN", "##Inf ##-Inf ##NaN");
    refuse("##Infx", "`##Infx` is not a number", "##Inf");
    check("1. -2.e1", "1.0 -20.0");
    refuse(".5", "`.5`", "write 0.5");
    refuse("-.5", "`-.5`", "write -0.5");
}

#[test]
fn words_that_are_no_numbers() {
    refuse("12ab", "`12ab` is not a number", "cannot start with a digit");
    refuse("-1x", "`-1x` is not a number", "");
    refuse("1/3", "`1/3` is a ratio", "(/ 1 3)");
    refuse("1.5M", "`1.5M`", "write 1.5");
    refuse("1_000", "`1_000`", "write 1000");
    refuse("100L", "`100L`", "write 100");
    refuse("0xZZ", "`0xZZ`", "");
    refuse("2r102", "`2r102`", "");
    refuse("37r1", "`37r1`", "");
    refuse("0x", "`0x`", "");
    refuse("1:a", "`1:a`", "");
    refuse("5'", "`5'`", "");
}

#[test]
fn strings() {
    check(r#""a b" "" "é😀""#, r#""a b" "" "é😀""#);
    check(r#""\\ \" \n \t \r""#, r#""\\ \" \n \t \r""#);
    check("\"a\nb\"", r#""a\nb""#);
    check(r#""\b\f\0\101\377\400""#, "\"\\u0008\\u000C\\u0000Aÿ 0\"");
    check(r#""\u00e9\u0041\ud83d\ude00""#, "\"éA😀\"");
    check(r#""\d \w \. \' \u12 \é \9""#, r#""\\d \\w \\. \\' \\u12 \\é \\9""#);
    check("\"; no ) comment\"", "\"; no ) comment\"");
    refuse(r#""\ud83d""#, "surrogate", "");
    refuse(r#""\ud83d\u0041""#, "surrogate", "");
    refuse(r#""\ude00\ud83d""#, "surrogate", "");
    refuse("\"a\\\nb\"", "backslash cannot end a line", "");
    refuse("(a \"b", "a string is never closed", "add `\"`");
    refuse("\"a\\", "a string is never closed", "");
    refuse("\"a\\\"", "a string is never closed", "");
}

#[test]
fn characters() {
    check(
        r"\a \space \newline \tab \return \backspace \formfeed",
        r#""a" " " "\n" "\t" "\r" "\u0008" "\u000C""#,
    );
    check("\\u0041 \\o101 \\u \\o \\é \\😀 \\\\ \\\"", r#""A" "A" "u" "o" "é" "😀" "\\" "\"""#);
    check(r"[\( \) \, \;]", r#"["(" ")" "," ";"]"#);
    check("\\\n'a", r#""\n" 'a"#);
    refuse(r"\abc", r"`\abc` is not a character", "\"abc\"");
    refuse(r"\ud800", r"`\ud800`", "");
    refuse(r"\o777", r"`\o777`", "");
    refuse("\\", "needs a character", "");
}

#[test]
fn regexes_are_raw() {
    check(r##"#"\d+\n\\" #"a\"b" #"é""##, r##"#"\d+\n\\" #"a\"b" #"é""##);
    refuse("#\"a", "a regex is never closed", "");
}

#[test]
fn names() {
    check(
        "a-b? +' *x* -> ->> / /x x/ a/b a/b/c .m Date. %1 & x' $ a$b",
        "a-b? +' *x* -> ->> / /x x/ a/b a/b/c .m Date. %1 & x' $ a$b",
    );
    check("nil true false nil? trueish", "nil true false nil? trueish");
    check("- + -a +a --1", "- + -a +a --1");
    check(":a :a-b_c? :1 :a/b :a.b :$ref", ":a :a-b_c? :1 :a/b :a.b :$ref");
    check("#'x 'x 'a/b", "#'x 'x 'a/b");
    refuse(":", "`:` needs a name", ":name");
    refuse("::a", "`::a`", "write :a");
    refuse(":a/", "`:a/`", "write :a");
    refuse(":/a", "`:/a`", "write :a");
    refuse("a#b", "`#` cannot be part", "");
    refuse("a:b", "`:` cannot be part", "");
    refuse("x|", "`|` cannot be part", "");
    refuse("café", "names are ASCII", "");
    refuse(":é", "names are ASCII", "");
    refuse("“hi”", "not a quote", "\"text\"");
    refuse("a\u{a0}b", "U+00A0 is not a space", "");
    refuse("→", "not a name", "->");
    refuse("\u{1}", "control character U+0001", "");
}

#[test]
fn blanks_and_comments() {
    check("", "");
    check(" \t\r\n,,", "");
    check("\u{feff}(a)", "(a)");
    check("; only", "");
    check("(a ; c )\n b);", "(a b)");
    check("[1,2]", "[1 2]");
}

#[test]
fn collections() {
    check("(a [b {c d}] #{e} #(f %) ())", "(a [b {c d}] #{e} #(f %) ())");
    check("'(1 [2]) '{a b} ''x", "'(1 [2]) '{a b} ''x");
    check("#inst \"2024-05-01\"", "#inst \"2024-05-01\"");
    refuse("{:a 1 :b}", "forms is 3", "give :b a value");
    refuse("{:a :b 1}", "forms is 3", "give :a a value");
    refuse("#inst 5", "needs a string", "");
}

#[test]
fn dropped_forms() {
    check("#_a b", "b");
    check("#_ #_ a b c", "c");
    check("[1 #_(2 3) 4 #_5]", "[1 4]");
    check("{:a #_x 1}", "{:a 1}");
    check("^:private x ^{:doc \"d\"} (f ^String s)", "x (f s)");
    check("'#_a b", "'b");
    check("@x @ [a] '@x", "@x @[a] '@x");
    refuse("[1 @]", "`@` needs a form after it, but found `]`", "as in @x");
    refuse("#_", "`#_` needs a form", "");
    refuse("(a #_)", "`#_` needs a form", "");
    refuse("[1 ']", "`'` needs a form after it, but found `]`", "");
    refuse("'", "end of the program", "");
    refuse("(a '   ; nothing\n )", "`'` needs a form after it, but found `)`", "");
    refuse("#_ ; nothing", "`#_` needs a form", "");
}

#[test]
fn refused_marks_say_what_to_write() {
    refuse("`x", "no macros", "defn");
    refuse("~x", "no macros", "");
    refuse("~@x", "no macros", "");
    refuse("#?(:clj 1)", "#?", "");
    refuse("#foo 1", "`#foo`", "remove the tag");
    refuse("#uuid \"x\"", "#uuid", "string");
    refuse("#=(+ 1 2)", "`#=`", "");
    refuse("#", "`#` alone", "");
    refuse("#' x", "", "");
}

#[test]
fn brackets() {
    check("(+ 1 2)) ]}", "(+ 1 2)");
    check(") 1", "1");
    check(") (a)", "(a)");
    refuse("(a", "`(` opened at line 1, column 1 is never closed", "add `)`");
    refuse("(a\n  [b {c d}", "`[` opened at line 2, column 3 is never closed (2 brackets", "add `])`");
    refuse("(defn f [x]\n  (+ x 1)\n(f 2)", "opened at line 1, column 1", "line 3: add `)` before it");
    refuse(
        "(+ 1 [2 3)",
        "expected `]` for the `[` opened at line 1, column 6, but found `)`",
        "add `]` before",
    );
    refuse("(+ 1 2]", "expected `)`", "");
    refuse("(a ] b)", "expected `)`", "");
    refuse("#{1 2", "`#{` opened", "add `}`");
    refuse("#(+ 1", "`#(` opened", "add `)`");
}

#[test]
fn several_errors_in_order() {
    let errors = read("(a 12x [b :: c) '\n ) 1/2 \"\\ud800\" {:a}").unwrap_err();
    let starts: Vec<u32> = errors.iter().map(|e| e.span.unwrap().start).collect();
    assert!(starts.is_sorted(), "{errors:?}");
    assert!(errors.len() >= 6, "{errors:?}");
    assert_eq!(read(&"1x ".repeat(1000)).unwrap_err().len(), 10);
    assert_eq!(read(&"{1} ".repeat(1000)).unwrap_err().len(), 10);
}

#[test]
fn duplicates() {
    for source in [
        "{:a 1 :a 2}",
        "#{1 2 1}",
        "#{\"a\" \"a\"}",
        "#{x x}",
        "#{[1] (1)}",
        "#{{:a 1 :b 2} {:b 2 :a 1}}",
        "#{#{1 2} #{2 1}}",
        "#{0.0 -0.0}",
        "#{(f) (f)}",
        "#{nil nil}",
        "{:a 1 :b 2 :c 3 :d 4 :e 5 :f 6 :g 7 :h 8 :i 9 :j 1 :k 1 :l 1 :m 1 :n 1 :c 4}",
    ] {
        let errors = read(source).expect_err(source);
        assert_eq!(errors[0].code.reason(), "duplicate_key", "{source}");
    }
    for source in [
        "#{1 1.0}",
        "#{:a \"a\" a}",
        "#{#\"a\" #\"a\"}",
        "#{#(f) #(f)}",
        "#{##NaN ##NaN}",
        "{1 :a 2 :a}",
        "#{[1 2] [2 1]}",
        "#{[] {} #{}}",
    ] {
        assert!(read(source).is_ok(), "{source}: {:?}", read(source));
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |open: &str, n: usize, close: &str| format!("{}x{}", open.repeat(n), close.repeat(n));
    assert!(read(&nested("(", 64, ")")).is_ok());
    assert!(read(&nested("'", 64, "")).is_ok());
    assert!(read(&nested("'(", 32, ")")).is_ok());
    for source in [
        nested("(", 65, ")"),
        nested("'", 65, ""),
        nested("#_", 65, ""),
        nested("'(", 33, ")"),
        nested("#{[", 33, "]}"),
        "(".repeat(1_000_000),
        "'".repeat(1_000_000),
        "#_".repeat(500_000),
    ] {
        let errors = read(&source).unwrap_err();
        assert!(errors[0].message.contains("(limits.nesting)"), "{errors:?}");
    }
    // Depth is released: a long flat program is fine.
    assert!(read(&"('(a) '[b] 'c #_d e) ".repeat(1000)).is_ok());
    assert!(read(&"^a ".repeat(100_000)).is_ok());
    assert!(read(&")".repeat(1_000_000)).is_ok());
}

#[test]
fn size_is_limited() {
    let source = format!("\"{}\"", "a".repeat(1_000_000));
    let errors = read(&source).unwrap_err();
    assert_eq!(errors[0].code.reason(), "program_too_large");
    assert!(errors[0].message.contains("limits.source_bytes"));
    let large = Limits { source_bytes: 2_000_000, ..Limits::default() };
    assert!(read_with(&source, &large).is_ok());
}

#[test]
fn names_are_limited() {
    let limits = Limits { symbols: 3, ..Limits::default() };
    assert!(read_with("(let [a 1 b 2] (+ a b :c :c))", &limits).is_ok());
    let errors = read_with("(let [a 1 b 2] (+ a b :c d))", &limits).unwrap_err();
    assert_eq!(errors[0].code.reason(), "symbol_limit_exceeded");
    let many: String = (0..10_001).map(|i| format!("x{i} ")).collect();
    assert_eq!(read(&many).unwrap_err()[0].code.reason(), "symbol_limit_exceeded");
}

/// Generates text of tokens that matter to the reader, so that random tests reach rare cases.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "(", ")", "[", "]", "{", "}", "#{", "#(", "#_", "#'", "'", "^", "`", "~", "~@", "@", "#", "##",
        "##Inf", "\\", "\"", "\\\"", "#\"", ";", "\n", " ", ",", ":", "::", ":a", "a", "-", "+", "1", ".",
        "/", "e5", "0x", "2r", "N", "M", "%", "&", "nil", "é", "😀", "\u{feff}", "\u{0}", "\\u", "d83d",
        "#inst", "#?", "1/2", "_",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(source in any::<String>()) {
        let _ = read(&source);
    }

    #[test]
    fn any_pieces_are_read_or_refused(source in pieces()) {
        match read(&source) {
            Ok(text) => prop_assert_eq!(read(&text).ok(), Some(text)),
            Err(errors) => {
                prop_assert!(!errors.is_empty() && errors.len() <= 10);
                for error in errors {
                    // Rendering needs spans that fit the text.
                    let _ = error.to_text(&source);
                }
            }
        }
    }
}

/// Returns the marked text and the message of every warning.
fn warned(source: &str) -> Vec<(String, String)> {
    let (arena, limits) = (Bump::new(), Limits::default());
    let mut warnings = Vec::new();
    let meter = crate::Meter::new(&limits, &|| false);
    let _ = super::parse_metered(source, &arena, &limits, &meter, &mut warnings);
    let told = |warning: &Diagnostic| {
        assert_eq!(warning.code.reason(), "surplus_bracket");
        (warning.span.expect("a place").text(source).to_string(), warning.message.clone())
    };
    warnings.iter().map(told).collect()
}

#[test]
fn surplus_closers_are_warned_of() {
    let one =
        |closer: &str| (closer.to_string(), format!("this `{closer}` closes nothing, so it was skipped"));
    for closer in [")", "]", "}"] {
        assert_eq!(warned(&format!("(+ 1 2){closer}")), [one(closer)]);
    }
    assert_eq!(warned(") 1 ) 2"), [one(")"), one(")")]);
    let several = "these brackets close nothing, so they were skipped".to_string();
    assert_eq!(warned("(+ 1 2)))\n ; end\n ]"), [("))\n ; end\n ]".to_string(), several)]);
    // A wrong bracket inside a form is an error, without a warning besides.
    assert!(warned("(+ 1 [2)").is_empty());
    assert!(warned("(+ 1 2) ; )\n\")\" \\)").is_empty());
    // An error does not hide the warning: it may be the cause.
    assert_eq!(warned("1) (+ 1"), [one(")")]);
    assert_eq!(warned(&"1)".repeat(1000)).len(), 100);
    assert_eq!(warned(&")".repeat(1000)).len(), 1);
}
