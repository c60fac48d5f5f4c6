"""The package as it is installed: its version, its size in time, its command."""

import pathlib
import re
import subprocess
import sys
import typing

import ptc

ROOT = pathlib.Path(__file__).parents[2]


def test_one_version():
    table = (ROOT / "Cargo.toml").read_text()
    wanted = re.search(r'\[workspace\.package\]\s*version = "([^"]+)"', table)[1]
    assert ptc.__version__ == wanted


def test_importing_it_imports_little():
    code = "import sys; before = set(sys.modules); import ptc; print(*sorted(set(sys.modules) - before))"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    costly = {"asyncio", "inspect", "dataclasses", "json", "decimal", "re", "ssl", "typing", "typing_extensions"}
    assert not costly & set(modules)


def test_hints_can_be_read():
    assert typing.get_type_hints(ptc.run)["program"] is str
    assert "tools" in typing.get_type_hints(ptc.Program.__init__)


def test_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "ptc", "eval", "-e", "(+ 1 2)"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3\n"
    failed = subprocess.run([sys.executable, "-m", "ptc", "eval", "-e", "(+ 1 nil)"], capture_output=True, text=True)
    assert failed.returncode == 1 and "type_error" in failed.stderr
    wrong = subprocess.run([sys.executable, "-m", "ptc", "evaal"], capture_output=True, text=True)
    assert wrong.returncode == 2


def test_the_examples_of_the_readme_and_of_the_guides():
    guide = ROOT / "docs/guide"
    for page in [ROOT / "python/README.md", guide / "python.md", guide / "python-agents.md"]:
        names = {"__name__": "example"}
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
            if "# not run" not in block:
                exec(compile(block, str(page), "exec"), names)


def test_every_name_is_there():
    for name in ptc.__all__:
        assert getattr(ptc, name) is not None
    assert set(ptc.__all__) <= set(dir(ptc))
