//! A scheduler and three executors as processes: results are those of one process, byte for byte after sorting, although
//! executors are killed; and what an executor refuses is the error of the query.
//!
//! `PTC_TEST_ROWS` sets the rows, `PTC_TEST_KILLS` how often an executor is killed.

mod processes;

use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use processes::{Cluster, Executor};
use ptc_ballista::{connect, publish};
use ptc_datafusion::Functions;
use ptc_runtime::{PreludeInput, Runtime, Signing};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Functions of all three kinds. The values are integers, so the order of parts does not matter.
const ORDERS: &str = "(ns orders)
(def rates {\"NO\" 25 \"SE\" 20 \"DK\" 22})
(defn fee [country price] (quot (* price (get rates country 0)) 100))
(defn label [country id] (str country \"-\" (mod (* id 7919) 100003)))
(defn parts [] [{:part 0} {:part 1} {:part 2}])";

const SPREAD: &str = "(ns spread)
(def init {:n 0 :sum 0 :most 0})
(defn step [{:keys [n sum most]} price] {:n (inc n) :sum (+ sum price) :most (max most price)})
(defn combine [a b] {:n (+ (:n a) (:n b)) :sum (+ (:sum a) (:sum b)) :most (max (:most a) (:most b))})
(defn finish [{:keys [n sum most]}] (str n \"/\" sum \"/\" most))";

const QUERIES: [&str; 2] = [
    "select id % 1000 as bucket, sum(fee(country, price)) as fees, spread(price) as spread, count(*) as n
     from orders group by id % 1000",
    "select id, label(country, id) as label, fee(country, price) as fee, part
     from orders, parts() where id % 1009 = 17 and fee(country, price) > 10",
];

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

fn inputs() -> Vec<PreludeInput> {
    vec![PreludeInput::source("orders.clj", ORDERS), PreludeInput::source("spread.clj", SPREAD)]
}

fn functions() -> Functions {
    Functions::load(&runtime(), inputs()).expect("functions")
}

fn key() -> Signing {
    Signing::from_hex(&"07".repeat(32)).expect("a key")
}

/// Sources as files, and their signed artifacts in a store.
async fn store(folder: &Path) -> String {
    let files: Vec<PathBuf> = ["orders.clj", "spread.clj"].iter().map(|name| folder.join(name)).collect();
    std::fs::write(&files[0], ORDERS).expect("written");
    std::fs::write(&files[1], SPREAD).expect("written");
    let place = folder.join("store");
    std::fs::create_dir_all(&place).expect("a folder");
    let place = place.display().to_string();
    let published = publish(&files, &place, &runtime(), Some(&key())).await.expect("published");
    assert_eq!(published.len(), 2);
    place
}

/// Writes orders as several Parquet files.
async fn write_orders(folder: &Path, rows: u64) -> String {
    let place = folder.join("orders").display().to_string();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(8));
    let query = format!(
        "select value as id, case value % 4 when 0 then 'NO' when 1 then 'SE' when 2 then 'DK' else 'DE' end as country,
         (value * 7919) % 1000 as price from generate_series(1, {rows})"
    );
    let frame = context.sql(&query).await.expect("planned");
    let frame = frame.repartition(datafusion::logical_expr::Partitioning::RoundRobinBatch(8)).expect("parts");
    let options = datafusion::dataframe::DataFrameWriteOptions::new();
    frame.write_parquet(&format!("{place}/"), options, None).await.expect("written");
    place
}

async fn rows(
    context: &SessionContext,
    functions: &Functions,
    orders: &str,
    query: &str,
) -> Result<Vec<u8>, String> {
    if !context.table_exist("orders").expect("a catalog") {
        let options = ParquetReadOptions::default();
        context.register_parquet("orders", orders, options).await.map_err(|error| error.to_string())?;
    }
    let frame = functions.sql(context, query).await.map_err(|error| error.to_string())?;
    let batches = frame.collect().await.map_err(|error| error.to_string())?;
    Ok(sorted(&batches))
}

/// The rows as lines, sorted.
fn sorted(batches: &[RecordBatch]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = WriterBuilder::new().with_header(false).build(&mut text);
    batches.iter().for_each(|batch| writer.write(batch).expect("text"));
    drop(writer);
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines.concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_those_of_one_process_although_executors_are_killed() {
    let (total, kills) = (number("PTC_TEST_ROWS", 20_000), number("PTC_TEST_KILLS", 2));
    let folder = tempfile::tempdir().expect("a folder");
    let orders = write_orders(folder.path(), total).await;
    let place = store(folder.path()).await;
    let functions = functions();

    let one = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    let mut expected = Vec::new();
    let started = Instant::now();
    for query in QUERIES {
        expected.push(rows(&one, &functions, &orders, query).await.expect("rows"));
    }
    eprintln!("{total} rows: {:?} in one process", started.elapsed());
    assert!(expected.iter().all(|bytes| bytes.len() > 100));

    let cluster = Cluster::start(folder.path());
    let trusted = key().public_key();
    let executor = || cluster.executor(&place, &["--trusted", &trusted]);
    let mut executors: Vec<Executor> = (0..3).map(|_| executor()).collect();
    cluster.wait_for(3).await;

    let mut times: Vec<Duration> = Vec::new();
    for (query, expected) in QUERIES.iter().zip(&expected) {
        let context = connect(&cluster.address(), 8).await.expect("connected");
        let started = Instant::now();
        let found = rows(&context, &functions, &orders, query).await.expect("rows");
        times.push(started.elapsed());
        assert!(found == *expected, "the results differ");
    }
    eprintln!("{total} rows: {times:?} on three executors");

    for kill in 0..kills {
        let at = kill as usize % 2;
        let (query, expected, whole) = (QUERIES[at], &expected[at], times[at]);
        let context = connect(&cluster.address(), 8).await.expect("connected");
        let (functions, orders) = (functions.clone(), orders.clone());
        let started = Instant::now();
        let running = tokio::spawn(async move { rows(&context, &functions, &orders, query).await });
        // Anywhere in the middle: a third to two thirds of the time it takes.
        tokio::time::sleep(whole / 3 + whole.mul_f64(kill as f64 / kills as f64) / 3).await;
        let was_running = !running.is_finished();
        let victim = (kill % 3) as usize;
        executors[victim].kill();
        let found = running.await.expect("no panic").unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        assert!(found == **expected, "kill {kill}: the results differ");
        eprintln!("kill {kill}: the same bytes after {:?}; the query ran: {was_running}", started.elapsed());
        executors[victim] = executor();
        cluster.wait_for(3).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn executors_refuse_what_they_cannot_verify() {
    let folder = tempfile::tempdir().expect("a folder");
    let orders = write_orders(folder.path(), 1000).await;
    let place = PathBuf::from(store(folder.path()).await);
    let functions = functions();
    let prelude = |at: usize| functions.iter().nth(at).expect("a function").reference().artifacts[0].clone();
    let hash = prelude(0);
    let (file, signature) = (place.join(format!("{hash}.ptcp")), place.join(format!("{hash}.ptcp.sig")));
    let (genuine, signed) = (std::fs::read(&file).expect("bytes"), std::fs::read(&signature).expect("text"));
    let query = "select sum(fee(country, price)) as fees from orders";
    let trusted = key().public_key();

    let check = async |what: &str, wanted: &[&str]| {
        // A new executor: what was verified once stays.
        let cluster = Cluster::start(folder.path());
        let _executor = cluster.executor(&place.display().to_string(), &["--trusted", &trusted]);
        cluster.wait_for(1).await;
        let context = connect(&cluster.address(), 4).await.expect("connected");
        let found = rows(&context, &functions, &orders, query).await;
        match wanted {
            [] => assert!(found.is_ok(), "{what}: {found:?}"),
            wanted => {
                let error = found.expect_err(what);
                for part in wanted {
                    assert!(error.contains(part), "{what}: {part:?} is not in {error}");
                }
            }
        }
    };

    check("genuine", &[]).await;
    std::fs::remove_file(&file).expect("removed");
    check("missing", &["`fee`", &format!("this executor has no artifact {hash}"), "ptc-ballista publish"])
        .await;
    // Another artifact, signed with the trusted key, under this hash.
    let other = ptc_runtime::Prelude::compile(&runtime(), "(ns orders) (defn fee [country price] 1)")
        .expect("compiles");
    std::fs::write(&file, other.to_bytes()).expect("written");
    std::fs::write(&signature, key().sign(&other.to_bytes()).expect("signed")).expect("written");
    check("another", &["`fee`", "hash_mismatch"]).await;
    // Bytes that were changed after they were signed.
    let mut forged = genuine.clone();
    let middle = forged.len() / 2;
    forged[middle] ^= 1;
    std::fs::write(&file, &forged).expect("written");
    std::fs::write(&signature, &signed).expect("written");
    check("forged", &["`fee`", "this executor refuses artifact"]).await;
    // A key that nobody trusts.
    let stranger = Signing::from_hex(&"09".repeat(32)).expect("a key");
    std::fs::write(&file, &genuine).expect("written");
    std::fs::write(&signature, stranger.sign(&genuine).expect("signed")).expect("written");
    check("stranger", &["`fee`", "untrusted: the file is signed by a key that is not trusted"]).await;
    std::fs::remove_file(&signature).expect("removed");
    check("unsigned", &["`fee`", "untrusted: the file has no signature"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_fail_and_limits_of_the_executor_reach_the_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let orders = write_orders(folder.path(), 1000).await;
    let source = "(ns work) (defn strict [x] (if (= x 500) (fail :odd) x)) (defn long-work [n] (reduce + (range (* n 1000))))";
    let path = folder.path().join("work.clj");
    std::fs::write(&path, source).expect("written");
    let place = folder.path().join("store").display().to_string();
    std::fs::create_dir_all(&place).expect("a folder");
    publish(&[path], &place, &runtime(), None).await.expect("published");
    let cluster = Cluster::start(folder.path());
    let _executor = cluster.executor(&place, &["--allow-unsigned", "--limit", "fuel=100000"]);
    cluster.wait_for(1).await;
    let functions =
        Functions::load(&runtime(), vec![PreludeInput::source("work.clj", source)]).expect("functions");
    // Declared: to infer them, they would run here, with other limits.
    let int = datafusion::arrow::datatypes::DataType::Int64;
    let functions = functions.returns("strict", &int).and_then(|typed| typed.returns("long_work", &int));
    let functions = functions.expect("types");
    let failed = async |query: &str| {
        let context = connect(&cluster.address(), 4).await.expect("connected");
        rows(&context, &functions, &orders, query).await.expect_err("it fails")
    };
    let error = failed("select sum(strict(id)) from orders").await;
    assert!(
        error.contains("`strict`: row ") && error.contains("x = 500") && error.contains("fail"),
        "{error}"
    );
    let error = failed("select sum(long_work(id)) from orders").await;
    assert!(error.contains("`long_work`: row ") && error.contains("fuel_exceeded"), "{error}");
    let clock = vec![PreludeInput::source("clock.clj", "(defn stamp [x] (str x (LocalDate/now)))")];
    let clock = Functions::load(&runtime(), clock).expect("functions");
    let context = connect(&cluster.address(), 4).await.expect("connected");
    let error = rows(&context, &clock, &orders, "select stamp(id) from orders").await.expect_err("it fails");
    assert!(error.contains("`stamp` is of a file that reads the clock"), "{error}");
}
