"""Programs: run once, or compile once and call often."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from . import _ptc
from ._late import Any
from ._ptc import Cancel, Code, Diagnostic, Engine, Frozen, Grants, Outcome, Prelude, Run, Servers, SessionCore, freeze
from ._tools import Tools, _Spec, listed, specs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._batch import Batch


def run(
    program: str,
    data: Any = None,
    *,
    tools: Tools | None = None,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
    servers: Servers | None = None,
    cancel: Cancel | None = None,
    threads: int = 1,
) -> Any:
    """Runs a program and returns its value as plain Python.

    ``data`` is what the program reads: the members of a dict, a dataclass or a pydantic model are ``data/<name>``.
    ``tools`` are functions that it calls: ``{"price": price}`` is ``(tool/price {...})``. ``threads`` is the number of
    tool calls under ``pmap`` that are made at the same time; async tools need none.
    """
    data = members(data)
    made = Program(program, tools=tools or {}, limits=limits, preludes=preludes, servers=servers)
    return made.execute(data, cancel=cancel, threads=threads).value


async def run_async(
    program: str,
    data: Any = None,
    *,
    tools: Tools | None = None,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
    servers: Servers | None = None,
    cancel: Cancel | None = None,
) -> Any:
    """Runs a program as `run` does, without blocking the event loop.

    Async tools run concurrently under ``pmap``; other tools run on threads. Cancelling the task ends the run.
    """
    data = members(data)
    made = Program(program, tools=tools or {}, limits=limits, preludes=preludes, servers=servers)
    return (await made.execute_async(data, cancel=cancel)).value


def execute(
    program: str,
    data: Any = None,
    *,
    tools: Tools | None = None,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
    servers: Servers | None = None,
    cancel: Cancel | None = None,
    threads: int = 1,
) -> Outcome:
    """Runs a program as `run` does, and returns its outcome: value, prints, fuel and warnings."""
    data = members(data)
    made = Program(program, tools=tools or {}, limits=limits, preludes=preludes, servers=servers)
    return made.execute(data, cancel=cancel, threads=threads)


async def execute_async(
    program: str,
    data: Any = None,
    *,
    tools: Tools | None = None,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
    servers: Servers | None = None,
    cancel: Cancel | None = None,
) -> Outcome:
    """Runs a program as `run_async` does, and returns its outcome: value, prints, fuel and warnings."""
    data = members(data)
    made = Program(program, tools=tools or {}, limits=limits, preludes=preludes, servers=servers)
    return await made.execute_async(data, cancel=cancel)


def check(
    program: str,
    data: Any = None,
    tools: Tools | None = None,
    *,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
) -> list[Diagnostic]:
    """Checks a program without running it: its text, and the names and types of the data and tools it uses.

    Returns errors and warnings; an empty list means that nothing was found. Without ``tools``, any tool may be named.
    """
    engine = Engine(specs(tools), _limits(limits), list(preludes))
    return engine.check(program, Grants(members(data)))


class Program:
    """A compiled program: call it any number of times, from any thread.

    Without ``tools``, the program may name any tool, and `start` gives a run whose calls you answer yourself.
    ``data`` is read once and granted to every call, beside the data of the call.
    """

    def __init__(
        self,
        source: str,
        *,
        data: Any = None,
        tools: Tools | None = None,
        limits: Mapping[str, int] | None = None,
        preludes: Iterable[Prelude] = (),
        trusted: str | None = None,
        servers: Servers | None = None,
    ) -> None:
        if not isinstance(source, str):
            raise TypeError(f"a program is text, not {type(source).__name__}")
        tools = listed(tools)
        preludes = list(preludes)
        #: What a copy in another process is made of, if there can be one.
        self._parts = (tools, limits, preludes) if servers is None and trusted is None else None
        made = specs(tools)
        self._engine = Engine(made, _limits(limits), preludes, trusted, servers)
        self._code: Code = self._engine.compile(source)
        self._has_async = _has_async(made)
        self._data = {name: freeze(value) for name, value in members(data).items()}

    @property
    def source(self) -> str:
        """Text of the program."""
        return self._code.source

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings about the text. An `Outcome` includes them."""
        return self._code.warnings

    def __call__(self, data: Any = None, /, **more: Any) -> Any:
        """Runs the program and returns its value: ``program({"price": 3})`` or ``program(price=3)``."""
        return self.execute({**members(data), **more}).value

    async def call_async(self, data: Any = None, /, **more: Any) -> Any:
        """Runs the program without blocking the event loop, and returns its value."""
        return (await self.execute_async({**members(data), **more})).value

    def execute(self, data: Any = None, *, cancel: Cancel | None = None, threads: int = 1) -> Outcome:
        """Runs the program and returns its outcome: value, prints, fuel and warnings."""
        if self._has_async:
            return _blocking(self.execute_async(data, cancel=cancel))
        return self.start(data, cancel=cancel).finish(threads=threads)

    async def execute_async(self, data: Any = None, *, cancel: Cancel | None = None) -> Outcome:
        """Runs the program without blocking the event loop, and returns its outcome."""
        from ._drive import finish

        return await finish(self.start(data, cancel=cancel))

    def start(self, data: Any = None, *, cancel: Cancel | None = None) -> Run:
        """Makes a run before its first step, for hosts that answer its calls themselves or save it."""
        return self._engine.start(self._code, self._grants(data), cancel)

    def function(self, name: str) -> Function:
        """Runs the program once, and returns a function that it defines, to be called from Python."""
        session = Session._of(self._engine, self._data, self._has_async)
        session.execute(self.source)
        return session.function(name)

    def batch(self, **options: Any) -> Batch:
        """Makes a batch that runs the program over many records, on all cores: see `ptc.batch`."""
        from ._batch import Batch

        return Batch(self, **options)

    def _grants(self, data: Any) -> Grants:
        return Grants({**self._data, **members(data)})

    def __reduce__(self) -> tuple[Any, ...]:
        if self._parts is None:
            message = "a program with servers or trusted keys cannot be pickled: make it in the process that runs it"
            raise TypeError(message)
        return _load_program, (self.source, self._data, *self._parts)

    def __repr__(self) -> str:
        source = self.source if len(self.source) <= 60 else f"{self.source[:59]}…"
        return f"<Program {source!r}>"


