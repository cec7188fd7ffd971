"""Looking at a backup without restoring it: every byte is read from the repository and compared with the manifest."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from parachute.backup import compare, manifest, state
from parachute.backup.backups import Backup, Pair
from parachute.backup.closing import CONTENT
from parachute.backup.manifest import Manifest
from parachute.backup.models import PARTS, Damaged, Entry, Progress
from parachute.backup.places import Places
from parachute.backup.repository import Repository, Snapshot
from parachute.errors import ParachuteError

_PIECE = 1 << 20


@dataclass(slots=True)
class Verified:
    """What was looked at: files and bytes of both parts."""

    id: str
    files: int = 0
    bytes: int = 0
    parts: dict[str, int] = field(default_factory=dict)


def verify(
    places: Places, repository: Repository, backup: Backup, progress: Progress, *, quick: bool = False
) -> Verified:
    """Check the repository, and unless `quick` every file of a backup against its manifest. How it ended is recorded.

    Errors: Damaged naming what differs, those of `Repository`, Locked.
    """
    with places.alone():
        try:
            repository.unlock_own()
            progress.step("Checking the repository")
            repository.check()
            result = Verified(backup.id)
            for part in () if quick else PARTS:
                progress.step(f"Reading {part}")
                _verify_part(repository, part, backup.pairs[part], result)
        except ParachuteError as error:
            state.record(places.home, state.VERIFY, state.FAILED, error.message, backup.id)
            raise
        state.record(places.home, state.VERIFY, state.OK, None, backup.id, quick=quick)
        return result


def _verify_part(repository: Repository, part: str, pair: Pair, result: Verified) -> None:
    expected, content = _closed(repository, part, pair.closed)
    seen = _files(repository, pair.files)
    found = compare.differences(expected, _overlaid(expected, seen, content), on_disk=False)
    if found:
        raise Damaged(
            f"The backup {result.id} is not what was backed up ({part}): {compare.sentence(found)}.",
            "Older backups may be whole: `parachute backup list`. Make a new one, and look at the disk of the repository.",
            differences=[str(each) for each in found[:100]],
        )
    result.files += sum(entry.kind == "file" for entry in expected.entries.values())
    result.bytes += expected.bytes
    result.parts[part] = len(expected.entries)


def _closed(repository: Repository, part: str, snapshot: Snapshot) -> tuple[Manifest, Mapping[str, tuple[int, str]]]:
    """The manifest, and size and hash of the copies beside it by their numbers."""
    expected: Manifest | None = None
    content: dict[str, tuple[int, str]] = {}
    with repository.reading(snapshot) as members:
        for path, member, archive in members:
            file = archive.extractfile(member) if member.isreg() else None
            if file is None:
                continue
            if path == manifest.FILE:
                expected = manifest.read(file, part)
            elif path.startswith(f"{CONTENT}/"):
                digest = hashlib.sha256()
                while data := file.read(_PIECE):
                    digest.update(data)
                content[path.removeprefix(f"{CONTENT}/")] = (member.size, digest.hexdigest())
    if expected is None:
        raise Damaged("The manifest of this backup is missing.", "Take an older backup.")
    return expected, content


def _files(repository: Repository, snapshot: Snapshot) -> dict[str, Entry]:
    seen: dict[str, Entry] = {}
    with repository.reading(snapshot) as members:
        for path, member, archive in members:
            mode = member.mode & 0o7777
            if member.isdir():
                seen[path] = Entry(path, "folder", mode)
            elif member.issym():
                seen[path] = Entry(path, "link", mode, target=member.linkname)
            elif member.islnk():
                first = seen.get(member.linkname.strip("/")[len(snapshot.path.strip("/")) + 1 :])
                if first is not None:
                    seen[path] = replace(first, path=path)
            elif member.isreg() and (file := archive.extractfile(member)) is not None:
                digest = hashlib.sha256()
                while data := file.read(_PIECE):
                    digest.update(data)
                seen[path] = Entry(path, "file", mode, member.size, sha256=digest.hexdigest())
    return seen


def _overlaid(
    expected: Manifest, seen: dict[str, Entry], content: Mapping[str, tuple[int, str]]
) -> Mapping[str, Entry]:
    """What a restore would put into place."""
    result = {path: entry for path, entry in seen.items() if not compare.is_passing(expected, path)}
    for path, entry in expected.entries.items():
        if entry.content == "":
            result[path] = entry
        elif entry.content is not None:
            result.pop(path, None)
            if found := content.get(entry.content):
                result[path] = replace(entry, size=found[0], sha256=found[1])
    return result
