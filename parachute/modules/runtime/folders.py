"""Folders of the vault that a module is given, made and compared without following links.

An agent that writes in the vault could otherwise put a link in the place of a folder, and open the rest of the home to a module.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput, NotAllowed
from parachute.base.folders import Folder
from parachute.supervisor.specifications.host import HostSpecification


def make(specification: HostSpecification) -> None:
    """Make the folders that the module writes; error: InvalidInput for a link or a file in the place of one."""
    for path in specification.write:
        try:
            _identity(specification.vault, path, make=True)
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be given to the module {specification.name}: {error.strerror}.", key="folder_not_given"
            ) from error


def check(specification: HostSpecification, seen: Mapping[str, Any]) -> None:
    """Check that a host was given the very folders that are in the vault; error: NotAllowed.

    `seen` is what the host says of each: [device, inode]. It said so before the module was loaded.
    """
    for path in (*specification.read, *specification.write):
        if path not in seen:
            continue
        try:
            expected = _identity(specification.vault, path, make=False)
        except OSError:
            expected = None
        if seen[path] != expected:
            raise NotAllowed(
                f"{path} is not a folder of the vault itself but a link, or was replaced just now, so that the module "
                f"{specification.name} does not start.",
                "Move the link away, or write the folder that it leads to into the vault.",
                key="folder_is_a_link",
            )


def _identity(vault: str, path: str, *, make: bool) -> list[int]:
    inside = Path(path).relative_to(vault)
    with Folder.open(Path(vault)) as root:
        if make:
            root.folder(inside, make=True, mode=0o777).close()
        return list(root.identity(inside))
