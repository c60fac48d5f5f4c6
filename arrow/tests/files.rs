//! Tables in files: written, read again, pruned, damaged.

use arrow_array::builder::{Int32Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Float64Array, Int64Array, NullArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field, Fields};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use ptc_arrow::files::{Format, Reader, Writer};
use ptc_runtime::{Batch, Ending, Evaluator, Input, Projection, Runtime};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

/// Rows from this number on, with columns of many types; `note` is null in all of them.
fn table(from: i64, rows: i64) -> RecordBatch {
    let ids = from..from + rows;
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    let mut lists = ListBuilder::new(Int32Builder::new());
    for id in ids.clone() {
        words.append_value(if id % 2 == 0 { "even" } else { "odd" });
        lists.append_value((0..id % 3).map(|n| Some(n as i32)));
    }
    // Not a number and null at times: neither is in statistics.
    let quarter = |id: i64| match id % 10 {
        3 => Some(f64::NAN),
        7 => None,
        _ => Some(id as f64 / 4.0),
    };
    let name = |id| (id % 2 == 0).then(|| format!("n{id}"));
    let inner = vec![Field::new("x", DataType::Int64, true), Field::new("y", DataType::Float64, true)];
    let place = StructArray::new(
        Fields::from(inner),
        vec![
            Arc::new(Int64Array::from_iter_values(ids.clone())),
            Arc::new(Float64Array::from_iter_values(ids.clone().map(|id| id as f64 / 4.0))),
        ],
        None,
    );
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        ("name", Arc::new(ids.clone().map(name).collect::<StringArray>())),
        ("word", Arc::new(words.finish())),
        ("list", Arc::new(lists.finish())),
        ("place", Arc::new(place)),
        ("quarter", Arc::new(Float64Array::from_iter(ids.clone().map(quarter)))),
        ("at", Arc::new(TimestampMicrosecondArray::from_iter_values(ids.map(|id| id * 1_000_000)))),
        ("note", Arc::new(StringArray::new_null(rows as usize))),
        ("nothing", Arc::new(NullArray::new(rows as usize))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("columns of one length")
}

/// A file of three row groups or batches.
fn written(format: Format, rows: i64, is_packed: bool) -> Vec<u8> {
    let batches: Vec<RecordBatch> = (0..3).map(|group| table(group * rows, rows)).collect();
    let schema = batches[0].schema();
    match format {
        Format::Parquet => {
            let compression = if is_packed { Compression::SNAPPY } else { Compression::UNCOMPRESSED };
            let properties = WriterProperties::builder().set_compression(compression).build();
            let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).expect("a writer");
            for batch in &batches {
                writer.write(batch).expect("rows");
                writer.flush().expect("a row group");
            }
            writer.into_inner().expect("the end")
        }
        Format::Arrow => {
            let compression = is_packed.then_some(CompressionType::LZ4_FRAME);
            let options = IpcWriteOptions::default().try_with_compression(compression).expect("a codec");
            let mut writer =
                FileWriter::try_new_with_options(Vec::new(), &schema, options).expect("a writer");
            batches.iter().for_each(|batch| writer.write(batch).expect("rows"));
            writer.finish().expect("the end");
            writer.into_inner().expect("the bytes")
        }
        Format::Csv => {
            let mut text = b"id,name,word\n".to_vec();
            for id in 0..3 * rows {
                let name = if id % 2 == 0 { format!("\"n,{id}\"") } else { String::new() };
                text.extend_from_slice(format!("{id},{name},w\n").as_bytes());
            }
            text
        }
    }
}

const ALL: [(Format, bool); 5] = [
    (Format::Parquet, false),
    (Format::Parquet, true),
    (Format::Arrow, false),
    (Format::Arrow, true),
    (Format::Csv, false),
];

fn open(bytes: &[u8], format: Format, projection: &Projection) -> Result<Reader, String> {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    Reader::open(Path::new("trades.file"), file, format, projection)
}

