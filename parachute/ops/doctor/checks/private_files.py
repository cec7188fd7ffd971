"""The state directory and its files belong to this user, and nobody else can read them."""

import errno
import os
import stat
import sys
from pathlib import Path

from parachute.base.folders import Folder
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, Result, check, ok, problem, warning
from parachute.ops.doctor.open_files import MOST, Entry, entries
from parachute.security.keys.cli_token import CliToken

_OPEN = 0o077
_NAMED = 3
"""Files and folders that are named."""
_SECRETS = (
    "bot-tokens.json",
    "credentials.json",
    "git-tokens.json",
    "mcp-clients.json",
    "mcp-logins.json",
    "mcp-secrets.json",
    "push.json",
    "push.pem",
)


@check("Private files", Group.ACCESS)
def examine(computer: Computer) -> Result:
    home = computer.home.root
    if not computer.entries:
        return ok(f"There is no {home} yet.")
    strangers = [each for each in computer.entries if each.owner != computer.uid]
    if strangers:
        return problem(
            f"{len(strangers)} files in {home} belong to another user, such as {strangers[0].path}.",
            f"sudo chown -R {computer.user} {home}",
        )
    found = _open(computer.entries)
    if not found and len(computer.entries) >= MOST:
        return warning(
            f"{home} has more than {MOST:,} files, and not all of them were checked.",
            f"Find what does not belong there: `find {home} | head -n 100000 | less` shows it.",
        )
    if not found:
        return ok(f"{home} and what is in it can be read by you alone.")
    # Of files deep in a folder that folder says enough: their paths are details.
    first = list(
        dict.fromkeys(str(home) if each.path == home else each.path.relative_to(home).parts[0] for each in found)
    )
    names, is_more = ", ".join(first[:_NAMED]), len(first) > _NAMED
    read = [each.path.name for each in found if each.path.name in _SECRETS]
    renew = f" Others may have read {', '.join(read)}: replace their contents." if read else ""
    hint = f"`parachute doctor private-files --fix`, or chmod -R go-rwx {home}.{renew}"
    details = tuple(f"{each.path}: {each.mode:04o}" for each in found[:50])
    closes = (
        f"Close {len(found)} files and folders in {home} to others."
        if len(found) > 1
        else f"Close one file or folder in {home} to others."
    )
    fix = Fix(closes, lambda: _close(computer))
    if found[0].path == home:
        said = f"Other users of this machine can read files of {home}: {names}{' and others' if is_more else ''}."
        return problem(said, hint, details=details, fix=fix)
    return warning(
        f"Only the folder {home} keeps others from reading {names}{' and others' if is_more else ''}.",
        hint,
        details=details,
        fix=fix,
    )


def _open(found: tuple[Entry, ...]) -> list[Entry]:
    return [each for each in found if each.mode & _OPEN and not each.is_link]


def _close(computer: Computer) -> str:
    home = computer.home.root
    count = 0
    for entry in _open(entries(home)):
        if entry.path == home / "cli.token":
            # Others may know it already: it is replaced.
            CliToken(home).obtain()
        else:
            try:
                _close_one(home, entry.path)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ELOOP):
                    raise
        count += 1
    return f"{count} were still open, and are closed." if count else "All of them are private already."


def _close_one(home: Path, path: Path) -> None:
    # Not by its path: what is there now may be a link that somebody put there meanwhile.
    with Folder.open(home) as folder:
        descriptor = folder.path_descriptor(path.relative_to(home))
    try:
        # On Linux this is only a hold on the file: a socket cannot be opened, nor can what is closed to its owner.
        held = f"/proc/self/fd/{descriptor}" if sys.platform == "linux" else descriptor
        os.chmod(held, stat.S_IMODE(os.fstat(descriptor).st_mode) & ~_OPEN)  # noqa: PTH101 - a descriptor
    finally:
        os.close(descriptor)
