"""The folder of versions: an environment for each, and a link to the one that is started."""

import os
import sys
from pathlib import Path

import parachute
from parachute.base.files import private_folder, remove_tree
from parachute.config.settings.home import Home
from parachute.ops.updates.models import Version


class Versions:
    """The versions of one installation, outside of its state: a restore replaces that, and no backup needs them."""

    def __init__(self, home: Home) -> None:
        data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
        self.folder = Path(data) / "parachute" / home.installation / "versions"
        self.current = self.folder.with_name("current")
        """The link to the version that is started; it is not there before the first update."""

    def path(self, name: str) -> Path:
        """Return the path of a version, whether it exists or not."""
        return self.folder / name

    def find(self, name: str, source: str = "") -> Version | None:
        """A version that is complete, or None."""
        path = self.path(name)
        return Version(name, path, source) if (path / "complete").exists() else None

    def make_folder(self) -> Path:
        """The folder, made if need be; error: OSError."""
        return private_folder(self.folder)

    def link(self, version: Version) -> None:
        """Make a version the one that is started, in one step; error: OSError."""
        private_folder(self.current.parent)
        new = self.current.with_name("current.new")
        new.unlink(missing_ok=True)
        new.symlink_to(version.prefix)
        new.replace(self.current)

    def keep_only(self, *versions: Version) -> None:
        """Remove all others; error: OSError."""
        kept = {version.prefix for version in versions}
        if self.folder.is_dir():
            for path in self.folder.iterdir():
                if path not in kept:
                    (path / "complete").unlink(missing_ok=True)
                    remove_tree(path)


def running() -> Version:
    """The version that this process is."""
    return version_at(Path(sys.prefix), parachute.__version__)


def version_at(prefix: Path, number: str) -> Version:
    """The version of an environment; one that no update has made is called by its number."""
    named = prefix / "complete"
    if named.exists():
        return Version(prefix.name, prefix, named.read_text().strip())
    clone = checkout() if prefix == Path(sys.prefix) else None
    return Version(number, prefix, str(clone or ""))


def checkout() -> Path | None:
    """The clone of the repository that this program runs from; None if it was installed otherwise."""
    root = Path(parachute.__path__[0]).parent
    return root if (root / "pyproject.toml").exists() and (root / ".git").exists() else None
