"""Runs everything at once for a while and watches the memory: `python tests/stress.py [seconds]`, or with
`--slowly [seconds]` everything in turn, for tools that slow it down: `.ci/run python_valgrind`.

Threads run programs that call tools, fail, are cancelled, suspend and go to bytes, beside event loops with async ones;
then the process forks. It fails if a value is wrong, something hangs, or memory grows after the first third.
"""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import random
import sys
import threading
import time

import ptc

ROWS = ptc.freeze([{"n": n, "tag": str(n % 7)} for n in range(500)])


#: Tools such as valgrind make a program twenty times slower.
LIMITS = {"timeout_ms": 600_000}


class Broken(Exception):
    """What some tools raise."""


def double(n: int) -> int:
    """Doubles a number, unless it is unlucky."""
    if n % 13 == 0:
        raise Broken(n)
    return n * 2


async def later(n: int) -> int:
    """Doubles a number, later."""
    await asyncio.sleep(random.random() / 1000)
    return double(n)


PROGRAM = ptc.Program("(mapv (fn [n] (tool/double {:n n})) data/ns)", tools=[double], limits=LIMITS)
COUNTS = ptc.Program("(frequencies (map :tag data/rows))", data={"rows": ROWS}, tools={}, limits=LIMITS)
ENDLESS = ptc.Program("(loop [i 0] (recur (inc i)))", limits={**LIMITS, "fuel": 10**15})


def tools(dice: random.Random) -> None:
    """Calls tools, some of which fail."""
    numbers = [dice.randrange(200) for _ in range(20)]
    try:
        assert PROGRAM(ns=numbers) == [n * 2 for n in numbers]
        assert all(n % 13 for n in numbers)
    except ptc.ToolFailed as error:
        assert isinstance(error.__cause__, Broken)


def parallel(dice: random.Random) -> None:
    """Computes on the pool, with calls on threads."""
    count = dice.randrange(1, 30)
    program = "(reduce + (pmap (fn [n] (try (tool/double {:n n}) (catch Exception e 0))) (range data/c)))"
    wanted = sum(n * 2 for n in range(count) if n % 13)
    assert ptc.run(program, {"c": count}, tools=[double], limits=LIMITS, threads=4) == wanted


def cancelled(dice: random.Random) -> None:
    """Is cancelled by a timer."""
    cancel = ptc.Cancel()
    timer = threading.Timer(dice.random() / 50, cancel.cancel)
    timer.start()
    try:
        ENDLESS.execute(cancel=cancel)
        raise AssertionError("it ended")
    except ptc.Cancelled:
        timer.join()


def suspended(dice: random.Random) -> None:
    """Goes to bytes and back at every call."""
    run = ptc.Program("(reduce + (pmap (fn [n] (tool/ask {:n n})) (range 5)))", limits=LIMITS).start()
    while calls := run.step():
        run.answer(dice.choice(calls), 1)
        run = ptc.Run.from_bytes(run.to_bytes(), limits=LIMITS)
    assert run.outcome.value == 5


def loops(dice: random.Random) -> None:
    """Runs async programs, some of whose tasks are cancelled."""

    async def one(n: int) -> None:
        first = 10 if n == 1 else 14
        program = f"(pmap (fn [n] (tool/later {{:n n}})) (range {first} 26))"
        work = ptc.run_async(program, tools=[later], limits=LIMITS)
        try:
            value = await asyncio.wait_for(work, 0.002 if n == 0 else 300)
            assert value == [n * 2 for n in range(14, 26)]
        except asyncio.TimeoutError:
            assert n == 0
        except ptc.ToolFailed as error:
            assert n == 1 and isinstance(error.__cause__, Broken)

    async def many() -> None:
        await asyncio.gather(*[one(n) for n in range(4)])

    asyncio.run(many())


def tables(dice: random.Random) -> None:
    """Runs batches, and programs over shared data."""
    rows = [{"n": dice.randrange(100)} for _ in range(200)]
    assert ptc.batch("(* 2 data/n)", rows, limits=LIMITS).values == [row["n"] * 2 for row in rows]
    assert sum(COUNTS().values()) == 500
    # Columns go out through the interface of Arrow, and come in again.
    doubled = ptc.batch("{:n (* 2 data/n) :text (str data/n) :list [data/n]}", rows, limits=LIMITS)
    again = ptc.batch("[data/n data/text data/list]", doubled, limits=LIMITS)
    assert again.values == [[row["n"] * 2, str(row["n"]), [row["n"]]] for row in rows]


