"""The plugin of the agent's program that is made of a conversation's skills: a folder by the hash of its content."""

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder, remove_tree
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.capabilities.skills.reading import FILE
from parachute.capabilities.skills.store import FoundSkill, Reader
from parachute.capabilities.texts import read_fields
from parachute.chat.agent_processes.models import Plugin
from parachute.core import front_matter

NAME = "skills"
"""The agent's program knows a skill as `skills:NAME`, and as `NAME` where no command of its own is called so."""

_FORMAT = 1
"""Part of each hash: raised when the same skills are to give another folder."""

_UNUSED_SECONDS = 24 * 3600


class RuntimePlugins:
    """Makes and keeps such folders below `root`; every method waits for the disk.

    `mounted` are the folders that sandboxes have now: those stay.
    """

    def __init__(
        self,
        root: Path,
        read: Reader,
        mounted: Callable[[], Collection[Path]] = frozenset,
        clock: Clock = SYSTEM,
    ) -> None:
        self._root = root
        self._clock = clock
        self._read = read
        self._mounted = mounted
        self._made: dict[str, tuple[tuple[tuple[str, Signature], ...], float]] = {}

    def plugin(self, skills: Sequence[FoundSkill]) -> Plugin:
        """The plugin of these skills; errors: OSError, Conflict for one that is being changed."""
        parts = [(each.skill.name, each.skill.description, each.digest) for each in skills]
        digest = hashlib.sha256(json.dumps([_FORMAT, *parts]).encode(errors="surrogatepass")).hexdigest()
        folder = self._root / digest
        made = self._made.get(digest)
        # Looked at each time: an agent that runs directly could have changed it.
        if made is None or _signatures(folder) != made[0]:
            self._tidy()
            self._make(folder, skills)
            made = _signatures(folder), 0.0
        self._made[digest] = made[0], self._clock.elapsed()
        return Plugin(NAME, folder, digest)

    def _make(self, folder: Path, skills: Sequence[FoundSkill]) -> None:
        new = private_folder(self._root) / f".new-{secrets.token_hex(6)}"
        try:
            new.mkdir(mode=0o700)
            with Folder.open(new) as made:
                _write(made, ".claude-plugin/plugin.json", json.dumps({"name": NAME}).encode())
                for each in skills:
                    for file in each.hashes:
                        content = self._read(each, file)
                        is_main = file.name == FILE or not each.skill.is_folder
                        name = f"skills/{each.skill.name}/{FILE if is_main else file.name}"
                        _write(made, name, _instructions(each, content) if is_main else content, file.is_executable)
            # It need not survive a power cut: each server makes its own anew.
            remove_tree(folder)
            new.rename(folder)
        except BaseException:
            remove_tree(new)
            raise

    def _tidy(self) -> None:
        """Remove what an earlier server left, and what nothing has used for a day."""
        used = {digest for digest, (_, last) in self._made.items() if last > self._clock.elapsed() - _UNUSED_SECONDS}
        kept = {*used, *(path.name for path in self._mounted())}
        self._made = {digest: made for digest, made in self._made.items() if digest in kept}
        for path in self._root.iterdir() if self._root.is_dir() else ():
            if path.name not in kept:
                with contextlib.suppress(OSError):
                    remove_tree(path)


def _instructions(each: FoundSkill, content: bytes) -> bytes:
    """The instructions with nothing but a name and a description at their top.

    The agent's program would run hooks that stand there, without a word to anybody, and give the skill tools and a model.
    """
    body = read_fields(content.decode())[1]
    fields = {"name": each.skill.name, "description": each.skill.description}
    return f"---\n{front_matter.write(fields)}---\n\n{body}\n".encode()


def _write(folder: Folder, path: str, content: bytes, is_executable: bool = False) -> None:
    above, _, name = path.rpartition("/")
    with folder.folder(above, make=True) as place:
        descriptor = place.descriptor(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o500 if is_executable else 0o400)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)


def _signatures(folder: Path) -> tuple[tuple[str, Signature], ...]:
    found: list[tuple[str, Signature]] = []
    try:
        with Folder.open(folder) as opened:
            for path, own, entries in opened.walk():
                found.append((path, signature_of(os.fstat(own.fileno()))))
                found += ((f"{path}/{each.name}", signature_of(each.stat(follow_symlinks=False))) for each in entries)
    except (OSError, ParachuteError):
        return ()
    return tuple(sorted(found))
