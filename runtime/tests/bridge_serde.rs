//! Rust types through values and owned data, and the errors for types that do not fit.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use ptc_bytecode::{Code, Datum, Node};
use ptc_runtime::bridge::{
    FromOptions, MAX_DEPTH, datum_to_json, datum_to_json_text, freeze, from_datum, from_frozen, from_value,
    from_value_with, json_to_datum, to_datum, to_value,
};
use ptc_runtime::json::{ReadOptions, parse_json};
use ptc_vm::{Heap, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
enum Shape {
    Point,
    Circle(f64),
    Line(i32, i32),
    Box { top_left: (i32, i32), filled: bool },
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Wrapper(u16);

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Everything {
    nothing: (),
    flag: bool,
    small: i8,
    large: u64,
    huge: i128,
    ratio: f64,
    letter: char,
    text: String,
    maybe: Option<String>,
    list: Vec<Wrapper>,
    pair: (i64, String),
    by_name: BTreeMap<String, Option<u8>>,
    by_number: BTreeMap<u32, bool>,
    shapes: Vec<Shape>,
}

fn everything() -> Everything {
    Everything {
        nothing: (),
        flag: true,
        small: -7,
        large: u64::MAX,
        huge: i128::MIN,
        ratio: 0.1,
        letter: 'é',
        text: "a\n\"b\"".into(),
        maybe: None,
        list: vec![Wrapper(1), Wrapper(2)],
        pair: (i64::MIN, String::new()),
        by_name: [("x".to_string(), Some(1)), ("y".to_string(), None)].into(),
        by_number: [(7, true), (8, false)].into(),
        shapes: vec![
            Shape::Point,
            Shape::Circle(2.0),
            Shape::Line(1, -1),
            Shape::Box { top_left: (0, 1), filled: false },
        ],
    }
}

fn through_heap<T: Serialize + DeserializeOwned>(data: &T) -> T {
    let mut heap = Heap::unbounded();
    let value = to_value(&mut heap, data).unwrap();
    from_value(&heap, value).unwrap()
}

/// Reads this JSON text as a program's result would be read.
fn returned<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut heap = Heap::unbounded();
    let value = parse_json(&mut heap, text, &ReadOptions::default()).unwrap();
    from_value(&heap, value).map_err(|error| error.to_string())
}

#[test]
fn every_kind_of_type_comes_back() {
    let data = everything();
    assert_eq!(through_heap(&data), data);
    assert_eq!(from_datum::<Everything>(&to_datum(&data).unwrap()).unwrap(), data);
    assert_eq!(from_frozen::<Everything>(&freeze(&data).unwrap()).unwrap(), data);
}

#[test]
fn enums_are_tagged_as_in_serde_json() {
    for shape in everything().shapes {
        let json = serde_json::to_value(&shape).unwrap();
        assert_eq!(datum_to_json(&to_datum(&shape).unwrap()).unwrap(), json);
        assert_eq!(returned::<Shape>(&json.to_string()).unwrap(), shape);
    }
    for (text, expected) in [
        (r#"{"Circle":1,"Point":null}"#, "expected the name of a variant"),
        (r#""Circle""#, "variant `Circle` needs data"),
        (r#"{"Point":1}"#, "variant `Point` takes no data"),
        (r#""Oval""#, "unknown variant `Oval`"),
        ("3", "invalid type: number"),
    ] {
        let error = returned::<Shape>(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn structs_of_one_type_share_their_keys() {
    let mut heap = Heap::unbounded();
    let rows =
        [Shape::Box { top_left: (1, 2), filled: true }, Shape::Box { top_left: (3, 4), filled: false }];
    let Value::Vector(rows) = to_value(&mut heap, &rows).unwrap() else { panic!() };
    let shape = |i: usize| match heap.vec_get(rows, i) {
        Some(Value::Map(r)) => match heap.record_get(r, 0) {
            Value::Map(inner) => (heap.map_shape(r), heap.map_shape(inner)),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(shape(0), shape(1));
}

#[derive(Deserialize, PartialEq, Debug)]
struct Query {
    max_rows: u32,
    #[serde(default)]
    sort_by: Option<String>,
    #[serde(rename = "in-stock", default)]
    in_stock: bool,
}

#[test]
fn fields_are_found_under_either_spelling() {
    let mut heap = Heap::unbounded();
    let (rows, sort, stock) = (
        heap.new_keyword("max-rows").unwrap(),
        heap.new_keyword("sort-by").unwrap(),
        heap.new_keyword("in_stock").unwrap(),
    );
    let name = heap.new_keyword("unit-price").unwrap();
    let map = heap.new_map(&[rows, Value::float(5.0), sort, name, stock, Value::True]).unwrap();
    let expected = Query { max_rows: 5, sort_by: Some("unit-price".into()), in_stock: true };
    assert_eq!(from_value::<Query>(&heap, map).unwrap(), expected);
    let exact = FromOptions { match_fields: false, ..FromOptions::default() };
    let error = from_value_with::<Query>(&heap, map, exact).unwrap_err();
    assert!(error.to_string().contains("missing field `max_rows`"), "{error}");

    // Maps keep their keys by default.
    let keys = |options| {
        let map: BTreeMap<String, serde_json::Value> = from_value_with(&heap, map, options).unwrap();
        map.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(keys(FromOptions::default()), ["in_stock", "max-rows", "sort-by"]);
    assert_eq!(
        keys(FromOptions { snake_keys: true, ..FromOptions::default() }),
        ["in_stock", "max_rows", "sort_by"]
    );
}

#[test]
fn values_that_json_does_not_have() {
    let mut heap = Heap::unbounded();
    let set = heap.new_set(&[Value::Int(1), Value::Int(2)]).unwrap();
    let range = heap.new_range(0, 6, 2).unwrap();
    let regex = heap.new_regex("a+").unwrap();
    let keyed = heap.new_map(&[Value::Int(3), set]).unwrap();
    assert_eq!(from_value::<Vec<u8>>(&heap, set).unwrap(), [1, 2]);
    assert_eq!(from_value::<(u8, u8, u8)>(&heap, range).unwrap(), (0, 2, 4));
    assert_eq!(from_value::<String>(&heap, regex).unwrap(), "a+");
    assert_eq!(from_value::<String>(&heap, Value::Day(19_844)).unwrap(), "2024-05-01");
    assert_eq!(from_value::<HashMap<i64, Vec<u8>>>(&heap, keyed).unwrap(), [(3, vec![1, 2])].into());
    assert_eq!(
        from_value::<HashMap<String, Vec<u8>>>(&heap, keyed).unwrap(),
        [("3".into(), vec![1, 2])].into()
    );
    let builder = heap.new_builder().unwrap();
    assert!(from_value::<serde_json::Value>(&heap, builder).is_err());
    // Text can be borrowed.
    let text = heap.new_str("borrowed").unwrap();
    assert_eq!(from_value::<&str>(&heap, text).unwrap(), "borrowed");
}

#[test]
fn numbers_fit_or_say_so() {
    assert_eq!(returned::<i64>("3.0").unwrap(), 3);
    assert_eq!(returned::<f64>("3").unwrap(), 3.0);
    assert_eq!(returned::<u64>("18446744073709551615").unwrap(), u64::MAX);
    assert_eq!(returned::<u128>("340282366920938463463374607431768211455").unwrap(), u128::MAX);
    assert_eq!(returned::<f64>("100000000000000000000000").unwrap(), 1e23);
    for text in ["3.5", "1e300", "-1", "256", "100000000000000000000000", "null", "\"1\""] {
        assert!(returned::<u8>(text).is_err(), "{text}");
    }
}

#[test]
fn errors_say_where() {
    #[derive(Deserialize, Debug)]
    struct Order {
        #[allow(dead_code)]
        items: Vec<HashMap<String, f64>>,
    }
    let error = returned::<Order>(r#"{"items":[{"a":1},{"b":2,"price":"x"}]}"#).unwrap_err();
    assert_eq!(error, "at items[1].price: invalid type: string \"x\", expected f64");
    let error = returned::<Query>(r#"{"max_rows":-1}"#).unwrap_err();
    assert_eq!(error, "at max_rows: invalid value: integer `-1`, expected u32");
    let error = to_datum(&HashMap::from([((1, 2), 3)])).unwrap_err();
    assert_eq!(error.to_fault().code(), Code::InvalidData);
    assert!(error.to_string().contains("a map key must be a string"), "{error}");
}

#[derive(Serialize, Deserialize, Debug)]
struct Forever(Option<Box<Forever>>);

#[test]
fn depth_is_an_error_before_it_is_an_overflow() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(returned::<serde_json::Value>(&nested(MAX_DEPTH)).is_ok());
    let error = returned::<serde_json::Value>(&nested(MAX_DEPTH + 1)).unwrap_err();
    assert!(error.contains("data nested deeper than 128 levels"), "{error}");
    assert!(returned::<serde_json::Value>(&nested(100_000)).is_err());
    // Types that recurse on the same value.
    assert!(returned::<Forever>("1").is_err());
    let mut chain = Forever(None);
    for _ in 0..1000 {
        chain = Forever(Some(Box::new(chain)));
    }
    assert!(to_datum(&chain).unwrap_err().to_string().contains("nested deeper"));
    // serde_json's maximum depth goes both ways.
    let tree: serde_json::Value = serde_json::from_str(&nested(127)).unwrap();
    assert_eq!(datum_to_json(&json_to_datum(&tree).unwrap()).unwrap(), tree);
    // Ignored parts may be of any depth.
    #[derive(Deserialize)]
    struct Top {
        id: u8,
    }
    let text = format!("{{\"deep\":{},\"id\":4}}", nested(100_000));
    assert_eq!(returned::<Top>(&text).unwrap().id, 4);
}

#[test]
fn owned_data_as_json_text() {
    let nodes = vec![
        Node::Keyword("a".into()),
        Node::Big("123456789012345678901234567890".into()),
        Node::Str("b".into()),
        Node::Day(19_844),
        Node::Float(f64::NAN),
        Node::Set(2),
        Node::Map(2),
    ];
    let datum = Datum::new(nodes).unwrap();
    let text = r#"{"a":123456789012345678901234567890,"b":["2024-05-01",null]}"#;
    assert_eq!(datum_to_json_text(&datum, 1000).unwrap(), text);
    assert_eq!(datum_to_json_text(&datum, 10).unwrap_err().code(), Code::OutputExceeded);
    let deep: Vec<Node> = std::iter::once(Node::Nil).chain((0..100_000).map(|_| Node::Vector(1))).collect();
    assert!(datum_to_json_text(&Datum::new(deep).unwrap(), 1_000_000).unwrap().starts_with("[[["));
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 200, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Into::into),
            prop::collection::vec(("[a-d]{1,2}", inner), 0..20)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn trees_come_back(tree in json()) {
        prop_assert_eq!(&datum_to_json(&json_to_datum(&tree).unwrap()).unwrap(), &tree);
        prop_assert_eq!(&from_frozen::<serde_json::Value>(&freeze(&tree).unwrap()).unwrap(), &tree);
        let text = datum_to_json_text(&json_to_datum(&tree).unwrap(), 1 << 20).unwrap();
        let mut heap = Heap::unbounded();
        let value = parse_json(&mut heap, &text, &ReadOptions::default()).unwrap();
        prop_assert_eq!(&from_value::<serde_json::Value>(&heap, value).unwrap(), &tree);
    }
}