/// All rows as JSON lines, or what is wrong with the file.
fn lines(bytes: &[u8], format: Format) -> Result<Vec<String>, String> {
    let runtime = runtime();
    let mut evaluator = Evaluator::new(&runtime, &runtime.compile("data/row").expect("it compiles"));
    let mut lines = Vec::new();
    for rows in open(bytes, format, &Projection::whole()).map_err(|why| format!("opening: {why}"))? {
        let rows = rows.map_err(|error| error.to_string())?;
        for row in 0..rows.len() {
            // A value may be damaged so that no program can see it; that is an error of its record.
            let seen = rows.run(row, &mut evaluator, "row").ok().and_then(|outcome| outcome.json().ok());
            lines.push(seen.unwrap_or_default());
        }
    }
    Ok(lines)
}

fn line(id: i64) -> String {
    let name = if id % 2 == 0 { format!("\"n{id}\"") } else { "null".to_string() };
    let word = if id % 2 == 0 { "even" } else { "odd" };
    let quarter =
        if matches!(id % 10, 3 | 7) { "null".to_string() } else { format!("{:?}", id as f64 / 4.0) };
    let list: Vec<String> = (0..id % 3).map(|n| n.to_string()).collect();
    let (minute, second) = (id / 60 % 60, id % 60);
    format!(
        "{{\"id\":{id},\"name\":{name},\"word\":\"{word}\",\"list\":[{}],\"place\":{{\"x\":{id},\"y\":{:?}}},\
         \"quarter\":{quarter},\"at\":\"1970-01-01T{:02}:{minute:02}:{second:02}\",\"note\":null,\"nothing\":null}}",
        list.join(","),
        id as f64 / 4.0,
        id / 3600,
    )
}

#[test]
fn every_row_is_a_record_with_all_columns() {
    for (format, is_packed) in ALL {
        let found = lines(&written(format, 2_000, is_packed), format).expect("rows");
        let expected: Vec<String> = match format {
            Format::Csv => (0..6_000)
                .map(|id| {
                    let name = if id % 2 == 0 { format!("\"n,{id}\"") } else { "null".to_string() };
                    format!("{{\"id\":\"{id}\",\"name\":{name},\"word\":\"w\"}}")
                })
                .collect(),
            _ => (0..6_000).map(line).collect(),
        };
        assert!(found == expected, "{format:?}: {:?} and not {:?}", found.first(), expected.first());
    }
}

#[test]
fn only_observed_columns_are_read_and_results_stay_the_same() {
    let runtime = runtime();
    for source in
        ["(:id data/row)", "(-> data/row :place :x)", "(str (:word data/row) (:note data/row))", "7"]
    {
        let program = runtime.compile(source).expect("it compiles");
        let batch = Batch::new(&runtime, &program).threads(2);
        for (format, is_packed) in ALL {
            let bytes = written(format, 400, is_packed);
            let run = |projection: &Projection| {
                let reader = open(&bytes, format, projection).expect("it opens");
                let read = reader.read_columns().count();
                let mut output = Vec::new();
                let summary = batch.lines(Input::rows(reader), &mut output, |_, _| Ok(()));
                assert!(matches!(summary.ending, Ending::Complete), "{:?}", summary.ending);
                (summary.records, output, read)
            };
            let (records, output, read) = run(&batch.projection());
            let (_, whole, all) = run(&Projection::whole());
            assert_eq!(records, 1_200);
            assert!(output == whole && read < all, "{source} {format:?} {read} of {all}");
        }
    }
}

#[test]
fn folds_and_rules_read_tables() {
    let runtime = runtime();
    let bytes = written(Format::Parquet, 2_000, true);
    let source = "(def init 0) (defn step [sum row] (+ sum (:id row))) (defn combine [a b] (+ a b))";
    let fold = Batch::reduce(&runtime, source).expect("it compiles");
    assert!(!fold.projection().is_whole());
    let reader = open(&bytes, Format::Parquet, &fold.projection()).expect("it opens");
    let (value, summary) = fold.fold(Input::rows(reader), |_, _| Ok(()));
    assert_eq!(value.expect("no failure").expect("a value").get::<i64>().expect("a number"), 17_997_000);
    assert_eq!(summary.results, 6_000);

    let rules = [("even", "(even? (:id data/row))"), ("name", "(count (:name data/row))")];
    let rules = rules.map(|(name, source)| (name, runtime.compile(source).expect("it compiles")));
    let rules = Batch::rules(&runtime, rules).take(3);
    let mut output = Vec::new();
    let reader = open(&bytes, Format::Parquet, &rules.projection()).expect("it opens");
    let summary = rules.lines(Input::rows(reader), &mut output, |_, _, _| Ok(()));
    assert_eq!(summary.records, 3);
    let expected = "{\"even\":true,\"name\":2}\n{\"even\":false,\"name\":0}\n{\"even\":true,\"name\":2}\n";
    assert_eq!(String::from_utf8(output).expect("text"), expected);
}

