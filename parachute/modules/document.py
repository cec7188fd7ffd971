"""What `modules.yaml` may say: every field is known, and every mistake is named with its line."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import yaml

from parachute.base.documents import Bounds, NotYaml, compose, line_of
from parachute.errors import ParachuteError
from parachute.modules.models import InstalledModule, Trust
from parachute.modules.names import NAME

_TAG = "tag:yaml.org,2002:"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_REQUIRED = ("enabled", "source", "trust", "hash")
_FIELDS = (*_REQUIRED, "declared", "version", "path", "dev", "packages_hash", "approved_at", "permissions")
_BOUNDS = Bounds(size=8 * 1024 * 1024)
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
        lines = data.rstrip().split(b"\n")
        if lines[-1] != END.encode():
            self.fail(len(lines), f"the file ends too early: its last line must be `{END}`")
        root = self.compose(data)
        if root is None:
            self.fail(1, "the file is empty; a file without modules says `modules: {}`")
        fields = self.mapping(root, "the file", ("modules",), ("modules",))
        modules: dict[str, InstalledModule] = {}
        for name, line, node in self.pairs(fields["modules"], "modules"):
            if not NAME.fullmatch(name):
                self.fail(line, f"{name[:40]!r} is no name of a module")
            modules[name] = self.entry(name, node)
        return modules

    def compose(self, data: bytes) -> yaml.Node | None:
        try:
            return compose(data, _BOUNDS)
        except NotYaml as error:
            raise self.refusal(error.line, error.reason) from error

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
            self.fail(line_of(node), f"{field} must be true or false")
        return bool(node.value == "true")

    def trust(self, node: yaml.Node) -> Trust:
        text = self.text(node, "trust")
        if text not in list(Trust):
            self.fail(line_of(node), f"trust: {text[:40]!r} is not known; allowed are {', '.join(Trust)}")
        return Trust(text)

    def digest(self, node: yaml.Node, field: str) -> str:
        text = self.text(node, field)
        if not _HASH.fullmatch(text):
            self.fail(line_of(node), f"{field} must be `sha256:` and 64 digits 0-9a-f")
        return text

    def folder(self, node: yaml.Node) -> Path:
        text = self.text(node, "dev")
        if not text.startswith("/"):
            self.fail(line_of(node), "dev must be an absolute path")
        return Path(text)

    def moment(self, node: yaml.Node) -> datetime:
        if not isinstance(node, yaml.ScalarNode) or node.tag not in (f"{_TAG}str", f"{_TAG}timestamp"):
            self.fail(line_of(node), "approved_at must be a time")
        try:
            moment = datetime.fromisoformat(node.value)
        except ValueError:
            self.fail(line_of(node), "approved_at must be a time such as 2024-01-15T10:30:00Z")
        if moment.tzinfo is None:
            self.fail(line_of(node), "approved_at must say its time zone, such as 2024-01-15T10:30:00Z")
        return moment.astimezone(UTC)

    def permissions(self, node: yaml.Node) -> dict[str, Any]:
        value = self.value(node)
        if not isinstance(value, dict):
            self.fail(line_of(node), "permissions must be a list of `field: value`")
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
        self.fail(line_of(node), f"permissions: {text[:40]!r} is neither text, number, true, false nor null")

    def text(self, node: yaml.Node, field: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != f"{_TAG}str":
            self.fail(line_of(node), f"{field} must be text" + (", in quotes" if field == "version" else ""))
        text = str(node.value)
        if not text or len(text) > _LONGEST or not text.isprintable():
            self.fail(line_of(node), f"{field} must be 1 to {_LONGEST} printable characters")
        return text

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[str, int, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), f"{what} must be a list of `field: value`")
        return [(self.text(name, "the name of a field"), line_of(name), value) for name, value in node.value]

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
                self.fail(line_of(node), f"{what} lacks the field {name}")
        return fields

    def fail(self, line: int, problem: str) -> NoReturn:
        raise self.refusal(line, f"{problem}.")

    def refusal(self, line: int, reason: str) -> RegistryUnreadable:
        return RegistryUnreadable(f"{self.path}, line {line}: {reason}", "Until this is put right no module starts.")
