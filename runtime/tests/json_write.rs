//! Values as JSON text.

use ptc_bytecode::Code;
use ptc_runtime::json::{
    Beyond, KeyRule, ReadOptions, WriteOptions, json_form, parse_json, to_json_text, write_json,
};
use ptc_vm::{Fault, Heap, Value};

fn write(heap: &Heap, value: Value, options: &WriteOptions) -> Result<String, Fault> {
    let mut out = String::from("> ");
    write_json(heap, value, &mut out, options).map(|()| out[2..].to_string())
}

#[test]
fn scalars() {
    let mut heap = Heap::unbounded();
    let big = heap.new_integer(&"-123456789012345678901234567890".parse().unwrap()).unwrap();
    let text = heap.new_str("a\"b\\c\n\t\u{1}é😀/\u{7f}").unwrap();
    let keyword = heap.new_keyword("in-stock").unwrap();
    for (value, expected) in [
        (Value::Nil, "null"),
        (Value::True, "true"),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (big, "-123456789012345678901234567890"),
        (Value::float(1.0), "1.0"),
        (Value::float(-0.0), "-0.0"),
        (Value::float(0.1), "0.1"),
        (Value::float(f64::NAN), "null"),
        (Value::float(f64::INFINITY), "null"),
        (text, "\"a\\\"b\\\\c\\n\\t\\u0001é😀/\u{7f}\""),
        (keyword, "\"in-stock\""),
    ] {
        assert_eq!(write(&heap, value, &WriteOptions::default()).unwrap(), expected);
    }
    for x in [1e21, 1e-7, 5e-324, f64::MAX, 123456789.125, 1e15, 1e16, 1e17, -1.5e300] {
        let text = write(&heap, Value::float(x), &WriteOptions::default()).unwrap();
        assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), x, "{text}");
        assert!(text.contains(['.', 'e']), "{text} reads as an integer");
    }
}

#[test]
fn collections_and_what_json_does_not_have() {
    let mut heap = Heap::unbounded();
    let set = heap.new_set(&[Value::Int(1), Value::Nil]).unwrap();
    let range = heap.new_range(0, 10, 4).unwrap();
    let regex = heap.new_regex("a\"+").unwrap();
    let var = heap.new_var("total").unwrap();
    let tool = heap.new_tool("search").unwrap();
    let days = [Value::Day(19_844), Value::Instant(1_714_550_400_000_000), Value::Duration(1500)];
    let (empty_map, empty_set) = (heap.empty_map(), heap.empty_set());
    let print = WriteOptions::default();
    let data = WriteOptions::data();
    let strict = WriteOptions::generate_string();
    for (value, expected) in [
        (set, "[1,null]"),
        (empty_set, "[]"),
        (days[0], "\"2024-05-01\""),
        (days[1], "\"2024-05-01T08:00:00Z\""),
    ] {
        assert_eq!(write(&heap, value, &print).unwrap(), expected);
        assert_eq!(json_form(&heap, value, &data).unwrap().as_deref(), Some(expected));
        assert_eq!(json_form(&heap, value, &strict).unwrap(), None);
    }
    assert!(json_form(&heap, days[2], &data).unwrap().is_some());
    for (value, expected) in [(range, "[0,4,8]"), (empty_map, "{}")] {
        assert_eq!(json_form(&heap, value, &strict).unwrap().as_deref(), Some(expected));
    }
    for (value, printed) in [(var, "\"#'total\""), (tool, "\"tool/search\"")] {
        assert_eq!(write(&heap, value, &print).unwrap(), printed);
    }
    for value in [regex, var, tool, Value::Builtin(1)] {
        assert!(write(&heap, value, &print).unwrap().starts_with('"'));
        let nested = heap.new_vec(&[Value::Int(1), value]).unwrap();
        assert_eq!(json_form(&heap, nested, &data).unwrap(), None);
        assert_eq!(to_json_text(&heap, nested, 1000).unwrap_err().code(), Code::TypeError);
    }
    let builder = heap.new_builder().unwrap();
    assert!(write(&heap, builder, &print).is_err());
    assert_eq!(json_form(&heap, Value::float(f64::NAN), &strict).unwrap(), None);
    assert_eq!(json_form(&heap, Value::float(f64::NAN), &data).unwrap(), None);
    let lost = to_json_text(&heap, Value::float(f64::INFINITY), 1000).unwrap_err();
    assert_eq!(lost.parts().message, "JSON has no number for ##Inf");
}

