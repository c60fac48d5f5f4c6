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


def test_only_the_columns_that_a_program_reads_are_looked_at():
    pa = pytest.importorskip("pyarrow")
    odd = pa.array([[(1, "a")], [(2, "b")]], type=pa.map_(pa.int64(), pa.string()))
    table = pa.table({"n": [1, 2], "odd": odd})
    assert ptc.batch("(inc data/n)", table).values == [2, 3]
    with pytest.raises(TypeError, match=r"the column `odd` has the type Map.*which no value holds exactly"):
        ptc.batch("(count data/odd)", table)


def test_types_of_columns():
    pa = pytest.importorskip("pyarrow")
    decimal, datetime = pytest.importorskip("decimal"), pytest.importorskip("datetime")
    columns = {
        "small": (pa.int8(), [1, None], [1, None]),
        "large": (pa.uint64(), [2**64 - 1, 0], [2**64 - 1, 0]),
        "float": (pa.float32(), [0.1, 2.0], [0.1, 2.0]),
        "text": (pa.large_string(), ["ä", ""], ["ä", ""]),
        "view": (pa.string_view(), ["a longer text than fits", None], ["a longer text than fits", None]),
        "name": (pa.dictionary(pa.int8(), pa.string()), ["x", "x"], ["x", "x"]),
        "price": (pa.decimal128(9, 2), [decimal.Decimal("1.50"), None], [1.5, None]),
        "day": (pa.date32(), [datetime.date(2031, 4, 3), None], ["2031-04-03", None]),
        "list": (pa.list_(pa.int64()), [[1, 2], None], [[1, 2], None]),
        "struct": (pa.struct({"a": pa.bool_()}), [{"a": True}, None], [{"a": True}, None]),
    }
    arrays = {name: pa.array(values, type=kind) for name, (kind, values, _) in columns.items()}
    rows = ptc.batch("data/row", pa.table(arrays)).values
    for name, (_, _, wanted) in columns.items():
        assert [row[name] for row in rows] == wanted, name


def test_types_of_results():
    pa = pytest.importorskip("pyarrow")
    day = '(parse "2031-04-03")'
    result = ptc.batch(f"{{:n data/n :half (/ data/n 2) :day {day} :tags [:a] :at nil}}", [{"n": 1}, {"n": 2}])
    assert [str(field.type) for field in pa.table(result).schema] == [
        "int64",
        "double",
        "date32[day]",
        "list<item: string>",
        "string",
    ]
    assert str(result.values[0]["day"]) == "2031-04-03" and result.values[1]["tags"] == ["a"]
    assert ptc.batch("#{data/row}", [1]).values == [{1}]


def test_a_result_that_does_not_fit_a_declared_schema_fails():
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("n", pa.int8())])
    rows = [{"n": 1}, {"n": 200}, {"n": 3}]
    with pytest.raises(ptc.RunError, match="the column `n` is of type Int8, but the value is 200") as caught:
        ptc.batch("{:n data/n}", rows, schema=schema)
    assert caught.value.row == 1
    result = ptc.batch("{:n data/n}", rows, schema=schema, on_error="null")
    assert result.values == [{"n": 1}, None, {"n": 3}]
    assert pa.table(result)["n"].to_pylist() == [1, None, 3]
    with pytest.raises(TypeError, match=r"a schema is one of Arrow, such as .*, not dict"):
        ptc.batch("1", rows, schema={"n": "int"})
    with pytest.raises(TypeError, match="results cannot be written as"):
        ptc.batch("1", rows, schema=pa.schema([("value", pa.duration("s"))]))


def test_many_rows():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"n": range(100_000)})
    result = ptc.batch("{:twice (* 2 data/n)}", table)
    for _ in range(2):
        assert pa.table(result)["twice"].to_pylist() == [n * 2 for n in range(100_000)]


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
    with pytest.raises(ValueError, match="no common schema: the column `value` has"):
        pa.table(result)
    large = ptc.batch("(reduce *' (repeat 50 data/row))", [7])
    assert large.values == [7**50]
    with pytest.raises(ValueError, match="row 0: an integer of more than 38 digits"):
        pa.table(large)
