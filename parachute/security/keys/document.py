"""The format of `keys.yaml` and `browser-sessions.yaml`: every field is known, and every mistake is named with its line."""

import re
from dataclasses import dataclass
from pathlib import Path

from parachute.base.document_values import Value
from parachute.base.documents import Bounds
from parachute.base.errors import ParachuteError
from parachute.base.typed_documents import DocumentInvalid, read_document
from parachute.security.keys.models import CAPABILITIES, Capability, Key, Scope, is_capability

_ALGORITHM = "sha256:"
_HASH = re.compile(rf"{_ALGORITHM}[0-9a-f]{{64}}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REQUIRED = ("name", "key_hash", "created", "scopes")
_FIELDS = ("id", *_REQUIRED, "last_used")
_FIELDS_OF_BROWSERS = (*_FIELDS, "signed_in_with")
_MAXIMUM_LABEL = 100
_BOUNDS = Bounds(size=1024 * 1024, depth=8)


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of file: its name, the name of the list in it, the fields of an entry, and what entries are for a person."""

    file: str
    listed: str
    fields: tuple[str, ...]
    noun: str
    revoke: str


KEYS = Form("keys.yaml", "api_keys", _FIELDS, "keys", "parachute keys revoke NAME")
BROWSERS = Form(
    "browser-sessions.yaml",
    "browser_sessions",
    _FIELDS_OF_BROWSERS,
    "browsers signed in",
    "parachute devices revoke NAME",
)


class KeysUnreadable(ParachuteError):
    """The file of keys is not understood, so nobody is let in by it."""

    status = 503
    key = "keys_unreadable"


def label_problem(label: str) -> str | None:
    """Return the problem with the label of a key, None if there is none."""
    if not label or label != label.strip() or len(label) > _MAXIMUM_LABEL or not label.isprintable():
        return f"1 to {_MAXIMUM_LABEL} printable characters are allowed, without spaces at the ends"
    return None


def parse_document(data: bytes, path: Path, form: Form = KEYS) -> tuple[Key, ...]:
    """Read the keys out of the text of `path`; KeysUnreadable names the line of the first mistake."""
    try:
        return read_document(data, "the file", lambda root: _keys(root, form), _BOUNDS)
    except DocumentInvalid as error:
        raise KeysUnreadable(f"{path}, {error.problems[0]}", "Until this is put right nobody is let in.") from error


def _keys(root: Value, form: Form) -> tuple[Key, ...]:
    keys: dict[str, Key] = {}
    for value in root.fields((form.listed,), (form.listed,))[form.listed].items():
        key = _key(value, form)
        if key.id in keys:
            value.refuse(f"The id {key.id} is used twice.")
        keys[key.id] = key
    return tuple(keys.values())


def _key(value: Value, form: Form) -> Key:
    fields = value.fields(form.fields, _REQUIRED)
    digest = fields["key_hash"].matching(_HASH, "`sha256:` and 64 digits 0-9a-f are expected.").removeprefix(_ALGORITHM)
    return Key(
        # Files written by hand need no id: the beginning of the hash is one.
        id=fields.read("id", _identifier, digest[:12]),
        label=_label(fields["name"]),
        hash=digest,
        scopes=tuple(_scope(scope) for scope in fields["scopes"].items()),
        created_at=fields["created"].moment(),
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
