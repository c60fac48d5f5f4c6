//! Functions in queries: values, types, nulls, errors, aggregates and tables.

use datafusion::arrow::array::{
    ArrayRef, Decimal128Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use ptc_arrow::parse_schema;
use ptc_datafusion::{Functions, OnError};
use ptc_runtime::{Limits, Prelude, PreludeInput, Runtime, Signing, TrustedKeys};
use std::sync::Arc;

const FEE: &str = "
(defn fee [country price] (quot (* (or price 0) (get {\"NO\" 25} country 0)) 100))
(defn label [country price] {:text (str country \"/\" price) :large (> (or price 0) 100)})
(defn strict [price] (+ price 1))
(defn words [text] (map-indexed (fn [i word] {:place i :word word}) (str/split text #\" \")))
(defn twice [x] (when x (* 2 x)))";

const MEAN: &str = "
(def init {:n 0 :sum 0})
(defn step [state value] (if value (merge-with + state {:n 1 :sum value}) state))
(defn combine [a b] (merge-with + a b))
(defn finish [state] (when (pos? (:n state)) (/ (:sum state) (:n state))))";

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

fn load(files: &[(&str, &str)]) -> Functions {
    let inputs = files.iter().map(|(name, text)| PreludeInput::source(*name, *text)).collect();
    Functions::load(&runtime(), inputs).expect("functions")
}

/// Orders in several batches and partitions.
fn orders() -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    let batch = |ids: Vec<i64>, countries: Vec<Option<&str>>, prices: Vec<Option<i64>>| {
        RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(Int64Array::from(ids)) as ArrayRef, true),
            ("country", Arc::new(StringArray::from(countries)) as ArrayRef, true),
            ("price", Arc::new(Int64Array::from(prices)) as ArrayRef, true),
        ])
        .expect("a batch")
    };
    let first =
        batch(vec![1, 2, 3], vec![Some("NO"), Some("NO"), Some("SE")], vec![Some(120), Some(15), Some(80)]);
    let second = batch(vec![4, 5], vec![Some("DK"), None], vec![Some(9), None]);
    let parts = vec![vec![first.clone()], vec![second]];
    let table = datafusion::datasource::MemTable::try_new(first.schema(), parts).expect("a table");
    context.register_table("orders", Arc::new(table)).expect("registered");
    context
}

async fn rows(functions: &Functions, context: &SessionContext, query: &str) -> Result<String, String> {
    let frame = functions.sql(context, query).await.map_err(|error| error.strip_backtrace())?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let mut batches = frame.collect().await.map_err(|error| error.strip_backtrace())?;
    if batches.is_empty() {
        batches.push(RecordBatch::new_empty(schema));
    }
    let text = pretty_format_batches(&batches).expect("text").to_string();
    // Without the lines around it, and one blank between cells.
    let lines = text.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join(" ").trim_end().to_string()
    };
    Ok(lines.map(cells).collect::<Vec<_>>().join("\n"))
}

#[track_caller]
fn assert_has(text: &str, wanted: &[&str]) {
    for part in wanted {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[tokio::test]
async fn functions_of_rows_have_the_types_of_their_values() {
    let (functions, context) = (load(&[("fee.clj", FEE)]), orders());
    let query = "select id, fee(country, price) as fee, arrow_typeof(fee(country, price)) as kind from orders order by id";
    let expected = "id fee kind\n1 30 Int64\n2 3 Int64\n3 0 Int64\n4 0 Int64\n5 0 Int64";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), expected);
    // Calls within calls, in conditions, and in what is grouped.
    let query =
        "select twice(fee(country, price)) as f, count(*) as n from orders where fee(country, price) < 30
                 group by twice(fee(country, price)) order by f";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "f n\n0 3\n6 1");
    // Constants are one run, which planning makes.
    assert_eq!(rows(&functions, &context, "select fee('NO', 1000) as f").await.expect("rows"), "f\n250");
    // In a join, and in a subquery.
    let query = "select a.id from orders a join orders b on a.id = b.id and twice(a.price) = 240
                 where a.id in (select id from orders where twice(price) > 100)";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "id\n1");
}

#[tokio::test]
async fn declared_types_are_kept_exactly() {
    let kind = |text: &str| parse_schema(&format!("x: {text}")).expect("a type").field(0).data_type().clone();
    let functions = load(&[("fee.clj", FEE)])
        .returns("fee", &kind("decimal(9, 2)"))
        .and_then(|functions| functions.returns("label", &kind("{text: text, large: bool}")))
        .expect("declared");
    let query =
        "select fee(country, price) as fee, label(country, price)['text'] as text from orders where id = 1";
    assert_eq!(rows(&functions, &orders(), query).await.expect("rows"), "fee text\n30.00 NO/120");

    let functions = functions.returns("fee", &kind("text")).expect("declared");
    let error =
        rows(&functions, &orders(), "select fee(country, price) from orders where id = 1").await.unwrap_err();
    assert_has(
        &error,
        &["`fee`: row 1 of a batch of 1 (country = NO, price = 120)", "is of type Utf8, but the value is 30"],
    );
    assert!(functions.returns("fees", &DataType::Int64).unwrap_err().to_string().contains("fee, label"));
}

#[tokio::test]
async fn a_row_that_fails_is_named_or_null() {
    let (functions, context) = (load(&[("fee.clj", FEE)]), orders());
    let query = "select id, strict(price) as s from orders where id > 3 order by id";
    let error = rows(&functions, &context, query).await.unwrap_err();
    assert_has(&error, &["`strict`: row 2 of a batch of 2 (price = null): type_error: `+` needs numbers"]);
    let lenient = functions.on_error(OnError::Null);
    assert_eq!(rows(&lenient, &context, query).await.expect("rows"), "id s\n4 10\n5");
    // A limit of one run is that of one row.
    let limits = Limits { fuel: 1_000, ..Limits::default() };
    let source = vec![PreludeInput::source("f.clj", "(defn count-to [n] (reduce + (range n)))")];
    let limited = Functions::load(&runtime().limits(limits), source).expect("functions");
    let query = "select count_to(price * 1000) as n from orders where id = 1";
    assert_has(&rows(&limited, &context, query).await.unwrap_err(), &["`count_to`: row 1", "fuel_exceeded"]);
}

#[tokio::test]
async fn nested_values_decimals_and_times_go_in_and_out() {
    let source = "(defn same [x] x)
                  (defn total [lines] (reduce + (map :amount lines)))
                  (defn day [t] (subs t 0 10))";
    let (functions, context) = (load(&[("f.clj", source)]), SessionContext::new());
    let amounts = StructArray::from(vec![(
        Arc::new(Field::new("amount", DataType::Int64, true)),
        Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef,
    )]);
    let offsets = datafusion::arrow::buffer::OffsetBuffer::from_lengths([2, 1]);
    let item = Arc::new(Field::new("item", amounts.fields().clone().into_data_type(), true));
    let lines = ListArray::new(item, offsets, Arc::new(amounts), None);
    let prices = Decimal128Array::from(vec![1250, 99]).with_precision_and_scale(9, 2).expect("decimals");
    let times = TimestampMicrosecondArray::from(vec![0, 86_400_000_000]);
    let tags = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None]);
    let columns: [(&str, ArrayRef); 4] = [
        ("lines", Arc::new(lines)),
        ("price", Arc::new(prices)),
        ("time", Arc::new(times)),
        ("tags", Arc::new(tags)),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    context.register_batch("t", batch).expect("registered");
    let query =
        "select total(lines) as total, same(price) as price, day(time) as day, same(tags) as tags from t";
    let error = rows(&functions, &context, query).await.unwrap_err();
    // One function has one type in a query.
    assert_has(&error, &["same"]);
    let query = "select total(lines) as total, same(price) as price, day(time) as day from t";
    let expected = "total price day\n3 12.5 1970-01-01\n3 0.99 1970-01-02";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), expected);
    assert_eq!(
        rows(&functions, &context, "select same(tags) as tags from t").await.expect("rows"),
        "tags\n[1, ]\n"
    );
}

trait IntoDataType {
    fn into_data_type(self) -> DataType;
}

impl IntoDataType for datafusion::arrow::datatypes::Fields {
    fn into_data_type(self) -> DataType {
        DataType::Struct(self)
    }
}

#[tokio::test]
async fn aggregates_are_the_four_functions_of_a_namespace() {
    let (functions, context) = (load(&[("average.clj", MEAN), ("fee.clj", FEE)]), orders());
    let query =
        "select country, average(price) as mean, count(*) as n from orders group by country order by country";
    let expected = "country mean n\nDK 9.0 1\nNO 67.5 2\nSE 80.0 1\n  1";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), expected);
    // Of no rows, of everything, and of a function.
    let query = "select average(price) as a from orders where id > 9";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "a\n");
    let query = "select average(price) as a, average(fee(country, price)) as b from orders";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "a b\n56.0 6.6");
    let over = "select id, average(price) over (order by id) as m from orders where id < 4 order by id";
    assert_eq!(
        rows(&functions, &context, over).await.expect("rows"),
        "id m\n1 120.0\n2 67.5\n3 71.66666666666667"
    );
    // The engine removes duplicates itself, unless there are two sets of them.
    let query = "select average(distinct price) as a from orders where id < 3";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "a\n67.5");
    let query = "select average(distinct price), average(distinct id) from orders";
    let distinct = rows(&functions, &context, query).await.unwrap_err();
    assert_has(&distinct, &["`average(distinct …)` is not supported"]);

    let sum = "(def init 0) (defn step [sum x] (+ sum x)) (defn combine [a b] (+ a b))";
    let functions = load(&[("total.clj", sum)]);
    let error = rows(&functions, &context, "select total(price) from orders").await.unwrap_err();
    assert_has(&error, &["`total`: row 2 of a batch of 2 (x = null)", "type_error"]);
    let lenient = functions.on_error(OnError::Null);
    assert_eq!(
        rows(&lenient, &context, "select total(price) as t from orders").await.expect("rows"),
        "t\n224"
    );
}

