"""Backups of earlier versions: a second snapshot next to that of the files of a part, with a manifest and copies under numbers.

A line of the manifest with `content` is about something that moved while restic read the files, or about a database: `content`
is the number of its copy, empty for folders and links, which the line itself describes.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.base.files import kind_of, walk_tree, writable_parent
from parachute.base.folders import Folder
from parachute.ops.backup.backups import CLOSED
from parachute.ops.backup.models import Damaged
from parachute.ops.backup.repository import Node, Snapshot

_MANIFEST, _CONTENT = "manifest.jsonl", "content"
_UNBELIEVABLE = (LookupError, ValueError, TypeError, AttributeError, StopIteration, RecursionError, InvalidInput)


def is_manifest(snapshot: Snapshot, node: Node) -> bool:
    """Return whether a file is the manifest that an earlier version wrote."""
    return CLOSED in snapshot.tags and node.path == f"{snapshot.paths[0]}/{_MANIFEST}"


def put_in_place(closed: Path, root: Path, part: str) -> list[str]:
    """Put the copies in `closed` into the restored files of a part; those of databases. Errors: Damaged, OSError."""
    for path, status in walk_tree(closed):
        if kind_of(status) not in ("file", "dir"):
            # A link would bring in a file of this computer.
            raise Damaged(f"What closes this backup holds {path!r}, which is no file.", "Take an older backup.")
    found, folders = [], []
    try:
        with Folder.open(closed) as top, top.file(_MANIFEST) as lines:
            if (about := json.loads(next(lines)))["part"] != part:
                raise ValueError(f"it is one of {about['part']}")
            for line in lines:
                entry = json.loads(line)
                if entry.get("content") is None or entry["path"] == ".":
                    continue
                _put(closed / _CONTENT, root, entry)
                if entry["kind"] == "folder":
                    folders.append(entry)
                elif entry["kind"] == "file" and entry.get("modified") is None:
                    found.append(str(entry["path"]))
        # From the inside out: a folder that is closed to us is so only once it is complete.
        for entry in reversed(folders):
            with Folder.open(root) as top, top.folder(entry["path"]) as folder:
                os.fchmod(folder.fileno(), stat.S_IMODE(entry["mode"]))
    except (*_UNBELIEVABLE, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
            raise
        raise Damaged(f"The manifest of this backup cannot be believed: {error}.", "Take an older backup.") from error
    return found


def _put(content: Path, root: Path, entry: dict[str, Any]) -> None:
    with writable_parent(root, entry["path"]) as (folder, name):
        if entry["kind"] not in ("file", "folder", "link"):
            raise ValueError(f"{entry['path']!r} is of no kind that there is")
        there = folder.status(name)
        if entry["kind"] != "folder" or (there and not stat.S_ISDIR(there.st_mode)):
            folder.remove_tree(name)
        if entry["kind"] == "folder":
            folder.folder(name, make=True).close()
        elif entry["kind"] == "link":
            folder.make_link(name, entry["target"])
        else:
            if not entry["content"].isdigit():
                raise ValueError(f"{entry['path']!r} has its content in no place that there is")
            with Folder.open(content) as source:
                source.rename(entry["content"], folder, name)
            with folder.file(name) as file:
                os.fchmod(file.fileno(), stat.S_IMODE(entry["mode"]))
                if (modified := entry.get("modified")) is not None:
                    os.utime(file.fileno(), ns=(modified, modified))
