"""Programs, their errors and their limits."""

import json

import pytest

import ptc


def test_a_value_is_plain_python():
    program = '{:n 1 "big" 123456789012345678901234567890 :x 1.5 :t "é" :list [1 nil true] :set #{1 2} :k :word}'
    assert ptc.run(program) == {
        "n": 1,
        "big": 123456789012345678901234567890,
        "x": 1.5,
        "t": "é",
        "list": [1, None, True],
        "set": {1, 2},
        "k": "word",
    }


def test_data_is_read_by_name():
    assert ptc.run("(reduce + (map :total data/orders))", {"orders": [{"total": 3}, {"total": 4}]}) == 7
    assert ptc.run("data/unit-price", {"unit-price": 3}) == 3


def test_an_outcome_has_everything():
    outcome = ptc.execute('(println "adding") (+ 1 2))')
    assert (outcome.value, outcome.text, outcome.json()) == (3, "3", "3")
    assert outcome.prints == ["adding"]
    assert outcome.fuel > 0 and outcome.compile_fuel > 0
    assert [warning.kind for warning in outcome.warnings] == ["surplus_bracket"]
    assert "3" in repr(outcome)


def test_a_misspelt_field_is_refused_before_anything_runs():
    with pytest.raises(ptc.CompileError) as caught:
        ptc.run("(sum-by :totl data/orders)", {"orders": [{"id": 1, "total": 5}]})
    error = caught.value
    assert (error.kind, error.code, error.line, error.column) == ("unknown_field", "E0211", 1, 9)
    assert error.hint == "did you mean `:total`?"
    assert "(line 1, column 9)" in str(error)


def test_an_error_has_frames_prints_and_fuel():
    source = '(defn inner [x] (+ x nil))\n(defn outer [x] (inc (inner x)))\n(println "here")\n(outer 1)'
    with pytest.raises(ptc.RunError) as caught:
        ptc.run(source)
    error = caught.value
    assert error.kind == "type_error" and error.line == 1
    assert [frame.function for frame in error.frames] == ["inner", "outer"]
    assert [frame.line for frame in error.frames] == [2, 4]
    assert error.prints == ["here"] and error.fuel > 0 and error.source == source


def test_several_errors_come_together():
    with pytest.raises(ptc.CompileError) as caught:
        ptc.run("(fliter odd? [1])\n(mpa inc [1])")
    assert [told.line for told in caught.value.diagnostics] == [1, 2]


def test_a_program_can_fail_with_a_value():
    with pytest.raises(ptc.ProgramFailed) as caught:
        ptc.run('(fail {:reason "no stock" :left 0})')
    assert caught.value.value == {"reason": "no stock", "left": 0}


@pytest.mark.parametrize(
    ("limits", "program", "kind"),
    [
        ({"fuel": 10_000}, "(loop [i 0] (recur (inc i)))", "fuel_exceeded"),
        ({"memory_bytes": 100_000}, "(mapv str (range 100000))", "memory_exceeded"),
        ({"timeout_ms": 50}, "(loop [i 0] (recur (inc i)))", "timeout"),
        ({"source_bytes": 5}, "(+ 1 2 3)", "program_too_large"),
    ],
)
def test_limits_end_programs(limits, program, kind):
    with pytest.raises(ptc.LimitError) as caught:
        ptc.run(program, limits=limits)
    assert caught.value.kind == kind


def test_a_wrong_limit_is_refused():
    with pytest.raises(ValueError, match="there is no limit `fule`"):
        ptc.run("1", limits={"fule": 1})
    with pytest.raises(TypeError, match="must be an integer"):
        ptc.run("1", limits={"fuel": -1})
    with pytest.raises(ValueError, match="at most"):
        ptc.run("1", limits={"parallel_depth": 1000})
    assert ptc.default_limits()["fuel"] == 200_000_000


def test_a_program_is_compiled_once():
    program = ptc.Program("{:total (* data/price data/amount)}")
    assert program({"price": 3, "amount": 4}) == {"total": 12}
    assert program(price=5, amount=2) == {"total": 10}
    with pytest.raises(ptc.CompileError, match="data/amount"):
        program(price=5)
    assert program.warnings == [] and program.source.startswith("{:total")


def test_data_of_a_program_is_granted_to_every_call():
    rows = ptc.freeze([{"n": n} for n in range(1000)])
    program = ptc.Program("(+ data/more (count data/rows))", data={"rows": rows})
    assert [program(more=n) for n in range(3)] == [1000, 1001, 1002]
    assert rows.nbytes > 1000 and rows.thaw()[7] == {"n": 7}


