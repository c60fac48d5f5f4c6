"""Collects tests of preludes: each ``deftest`` in a file ``*_test.clj`` is a test of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option for flags of ``ptc test``."""
    parser.addini("ptc_args", "flags for `ptc test`, such as `-p shop.clj`", type="args", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects files of prelude tests."""
    if file_path.name.endswith(("_test.clj", "-test.clj")):
        made: pytest.Collector = PreludeTests.from_parent(parent, path=file_path)
        return made
    return None


class PreludeTestError(Exception):
    """A test of a prelude that failed, with the text of its report."""


class PreludeTests(pytest.File):
    """A file of prelude tests. All of them run when they are collected: that takes less time than finding them."""

    def collect(self) -> Iterator[pytest.Item]:
        """Runs the file and gives its tests."""
        flags = self.config.getini("ptc_args")
        words = [sys.executable, "-m", "ptc", "test", "--json", str(self.path), *flags]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
        try:
            report = json.loads(done.stdout)
        except ValueError:
            raise self.CollectError(done.stderr or done.stdout) from None
        if "files" not in report:
            raise self.CollectError(report.get("error", {}).get("message", done.stdout))
        for file in report["files"]:
            if file["errors"]:
                raise self.CollectError("\n".join(error["text"] for error in file["errors"]))
            for test in file["tests"]:
                yield PreludeTest.from_parent(self, name=test["name"], report=test)


class PreludeTest(pytest.Item):
    """One ``deftest``."""

    def __init__(self, *, report: dict[str, Any], **options: Any) -> None:
        super().__init__(**options)
        self.report = report
        self.user_properties.append(("fuel", report["fuel"]))

    def runtest(self) -> None:
        """Passes or fails as the test did."""
        for text in self.report["prints"]:
            self.add_report_section("call", "stdout", f"{text}\n")
        if not self.report["ok"]:
            raise PreludeTestError(_told(self.report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Shows the report of the test, without a traceback of Python."""
        if isinstance(excinfo.value, PreludeTestError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Returns the place of the test."""
        return self.path, self.report["line"] - 1, self.name


def _told(report: dict[str, Any]) -> str:
    lines = []
    for failure in report["failures"]:
        about = "".join(f"{text}: " for text in failure["about"])
        lines.append(f"line {failure['line']}: {about}{failure['expression']}")
        if failure["why"]:
            lines.append(f"  {failure['why']}")
        lines += [f"  {value['name']}: {value['value']}" for value in failure["values"]]
        lines += [f"  {difference}" for difference in failure["differences"]]
    if report["error"]:
        lines.append(report["error"]["text"])
    return "\n".join(lines)