def _load_program(
    source: str,
    data: Any,
    tools: Tools | None,
    limits: Mapping[str, int] | None,
    preludes: Iterable[Prelude],
) -> Program:
    """Makes the copy of a program that was pickled."""
    return Program(source, data=data, tools=tools, limits=limits, preludes=preludes)


def load_prelude(data: bytes) -> Prelude:
    """Loads a prelude that was pickled."""
    return Prelude.from_bytes(data)


def load_run(
    data: bytes,
    *,
    grants: Any = None,
    tools: Tools | None = None,
    limits: Mapping[str, int] | None = None,
    preludes: Iterable[Prelude] = (),
    cancel: Cancel | None = None,
) -> Run:
    """Loads a run that ``Run.to_bytes`` wrote; `Run.from_bytes` calls this."""
    engine = Engine(specs(tools), _limits(limits), list(preludes))
    return engine.load(data, Grants(members(grants)), cancel)


class Session:
    """Programs that see each other's definitions. A program that fails changes nothing.

    ``*1`` is the value of the last program. A session serves one thread or task at a time.
    """

    def __init__(
        self,
        *,
        data: Any = None,
        tools: Tools | None = None,
        limits: Mapping[str, int] | None = None,
        preludes: Iterable[Prelude] = (),
        trusted: str | None = None,
        servers: Servers | None = None,
    ) -> None:
        made = specs(tools or {})
        self._engine = Engine(made, _limits(limits), list(preludes), trusted, servers)
        self._has_async = _has_async(made)
        self._data = {name: freeze(value) for name, value in members(data).items()}
        self._core: SessionCore = self._engine.session(Grants(self._data))

    @classmethod
    def _of(cls, engine: Engine, data: dict[str, Frozen], has_async: bool) -> Session:
        made = cls.__new__(cls)
        made._engine, made._data, made._has_async = engine, data, has_async
        made._core = engine.session(Grants(data))
        return made

    def run(self, source: str, *, cancel: Cancel | None = None, threads: int = 1) -> Any:
        """Runs a program and returns its value."""
        return self.execute(source, cancel=cancel, threads=threads).value

    async def run_async(self, source: str, *, cancel: Cancel | None = None) -> Any:
        """Runs a program without blocking the event loop, and returns its value."""
        return (await self.execute_async(source, cancel=cancel)).value

    def execute(self, source: str, *, cancel: Cancel | None = None, threads: int = 1) -> Outcome:
        """Runs a program and returns its outcome."""
        if self._has_async:
            return _blocking(self.execute_async(source, cancel=cancel))
        outcome = self._engine.start_in(self._core, source, cancel).finish(threads=threads)
        self._core.commit(outcome, source)
        return outcome

    async def execute_async(self, source: str, *, cancel: Cancel | None = None) -> Outcome:
        """Runs a program without blocking the event loop, and returns its outcome."""
        from ._drive import finish

        outcome = await finish(self._engine.start_in(self._core, source, cancel))
        self._core.commit(outcome, source)
        return outcome

    def grant(self, data: Any = None, /, **more: Any) -> None:
        """Grants more data to the programs from now on."""
        new = {**members(data), **more}
        self._data = {**self._data, **{name: freeze(value) for name, value in new.items()}}
        self._core.grant(Grants(self._data))

    def function(self, name: str) -> Function:
        """Returns a function of the session as it is now, to be called from Python."""
        return Function(self._engine, self._core.copy(), name, self._data, self._has_async)

    def copy(self) -> Session:
        """Returns an independent session with the same definitions."""
        made = Session.__new__(Session)
        made._engine, made._data, made._has_async = self._engine, self._data, self._has_async
        made._core = self._core.copy()
        return made

    def with_tools(self, tools: Tools, *, limits: Mapping[str, int] | None = None) -> Session:
        """Returns a session with the same definitions and data, and other tools and limits."""
        made = specs(tools)
        other = Session._of(Engine(made, _limits(limits)), self._data, _has_async(made))
        other._core = other._engine.session_of(self._core)
        return other

    @property
    def names(self) -> list[str]:
        """Names defined so far, sorted."""
        return self._core.defined()

    def __getitem__(self, name: str) -> Any:
        """Value of a definition as plain Python."""
        found = self._core.definition(name)
        if found is None:
            raise KeyError(name)
        return found[0]

    def __contains__(self, name: object) -> bool:
        return name in self._core.defined()