#[tokio::test]
async fn a_batch_may_need_more_than_one_run() {
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    let sum = "(def init 0) (defn step [sum x] (+ sum x)) (defn combine [a b] (+ a b))";
    let source = vec![PreludeInput::source("total.clj", sum)];
    let functions = Functions::load(&runtime().limits(limits), source).expect("functions");
    let numbers = "(select value from generate_series(1, 20000))";
    let query = format!("select total(value) as t from {numbers}");
    assert_eq!(rows(&functions, &SessionContext::new(), &query).await.expect("rows"), "t\n200010000");
}

#[tokio::test]
async fn functions_in_from_give_rows() {
    let (functions, context) = (load(&[("fee.clj", FEE)]), orders());
    let query = "select word, place + 1 as place from words('tea and cake') where place <> 1";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "word place\ntea 1\ncake 3");
    let query = "select o.id, w.word from orders o, words('a b') w where o.id = 1 order by w.word";
    assert_eq!(rows(&functions, &context, query).await.expect("rows"), "id word\n1 a\n1 b");
    let error = rows(&functions, &context, "select * from orders, words(orders.country)").await.unwrap_err();
    assert_has(&error, &["constants"]);
    let query = "select id, unnest(words(country))['word'] as word from orders where id = 1";
    let kind =
        parse_schema("x: list<{place: int, word: text}>").expect("a type").field(0).data_type().clone();
    let typed = functions.returns("words", &kind).expect("declared");
    assert_eq!(rows(&typed, &context, query).await.expect("rows"), "id word\n1 NO");
    assert_eq!(
        rows(&typed, &context, "select * from words('x y')").await.expect("rows"),
        "place word\n0 x\n1 y"
    );
}

