"""Plans of changes to the vault, each with what it replaces, so that it can be taken back."""

import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound
from parachute.base.folders import Folder
from parachute.base.signatures import signature_of
from parachute.base.steering.judging import folded, holds_obeyed, is_told_in_vault
from parachute.changes.blobs import Blobs, Staged, TooLarge
from parachute.changes.models import NOTHING, State
from parachute.changes.obeyed import is_bare, reason_of
from parachute.changes.ordering import in_order
from parachute.changes.planning import Change
from parachute.changes.present import Present, look
from parachute.core.files import said
from parachute.files.models import Expected
from parachute.security.keys.models import Caller, check_confirmed

Parts = tuple[str, ...]
Plan = Callable[[Blobs, Folder], Sequence[Change]]

MOST_ENTRIES = 10_000
"""Files and folders that one change moves or removes at most."""

ANYTHING = Expected()
_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_PERMISSIONS = 0o777


class _Looking(Struct):
    """Looks at what is there, and drops all copies if the plan comes to nothing; `left` is how many bytes may be kept."""

    blobs: Blobs
    vault: Folder
    left: int

    def at(self, path: str) -> Present:
        """Return the state of a path, with a copy. Errors: Conflict, OSError."""
        try:
            found = look(self.blobs, self.vault, path, self.left)
        except TooLarge as error:
            raise Conflict(
                f"{path} is larger than what is kept to take a change back.",
                "`parachute config set changes.keep_megabytes` allows more; or change it on the computer itself.",
                key="too_much_to_keep",
            ) from error
        self.left -= found.state.size
        return found


def writing(path: Parts, content: Staged, expected: Expected, keep: int) -> Plan:
    """Write a file, in place of the one that is there as expected; the same content again changes nothing."""

    def plan(blobs: Blobs, vault: Folder) -> Sequence[Change]:
        name = "/".join(path)
        with said(path):
            vault.status(name)  # a link on the way is an error of its own
            before = _Looking(blobs, vault, keep).at(name)
        try:
            if before.state.kind not in ("none", "file"):
                raise InvalidInput(f"path: {name} is no regular file.", key="not_a_file")
            expected.check(name, before.signature)
            expected.check_content(name, before.state.hash)
        except BaseException:
            before.drop()
            raise
        if before.state.kind == "file" and (before.state.hash, before.state.size) == (content.hash, content.size):
            before.drop()
            return []
        mode = before.state.mode & _PERMISSIONS if before.state.kind == "file" else _FILE_MODE
        after = State("file", mode, content.hash, content.size, time.time_ns())
        try:
            for depth in range(1, len(path) + 1):
                if vault.status("/".join(path[:depth])) is None:
                    check_obeyed(vault, path[:depth])
            if before.state.kind == "file":
                check_obeyed(vault, path)
        except BaseException:
            before.drop()
            raise
        return [Change(name, before, after, content)]

    return plan


def allowed(plan: Plan, caller: Caller, imported: Collection[str]) -> Plan:
    """The same plan, refused where the caller may not change what is on one of its paths; errors: those of `check_told`."""

    def inner(blobs: Blobs, vault: Folder) -> Sequence[Change]:
        changes = plan(blobs, vault)
        try:
            check_told((each.path for each in changes), caller, imported)
        except BaseException:
            for each in changes:
                each.before.drop()
            raise
        return changes

    return inner


def check_told(paths: Iterable[str], caller: Caller, imported: Collection[str]) -> None:
    """Refuse to change what agents are told to whoever may not change prompts; errors: NotAllowed, ParachuteError (`confirmation_needed`).

    `imported` are the files that agents are told whatever they are called.
    """
    told = next((path for path in paths if is_told_in_vault(path) or folded(path) in imported), None)
    if told is None:
        return
    if not caller.may("prompts", "admin"):
        raise NotAllowed(
            f"path: agents are told what is in {told[:200]!r}, and this caller may not change prompts.",
            "Write it on the computer itself, or make a key that may: parachute keys create NAME --scope vault:write --scope prompts:admin",
            key="told_to_agents",
        )
    check_confirmed(caller)


