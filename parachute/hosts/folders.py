"""Folders of the vault that a module is given: made and looked at without following links.

An agent that writes in the vault could otherwise put a link in the place of a folder, and open the rest of the home to a module.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parachute.errors import InvalidInput, NotAllowed
from parachute.supervisor.host_specification import HostSpecification

_PATH_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_PATH") else os.O_RDONLY | os.O_NOFOLLOW


def make(specification: HostSpecification) -> None:
    """Make the folders that the module writes; error: InvalidInput for a link or a file in the place of one."""
    for path in specification.write:
        try:
            _identity(specification.vault, path, make=True)
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be given to the module {specification.name}: {error.strerror}."
            ) from error


def check(specification: HostSpecification, seen: Mapping[str, Any]) -> None:
    """See that a host was given the very folders that are in the vault; error: NotAllowed.

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
            )


def _identity(vault: str, path: str, *, make: bool) -> list[int]:
    descriptor = os.open(vault, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in Path(path).relative_to(vault).parts:
            if make:
                try:
                    os.mkdir(part, dir_fd=descriptor)
                except FileExistsError:
                    pass
            below = os.open(part, _PATH_ONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
            # O_NOFOLLOW with O_PATH opens a link itself.
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISLNK(mode) or (make and not stat.S_ISDIR(mode)):
                raise NotADirectoryError(0, "it is a link or a file")
        status = os.fstat(descriptor)
        return [status.st_dev, status.st_ino]
    finally:
        os.close(descriptor)