#[test]
fn files_with_effects_or_without_functions_are_refused() {
    let refused = |source: &str| {
        Functions::load(&runtime(), vec![PreludeInput::source("crm.clj", source)]).unwrap_err().to_string()
    };
    assert_has(
        &refused("(defn f [id] (tool/find {:id id}))"),
        &["`crm/f` calls the tool `find`", "as an argument"],
    );
    let call = "(defn f [id] (tool/call {:server \"crm\" :tool \"get\" :args {:id id}}))";
    assert_has(&refused(call), &["`crm/f`", "tool"]);
    assert_has(
        &refused("(defn- g [id] (tool/find {:id id})) (defn f [id] (g id))"),
        &["`crm/f` calls the tool `find`"],
    );
    assert_has(&refused("(defn f [x] (+ x data/rate))"), &["`crm/f` reads `data/rate`", "parameter"]);
    assert_has(&refused("(def rate 3)"), &["no functions to call"]);
    assert_has(&refused("(defn f [x] (+ x"), &["crm.clj:1:"]);
    assert_has(&refused("(defn a-b [x] x) (defn a_b [x] x)"), &["both `crm/a-b` and `crm/a_b`"]);
}

#[tokio::test]
async fn names_of_the_engine_are_not_replaced() {
    let functions = load(&[("f.clj", "(defn abs [x] x)")]);
    let error = functions.register(&SessionContext::new()).unwrap_err().to_string();
    assert_has(&error, &["`f/abs` would replace the engine's function `abs`", "rename"]);
    // But functions of ours may be registered again.
    let (functions, context) =
        (load(&[("fee.clj", FEE)]).returns("fee", &DataType::Int64).expect("declared"), orders());
    functions.register(&context).expect("once");
    functions.register(&context).expect("twice");
}

