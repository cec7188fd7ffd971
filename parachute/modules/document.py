"""What `modules.yaml` may say: every field is known, and every mistake is named with its line."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import yaml

from parachute.errors import ParachuteError
from parachute.modules.models import InstalledModule, Trust
from parachute.modules.names import NAME

# The loader in C is ten times as fast and gives the same line numbers; some builds of the library lack it.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAG = "tag:yaml.org,2002:"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_REQUIRED = ("enabled", "source", "trust", "hash")
_FIELDS = (*_REQUIRED, "declared", "version", "path", "dev", "packages_hash", "approved_at", "permissions")
_DEEPEST = 16
_LONGEST = 4096

END = "..."
"""The mark of YAML for the end of a document: a file that was cut off is often still YAML, but lacks its last line."""


class RegistryUnreadable(ParachuteError):
    """The list of modules is not understood, so no module starts."""

    status = 503
    key = "registry_unreadable"


def parse_document(data: bytes, path: Path) -> dict[str, InstalledModule]:
    """Read the modules out of the text of `path`; RegistryUnreadable names the line of the first mistake."""
    return _Document(path).modules(data)


def render_document(modules: dict[str, InstalledModule]) -> str:
    """The text of the file."""
    entries = {name: _rendered(module) for name, module in sorted(modules.items())}
    text = yaml.safe_dump({"modules": entries}, sort_keys=False, allow_unicode=True, width=120)
    return f"{text}{END}\n"


def _rendered(module: InstalledModule) -> dict[str, Any]:
    optional = {
        "declared": module.declared or None,
        "version": module.version or None,
        "path": module.path,
        "dev": str(module.dev) if module.dev else None,
        "packages_hash": module.packages_hash,
        "approved_at": module.approved_at.astimezone(UTC).isoformat() if module.approved_at else None,
        "permissions": module.permissions,
    }
    return {
        "enabled": module.enabled,
        "source": module.source,
        "trust": str(module.trust),
        "hash": module.hash,
        **{name: value for name, value in optional.items() if value is not None},
    }


class _Document:
    def __init__(self, path: Path) -> None:
        self.path = path

    def modules(self, data: bytes) -> dict[str, InstalledModule]:
        text = self.decoded(data)
        last = text.rstrip().count("\n") + 1
        if text.rstrip().rpartition("\n")[2] != END:
            self.fail(last, f"the file ends too early: its last line must be `{END}`")
        root = self.compose(text, data)
        if root is None:
            self.fail(1, "the file is empty; a file without modules says `modules: {}`")
        fields = self.mapping(root, "the file", ("modules",), ("modules",))
        modules: dict[str, InstalledModule] = {}
        for name, line, node in self.pairs(fields["modules"], "modules"):
            if not NAME.fullmatch(name):
                self.fail(line, f"{name[:40]!r} is no name of a module")
            modules[name] = self.entry(name, node)
        return modules

    def decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            self.fail(data.count(b"\n", 0, error.start) + 1, "this is not UTF-8 text")

    def compose(self, text: str, data: bytes) -> yaml.Node | None:
        try:
            self.refuse_depth(text)
            root: yaml.Node | None = yaml.compose(text, _Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.fail(mark.line + 1 if mark else 1, f"this is not YAML ({error.problem or error.context})")
        except yaml.YAMLError as error:
            # A character that YAML forbids is told by its position.
            line = data.count(b"\n", 0, getattr(error, "position", 0)) + 1
            self.fail(line, f"this is not YAML ({str(error).splitlines()[0]})")
        return root

    def refuse_depth(self, text: str) -> None:
        # The loader in C builds its tree recursively and overflows its stack; its events come without recursion.
        depth = 0
        for event in yaml.parse(text, _Loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):
                self.fail(line, "references (*name) are not used in this file")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _DEEPEST:
                    self.fail(line, "there are more lists inside of lists than this file can have")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1

    def entry(self, name: str, node: yaml.Node) -> InstalledModule:
        fields = self.mapping(node, f"the module {name}", _FIELDS, _REQUIRED)
        dev = self.folder(fields["dev"]) if "dev" in fields else None
        return InstalledModule(
            name=name,
            enabled=self.truth(fields["enabled"], "enabled"),
            source=self.text(fields["source"], "source"),
            trust=self.trust(fields["trust"]),
            hash=self.digest(fields["hash"], "hash"),
            declared=self.truth(fields["declared"], "declared") if "declared" in fields else False,
            version=self.text(fields["version"], "version") if "version" in fields else "",
            path=self.text(fields["path"], "path") if "path" in fields else None,
            dev=dev,
            packages_hash=self.digest(fields["packages_hash"], "packages_hash") if "packages_hash" in fields else None,
            approved_at=self.moment(fields["approved_at"]) if "approved_at" in fields else None,
            permissions=self.permissions(fields["permissions"]) if "permissions" in fields else None,
        )

    def truth(self, node: yaml.Node, field: str) -> bool:
        if not isinstance(node, yaml.ScalarNode) or node.tag != f"{_TAG}bool" or node.value not in ("true", "false"):
            self.fail(_line(node), f"{field} must be true or false")
        return bool(node.value == "true")

    def trust(self, node: yaml.Node) -> Trust:
        text = self.text(node, "trust")
        if text not in list(Trust):
            self.fail(_line(node), f"trust: {text[:40]!r} is not known; allowed are {', '.join(Trust)}")
        return Trust(text)

    def digest(self, node: yaml.Node, field: str) -> str:
        text = self.text(node, field)
        if not _HASH.fullmatch(text):
            self.fail(_line(node), f"{field} must be `sha256:` and 64 digits 0-9a-f")
        return text

    def folder(self, node: yaml.Node) -> Path:
        text = self.text(node, "dev")
        if not text.startswith("/"):
            self.fail(_line(node), "dev must be an absolute path")
        return Path(text)

    def moment(self, node: yaml.Node) -> datetime:
        if not isinstance(node, yaml.ScalarNode) or node.tag not in (f"{_TAG}str", f"{_TAG}timestamp"):
            self.fail(_line(node), "approved_at must be a time")
        try:
            moment = datetime.fromisoformat(node.value)
        except ValueError:
            self.fail(_line(node), "approved_at must be a time such as 2024-01-15T10:30:00Z")
        if moment.tzinfo is None:
            self.fail(_line(node), "approved_at must say its time zone, such as 2024-01-15T10:30:00Z")
        return moment.astimezone(UTC)

    def permissions(self, node: yaml.Node) -> dict[str, Any]:
        value = self.value(node)
        if not isinstance(value, dict):
            self.fail(_line(node), "permissions must be a list of `field: value`")
        return value

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return {name: self.value(value) for name, _, value in self.pairs(node, "permissions")}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item) for item in node.value]
        text, kind = str(node.value), str(node.tag).removeprefix(_TAG)
        try:
            match kind:
                case "str":
                    return text
                case "null":
                    return None
                case "bool" if text in ("true", "false"):
                    return text == "true"
                case "int":
                    return int(text)
                case "float":
                    return float(text)
        except ValueError:
            pass  # another spelling of a number, which we never write
        self.fail(_line(node), f"permissions: {text[:40]!r} is neither text, number, true, false nor null")

    def text(self, node: yaml.Node, field: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != f"{_TAG}str":
            self.fail(_line(node), f"{field} must be text" + (", in quotes" if field == "version" else ""))
        text = str(node.value)
        if not text or len(text) > _LONGEST or not text.isprintable():
            self.fail(_line(node), f"{field} must be 1 to {_LONGEST} printable characters")
        return text

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[str, int, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(_line(node), f"{what} must be a list of `field: value`")
        found: dict[str, tuple[str, int, yaml.Node]] = {}
        for name_node, value in node.value:
            name = self.text(name_node, "the name of a field")
            if name in found:
                self.fail(_line(name_node), f"{name[:40]} is there twice")
            found[name] = (name, _line(name_node), value)
        return list(found.values())

    def mapping(
        self, node: yaml.Node, what: str, allowed: tuple[str, ...], required: tuple[str, ...]
    ) -> dict[str, yaml.Node]:
        fields: dict[str, yaml.Node] = {}
        for name, line, value in self.pairs(node, what):
            if name not in allowed:
                self.fail(line, f"unknown field {name[:40]!r} in {what}; allowed are {', '.join(allowed)}")
            fields[name] = value
        for name in required:
            if name not in fields:
                self.fail(_line(node), f"{what} lacks the field {name}")
        return fields

    def fail(self, line: int, problem: str) -> NoReturn:
        raise RegistryUnreadable(
            f"{self.path}, line {line}: {problem}.",
            "Until this is put right no module starts.",
        )


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
