"""The native half of the package."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, final

from ._tools import _Spec

__version__: str

__all__ = [
    "AgentCore",
    "BatchResult",
    "Call",
    "Callables",
    "Cancel",
    "Code",
    "Diagnostic",
    "Dispatched",
    "Engine",
    "Frame",
    "Frozen",
    "Grants",
    "Mission",
    "Outcome",
    "Prelude",
    "Rows",
    "Run",
    "Servers",
    "SessionCore",
    "StepCore",
    "__version__",
    "after_fork",
    "card",
    "command",
    "default_limits",
    "freeze",
    "public_key",
    "run_batch",
]

def after_fork() -> None: ...
def card() -> str: ...
def command(words: list[str]) -> int: ...
def default_limits() -> dict[str, int]:
    """Returns every limit with its default."""

def freeze(value: Any) -> Frozen:
    """Reads data once, to be granted to many programs: ``ptc.run(program, {"orders": ptc.freeze(orders)})``."""

def public_key(key: str) -> str:
    """Returns the public key of a private key of 64 hexadecimal digits."""

def run_batch(
    engine: Engine,
    code: Code,
    rows: Rows,
    grants: Grants,
    threads: int | None,
    fail_fast: bool,
    schema: Any = None,
) -> BatchResult: ...

@final
class Frame:
    """A call of a program that had not returned when an error happened."""

    def __new__(cls, function: str | None, by: str | None, index: int | None, line: int | None) -> Frame: ...
    @property
    def function(self) -> str | None:
        """Name of the function; ``None`` if it has none."""
    @property
    def by(self) -> str | None:
        """Library function that made the call for the program, such as ``map``."""
    @property
    def index(self) -> int | None:
        """Index of the element that was processed, from 0."""
    @property
    def line(self) -> int | None:
        """Line of the call in the program, from 1."""

@final
class Diagnostic:
    """One error or warning about a program."""

    def __new__(
        cls,
        kind: str,
        code: str,
        message: str,
        hint: str | None,
        line: int | None,
        column: int | None,
        frames: list[Frame],
        is_warning: bool,
        text: str,
    ) -> Diagnostic: ...
    @property
    def kind(self) -> str:
        """Stable name of the kind of error, such as ``unknown_field``."""
    @property
    def code(self) -> str:
        """Code of the kind, such as ``E0211``: ``ptc explain E0211`` tells more."""
    @property
    def message(self) -> str:
        """What is wrong."""
    @property
    def hint(self) -> str | None:
        """What to write instead, if that is known."""
    @property
    def line(self) -> int | None:
        """Line in the program, from 1; ``None`` if the error belongs to no place."""
    @property
    def column(self) -> int | None:
        """Column in the line, from 1."""
    @property
    def frames(self) -> list[Frame]:
        """Calls that led there, the innermost first."""
    @property
    def is_warning(self) -> bool:
        """True for a warning."""

@final
class Frozen:
    """Data that was read once, and that any number of programs on any threads read without a copy."""

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes."""
    def thaw(self) -> Any:
        """Returns the data as plain Python."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Grants:
    def __new__(cls, data: dict[str, Any] | None = None) -> Grants: ...

@final
class Cancel:
    """Ends runs from outside: every run that was given it ends with `ptc.Cancelled`. Works from any thread."""

    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None:
        """Cancels, for good."""
    @property
    def cancelled(self) -> bool:
        """True once it was cancelled."""

@final
class Outcome:
    """A program that ended well: its value, and the facts of its run."""

    @property
    def value(self) -> Any:
        """Value of the program as plain Python; made anew by every access."""
    @property
    def text(self) -> str:
        """Value of the program as PTC-Lisp prints it."""
    @property
    def prints(self) -> list[str]:
        """Printed lines."""
    @property
    def fuel(self) -> int:
        """Work of the run in units of fuel, the same on every machine."""
    @property
    def compile_fuel(self) -> int:
        """Work of compiling the program, in units of its own."""
    @property
    def tool_calls(self) -> int:
        """Number of tool calls that were made."""
    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings that did not keep the program from giving its value."""
    def json(self) -> str:
        """Returns the value as JSON text."""

@final
class Call:
    """A tool call that waits for a result."""

    @property
    def id(self) -> str:
        """Id of the call in its run. It stays the same when the run is saved and loaded."""
    @property
    def name(self) -> str:
        """Name of the tool."""
    @property
    def args(self) -> dict[str, Any]:
        """Arguments of the call, by name."""
    @property
    def origin(self) -> str | None:
        """Function of a prelude that makes the call, as ``ns/name``; ``None`` for the program itself."""