class Function:
    """A function that a program defines. Each call is a run of its own, with a full budget."""

    def __init__(self, engine: Engine, core: SessionCore, name: str, data: dict[str, Frozen], has_async: bool) -> None:
        self._engine, self._core, self._data, self._has_async = engine, core, data, has_async
        self.__name__ = name
        # An unknown name should fail here, not at the first call.
        self._start(())

    def _start(self, arguments: tuple[Any, ...], cancel: Cancel | None = None) -> Run:
        grants = Grants({**self._data, "arguments": list(arguments)})
        return self._engine.start_call(self._core, self.__name__, grants, cancel)

    def __call__(self, *arguments: Any) -> Any:
        """Calls the function and returns its value."""
        if self._has_async:
            return _blocking(self._finish(arguments)).value
        return self._start(arguments).finish().value

    async def call_async(self, *arguments: Any) -> Any:
        """Calls the function without blocking the event loop."""
        return (await self._finish(arguments)).value

    async def _finish(self, arguments: tuple[Any, ...]) -> Outcome:
        from ._drive import finish

        return await finish(self._start(arguments))

    def __repr__(self) -> str:
        return f"<Function {self.__name__}>"


def card(tools: Tools | None = None, *, preludes: Iterable[Prelude] = (), data: Any = None) -> str:
    """Returns the reference card of the language for a prompt, with the tools, preludes and data that a program has."""
    parts = [_ptc.card()]
    made = specs(tools or {}) or []
    engine = Engine(made, None, list(preludes))
    if made:
        notes = {spec.name: spec.description for spec in made}
        lines = [_tool_line(line, notes) for line in engine.tool_lines()]
        parts.append("\n".join(["Tools, called with one map of arguments:", *lines]))
    if engine.inventory:
        parts.append(engine.inventory.rstrip())
    names = list(members(data))
    if names:
        parts.append("Data: " + ", ".join(f"data/{name}" for name in names))
    return "\n\n".join(parts)


def _tool_line(line: str, notes: Mapping[str, str | None]) -> str:
    name = line.removeprefix("(tool/").split(" ", 1)[0]
    note = notes.get(name)
    return f"- {line} ; {note}" if note else f"- {line}"


def members(data: Any) -> dict[str, Any]:
    """Returns the members of data by name: of a dict, a dataclass, a pydantic model or another mapping."""
    if data is None:
        return {}
    if type(data) is dict:
        return data
    if isinstance(data, Mapping):
        return dict(data)
    kind = type(data)
    if hasattr(kind, "__dataclass_fields__"):
        from dataclasses import fields

        return {field.name: getattr(data, field.name) for field in fields(data)}
    if hasattr(kind, "model_dump"):
        dumped: dict[str, Any] = data.model_dump()
        return dumped
    raise TypeError(f'data is a dict of names and values, such as {{"orders": [...]}}, not {kind.__name__}')


def _limits(limits: Mapping[str, int] | None) -> dict[str, int] | None:
    if limits is None or isinstance(limits, Mapping):
        return None if limits is None else dict(limits)
    raise TypeError(f'limits are a dict such as {{"fuel": 100_000}}, not {type(limits).__name__}')


def _has_async(made: list[_Spec] | None) -> bool:
    return any(spec.is_async for spec in made or ())


def _blocking(coroutine: Any) -> Outcome:
    """Runs a program with async tools to its end, where no event loop runs."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:
        coroutine.close()
        raise RuntimeError("these tools are async and an event loop runs here: use `await` with the `_async` variant")
    import asyncio as loops

    outcome: Outcome = loops.run(coroutine)
    return outcome
