"""Finds whatever can be seen and written, also in unlikely places."""

import os
from pathlib import Path


def found() -> dict[str, list[str]]:
    """Paths by what they are: `writable` folders, `sockets`, and `files` below the homes and of other disks."""
    writable: list[str] = []
    sockets: list[str] = []
    files: list[str] = []
    for place, folders, names in os.walk("/"):
        folder = Path(place)
        folders[:] = [name for name in folders if str(folder / name) not in ("/proc", "/sys")]
        if os.access(folder, os.W_OK):
            writable.append(place)
        paths = [folder / name for name in names]
        sockets += [str(path) for path in paths if path.is_socket()]
        if place.startswith(("/home", "/root", "/srv")):
            files += map(str, paths)
    return {"writable": sorted(writable), "sockets": sorted(sockets), "files": sorted(files)}