@final
class Dispatched: ...

@final
class Run:
    """A program under way. It suspends at tool calls, and can be saved as bytes until they have results."""

    @staticmethod
    def from_bytes(
        data: bytes,
        *,
        grants: Any = None,
        tools: Any = None,
        limits: Any = None,
        preludes: Iterable[Prelude] = (),
        cancel: Cancel | None = None,
    ) -> Run:
        """Loads a run that `to_bytes` wrote, perhaps in another process.

        ``grants`` is the data that the run was started with, and ``preludes`` are its preludes. Damaged or forged bytes
        are refused with `ptc.SnapshotError`.
        """
    def step(self) -> list[Call]:
        """Runs until the program ends or everything in it waits for tools, and returns the calls that wait.

        An empty list means that the run has ended: `outcome` is its result.
        """
    @property
    def calls(self) -> list[Call]:
        """Calls that wait for results."""
    def answer(self, call: Call | str, value: Any) -> None:
        """Supplies the result of a call that waits; `step` or `finish` then continues."""
    def fail(self, call: Call | str, error: BaseException | str) -> None:
        """Makes a call that waits fail with an exception or a message, which the program may catch."""
    def finish(self, *, threads: int = 1) -> Outcome:
        """Runs to the end, calling tools, and returns the outcome.

        ``threads`` is the number of tool calls under ``pmap`` that are made at the same time.
        """
    @property
    def done(self) -> bool:
        """True once the run has ended."""
    @property
    def outcome(self) -> Outcome:
        """Result of a run that has ended; raises its error if it failed."""
    @property
    def fuel(self) -> int:
        """Fuel spent so far."""
    def to_bytes(self) -> bytes:
        """Writes the run to bytes, to continue it later or in another process."""
    def cancel(self) -> None:
        """Ends the run: what computes it raises `ptc.Cancelled`."""
    def _advance(self, is_short: bool) -> int: ...
    def _new_calls(self) -> list[tuple[Call, Callable[..., Any] | None, bool]]: ...
    def _arguments(self, call: Call) -> dict[str, Any] | None: ...
    def _returned(self, call: Call, value: Any) -> None: ...
    def _raised(self, call: Call, error: BaseException) -> None: ...
    def _dispatch(self, call: Call) -> Dispatched: ...
    def _dispatched(self, call: Call, answer: Dispatched) -> None: ...

@final
class Prelude:
    """A library that programs call like builtins: compiled from source, or loaded from a ``.ptcp`` file."""

    @staticmethod
    def compile(source: str, *, uses: Sequence[Prelude] = ...) -> Prelude:
        """Compiles a prelude from its source, which may require the namespaces of the preludes in ``uses``."""
    @staticmethod
    def load(
        path: str | PathLike[str],
        *,
        signature: str | None = None,
        trusted: str | None = None,
        pin: str | None = None,
        recompile: bool = True,
    ) -> Prelude:
        """Loads a prelude from a ``.ptcp`` file as `from_bytes` does.

        With ``trusted`` and no ``signature``, the signature is the file beside it with ``.sig`` added to its name.
        """
    @staticmethod
    def from_bytes(
        data: bytes,
        *,
        signature: str | None = None,
        trusted: str | None = None,
        pin: str | None = None,
        recompile: bool = True,
    ) -> Prelude:
        """Loads a prelude from the bytes of a ``.ptcp`` file, which is fully verified.

        With ``trusted``, public keys one per line, one of them must have made ``signature``. ``pin`` is the hash of the
        only build to accept. A file built by another version is compiled again from the source inside it, unless
        ``recompile`` is false.
        """
    def to_bytes(self) -> bytes:
        """Returns the bytes of a ``.ptcp`` file."""
    def __reduce__(self) -> tuple[Any, ...]: ...
    def sign(self, key: str) -> str:
        """Signs the bytes of the file with a private key of 64 hexadecimal digits, and returns the signature."""
    @property
    def namespaces(self) -> list[str]:
        """Names of the namespaces it declares."""
    @property
    def exports(self) -> list[str]:
        """Names of what it exports, such as ``crm/find``."""
    @property
    def hash(self) -> str:
        """Hash of this build."""
    @property
    def interface_hash(self) -> str:
        """Hash of what programs see of it: names, parameters and types."""
    @property
    def inventory(self) -> str | None:
        """Part of a prompt that describes it to models; ``None`` if it exports nothing for them."""

