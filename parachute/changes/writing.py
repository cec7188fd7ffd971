"""Writing planned changes into the owner's folder: what is there must still be what was planned for."""

import errno
import hashlib
import os
import stat
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct, field

from parachute.base.folders import Folder
from parachute.base.replacing import Replacement, unfinished_name
from parachute.base.signatures import signature_of
from parachute.base.steering.names import REPOSITORY
from parachute.base.syncing import MANY_FILES, sync_file_system
from parachute.base.unfinished import UNFINISHED
from parachute.changes.models import Reason
from parachute.changes.planning import Change
from parachute.changes.present import status_of
from parachute.changes.together import database_of, in_use
from parachute.changes.views import Left

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)


class Meanwhile(Exception):
    """Something else is there than was planned for."""


class InUse(Exception):
    """A running program has it open."""


class Outcome(Struct):
    """Paths written with their state, paths left with the reason, and the error at which all ended."""

    written: dict[str, Left] = field(default_factory=dict)
    left: dict[str, Reason | None] = field(default_factory=dict)
    error: OSError | None = None


def write(project: Folder, changes: Sequence[Change]) -> Outcome:
    """Write one change after the other, in this order; whatever is in the outcome is on the disk."""
    outcome, folders = Outcome(), set[str]()
    are_many, batch = len(changes) > MANY_FILES, {each.path for each in changes}
    is_torn = False
    for change in changes:
        if outcome.error is not None or (is_torn and _is_of_commit(change)):
            outcome.left[change.path] = None if outcome.error is not None else "commit"
            continue
        try:
            with _reachable(project, change.path):
                _write(project, change, batch, synced=not are_many)
        except Meanwhile:
            outcome.left[change.path] = "conflict"
        except InUse:
            outcome.left[change.path] = "in_use"
        except OSError as error:
            outcome.left[change.path] = None if change.after.kind == "none" and _is_folder(change) else "failed"
            if error.errno in _FULL:
                outcome.error = error
        else:
            status = status_of(project, change.path)
            outcome.written[change.path] = Left(change.after, signature_of(status) if status else None)
            folders.add(change.path.rpartition("/")[0])
            if change.content is not None:
                change.content.drop()
        is_torn = is_torn or (_is_of_commit(change) and change.path in outcome.left)
    if are_many:
        sync_file_system(project.fileno())
        return outcome
    for path in folders:
        with suppress(OSError), project.folder(path) as folder:  # it may be gone itself
            folder.sync()
    return outcome


def remove_unfinished(project: Folder, paths: Sequence[str]) -> None:
    """Remove what was being written at these paths when the server died."""
    by_parent: dict[str, set[str]] = {}
    for parent, _, name in (path.rpartition("/") for path in paths):
        by_parent.setdefault(parent, set()).add(f".{name[:60]}.")
    for parent, begins in by_parent.items():
        with suppress(OSError), project.folder(parent) as folder:
            for name in [entry.name for entry in folder.entries()]:
                if UNFINISHED.fullmatch(name) and name[:-12] in begins:
                    folder.remove(name)


def _is_of_commit(change: Change) -> bool:
    """Return whether a part of a commit; folders of references that are not empty stay without harm."""
    return change.path.startswith(f"{REPOSITORY}/") and not _is_folder(change)


def _is_folder(change: Change) -> bool:
    return change.before.state.kind == "folder"


def _write(project: Folder, change: Change, batch: Container[str], *, synced: bool) -> None:
    path, before, after = change.path, change.before.state, change.after
    if after.kind == "file":
        with project.replacement(path, 0o600) as new:
            if not _is_taken(new, change):
                _copy(new, change)
            new.dress(after.mode, after.modified_ns)
            if synced:
                new.sync()
            _make_way(project, change, batch)
            if not new.commit(None if before.kind in ("none", "folder") else "anything", synced=False):
                raise Meanwhile
    elif after.kind == "link":
        _place_link(project, change, batch)
    elif after.kind == "folder":
        known = _make_way(project, change, batch)
        if before.kind != "folder":
            if known is not None and not project.remove_known(path, known):
                raise Meanwhile
            try:
                project.make_folder(path)
            except FileExistsError as error:
                raise Meanwhile from error
        _set_mode(project, path, after.mode)
    else:
        known = _check(project, change, batch)
        if before.kind == "folder":
            project.remove_folder(path)
        elif known is not None and not project.remove_known(path, known):
            raise Meanwhile


