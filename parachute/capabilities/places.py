"""The folders in which agents and skills are looked for."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from parachute.base.folders import Folder
from parachute.capabilities.texts import Source


class Place(Struct, frozen=True):
    """A folder below another in which no part of a path may be a link."""

    root: Path
    folder: str
    source: Source

    def open(self) -> Folder:
        """Open the folder; error: OSError."""
        # The folder of a project lies where agents may write, and could put a link in its place at any time.
        root = Folder.open_unlinked(self.root.resolve()) if self.source == "project" else Folder.open(self.root)
        with root:
            return root.folder(self.folder)

    def path(self, name: str) -> Path:
        """The path of what has a name in it."""
        return self.root / self.folder / name


def places(
    vault: Path, kind: str, others: tuple[str, ...], directory: Path | None, home: Path | None
) -> Iterator[Place]:
    """The places of a kind, those first that win where two have something of one name.

    `others` are further folders of the vault; `directory` is a project's, and `home` that of the user, if it counts.
    """
    for folder in (f".claude/{kind}", *others):
        yield Place(vault, folder, "vault")
    if home is not None:
        yield Place(home, f".claude/{kind}", "user")
    if directory is not None and directory.resolve() != vault.resolve():
        yield Place(directory, f".claude/{kind}", "project")
