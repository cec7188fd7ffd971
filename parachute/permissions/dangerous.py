"""Commands that no session runs: they take over or destroy the machine."""

import os
import re
from collections.abc import Iterator
from itertools import pairwise

from parachute.permissions.globs import expand, literal
from parachute.permissions.names import is_wild, literal_letters
from parachute.permissions.paths import Places, is_block_device, joined, real_path
from parachute.permissions.script import SimpleCommand
from parachute.permissions.started import FIND_STARTS, SHELLS, find_starts
from parachute.permissions.words import Word
from parachute.permissions.wrappers import OPAQUE, WRAPPERS

PRIVILEGE = frozenset({"sudo", "sudoedit", "doas", "su", "pkexec", "runuser", "run0", "gksu", "gksudo", "kdesudo"})
POWER = frozenset({"shutdown", "reboot", "halt", "poweroff", "kexec"})
POWER_VERBS = frozenset(
    {
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "soft-reboot",
        "suspend",
        "hibernate",
        "hybrid-sleep",
        "rescue",
        "emergency",
    }
)
DISK_TOOLS = frozenset(
    {
        "mke2fs",
        "mkswap",
        "mkdosfs",
        "mkntfs",
        "wipefs",
        "blkdiscard",
        "badblocks",
        "fdisk",
        "sfdisk",
        "cfdisk",
        "sgdisk",
    }
    | {"gdisk", "parted", "hdparm"}
)
# Top-level folders of Linux and macOS; /tmp belongs to everyone and is not among them.
SYSTEM_FOLDERS = frozenset(
    {"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/nix", "/opt", "/proc"}
    | {"/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var"}
    | {"/users", "/system", "/library", "/applications", "/volumes", "/private", "/cores", "/network"}
)

_BLOCK = re.compile(
    r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|loop|dm-|md|mapper|r?disk|sr\d|nbd|zram|ram|mtd|block|mem$|kmem$|port$)",
    re.IGNORECASE,
)
_HARMLESS_DEVICE = re.compile(r"/dev/(null|zero|full|tty|stdin|stdout|stderr|fd/\d+|pts/\d+|shm/.+|tcp/.+|udp/.+)")
# They show which devices there are and do not open them.
_LOOKING = frozenset(
    {
        "ls",
        "lsblk",
        "stat",
        "file",
        "df",
        "du",
        "blkid",
        "findmnt",
        "test",
        "[",
        "echo",
        "printf",
        "grep",
        "find",
        "readlink",
    }
    | {"realpath", "udevadm", "smartctl", "git", "rg"}
)
_NARROWING = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"})
_OTHER_NARROWING = frozenset({"-empty", "-mtime", "-mmin", "-ctime", "-cmin", "-newer", "-size"})
_SWITCHES = frozenset({"/proc/sysrq-trigger", "/sys/power/state", "/sys/power/disk"})


def danger(command: SimpleCommand, places: Places) -> str | None:
    """Return why the command is never run, or None."""
    names = {command.name, *_real_names(command, places)}
    for name in names:
        reason = _by_name(name, command, places)
        if reason:
            return reason
    if (
        names & (SHELLS | (WRAPPERS.keys() - {"busybox", "toybox"}))
        and command.name not in SHELLS | WRAPPERS.keys() | OPAQUE
    ):
        return (
            f"{command.program!r} is another name for a program that starts others. Start that program by its own name."
        )
    return _devices(command, places)


def _real_names(command: SimpleCommand, places: Places) -> Iterator[str]:
    if "/" not in command.program:
        return
    for folder in command.folders:
        place = places.host(joined(folder, command.program))
        if place is not None:
            yield real_path(place[0]).rpartition("/")[2].lower()


def _by_name(name: str, command: SimpleCommand, places: Places) -> str | None:
    if name in PRIVILEGE:
        return f"'{name}' gives another user's rights and is never run by an agent."
    if name.startswith(("mkfs", "newfs")) or name in DISK_TOOLS:
        return f"'{name}' changes disks and is never run by an agent."
    texts = {word.text for word in command.arguments}
    if (
        name in POWER
        or (name in {"init", "telinit"} and texts & {"0", "6"})
        or (name in {"systemctl", "loginctl"} and texts & POWER_VERBS)
    ):
        return f"'{name}' would stop this machine and is never run by an agent."
    if name in {"rm", "grm", "srm"}:
        return _remove(command, places)
    if name in {"chmod", "chown", "chgrp", "gchmod", "gchown"}:
        return _change_rights(name, command, places)
    if name == "find":
        return _find(command, places)
    if name in {"dd", "gdd"}:
        return _copy_device(command, places)
    return None


def _options_and_operands(arguments: tuple[Word, ...]) -> tuple[list[Word], list[Word]]:
    options: list[Word] = []
    operands: list[Word] = []
    for number, word in enumerate(arguments):
        if word.text == "--" and word.static:
            operands.extend(arguments[number + 1 :])
            break
        if word.text.startswith("-") and len(word.text) > 1 and not word.leading_unknown:
            options.append(word)
        else:
            operands.append(word)
    return options, operands


def _is_recursive(options: list[Word], letters: str) -> bool:
    return any(
        word.text.startswith("--r") if word.text.startswith("--") else any(letter in word.text for letter in letters)
        for word in options
    )


