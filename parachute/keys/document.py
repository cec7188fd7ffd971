"""What `keys.yaml` may say: every field is known, and every mistake is named with its line."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import yaml

from parachute.base.documents import Bounds, NotYaml, compose, line_of
from parachute.errors import ParachuteError
from parachute.keys.models import CAPABILITIES, Capability, Key, Scope, is_capability

_STRING = "tag:yaml.org,2002:str"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REQUIRED = ("name", "key_hash", "created", "scopes")
_FIELDS = ("id", *_REQUIRED, "last_used")
_MAXIMUM_LABEL = 100
_BOUNDS = Bounds(size=1024 * 1024, depth=8)


class KeysUnreadable(ParachuteError):
    """The file of keys is not understood, so nobody is let in by it."""

    status = 503
    key = "keys_unreadable"


def label_problem(label: str) -> str | None:
    """What is wrong with the label of a key, None if nothing is."""
    if not label or label != label.strip() or len(label) > _MAXIMUM_LABEL or not label.isprintable():
        return f"1 to {_MAXIMUM_LABEL} printable characters are allowed, without spaces at the ends"
    return None


def parse_document(data: bytes, path: Path) -> tuple[Key, ...]:
    """Read the keys out of the text of `path`; KeysUnreadable names the line of the first mistake."""
    return _Document(path).keys(data)


class _Document:
    def __init__(self, path: Path) -> None:
        self.path = path

    def keys(self, data: bytes) -> tuple[Key, ...]:
        root = self.compose(data)
        if root is None:
            # A crash of the machine may leave a file without content: that is not the same as no keys.
            self.fail(1, "the file is empty; a file without keys says `api_keys: []`")
        fields = self.mapping(root, "the file", ("api_keys",), ("api_keys",))
        keys: dict[str, Key] = {}
        for node in self.sequence(fields["api_keys"], "api_keys"):
            key = self.entry(node)
            if key.id in keys:
                self.fail(line_of(node), f"the id {key.id} is used twice")
            keys[key.id] = key
        return tuple(keys.values())

    def compose(self, data: bytes) -> yaml.Node | None:
        try:
            return compose(data, _BOUNDS)
        except NotYaml as error:
            raise self.refusal(error.line, error.reason) from error

    def entry(self, node: yaml.Node) -> Key:
        fields = self.mapping(node, "a key", _FIELDS, _REQUIRED)
        digest = self.digest(fields["key_hash"])
        return Key(
            # Files written by hand need no id: the beginning of the hash is one.
            id=self.identifier(fields["id"]) if "id" in fields else digest[:12],
            label=self.label(fields["name"]),
            hash=digest,
            scopes=tuple(self.scope(scope) for scope in self.sequence(fields["scopes"], "scopes")),
            created_at=self.moment(fields["created"], "created"),
            last_used_at=self.moment(fields["last_used"], "last_used") if "last_used" in fields else None,
        )

    def scope(self, node: yaml.Node) -> Scope:
        names = ("module", "capabilities")
        fields = self.mapping(node, "a scope", names, names)
        capabilities: set[Capability] = set()
        for word in self.sequence(fields["capabilities"], "capabilities"):
            text = self.text(word, "capabilities")
            if not is_capability(text):
                self.fail(line_of(word), f"{text[:40]!r} is no capability; allowed are {', '.join(CAPABILITIES)}")
            capabilities.add(text)
        module = self.text(fields["module"], "module")
        return self.checked(fields["module"], lambda: Scope(module, frozenset(capabilities)))

    def checked(self, node: yaml.Node, make: Callable[[], Scope]) -> Scope:
        try:
            return make()
        except ParachuteError as error:
            self.fail(line_of(node), str(error))

    def digest(self, node: yaml.Node) -> str:
        match = _HASH.fullmatch(self.text(node, "key_hash"))
        if not match:
            self.fail(line_of(node), "key_hash must be `sha256:` and 64 digits 0-9a-f")
        return match[1]

    def identifier(self, node: yaml.Node) -> str:
        text = self.text(node, "id")
        if not _ID.fullmatch(text):
            self.fail(line_of(node), "id must be 1 to 64 letters, digits, - or _")
        return text

    def label(self, node: yaml.Node) -> str:
        text = self.text(node, "name")
        if problem := label_problem(text):
            self.fail(line_of(node), f"name: {problem}")
        return text

    def moment(self, node: yaml.Node, field: str) -> datetime:
        text = self.text(node, field, _STRING, _TIMESTAMP)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.fail(line_of(node), f"{field} must be a time such as 2024-01-15T10:30:00Z")
        if moment.tzinfo is None:
            self.fail(line_of(node), f"{field} must say its time zone, such as 2024-01-15T10:30:00Z")
        return moment.astimezone(UTC)

    def text(self, node: yaml.Node, field: str, *tags: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag not in (tags or (_STRING,)):
            self.fail(line_of(node), f"{field} must be text")
        return str(node.value)

    def sequence(self, node: yaml.Node, field: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self.fail(line_of(node), f"{field} must be a list")
        return list(node.value)

    def mapping(
        self, node: yaml.Node, what: str, allowed: tuple[str, ...], required: tuple[str, ...]
    ) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), f"{what} must be a list of `field: value`")
        fields: dict[str, yaml.Node] = {}
        for name_node, value in node.value:
            name = self.text(name_node, "the name of a field")
            if name not in allowed:
                self.fail(
                    line_of(name_node), f"unknown field {name[:40]!r} in {what}; allowed are {', '.join(allowed)}"
                )
            fields[name] = value
        for name in required:
            if name not in fields:
                self.fail(line_of(node), f"{what} lacks the field {name}")
        return fields

    def fail(self, line: int, problem: str) -> NoReturn:
        raise self.refusal(line, f"{problem}.")

    def refusal(self, line: int, reason: str) -> KeysUnreadable:
        return KeysUnreadable(f"{self.path}, line {line}: {reason}", "Until this is put right nobody is let in.")
