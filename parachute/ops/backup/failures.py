"""Errors of restic, as one sentence and what to do; its exit codes say as much only since version 0.17."""

import contextlib
import json
import os
import re
import socket

from parachute.base.errors import ParachuteError
from parachute.ops.backup.access import Access
from parachute.ops.backup.models import BackupFailed, Damaged, Locked, RepositoryMissing, WrongPassword

_MISSING, _LOCKED, _PASSWORD = 10, 11, 12
_STRANGER = r"host key verification failed|remote host identification has changed"
_NOT_LET_IN = r"subprocess ssh: \S+ permission denied \("
_UNREACHABLE = (
    r"connection refused|no such host|network is unreachable|no route to host|i/o timeout|connection timed out"
    r"|could not resolve|name or service not known|ssh: connect|tls handshake"
)
_SSH_ENDED = r"subprocess ssh|unable to start the sftp"
_REFUSED = (
    r"access ?denied|invalidaccesskeyid|signaturedoesnotmatch|403 forbidden|401 unauthorized|permission denied \("
)
_FULL = r"no space left on device|disk quota exceeded"
_CLOSED = r"permission denied|read-only file system|operation not permitted"
_ABSENT = r"is there a repository at the following location|repository does not exist|unable to open config file"
_DAMAGED = (
    r"ciphertext verification failed|invalid data returned|does not match (id|hash)|hash mismatch|unexpected pack"
    r"|not found in (the )?(repository|index)|pack .* (is )?(damaged|truncated|missing)|pack .* not referenced|load(ing)? tree"
    r"|the repository contains (damaged|errors)|invalid header|unable to load (tree|index|blob)|fatal: repository contains errors"
    r"|unexpected eof|load <"
)

_ROOM = "Free space there; `parachute backup prune` removes old backups from the repository."
_FAILED = (
    # Before the others: restic says of both that ssh has ended.
    (
        _STRANGER,
        "The machine at {where} is not the one that ssh knows by that name, or ssh does not know it yet.",
        "Connect to it once with `ssh`, and compare the key that it shows. If the key was changed on purpose, `ssh-keygen -R HOST` forgets the old one.",
    ),
    (
        _NOT_LET_IN,
        "The machine at {where} does not let your ssh key in.",
        "Write your public key into ~/.ssh/authorized_keys there; no password is asked for here.",
    ),
    (
        _UNREACHABLE,
        "The repository {where} cannot be reached: {last}.",
        "Check the network, and that the other machine is running.",
    ),
    (
        # restic often ends before it has handed on what ssh said.
        _SSH_ENDED,
        "The repository {where} cannot be reached, since ssh has ended: {last}.",
        "Connect with `ssh`, which names the reason: a host key that is new or another one, or a public key that is not in "
        "~/.ssh/authorized_keys there. No password is asked for here.",
    ),
    (
        _REFUSED,
        "The repository {where} refuses the credentials: {last}.",
        "backup.environment_file names the file with them.",
    ),
    (_FULL, "There is no room: {last}.", _ROOM),
)
"""Failures that are independent of the repository's contents: restic's words, the sentence, and the remedy."""


def is_broken_off(said: str) -> bool:
    """Return whether a restore has ended for a reason that has nothing to do with the content of the repository."""
    return any(_is(pattern, said) for pattern, *_ in _FAILED)


def is_gone(access: Access) -> bool:
    """Return whether a repository on this machine no longer exists, as when its disk was unplugged."""
    return access.folder is not None and not (access.folder / "config").exists()


def failure(access: Access, doing: str, code: int, said: str) -> ParachuteError:
    """The error for a restic that has ended with a code other than 0; `doing` completes `restic could not …`."""
    where, last = access.shown, _last(said)
    if code == _PASSWORD or _is("wrong password or no key found", said):
        hint = "Write the password from the emergency kit into that file; without it the backups cannot be read."
        return WrongPassword(f"The password in {access.password_file} does not open the repository {where}.", hint)
    for pattern, sentence, hint in _FAILED:
        if _is(pattern, said):
            return BackupFailed(sentence.format(where=where, last=last), hint)
    if code == _LOCKED or _is("already locked", said):
        return _locked(where, said)
    is_closed, is_damaged = _is(_CLOSED, said), _is(_DAMAGED, said)
    if code == _MISSING or (_is(_ABSENT, said) and not is_closed) or (is_damaged and is_gone(access)):
        return missing(access)
    if is_damaged:
        hint = "Look at the disk it lies on. `parachute backup verify` names what is damaged; older backups may be undamaged."
        return Damaged(f"The repository {where} is damaged: {last}.", hint)
    if is_closed:
        hint = "Check the owner of that folder, and whether it is read-only."
        return BackupFailed(f"The repository {where} cannot be used: {last}.", hint)
    return BackupFailed(f"restic could not {doing}: {last or f'it ended with {code}'}.")


def missing(access: Access) -> RepositoryMissing:
    """Return the error for a repository that is not there."""
    plug = "" if access.folder is None else "If it lies on a USB disk, plug that in. "
    hint = f"{plug}`parachute backup init` makes a new one there."
    return RepositoryMissing(f"There is no repository at {access.shown}.", hint)


def _locked(where: str, said: str) -> Locked:
    # "repository is already locked by PID 12 on box by me (UID 1, GID 1)", and below it "lock was created at … (1h2m3s ago)".
    holder = re.search(r"locked (?:exclusively )?by (.+?)(?: by .*)?$", said, re.MULTILINE)
    hint = "Wait until that has ended, and try again. What a crash has left is removed by itself, after half an hour at the latest."
    if gone := _is_gone(holder[1] if holder else ""):
        hint = f"{gone} `restic unlock` removes the lock now, unless another computer of that name uses the repository. {hint}"
    error = Locked(f"The repository {where} is in use{f', by {holder[1]}' if holder else ''}.", hint)
    # A living restic renews its lock every five minutes.
    error.is_stale = _is(r"\((\d+h|[3-9]\dm)\S* ago\)", said)
    return error


def _is_gone(holder: str) -> str | None:
    """Say that the holder of a lock is a process of this computer that has ended, if it has."""
    match = re.fullmatch(r"PID (\d+) on (\S+)", holder)
    if match is None or match[2] != socket.gethostname():
        return None
    try:
        os.kill(int(match[1]), 0)
    except (ProcessLookupError, OverflowError):
        return f"No process {match[1]} runs on this computer."
    except PermissionError:
        pass  # it is somebody else's, and lives
    return None


def _is(pattern: str, said: str) -> bool:
    return re.search(pattern, said, re.IGNORECASE) is not None


def _last(said: str) -> str:
    """The last line that says something, bounded, without what it begins and ends with."""
    lines = [_text(line.strip()) for line in said.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Is there a repository", "The error message was"))]
    chosen = ([line for line in lines if line.startswith("Fatal:")] or lines or [""])[-1]
    return chosen.removeprefix("Fatal: ")[:300].rstrip(".")


def _text(line: str) -> str:
    with contextlib.suppress(ValueError, AttributeError):
        found = json.loads(line)
        return str(found.get("message") or (found.get("error") or {}).get("message") or "")
    return line
