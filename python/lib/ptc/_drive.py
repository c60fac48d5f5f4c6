"""The driver of async runs: computes, calls tools as tasks, and waits without holding the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ._ptc import Call, Dispatched, Outcome, Run

ENDED, WAITS = 0, 1


async def finish(run: Run) -> Outcome:
    """Runs to the end. Async tools run as tasks, other tools on threads; a cancelled task cancels the run."""
    return await _Driver(run).finish()


class _Driver:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.loop = asyncio.get_running_loop()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.ready: list[tuple[Call, asyncio.Task[Any], bool]] = []
        self.waiter: asyncio.Future[None] | None = None

    async def finish(self) -> Outcome:
        try:
            while await self.compute() != ENDED:
                for call, tool, is_async in self.run._new_calls():
                    self.begin(call, tool, is_async)
                await self.some_ready()
            return self.run.outcome
        finally:
            await self.drop_tasks()

    async def compute(self) -> int:
        """Computes until the run waits or ends: at first on this thread, since most runs take no time at all."""
        state = self.run._advance(True)
        while state > WAITS:
            computing = self.loop.run_in_executor(None, self.run._advance, False)
            try:
                state = await asyncio.shield(computing)
            except asyncio.CancelledError:
                # The thread gives the run back at the end of its slice. The handle that cancels the run may be that of
                # others, too, so it is left alone.
                await asyncio.wait([computing])
                raise
        return state

    def begin(self, call: Call, tool: Callable[..., Any] | None, is_async: bool) -> None:
        made: Awaitable[Any]
        if tool is None:
            made = asyncio.to_thread(self.run._dispatch, call)
        else:
            arguments = self.run._arguments(call)
            if arguments is None:
                return
            made = tool(**arguments) if is_async else _on_thread(tool, arguments)
        task = asyncio.ensure_future(made)
        self.tasks.add(task)
        task.add_done_callback(lambda done: self.done(call, done, tool is None))

    def done(self, call: Call, task: asyncio.Future[Any], is_dispatched: bool) -> None:
        self.tasks.discard(task)
        self.ready.append((call, task, is_dispatched))  # type: ignore[arg-type]
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    async def some_ready(self) -> None:
        """Waits for some results and gives them to the run."""
        if not self.ready and self.tasks:
            self.waiter = self.loop.create_future()
            await self.waiter
        ready, self.ready = self.ready, []
        for call, task, is_dispatched in ready:
            if task.cancelled():
                # Somebody else cancelled the task of this tool.
                self.run._raised(call, RuntimeError("the task of the call was cancelled"))
            elif (error := task.exception()) is not None:
                self.run._raised(call, error)
            elif is_dispatched:
                self.run._dispatched(call, _dispatched(task.result()))
            else:
                self.run._returned(call, task.result())

    async def drop_tasks(self) -> None:
        """Ends the calls that nobody waits for any more."""
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)


def _dispatched(answer: Any) -> Dispatched:
    return answer  # type: ignore[no-any-return]


async def _on_thread(tool: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    result = await asyncio.to_thread(tool, **arguments)
    # A function may return a coroutine without being `async def`.
    return await result if hasattr(result, "__await__") else result