def _remove(command: SimpleCommand, places: Places) -> str | None:
    options, operands = _options_and_operands(command.arguments)
    if any(word.text.startswith("--no-p") for word in options):
        return "'rm --no-preserve-root' is never run by an agent."
    recursive = _is_recursive(options, "rR")
    # A word that is not known may be '-rf', so the other words are judged as if it were.
    if not recursive and not any(word.leading_unknown for word in operands):
        return None
    for word in operands:
        if word.leading_unknown and not word.text.strip("/."):
            if recursive:
                return "What 'rm' would remove with all its content is only known when it runs. Write the path out."
            continue
        for path in _targets(word, command, places):
            if path is None:
                return "'rm' would remove the content of a folder that is only known when it runs. Write the path out."
            if _is_system(path, places) or places.is_protected(path):
                return f"'rm' would remove {path!r} with all its content, which no agent may."
    return None


def _change_rights(name: str, command: SimpleCommand, places: Places) -> str | None:
    options, operands = _options_and_operands(command.arguments)
    if not _is_recursive(options, "R"):
        return None
    for word in operands:
        if word.leading_unknown and not word.text.strip("/.") and word is not operands[0]:
            return f"What '{name} -R' would change is only known when it runs. Write the path out."
        for path in _targets(word, command, places):
            if path is None or _is_system(path, places):
                return f"'{name} -R' would change the rights of {path or 'an unknown folder'!r}, which no agent may."
    return None


def _find(command: SimpleCommand, places: Places) -> str | None:
    texts = [word.text for word in command.arguments]
    removes = "-delete" in texts
    for number, text in enumerate(texts):
        if text in FIND_STARTS:
            removes = removes or any(
                inner.rsplit("/", 1)[-1].lower() in {"rm", "shred", "unlink"} for inner in texts[number + 1 :]
            )
    if not removes:
        return None
    narrowed = any(text in _OTHER_NARROWING for text in texts) or any(
        text in _NARROWING and literal_letters(following.rsplit("/", 1)[-1]) for text, following in pairwise(texts)
    )
    if {"-o", "-or", "!", "-not"} & set(texts):
        narrowed = False
    for word in find_starts(command.arguments):
        if word.leading_unknown:
            return "Where 'find' would remove files is only known when it runs. Write the folder out."
        for path in _targets(word, command, places):
            if path is None:
                return "Where 'find' would remove files is only known when it runs. Write the folder out."
            if _is_system(path, places) or (not narrowed and places.is_protected(path)):
                return f"'find' would remove files everywhere in {path!r}, which no agent may."
    return None


def _targets(word: Word, command: SimpleCommand, places: Places) -> Iterator[str | None]:
    """Yield the folders that a recursive command would work on; None for one that is not known."""
    parts = (word.text if word.pattern is None or word.unknown else word.pattern).split("/")
    everything = False
    if not word.static:
        # `x/*` is all of x.
        while parts and is_wild(parts[-1]) and not literal_letters(parts[-1]):
            parts.pop()
            everything = True
    if everything and parts == [""]:
        parts = ["", ""]
    wild = not word.static and any(is_wild(part) for part in parts)
    path = "/".join(parts if wild or word.static else [literal(part) for part in parts])
    if not path and not everything:
        return
    if command.lost and not path.startswith("/") and (path.strip("./") == "" or ".." in parts):
        yield None
    for folder in command.folders:
        if not wild:
            yield joined(folder, path)
            continue
        found = expand(path, folder, places)
        if found is None:
            # Nothing to list here: the folder around the first wildcard stands for all in it.
            first = next(number for number, part in enumerate(parts) if is_wild(part))
            if first == 1 and parts[0] == "":
                found = ["/"]
        yield from found or ()


def _is_system(path: str, places: Places) -> bool:
    for real in places.real_paths(path):
        plain = "/" + real.lstrip("/").rstrip("/").lower()
        if plain == "/" or plain in SYSTEM_FOLDERS:
            return True
    return False


def _paths(text: str, command: SimpleCommand) -> Iterator[str]:
    for folder in command.folders:
        yield "/" + os.path.normpath(joined(folder, text)).lstrip("/")


def _copy_device(command: SimpleCommand, places: Places) -> str | None:
    for word in command.arguments:
        name, equals, value = word.text.partition("=")
        if name not in {"if", "of"} or not equals:
            if word.leading_unknown:
                return "What 'dd' reads or writes is only known when it runs. Write the path out."
            continue
        if word.unknown:
            return "What 'dd' reads or writes is only known when it runs. Write the path out."
        for path in _paths(value, command):
            harmless = {"/dev/stdin"} if name == "if" else {"/dev/null", "/dev/stdout", "/dev/stderr"}
            if (path.startswith("/dev/") and path not in harmless) or _leads_to_device(path, places):
                return f"'dd' would use the device {path!r} directly, which no agent may."
    return None


def _leads_to_device(path: str, places: Places) -> bool:
    place = places.host(path)
    if place is None:
        return False
    real = real_path(place[0])
    return bool(_BLOCK.match(real)) or is_block_device(real)


def _devices(command: SimpleCommand, places: Places) -> str | None:
    for redirect in command.redirects:
        if not redirect.writes:
            continue
        for path in _paths(redirect.target.text, command):
            if path.lower() in _SWITCHES:
                return f"Writing to {path!r} would stop this machine, which no agent may."
            if (path.startswith("/dev/") and not _HARMLESS_DEVICE.fullmatch(path)) or _leads_to_device(path, places):
                return f"Writing to the device {path!r} is something no agent may."
    if command.name in _LOOKING:
        return None
    for word in command.arguments:
        if "dev" not in word.text and "sys" not in word.text:
            continue
        for text in {word.text, word.text.partition("=")[2]}:
            for path in _paths(text, command) if text else ():
                if _BLOCK.match(path) or path.lower() in _SWITCHES:
                    return f"{path!r} gives direct access to the machine, which no agent may have."
    return None
