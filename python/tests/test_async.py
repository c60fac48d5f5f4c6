"""Async runs: concurrency, cancelling, and event loops that stay free."""

import asyncio
import contextvars
import time

import pytest

import ptc


def test_async_tools_run_concurrently():
    active, most = 0, 0

    async def fetch(n):
        nonlocal active, most
        active += 1
        most = max(most, active)
        await asyncio.sleep(0.02)
        active -= 1
        return n * 2

    async def main():
        return await ptc.run_async("(pmap (fn [n] (tool/fetch {:n n})) (range 50))", tools={"fetch": fetch})

    started = time.monotonic()
    assert asyncio.run(main()) == [n * 2 for n in range(50)]
    assert most == 50 and time.monotonic() - started < 0.5


def test_sync_tools_run_on_threads():
    async def main():
        program = "(pmap (fn [n] (tool/nap {:n n})) (range 4))"
        return await ptc.run_async(program, tools={"nap": lambda n: time.sleep(0.1) or n})

    started = time.monotonic()
    assert asyncio.run(main()) == [0, 1, 2, 3]
    assert time.monotonic() - started < 0.35


def test_a_blocking_run_of_async_tools():
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return n * 2

    assert ptc.run("(tool/double {:n 21})", tools=[double]) == 42
    program = ptc.Program("(defn f [n] (tool/double {:n n})) (f 1)", tools=[double])
    assert program() == 2 and program.function("f")(4) == 8
    assert program.start().finish().value == 2
    session = ptc.Session(tools=[double])
    assert session.run("(def x (tool/double {:n 2})) x") == 4

    async def inside():
        with pytest.raises(RuntimeError, match="event loop runs here"):
            ptc.run("(tool/double {:n 21})", tools=[double])
        assert await program.call_async() == 2
        assert await session.run_async("(tool/double {:n x})") == 8

    asyncio.run(inside())


def test_the_loop_stays_free_while_a_program_computes():
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    async def main():
        ticking = asyncio.create_task(tick())
        value = await ptc.run_async("(loop [i 0] (if (< i 2000000) (recur (inc i)) i))", limits={"timeout_ms": 60_000})
        ticking.cancel()
        return value

    assert asyncio.run(main()) == 2_000_000
    assert ticks > 2


def test_an_exception_keeps_its_cause_and_ends_the_others():
    cancelled = []

    async def fetch(n):
        try:
            if n == 0:
                await asyncio.sleep(0.01)
                raise LookupError("no such thing")
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.append(n)
            raise

    async def main():
        with pytest.raises(ptc.ToolFailed) as caught:
            await ptc.run_async("(pmap (fn [n] (tool/fetch {:n n})) (range 5))", tools={"fetch": fetch})
        assert isinstance(caught.value.__cause__, LookupError)

    started = time.monotonic()
    asyncio.run(main())
    assert sorted(cancelled) == [1, 2, 3, 4] and time.monotonic() - started < 5


def test_a_cancelled_task_ends_the_run_and_its_tools():
    ended = []

    async def hang():
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("tool")

    async def main():
        task = asyncio.create_task(ptc.run_async("(tool/hang {})", tools={"hang": hang}))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == ["tool"]


def test_a_cancelled_task_ends_a_computing_run():
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(
                ptc.run_async("(loop [i 0] (recur (inc i)))", limits={"timeout_ms": 60_000, "fuel": 10**15}), 0.1
            )

    started = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - started < 5


def test_cancel_from_outside():
    async def main():
        cancel = ptc.Cancel()

        async def stop():
            cancel.cancel()
            return 1

        with pytest.raises(ptc.Cancelled):
            await ptc.run_async("(tool/stop {}) (tool/stop {})", tools={"stop": stop}, cancel=cancel)

    asyncio.run(main())


def test_context_variables_reach_tools():
    user = contextvars.ContextVar("user")

    async def later():
        return user.get()

    async def main():
        user.set("ada")
        tools = {"later": later, "now": lambda: user.get()}
        return await ptc.run_async("[(tool/later {}) (tool/now {})]", tools=tools)

    assert asyncio.run(main()) == ["ada", "ada"]


def test_a_tool_whose_task_is_cancelled_has_failed():
    async def odd():
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    async def main():
        with pytest.raises(ptc.ToolFailed, match="cancelled"):
            await ptc.run_async("(tool/odd {})", tools={"odd": odd})

    asyncio.run(main())


def test_many_runs_at_once():
    async def add(n):
        await asyncio.sleep(0.001)
        return n + 1

    async def main():
        program = ptc.Program("(reduce + (pmap (fn [n] (tool/add {:n n})) (range data/n)))", tools={"add": add})
        return await asyncio.gather(*[program.call_async(n=n) for n in range(40)])

    assert asyncio.run(main()) == [sum(range(1, n + 1)) for n in range(40)]


def test_a_shared_handle_is_left_alone():
    cancel = ptc.Cancel()

    async def fail():
        raise LookupError("gone")

    async def main():
        with pytest.raises(ptc.ToolFailed):
            await ptc.run_async("(tool/fail {})", tools={"fail": fail}, cancel=cancel)
        with pytest.raises(asyncio.TimeoutError):
            endless = ptc.run_async("(loop [] (recur))", limits={"timeout_ms": 60_000, "fuel": 10**15}, cancel=cancel)
            await asyncio.wait_for(endless, 0.05)

    asyncio.run(main())
    assert not cancel.cancelled
