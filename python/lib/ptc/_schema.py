"""Tools from type hints and docstrings: JSON Schemas of arguments and results, and arguments of the types hinted."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import re
import types
import typing
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary


class Description(NamedTuple):
    """All that is known about a function."""

    #: The function, with arguments converted to the types of its hints.
    call: Callable[..., Any]
    description: str | None
    takes: dict[str, Any] | None
    answers: dict[str, Any] | None


_KNOWN: WeakKeyDictionary[Any, Description] = WeakKeyDictionary()


def described(call: Callable[..., Any]) -> Description:
    """Describes a function by its signature, type hints and docstring."""
    # The converted function refers to the original, so only those without conversion may be kept.
    try:
        if call in _KNOWN:
            return _KNOWN[call]._replace(call=call)
    except TypeError:
        return _describe(call)
    about = _describe(call)
    if about.call is call:
        _KNOWN[call] = about._replace(call=_nothing)
    return about


def _nothing() -> None:
    """Stands for a function in the cache, which must not keep it alive."""


def _describe(call: Callable[..., Any]) -> Description:
    summary, notes = docstring(inspect.getdoc(call) if not isinstance(call, functools.partial) else None)
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return Description(call, summary, None, None)
    hints = _hints(call)
    properties: dict[str, Any] = {}
    required = []
    converters: dict[str, Callable[[Any], Any]] = {}
    is_open = False
    for parameter in signature.parameters.values():
        name = parameter.name
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        is_required = parameter.default is parameter.empty
        if parameter.kind is parameter.POSITIONAL_ONLY:
            if not is_required:
                continue
            raise TypeError(f"tools are called with keyword arguments, and `{name}` cannot be one")
        hint = hints.get(name, Any)
        properties[name] = schema_of(hint)
        if name in notes and "description" not in properties[name]:
            properties[name] = {**properties[name], "description": notes[name]}
        if is_required:
            required.append(name)
        converter = converter_of(hint)
        if converter is not None:
            converters[name] = converter
    takes: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if not is_open:
        takes["additionalProperties"] = False
    answers = schema_of(hints["return"]) if "return" in hints else None
    return Description(_converting(call, converters), summary, takes, answers or None)


def _hints(call: Callable[..., Any]) -> dict[str, Any]:
    target: Any = call
    while isinstance(target, functools.partial):
        target = target.func
    if not hasattr(target, "__annotations__") and not inspect.isclass(target):
        target = type(target).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):
        # A hint that names what is not there says nothing.
        return {}


def _converting(call: Callable[..., Any], converters: dict[str, Callable[[Any], Any]]) -> Callable[..., Any]:
    """Makes a function that converts the arguments first."""
    if not converters:
        return call

    def converted(arguments: dict[str, Any]) -> dict[str, Any]:
        for name, converter in converters.items():
            if name in arguments:
                arguments[name] = _converted(name, converter, arguments[name])
        return arguments

    from ._tools import is_async

    if is_async(call):

        async def later(**arguments: Any) -> Any:
            return await call(**converted(arguments))

        return functools.wraps(call)(later) if hasattr(call, "__name__") else later

    def now(**arguments: Any) -> Any:
        return call(**converted(arguments))

    return functools.wraps(call)(now) if hasattr(call, "__name__") else now


def _converted(name: str, converter: Callable[[Any], Any], value: Any) -> Any:
    try:
        return converter(value)
    except (TypeError, ValueError, KeyError, decimal.InvalidOperation) as error:
        from ._errors import ToolError

        raise ToolError(f"bad argument `{name}`: {error}", is_mistake=True) from error


_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
}

#: Types that come as text or as a value of the same kind, so their schema allows both.
_FROM_TEXT: dict[Any, Callable[[str], Any]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
}


def schema_of(hint: Any) -> dict[str, Any]:
    """Returns the JSON Schema of a type; an empty one for types that it knows nothing about."""
    return _schema(hint, ())


def _schema(hint: Any, above: tuple[Any, ...]) -> dict[str, Any]:
    try:
        if hint in _SIMPLE:
            return dict(_SIMPLE[hint])
    except TypeError:
        return {}
    if hint in above or len(above) > 8:
        return {}
    inside = (*above, hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        schema = _schema(args[0], above)
        for note in args[1:]:
            text = note if isinstance(note, str) else getattr(note, "description", None)
            if isinstance(text, str):
                schema = {**schema, "description": text}
        return schema
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(arg, inside) for arg in args]}
    if origin in (typing.Required, typing.NotRequired) if hasattr(typing, "Required") else False:
        return _schema(args[0], inside)
    if isinstance(hint, typing.NewType) if inspect.isclass(typing.NewType) else hasattr(hint, "__supertype__"):
        return _schema(hint.__supertype__, inside)
    kind = origin or hint
    if not inspect.isclass(kind):
        return {}
    return _class_schema(kind, args, inside)


def _class_schema(kind: Any, args: tuple[Any, ...], inside: tuple[Any, ...]) -> dict[str, Any]:
    if hasattr(kind, "model_json_schema"):
        return typing.cast("dict[str, Any]", kind.model_json_schema())
    if issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = dataclasses.fields(kind)
        required = [
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        return _record({field.name: hints.get(field.name, Any) for field in fields}, required, inside)
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return _record(hints, sorted(kind.__required_keys__), inside)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind, include_extras=True)
        return _record({name: hints.get(name, Any) for name in kind._fields}, list(kind._fields), inside)
    if issubclass(kind, (str, bytes)) or kind in _FROM_TEXT:
        return {}
    if issubclass(kind, Mapping):
        values = _schema(args[1], inside) if len(args) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if issubclass(kind, Collection):
        items = _schema(args[0], inside) if args and (len(args) == 1 or args[1] is Ellipsis) else {}
        return {"type": "array", "items": items} if items else {"type": "array"}
    return {}


def _record(fields: dict[str, Any], required: list[str], inside: tuple[Any, ...]) -> dict[str, Any]:
    properties = {name: _schema(hint, inside) for name, hint in fields.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def converter_of(hint: Any) -> Callable[[Any], Any] | None:
    """Returns what makes a value of the type hinted from plain data; ``None`` if plain data is right already."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return converter_of(args[0])
    if origin in (typing.Union, types.UnionType):
        return _union_converter(args)
    if origin in (list, set, frozenset) or (origin is tuple and len(args) == 2 and args[1] is Ellipsis):
        return _collection_converter(origin, converter_of(args[0]))
    if origin is dict:
        inner = converter_of(args[1])
        return None if inner is None else lambda value: {key: inner(item) for key, item in value.items()}
    kind = origin or hint
    if not inspect.isclass(kind):
        return None
    if kind in (set, frozenset, tuple):
        return kind
    if hasattr(kind, "model_validate"):
        return kind.model_validate  # type: ignore[no-any-return]
    if issubclass(kind, enum.Enum):
        return kind
    if dataclasses.is_dataclass(kind):
        return _dataclass_converter(kind)
    if kind is decimal.Decimal:
        return lambda value: decimal.Decimal(str(value))
    if kind in _FROM_TEXT:
        return lambda value: _FROM_TEXT[kind](value) if isinstance(value, str) else value
    return None


