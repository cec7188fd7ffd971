"""Reading the files of contexts: bounded, without links, and again only where one has changed."""

import hashlib
import stat
import threading
import time
from collections import OrderedDict
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.base.steering.imports import references
from parachute.chat.contexts.models import LARGEST_FILE, NAMES, Found, Problem, Words
from parachute.core import front_matter

_KEPT = 4 * 1024 * 1024
"""Characters of files that were read and are kept in memory."""


class Reader:
    """Reads the files of folders; every method waits for the disk. `top` is an open folder, `place` a path below it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[Signature, Words]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def in_folder(self, top: Folder, root: Path, place: str) -> Found:
        """Read the file that counts in a folder: AGENTS.md, else CLAUDE.md, an empty one for none."""
        there = [name for name in NAMES if _is_file(top, _below(place, name))]
        found = Found(_below(place, NAMES[0]))
        for number, name in enumerate(there):
            found = self.file(top, root, _below(place, name))
            if found.problem is not None or (found.words and found.words.body):
                rest = there[number + 1 :]
                return found._replace(unused=_below(place, rest[0]) if rest else None)
        return found

    def file(self, top: Folder, root: Path, place: str) -> Found:
        """Read one file."""
        try:
            if (status := top.status(place)) is None or not stat.S_ISREG(status.st_mode):
                return Found(place)
            words = self._words(top, root / place, place, signature_of(status))
        except InvalidInput as error:
            return Found(place, problem="large" if error.key == "file_too_large" else "unreadable")
        except OSError:
            return Found(place, problem="unreadable")
        problem: Problem | None = "binary" if "\0" in words.text else None
        return Found(place, None if problem else words, problem)

    def _words(self, top: Folder, path: Path, place: str, signature: Signature) -> Words:
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None and kept[0] == signature:
                self._kept.move_to_end(path)
                return kept[1]
        taken = time.time_ns()
        data = top.read(place, LARGEST_FILE)
        text = data.decode(errors="replace").strip()
        body = front_matter.split(text).body.strip()
        words = Words(text, body, hashlib.sha256(data).hexdigest(), references(body))
        status = top.status(place)
        # What is replaced while it is read would be kept under the signature of the other.
        if status is not None and signature_of(status) == signature and signature.differs_later(taken):
            self._keep(path, signature, words)
        return words

    def _keep(self, path: Path, signature: Signature, words: Words) -> None:
        with self._lock:
            if (before := self._kept.pop(path, None)) is not None:
                self._size -= len(before[1].text)
            self._kept[path] = signature, words
            self._size += len(words.text)
            while self._size > _KEPT:
                self._size -= len(self._kept.popitem(last=False)[1][1].text)


def _is_file(top: Folder, place: str) -> bool:
    try:
        status = top.status(place)
    except (OSError, InvalidInput):  # a link on the way, or a name that is too long
        return False
    return status is not None and stat.S_ISREG(status.st_mode)


def _below(place: str, name: str) -> str:
    return f"{place}/{name}" if place else name
