//! `ptc-sql` as a user meets it: tables of every format, formats of results, and what it says about mistakes.

use std::path::Path;
use std::process::{Command, Output};

fn sql(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ptc-sql")).args(args).current_dir(folder).output().expect("it runs")
}

#[track_caller]
fn prints(folder: &Path, args: &[&str], expected: &str) {
    let output = sql(folder, args);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {err}");
    assert_eq!(out, expected, "{args:?}");
}

#[track_caller]
fn fails(folder: &Path, args: &[&str], code: i32, parts: &[&str]) {
    let output = sql(folder, args);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    for part in parts {
        assert!(err.contains(part), "{args:?}: {part:?} is not in {err}");
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("orders.csv"), "id,country,price\n1,NO,120\n2,SE,\n").expect("written");
    std::fs::write(
        folder.path().join("orders.jsonl"),
        "{\"id\":1,\"lines\":[{\"n\":2}]}\n{\"id\":2,\"lines\":[]}\n",
    )
    .expect("written");
    std::fs::write(folder.path().join("fee.clj"), "(defn fee [price] (quot (* 25 (or price 0)) 100))")
        .expect("written");
    folder
}

#[test]
fn tables_of_every_format_go_in_and_out() {
    let folder = folder();
    let folder = folder.path();
    for file in ["made.parquet", "made.arrow", "made.csv", "made.jsonl"] {
        prints(folder, &["select id, fee(price) as fee from 'orders.csv'", "-u", "fee.clj", "-o", file], "");
        let query = format!("select sum(fee) as fees, count(*) as n from '{file}'");
        prints(folder, &[&query], "{\"fees\":30,\"n\":2}\n");
    }
    prints(folder, &["select id, price from 'orders.csv'", "--format", "csv"], "id,price\n1,120\n2,\n");
    prints(
        folder,
        &["select id, price from 'orders.csv'"],
        "{\"id\":1,\"price\":120}\n{\"id\":2,\"price\":null}\n",
    );
    let table = "+----+\n| id |\n+----+\n| 1  |\n+----+\nthe first 1 rows; --rows shows more\n";
    prints(folder, &["select id from 'orders.csv'", "--format", "table", "--rows", "1"], table);
    prints(folder, &["select count(*) as n from o", "-t", "o=orders.jsonl"], "{\"n\":2}\n");
    prints(folder, &["select count(*) as n from 'ord*.csv'"], "{\"n\":2}\n");
    std::fs::write(folder.join("query.sql"), "select 1 as one").expect("written");
    prints(folder, &["-f", "query.sql"], "{\"one\":1}\n");
    let packed = Command::new("gzip").args(["-k", "orders.csv"]).current_dir(folder).status().expect("gzip");
    assert!(packed.success());
    prints(folder, &["select max(price) as most from 'orders.csv.gz'"], "{\"most\":120}\n");
}

#[test]
fn nested_values_reach_functions() {
    let folder = folder();
    std::fs::write(folder.path().join("n.clj"), "(defn total [lines] (reduce + (map :n lines)))")
        .expect("written");
    let query = "select id, total(lines) as n from 'orders.jsonl' order by id";
    prints(folder.path(), &[query, "--udf", "n.clj"], "{\"id\":1,\"n\":2}\n{\"id\":2,\"n\":0}\n");
    let query = "select total(lines) as n from 'orders.jsonl' order by id limit 1";
    prints(folder.path(), &[query, "--udf", "n.clj", "--returns", "total: decimal(5,1)"], "{\"n\":2.0}\n");
}

#[test]
fn mistakes_are_named() {
    let key = ptc_runtime::Signing::from_hex(&"07".repeat(32)).expect("a key").public_key();
    let folder = folder();
    let folder = folder.path();
    fails(folder, &["select * from 'nothing.parquet'"], 1, &["there is no file `nothing.parquet`"]);
    fails(folder, &["select * from 'orders.xls'"], 1, &["`orders.xls`", ".parquet"]);
    fails(folder, &["selekt 1"], 1, &["selekt"]);
    fails(folder, &[], 2, &["write a query"]);
    fails(folder, &["select 1", "--returns", "fee: int"], 2, &["--udf"]);
    fails(
        folder,
        &["select fee(price) from 'orders.csv'", "-u", "fee.clj", "--returns", "fee: number"],
        2,
        &["`number` is no type"],
    );
    fails(
        folder,
        &["select fee(price) from 'orders.csv'", "-u", "fee.clj", "--returns", "fea: int"],
        1,
        &["no function `fea`", "fee"],
    );
    fails(folder, &["select 1", "-u", "none.clj"], 1, &["cannot read `none.clj`"]);
    fails(folder, &["select 1", "--limit", "feul=3"], 2, &["no limit `feul`", "fuel"]);
    fails(folder, &["select 1", "--limit", "fuel=x"], 2, &["`x` is not a number"]);
    fails(
        folder,
        &["select fee(price) from 'orders.csv'", "-u", "fee.clj", "--trusted", &key],
        1,
        &["fee.clj", "untrusted"],
    );
    fails(folder, &["select 1", "-o", "made.xls"], 2, &["--format"]);
    let query = "select * from 'orders.csv'";
    fails(folder, &[query, "--cluster", "127.0.0.1:1"], 1, &["`orders.csv`", "absolute paths"]);
    fails(folder, &["select 1", "--cluster", "127.0.0.1:1"], 1, &["127.0.0.1:1"]);
    std::fs::write(folder.join("bad.parquet"), "PAR1 nothing").expect("written");
    fails(folder, &["select * from 'bad.parquet'"], 1, &["bad.parquet"]);
    std::fs::write(folder.join("bad.clj"), "(defn f [x]\n  (+ x").expect("written");
    fails(folder, &["select f(1)", "-u", "bad.clj"], 1, &["bad.clj:"]);
}