def _union_converter(args: tuple[Any, ...]) -> Callable[[Any], Any] | None:
    converters = [converter_of(arg) for arg in args if arg is not type(None)]
    # Which of several types is meant cannot be told from plain data.
    if len(converters) != 1 or converters[0] is None:
        return None
    only = converters[0]
    return lambda value: None if value is None else only(value)


def _collection_converter(kind: Any, inner: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if inner is not None:
        return lambda value: kind(inner(item) for item in value)
    return None if kind is list else kind


def _dataclass_converter(kind: Any) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    converters = {field.name: converter_of(hints.get(field.name, Any)) for field in dataclasses.fields(kind)}

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        fields = {}
        for name, item in value.items():
            converter = converters.get(name)
            fields[name] = item if converter is None else converter(item)
        return kind(**fields)

    return convert


_PARAM = re.compile(r":param(?:\s+[^:]+?)?\s+\*{0,2}(\w+):\s*(.+)")
_ARG = re.compile(r"\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.+)")


def docstring(text: str | None) -> tuple[str | None, dict[str, str]]:
    """Returns the first paragraph of a docstring, and its notes on parameters in the style of Google or Sphinx."""
    if not text:
        return None, {}
    summary = " ".join(text.split("\n\n")[0].split())
    notes: dict[str, str] = {}
    is_args = False
    for line in text.splitlines():
        if found := _PARAM.match(line.strip()):
            notes[found[1]] = found[2].strip()
        elif line.strip() in ("Args:", "Arguments:", "Parameters:"):
            is_args = True
        elif line and not line[0].isspace():
            is_args = False
        elif is_args and (found := _ARG.match(line)):
            notes[found[1]] = found[2].strip()
    return summary or None, notes