#[tokio::test]
async fn a_wrong_call_says_how_to_call() {
    let (functions, context) = (load(&[("fee.clj", FEE)]), orders());
    let error = rows(&functions, &context, "select fee(country) from orders").await.unwrap_err();
    assert_has(&error, &["fee"]);
    let error = rows(&functions, &context, "select fees(country) from orders").await.unwrap_err();
    assert_has(&error, &["fees"]);
    // Nothing to infer a type from, which planning needs.
    let error =
        rows(&functions, &context, "select label(country, price)['text'] from orders").await.unwrap_err();
    assert_has(&error, &["label", "declare"]);
}

#[test]
fn only_trusted_files_are_loaded_if_keys_are_trusted() {
    let key = Signing::from_hex(&"07".repeat(32)).expect("a key");
    let bytes = Prelude::compile(&runtime(), "(ns f) (defn g [x] x)").expect("a prelude").to_bytes();
    let signature = key.sign(&bytes).expect("a signature");
    let trusted = runtime().trusted(TrustedKeys::parse(&key.public_key()).expect("a key"));
    let load = |input: PreludeInput| Functions::load(&trusted, vec![input]);
    assert!(load(PreludeInput::file("f.ptcp", bytes.clone(), Some(&signature))).is_ok());
    let error = load(PreludeInput::file("f.ptcp", bytes, None)).unwrap_err().to_string();
    assert_has(&error, &["f.ptcp: untrusted", "no signature"]);
    let error = load(PreludeInput::source("f.clj", "(defn g [x] x)")).unwrap_err().to_string();
    assert_has(&error, &["f.clj: untrusted"]);
}

#[tokio::test]
async fn functions_that_read_the_clock_are_not_constants() {
    let functions = load(&[("f.clj", "(defn stamp [x] (str x (LocalDate/now)))")]);
    let function = functions.iter().next().expect("a function");
    assert!(function.reference().is_volatile);
    let pure = load(&[("fee.clj", FEE)]);
    assert!(pure.iter().all(|function| !function.reference().is_volatile));
}
