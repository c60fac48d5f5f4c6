//! Columns of every type as records: what programs see is what Arrow's own writer of JSON says, or is refused by name.

use arrow_array::builder::{
    FixedSizeBinaryBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder,
};
use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_json::writer::{LineDelimited, WriterBuilder};
use arrow_schema::{DataType, Field, Fields, Schema, UnionFields};
use ptc_arrow::Table;
use ptc_runtime::{Evaluator, Projection, Rows, Runtime};
use std::sync::Arc;

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

/// The rows of a batch as programs see them, one JSON text per line; a failure is its message.
fn seen(batch: &RecordBatch) -> String {
    let runtime = runtime();
    let program = runtime.compile("data/row").expect("it compiles");
    let mut evaluator = Evaluator::new(&runtime, &program);
    let table = Table::new(batch, &Projection::whole()).expect("a table");
    let mut lines = String::new();
    for row in 0..table.len() {
        match table.run(row, &mut evaluator, "row") {
            Ok(outcome) => lines.push_str(&outcome.json().expect("it is data")),
            Err(failure) => lines.push_str(&failure.diagnostic().message),
        }
        lines.push('\n');
    }
    lines
}

/// The rows as the former way through JSON lines gave them.
fn through_json(batch: &RecordBatch) -> String {
    let mut text = Vec::new();
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(&mut text);
    writer.write(batch).expect("Arrow writes it");
    writer.finish().expect("the end");
    let runtime = runtime();
    let program = runtime.compile("data/row").expect("it compiles");
    let mut evaluator = Evaluator::new(&runtime, &program);
    let mut lines = String::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let outcome = evaluator.json("row", line).expect("a record");
        lines.push_str(&outcome.json().expect("it is data"));
        lines.push('\n');
    }
    lines
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("columns of one length")
}

#[track_caller]
fn check_same(columns: Vec<(&str, ArrayRef)>) {
    let batch = batch(columns);
    let expected = through_json(&batch);
    assert_eq!(seen(&batch), expected);
    // A part of a table has other offsets.
    if batch.num_rows() > 1 {
        let part = batch.slice(1, batch.num_rows() - 1);
        assert_eq!(seen(&part), through_json(&part));
        assert_eq!(seen(&part), expected.split_once('\n').expect("lines").1);
    }
}

#[test]
fn scalars_of_all_widths_are_those_of_json() {
    check_same(vec![
        ("i8", Arc::new(Int8Array::from(vec![Some(i8::MIN), None, Some(i8::MAX)]))),
        ("i16", Arc::new(Int16Array::from(vec![Some(i16::MIN), None, Some(i16::MAX)]))),
        ("i32", Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)]))),
        ("i64", Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)]))),
        ("u8", Arc::new(UInt8Array::from(vec![Some(0), None, Some(u8::MAX)]))),
        ("u16", Arc::new(UInt16Array::from(vec![Some(0), None, Some(u16::MAX)]))),
        ("u32", Arc::new(UInt32Array::from(vec![Some(0), None, Some(u32::MAX)]))),
        ("u64", Arc::new(UInt64Array::from(vec![Some(0), None, Some(u64::MAX)]))),
        ("f32", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::MAX)]))),
        ("f64", Arc::new(Float64Array::from(vec![Some(0.1), Some(-0.0), Some(f64::NAN)]))),
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("text", Arc::new(StringArray::from(vec![Some("a\"é\n"), None, Some("")]))),
        ("large", Arc::new(LargeStringArray::from(vec![Some("x"), None, Some("y")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("x"), None, Some("longer than twelve bytes")]))),
        ("null", Arc::new(NullArray::new(3))),
    ]);
}

