//! Values read from JSON text, and error messages for text that is not JSON.

use ptc_bytecode::Code;
use ptc_runtime::json::{
    JsonReader, ReadOptions, freeze_json, freeze_json_lines, parse_json, parse_json_bytes,
};
use ptc_vm::{Heap, Stop, StopKind, Value};

fn printed(text: &str) -> String {
    let mut heap = Heap::unbounded();
    let value =
        parse_json(&mut heap, text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut out = String::new();
    heap.print(value, &mut out, 1 << 20).unwrap();
    out
}

fn error(bytes: &[u8]) -> String {
    let mut heap = Heap::unbounded();
    let error = parse_json_bytes(&mut heap, bytes, &ReadOptions::default()).expect_err("is not JSON");
    assert!(
        error.is_syntax() && error.place().is_some() && error.offset().is_some_and(|at| at <= bytes.len())
    );
    assert_eq!(error.to_fault().code(), Code::InvalidData);
    error.to_string()
}

#[test]
fn every_kind_of_value() {
    for (text, expected) in [
        ("null", "nil"),
        (" true ", "true"),
        ("\t\r\nfalse\n", "false"),
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("-12", "-12"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-123456789012345678901234567890", "-123456789012345678901234567890"),
        ("1.0", "1.0"),
        ("1e3", "1000.0"),
        ("2.5E+1", "25.0"),
        ("1e400", "##Inf"),
        ("-1e400", "##-Inf"),
        (r#""""#, r#""""#),
        (r#""a""#, r#""a""#),
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\u0008\u000c\n\r\t""#),
        (r#""\u00e9\u0041""#, "\"éA\""),
        (r#""\ud83d\ude00!""#, "\"😀!\""),
        (r#""\ud83d""#, "\"\u{fffd}\""),
        (r#""\ude00x""#, "\"\u{fffd}x\""),
        (r#""\ud83d\u0041""#, "\"\u{fffd}A\""),
        (r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}😀\""),
        ("[]", "[]"),
        ("{}", "{}"),
        ("[ ]", "[]"),
        ("{ }", "{}"),
        ("[[],{}]", "[[] {}]"),
        ("[1, [2, [3]], \"x\"]", "[1 [2 [3]] \"x\"]"),
        (r#"{"b":1,"a":{"c":[]}}"#, r#"{"b" 1 "a" {"c" []}}"#),
        (r#"{"a b":1,"\u0061":2,"":3}"#, r#"{"a b" 1 "a" 2 "" 3}"#),
    ] {
        assert_eq!(printed(text), expected, "{text}");
    }
}

#[test]
fn of_equal_keys_the_first_gives_the_place_and_the_last_the_value() {
    assert_eq!(printed(r#"{"a":1,"b":2,"a":3}"#), r#"{"a" 3 "b" 2}"#);
    assert_eq!(printed(r#"{"a":1,"\u0061":3,"c":4}"#), r#"{"a" 3 "c" 4}"#);
    // Equal keys are also merged after an object with the same keys but no repetition, and in a large object.
    assert_eq!(
        printed(r#"[{"a":1,"b":2},{"a":1,"b":2,"b":5},{"a":1,"a":2}]"#),
        r#"[{"a" 1 "b" 2} {"a" 1 "b" 5} {"a" 2}]"#
    );
    let many: Vec<String> = (0..200).map(|i| format!("\"k{}\":{i}", i % 100)).collect();
    let text = printed(&format!("{{{}}}", many.join(",")));
    assert!(text.starts_with(r#"{"k0" 100 "k1" 101 "#) && text.ends_with(r#""k99" 199}"#), "{text}");
}

#[test]
fn objects_of_every_size() {
    for n in [1, 2, 15, 16, 17, 63, 64, 65, 66, 300, 5000] {
        let entries: Vec<String> = (0..n).map(|i| format!("\"key{i}\":{i}")).collect();
        let text = format!("{{{}}}", entries.join(","));
        let expected: Vec<String> = (0..n).map(|i| format!("\"key{i}\" {i}")).collect();
        assert_eq!(printed(&text), format!("{{{}}}", expected.join(" ")));
        assert_eq!(printed(&format!("[{text},{text}]")), format!("[{{{0}}} {{{0}}}]", expected.join(" ")));
    }
}

#[test]
fn what_is_not_json_is_told_with_its_place() {
    for (text, expected) in [
        ("", "expected a value, but the text ends (line 1, column 1)"),
        ("  \n ", "expected a value, but the text ends (line 2, column 2)"),
        ("[1,]", "expected a value, but found `]` (line 1, column 4)"),
        ("[1 2]", "expected `,` or `]`, but found `2` (line 1, column 4)"),
        ("[1", "expected `,` or `]`, but the text ends (line 1, column 3)"),
        ("{\"a\":1,\n\"b\" 2}", "expected `:`, but found `2` (line 2, column 5)"),
        ("{\"a\":1,}", "expected a key in double quotes, but found `}` (line 1, column 8)"),
        ("{'a':1}", "expected a key in double quotes or `}`, but found `'` (line 1, column 2)"),
        ("{\"a\":1 \"b\":2}", "expected `,` or `}`, but found `\"` (line 1, column 8)"),
        ("{\"é\":é}", "expected a value, but found `é` (line 1, column 6)"),
        ("nul", "expected a value, but found `n` (line 1, column 1)"),
        ("1 2", "expected the end of the text, but found `2` (line 1, column 3)"),
        ("truely", "expected the end of the text, but found `l` (line 1, column 5)"),
        ("01", "expected no digit after a leading 0, but found `1` (line 1, column 2)"),
        ("1.", "expected a digit after the decimal point, but the text ends (line 1, column 3)"),
        ("-a", "expected a digit, but found `a` (line 1, column 2)"),
        ("\"abc", "expected `\"` to end the string, but the text ends (line 1, column 5)"),
        ("\"\\x\"", "expected one of `\"\\/bfnrtu` after a backslash, but found `x` (line 1, column 3)"),
        ("\"\\u12g4\"", "expected four hexadecimal digits after `\\u`, but found `g` (line 1, column 6)"),
        ("\"a\nb\"", "expected `\\u000a` for a control character inside a string (line 1, column 3)"),
        ("\u{1}", "expected a value, but found U+0001 (line 1, column 1)"),
    ] {
        assert_eq!(error(text.as_bytes()), expected, "{text}");
    }
    assert_eq!(error(b"[\"a\xffb\"]"), "expected UTF-8, but found the byte 0xff (line 1, column 4)");
}

/// Based on the cases that must fail in the JSON parsing test suite of Nicolas Seriot.
#[test]
fn the_usual_near_json_is_refused() {
    let bad: &[&[u8]] = &[
        b"[1 true]",
        b"[a\xe5]",
        b"[\"\": 1]",
        b"[\"\"],",
        b"[,1]",
        b"[1,,2]",
        b"[\"x\",,]",
        b"[\"x\"]]",
        b"[\"\",]",
        b"[\"x\"",
        b"[x",
        b"[3[4]]",
        b"[\xff]",
        b"[1:2]",
        b"[,]",
        b"[-]",
        b"[   , \"\"]",
        b"[\"a\",\n4\n,1,",
        b"[1,]",
        b"[\"\x0ba\"\\f]",
        b"[*]",
        b"[\"\"",
        b"[1,",
        b"[fals]",
        b"[nul]",
        b"[tru]",
        b"[+1]",
        b"[+Inf]",
        b"[-01]",
        b"[-1.0.]",
        b"[-2.]",
        b"[-NaN]",
        b"[.-1]",
        b"[.2e-3]",
        b"[0.1.2]",
        b"[0.3e+]",
        b"[0.3e]",
        b"[0.e1]",
        b"[0E+]",
        b"[0E]",
        b"[1.0e+]",
        b"[1.0e-]",
        b"[1.0e]",
        b"[1 000.0]",
        b"[1eE2]",
        b"[2.e+3]",
        b"[2.e-3]",
        b"[2.e3]",
        b"[9.e+]",
        b"[1+2]",
        b"[0x1]",
        b"[0x42]",
        b"[Infinity]",
        b"[0e+-1]",
        b"[-123.123foo]",
        b"[-Infinity]",
        b"[-foo]",
        b"[- 1]",
        b"[-012]",
        b"[-.123]",
        b"[-1x]",
        b"[1ea]",
        b"[1e1\xe5]",
        b"[1.]",
        b"[.123]",
        b"[1.2a-3]",
        b"[1.8011670033376514H-308]",
        b"[012]",
        b"[NaN]",
        b"[\xef\xbc\x91]",
        b"[\"x\", truth]",
        b"{[: \"x\"}\n",
        b"{\"x\", null}",
        b"{\"x\"::\"b\"}",
        b"{\"a\":\"a\" 123}",
        b"{key: 'value'}",
        b"{\"\xb9\":\"0\",}",
        b"{\"a\" b}",
        b"{:\"b\"}",
        b"{\"a\" \"b\"}",
        b"{\"a\":",
        b"{\"a\"",
        b"{1:1}",
        b"{9999E9999:1}",
        b"{null:null,null:null}",
        b"{\"id\":0,,,,,}",
        b"{'a':0}",
        b"{\"id\":0,}",
        b"{\"a\":\"b\"}/**/",
        b"{\"a\":\"b\"}#",
        b"{\"a\":\"b\",,\"c\":\"d\"}",
        b"{a: \"b\"}",
        b"{\"a\":\"a",
        b"{ \"foo\" : \"bar\", \"a\" }",
        b"{\"a\":\"b\"}#{}",
        b" ",
        b"[\"\\uD800\\\"]",
        b"[\"\\uD800\\u\"]",
        b"[\"\\uD800\\u1\"]",
        b"[\"\\uD800\\u1x\"]",
        b"[\xc3\xa9]",
        b"[\"\\\x00\"]",
        b"[\"\\x00\"]",
        b"[\"\\\\\\\"]",
        b"[\"\\\t\"]",
        b"[\"\\\xf0\x9f\x8c\x80\"]",
        b"[\"\\\"]",
        b"[\"\\u00A\"]",
        b"[\"\\uD834\\uDd\"]",
        b"[\"\\a\"]",
        b"[\"\\uqqqq\"]",
        b"[\"\\\xe5\"]",
        b"[\\u0020\"asd\"]",
        b"[\\n]",
        b"\"",
        b"['single quote']",
        b"abc",
        b"[\"\\",
        b"[\"a\x00a\"]",
        b"[\"new\nline\"]",
        b"[\"\t\"]",
        b"\"\\UA66D\"",
        b"\"\"x",
        b"[\xe2\x81\xa0]",
        b"\xef\xbb\xbf",
        b"<.>",
        b"[<null>]",
        b"[1]x",
        b"[1]]",
        b"[\"asd]",
        b"a\xc3\xa5",
        b"[True]",
        b"1]",
        b"{\"x\": true,",
        b"[][]",
        b"]",
        b"\xef\xbb{}",
        b"\xe5",
        b"[",
        b"",
        b"[\x00]",
        b"2@",
        b"{}}",
        b"{\"\":",
        b"{\"a\":/*comment*/\"b\"}",
        b"{\"a\": true} \"x\"",
        b"['",
        b"[,",
        b"[{",
        b"[\"a",
        b"[\"a\"",
        b"{",
        b"{]",
        b"{,",
        b"{[",
        b"{\"a",
        b"{'a'",
        b"[\"\\{[\"\\{[\"\\{[\"\\{",
        b"*",
        b"{\"a\":\"b\"}#{}",
        b"[\\u000A\"\"]",
        b"[1",
        b"[ false, nul",
        b"[ true, fals",
        b"[ false, tru",
        b"{\"asd\":\"asd\"",
        b"\xc3\xa5",
        b"[\x0c]",
        b"[\xe2\x81\xa0]",
        b"[\"a\"b\"]",
        b"{\"a\"b\":1}",
    ];
    for text in bad {
        error(text);
        assert!(serde_json::from_slice::<serde_json::Value>(text).is_err());
    }
}

#[test]
fn a_guessed_key_is_compared_as_text_not_as_bytes() {
    // The second object has the bytes of the first one's key, but is not JSON.
    error(br#"[{"a\"b":1},{"a"b":2}]"#);
    error(br#"[{"a\\":1},{"a\":2}]"#);
    assert_eq!(printed(r#"[{"a\"b":1},{"a\"b":2}]"#), r#"[{"a\"b" 1} {"a\"b" 2}]"#);
    assert_eq!(printed(r#"[{"ab":1},{"a":2},{"abc":3}]"#), r#"[{"ab" 1} {"a" 2} {"abc" 3}]"#);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let mut heap = Heap::unbounded();
    let value = parse_json_bytes(&mut heap, b"\xef\xbb\xbf[1]", &ReadOptions::default()).unwrap();
    assert!(matches!(value, Value::Vector(_)));
}

#[test]
fn records_share_their_keys() {
    let mut heap = Heap::unbounded();
    let text = r#"[{"id":1,"at":{"x":1}},{"id":2,"at":{"x":2}},{"at":{"x":3},"id":4}]"#;
    let Value::Vector(rows) = parse_json(&mut heap, text, &ReadOptions::default()).unwrap() else { panic!() };
    let map = |value: Option<Value>| match value {
        Some(Value::Map(r)) => r,
        other => panic!("{other:?}"),
    };
    let rows: Vec<_> = (0..3).map(|i| map(heap.vec_get(rows, i))).collect();
    let shape = |i: usize| heap.map_shape(rows[i]).unwrap();
    assert_eq!(shape(0), shape(1));
    assert_ne!(shape(0), shape(2));
    let inner = |i: usize, at: usize| heap.map_shape(map(Some(heap.record_get(rows[i], at)))).unwrap();
    assert_eq!(inner(0, 1), inner(1, 1));
    assert_eq!(inner(0, 1), inner(2, 0));
    // The texts of the keys are shared as well, whatever the shape.
    assert!(heap.vec_get(shape(0), 0).unwrap().same(heap.vec_get(shape(2), 1).unwrap()));
}

#[test]
fn sessions_share_keys_within_one_heap_only() {
    let mut reader = JsonReader::default();
    for _ in 0..3 {
        let mut heap = Heap::unbounded();
        let mut session = reader.session(&mut heap, ReadOptions::default());
        let a = session.parse(r#"{"key":1,"other":[2]}"#).unwrap();
        assert!(session.parse(r#"{"key":"#).is_err());
        let b = session.parse(r#"{"key":3,"other":[4]}"#).unwrap();
        let (Value::Map(a), Value::Map(b)) = (a, b) else { panic!() };
        assert_eq!(heap.map_shape(a), heap.map_shape(b));
        let mut out = String::new();
        heap.print(Value::Map(b), &mut out, 1000).unwrap();
        assert_eq!(out, r#"{"key" 3 "other" [4]}"#);
    }
}

#[test]
fn limits_fire_while_growing() {
    for text in [
        format!("[{}1]", "1,".repeat(100_000)),
        format!("[{}1]", "\"abc\",".repeat(100_000)),
        format!("[{}1]", "[1],".repeat(100_000)),
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("{{{}\"z\":1}}", (0..20_000).map(|i| format!("\"k{i}\":1,")).collect::<String>()),
        format!("\"{}\"", "x".repeat(1_000_000)),
        format!("\"{}\"", "\\n".repeat(1_000_000)),
    ] {
        let error = freeze_json(&text, 50_000).unwrap_err();
        assert_eq!(error.to_fault().code(), Code::MemoryExceeded, "{}", &text[..20]);
        assert!(error.to_string().contains("limits.granted_bytes"), "{error}");
    }
    assert!(freeze_json("[[1],[2]]", 200).is_ok());
    // A number alone counts as well, if it is large.
    assert!(freeze_json("9".repeat(1_000), 100).is_err());

    let mut heap = Heap::unbounded();
    let deep = ReadOptions { max_depth: 3, ..ReadOptions::default() };
    assert!(parse_json(&mut heap, "[[[1]]]", &deep).is_ok());
    let error = parse_json(&mut heap, "[[[[1]]]]", &deep).unwrap_err();
    assert_eq!(error.to_string(), "nested deeper than 3 levels (line 1, column 4)");
    let digits = "1".repeat(10_001);
    let error = parse_json(&mut heap, &digits, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("an integer of 10001 digits"), "{error}");
}

/// Retries a native as a VM does: collect, grant the requested memory, run it again.
#[test]
fn on_a_full_heap_a_few_retries_are_enough() {
    let text = format!("[{}1]", "{\"id\":1,\"name\":\"somebody\"},".repeat(20_000));
    let options = ReadOptions::default();
    let mut tries = 0;
    let (mut cells, mut bytes) = (0, 0);
    let value = loop {
        let mut heap = Heap::with_limit(10_000_000);
        heap.collected_for(cells, bytes).unwrap();
        match parse_json(&mut heap, &text, &options) {
            Ok(value) => break value,
            Err(error) => match Stop::from(error).into_kind() {
                StopKind::Room { cells: c, text: t } => (cells, bytes) = (c, t),
                StopKind::Fault(fault) => panic!("{fault:?}"),
            },
        }
        tries += 1;
    };
    assert!(matches!(value, Value::Vector(_)));
    assert!((1..8).contains(&tries), "{tries}");

    // If it can never fit, the result is a fault, not an endless loop.
    let (mut cells, mut bytes) = (0, 0);
    let fault = loop {
        let mut heap = Heap::with_limit(1_500_000);
        if let Err(fault) = heap.collected_for(cells, bytes) {
            break fault;
        }
        match Stop::from(parse_json(&mut heap, &text, &options).unwrap_err()).into_kind() {
            StopKind::Room { cells: c, text: t } => (cells, bytes) = (c, t),
            StopKind::Fault(fault) => break fault,
        }
    };
    assert_eq!(fault.code(), Code::MemoryExceeded);
}

#[test]
fn lines() {
    let read = |text: &str| {
        let (mut heap, mut reader) = (Heap::unbounded(), JsonReader::default());
        let rows = reader.session(&mut heap, ReadOptions::default()).parse_lines(text).unwrap();
        let mut out = String::new();
        heap.print(rows, &mut out, 1000).unwrap();
        out
    };
    assert_eq!(read(""), "[]");
    assert_eq!(read("bad\n3"), "[nil 3]");
    assert_eq!(read("{\"x\":1}\r\n\r\n  \t{\"x\":2}\r\n"), "[{\"x\" 1} {\"x\" 2}]");
    assert_eq!(read("1\r2\n\n3"), "[1 2 3]");
    let frozen = freeze_json_lines("{\"x\":1}\n\n{\"x\":2}\n", 10_000).unwrap();
    assert_eq!(frozen.read(|heap, value| heap.vec_len(value.reference().unwrap())), 2);
    let error = freeze_json_lines("1\n\n{]\n", 10_000).unwrap_err();
    assert_eq!(error.place().map(|place| (place.line, place.column)), Some((3, 2)));
}