def sessions(dice: random.Random) -> None:
    """Defines and redefines."""
    session = ptc.Session(limits=LIMITS)
    session.run("(defn f [x] (* x 2)) (def a [1 2 3])")
    for n in range(5):
        session.run(f"(def a (conj a {n}))")
    assert session.function("f")(len(session["a"])) == 16


class Shop:
    """Has a program that calls its method, an agent that does, and a run that failed: a cycle of each kind."""

    def __init__(self) -> None:
        self.program = ptc.Program("(tool/price {:n 1})", tools=[self.price], limits=LIMITS)
        self.agent = ptc.Agent("What is the price?", signature="() -> :int", tools=[self.price])

    def price(self, n: int) -> int:
        """Doubles a number, unless it is unlucky."""
        return double(n)

    def fail(self) -> None:
        """Keeps a run whose exception refers to it."""
        self.run = ptc.Program("(tool/price {:n 13})", tools=[self.price], limits=LIMITS).start()
        try:
            self.run.finish()
        except ptc.ToolFailed as error:
            self.error = error


def garbage(dice: random.Random) -> None:
    """Makes objects that refer to themselves."""
    shop = Shop()
    assert shop.program() == 2
    shop.fail()
    assert shop.agent.run(model=lambda request: "(return (tool/price {:n 4}))").value == 8


def pickles(dice: random.Random) -> None:
    """Sends a program through bytes."""
    assert pickle.loads(pickle.dumps(PROGRAM))(ns=[2]) == [4]


def forks(dice: random.Random) -> None:
    """Computes in a child process."""
    child = os.fork()
    if child == 0:
        wanted = list(range(1, 51))
        os._exit(0 if ptc.run("(pmap inc (range 50))") == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


WORK = [tools, parallel, cancelled, suspended, loops, tables, sessions, garbage, pickles]


def resident() -> int:
    """Returns the memory of the process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(seconds: float) -> None:
    """Works for so many seconds."""
    until = time.monotonic() + seconds
    wrong: list[BaseException] = []
    rounds = [0] * len(WORK)

    def worker(seed: int) -> None:
        dice = random.Random(seed)
        while time.monotonic() < until and not wrong:
            kind = dice.randrange(len(WORK))
            try:
                WORK[kind](dice)
                rounds[kind] += 1
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=worker, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    started, settled = time.monotonic(), 0
    while any(thread.is_alive() for thread in threads):
        time.sleep(seconds / 30)
        gc.collect()
        if not settled and time.monotonic() - started > seconds / 3:
            settled = resident()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]
    # Forking beside threads is only sound where nothing holds a lock, so this comes last.
    dice = random.Random(0)
    for _ in range(20):
        forks(dice)
    gc.collect()
    grown = resident() - settled
    print(", ".join(f"{work.__name__} {count}" for work, count in zip(WORK, rounds, strict=True)))
    print(f"memory: {resident() >> 20} MB, {grown >> 10} kB more than after a third of the time")
    if grown > max(30 << 20, settled // 4):
        sys.exit("memory grows")


def slowly(seconds: float) -> None:
    """Does all work in turn on each of two threads, for so many seconds and at least once."""
    until = time.monotonic() + seconds
    wrong: list[BaseException] = []
    rounds = [0, 0]

    def worker(seed: int) -> None:
        dice = random.Random(seed)
        try:
            while not rounds[seed] or (time.monotonic() < until and not wrong):
                for work in WORK:
                    work(dice)
                rounds[seed] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=worker, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    if wrong:
        raise wrong[0]
    print(f"{sum(rounds)} rounds of {', '.join(work.__name__ for work in WORK)}")


if __name__ == "__main__":
    words = sys.argv[1:]
    run = slowly if words[:1] == ["--slowly"] else main
    run(float(words[-1]) if words and words[-1] != "--slowly" else 60)
