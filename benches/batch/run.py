#!/usr/bin/env python3
"""Measures `ptc batch` beside DuckDB, Polars and jq, on the same files in one run.

    python3 -m venv peers && peers/bin/pip install duckdb polars pyarrow
    peers/bin/python benches/batch/run.py --ptc target/release/ptc --size 1000

CPU seconds are those of the process and its threads (user and system), the memory is its largest. Every command runs
three times, and the fastest counts. Results are compared by their number of lines and the sum of their ids.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from make import make, parquet

HERE = Path(__file__).parent

PTC = {
    "filter": """(let [{:keys [id customer country price amount]} data/row]
  (when (and (= country "NO") (> price 50)) {:id id :customer customer :total (* price amount)}))""",
    "group": """(def init {})
(defn step [sums {:keys [country price amount]}] (update sums country (fnil + 0) (* price amount)))
(defn combine [a b] (merge-with + a b))""",
    "reshape": """(let [{:keys [id address lines]} data/row]
  {:id id
   :city (:city address)
   :lines (mapv (fn [{:keys [sku price amount]}] {:sku sku :total (* price amount)}) lines)
   :count (count lines)})""",
    "regex": """(when-let [[_ order domain] (re-find #"ref AB-([0-9]+) from [a-z0-9]+@([a-z.]+)" (:note data/row))]
  {:id (:id data/row) :order order :domain domain})""",
}

JQ = {
    "filter": 'select(.country == "NO" and .price > 50) | {id, customer, total: (.price * .amount)}',
    "group": "reduce inputs as $r ({}; .[$r.country] += $r.price * $r.amount)",
    "reshape": "{id, city: .address.city, lines: [.lines[] | {sku, total: (.price * .amount)}], count: (.lines | length)}",
    "regex": r'. as $r | .note | capture("ref AB-(?<order>[0-9]+) from [a-z0-9]+@(?<domain>[a-z.]+)") | {id: $r.id} + .',
}

# The columns that are read are declared, which saves DuckDB looking for them.
COLUMNS = {
    "filter": "{id: 'BIGINT', customer: 'VARCHAR', country: 'VARCHAR', price: 'DOUBLE', amount: 'BIGINT'}",
    "group": "{country: 'VARCHAR', price: 'DOUBLE', amount: 'BIGINT'}",
    "reshape": "{id: 'BIGINT', address: 'STRUCT(city VARCHAR)', "
    "lines: 'STRUCT(sku VARCHAR, price BIGINT, amount BIGINT)[]'}",
    "regex": "{id: 'BIGINT', note: 'VARCHAR'}",
}
DUCKDB = {
    "filter": "select id, customer, price * amount as total from orders where country = 'NO' and price > 50",
    "group": "select country, sum(price * amount) as total from orders group by country",
    "reshape": "select id, address.city as city, "
    "list_transform(lines, lambda l: {sku: l.sku, total: l.price * l.amount}) as lines, len(lines) as count from orders",
    "regex": "select id, m.o as \"order\", m.d as domain from (select id, "
    "regexp_extract(note, 'ref AB-([0-9]+) from [a-z0-9]+@([a-z.]+)', ['o', 'd']) as m from orders) where m.o <> ''",
}


def duckdb_script(case, source, out):
    """Python text that runs a query of DuckDB."""
    kind = "parquet" if str(source).endswith(".parquet") else "json"
    orders = (
        f"read_parquet('{source}')"
        if kind == "parquet"
        else f"read_json('{source}', format = 'newline_delimited', columns = {COLUMNS[case]})"
    )
    query = DUCKDB[case].replace("from orders", f"from {orders}")
    return f"""import duckdb
duckdb.sql("set threads = 2")
duckdb.sql("set preserve_insertion_order = true")
duckdb.sql({f"copy ({query}) to '{out}' (format json)"!r})"""


def polars_script(case, source, out):
    """Python text that does the same with Polars."""
    scan = "scan_parquet" if str(source).endswith(".parquet") else "scan_ndjson"
    steps = {
        "filter": "rows.filter((c('country') == 'NO') & (c('price') > 50))"
        ".select('id', 'customer', total=c('price') * c('amount'))",
        "group": "rows.group_by('country').agg((c('price') * c('amount')).sum().alias('total'))",
        "reshape": "rows.select('id', city=c('address').struct.field('city'), "
        "lines=c('lines').list.eval(pl.struct(pl.element().struct.field('sku'), "
        "(pl.element().struct.field('price') * pl.element().struct.field('amount')).alias('total'))), "
        "count=c('lines').list.len())",
        "regex": "rows.select('id', m=c('note').str.extract_groups("
        "r'ref AB-(?<order>[0-9]+) from [a-z0-9]+@(?<domain>[a-z.]+)'))"
        ".unnest('m').filter(c('order').is_not_null())",
    }
    return f"""import polars as pl
c = pl.col
rows = pl.{scan}({str(source)!r})
({steps[case]}).sink_ndjson({str(out)!r})"""


def polars_map_script(case, source, out):
    """Python text with a Python function for each row of Parquet."""
    assert case == "filter"
    return f"""import polars as pl
def one(row):
    if row["country"] == "NO" and row["price"] > 50:
        return row["price"] * row["amount"]
rows = pl.read_parquet({str(source)!r}, columns=["id", "country", "price", "amount"])
rows.select(pl.struct(pl.all()).map_elements(one, return_dtype=pl.Float64)).write_ndjson({str(out)!r})"""


def measure(command, out, times):
    """CPU seconds, seconds and megabytes of the fastest of some runs; None if it fails."""
    best = None
    for _ in range(times):
        began = time.monotonic()
        with open(out, "wb") as target:
            child = subprocess.Popen(command, stdout=target, stderr=subprocess.PIPE)
            told = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
        took = time.monotonic() - began
        if status != 0:
            print(f"failed: {command[:3]}: {told.decode()[-300:]}", file=sys.stderr)
            return None
        cpu = usage.ru_utime + usage.ru_stime
        if best is None or cpu < best[0]:
            best = (cpu, took, usage.ru_maxrss / 1024)
    return best


def check(path):
    """The number of lines of a result, and the sum of their ids."""
    lines, ids = 0, 0
    with open(path, encoding="utf-8") as text:
        for line in text:
            lines += 1
            row = json.loads(line)
            ids += row.get("id", 0) if isinstance(row, dict) else 0
    return lines, ids


def main():
    """Measures all cases and prints a table."""
    parse = argparse.ArgumentParser()
    parse.add_argument("--ptc", default="target/release/ptc")
    parse.add_argument("--size", type=int, default=200, help="megabytes of JSON lines")
    parse.add_argument("--folder", default="target/batch-bench")
    parse.add_argument("--times", type=int, default=3)
    parse.add_argument("--only", default="", help="the cases, with commas between them")
    parse.add_argument("--peers", default="ptc,duckdb,polars,jq")
    parse.add_argument("--parquet", action="store_true", help="read Parquet instead of JSON lines")
    args = parse.parse_args()
    lines = make(args.folder, args.size)
    source = parquet(lines) if args.parquet else lines
    peers = args.peers.split(",")
    out = Path(args.folder) / "out.jsonl"
    print(f"{source}: {source.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores")
    print("| case | who | CPU s | s | MB | results |\n|---|---|---|---|---|---|")
    for case in [name for name in PTC if not args.only or name in args.only.split(",")]:
        program = Path(args.folder) / f"{case}.clj"
        program.write_text(PTC[case])
        ptc = [args.ptc, "batch", "--quiet", str(program), str(source)]
        ptc[2:2] = ["--reduce"] if case == "group" else ["--skip-nil"]
        commands = []
        if "ptc" in peers:
            commands += [("ptc, 1 thread", ptc + ["--threads", "1"]), ("ptc, 2 threads", ptc + ["--threads", "2"])]
        if "duckdb" in peers:
            commands.append(("DuckDB", [sys.executable, "-c", duckdb_script(case, source, out)]))
        if "polars" in peers:
            commands.append(("Polars", [sys.executable, "-c", polars_script(case, source, out)]))
            if args.parquet and case == "filter":
                commands.append(("Polars, map_elements", [sys.executable, "-c", polars_map_script(case, source, out)]))
        if "jq" in peers and not args.parquet:
            flags = ["-c", "-n"] if case == "group" else ["-c"]
            commands.append(("jq", ["jq", *flags, JQ[case], str(source)]))
        for name, command in commands:
            measured = measure(command, out, 1 if name == "jq" else args.times)
            if measured is None:
                continue
            cpu, took, megabytes = measured
            count, ids = check(out)
            print(f"| {case} | {name} | {cpu:.2f} | {took:.2f} | {megabytes:.0f} | {count}, {ids} |", flush=True)


if __name__ == "__main__":
    main()
