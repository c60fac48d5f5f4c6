"""The conformance corpus through Python, blocking and async: the same values, errors and fuel as the command gives.

The command is that of the wheel, or the one that `PTC_TEST_COMMAND` names. That it gives what the corpus expects is for
the tests in Rust; here its values as plain Python are compared with the corpus, too.
"""

import asyncio

import pytest

import answers
import ptc
from conftest import cases
from printed import read, same

LIMITS = {"fuel": 100_000_000, "timeout_ms": 20_000}
CASES = cases()


@pytest.fixture(scope="module")
def told():
    """What the command tells of each case, by id."""
    return answers.of_cases(CASES, LIMITS)


def check(case, told, found):
    wanted = answers.of_command(told[case["id"]])
    shared = {name: wanted[name] for name in found if name in wanted}
    return None if found == shared else (case["id"], found, shared)


def values(case, outcome):
    """Compares the value as plain Python with what the corpus expects."""
    if case.get("expect") is None:
        return None
    try:
        value = outcome.value
    except ValueError as error:
        # A map or a set that Python cannot hold.
        return None if "Python does not tell apart" in str(error) else (case["id"], str(error))
    return None if same(value, read(case["expect"])) else (case["id"], value, case["expect"])


def test_the_corpus_is_whole():
    assert len(CASES) >= 2_713 and len({case["id"] for case in CASES}) == len(CASES)


def test_blocking(told):
    wrong, strange = [], []
    for case in CASES:
        try:
            outcome = ptc.execute(case["program"], case.get("context"), limits=LIMITS)
        except ptc.PtcError as error:
            found = answers.of_error(error)
        else:
            found = answers.of_outcome(outcome)
            strange.append(values(case, outcome))
        wrong.append(check(case, told, found))
    assert [one for one in wrong if one] == []
    assert [one for one in strange if one] == []


def test_async(told):
    async def one(case):
        try:
            outcome = await ptc.execute_async(case["program"], case.get("context"), limits=LIMITS)
        except ptc.PtcError as error:
            return check(case, told, answers.of_error(error))
        return check(case, told, answers.of_outcome(outcome))

    async def everything():
        found = []
        for start in range(0, len(CASES), 100):
            found += await asyncio.gather(*map(one, CASES[start : start + 100]))
        return found

    assert [one for one in asyncio.run(everything()) if one] == []


def test_in_steps_and_through_bytes(told):
    """Every tenth case with a run that is saved before its first step."""
    wrong = []
    for case in CASES[::10]:
        context = case.get("context")
        try:
            program = ptc.Program(case["program"], tools={}, limits=LIMITS)
            started = program.start(context)
            loaded = ptc.Run.from_bytes(started.to_bytes(), grants=context, tools={}, limits=LIMITS)
            found = answers.of_outcome(loaded.finish())
        except ptc.PtcError as error:
            found = answers.of_error(error)
            found.pop("compile_fuel")
        else:
            # A run out of bytes was compiled before.
            found.pop("compile_fuel", None)
        wrong.append(check(case, told, found))
    assert [one for one in wrong if one] == []
