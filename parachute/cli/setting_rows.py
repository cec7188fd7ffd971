"""Every setting with its value and where that comes from."""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from parachute.declared.file import load as load_declaration
from parachute.declared.settings import declares
from parachute.errors import InvalidInput
from parachute.settings.expectations import allowed_words
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.settings.store import load, read_document


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting; `source` is `default`, `file`, `declared`, or the variable of the environment that goes over these.

    `running` is what the running computer has instead, as text, and `running_from` where it came from.
    """

    name: str
    value: Any
    default: Any
    source: str
    description: str
    allowed: tuple[str, ...] = ()
    running: str | None = None
    running_from: str | None = None

    @property
    def meaning(self) -> str:
        """The description, and behind it the words that are allowed."""
        return f"{self.description} One of: {', '.join(self.allowed)}." if self.allowed else self.description


def all_rows(home: Home) -> list[SettingRow]:
    """Every setting in force; error: ConfigError."""
    settings = load(home).model_dump(mode="json")
    document, declared = read_document(home), load_declaration().settings
    variables = {name.upper() for name in os.environ}
    return [
        SettingRow(
            ".".join(path),
            _inside(settings, path),
            _plain(field.get_default(call_default_factory=True)),
            _source(path, variables, declared, document),
            str(field.description or ""),
            tuple(allowed_words(field)),
        )
        for path, field in fields(Settings)
    ]


def row_of(home: Home, name: str) -> SettingRow:
    """One setting in force; errors: InvalidInput for an unknown name, ConfigError."""
    check_name(name)
    return next(row for row in all_rows(home) if row.name == name)


def names() -> list[str]:
    """The names of all settings."""
    return [".".join(path) for path, _ in fields(Settings)]


def check_name(name: str) -> None:
    """Raise InvalidInput, with what may have been meant, unless it names a setting."""
    known = names()
    if name in known:
        return
    if inner := [each for each in known if each.startswith(f"{name}.")]:
        raise InvalidInput(f"{name!r} is a group of settings.", f"Name one of them: {', '.join(inner)}.")
    near = difflib.get_close_matches(name, known, 1)
    raise InvalidInput(
        f"There is no setting {name!r}.",
        f"Did you mean {near[0]}?" if near else "`parachute config` lists all settings.",
    )


def as_text(value: Any) -> str:
    """A value as it can be given to `config set`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False)


def fields(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Every setting with the parts of its name."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, (*above, name))
        else:
            yield (*above, name), field


def _plain(value: Any) -> Any:
    """A default as JSON has it: paths are texts."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    return value if isinstance(value, bool | int | float | None) else str(value)


def _source(path: tuple[str, ...], variables: set[str], declared: Mapping[str, Any], document: dict[str, Any]) -> str:
    for length in range(len(path), 0, -1):
        # A group may be given whole, as JSON, in one variable.
        variable = "PARACHUTE_" + "__".join(path[:length]).upper()
        if variable in variables:
            return variable
    if declares(declared, path):
        return "declared"
    missing = object()
    return "default" if _inside(document, path, missing) is missing else "file"


def _inside(document: Any, path: tuple[str, ...], missing: Any = None) -> Any:
    for part in path:
        if not isinstance(document, dict) or part not in document:
            return missing
        document = document[part]
    return document
