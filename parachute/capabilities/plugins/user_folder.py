"""The plugins in `~/.claude/plugins`, which the user has for Claude Code; each is copied before anything of it is used.

Claude Code keeps them in `cache/MARKETPLACE/PLUGIN/VERSION`, and says in `installed_plugins.json` which of these count. What lies
in `marketplaces` can be installed there, and is not. Folders of the user's own lie beside these.
"""

from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from parachute.base.clock import now
from parachute.base.documents import Bounds, load_json
from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder
from parachute.base.folders import Folder
from parachute.capabilities.plugins.contents import read_contents
from parachute.capabilities.plugins.fetching import LIMITS
from parachute.capabilities.plugins.manifest import FILE
from parachute.capabilities.plugins.models import Installed
from parachute.capabilities.plugins.registry import MOST
from parachute.chat.workspaces.models import is_slug, slug_of
from parachute.modules.trees.hashing import copy_tree, read_tree
from parachute.modules.trees.known import KnownTrees

_LIST = "installed_plugins.json"
_BOUNDS = Bounds(size=4 * 1024 * 1024)
_PLACE = (".claude", "plugins")


class Found(NamedTuple):
    """The folders of plugins by the names that these have here, and the reasons why others are not used."""

    paths: dict[str, Path]
    left_out: dict[str, str]


class UserFolder:
    """`home` is the user's folder; every method waits for the disk. Several threads may look at once."""

    def __init__(self, home: Path) -> None:
        self._root = home.joinpath(*_PLACE)
        self._known = KnownTrees()

    def look(self) -> Found:
        """The plugins that are there now."""
        found = Found({}, {})
        try:
            with Folder.open(self._root) as folder:
                self._find(folder, found)
        except OSError:
            pass  # there is none
        for name in sorted(found.paths)[MOST:]:
            del found.paths[name]
            found.left_out[name] = f"There are more than {MOST} plugins."
        return found

    def hash(self, path: Path) -> str:
        """The hash of one as it is now; what has not been touched since is not read again. Error: ParachuteError, OSError."""
        return self._known.tree(path, lambda folder: read_tree(folder, limits=LIMITS)).hash

    def _find(self, folder: Folder, found: Found) -> None:
        for each in sorted(folder.entries(), key=lambda entry: entry.name):
            if each.is_dir(follow_symlinks=False) and _holds_plugin(folder, each.name):
                self._enter(each.name, each.name, found)
        for full, listed in sorted(_listed(folder, found).items()):
            name, _, market = full.partition("@")
            if (path := _path_of(listed)) is None:
                found.left_out[full] = f"{_LIST} names no folder in ~/.claude/plugins for it."
            elif not _holds_plugin(folder, path):
                found.left_out[full] = f"{path} holds no {FILE}."
            else:
                self._enter(f"{name}-{market}" if slug_of(name, ()) in found.paths else name, path, found)

    def _enter(self, name: str, path: str, found: Found) -> None:
        free = name if is_slug(name) and name not in found.paths else slug_of(name, found.paths)
        found.paths[free] = self._root / path


def stage(name: str, path: Path, version: Path) -> Installed:
    """Copy a plugin into the new folder `files` in `version`; its entry, in which nothing is approved. Errors: ParachuteError."""
    files = private_folder(version) / "files"
    tree = copy_tree(path, files, limits=LIMITS)
    return Installed(name, read_contents(files, name, tree).name, "", "", tree.hash, now(), source="user")


def _listed(folder: Folder, found: Found) -> dict[str, Any]:
    try:
        document = load_json(folder.read(_LIST, _BOUNDS.size), _BOUNDS)
        plugins = document["plugins"]
        return {str(full): entry for full, entry in plugins.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ParachuteError, AttributeError, KeyError, TypeError):
        found.left_out[_LIST] = "It cannot be read, so no plugin that it lists is used."
        return {}


def _path_of(listed: Any) -> str | None:
    """The folder of an installed plugin, below `~/.claude/plugins`; the owner's own one goes before those of single projects."""
    entries = [each for each in (listed if isinstance(listed, list) else [listed]) if isinstance(each, dict)]
    entries.sort(key=lambda each: each.get("scope", "user") != "user")
    for entry in entries:
        text = entry.get("installPath")
        # The same folder may have another name on the machine that it was copied from.
        parts = PurePosixPath(text).parts if isinstance(text, str) else ()
        ends = [number for number in range(2, len(parts)) if parts[number - 2 : number] == _PLACE]
        if ends and ".." not in parts:
            return "/".join(parts[ends[-1] :])
    return None


def _holds_plugin(folder: Folder, path: str) -> bool:
    try:
        return folder.status(f"{path}/{FILE}") is not None
    except (OSError, ParachuteError):
        return False
