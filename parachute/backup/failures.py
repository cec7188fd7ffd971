"""What restic says, as one sentence and what to do; its exit codes say as much only since version 0.17."""

import json
import re

from parachute.backup.access import Access
from parachute.backup.models import BackupFailed, Damaged, Locked, RepositoryMissing, WrongPassword
from parachute.errors import ParachuteError

_MISSING, _LOCKED, _PASSWORD = 10, 11, 12
_UNREACHABLE = re.compile(
    r"connection refused|no such host|network is unreachable|no route to host|i/o timeout|connection timed out"
    r"|could not resolve|Name or service not known|subprocess ssh|ssh: connect|TLS handshake|unable to start the sftp",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"access ?denied|InvalidAccessKeyId|SignatureDoesNotMatch|403 Forbidden|401 Unauthorized|Permission denied \(",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"Is there a repository at the following location|repository does not exist|unable to open config file"
)
_DAMAGED = re.compile(
    r"ciphertext verification failed|invalid data returned|does not match (id|hash)|hash mismatch|unexpected pack"
    r"|not found in (the )?(repository|index)|pack .* (is )?(damaged|truncated|missing)|pack .* not referenced|load(ing)? tree"
    r"|the repository contains (damaged|errors)|invalid header|unable to load (tree|index|blob)|[Ff]atal: repository contains errors"
    r"|unexpected EOF|load <",
)
_HELD = re.compile(r"already locked")
_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_CLOSED = re.compile(r"permission denied|read-only file system|operation not permitted", re.IGNORECASE)


def is_broken_off(said: str) -> bool:
    """Whether a restore has ended for a reason that has nothing to do with what is in the repository."""
    return any(pattern.search(said) for pattern in (_FULL, _UNREACHABLE, _REFUSED))


def is_gone(access: Access) -> bool:
    """Whether a repository on this machine is not there any more, as when its disk was unplugged."""
    return access.folder is not None and not (access.folder / "config").exists()


def failure(access: Access, doing: str, code: int, said: str) -> ParachuteError:
    """The error for a restic that has ended with a code other than 0; `doing` completes `restic could not …`."""
    where = access.shown
    if code == _PASSWORD or "wrong password or no key found" in said:
        return WrongPassword(
            f"The password in {access.password_file} does not open the repository {where}.",
            "Write the copy you have kept into that file; without the right one nobody can read the backups.",
        )
    if _UNREACHABLE.search(said):
        return BackupFailed(
            f"The repository {where} cannot be reached: {_last(said)}.", "Is the network up, and the other side on?"
        )
    if _REFUSED.search(said):
        return BackupFailed(
            f"The repository {where} refuses the credentials: {_last(said)}.",
            "The setting backup.environment_file names the file with them.",
        )
    if _FULL.search(said):
        return BackupFailed(
            f"There is no room: {_last(said)}.",
            "Free space there; `parachute backup prune` removes old backups from the repository.",
        )
    if code == _LOCKED or _HELD.search(said):
        return _locked(where, said)
    if code == _MISSING or (_ABSENT.search(said) and not _CLOSED.search(said)):
        return missing(access)
    if _DAMAGED.search(said):
        if is_gone(access):
            return missing(access)
        return Damaged(
            f"The repository {where} is damaged: {_last(said)}.",
            "Look at the disk it lies on. `parachute backup verify` names what is damaged; older backups may be whole.",
        )
    if _CLOSED.search(said):
        return BackupFailed(
            f"The repository {where} cannot be used: {_last(said)}.", "Who owns that folder, and is it read-only?"
        )
    return BackupFailed(f"restic could not {doing}: {_last(said) or f'it ended with {code}'}.")


def missing(access: Access) -> RepositoryMissing:
    """There is nothing where the repository should be."""
    hint = "`parachute backup init` makes a new one there."
    if access.folder is not None:
        hint = f"If it lies on a USB disk, plug that in. {hint}"
    return RepositoryMissing(f"There is no repository at {access.shown}.", hint)


def _locked(where: str, said: str) -> Locked:
    # "repository is already locked by PID 12 on box by me (UID 1, GID 1)", and below it since when.
    holder = re.search(r"locked (?:exclusively )?by (.+?)(?: by .*)?$", said, re.MULTILINE)
    return Locked(
        f"The repository {where} is in use{f', by {holder[1]}' if holder else ''}.",
        "Wait until that has ended, and try again. What a crash has left is removed by itself, after half an hour at the latest.",
    )


def _last(said: str) -> str:
    """The last line that says something, bounded, without what it begins and ends with."""
    lines = []
    for line in said.splitlines():
        text = line.strip()
        if text.startswith("{"):
            try:
                found = json.loads(text)
                error = found.get("error")
                text = str(found.get("message") or (error.get("message") if isinstance(error, dict) else "") or "")
            except (ValueError, AttributeError):
                pass
        if text and not text.startswith(("Is there a repository", "The error message was")):
            lines.append(text)
    fatal = [line for line in lines if line.startswith("Fatal:")]
    chosen = (fatal or lines or [""])[-1]
    return chosen.removeprefix("Fatal: ")[:300].rstrip(".")
