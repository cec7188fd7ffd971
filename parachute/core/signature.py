"""Parameters of a module's function, read from its signature and its docstring."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, get_type_hints

from parachute.base.errors import InvalidInput
from parachute.core.errors import ModuleError
from parachute.core.values import convert, describe, schema

_MISSING = object()
_ARGUMENT_LINE = re.compile(r"\s+(\w+)(?:\s*\([^)]*\))?:\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `default` is only meaningful when it is not `required`."""

    name: str
    kind: Any
    required: bool
    default: Any = None


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, without the object it belongs to.

    `rest`: it takes `**fields`, so that unknown ones are passed on as they are. `documented` holds what the description says
    about single parameters.
    """

    name: str
    parameters: tuple[Parameter, ...]
    rest: bool
    result: Any
    description: str
    documented: Mapping[str, str]

    @classmethod
    def of(cls, function: Callable[..., Any], skip: int = 0) -> "Signature":
        """Read a function, leaving out its first `skip` parameters; error: ModuleError for what cannot be called by name."""
        name = getattr(function, "__qualname__", str(function))
        signature = inspect.signature(function)
        try:
            hints = get_type_hints(function, include_extras=True)
        except (NameError, TypeError, AttributeError) as error:
            raise ModuleError(f"{name}: its signature has an unknown type: {error}.", key="type_unknown") from error
        parameters: list[Parameter] = []
        rest = False
        for entry in list(signature.parameters.values())[skip:]:
            if entry.kind is inspect.Parameter.VAR_KEYWORD:
                rest = True
                continue
            if entry.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
                raise ModuleError(
                    f"{name}: the parameter {entry.name} has no name that a caller could use.",
                    key="parameter_without_name",
                )
            kind = hints.get(entry.name, Any)
            required = entry.default is inspect.Parameter.empty
            if entry.name not in hints and type(entry.default) in (str, int, float, bool):
                kind = type(entry.default)
            if entry.default is None:
                kind = Optional[kind]  # noqa: UP045 - `|` does not know every kind of type
            parameters.append(Parameter(entry.name, kind, required, None if required else entry.default))
        description, documented = _documentation(inspect.getdoc(function) or "")
        return cls(name, tuple(parameters), rest, hints.get("return", Any), description, documented)

    def bind(
        self, values: Mapping[str, Any], *, strict: bool, taken: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Keyword arguments from JSON values; error: InvalidInput naming the field.

        `taken` holds arguments that are settled already. `strict`: values that no parameter takes are errors.
        """
        arguments = dict(taken or {})
        for parameter in self.parameters:
            if parameter.name in arguments:
                continue
            value = values.get(parameter.name, _MISSING)
            if value is not _MISSING:
                arguments[parameter.name] = convert(value, parameter.kind, parameter.name, strict=strict)
            elif parameter.required:
                raise InvalidInput(
                    f"{parameter.name}: this is required ({describe(parameter.kind)}).", key="field_missing"
                )
        unknown = {name: value for name, value in values.items() if name not in self.names}
        if self.rest:
            arguments |= unknown
        elif strict and unknown:
            allowed = ", ".join(self.names) or "none"
            raise InvalidInput(
                f"{next(iter(unknown))[:40]}: unknown argument; allowed are: {allowed}.", key="unknown_argument"
            )
        return arguments

    def positional(self, positions: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of a call by name; errors: TypeError, as Python raises it."""
        if len(positions) > len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments, and {len(positions)} were given")
        arguments = {parameter.name: value for parameter, value in zip(self.parameters, positions, strict=False)}
        for name, value in named.items():
            if name in arguments or name not in self.names:
                raise TypeError(
                    f"{self.name} got {'two values for' if name in arguments else 'an unknown argument'} {name}"
                )
            arguments[name] = value
        for parameter in self.parameters:
            if parameter.required and parameter.name not in arguments:
                raise TypeError(f"{self.name} lacks the argument {parameter.name}")
        return arguments

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def check(self) -> None:
        """See that every parameter can come from JSON; error: ModuleError naming the function and the parameter."""
        for parameter in self.parameters:
            schema(parameter.kind, f"{self.name}({parameter.name})")

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as MCP wants it; error: ModuleError as in `check`."""
        properties: dict[str, Any] = {}
        for parameter in self.parameters:
            entry = schema(parameter.kind, f"{self.name}({parameter.name})")
            if text := self.documented.get(parameter.name):
                entry["description"] = text
            if not parameter.required and isinstance(parameter.default, str | int | float | bool | list | dict):
                entry["default"] = parameter.default
            properties[parameter.name] = entry
        document: dict[str, Any] = {"type": "object", "properties": properties}
        if required := [parameter.name for parameter in self.parameters if parameter.required]:
            document["required"] = required
        if not self.rest:
            document["additionalProperties"] = False
        return document


def _documentation(text: str) -> tuple[str, dict[str, str]]:
    """The description up to its list of arguments, and that list (`Args:`, one `name: text` a line)."""
    body, _, arguments = text.partition("\nArgs:\n")
    documented: dict[str, str] = {}
    for line in arguments.splitlines():
        if match := _ARGUMENT_LINE.fullmatch(line):
            documented[match[1]] = match[2]
        elif line and not line.startswith(" "):
            break
    return body.strip(), documented
