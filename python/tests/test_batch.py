"""Batches over tables of every library that has Arrow."""

import pytest

import ptc

PROGRAM = "{:id data/id :total (* data/price data/amount)}"
ROWS = [{"id": n, "price": n % 7, "amount": 2} for n in range(5000)]
TOTALS = [{"id": n, "total": n % 7 * 2} for n in range(5000)]


def test_rows_of_python():
    result = ptc.batch(PROGRAM, ROWS)
    assert result.values == TOTALS and len(result) == result.records == 5000
    assert result.failures == [] and result.seconds > 0


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pylist(ROWS)
    result = pa.table(ptc.batch(PROGRAM, table))
    assert result.to_pylist() == TOTALS
    assert pa.table(ptc.batch("(* 2 data/id)", table.slice(0, 3)))["value"].to_pylist() == [0, 2, 4]
    batch = table.to_batches()[0]
    assert ptc.batch("data/id", batch).records == batch.num_rows
    typed = ptc.batch(PROGRAM, table, schema=pa.schema([("id", pa.int32()), ("total", pa.float64())]))
    assert pa.table(typed).schema.field("id").type == pa.int32()


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(ROWS)
    assert pl.DataFrame(ptc.batch(PROGRAM, frame)).to_dicts() == TOTALS
    lazy = frame.lazy().map_batches(lambda part: pl.DataFrame(ptc.batch(PROGRAM, part)), validate_output_schema=False)
    assert lazy.collect().to_dicts() == TOTALS


def test_pandas():
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(ROWS)
    assert pa.table(ptc.batch(PROGRAM, frame)).to_pandas().to_dict("records") == TOTALS


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    relation = duckdb.sql("select range as id, range % 7 as price, 2 as amount from range(5000)")
    result = pa.table(ptc.batch(PROGRAM, relation))
    assert result.to_pylist() == TOTALS
    assert duckdb.sql("select sum(total) from result").fetchall() == [(sum(row["total"] for row in TOTALS),)]


def test_nulls_and_nested_columns():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1, None], "b": [{"c": [1, 2]}, None], "d": pa.array(["2031-04-03", None])})
    assert ptc.batch("[data/a (:c data/b) data/d]", table).values == [[1, [1, 2], "2031-04-03"], [None, None, None]]


def test_a_row_that_fails_ends_the_batch_or_has_no_value():
    rows = [{"n": 1}, {"n": None}, {"n": 3}, {"n": "x"}]
    with pytest.raises(ptc.RunError) as caught:
        ptc.batch("(inc data/n)", rows)
    assert caught.value.row == 1
    result = ptc.batch("(inc data/n)", rows, on_error="null")
    assert result.values == [2, None, 4, None]
    assert [(row, error.kind) for row, error in result.failures] == [(1, "type_error"), (3, "type_error")]


def test_tools_and_data():
    rates = {"de": 1.19}
    result = ptc.batch(
        "(* (get data/rates data/c) (tool/net {:n data/n}))",
        [{"c": "de", "n": 100}],
        data={"rates": rates},
        tools={"net": lambda n: n * 2},
    )
    assert result.values == [238.0]


def test_a_batch_is_made_once():
    pa = pytest.importorskip("pyarrow")
    batch = ptc.Program(PROGRAM).batch(threads=2)
    assert [len(pa.table(batch(part))) for part in pa.Table.from_pylist(ROWS).to_batches(1000)] == [1000] * 5


def test_misspelt_columns_are_told():
    result = ptc.batch("(:totl data/row)", [{"total": 1}])
    assert [told.hint for told in result.warnings] == ["did you mean `:total`?"]


def test_empty_tables():
    assert ptc.batch(PROGRAM, []).values == []
    pa = pytest.importorskip("pyarrow")
    assert ptc.batch(PROGRAM, pa.Table.from_pylist(ROWS[:0], schema=pa.Table.from_pylist(ROWS).schema)).values == []


def test_values_without_a_common_schema():
    pa = pytest.importorskip("pyarrow")
    result = ptc.batch("(if (odd? data/row) {:a 1} 2)", [1, 2])
    assert result.values == [{"a": 1}, 2]
    with pytest.raises(ValueError, match="no common schema"):
        pa.table(result)
