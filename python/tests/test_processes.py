"""Threads, forks, subinterpreters, signals and garbage."""

import asyncio
import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import ptc


def python(code, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, **options
    )


def test_a_program_is_called_from_many_threads():
    def twice(n):
        return n * 2

    program = ptc.Program("(reduce + (map (fn [n] (tool/twice {:n n})) (range data/n)))", tools={"twice": twice})
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: program(n=n), range(200))) == [n * (n - 1) for n in range(200)]


def test_the_interpreter_is_free_while_a_program_computes():
    ticks, done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    ticking = threading.Thread(target=tick)
    ticking.start()
    ptc.run("(loop [i 0] (if (< i 2000000) (recur (inc i)) i))", limits={"timeout_ms": 60_000})
    done.set()
    ticking.join()
    assert ticks > 5


def test_cancel_from_another_thread():
    cancel = ptc.Cancel()
    threading.Timer(0.1, cancel.cancel).start()
    with pytest.raises(ptc.Cancelled):
        ptc.run("(loop [i 0] (recur (inc i)))", limits={"timeout_ms": 60_000, "fuel": 10**15}, cancel=cancel)


def test_one_run_serves_one_thread():
    inside, go = threading.Event(), threading.Event()

    def wait():
        inside.set()
        go.wait(10)
        return 1

    run = ptc.Program("(tool/wait {})", tools={"wait": wait}).start()
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run.finish)
        inside.wait(10)
        with pytest.raises(RuntimeError, match="another thread"):
            run.step()
        go.set()
        assert result.result().value == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_stops_a_computing_run():
    code = """
        import os, signal, threading, time, ptc
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        try:
            ptc.run("(loop [i 0] (recur (inc i)))", limits={"timeout_ms": 60_000, "fuel": 10**15})
        except KeyboardInterrupt:
            print("stopped", time.monotonic() - started < 5)
    """
    assert python(code).stdout.strip() == "stopped True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_computes():
    code = """
        import os, ptc
        program = "(reduce + (pmap (fn [n] (reduce + (range n))) (range 200)))"
        wanted = ptc.run(program)
        compiled = ptc.Program("(pmap inc data/xs)")
        for depth in range(3):
            child = os.fork()
            if child:
                _, status = os.waitpid(child, 0)
                os._exit(os.waitstatus_to_exitcode(status))
            assert ptc.run(program) == wanted
            assert compiled(xs=[1, 2]) == [2, 3]
            assert ptc.batch("(inc data/row)", [1, 2]).values == [2, 3]
        print("right", flush=True)
    """
    done = python(code)
    assert (done.stdout.strip(), done.returncode) == ("right", 0), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_servers_do_not_survive_a_fork():
    code = """
        import os, ptc
        servers = ptc.Servers.start(text='{"upstreams": {}}')
        assert ptc.run("(+ 1 2)", servers=servers) == 3
        if not os.fork():
            try:
                ptc.run("1", servers=servers)
            except RuntimeError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
    """
    assert "before the process was forked" in python(code).stdout


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the module has another name")
def test_subinterpreters_are_refused():
    code = """
        import ptc
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        try:
            error = interpreters.run_string(other, "import ptc")
        except Exception as raised:
            error = raised
        print(error)
        print(ptc.run("(+ 1 2)"))
    """
    done = python(code)
    assert "ImportError" in done.stdout and done.stdout.endswith("3\n"), done.stdout + done.stderr


def test_a_tool_is_freed_with_its_program():
    class Shop:
        def price(self, of: str) -> int:
            return 3

    shop = Shop()
    gone = weakref.ref(shop)
    program = ptc.Program('(tool/price {:of "tea"})', tools=[shop.price])
    assert program() == 3
    assert ptc.run('(tool/price {:of "tea"})', tools=[shop.price]) == 3
    del program, shop
    gc.collect()
    assert gone() is None


def double(n: int) -> int:
    return n * 2


