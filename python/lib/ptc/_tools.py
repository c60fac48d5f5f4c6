"""Tools: Python functions that programs call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ._late import Any, overload

#: Flags of code objects of `async def`, and of generators that `types.coroutine` made coroutines.
_COROUTINE_FLAGS = 0x80 | 0x100


class Tool:
    """A Python function that programs call as ``(tool/<name> {...})``, with all that is known about it.

    ``takes`` and ``answers`` are JSON Schemas of the arguments and the result. Without them they are made from the
    function's type hints; a program that does not fit them is refused before it runs.
    """

    __slots__ = ("__weakref__", "answers", "call", "description", "effect", "is_async", "name", "private", "takes")

    def __init__(
        self,
        call: Callable[..., Any],
        name: str | None = None,
        *,
        description: str | None = None,
        takes: Mapping[str, Any] | None = None,
        answers: Mapping[str, Any] | None = None,
        effect: str | None = None,
        private: bool = False,
    ) -> None:
        from ._schema import described

        about = described(call)
        self.name: str = name or getattr(call, "__name__", None) or ""
        if not self.name or self.name == "<lambda>":
            raise ValueError("this function has no name of its own; pass tools as a dict, or give it a `name`")
        self.call = about.call if takes is None else call
        self.is_async = is_async(call)
        self.description = about.description if description is None else description
        self.takes = about.takes if takes is None else takes
        self.answers = about.answers if answers is None else answers
        self.effect = effect
        self.private = private

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    def _spec(self, name: str) -> _Spec:
        from json import dumps

        takes = None if self.takes is None else dumps(self.takes)
        answers = None if self.answers is None else dumps(self.answers)
        return _Spec(name, self.call, self.is_async, takes, answers, self.effect, self.description, self.private)


class _Spec:
    """A tool as the native half reads it."""

    __slots__ = ("answers", "call", "description", "effect", "is_async", "is_private", "name", "takes")

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        is_async: bool,
        takes: str | None,
        answers: str | None,
        effect: str | None,
        description: str | None,
        is_private: bool,
    ) -> None:
        self.name = name
        self.call = call
        self.is_async = is_async
        self.takes = takes
        self.answers = answers
        self.effect = effect
        self.description = description
        self.is_private = is_private


#: What programs may call: functions by name, or functions that have names. A `Tool` is a function, too.
Tools = Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]]


@overload
def tool(call: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    takes: Mapping[str, Any] | None = None,
    answers: Mapping[str, Any] | None = None,
    effect: str | None = None,
    private: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(call: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Makes a tool of a function: ``@ptc.tool`` or ``@ptc.tool(effect="read")``."""
    if call is not None:
        return Tool(call, **options)
    return lambda call: Tool(call, **options)


def is_async(call: Any) -> bool:
    """True if a call gives a coroutine. Like `inspect.iscoroutinefunction`, without the cost of importing `inspect`."""
    if isinstance(call, Tool):
        return call.is_async
    while not hasattr(call, "__code__") and (inner := getattr(call, "func", None)) is not None:
        call = inner
    call = getattr(call, "__func__", call)
    code = getattr(call, "__code__", None)
    if code is None:
        code = getattr(type(call).__call__, "__code__", None)
    return code is not None and bool(code.co_flags & _COROUTINE_FLAGS)


def listed(tools: Tools | None) -> Tools | None:
    """Returns tools as a dict or a list, which can be read twice."""
    if tools is None or isinstance(tools, (Mapping, list)):
        return tools
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise TypeError(f"tools are a list of functions, or a dict of them by name, not {type(tools).__name__}")
    return list(tools)


def specs(tools: Tools | None) -> list[_Spec] | None:
    """Makes the list of tools that the native half reads."""
    tools = listed(tools)
    if tools is None:
        return None
    if isinstance(tools, Mapping):
        return [_spec(name, call) for name, call in tools.items()]
    made = [call if isinstance(call, Tool) else Tool(call) for call in tools]
    return [one._spec(one.name) for one in made]


def _spec(name: str, call: Callable[..., Any] | Tool) -> _Spec:
    made = call if isinstance(call, Tool) else Tool(call, name)
    return made._spec(name)


def call_blocking(call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Runs the coroutine that a call gives to its end, for hosts that cannot wait."""
    import asyncio

    return asyncio.run(call(**arguments))
