"""The format of `keys.yaml` and `browser-sessions.yaml`: every field is known, and every mistake is named with its line.

An entry with a mistake lets nobody in, and the others hold; a file that is not understood as a whole lets nobody in at all.
"""

import re
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.document_values import Problem, Value
from parachute.base.documents import Bounds
from parachute.base.errors import ParachuteError
from parachute.base.typed_documents import DocumentInvalid, read_document
from parachute.security.keys.models import CAPABILITIES, Capability, Key, Scope, is_capability

_ALGORITHM = "sha256:"
_HASH = re.compile(rf"{_ALGORITHM}[0-9a-f]{{64}}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REQUIRED = ("name", "key_hash", "scopes")
_FIELDS = ("id", *_REQUIRED, "created", "last_used")
_FIELDS_OF_BROWSERS = (*_FIELDS, "signed_in_with")
_MAXIMUM_LABEL = 100
_BOUNDS = Bounds(size=1024 * 1024, depth=8)


class Form(Struct, frozen=True):
    """One kind of file: its name, that of the file beside it with the last addresses, the name of the list in it, the fields of an entry, and what entries are for a person.

    `required`: fields that an entry has to have; people write keys by hand, and nobody but a program writes browsers.
    """

    file: str
    addresses: str
    listed: str
    fields: tuple[str, ...]
    required: tuple[str, ...]
    noun: str
    revoke: str


KEYS = Form("keys.yaml", "key-addresses.json", "api_keys", _FIELDS, _REQUIRED, "keys", "parachute keys revoke NAME")
BROWSERS = Form(
    "browser-sessions.yaml",
    "browser-addresses.json",
    "browser_sessions",
    _FIELDS_OF_BROWSERS,
    (*_REQUIRED, "created"),
    "browsers signed in",
    "parachute devices revoke NAME",
)


class Refused(Struct, frozen=True):
    """An entry with a mistake: the sentence names its line, `entry` is as it was read."""

    sentence: str
    entry: Any


class Document(Struct, frozen=True):
    """Contents of a file of keys."""

    keys: tuple[Key, ...] = ()
    refused: tuple[Refused, ...] = ()


class KeysUnreadable(ParachuteError):
    """The file of keys is not understood, so nobody is let in by it."""

    status = 503
    key = "keys_unreadable"


def label_problem(label: str) -> str | None:
    """Return the problem with the label of a key, None if there is none."""
    if not label or label != label.strip() or len(label) > _MAXIMUM_LABEL or not label.isprintable():
        return f"1 to {_MAXIMUM_LABEL} printable characters are allowed, without spaces at the ends"
    return None


def parse_document(data: bytes, path: Path, form: Form = KEYS) -> Document:
    """Read the keys out of the text of `path`; KeysUnreadable names the line of the first mistake if there is no good entry."""
    try:
        return read_document(data, "the file", lambda root: _document(root, path, form), _BOUNDS)
    except DocumentInvalid as error:
        raise KeysUnreadable(
            f"{path}, {error.problems[0]}", "Until this is fixed, every request is refused."
        ) from error


def _document(root: Value, path: Path, form: Form) -> Document:
    keys: dict[str, Key] = {}
    refused: list[Refused] = []
    problems: list[Problem] = []
    for value in root.fields((form.listed,), (form.listed,))[form.listed].items():
        alone = replace(value, problems=[])
        key = alone.attempt(lambda entry: _key(entry, form), None)
        if key is None or alone.problems:
            problems += alone.problems
            refused.append(Refused(f"{path}, {alone.problems[0]} This entry is ignored.", value.raw))
            continue
        if key.id in keys:
            # Which of the two somebody means to revoke could not be told.
            value.refuse(f"The id {key.id} is used twice.")
        keys[key.id] = key
    if not keys:
        # Nobody must take that for a computer that has no keys.
        root.problems.extend(problems)
    return Document(tuple(keys.values()), tuple(refused))


def _key(value: Value, form: Form) -> Key:
    fields = value.fields(form.fields, form.required)
    digest = fields["key_hash"].matching(_HASH, "`sha256:` and 64 digits 0-9a-f are expected.").removeprefix(_ALGORITHM)
    return Key(
        # Files written by hand need no id: the beginning of the hash is one.
        id=fields.read("id", _identifier, digest[:12]),
        label=_label(fields["name"]),
        hash=digest,
        scopes=tuple(_scope(scope) for scope in fields["scopes"].items()),
        created_at=fields.read("created", Value.moment, None),
        last_used_at=fields.read("last_used", Value.moment, None),
        parent=fields.read("signed_in_with", _identifier, None),
    )


def _identifier(value: Value) -> str:
    return value.matching(_ID, "1 to 64 letters, digits, - or _ are expected.")


def _label(value: Value) -> str:
    if problem := label_problem(text := value.text()):
        value.refuse(f"{problem}.")
    return text


def _scope(value: Value) -> Scope:
    names = ("module", "capabilities")
    fields = value.fields(names, names)
    capabilities: set[Capability] = set()
    for word in fields["capabilities"].items():
        if not is_capability(text := word.text()):
            word.refuse(f"{text[:40]!r} is no capability; allowed are {', '.join(CAPABILITIES)}.")
        capabilities.add(text)
    module = fields["module"].text()
    try:
        return Scope(module, frozenset(capabilities))
    except ParachuteError as error:
        fields["module"].refuse(str(error))