#[test]
fn keys() {
    let mut heap = Heap::unbounded();
    let (name, text) = (heap.new_keyword("a").unwrap(), heap.new_str("b").unwrap());
    let plain = heap.new_map(&[name, Value::Int(1), text, Value::Int(2)]).unwrap();
    let vector = heap.new_vec(&[Value::Int(1)]).unwrap();
    let odd =
        heap.new_map(&[Value::Int(7), Value::Int(1), Value::Nil, Value::Int(2), vector, Value::Nil]).unwrap();
    let ints = heap.new_map(&[Value::Int(7), plain]).unwrap();
    let with = |keys| WriteOptions { keys, ..WriteOptions::default() };
    for rule in [KeyRule::Names, KeyRule::Integers, KeyRule::Any] {
        assert_eq!(write(&heap, plain, &with(rule)).unwrap(), r#"{"a":1,"b":2}"#);
    }
    assert_eq!(write(&heap, odd, &with(KeyRule::Any)).unwrap(), r#"{"7":1,"nil":2,"[1]":null}"#);
    assert_eq!(write(&heap, ints, &with(KeyRule::Integers)).unwrap(), r#"{"7":{"a":1,"b":2}}"#);
    let fault = write(&heap, ints, &with(KeyRule::Names)).unwrap_err();
    assert_eq!(fault.code(), Code::TypeError);
    assert_eq!(fault.parts().message, "map keys must be strings or keywords here, but 7 is a number");
    let fault = write(&heap, odd, &with(KeyRule::Integers)).unwrap_err();
    assert_eq!(
        fault.parts().message,
        "map keys must be strings, keywords or integers here, but nil is a nil"
    );
}

#[test]
fn keys_of_one_name_are_one_entry() {
    let mut heap = Heap::unbounded();
    let (name, text) = (heap.new_keyword("a").unwrap(), heap.new_str("a").unwrap());
    let seven = heap.new_str("7").unwrap();
    let items =
        [name, Value::Int(1), Value::Int(7), Value::Int(2), text, Value::Int(3), seven, Value::Int(4)];
    let map = heap.new_map(&items).unwrap();
    let two = heap.new_vec(&[map, map]).unwrap();
    assert_eq!(write(&heap, two, &WriteOptions::default()).unwrap(), r#"[{"a":3,"7":4},{"a":3,"7":4}]"#);
}

#[test]
fn pretty_text_is_that_of_serde_json() {
    let text = r#"{"a":[1,[],{},[{"b":null,"c":[[2]]}]],"d":"x"}"#;
    let mut heap = Heap::unbounded();
    let value = parse_json(&mut heap, text, &ReadOptions::default()).unwrap();
    let pretty = write(&heap, value, &WriteOptions { pretty: true, ..WriteOptions::default() }).unwrap();
    let tree: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(pretty, serde_json::to_string_pretty(&tree).unwrap());
}

#[test]
fn more_shapes_than_are_remembered() {
    let rows: Vec<String> =
        (0..100).map(|i| format!("{{\"k{i}\":{i},\"{}\":[{{\"x\":1}}]}}", "long".repeat(i * 20))).collect();
    let text = format!("[{}]", rows.join(","));
    let mut heap = Heap::unbounded();
    let value = parse_json(&mut heap, &text, &ReadOptions::default()).unwrap();
    assert_eq!(write(&heap, value, &WriteOptions::default()).unwrap(), text);
}

#[test]
fn the_limit_is_on_bytes_and_bounds_shared_data() {
    let mut heap = Heap::unbounded();
    // 2^60 ones in 61 small vectors.
    let mut value = Value::Int(1);
    for _ in 0..60 {
        value = heap.new_vec(&[value, value]).unwrap();
    }
    for pretty in [false, true] {
        let options = WriteOptions { limit: 100_000, pretty, ..WriteOptions::default() };
        let fault = write(&heap, value, &options).unwrap_err();
        assert_eq!(fault.code(), Code::OutputExceeded);
        assert!(fault.parts().message.contains("limits.result_bytes"));
    }
    let exact = |limit| {
        let list = [Value::Int(1), Value::Nil];
        let mut heap = Heap::unbounded();
        let value = heap.new_vec(&list).unwrap();
        write(&heap, value, &WriteOptions { limit, ..WriteOptions::default() })
    };
    assert_eq!(exact(8).unwrap(), "[1,null]");
    assert!(exact(7).is_err());
    let long = heap.new_str(&"x".repeat(1000)).unwrap();
    let small = WriteOptions { limit: 100, beyond: Beyond::Data, ..WriteOptions::default() };
    assert_eq!(json_form(&heap, long, &small).unwrap_err().code(), Code::OutputExceeded);
}