def test_programs_and_batches_go_to_other_processes():
    shop = ptc.Prelude.compile("(ns shop) (defn twice [n] (tool/double {:n n}))")
    program = ptc.Program("(+ data/more (shop/twice data/n))", data={"more": 1}, tools=[double], preludes=[shop])
    code = """
        import pickle, sys
        program, batch = pickle.load(sys.stdin.buffer)
        print(program(n=5), batch([{"n": 7}]).values)
    """
    sent = pickle.dumps((program, program.batch(data={"other": 1}, on_error="null")))
    folder = os.path.dirname(__file__)
    path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        input=sent,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.decode().strip() == "11 [15]", done.stderr.decode()
    with pytest.raises(TypeError, match="make it in the process"):
        pickle.dumps(ptc.Program("1", servers=ptc.Servers.start(text='{"upstreams": {}}')))


class Owner:
    """An object whose method is a tool of what it owns, which is garbage once nobody else refers to it."""

    def price(self, of: str = "tea") -> int:
        return 3

    def fail(self) -> int:
        raise LookupError("gone")

    async def later(self) -> int:
        raise LookupError("gone")


def program_of(owner):
    owner.program = ptc.Program("(tool/price {})", tools=[owner.price])
    assert owner.program() == 3


def session_of(owner):
    owner.session = ptc.Session(tools=[owner.price])
    owner.function = ptc.Program("(defn f [] (tool/price {}))", tools=[owner.price]).function("f")
    assert owner.session.run("(tool/price {})") == owner.function() == 3


def batch_of(owner):
    owner.batch = ptc.Program("(tool/price {:of data/of})", tools=[owner.price]).batch()
    owner.result = owner.batch([{"of": "tea"}])
    assert owner.result.values == [3]


def run_of(owner):
    owner.run = ptc.Program("(tool/price {})", tools=[owner.price]).start()
    owner.run.step()


def failed_run_of(owner):
    # The frames of the exception refer to the run, and the run keeps the exception.
    run = ptc.Program("(tool/fail {})", tools=[owner.fail]).start()
    with pytest.raises(ptc.ToolFailed):
        run.finish()


def caught_by(owner):
    run = ptc.Program("(try (tool/fail {}) (catch Exception e 7))", tools=[owner.fail]).start()
    assert run.finish().value == 7


def failed_async_run_of(owner):
    async def main():
        with pytest.raises(ptc.ToolFailed):
            await ptc.run_async("(tool/later {})", tools=[owner.later])

    asyncio.run(main())


def agent_of(owner):
    owner.agent = ptc.Agent("What is the price?", signature="() -> :int", tools=[owner.price, owner.later])
    owner.model = lambda request: owner.price() and "(return (tool/price {}))"
    assert owner.agent.run(model=owner.model).value == 3


def stream_of(owner):
    agent = ptc.Agent("What is the price?", signature="() -> :int", tools=[owner.price])
    owner.events = agent.stream(model=lambda request: owner.price() and "(return (tool/price {}))")
    next(owner.events)


@pytest.mark.parametrize(
    "make",
    [
        program_of,
        session_of,
        batch_of,
        run_of,
        failed_run_of,
        caught_by,
        failed_async_run_of,
        agent_of,
        stream_of,
    ],
)
def test_what_refers_to_itself_is_freed(make):
    owner = Owner()
    gone = weakref.ref(owner)
    make(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_a_run_keeps_few_of_the_exceptions_that_its_program_catches():
    seen = []

    class Refused(Exception):
        pass

    def refuse(n):
        error = Refused(n)
        seen.append(weakref.ref(error))
        raise error

    def count():
        gc.collect()
        return sum(error() is not None for error in seen)

    program = "(mapv (fn [n] (try (tool/refuse {:n n}) (catch Exception e n))) (range 2000)) (tool/count {})"
    assert ptc.run(program, tools={"refuse": refuse, "count": count}) < 300
    assert len(seen) == 2000 and count() == 0


def test_runs_leave_no_memory_behind():
    resource = pytest.importorskip("resource")
    program = ptc.Program("(count (map (fn [r] (tool/t {:r r})) data/rows))", tools={"t": lambda r: r})

    def work():
        for _ in range(300):
            program(rows=[{"a": n, "b": str(n)} for n in range(20)])
            try:
                program(rows=7)
            except ptc.PtcError:
                pass

    work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5):
        work()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupted_run_may_continue():
    hits = []

    def nap():
        hits.append(1)
        if len(hits) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        return len(hits)

    run = ptc.Program("(tool/nap {})", tools={"nap": nap}).start()
    with pytest.raises(KeyboardInterrupt):
        run.finish()
    assert run.finish().value == 2
