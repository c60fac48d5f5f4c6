"""Agents: missions that a model works on by writing programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from os import PathLike, fspath
from typing import Any

from ._ptc import AgentCore, Cancel, Mission, Servers, StepCore
from ._run import members
from ._tools import Tools, _Spec, is_async, specs


class Request:
    """A request to a model: ``system``, ``messages``, ``turn``, ``tools`` and what else the mission says."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            # Fields that say nothing are left out.
            if name in ("tools", "schema", "agent_name"):
                return [] if name == "tools" else None
            raise AttributeError(f"a request has no `{name}`") from None

    def as_dict(self) -> dict[str, Any]:
        """Returns all fields as plain data."""
        return dict(self._fields)

    @property
    def chat(self) -> list[dict[str, str]]:
        """The conversation in the form of most chat APIs: a list of ``{"role": ..., "content": ...}``."""
        turns = [{"role": message["role"], "content": message["content"]} for message in self._fields["messages"]]
        return [{"role": "system", "content": self._fields["system"]}, *turns]

    def __repr__(self) -> str:
        return f"<Request turn={self._fields.get('turn')} messages={len(self._fields['messages'])}>"


#: A model: a function from a request to the text of the reply, or a dict with ``content`` and ``tokens``. May be async.
Model = Callable[[Request], Any]


class Usage(dict[str, Any]):
    """Time, turns, tokens and cost of a mission, by name."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Step:
    """Result of a mission."""

    def __init__(self, core: StepCore) -> None:
        self._core = core
        self._fields: dict[str, Any] | None = None

    @property
    def value(self) -> Any:
        """Value of the mission as plain Python."""
        return self._core.value

    @property
    def ok(self) -> bool:
        """True if there is a value."""
        return self._core.failure is None

    @property
    def reason(self) -> str | None:
        """Stable name of the reason of a failure."""
        return self._core.failure[0] if self._core.failure else None

    @property
    def message(self) -> str | None:
        """What went wrong."""
        return self._core.failure[1] if self._core.failure else None

    @property
    def usage(self) -> Usage:
        """Time, turns, tokens and cost."""
        return Usage(self.as_dict()["usage"])

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The turns, each with its request, program and result."""
        turns: list[dict[str, Any]] = self.as_dict().get("turns", [])
        return turns

    def as_dict(self) -> dict[str, Any]:
        """Returns everything about the mission as plain data."""
        if self._fields is None:
            self._fields = json.loads(self._core.json())
        return self._fields

    def __repr__(self) -> str:
        return f"<Step {self.value!r}>" if self.ok else f"<Step failed: {self.reason}>"


class AgentError(Exception):
    """A mission that failed. ``step`` is all that is known about it."""

    def __init__(self, step: Step) -> None:
        super().__init__(f"{step.reason}: {step.message}")
        self.step = step
        self.reason = step.reason


class Event:
    """Something that happened in a mission: ``kind`` names it, its other fields are attributes."""

    def __init__(
        self, kind: str, fields: dict[str, Any], depth: int = 0, agent: str | None = None, turn: int | None = None
    ) -> None:
        self.kind, self.fields, self.depth, self.agent, self.turn = kind, fields, depth, agent, turn
        if kind == "ended":
            fields["step"] = Step(fields["step"])

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"an event of kind {self.kind!r} has no {name!r}") from None

    def __repr__(self) -> str:
        return f"<Event {self.kind} {self.fields}>"