#[test]
fn what_is_written_is_read_again() {
    let batch = table(0, 100);
    for format in [Format::Parquet, Format::Arrow] {
        let mut writer = Writer::new(format, Vec::new(), &batch.schema()).expect("a writer");
        writer.write(&batch).expect("rows");
        let bytes = writer.finish().expect("the end");
        assert_eq!(Format::of_start(&bytes), Some(format));
        assert!(lines(&bytes, format).expect("rows") == (0..100).map(line).collect::<Vec<_>>());
    }
    let error = Writer::new(Format::Csv, Vec::new(), &batch.schema()).err().expect("refused").to_string();
    assert!(error.starts_with("the column `list` has the type List("), "{error}");
    let flat = batch.project(&[0, 1, 6]).expect("columns");
    let mut writer = Writer::new(Format::Csv, Vec::new(), &flat.schema()).expect("a writer");
    writer.write(&flat.slice(0, 3)).expect("rows");
    let text = String::from_utf8(writer.finish().expect("the end")).expect("text");
    assert_eq!(
        text,
        "id,name,at\n0,n0,1970-01-01T00:00:00\n1,,1970-01-01T00:00:01\n2,n2,1970-01-01T00:00:02\n"
    );
}

#[test]
fn row_groups_that_a_filter_excludes_are_skipped() {
    let runtime = runtime();
    let bytes = written(Format::Parquet, 100, true);
    let groups = |source: &str| {
        let batch = Batch::new(&runtime, &runtime.compile(source).expect("it compiles")).skip_nil(true);
        let run = |is_skipping: bool| {
            let reader = open(&bytes, Format::Parquet, &batch.projection()).expect("it opens");
            let conditions = if is_skipping { batch.conditions() } else { Vec::new() };
            let reader = reader.skipping(conditions);
            let (skips, skipped) = (reader.skips().map(str::to_string), reader.skipped());
            let (mut output, mut failed) = (Vec::new(), Vec::new());
            let summary = batch.lines(Input::rows(reader), &mut output, |row, failure| {
                failed.push((row, failure.reason()));
                Ok(())
            });
            let skipped = skipped.load(std::sync::atomic::Ordering::Relaxed);
            assert_eq!(summary.records + skipped, 300, "{source}");
            (output, failed, skips, skipped)
        };
        let (output, failed, skips, skipped) = run(true);
        let (all, all_failed, _, none) = run(false);
        assert_eq!(none, 0);
        assert!(output == all && failed == all_failed, "{source}");
        match skips {
            Some(skips) => assert!(skips.starts_with(&format!("{} of 3 row groups, by ", skipped / 100))),
            None => assert_eq!(skipped, 0),
        }
        (skipped / 100, String::from_utf8(output).expect("text").lines().count(), failed.len())
    };
    for (source, expected) in [
        ("(when (>= (:id data/row) 250) (:id data/row))", (2, 50, 0)),
        ("(when (> (:id data/row) 299) (:id data/row))", (3, 0, 0)),
        ("(when (< (:id data/row) 100) (:id data/row))", (2, 100, 0)),
        ("(when (<= (:id data/row) 100) (:id data/row))", (1, 101, 0)),
        ("(when (= 150 (:id data/row)) (:word data/row))", (2, 1, 0)),
        ("(let [{:keys [id name]} data/row] (when (and (> id 99) (= name \"x\")) name))", (3, 0, 0)),
        ("(when (= (:name data/row) \"n298\") (:id data/row))", (1, 1, 0)),
        ("(when (= (:note data/row) \"x\") (:id data/row))", (3, 0, 0)),
        ("(when (< (:note data/row) 5) 1)", (3, 0, 0)),
        ("(when (> (inc (:word data/row)) 5) 1)", (0, 0, 300)),
        ("(when (and (inc (:word data/row)) (> (:id data/row) 500)) 1)", (0, 0, 300)),
        ("(when (and (> (:id data/row) 200) (inc (:word data/row))) 1)", (2, 0, 99)),
        ("(when (> (:id data/row) 200) (inc (:note data/row)))", (2, 0, 99)),
        ("(when (>= (:quarter data/row) 50.25) (:id data/row))", (2, 79, 0)),
        ("(when (< (:quarter data/row) 25) (:id data/row))", (2, 80, 0)),
        ("(when (= (:quarter data/row) 49.5) (:id data/row))", (2, 1, 0)),
    ] {
        assert_eq!(groups(source), expected, "{source}");
    }
}

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// Damage of one file; `PTC_DAMAGED_FILES` sets how many are tried of each kind.
#[test]
fn damaged_files_are_errors_that_name_the_file_and_the_part() {
    let count = std::env::var("PTC_DAMAGED_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    for (format, is_packed) in ALL {
        let whole = written(format, 30, is_packed);
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut damaged = 0;
        for seed in 0..count {
            let mut bytes = whole.clone();
            for _ in 0..1 + seed % 4 {
                // Half of them in what describes the pages, at the end.
                let at = match seed % 2 {
                    0 => numbers.below(bytes.len()),
                    _ => bytes.len() - 1 - numbers.below(bytes.len().min(1_000)),
                };
                bytes[at] ^= 1 << numbers.below(8);
            }
            if seed % 16 == 15 {
                bytes.truncate(numbers.below(whole.len()));
            }
            if let Err(told) = lines(&bytes, format) {
                damaged += 1;
                let is_named = told.starts_with("opening: it is not a valid ")
                    || told.starts_with("opening: the column `")
                    || told.starts_with("trades.file: ");
                assert!(is_named, "{format:?} {seed}: {told}");
            }
        }
        assert!(damaged * 10 > count || format == Format::Csv, "{format:?}: {damaged} of {count}");
    }
}

