"""Texts with fields at their top, as agents and skills are written: read within bounds, and checked by the published rules.

The rules are those of agent skills (agentskills.io, and "Agent Skills" at docs.claude.com).
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from parachute.base.documents import NotYaml
from parachute.base.errors import Conflict, InvalidInput, NotAllowed
from parachute.base.folders import Folder
from parachute.capabilities.loose_fields import read_loosely
from parachute.core import front_matter

LIMIT = 256 * 1024
"""Bytes of such a text, fields and all."""

DESCRIPTION_LIMIT = 1024

Source = Literal["builtin", "vault", "project", "user", "plugin"]
"""Origin of a text, as the app's badge says."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NAME_LIMIT = 64
_RESERVED = ("anthropic", "claude")
_TAG = re.compile(r"</[A-Za-z][^<>]*>|<[A-Za-z][^<>]*/>")
"""An end: what only begins, as in `List<String>`, encloses nothing."""
_BEGINNING = re.compile(r"(?<!\w)<[A-Za-z][^<>]*>")


class Fields(NamedTuple):
    """The fields at the top of a text, and what follows them; `note` says that they are not quite YAML."""

    fields: dict[str, Any]
    body: str
    note: str | None = None


def read_text(folder: Folder, path: Path) -> str:
    """A text of at most `LIMIT` bytes; error: InvalidInput, also where a link is in the way."""
    try:
        return folder.read(path, LIMIT).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not UTF-8 text.", key="not_text") from error
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", key="unreadable") from error


def etag_of(content: str) -> str:
    """The ETag of a text."""
    return f'"{hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()}"'


def check_unchanged(name: str, content: str, expected: str | None) -> None:
    """Error: Conflict if `expected`, the header If-Match, names another text."""
    if expected is not None and etag_of(content) not in [each.strip() for each in expected.split(",")]:
        raise Conflict(
            f"{name} has changed since you read it.",
            "Read it again and apply your change to the current version.",
            status=412,
            key="changed_meanwhile",
        )


def read_fields(text: str) -> Fields:
    """The fields at the top, and what follows them; error: InvalidInput with the line."""
    try:
        fields, body = front_matter.read(text)
    except NotYaml as error:
        parts = front_matter.split(text.replace("\r\n", "\n"))
        fields = read_loosely(parts.front or "", error)
        note = f"Line {error.line} is not quite YAML, and was read as it stands: write the value in quotes."
        return Fields(fields, parts.body.strip(), note)
    if fields is None and front_matter.split(text).is_open:
        raise InvalidInput("The fields at the top have no second line `---`.", key="front_matter_open")
    return Fields(fields or {}, body.strip())


def check_name(name: str) -> None:
    """Error: InvalidInput for a name that breaks the rules."""
    if len(name) > _NAME_LIMIT or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"name: expected at most {_NAME_LIMIT} of a-z, 0-9 and single dashes between them.", key="invalid_name"
        )


def check_new_name(name: str) -> None:
    """Error: InvalidInput for a name that breaks the rules, or that only services may give."""
    check_name(name)
    if any(word in name for word in _RESERVED):
        raise InvalidInput(f"name: the words {' and '.join(_RESERVED)} are reserved.", key="reserved_name")


def check_new_description(description: str) -> None:
    """Error: InvalidInput for a description that breaks the rules, or in which a tag begins."""
    check_description(description)
    if _BEGINNING.search(description):
        raise _with_tags()


def check_description(description: str) -> None:
    """Error: InvalidInput for a description that breaks the rules."""
    if not description:
        raise InvalidInput("description: say what it does, and when to use it.", key="no_description")
    if len(description) > DESCRIPTION_LIMIT:
        raise InvalidInput(
            f"description: it has more than {DESCRIPTION_LIMIT:,} characters.", key="description_too_long"
        )
    if _TAG.search(description):
        raise _with_tags()


def _with_tags() -> InvalidInput:
    return InvalidInput("description: it must hold no XML tags.", key="description_with_tags")


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """A field that holds a text, empty without it; error: InvalidInput."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InvalidInput(f"{name}: expected a text.", key="invalid_field")
    return str(value).strip()


def names_of(fields: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """A field that lists names, as a list or with commas between them; None without it. Error: InvalidInput."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        value = _listed(value)
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise InvalidInput(f"{name}: expected a list of names.", key="invalid_field")
    return tuple(dict.fromkeys(each.strip() for each in value))


def _listed(text: str) -> list[str]:
    """Names with commas between them; those in parentheses, as in `Bash(git add, git commit)`, belong to one name."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def not_readable(name: str, problem: str) -> Conflict:
    """The error for changing what cannot be read as it is."""
    return Conflict(f"{name} cannot be changed here: {problem}", "Fix its file first.", key="not_readable")


def of_plugin(name: str) -> NotAllowed:
    """The error for changing what a plugin brings."""
    return NotAllowed(
        f"{name} belongs to a plugin, and stays.", "`parachute plugins remove` removes the plugin.", key="not_in_vault"
    )
