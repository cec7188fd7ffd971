"""A folder of a device, made the same as the vault, round after round; whatever is cut off is found out anew by the next one."""

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec import Struct, field

from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.base.files import private_folder
from parachute.base.folders import Folder
from parachute.base.pieces import HASH, hash_of
from parachute.changes.writing import remove_unfinished
from parachute.files.device.names import distinguishes_cases, refused
from parachute.files.device.planning import Step, planned
from parachute.files.device.remote import Remote
from parachute.files.device.state import DeviceState, Known
from parachute.files.sync.merging import LARGEST, text_of
from parachute.files.sync.models import Synced
from parachute.files.sync.scanning import Found, look, mark_of, scan

_ROUNDS = 5
_FEW = 3
"""So many deletions need no yes, however few files there are."""

_SMALL = 1024 * 1024

Question = Callable[[int, int], bool]


def _no(count: int, of: int) -> bool:
    return False


class Report(Struct):
    """The outcome: paths by what was done with them, and for those with which nothing could be done the reason.

    `is_unfinished`: something failed, or was withheld, that may work at the next try.
    """

    uploaded: list[str] = field(default_factory=list)
    downloaded: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    deleted_here: list[str] = field(default_factory=list)
    deleted_there: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    withheld: int = 0
    is_unfinished: bool = False

    @property
    def has_done(self) -> bool:
        """Return whether anything was done."""
        return any((self.uploaded, self.downloaded, self.merged, self.deleted_here, self.deleted_there, self.conflicts))


class _Meanwhile(Exception):
    """The file here is another one than was planned for; the next round sees it."""


