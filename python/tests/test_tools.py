"""Tools: calls of Python functions, and their errors."""

import dataclasses
import enum
import functools
import threading
from typing import Annotated, Literal, TypedDict

import pytest

import ptc


def test_a_tool_is_called_with_keywords():
    def price(of, amount=1):
        return {"of": of, "price": amount * 3}

    assert ptc.run('(tool/price {:of "tea" :amount 2})', tools={"price": price}) == {"of": "tea", "price": 6}
    assert ptc.run('(:price (tool/price {"of" "tea"}))', tools=[price]) == 3


def test_names_with_dashes():
    assert ptc.run("(tool/find-user {:user-id 7})", tools={"find-user": lambda user_id: user_id}) == 7


def test_arguments_are_checked_before_anything_runs():
    def price(of: str, *, amount: int = 1) -> int:
        raise AssertionError("it was called")

    for program in ["(tool/price {})", "(tool/price {:of 7})", '(tool/price {:of "a" :amout 2})']:
        with pytest.raises(ptc.CompileError, match="refuses its arguments"):
            ptc.run(program, tools={"price": price})
    with pytest.raises(ptc.CompileError) as caught:
        ptc.run("(tool/prize {})", tools={"price": price})
    assert caught.value.kind == "unknown_tool"


def test_fields_of_results_are_checked_too():
    class Order(TypedDict):
        id: int
        total: float

    def order(id: int) -> Order:
        raise AssertionError("it was called")

    with pytest.raises(ptc.CompileError, match="totl"):
        ptc.run("(:totl (tool/order {:id 1}))", tools={"order": order})


def test_an_exception_is_a_fault_that_a_program_may_catch():
    def weather(city):
        if city == "Atlantis":
            raise LookupError("no such city")
        return 21

    tools = {"weather": weather}
    assert ptc.run('(try (tool/weather {:city "Atlantis"}) (catch Exception e (ex-message e)))', tools=tools)
    with pytest.raises(ptc.ToolFailed) as caught:
        ptc.run('(tool/weather {:city "Atlantis"})', tools=tools)
    error = caught.value
    assert error.kind == "tool_error"
    assert error.message == "`tool/weather` failed: LookupError: no such city"
    assert isinstance(error.__cause__, LookupError) and error.__cause__.__traceback__ is not None


def test_the_cause_is_the_exception_that_ended_the_run():
    def fail(n):
        raise ValueError(f"number {n}")

    program = "(try (tool/fail {:n 1}) (catch Exception e nil)) (tool/fail {:n 2})"
    with pytest.raises(ptc.ToolFailed) as caught:
        ptc.run(program, tools={"fail": fail})
    assert str(caught.value.__cause__) == "number 2"
    program = "(try (tool/fail {:n 1}) (catch Exception e nil)) (+ 1 nil)"
    with pytest.raises(ptc.RunError) as caught:
        ptc.run(program, tools={"fail": fail})
    assert caught.value.__cause__ is None
    with pytest.raises(ptc.ToolFailed) as caught:
        ptc.run("(pmap (fn [n] (tool/fail {:n n})) [5 6 7])", tools={"fail": fail}, threads=3)
    assert str(caught.value.__cause__) == "number 5"


def test_a_tool_error_has_a_hint():
    def get(shelf):
        raise ptc.ToolError(f"no shelf {shelf!r}", hint="shelves: a, b", is_mistake=True)

    with pytest.raises(ptc.RunError) as caught:
        ptc.run('(tool/get {:shelf "x"})', tools={"get": get})
    assert (caught.value.kind, caught.value.message) == ("runtime_error", "no shelf 'x'")
    assert caught.value.hint == "shelves: a, b"


def test_a_result_that_is_no_data_is_a_fault():
    with pytest.raises(ptc.ToolFailed, match="no data") as caught:
        ptc.run("(tool/odd {})", tools={"odd": lambda: object()})
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_error_ends_the_run(kind):
    def stop():
        raise kind()

    with pytest.raises(kind):
        ptc.run("(try (tool/stop {}) (catch Exception e :caught))", tools={"stop": stop})


def test_threads_make_calls_at_the_same_time():
    barrier = threading.Barrier(4, timeout=10)

    def meet(n):
        barrier.wait()
        return n

    assert ptc.run("(pmap (fn [n] (tool/meet {:n n})) (range 4))", tools={"meet": meet}, threads=4) == [0, 1, 2, 3]


