//! Values through columns and back: the same, or refused.

use proptest::prelude::*;
use ptc_arrow::{Columns, OnError, Table, Value, infer, parse_schema};
use ptc_bytecode::{Datum, Node};
use ptc_runtime::{Evaluator, Projection, Rows, Runtime};
use std::sync::Arc;

/// The rows of columns, read again.
fn again(columns: &mut Columns) -> Vec<Value> {
    let batch = columns.finish().expect("a batch");
    let table = Table::new(&batch, &Projection::whole()).expect("a table");
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("the core library");
    let program = runtime.compile("data/row").expect("it compiles");
    let mut evaluator = Evaluator::new(&runtime, &program);
    let row = |at| {
        let outcome = table.run(at, &mut evaluator, "row").expect("a record");
        Value::of(&outcome.datum().expect("data")).expect("a value")
    };
    (0..table.len()).map(row).collect()
}

/// A type, and values of it; nils are everywhere.
fn column() -> impl Strategy<Value = Vec<Value>> {
    // One kind for the whole column: a strategy that makes strategies.
    (0..6_usize).prop_flat_map(|kind| {
        let one: BoxedStrategy<Value> = match kind {
            0 => any::<bool>().prop_map(Value::Bool).boxed(),
            1 => any::<i64>().prop_map(|n| Value::Int(n.into())).boxed(),
            2 => any::<u64>().prop_map(|n| Value::Int(n.into())).boxed(),
            3 => (-(10_i128.pow(37))..10_i128.pow(37)).prop_map(Value::Int).boxed(),
            4 => any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Value::Float).boxed(),
            _ => "\\PC{0,12}".prop_map(|text| Value::Text(text.into())).boxed(),
        };
        let one = prop_oneof![4 => one, 1 => Just(Value::Nil)];
        let list = prop::collection::vec(one.clone(), 0..4).prop_map(Value::List);
        let map = (one.clone(), one.clone())
            .prop_map(|(a, b)| Value::Map(vec![("a".into(), a), ("b c".into(), b)]));
        prop_oneof![
            prop::collection::vec(one, 1..20),
            prop::collection::vec(prop_oneof![4 => list.clone(), 1 => Just(Value::Nil)], 1..10),
            prop::collection::vec(prop_oneof![4 => map, 1 => Just(Value::Nil)], 1..10),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_of_one_type_come_back(values in column()) {
        let rows: Vec<Value> =
            values.into_iter().map(|value| Value::Map(vec![("x".into(), value)])).collect();
        let schema = infer(&rows).expect("one type");
        let mut columns = Columns::new(Arc::new(schema), OnError::LeaveOut).expect("columns");
        for row in &rows {
            columns.push(row.clone()).expect("it fits");
        }
        let found = again(&mut columns);
        prop_assert_eq!(found, rows);
    }

    #[test]
    fn any_values_are_columns_or_refused(
        rows in prop::collection::vec(
            prop::collection::vec(("[ab]", column().prop_map(Value::List)), 0..3),
            0..6,
        ),
    ) {
        let distinct = |mut row: Vec<(String, Value)>| {
            row.sort_by(|(a, _), (b, _)| a.cmp(b));
            row.dedup_by(|(a, _), (b, _)| a == b);
            Value::Map(row.into_iter().map(|(key, value)| (key.into(), value)).collect())
        };
        let rows: Vec<Value> = rows.into_iter().map(distinct).collect();
        if let Ok(schema) = infer(&rows) {
            let mut columns = Columns::new(Arc::new(schema), OnError::Null).expect("columns");
            for row in rows {
                columns.push(row).expect("what a schema was inferred from fits");
            }
            columns.finish().expect("a batch");
        }
    }
}

#[test]
fn declared_types_take_what_they_hold_exactly() {
    let text =
        "i: int8, u: uint64, f: float32, d: decimal(5, 2), day: date, at: timestamp, l: list<{n: int}>";
    let schema = Arc::new(parse_schema(text).expect("a schema"));
    let mut columns = Columns::new(schema, OnError::LeaveOut).expect("columns");
    let row = |key: &str, value: Value| Value::Map(vec![(key.into(), value)]);
    let words = |text: &str| Value::Text(text.into());
    for (key, value) in [
        ("i", Value::Int(-128)),
        ("i", Value::Float(3.0)),
        ("u", Value::Int(u64::MAX.into())),
        ("f", Value::Float(0.1)),
        ("f", Value::Int(16_777_216)),
        ("d", Value::Float(999.99)),
        ("d", Value::Int(-999)),
        ("day", words("2024-05-01")),
        ("day", Value::Day(7)),
        ("at", words("2024-05-01T00:00:00Z")),
        ("at", Value::Instant(-1)),
        ("l", Value::List(vec![row("n", Value::Int(1)), Value::Nil])),
    ] {
        columns.push(row(key, value.clone())).unwrap_or_else(|misfit| panic!("{key} {value:?}: {misfit}"));
    }
    for (key, value, message) in [
        ("i", Value::Int(128), "the column `i` is of type Int8, but the value is 128"),
        ("i", Value::Float(0.5), "the column `i` is of type Int8, but the value is 0.5"),
        ("u", Value::Int(-1), "the column `u` is of type UInt64, but the value is -1"),
        (
            "f",
            Value::Float(0.123_456_789_012),
            "the column `f` is of type Float32, but the value is 0.123456789012",
        ),
        ("d", Value::Float(0.125), "the column `d` is of type Decimal128(5, 2), but the value is 0.125"),
        ("d", Value::Int(1000), "the column `d` is of type Decimal128(5, 2), but the value is 1000"),
        ("day", words("soon"), "the column `day` is of type Date32, but the value is a string"),
        (
            "l",
            Value::List(vec![row("n", words("x"))]),
            "the column `l.*.n` is of type Int64, but the value is a string",
        ),
        ("x", Value::Int(1), "the column `x` is not in the schema"),
    ] {
        let misfit = columns.push(row(key, value)).expect_err(message);
        assert_eq!(misfit.to_string(), message);
    }
    assert_eq!(columns.len(), 12);
    assert_eq!(columns.finish().expect("a batch").num_rows(), 12);
}

#[test]
fn records_that_fail_leave_no_row_or_nulls_or_their_error() {
    let schema = Arc::new(parse_schema("n: int").expect("a schema"));
    for (on_error, expected) in [
        (OnError::LeaveOut, "[{\"n\":1}]"),
        (OnError::Null, "[{\"n\":null},{\"n\":1}]"),
        (OnError::Column("why"), "[{\"n\":null,\"why\":\"no\"},{\"n\":1,\"why\":null}]"),
    ] {
        let mut columns = Columns::new(schema.clone(), on_error).expect("columns");
        columns.push_failure("no");
        columns.push(Value::Map(vec![("n".into(), Value::Int(1))])).expect("it fits");
        let batch = columns.finish().expect("a batch");
        let mut text = Vec::new();
        let mut writer = arrow_json::WriterBuilder::new()
            .with_explicit_nulls(true)
            .build::<_, arrow_json::writer::JsonArray>(&mut text);
        writer.write(&batch).expect("written");
        writer.finish().expect("the end");
        assert_eq!(String::from_utf8(text).expect("text"), expected);
    }
    let error = Columns::new(schema, OnError::Column("n")).err().expect("refused").to_string();
    assert_eq!(error, "the column `n` is one of the results, so it cannot be that of the errors");
}

#[test]
fn results_that_columns_cannot_hold_are_refused() {
    let refused = |nodes: Vec<Node>| {
        Value::of(&Datum::new(nodes).expect("one value")).expect_err("refused").to_string()
    };
    assert!(refused(vec![Node::Opaque("#fn".into())]).contains("#fn cannot be put in a column"));
    assert!(refused(vec![Node::Big("9".repeat(50).into())]).contains("an integer of more than 38 digits"));
    let same = vec![Node::Keyword("a".into()), Node::Nil, Node::Str("a".into()), Node::Nil, Node::Map(2)];
    assert!(refused(same).contains("two keys of a map in the result are called `a`"));
    let mut deep = vec![Node::Nil];
    deep.extend(std::iter::repeat_n(Node::Vector(1), 100_000));
    assert!(refused(deep).contains("nested deeper than 32 levels"));
    let declared = parse_schema("n: int").expect("a schema");
    let mut columns = Columns::new(Arc::new(declared), OnError::LeaveOut).expect("columns");
    let misfit = columns.push(Value::Int(1)).expect_err("no map").to_string();
    assert_eq!(misfit, "the column `n` needs a map with that key, but the result is an integer");
}

#[test]
fn schemas_are_inferred_from_all_values() {
    let shown = |rows: &[Value]| match infer(rows) {
        Ok(schema) => {
            let fields = schema.fields().iter();
            fields
                .map(|field| format!("{} {}", field.name(), field.data_type()))
                .collect::<Vec<_>>()
                .join("; ")
        }
        Err(conflict) => conflict.to_string(),
    };
    let row = |entries: &[(&str, Value)]| {
        Value::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
    };
    assert_eq!(shown(&[]), "value Utf8");
    assert_eq!(shown(&[Value::Nil, Value::Int(1)]), "value Int64");
    assert_eq!(shown(&[Value::Int(1 << 63)]), "value UInt64");
    assert_eq!(shown(&[Value::Int(1 << 63), Value::Int(-1)]), "value Decimal128(38, 0)");
    assert_eq!(shown(&[row(&[("a", Value::Nil)]), row(&[("b", Value::Bool(true))])]), "a Utf8; b Boolean");
    assert_eq!(shown(&[Value::Day(1)]), "value Date32");
    assert_eq!(
        shown(&[Value::Int(1), Value::Text("x".into())]),
        "the column `value` has integers and strings"
    );
    assert_eq!(shown(&[row(&[]), Value::Int(1)]), "the column `value` has maps and integers");
    let mixed = [Value::Float(0.5), Value::Int((1 << 53) + 1)];
    assert_eq!(shown(&mixed), "the column `value` has floats, and integers that are no floats exactly");
    let nested =
        row(&[("l", Value::List(vec![row(&[("x", Value::Int(1))]), row(&[("x", Value::Bool(true))])]))]);
    assert_eq!(shown(&[nested]), "the column `l.*.x` has integers and booleans");
}