def _is_taken(new: Replacement, change: Change) -> bool:
    content = change.content
    return content is not None and content.is_movable and content.path is not None and new.take(content.path)


def _copy(new: Replacement, change: Change) -> None:
    digest = hashlib.sha256()
    for chunk in change.content.chunks() if change.content else ():
        digest.update(chunk)
        new.write(chunk)
    if digest.hexdigest() != change.after.hash:
        raise Meanwhile  # a power cut, or a broken disk, has changed what was kept


def _place_link(project: Folder, change: Change, batch: Container[str]) -> None:
    text = os.fsdecode(b"".join(change.content.chunks()) if change.content else b"")
    parent, _, name = change.path.rpartition("/")
    temporary = f"{parent}/{unfinished_name(name)}".lstrip("/")
    project.make_link(temporary, text)
    try:
        _make_way(project, change, batch)
        if change.before.state.kind in ("none", "folder"):
            if not project.rename(temporary, project, change.path, replacing=False):
                raise Meanwhile
        else:
            project.rename(temporary, project, change.path)
    finally:
        project.remove(temporary)


def _make_way(project: Folder, change: Change, batch: Container[str]) -> os.stat_result | None:
    """See that what is there is what was planned for, and return its status; a folder goes, for a file in its place."""
    known = _check(project, change, batch)
    if _is_folder(change) and change.after.kind != "folder":
        try:
            project.remove_folder(change.path)
        except OSError as error:
            raise Meanwhile from error
    return known


def _check(project: Folder, change: Change, batch: Container[str]) -> os.stat_result | None:
    """See that what is there is what was planned for; its status."""
    status, planned = status_of(project, change.path), change.before
    # A new file may belong to a database that is there, or to a commit.
    may_matter = status is not None or database_of(change.path) != change.path or _is_of_commit(change)
    is_used = (
        may_matter and not _is_folder(change) and change.after.kind != "folder" and in_use(project, change.path, batch)
    )
    # Afterwards: to find out who uses a file takes long enough for an editor to write it.
    status = status_of(project, change.path)
    if _is_folder(change):
        if status is None or not stat.S_ISDIR(status.st_mode):
            raise Meanwhile
    elif (signature_of(status) if status else None) != planned.signature:
        raise Meanwhile
    if is_used:
        raise InUse
    return status


def _set_mode(project: Folder, path: str, mode: int) -> None:
    descriptor = project.path_descriptor(path)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise Meanwhile
        try:
            os.fchmod(descriptor, mode)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            # Linux changes the mode of what a descriptor stands for, though it may not be read.
            os.chmod(f"/proc/self/fd/{descriptor}", mode)  # noqa: PTH101
    finally:
        os.close(descriptor)


@contextmanager
def _reachable(project: Folder, path: str) -> Iterator[None]:
    """The folder above a path exists, and can be written to within the block."""
    parent = path.rpartition("/")[0]
    status = status_of(project, parent) if parent else None
    if parent and status is None:
        project.folder(parent, make=True, mode=0o755).close()
    if status is None or status.st_mode & stat.S_IRWXU == stat.S_IRWXU or not stat.S_ISDIR(status.st_mode):
        yield
        return
    mode = stat.S_IMODE(status.st_mode)
    _set_mode(project, parent, mode | stat.S_IRWXU)
    try:
        yield
    finally:
        _set_mode(project, parent, mode)
