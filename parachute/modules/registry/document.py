"""Reading and writing `modules.yaml`: strict, and every mistake is named with its line."""

import re
from datetime import UTC
from pathlib import Path
from typing import Any

import yaml

from parachute.base.document_values import Value
from parachute.base.documents import Bounds
from parachute.base.errors import ParachuteError
from parachute.base.typed_documents import DocumentInvalid, read_document
from parachute.modules.manifest.models import NAME
from parachute.modules.registry.agent_limits import AgentLimit, read_limit
from parachute.modules.registry.models import InstalledModule, Trust

_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_REQUIRED = ("source", "trust", "hash")
_FIELDS = (
    "enabled",
    *_REQUIRED,
    "declared",
    "version",
    "path",
    "dev",
    "packages_hash",
    "approved_at",
    "permissions",
    "agents",
)
_BOUNDS = Bounds(size=8 * 1024 * 1024)

HEAD = "# The computer writes this file, and ends it with a line of three dots."
END = "..."
"""The mark of YAML for the end of a document: a file that was cut off is often still YAML, but lacks its last line.

It is demanded of what this program wrote, of which the head or an approval is the sign: a cut could take away what the owner
has taken from an agent. What a person wrote approves nothing, and needs none.
"""


class RegistryUnreadable(ParachuteError):
    """The list of modules is not understood, so no module starts."""

    status = 503
    key = "registry_unreadable"


def parse_document(data: bytes, path: Path) -> dict[str, InstalledModule]:
    """Read the modules out of the text of `path`; RegistryUnreadable names the line of the first mistake."""
    lines = data.rstrip().split(b"\n")
    is_ours = data.startswith(HEAD.encode()) or b"approved_at" in data
    if is_ours and lines[-1] != END.encode():
        raise _unreadable(path, f"line {len(lines)}: The file ends too early: its last line must be `{END}`.")
    try:
        return read_document(data, "the file", _modules, _BOUNDS)
    except DocumentInvalid as error:
        raise _unreadable(path, str(error.problems[0])) from error


def _unreadable(path: Path, problem: str) -> RegistryUnreadable:
    return RegistryUnreadable(f"{path}, {problem}", "No module starts until this is fixed.")


def render_document(modules: dict[str, InstalledModule]) -> str:
    """The text of the file."""
    entries = {name: _rendered(module) for name, module in sorted(modules.items())}
    text = yaml.safe_dump({"modules": entries}, sort_keys=False, allow_unicode=True, width=120)
    return f"{HEAD}\n{text}{END}\n"


def _rendered(module: InstalledModule) -> dict[str, Any]:
    optional = {
        "declared": module.declared or None,
        "version": module.version or None,
        "path": module.path,
        "dev": str(module.dev) if module.dev else None,
        "packages_hash": module.packages_hash,
        "approved_at": module.approved_at.astimezone(UTC).isoformat() if module.approved_at else None,
        "permissions": module.permissions,
        "agents": {name: _limit(limit) for name, limit in module.agents.items()} or None,
    }
    return {
        "enabled": module.enabled,
        "source": module.source,
        "trust": str(module.trust),
        "hash": module.hash,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _limit(limit: AgentLimit) -> dict[str, Any]:
    values = {"paths": limit.paths, "capabilities": limit.capabilities, "network": limit.network}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value is not None
    }


def _modules(root: Value) -> dict[str, InstalledModule]:
    modules = root.fields(("modules",), ("modules",))["modules"].named(NAME, "This is not a valid name of a module.")
    return {name: _module(name, value) for name, value in modules.items()}


def _module(name: str, value: Value) -> InstalledModule:
    fields = value.fields(_FIELDS, _REQUIRED)
    return InstalledModule(
        name=name,
        enabled=fields.read("enabled", Value.boolean, True),
        source=fields["source"].line_of_text(),
        trust=fields["trust"].one_of(Trust),
        hash=_digest(fields["hash"]),
        declared=fields.read("declared", Value.boolean, False),
        version=fields.read("version", Value.line_of_text, ""),
        path=fields.read("path", Value.line_of_text, None),
        dev=fields.read("dev", _folder, None),
        packages_hash=fields.read("packages_hash", _digest, None),
        approved_at=fields.read("approved_at", Value.moment, None),
        permissions=fields.read("permissions", _permissions, None),
        agents=fields.read("agents", _agents, {}),
    )


def _digest(value: Value) -> str:
    return value.matching(_HASH, "`sha256:` and 64 digits 0-9a-f are expected.")


def _folder(value: Value) -> Path:
    if not (text := value.line_of_text()).startswith("/"):
        value.refuse("An absolute path is expected.")
    return Path(text)


def _agents(value: Value) -> dict[str, AgentLimit]:
    named = value.named(NAME, "This is not a valid name of an agent.")
    return {name: read_limit(limit) for name, limit in named.items()}


def _permissions(value: Value) -> dict[str, Any]:
    value.named()
    permissions: dict[str, Any] = value.raw
    return permissions