#[test]
fn rows_before_the_damage_are_given() {
    let mut bytes = written(Format::Parquet, 2_000, true);
    // The first page of the second group begins after a third of the file.
    let start = bytes.len() / 3;
    bytes[start..start + 2_000].fill(0xff);
    let mut reader =
        open(&bytes, Format::Parquet, &Projection::whole()).expect("what is at the end is sound");
    let mut rows = 0;
    let error = reader.by_ref().find_map(|read| match read {
        Ok(table) => {
            rows += table.len();
            None
        }
        Err(error) => Some(error.to_string()),
    });
    let error = error.expect("damage");
    assert!(error.starts_with("trades.file: row group 2 of 3 cannot be read: "), "{error}");
    assert!((2_000..4_000).contains(&rows), "{rows}");
    assert!(reader.next().is_none());
}

#[test]
fn what_is_no_table_says_so() {
    for (bytes, format) in [
        (&b"PAR1"[..], Format::Parquet),
        (b"PAR1\0\0\0\0\xff\xff\xff\x7fPAR1", Format::Parquet),
        (b"ARROW1", Format::Arrow),
        (b"ARROW1\0\0\xff\xff\xff\x7fARROW1", Format::Arrow),
        (b"a,a\n1,2\n", Format::Csv),
    ] {
        let error = open(bytes, format, &Projection::whole()).err().expect("refused");
        let is_named = error.starts_with("it is not a valid ")
            || error == "the column `a` is there twice, and a record has one value of each name";
        assert!(is_named, "{error}");
    }
    let short = lines(b"a,b\n1,2\n3\n", Format::Csv).expect_err("a short record");
    assert!(short.starts_with("trades.file: what comes after row 0 cannot be read: "), "{short}");
}
