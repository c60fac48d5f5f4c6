"""Agents with models that are Python functions."""

import asyncio
import pathlib

import pytest

import ptc

ROOT = pathlib.Path(__file__).parents[2]
TOTAL = "(return {:total (reduce + (map #(tool/price {:of %}) data/items))})"


def price(of: str) -> int:
    """Price of an item."""
    return {"tea": 3, "cake": 5}[of]


def agent(**options):
    signature = "(items [:string]) -> {total :int}"
    return ptc.Agent("What do {{items}} cost together?", signature=signature, tools=[price], **options)


def test_a_model_is_a_function():
    requests = []

    def model(request):
        requests.append(request)
        return TOTAL

    step = agent().run({"items": ["tea", "cake"]}, model=model)
    assert step.value == {"total": 8} and step.ok and step.usage.turns == 1
    [request] = requests
    assert "tool/price" in request.system and request.turn == 1 and request.chat[0]["role"] == "system"
    assert step.turns[0]["program"] and step.as_dict()["return"] == {"total": 8}


def test_a_wrong_program_is_mended_in_the_next_turn():
    replies = iter(["(tool/prize {})", TOTAL])
    step = agent(max_turns=3).run({"items": ["tea"]}, model=lambda request: next(replies))
    assert step.value == {"total": 3} and step.usage.turns == 2


def test_a_mission_that_fails():
    with pytest.raises(ptc.AgentError) as caught:
        agent(max_turns=1, retry_turns=0).run({"items": ["tea"]}, model=lambda request: "(return {:total nil})")
    assert caught.value.step.reason == caught.value.reason and not caught.value.step.ok
    with pytest.raises(ptc.AgentError, match="out of tokens"):
        agent().run({"items": []}, model=_broken)


def _broken(request):
    raise RuntimeError("out of tokens")


def test_events_tell_what_happens():
    events = list(agent().stream({"items": ["tea"]}, model=lambda request: {"content": TOTAL}))
    kinds = [event.kind for event in events]
    assert kinds[0] == "turn_began" and kinds[-1] == "ended"
    [called] = [event for event in events if event.kind == "tool_called"]
    assert (called.name, called.args) == ("price", {"of": "tea"})
    [answered] = [event for event in events if event.kind == "tool_answered"]
    assert answered.answer == 3
    assert events[-1].step.value == {"total": 3}
    with pytest.raises(AttributeError):
        called.nothing  # noqa: B018


def test_async_models_and_tools_share_the_loop():
    loops = set()

    async def later(of: str) -> int:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return 7

    async def model(request):
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return TOTAL

    async def main():
        made = ptc.Agent("Cost of {{items}}?", signature="(items [:string]) -> {total :int}", tools={"price": later})
        loops.add(asyncio.get_running_loop())
        step = await made.run_async({"items": ["tea"]}, model=model)
        kinds = [event.kind async for event in made.stream_async({"items": ["tea"]}, model=model)]
        return step.value, kinds[-1]

    assert asyncio.run(main()) == ({"total": 7}, "ended")
    assert len(loops) == 1


def test_an_agent_from_a_file(tmp_path):
    path = tmp_path / "sum.toml"
    path.write_text('name = "sum"\nprompt = "Cost of {{items}}?"\nsignature = "(items [:string]) -> {total :int}"\n')
    made = ptc.Agent.from_file(path, tools=[price])
    assert made.name == "sum" and made.prompt == "Cost of {{items}}?" and made.warnings == []
    assert made.run({"items": ["cake"]}, model=lambda request: TOTAL).value == {"total": 5}
    path.write_text('prompt = "x"\nmax_turn = 1')
    with pytest.raises(ValueError, match="did you mean `max_turns`"):
        ptc.Agent.from_file(path)


def test_without_a_model():
    with pytest.raises(ptc.AgentError) as caught:
        agent().run({"items": []})
    assert caught.value.reason == "llm_required"


def test_wrong_options():
    with pytest.raises(ValueError, match="did you mean `max_turns`"):
        ptc.Agent("x", max_turn=1)


def test_a_stream_that_is_not_read_to_its_end():
    cancel = ptc.Cancel()
    events = agent().stream({"items": ["tea"]}, model=lambda request: TOTAL, cancel=cancel)
    assert next(events).kind == "turn_began"
    events.close()
    assert not cancel.cancelled
    agent().run({"items": ["tea"]}, model=lambda request: TOTAL, cancel=cancel)
    assert not cancel.cancelled