def check_obeyed(vault: Folder, path: Parts) -> None:
    """Refuse names that git, editors and shells of the owner's obey, and a folder that git would take for a repository."""
    above, name = "/".join(path[:-1]), path[-1]
    try:
        with vault.folder(above or ".") as folder:
            there = {entry.name for entry in folder.entries()}
    except FileNotFoundError:
        there = set()
    names = there | {name}
    if holds_obeyed("/".join(path[:-1])) or reason_of(name, names, "".join(path[-2:-1])):
        raise NotAllowed(
            f"path: programs of yours obey {name!r} as soon as it is there.",
            "Write it on the computer itself.",
            key="obeyed",
        )
    if is_bare(names) and not is_bare(there):
        raise NotAllowed(
            f"path: with {name!r} git would take {above or 'the vault'} for a repository, and obey what is in it.",
            "Make repositories on the computer itself: git init",
            key="obeyed",
        )


def check_target(vault: Folder, name: str, expected: Expected) -> None:
    """Refuse to write where there is something else than a file, or not what is expected. Errors: OSError, InvalidInput, Conflict."""
    status = vault.status(name)
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"path: {name} is no regular file.", key="not_a_file")
    expected.check(name, signature_of(status) if status else None)


def making_folder(path: Parts) -> Plan:
    """Make a folder, and those above it that are missing; one that is there already is left as it is."""

    def plan(blobs: Blobs, vault: Folder) -> Sequence[Change]:
        changes = []
        for depth in range(1, len(path) + 1):
            name = "/".join(path[:depth])
            with said(path):
                before = _Looking(blobs, vault, 0).at(name) if vault.status(name) is None else None
                if before is None:
                    vault.folder(name).close()
                    continue
                check_obeyed(vault, path[:depth])
            changes.append(Change(name, before, State("folder", _FOLDER_MODE)))
        return changes

    return plan


def removing(path: Parts, keep: int, expected: Expected = ANYTHING) -> Plan:
    """Remove a file, a link, or a folder with all that is in it."""

    def plan(blobs: Blobs, vault: Folder) -> Sequence[Change]:
        name = "/".join(path)
        with said(path):
            found = _tree(_Looking(blobs, vault, keep), path)
        try:
            expected.check_content(name, found[name].state.hash)
        except Conflict:
            for each in found.values():
                each.drop()
            raise
        return in_order(Change(name, before, NOTHING) for name, before in found.items())

    return plan


def moving(path: Parts, target: Parts, keep: int) -> Plan:
    """Move a file or a folder with all that is in it to a place where nothing is."""
    if target[: len(path)] == path:
        raise InvalidInput("to: a folder cannot be moved into itself.", key="moved_into_itself")

    def plan(blobs: Blobs, vault: Folder) -> Sequence[Change]:
        old, new = "/".join(path), "/".join(target)
        with said(target):
            if vault.status(new) is not None:
                raise Conflict(f"to: there is {new} already.", "Choose another name.", key="already_there")
            check_obeyed(vault, target)
        with said(path):
            found = _tree(_Looking(blobs, vault, keep), path)
            there = {name: _Looking(blobs, vault, 0).at(new + name[len(old) :]) for name in found}
        changes = [Change(name, before, NOTHING) for name, before in found.items()]
        for name, before in found.items():
            after = replace(before.state, mode=before.state.mode & _PERMISSIONS)
            changes.append(Change(new + name[len(old) :], there[name], after, before.content))
        return in_order(changes)

    return plan


def _tree(looking: _Looking, path: Parts) -> dict[str, Present]:
    """Return the state of a path and everything below it. Errors: NotFound, InvalidInput if it cannot be brought back, OSError."""
    top = "/".join(path)
    found: dict[str, Present] = {}
    try:
        # All names first: nothing is copied where there are too many.
        for name in list(_names(looking.vault, top)):
            found[name] = looking.at(name)
            if found[name].state.kind == "other":
                raise InvalidInput(f"path: {name} is a socket, a pipe or a device.", key="not_a_file")
    except BaseException:
        for each in found.values():
            each.drop()
        raise
    return found


def _names(vault: Folder, top: str) -> Iterator[str]:
    status = vault.status(top)
    if status is None:
        raise NotFound(f"path: {top} does not exist.", key="path_not_found")
    yield top
    if stat.S_ISDIR(status.st_mode):
        with vault.folder(top) as folder:
            for place, _, entries in folder.walk(most=MOST_ENTRIES):
                prefix = f"{top}/{place}/" if place else f"{top}/"
                yield from (f"{prefix}{entry.name}" for entry in entries)