class Device:
    """One folder and one computer; `state` is a folder of its own for what it remembers. Errors of methods: ParachuteError, OSError."""

    def __init__(
        self, folder: Path, state: Path, remote: Remote, *, progress: Callable[[str, int, int], None] | None = None
    ) -> None:
        self._folder = folder
        self._incoming = private_folder(state / "incoming", below=state)
        # Another folder at this path is no deletion of what was in the one before, and an older copy of it no change.
        self._state = DeviceState(state / "state.db", f"{folder.stat().st_ino:x}")
        self._remote = remote
        self._total = 0
        self._same_vault = (0, 0)
        self._progress = progress or (lambda word, done, of: None)

    def close(self) -> None:
        """Close what it remembers."""
        self._state.close()

    def run(self, *, may_delete: Question = _no, may_join: Question = _no) -> Report:
        """Do it until nothing is left to do; each question is asked with how many of how many files.

        `may_delete` is about many deletions, `may_join` about a vault with few of the files that it had; error: Conflict where it is not.
        """
        report = Report()
        for _ in range(_ROUNDS):
            if not self.round(report, may_delete, may_join):
                return report
        report.is_unfinished = True
        return report

    def has_news(self) -> bool:
        """Ask the computer, and return whether anything has changed there since the last round."""
        return self._read_list()

    def plan(self) -> tuple[list[Step], dict[str, str]]:
        """Return the steps of the next round, and the paths that are left alone with the reasons; nothing but the memory changes."""
        self._read_list()
        with Folder.open(self._folder) as root:
            known = self._state.files()
            found = scan(root, {path: each.local for path, each in known.items()}, elapsed=lambda: 0.0)
            changed = [(path, each) for path, each in found.files.items() if self._is_news(known.get(path), each)]
            self._state.seen(changed)
            self._total = len(known)
            before = [each for each in known.values() if each.is_stale and each.base is not None]
            self._same_vault = sum(each.remote in (each.base, *each.past) for each in before), len(before)
            distinguishes = distinguishes_cases(root)
        left = refused(
            (path for path in known.keys() | found.files.keys() if path in found.files or known[path].remote),
            found.files,
            distinguishes=distinguishes,
        )
        left |= {path: found.unread.get(path, "it cannot be read") for path in known if not found.knows(path)}
        return planned(known, found.files, left), {**found.unread, **left}

    def round(self, report: Report, may_delete: Question, may_join: Question) -> bool:
        """Take every step once; return whether there may be more to do."""
        steps, report.left = self.plan()
        same, of = self._same_vault
        if of > _FEW and 2 * same < of and not may_join(same, of):
            raise Conflict(
                f"This is another vault than before: it has {same:,} of {of:,} files as this device knows them.",
                "For another computer take another folder. If it is the right one and has lost them, `--yes` joins both.",
                key="other_vault",
            )
        self._clean(steps)
        deletions = [step for step in steps if step.word.startswith("delete")]
        report.withheld, report.is_unfinished = 0, False
        if len(deletions) > _FEW and 2 * len(deletions) > self._total and not may_delete(len(deletions), self._total):
            report.withheld, report.is_unfinished = len(deletions), True
            steps = [step for step in steps if not step.word.startswith("delete")]
        is_left = False
        with Folder.open(self._folder) as root:
            for number, step in enumerate(steps, 1):
                self._progress(step.path, number, len(steps))
                try:
                    self._take(root, step, report)
                    is_left |= step.word != "agree"
                except (_Meanwhile, NotFound):
                    is_left = True
                except Unavailable:
                    raise
                except (ParachuteError, OSError) as error:
                    report.left[step.path], report.is_unfinished = str(error), True
        return is_left

    def _clean(self, steps: list[Step]) -> None:
        """Remove what was on its way when the device died, and is not wanted any more or begun anew."""
        wanted = {step.remote for step in steps}
        for part in self._incoming.iterdir():
            if part.name not in wanted:
                part.unlink()
        with Folder.open(self._folder) as root:
            remove_unfinished(root, [step.path for step in steps if step.word in ("download", "merge")])

    def _read_list(self) -> bool:
        has_news = False
        while True:
            page = self._remote.page(self._state.cursor)
            self._state.take_page(page)
            has_news |= page.is_anew or bool(page.files)
            if not page.has_more:
                return has_news

    def _take(self, root: Folder, step: Step, report: Report) -> None:
        path = step.path
        if step.word == "agree":
            self._agree(root, path, step.remote)
        elif step.word == "download":
            self._download(root, step, step.remote or "")
            report.downloaded.append(path)
        elif step.word == "delete_here":
            known = self._check(root, step)
            if known is None or not root.remove_known(path, known):
                raise _Meanwhile
            self._remove_empty(root, path)
            self._state.agreed(path, None, None)
            report.deleted_here.append(path)
        elif step.word == "delete_there":
            self._check(root, step)
            done = self._remote.remove(path, step.base)
            if done.outcome == "changed":
                self._state.remote_is(path, done.hash)
                raise _Meanwhile
            self._state.agreed(path, None, None)
            report.deleted_there.append(path)
        else:
            self._send(root, step, report)

    def _send(self, root: Folder, step: Step, report: Report) -> None:
        path, local = step.path, step.local
        assert local is not None
        data = self._content(root, step) if local.size <= LARGEST else None
        text = None if data is None else text_of(data)
        if step.word == "merge" and text is not None:
            done = self._merge(step, text)
        else:
            done = self._upload(root, step, data)
            if done.outcome == "changed" and text is not None and done.hash is not None:
                done = self._merge(step, text)
        if done.outcome == "changed":
            self._state.remote_is(path, done.hash)
            raise _Meanwhile
        if done.hash is None or done.hash == local.hash:
            self._state.agreed(path, done.hash, text)
            report.uploaded.append(path)
            return
        (report.conflicts if done.outcome == "conflict" else report.merged).append(path)
        self._state.remote_is(path, done.hash)
        self._download(root, step, done.hash)

    def _upload(self, root: Folder, step: Step, data: bytes | None) -> Synced:
        assert step.local is not None
        digest, size = step.local.hash, step.local.size
        if data is not None and size <= _SMALL:
            return self._remote.upload(step.path, step.base, digest, data)
        with self._opened(root, step.path) as file:
            return self._remote.upload_large(step.path, step.base, digest, size, file)

    def _merge(self, step: Step, text: str) -> Synced:
        base = self._state.text(step.path)
        return self._remote.merge(step.path, base, text, is_stale=step.is_stale and base is not None)

    def _agree(self, root: Folder, path: str, digest: str | None) -> None:
        self._state.agreed(path, digest, self._text_here(root, path, digest) if digest else None)

    def _text_here(self, root: Folder, path: str, digest: str) -> str | None:
        try:
            data = root.read(path, LARGEST)
        except (OSError, InvalidInput):
            return None
        return text_of(data) if hash_of(BytesIO(data)) == digest else None

    def _download(self, root: Folder, step: Step, digest: str) -> None:
        """Put a version of the computer in the place of the one here, when all of it has arrived and this one is still as planned."""
        if not HASH.fullmatch(digest):
            raise InvalidInput("The computer sent something else than the hash of this file.", key="invalid_hash")
        file = self._incoming / digest
        self._receive(step.path, file, digest)
        name = PurePosixPath(step.path)
        if len(name.parts) > 1:
            root.folder(str(name.parent), make=True, mode=0o755).close()
        with root.replacement(step.path) as new:
            with file.open("rb") as content:
                while piece := content.read(_SMALL):
                    new.write(piece)
            new.sync()
            self._check(root, step)
            # Not synced: that takes long enough for an editor to write it.
            if not new.commit(None if step.local is None else "anything", synced=False):
                raise _Meanwhile
        with root.folder(str(name.parent)) as folder:
            folder.sync()
        file.unlink(missing_ok=True)
        self._agree(root, step.path, digest)

    def _receive(self, path: str, file: Path, digest: str) -> None:
        for _ in range(2):
            with file.open("ab") as part:
                for piece in self._remote.read(path, part.tell()):
                    part.write(piece)
            with file.open("rb") as whole:
                if hash_of(whole) == digest:
                    return
            file.unlink()  # it had begun with another version
        raise _Meanwhile

    def _content(self, root: Folder, step: Step) -> bytes:
        try:
            data = root.read(step.path, LARGEST)
        except FileNotFoundError:
            raise _Meanwhile from None
        if step.local is None or hash_of(BytesIO(data)) != step.local.hash:
            raise _Meanwhile
        return data

    def _opened(self, root: Folder, path: str) -> BinaryIO:
        try:
            return root.file(path)
        except FileNotFoundError:
            raise _Meanwhile from None

    def _check(self, root: Folder, step: Step) -> os.stat_result | None:
        """See that the file here is the one that was planned for; its status."""
        before, there, after = root.status(step.path), look(root, step.path), root.status(step.path)
        # An editor may have put another one in its place while it was read.
        is_settled = (before and mark_of(before)) == (after and mark_of(after))
        if not is_settled or (there.hash if there else None) != (step.local.hash if step.local else None):
            raise _Meanwhile
        return after

    def _remove_empty(self, root: Folder, path: str) -> None:
        for above in PurePosixPath(path).parents:
            if str(above) == ".":
                return
            try:
                root.remove_folder(str(above))
            except OSError:
                return  # there is something else in it

    def _is_news(self, known: Known | None, found: Found) -> bool:
        return known is None or known.local != found
