"""Runs that wait for their host, in memory and as bytes."""

import pickle
import subprocess
import sys

import pytest

import ptc


def started():
    run = ptc.Program("(if (tool/approve {:amount data/amount}) :sent :held)").start({"amount": 900})
    calls = run.step()
    assert [(call.name, call.args) for call in calls] == [("approve", {"amount": 900})]
    return run


def test_a_run_is_stepped():
    run = started()
    assert not run.done and len(run.calls) == 1 and run.fuel > 0
    run.answer(run.calls[0], True)
    assert run.step() == []
    assert run.done and run.outcome.value == "sent" and run.finish().value == "sent"
    with pytest.raises(RuntimeError, match="has ended"):
        run.step()


def test_a_run_goes_to_bytes_and_back():
    data = started().to_bytes()
    for answer, wanted in [(True, "sent"), (False, "held")]:
        run = ptc.Run.from_bytes(data, grants={"amount": 900})
        run.answer(run.calls[0].id, answer)
        assert run.finish().value == wanted


def test_another_process_continues():
    code = (
        "import ptc, sys\n"
        "run = ptc.Run.from_bytes(sys.stdin.buffer.read(), grants={'amount': 900})\n"
        "run.answer(run.calls[0], True)\n"
        "print(run.finish().value)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=started().to_bytes(), capture_output=True, check=True)
    assert done.stdout.strip() == b"sent"


def test_forged_bytes_are_refused():
    data = bytearray(started().to_bytes())
    data[len(data) // 2] ^= 0xFF
    for forged in [bytes(data), b"", b"junk", bytes(data[:-3])]:
        with pytest.raises(ptc.SnapshotError):
            ptc.Run.from_bytes(forged, grants={"amount": 900})


def test_calls_in_parallel_wait_together():
    run = ptc.Program("(pmap (fn [n] (tool/price {:of n})) [1 2 3])").start()
    calls = run.step()
    assert len(calls) == 3 and len({call.id for call in calls}) == 3
    for call in reversed(calls):
        run.answer(call, call.args["of"] * 10)
    assert run.finish().value == [10, 20, 30]


def test_a_call_may_fail():
    run = started()
    run.fail(run.calls[0], "nobody is there")
    with pytest.raises(ptc.ToolFailed, match="nobody is there"):
        run.finish()
    run = started()
    cause = LookupError("gone")
    run.fail(run.calls[0], cause)
    with pytest.raises(ptc.ToolFailed) as caught:
        run.finish()
    assert caught.value.__cause__ is cause


def test_wrong_answers_are_refused():
    run = started()
    with pytest.raises(TypeError, match="no data"):
        run.answer(run.calls[0], object())
    with pytest.raises(RuntimeError, match="not waiting"):
        run.answer("call.9", 1)
    with pytest.raises(TypeError, match="name a call"):
        run.answer(7, 1)
    run.answer(run.calls[0], True)
    assert run.finish().value == "sent"


def test_an_ended_run_has_no_bytes():
    run = ptc.Program("1").start()
    run.finish()
    with pytest.raises(RuntimeError, match="ended"):
        run.to_bytes()


def test_errors_can_be_pickled():
    with pytest.raises(ptc.CompileError) as caught:
        ptc.run("(fliter 1)")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is ptc.CompileError and str(copy) == str(caught.value)
    assert (copy.kind, copy.line, copy.hint) == (caught.value.kind, 1, caught.value.hint)