class Agent:
    """An agent: a mission in words, a signature that gives its result a type, and tools."""

    def __init__(
        self,
        prompt: str | None = None,
        *,
        tools: Tools | None = None,
        servers: Servers | None = None,
        **options: Any,
    ) -> None:
        """Makes an agent from options with the names that agent files use, such as ``signature`` and ``max_turns``."""
        table = {**options, **({} if prompt is None else {"prompt": prompt})}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._servers = servers
        self._core = AgentCore.make(json=json.dumps(table), tools=self._specs(tools))

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, tools: Tools | None = None, servers: Servers | None = None
    ) -> Agent:
        """Reads an agent from a TOML or JSON file. ``tools`` are added to those of the file."""
        agent = cls.__new__(cls)
        agent._loop, agent._servers = None, servers
        agent._core = AgentCore.make(path=fspath(path), tools=agent._specs(tools))
        return agent

    def _specs(self, tools: Tools | None) -> list[_Spec]:
        made = specs(tools or {}) or []
        for spec in made:
            if spec.is_async:
                spec.call, spec.is_async = self._waiting(spec.call), False
        return made

    def _waiting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Makes a function that blocks from an async one, which runs on the caller's event loop if there is one."""

        def blocking(*args: Any, **kwargs: Any) -> Any:
            loop = self._loop
            if loop is not None and loop.is_running():
                return asyncio.run_coroutine_threadsafe(call(*args, **kwargs), loop).result()
            return asyncio.run(call(*args, **kwargs))

        return blocking

    @property
    def name(self) -> str | None:
        """Name of the agent, for traces."""
        return self._core.name

    @property
    def prompt(self) -> str:
        """Mission of the agent."""
        return self._core.prompt

    @property
    def signature(self) -> str:
        """Types of the mission's data and result."""
        return self._core.signature

    @property
    def warnings(self) -> list[str]:
        """Remarks about the definition."""
        return self._core.warnings

    def run(
        self,
        data: Any = None,
        *,
        model: Model | str | None = None,
        servers: Servers | None = None,
        cancel: Cancel | None = None,
    ) -> Step:
        """Works on the mission and returns its result; raises `AgentError` if it failed.

        ``model`` is a function from a `Request` to a reply, or the name of a model such as ``"anthropic:..."``.
        ``servers`` replace those of the agent.
        """
        for event in self.stream(data, model=model, servers=servers, cancel=cancel):
            if event.kind == "ended":
                return _checked(event.step)
        raise RuntimeError("the mission ended without a result")

    async def run_async(
        self,
        data: Any = None,
        *,
        model: Model | str | None = None,
        servers: Servers | None = None,
        cancel: Cancel | None = None,
    ) -> Step:
        """Works on the mission as `run` does, without blocking the event loop, where async models and tools run."""
        async for event in self.stream_async(data, model=model, servers=servers, cancel=cancel):
            if event.kind == "ended":
                return _checked(event.step)
        raise RuntimeError("the mission ended without a result")

    def stream(
        self,
        data: Any = None,
        *,
        model: Model | str | None = None,
        servers: Servers | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[Event]:
        """Works on the mission while its events are read. The last is of the kind ``"ended"``, with the ``step``."""
        mission = self._start(data, model, servers, cancel)
        try:
            for kind, fields, depth, agent, turn in mission:
                yield Event(kind, fields, depth, agent, turn)
        finally:
            mission.close()

    async def stream_async(
        self,
        data: Any = None,
        *,
        model: Model | str | None = None,
        servers: Servers | None = None,
        cancel: Cancel | None = None,
    ) -> AsyncIterator[Event]:
        """Works on the mission as `stream` does, without blocking the event loop."""
        self._loop = asyncio.get_running_loop()
        mission = self._start(data, model, servers, cancel)
        is_waiting = False
        try:
            while True:
                is_waiting = True
                event = await asyncio.to_thread(next, mission, None)
                is_waiting = False
                if event is None:
                    return
                kind, fields, depth, agent, turn = event
                yield Event(kind, fields, depth, agent, turn)
        finally:
            if is_waiting:
                # A thread waits for an event, and only this wakes it.
                mission.cancel()
            else:
                mission.close()

    def _start(self, data: Any, model: Model | str | None, servers: Servers | None, cancel: Cancel | None) -> Mission:
        named = model if isinstance(model, str) else None
        ask = None if model is None or named else self._ask(model)  # type: ignore[arg-type]
        servers, cancel = servers or self._servers, cancel or Cancel()
        return self._core.stream(members(data), ask=ask, model=named, servers=servers, cancel=cancel)

    def _ask(self, model: Model) -> Callable[[str], str]:
        """Makes a function from the JSON of a request to the JSON of a reply."""
        call = self._waiting(model) if is_async(model) else model

        def ask(text: str) -> str:
            reply = call(Request(json.loads(text)))
            if isinstance(reply, str):
                reply = {"content": reply}
            if not isinstance(reply, Mapping):
                raise TypeError(f"a model returns a text or a dict, not {type(reply).__name__}")
            return json.dumps(dict(reply))

        return ask

    def __repr__(self) -> str:
        return f"<Agent {self.name or self.prompt[:40]!r}>"


def _checked(step: Step) -> Step:
    if not step.ok:
        raise AgentError(step)
    return step