@final
class Servers:
    """Running MCP and OpenAPI servers that programs call with ``(tool/call {...})``."""

    @staticmethod
    def start(path: str | PathLike[str] | None = None, *, text: str | None = None, freeze: bool = False) -> Servers:
        """Starts the servers of a configuration file or of its JSON text.

        With ``freeze``, their tools are listed now, which keeps prompts the same; otherwise when they are first needed.
        """
    def __enter__(self) -> Servers: ...
    def __exit__(self, *_error: object) -> None: ...
    def stop(self) -> None:
        """Stops all servers."""
    @property
    def names(self) -> list[str]:
        """Names of the servers."""
    def load(self) -> list[str]:
        """Starts and lists all servers now; returns one text for each server that failed."""
    def describe(self) -> str:
        """Returns the part of a prompt that describes the servers and their tools."""
    @property
    def warnings(self) -> list[str]:
        """Remarks about the configuration."""

@final
class BatchResult:
    """Result of a batch. An Arrow stream: ``pyarrow.table(result)``, ``polars.DataFrame(result)``."""

    @property
    def values(self) -> list[Any]:
        """Values of the rows as plain Python; ``None`` for a row that failed."""
    @property
    def records(self) -> int:
        """Number of rows."""
    @property
    def failures(self) -> list[tuple[int, Exception]]:
        """Errors of rows that have no result: the index of the row, from 0, and the exception."""
    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings about fields that the program reads but no row has."""
    @property
    def seconds(self) -> float:
        """Time of the whole batch, in seconds."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Rows:
    @staticmethod
    def of_table(table: Any) -> Rows: ...
    @staticmethod
    def of_objects(rows: Iterable[Any]) -> Rows: ...
    def __len__(self) -> int: ...

@final
class Callables: ...

@final
class Code:
    @property
    def source(self) -> str: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...

@final
class SessionCore:
    def commit(self, outcome: Outcome, source: str) -> None: ...
    def grant(self, grants: Grants) -> None: ...
    def copy(self) -> SessionCore: ...
    def defined(self) -> list[str]: ...
    def definition(self, name: str) -> tuple[Any] | None: ...

@final
class Engine:
    def __new__(
        cls,
        tools: list[_Spec] | None = None,
        limits: dict[str, int] | None = None,
        preludes: list[Prelude] = ...,
        trusted: str | None = None,
        servers: Servers | None = None,
    ) -> Engine: ...
    def compile(self, source: str) -> Code: ...
    def start(self, code: Code, grants: Grants, cancel: Cancel | None) -> Run: ...
    def load(self, bytes: bytes, grants: Grants, cancel: Cancel | None) -> Run: ...
    def check(self, source: str, grants: Grants) -> list[Diagnostic]: ...
    def session(self, grants: Grants) -> SessionCore: ...
    def session_of(self, other: SessionCore) -> SessionCore: ...
    def start_in(self, session: SessionCore, source: str, cancel: Cancel | None) -> Run: ...
    def start_call(self, session: SessionCore, name: str, arguments: Grants, cancel: Cancel | None) -> Run: ...
    @property
    def inventory(self) -> str | None: ...
    def tool_lines(self) -> list[str]: ...

@final
class AgentCore:
    @staticmethod
    def make(*, path: str | None = None, json: str | None = None, tools: list[_Spec] = ...) -> AgentCore: ...
    @property
    def name(self) -> str | None: ...
    @property
    def prompt(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def stream(
        self,
        context: dict[str, Any],
        *,
        ask: Callable[[str], str] | None = None,
        model: str | None = None,
        servers: Servers | None = None,
        cancel: Cancel | None = None,
    ) -> Mission: ...

@final
class Mission(Iterator[tuple[str, dict[str, Any], int, str | None, int | None]]):
    def __iter__(self) -> Mission: ...
    def __next__(self) -> tuple[str, dict[str, Any], int, str | None, int | None]: ...
    def close(self) -> None: ...
    def cancel(self) -> None: ...

@final
class StepCore:
    @property
    def value(self) -> Any: ...
    @property
    def failure(self) -> tuple[str, str] | None: ...
    def json(self) -> str: ...
