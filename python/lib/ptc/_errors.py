"""Exceptions of programs, and the exception that tools raise."""

from __future__ import annotations

from ._late import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._ptc import Diagnostic, Frame


#: Facts of a failure, besides its text.
_FIELDS = ("diagnostics", "warnings", "prints", "fuel", "compile_fuel", "value", "source")


def _remade(kind: type[PtcError], text: str, fields: dict[str, Any]) -> PtcError:
    return kind(text, **fields)


class PtcError(Exception):
    """A program that failed. Its text is written for the model that wrote the program."""

    #: Errors, the most useful first; several for a program that does not compile.
    diagnostics: list[Diagnostic]
    #: Warnings about the program besides its errors.
    warnings: list[Diagnostic]
    #: Lines printed before the failure.
    prints: list[str]
    #: Work until the failure, in units of fuel.
    fuel: int
    #: Work of compiling the program.
    compile_fuel: int
    #: Value that the program gave to ``(fail value)``.
    value: Any
    #: Text of the program.
    source: str

    def __init__(
        self,
        text: str,
        *,
        diagnostics: list[Diagnostic] | None = None,
        warnings: list[Diagnostic] | None = None,
        prints: list[str] | None = None,
        fuel: int = 0,
        compile_fuel: int = 0,
        value: Any = None,
        source: str = "",
    ) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []
        self.warnings = warnings or []
        self.prints = prints or []
        self.fuel = fuel
        self.compile_fuel = compile_fuel
        self.value = value
        self.source = source

    def __reduce__(self) -> Any:
        fields = {name: getattr(self, name) for name in _FIELDS}
        return _remade, (type(self), str(self), fields)

    @property
    def kind(self) -> str:
        """Stable name of the kind of error, such as ``unknown_field``."""
        return self.diagnostics[0].kind if self.diagnostics else "internal_error"

    @property
    def code(self) -> str:
        """Code of the kind of error, such as ``E0211``."""
        return self.diagnostics[0].code if self.diagnostics else ""

    @property
    def message(self) -> str:
        """What is wrong, without its place and hint."""
        return self.diagnostics[0].message if self.diagnostics else str(self)

    @property
    def hint(self) -> str | None:
        """What to write instead, if that is known."""
        return self.diagnostics[0].hint if self.diagnostics else None

    @property
    def line(self) -> int | None:
        """Line in the program, from 1; ``None`` if the error belongs to no place."""
        return self.diagnostics[0].line if self.diagnostics else None

    @property
    def column(self) -> int | None:
        """Column in the line, from 1."""
        return self.diagnostics[0].column if self.diagnostics else None

    @property
    def frames(self) -> list[Frame]:
        """Calls that led there, the innermost first."""
        return self.diagnostics[0].frames if self.diagnostics else []


class CompileError(PtcError):
    """A program that was refused before its first instruction: it does not compile, or reads data that is not there."""


class RunError(PtcError):
    """A program that failed while it ran."""


class LimitError(RunError):
    """A program that did more than its limits allow."""


class ToolFailed(RunError):
    """A program that was ended by an error of a tool: ``__cause__`` is the exception that the tool raised."""


class ProgramFailed(RunError):
    """A program that ended itself with ``(fail value)``: ``value`` is the value."""


class Cancelled(RunError):
    """A program that was cancelled by its host."""


class SnapshotError(PtcError):
    """Bytes of a run that cannot be continued."""


class ToolError(Exception):
    """Raise this in a tool for a message without the name of the exception's type.

    ``hint`` tells the program's author what to write instead. ``is_mistake`` says that the program called the tool in a
    wrong way: the message is then reported alone, as an error of the program.
    """

    def __init__(self, message: str, *, hint: str | None = None, is_mistake: bool = False) -> None:
        super().__init__(message)
        self.hint = hint
        self.is_mistake = is_mistake
