"""The examples of the documentation: values, errors and fuel as in Rust, and as the command gives them.

The tests in Rust run them and write down what they gave, into the file that ``PTC_TEST_EXAMPLES`` names.
"""

import asyncio
import base64
import json
import os
import pathlib

import pytest

import answers
import ptc

FILE = os.environ.get("PTC_TEST_EXAMPLES")
if not FILE:
    pytest.skip("PTC_TEST_EXAMPLES names no file of examples", allow_module_level=True)
EXAMPLES = [json.loads(line) for line in pathlib.Path(FILE).read_text().splitlines()]
LIMITS = {"fuel": 100_000_000, "timeout_ms": 20_000}


def session(example, make_call):
    """Starts the session of an example, whose tools always answer the same."""
    tools = [
        ptc.Tool(make_call(answer), name, takes=example["takes"].get(name)) for name, answer in example["tools"].items()
    ]
    prelude = example["prelude"]
    preludes = [ptc.Prelude.from_bytes(base64.b64decode(prelude))] if prelude else []
    return ptc.Session(data=example["data"], tools=tools, preludes=preludes)


def blocking(answer):
    def call(**arguments):
        return answer

    return call


def awaited(answer):
    async def call(**arguments):
        await asyncio.sleep(0)
        return answer

    return call


def difference(example, index, found):
    wanted = example["programs"][index]
    shared = {name: wanted[name] for name in found}
    return [] if found == shared else [(example["id"], found, shared)]


def test_there_are_many():
    assert sum(len(example["programs"]) for example in EXAMPLES) > 300


def test_blocking():
    wrong = []
    for example in EXAMPLES:
        running = session(example, blocking)
        for index, told in enumerate(example["programs"]):
            try:
                found = answers.of_outcome(running.execute(told["program"]))
            except ptc.PtcError as error:
                found = answers.of_error(error)
            wrong += difference(example, index, found)
    assert wrong == []


def test_async():
    async def one(example):
        wrong = []
        running = session(example, awaited)
        for index, told in enumerate(example["programs"]):
            try:
                found = answers.of_outcome(await running.execute_async(told["program"]))
            except ptc.PtcError as error:
                found = answers.of_error(error)
            wrong += difference(example, index, found)
        return wrong

    async def everything():
        return await asyncio.gather(*map(one, EXAMPLES))

    assert [wrong for wrong in asyncio.run(everything()) if wrong] == []


def test_the_command():
    """The first program of each page that needs nothing but data, which is what the command can be given."""
    alone = [one for one in EXAMPLES if not (one["tools"] or one["prelude"])]
    cases = [{"id": one["id"], "program": one["programs"][0]["program"], "context": one["data"]} for one in alone]
    told = answers.of_cases(cases, LIMITS)
    wrong = [difference(one, 0, answers.of_command(told[one["id"]])) for one in alone]
    assert len(alone) > 100 and [one for one in wrong if one] == []
