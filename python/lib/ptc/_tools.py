"""Tools: Python functions that programs call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, overload

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
        self.name = name or getattr(call, "__name__", "")
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

    def _spec(name: str, call: Callable[..., Any] | Tool) -> _Spec:
    made = call if isinstance(call, Tool) else Tool(call, name)
    return made._spec(name)


def call_blocking(call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Runs the coroutine that a call gives to its end, for hosts that cannot wait."""
    import asyncio

    return asyncio.run(call(**arguments))