#[test]
fn times_and_bytes_are_the_text_that_json_had() {
    let zone = |array: TimestampMicrosecondArray| array.with_timezone("+02:00");
    let mut fixed = FixedSizeBinaryBuilder::new(2);
    fixed.append_value([1, 255]).expect("two bytes");
    fixed.append_null();
    check_same(vec![
        ("day", Arc::new(Date32Array::from(vec![Some(19_844), None]))),
        ("date64", Arc::new(Date64Array::from(vec![Some(1_714_521_600_000), None]))),
        ("s", Arc::new(TimestampSecondArray::from(vec![Some(1_714_521_600), None]))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![Some(1_714_521_600_123), None]))),
        ("us", Arc::new(TimestampMicrosecondArray::from(vec![Some(1_714_521_600_123_456), None]))),
        ("ns", Arc::new(TimestampNanosecondArray::from(vec![Some(1_714_521_600_123_456_789), None]))),
        ("zone", Arc::new(zone(vec![Some(1_714_521_600_123_456), None].into()))),
        ("time32", Arc::new(Time32SecondArray::from(vec![Some(3_661), None]))),
        ("time64", Arc::new(Time64NanosecondArray::from(vec![Some(3_661_000_000_001), None]))),
        ("duration", Arc::new(DurationMillisecondArray::from(vec![Some(90_500), None]))),
        ("months", Arc::new(IntervalYearMonthArray::from(vec![Some(14), None]))),
        ("binary", Arc::new(BinaryArray::from(vec![Some(&b"\x00\xff"[..]), None]))),
        ("large", Arc::new(LargeBinaryArray::from(vec![Some(&b"\x10"[..]), None]))),
        ("view", Arc::new(BinaryViewArray::from(vec![Some(&b"\x10"[..]), None]))),
        ("fixed", Arc::new(fixed.finish())),
    ]);
}

#[test]
fn nested_columns_are_those_of_json() {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None, Some(3)]);
    lists.append_null();
    lists.append_value([]);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("a");
    maps.values().append_value(1);
    maps.keys().append_value("b");
    maps.values().append_null();
    maps.append(true).expect("a map");
    maps.append(false).expect("a map");
    maps.append(true).expect("a map");
    let mut words = StringDictionaryBuilder::<Int16Type>::new();
    words.append_value("tea");
    words.append_null();
    words.append_value("tea");
    let inner =
        Fields::from(vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Utf8, true)]);
    let structs = StructArray::new(
        inner,
        vec![
            Arc::new(Int32Array::from(vec![Some(1), Some(2), None])),
            Arc::new(StringArray::from(vec![Some("a"), Some("b"), None])),
        ],
        Some(NullBuffer::from(vec![true, false, true])),
    );
    let item = Arc::new(Field::new("item", structs.data_type().clone(), true));
    let of_structs = ListArray::new(
        item,
        OffsetBuffer::new(ScalarBuffer::from(vec![0, 2, 2, 3])),
        Arc::new(structs.clone()),
        None,
    );
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        vec![Some(vec![Some(1), Some(2)]), None, Some(vec![None, Some(4)])],
        2,
    );
    let views = ListViewArray::new(
        Arc::new(Field::new("item", DataType::Int32, true)),
        ScalarBuffer::from(vec![1, 0, 0]),
        ScalarBuffer::from(vec![2, 0, 1]),
        Arc::new(Int32Array::from(vec![5, 6, 7])),
        None,
    );
    let runs = RunArray::<Int32Type>::try_new(
        &Int32Array::from(vec![2, 3]),
        &StringArray::from(vec![Some("x"), None]),
    )
    .expect("runs");
    check_same(vec![
        ("lists", Arc::new(lists.finish())),
        ("maps", Arc::new(maps.finish())),
        ("words", Arc::new(words.finish())),
        ("structs", Arc::new(structs)),
        ("of_structs", Arc::new(of_structs)),
        ("fixed", Arc::new(fixed)),
        ("views", Arc::new(views)),
        ("runs", Arc::new(runs)),
    ]);
}

