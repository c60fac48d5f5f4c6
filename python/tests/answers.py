"""What a program gave, in one form: in Python, and as the command tells it."""

import json
import os
import subprocess
import sys

import ptc


def of_cases(cases, limits):
    """Returns what the command tells of each case, by id."""
    command = os.environ.get("PTC_TEST_COMMAND")
    words = [command] if command else [sys.executable, "-m", "ptc"]
    flags = ["eval", "--jsonl", "--fuel", str(limits["fuel"]), "--timeout", "20s"]
    lines = [
        json.dumps({"id": case["id"], "program": case["program"], "context": case.get("context") or {}})
        for case in cases
    ]
    done = subprocess.run([*words, *flags], input="\n".join(lines), capture_output=True, text=True, check=True)
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def of_error(error):
    return {
        "ok": False,
        "reason": error.kind,
        "message": error.message,
        "line": error.line,
        "prints": error.prints,
        "fuel": error.fuel,
        "compile_fuel": error.compile_fuel,
    }


def of_outcome(outcome):
    try:
        text = outcome.text
    except ptc.PtcError as error:
        return {"ok": False, "reason": error.kind, "message": error.message}
    return {
        "ok": True,
        "value": text,
        "prints": outcome.prints,
        "fuel": outcome.fuel,
        "compile_fuel": outcome.compile_fuel,
    }


def of_command(answer):
    if answer["ok"]:
        return {name: answer[name] for name in ("ok", "value", "prints", "fuel", "compile_fuel")}
    error = answer["error"]
    return {
        "ok": False,
        "reason": error["kind"],
        "message": error["message"],
        "line": error.get("line"),
        **{name: answer[name] for name in ("prints", "fuel", "compile_fuel")},
    }
