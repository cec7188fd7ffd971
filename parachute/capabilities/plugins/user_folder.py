"""The plugins in `~/.claude/plugins`, which the user put there for Claude Code; each is copied before anything of it is used."""

from pathlib import Path

from parachute.base.clock import now
from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder
from parachute.base.folders import Folder
from parachute.capabilities.plugins.contents import read_contents
from parachute.capabilities.plugins.fetching import LIMITS
from parachute.capabilities.plugins.manifest import FILE
from parachute.capabilities.plugins.models import Installed
from parachute.chat.workspaces.models import is_slug
from parachute.modules.trees.hashing import copy_tree, read_tree
from parachute.modules.trees.known import KnownTrees

_MOST = 50


class UserFolder:
    """`home` is the user's folder, None if its plugins do not count; every method waits for the disk."""

    def __init__(self, home: Path | None) -> None:
        self._root = home / ".claude/plugins" if home else None
        self._known = KnownTrees()

    def names(self) -> list[str]:
        """The folders in it that hold a plugin, and can be the name of one."""
        if self._root is None:
            return []
        try:
            with Folder.open(self._root) as folder:
                found = [each.name for each in folder.entries() if each.is_dir(follow_symlinks=False)]
                return sorted(name for name in found if is_slug(name) and _holds_plugin(folder, name))[:_MOST]
        except OSError:
            return []

    def path(self, name: str) -> Path:
        """The folder of one of them."""
        assert self._root is not None
        return self._root / name

    def hash(self, name: str) -> str:
        """The hash of one as it is now; what has not been touched since is not read again. Error: ParachuteError, OSError."""
        return self._known.tree(self.path(name), lambda folder: read_tree(folder, limits=LIMITS)).hash

    def stage(self, name: str, version: Path) -> Installed:
        """Copy one into the new folder `files` in `version`; its entry, in which nothing is approved. Errors: ParachuteError."""
        files = private_folder(version) / "files"
        tree = copy_tree(self.path(name), files, limits=LIMITS)
        return Installed(name, read_contents(files, name, tree).name, "", "", tree.hash, now(), source="user")


def _holds_plugin(folder: Folder, name: str) -> bool:
    try:
        return folder.status(f"{name}/{FILE}") is not None
    except (OSError, ParachuteError):
        return False