def test_functions_of_a_program():
    source = '(def rates {:de 1.19}) (defn gross "Adds tax." [country net] (* net (get rates (keyword country) 1.0)))'
    gross = ptc.Program(source, tools={}).function("gross")
    assert gross("de", 100) == 119.0
    assert gross("ch", 100) == 100.0
    with pytest.raises(ptc.RunError) as caught:
        gross("de")
    assert caught.value.kind == "arity_mismatch"
    with pytest.raises(ptc.CompileError):
        ptc.Program(source, tools={}).function("grss")
    with pytest.raises(ptc.PtcError, match="not the name of a function"):
        ptc.Program(source, tools={}).function("gross 1) (+ 1")


def test_a_session_remembers():
    session = ptc.Session(data={"rate": 0.25})
    session.run("(defn vat [x] (* x data/rate))")
    assert session.run("(vat 100)") == 25.0
    assert session.run("(inc *1)") == 26.0
    with pytest.raises(ptc.RunError):
        session.run("(def vat nil) (+ 1 nil)")
    assert session.run("(vat 4)") == 1.0
    assert session.names == ["vat"] and "vat" in session and "x" not in session
    session.run("(def limit 12)")
    assert session["limit"] == 12
    other = session.copy()
    other.run("(def limit 13)")
    assert (session["limit"], other["limit"]) == (12, 13)
    session.grant(rate=0.5)
    assert session.run("(vat 4)") == 2.0
    assert session.function("vat")(10) == 5.0
    with pytest.raises(KeyError):
        session["nothing"]


def test_a_session_that_grows_too_large_is_unchanged():
    session = ptc.Session(limits={"granted_bytes": 10_000})
    session.run("(def a 1)")
    with pytest.raises(ptc.LimitError, match="all definitions"):
        session.run("(def a (mapv str (range 5000)))")
    assert session["a"] == 1


def test_check_runs_nothing():
    def price(of: str) -> int:
        raise AssertionError("it was called")

    assert ptc.check("(tool/price {:of data/item})", {"item": "tea"}, {"price": price}) == []
    kinds = [told.kind for told in ptc.check("(tool/price {:off 7})", tools={"price": price})]
    assert kinds == ["refused_arguments"]
    assert ptc.check("(tool/prize {})", tools={"price": price})[0].kind == "unknown_tool"
    assert [told.is_warning for told in ptc.check("(+ 1 2))")] == [True]


def test_the_card_tells_of_tools_and_data():
    def price(of: str) -> int:
        """Price of an item."""
        return len(of)

    card = ptc.card({"price": price}, data={"orders": []})
    assert "group-by" in card
    assert "(tool/price {:of string}) -> integer ; Price of an item." in card
    assert card.endswith("Data: data/orders")


def test_a_result_without_a_python_form_is_an_error():
    with pytest.raises(ValueError, match="keys that Python does not tell apart"):
        ptc.run('{:a 1 "a" 2}')
    assert ptc.run("{[1 2] :pair}") == {(1, 2): "pair"}


def test_json_is_as_the_command_writes_it():
    assert json.loads(ptc.execute("{:a [1 2.5 nil]}").json()) == {"a": [1, 2.5, None]}


def test_cancel_ends_a_run():
    cancel = ptc.Cancel()
    cancel.cancel()
    assert cancel.cancelled
    with pytest.raises(ptc.Cancelled):
        ptc.run("(+ 1 2)", cancel=cancel)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ptc.run(None), "a program is text, not NoneType"),
        (
            lambda: ptc.run("(count data)", [1, 2]),
            'data is a dict of names and values, such as {"orders": [...]}, not list',
        ),
        (lambda: ptc.run("1", tools=len), "tools are a list of functions, or a dict of them by name, not builtin"),
        (lambda: ptc.run("1", tools="price"), "tools are a list of functions, or a dict of them by name, not str"),
        (lambda: ptc.run("1", limits=5), 'limits are a dict such as {"fuel": 100_000}, not int'),
        (lambda: ptc.batch("1", 5), "rows are an Arrow table or a list of dicts, not int"),
        (lambda: ptc.batch("1", {"n": 1}), "rows are an Arrow table or a list of dicts, not dict"),
    ],
)
def test_what_callers_mix_up(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)