#[test]
fn decimals_are_exact_or_the_record_fails() {
    let decimals = Decimal128Array::from(vec![Some(1250), None, Some(123_456_789_012_345_678)]);
    let wide = Decimal256Array::from(vec![Some(i256::from(7)), None, Some(i256::MAX)]);
    let table = batch(vec![
        ("price", Arc::new(decimals.with_precision_and_scale(20, 2).expect("a decimal"))),
        ("wide", Arc::new(wide.with_precision_and_scale(76, 0).expect("a decimal"))),
        ("small", Arc::new(Decimal32Array::from(vec![1, 2, 3]).with_precision_and_scale(9, 0).expect("it"))),
    ]);
    let lines = seen(&table);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], r#"{"price":12.5,"wide":7,"small":1}"#);
    assert_eq!(lines[1], r#"{"price":null,"wide":null,"small":2}"#);
    assert!(
        lines[2]
            .starts_with("the column `price` has a value of type Decimal128(20, 2) that has too many digits"),
        "{}",
        lines[2]
    );
}

#[test]
fn what_has_no_value_is_refused_with_its_name_and_type() {
    let refused = |columns, projection: &Projection| {
        Table::new(&batch(columns), projection).expect_err("refused").to_string()
    };
    let union = UnionArray::try_new(
        UnionFields::try_new(vec![0], vec![Field::new("n", DataType::Int32, true)]).expect("fields"),
        ScalarBuffer::from(vec![0_i8]),
        None,
        vec![Arc::new(Int32Array::from(vec![1]))],
    )
    .expect("a union");
    let union: ArrayRef = Arc::new(union);
    let message = refused(vec![("either", union.clone())], &Projection::whole());
    assert!(message.starts_with("the column `either` has the type Union("), "{message}");
    let inner =
        StructArray::from(vec![(Arc::new(Field::new("u", union.data_type().clone(), true)), union.clone())]);
    let message = refused(vec![("outer", Arc::new(inner))], &Projection::whole());
    assert!(message.starts_with("the column `outer.u` has the type Union("), "{message}");
    // A column that no program reads does not matter.
    assert!(Table::new(&batch(vec![("either", union)]), &Projection::default()).is_ok());

    let mut maps = MapBuilder::new(None, Int32Builder::new(), Int32Builder::new());
    maps.append(true).expect("a map");
    let message = refused(vec![("by_id", Arc::new(maps.finish()))], &Projection::whole());
    assert!(message.starts_with("the column `by_id` has the type Map("), "{message}");

    let ones: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let field = Field::new("n", DataType::Int32, true);
    let schema = Arc::new(Schema::new(vec![field.clone(), field]));
    let twice = RecordBatch::try_new(schema, vec![ones.clone(), ones]).expect("a batch");
    let message = Table::new(&twice, &Projection::whole()).expect_err("refused").to_string();
    assert!(message.starts_with("the column `n` is there twice"), "{message}");
}

#[test]
fn a_time_out_of_range_fails_its_record_only() {
    let table = batch(vec![("t", Arc::new(TimestampSecondArray::from(vec![0, i64::MAX])))]);
    let lines = seen(&table);
    assert!(lines.starts_with("{\"t\":\"1970-01-01T00:00:00\"}\n"), "{lines}");
    assert!(
        lines.contains("the column `t` has a value of type Timestamp(s) that is out of range"),
        "{lines}"
    );
}

#[test]
fn columns_that_no_program_observes_are_nil_and_their_keys_stay() {
    let runtime = runtime();
    let table = batch(vec![
        ("price", Arc::new(Int64Array::from(vec![3]))),
        ("name", Arc::new(StringArray::from(vec!["tea"]))),
    ]);
    let program = runtime.compile("(+ 1 (:price data/row))").expect("it compiles");
    let projection = ptc_runtime::Batch::new(&runtime, &program).projection();
    let part = Table::new(&table, &projection).expect("a table");
    let whole = runtime.compile("data/row").expect("it compiles");
    let mut evaluator = Evaluator::new(&runtime, &whole);
    let json = part.run(0, &mut evaluator, "row").expect("a value").json().expect("data");
    assert_eq!(json, r#"{"price":3,"name":null}"#);
}
