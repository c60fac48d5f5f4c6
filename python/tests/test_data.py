"""Python data in, plain Python out: exactly, or not at all."""

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import types
import uuid
from collections import OrderedDict, UserDict, deque, namedtuple
from typing import ClassVar

import pytest

import ptc

UTC = dt.timezone.utc


def through(value):
    return ptc.run("data/x", {"x": value})


@dataclasses.dataclass
class Order:
    kind: ClassVar[str] = "order"
    id: int
    tags: list[str]


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -(2**63),
        2**63,
        -(10**400),
        1.5,
        -0.0,
        float("inf"),
        "",
        "é\n\u2028🦊",
        [],
        [1, [2, [3]]],
        {},
        {"a": {"b": [None]}},
        {1: "one", "2": 2, None: 0},
        {1, 2, 3},
        set(),
        dt.date(2031, 4, 3),
        dt.date(1, 1, 1),
        dt.datetime(2031, 4, 3, 12, 30, 15, 123456, tzinfo=UTC),
        dt.datetime(1, 1, 1, tzinfo=UTC),
        dt.timedelta(days=-3, milliseconds=5),
    ],
)
def test_round_trip(value):
    got = through(value)
    assert got == value and type(got) is type(value)


def test_nan():
    got = through(float("nan"))
    assert got != got


class Text(str):
    pass


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]),
        (deque([1, 2]), [1, 2]),
        (OrderedDict(a=1), {"a": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (Order(1, ["x"]), {"id": 1, "tags": ["x"]}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (Text("a"), "a"),
        (frozenset([1]), {1}),
        (decimal.Decimal("12.00"), 12),
        (decimal.Decimal("0.5"), 0.5),
        (decimal.Decimal("1e30"), 10**30),
        (uuid.UUID(int=7), str(uuid.UUID(int=7))),
        (
            dt.datetime(2031, 4, 3, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            dt.datetime(2031, 4, 3, tzinfo=UTC),
        ),
    ],
)
def test_converted(value, wanted):
    assert through(value) == wanted


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (decimal.Decimal("0.1"), "no float exactly"),
        (decimal.Decimal("nan"), "no float exactly"),
        (b"bytes", "decode"),
        (dt.datetime(2031, 4, 3), "time zone"),
        (dt.time(1), "isoformat"),
        (dt.timedelta(microseconds=1), "whole milliseconds"),
        (object(), "dataclass"),
        (print, "tools="),
        ((n for n in [1]), "list"),
        (fractions.Fraction(1, 3), "no data"),
        (1j, "no data"),
        ("\ud800", "surrogates"),
    ],
)
def test_refused(value, why):
    with pytest.raises((TypeError, ValueError), match=why):
        through(value)


def test_a_refusal_names_the_place():
    with pytest.raises(TypeError, match=r"data\[\"orders\"\]\[1\]\['total'\]: Decimal\('0.1'\)"):
        ptc.run("1", {"orders": [{}, {"total": decimal.Decimal("0.1")}]})


def test_data_that_contains_itself():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contain itself"):
        through(loop)


def test_deep_values_come_out():
    deep = ptc.run("(reduce (fn [inner _] [inner]) nil (range 5000))")
    depth = 0
    while deep is not None:
        deep, depth = deep[0], depth + 1
    assert depth == 5000


def test_the_members_of_objects_are_data():
    assert ptc.run("[data/id data/tags]", Order(7, ["a"])) == [7, ["a"]]
    with pytest.raises(TypeError, match="data is a dict"):
        ptc.run("1", [1, 2])
    with pytest.raises(TypeError, match="names of data are strings"):
        ptc.run("1", {1: 2})


def test_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Item(pydantic.BaseModel):
        name: str
        due: dt.date

    class Basket(pydantic.BaseModel):
        items: list[Item]

    basket = Basket(items=[Item(name="tea", due=dt.date(2031, 4, 3))])
    assert ptc.run("(:due (first data/items))", basket) == dt.date(2031, 4, 3)
    assert through(basket) == {"items": [{"name": "tea", "due": dt.date(2031, 4, 3)}]}


def test_numpy():
    np = pytest.importorskip("numpy")
    assert through(np.int64(7)) == 7 and type(through(np.int64(7))) is int
    assert through(np.uint64(2**64 - 1)) == 2**64 - 1
    assert through(np.float64(0.1)) == 0.1
    assert through(np.float32(0.5)) == 0.5
    assert through(np.bool_(True)) is True
    assert through(np.str_("a")) == "a"
    assert through(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert through({"rows": np.arange(3)}) == {"rows": [0, 1, 2]}
    with pytest.raises(TypeError, match="time zone"):
        through(np.datetime64("2031-04-03"))
    with pytest.raises(TypeError, match="complex"):
        through(np.complex128(1))


def test_pandas():
    pd = pytest.importorskip("pandas")
    stamp = pd.Timestamp("2031-04-03T12:00Z")
    assert through(stamp) == stamp.to_pydatetime()
    with pytest.raises(TypeError, match="microseconds"):
        through(pd.Timestamp("2031-04-03T12:00:00.000000001Z"))
    with pytest.raises(TypeError, match="to_dict"):
        through(pd.DataFrame({"a": [1]}))


def test_errors_of_properties_come_through():
    class Broken(UserDict):
        def __getitem__(self, key):
            raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        through(Broken(x=1))


def test_a_list_that_shrinks_while_it_is_read():
    items = [1]

    class Shrinks(UserDict):
        def __getitem__(self, key):
            items.clear()
            return 1

    items.extend([Shrinks(x=1), 3])
    assert through(items) == [1, {"x": 1}]