def test_calls_stay_on_this_thread_unless_told_otherwise():
    seen = set()

    def where(n):
        seen.add(threading.get_ident())
        return n

    ptc.run("(pmap (fn [n] (tool/where {:n n})) (range 100))", tools={"where": where})
    assert seen == {threading.get_ident()}


def test_a_tool_may_run_a_program():
    inner = ptc.Program("(* 2 data/n)")
    assert ptc.run("(tool/double {:n 21})", tools={"double": lambda n: inner(n=n)}) == 42


def test_a_frozen_result_is_shared():
    rows = ptc.freeze(list(range(1000)))
    assert ptc.run("(+ (count (tool/rows {})) (count (tool/rows {})))", tools={"rows": lambda: rows}) == 2000


def test_methods_partials_and_objects():
    class Shop:
        def __init__(self):
            self.sold = []

        def sell(self, what: str) -> int:
            self.sold.append(what)
            return len(self.sold)

        def __call__(self, x):
            return x

    shop = Shop()
    tools = {"sell": shop.sell, "id": shop, "seven": functools.partial(max, 7), "up": str.upper.__get__("a")}
    assert ptc.run('(tool/sell {:what "a"}) (tool/sell {:what "b"})', tools=tools) == 2
    assert ptc.run("[(tool/id {:x 1}) (tool/up {})]", tools=tools) == [1, "A"]


@dataclasses.dataclass
class Query:
    city: str
    days: int = 1


class Unit(enum.Enum):
    CELSIUS = "c"
    KELVIN = "k"


def test_arguments_become_the_types_hinted():
    def weather(query: Query, unit: Unit | None = None) -> str:
        assert isinstance(query, Query) and (unit is None or isinstance(unit, Unit))
        return f"{query.city} {query.days} {unit and unit.name}"

    program = '(tool/weather {:query {:city "Oslo"} :unit "k"})'
    assert ptc.run(program, tools=[weather]) == "Oslo 1 KELVIN"
    with pytest.raises(ptc.RunError, match="bad argument `query`"):
        ptc.run('(tool/weather {:query {:town "Oslo"}})', tools=[weather])


def test_pydantic_arguments():
    pydantic = pytest.importorskip("pydantic")

    class Filter(pydantic.BaseModel):
        country: str = pydantic.Field(max_length=2)

    def find(filter: Filter) -> list[str]:
        return [filter.country]

    assert ptc.run('(tool/find {:filter {:country "DE"}})', tools=[find]) == ["DE"]
    with pytest.raises(ptc.RunError, match="bad argument `filter`") as caught:
        ptc.run('(tool/find {:filter {:country "DEU"}})', tools=[find])
    assert isinstance(caught.value.__cause__, ptc.ToolError)


def test_schemas_come_from_hints_and_docstrings():
    class Known(TypedDict):
        id: int

    # As `NotRequired` does, which Python 3.10 does not have.
    class Row(Known, total=False):
        note: str

    def find(
        country: Annotated[str, "Two letters."],
        kinds: list[Literal["new", "old"]],
        limit: int | None = None,
        **rest: object,
    ) -> list[Row]:
        """Finds orders.

        More text.

        Args:
            limit (int): How many.
        """
        return []

    tool = ptc.tool(effect="read")(find)
    assert (tool.name, tool.description, tool.effect, tool.is_async) == ("find", "Finds orders.", "read", False)
    assert tool.takes == {
        "type": "object",
        "properties": {
            "country": {"type": "string", "description": "Two letters."},
            "kinds": {"type": "array", "items": {"enum": ["new", "old"]}},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many."},
        },
        "required": ["country", "kinds"],
    }
    assert tool.answers["items"]["required"] == ["id"]


def test_a_function_without_a_name_or_with_positional_arguments():
    with pytest.raises(ValueError, match="no name"):
        ptc.run("1", tools=[lambda: 1])

    def positional(x, /):
        return x

    with pytest.raises(TypeError, match="keyword"):
        ptc.run("1", tools=[positional])


def test_private_tools_are_for_preludes():
    tools = [ptc.Tool(lambda: 7, "secret", private=True)]
    shop = ptc.Prelude.compile("(ns shop) (defn secret [] (tool/secret {}))")
    assert ptc.run("(shop/secret)", tools=tools, preludes=[shop]) == 7
    with pytest.raises(ptc.CompileError):
        ptc.run("(tool/secret {})", tools=tools, preludes=[shop])
