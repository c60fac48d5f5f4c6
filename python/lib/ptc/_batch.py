"""Batches: one program over the rows of a table, on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ._ptc import BatchResult, Grants, Prelude, Rows, freeze, run_batch
from ._run import Program, members
from ._tools import Tools

OnError = Literal["raise", "null"]


def batch(
    program: str | Program,
    table: Any,
    *,
    data: Any = None,
    tools: Tools | None = None,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
    on_error: OnError = "raise",
    threads: int | None = None,
    schema: Any = None,
) -> BatchResult:
    """Runs a program over every row of a table, on all cores and without holding the interpreter lock.

    ``table`` is anything with the Arrow PyCapsule interface (PyArrow, Polars, pandas, DuckDB), or an iterable of dicts.
    The program reads a row as ``data/row`` and its columns as ``data/<column>``; their dates are text. Of a table, only
    the columns that the program reads are looked at, and they are not copied.

    The result is an Arrow stream itself: ``pyarrow.table(result)`` or ``polars.DataFrame(result)``. The members of
    maps become columns, other values the column ``value``. ``schema`` sets their types, and a result that does not fit
    them fails; without it, values decide. With ``on_error="null"``, a row that fails has no value, and
    ``result.failures`` has its error.
    """
    if isinstance(program, str):
        program = Program(program, tools=tools or {}, limits=limits, preludes=preludes)
    return Batch(program, data=data, on_error=on_error, threads=threads, schema=schema)(table)


class Batch:
    """A program to be run over many tables, such as those that ``map_batches`` of Ray or Polars passes."""

    def __init__(
        self,
        program: Program,
        *,
        data: Any = None,
        on_error: OnError = "raise",
        threads: int | None = None,
        schema: Any = None,
    ) -> None:
        if on_error not in ("raise", "null"):
            raise ValueError(f'on_error is "raise" or "null", not {on_error!r}')
        if schema is not None and not hasattr(schema, "__arrow_c_schema__"):
            kind = type(schema).__name__
            raise TypeError(f'a schema is one of Arrow, such as pyarrow.schema([("n", pyarrow.int64())]), not {kind}')
        self._program, self._threads, self._schema = program, threads, schema
        self._data = {name: freeze(value) for name, value in members(data).items()}
        self._grants = Grants({**program._data, **self._data})
        self._fail_fast = on_error == "raise"

    def __reduce__(self) -> tuple[Any, ...]:
        on_error = "raise" if self._fail_fast else "null"
        return _load_batch, (self._program, self._data, on_error, self._threads, self._schema)

    def __call__(self, table: Any) -> BatchResult:
        """Runs the program over every row of a table."""
        program = self._program
        is_table = hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")
        if not is_table and (isinstance(table, (Mapping, str)) or not isinstance(table, Iterable)):
            raise TypeError(f"rows are an Arrow table or a list of dicts, not {type(table).__name__}")
        rows = Rows.of_table(table) if is_table else Rows.of_objects(table)
        return run_batch(
            program._engine, program._code, rows, self._grants, self._threads, self._fail_fast, self._schema
        )


def _load_batch(program: Program, data: Any, on_error: OnError, threads: int | None, schema: Any) -> Batch:
    """Makes the copy of a batch that was pickled."""
    return Batch(program, data=data, on_error=on_error, threads=threads, schema=schema)
