"""The mounts of an agent's sandbox for the paths that a manifest names: nothing behind a link, and never more than they say."""

import contextlib
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError
from parachute.base.folders import Folder
from parachute.core.agents import WORKING_DIRECTORY
from parachute.core.patterns import Pattern
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.layout import OUTSIDE, VAULT

_READABLE = (".modules", ".skills")
_ENTRIES = 20_000
_MOUNTS = 200

Parts = tuple[str, ...]


class AgentMounts(Struct):
    """The mounts of an agent; `left_out` has a sentence for everything that the manifest promises and it does not get."""

    mounts: dict[str, Mount] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def add(self, mount: Mount) -> None:
        """Give a folder or file; a single file only for reading."""
        if mount.writable and mount.is_file:
            # A file that is mounted can be written over, but not replaced as a whole, as the agent's tools do it.
            mount = replace(mount, writable=False)
            self.left_out.append(
                f"{mount.target} was given to the agent only for reading: for writing, name the folder that it lies in."
            )
        self.mounts[mount.target] = mount

    def leave_out(self, path: str | None, why: str) -> None:
        """Say why a path that the manifest names is not mounted."""
        if path:
            self.left_out.append(f"{path} was not given to the agent: {why}.")

    def sorted(self) -> tuple[Mount, ...]:
        """The mounts without those that lie inside of others."""
        above = {target for target, mount in self.mounts.items() if not mount.is_file}
        return tuple(
            self.mounts[target]
            for target in sorted(self.mounts)
            if not above & {str(folder) for folder in Path(target).parents}
        )


class MountRules(Struct, frozen=True):
    """The vault and the state directory of this machine, both without links, and the check of a project's folder.

    `check_directory` answers with the real folder, or raises; `projects` are the folders below which it may lie.
    """

    vault: Path
    state: Path
    projects: tuple[Path, ...]
    check_directory: Callable[[Path], Path]

    def mounts(self, paths: Iterable[str], *, writable: bool) -> AgentMounts:
        """The mounts for the paths as they are now; missing folders that are to be written are made. Waits for the disk.

        A path that begins with `${CWD}` stands for nothing, since no folder was chosen for a module's run.
        Errors: NotAllowed for what belongs to the computer itself, InvalidInput for what stands for too much.
        """
        found = AgentMounts()
        for text in paths:
            if text.startswith("~/"):
                self._outside(text, writable, found)
            elif not text.startswith(WORKING_DIRECTORY):
                self._inside(text, writable, found)
        if len(found.mounts) > _MOUNTS:
            raise InvalidInput(
                f"allowed_paths: the patterns stand for {len(found.mounts):,} files and folders; {_MOUNTS} are allowed.",
                "Whole folders, such as Notes/**, count as one.",
                key="too_many_folders",
            )
        return found

    def _inside(self, text: str, writable: bool, found: AgentMounts) -> None:
        pattern = Pattern.parse(text, "allowed_paths")
        first = pattern.parts[0]
        if first.startswith("."):
            if first not in _READABLE:
                raise NotAllowed(
                    f"allowed_paths: {first} at the top of the vault belongs to the computer itself.",
                    key="computers_own",
                )
            writable = False
        literal, rest = pattern.literal, pattern.parts[len(pattern.literal) :]
        if literal and rest in ((), ("**",)):
            if writable and rest and not _hidden(literal):
                _make(self.vault, literal)
            self._add(literal, writable, found, text)
            return
        for parts in _matching(self.vault, literal, pattern):
            self._add(parts, writable, found, None)

    def _add(self, parts: Parts, writable: bool, found: AgentMounts, wanted: str | None) -> None:
        mode = _mode(self.vault, parts)
        source = self.vault.joinpath(*parts)
        if mode is None or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            found.leave_out(wanted, "it is not there" if mode is None else "it is a link, or no file")
        elif self.state.is_relative_to(source) or source.is_relative_to(self.state):
            found.leave_out(wanted, "this computer's own folder lies in it")
        else:
            if writable and (hidden := _hidden(parts)):
                writable = False
                found.left_out.append(
                    f"{'/'.join(parts)} was given to the agent only for reading: programs of yours obey what is in {hidden}."
                )
            found.add(Mount(str(source), "/".join((VAULT, *parts)), writable, is_file=stat.S_ISREG(mode)))

    def _outside(self, text: str, writable: bool, found: AgentMounts) -> None:
        pattern = Pattern.parse(text[2:], "allowed_paths")
        literal = pattern.literal
        if not literal or pattern.parts[len(literal) :] not in ((), ("**",)):
            found.leave_out(text, "outside of the vault only whole folders are")
            return
        folder = Path.home().joinpath(*literal)
        try:
            real = self.check_directory(folder)
        except ParachuteError as error:
            found.left_out.append(f"{text} was not given to the agent. {error}")
            return
        unlinked = {root.resolve() / folder.relative_to(root) for root in self.projects if folder.is_relative_to(root)}
        if real not in unlinked or not (real.is_dir() or real.is_file()):
            found.leave_out(text, "it is not there, a link, or not below one of `project_folders`")
            return
        found.add(Mount(str(real), "/".join((OUTSIDE, *literal)), writable, is_file=real.is_file()))


def _hidden(parts: Parts) -> str | None:
    """The first name that begins with a dot: git, editors and shells keep there what they obey."""
    return next((part for part in parts if part.startswith(".")), None)


def _matching(vault: Path, literal: Parts, pattern: Pattern) -> Iterator[Parts]:
    """Files that a pattern with wildcards stands for, and folders of which it stands for everything; follows no link."""
    left = _ENTRIES
    waiting = [literal]
    while waiting:
        folder = waiting.pop()
        for name, is_folder in _entries(vault, folder):
            left -= 1
            if left < 0:
                raise InvalidInput(
                    f"allowed_paths: more than {_ENTRIES:,} entries would have to be compared with a pattern.",
                    "Whole folders, such as Notes/**, need none.",
                    key="too_many_entries",
                )
            parts = (*folder, name)
            if pattern.matches(parts) and (not is_folder or pattern.parts[-1] == "**"):
                yield parts
            elif is_folder and pattern.reaches(parts):
                waiting.append(parts)


def _entries(vault: Path, folder: Parts) -> list[tuple[str, bool]]:
    try:
        with Folder.open(vault) as root, root.folder("/".join(folder)) as opened:
            kinds = [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in opened.entries()
            ]
    except OSError:
        return []
    return [(name, is_folder) for name, is_folder, is_link in sorted(kinds) if not is_link]


def _make(vault: Path, parts: Parts) -> None:
    # A link or a file in the way is reported when the folder is looked up.
    with contextlib.suppress(OSError), Folder.open(vault) as root:
        root.folder("/".join(parts), make=True, mode=0o777).close()


def _mode(vault: Path, parts: Parts) -> int | None:
    """The mode of a file or folder that was reached without following a link; None if it is not there."""
    try:
        with Folder.open(vault) as root:
            status = root.status("/".join(parts))
    except OSError:
        return stat.S_IFLNK
    return status.st_mode if status else None
