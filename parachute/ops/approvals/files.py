"""The files of approvals of an installation, and what each says."""

import json
from functools import partial
from pathlib import Path

from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.files import read_regular
from parachute.capabilities.plugins.registry import Registry as Plugins
from parachute.config.settings.home import Home
from parachute.modules.registry.registry import Registry as Modules
from parachute.ops.approvals.service import ApprovalFile, Found
from parachute.security.keys.service import Keys

_LIMIT = 16 * 1024
_HASHES = (
    ("hooks", "hooks-approved.json", "command"),
    ("mcps", "mcp-approved.json", "server"),
    ("mcps", "mcp-words-approved.json", "server"),
    ("schedule", "agents-approved.json", "agent"),
    ("skills", "skills-approved.json", "skill"),
    ("prompts", "prompts-approved.json", "file"),
)


def approval_files(home: Home) -> list[ApprovalFile]:
    """Return all of them."""
    root = home.root
    hashes = [
        ApprovalFile(subject, root / name, partial(_hashes, root / name, field)) for subject, name, field in _HASHES
    ]
    return [
        *hashes,
        ApprovalFile("backups", root / "backup" / "kit.json", partial(_kit, root / "backup" / "kit.json")),
        ApprovalFile("keys", root / "keys.yaml", partial(_keys, root)),
        ApprovalFile("modules", root / "modules.yaml", partial(_modules, root / "modules.yaml")),
        ApprovalFile("plugins", root / "plugins.json", partial(_plugins, root / "plugins.json")),
    ]


def _hashes(path: Path, field: str) -> Found:
    approved = ApprovedHashes(path, field, field, "")
    return {str(entry[field]): digest for digest, entry in approved.entries().items()}


def _kit(path: Path) -> Found:
    """The emergency kit that has opened the backups; without one nobody knows that they can be opened."""
    try:
        document = json.loads(read_regular(path, _LIMIT))
        return {"emergency kit": f"{document['identity']} {document['opened_at']}"}
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return {}


def _keys(root: Path) -> Found:
    return {f"{key.label} ({key.id})": " ".join(map(str, key.scopes)) for key in Keys(root).list()}


def _modules(path: Path) -> Found:
    found = Modules(path).load().values()
    return {module.name: f"{module.hash}{'' if module.enabled else ' disabled'}" for module in found}


def _plugins(path: Path) -> Found:
    found = Plugins(path).load().values()
    parts = {each.slug: {"texts": each.texts, "programs": each.programs} for each in found}
    return {slug: " ".join(f"{part} {what}" for part, what in each.items() if what) for slug, each in parts.items()}
