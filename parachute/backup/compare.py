"""What came back against the manifest."""

from collections.abc import Mapping
from dataclasses import dataclass

from parachute.backup.manifest import Manifest
from parachute.backup.models import Entry

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """A path, relative to the root of the part, and what is wrong with it in a few words."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path!r} {self.what}"


def differences(manifest: Manifest, seen: Mapping[str, Entry], *, on_disk: bool) -> list[Difference]:
    """Everything that is not as the manifest says, by path; on disk, times and hard links are looked at as well."""
    found = []
    for path, expected in manifest.entries.items():
        actual = seen.get(path)
        what = "is missing" if actual is None else _what(expected, actual, on_disk)
        if what:
            found.append(Difference(path, what))
    found += [Difference(path, "is not in the manifest") for path in seen if is_foreign(manifest, path)]
    return sorted(found, key=lambda difference: difference.path)


def is_foreign(manifest: Manifest, path: str) -> bool:
    """Whether the manifest does not know a path, although its folder stood still while the backup was made."""
    return path not in manifest.entries and not is_passing(manifest, path)


def is_passing(manifest: Manifest, path: str) -> bool:
    """Whether a path that the manifest does not know may have come and gone while the backup was made."""
    if path in manifest.entries:
        return False
    parts = path.split("/")
    for length in range(len(parts) - 1, -1, -1):
        above = manifest.entries.get("/".join(parts[:length]) or ".")
        if above is not None:
            return above.content is not None
    return False


def sentence(found: list[Difference]) -> str:
    """The first few of them."""
    more = f", and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return "; ".join(map(str, found[:SHOWN])) + more


def _what(expected: Entry, actual: Entry, on_disk: bool) -> str | None:
    if expected.kind != actual.kind:
        return f"is a {actual.kind} and was a {expected.kind}"
    if expected.kind == "link":
        return (
            None if expected.target == actual.target else f"leads to {actual.target!r} and led to {expected.target!r}"
        )
    if expected.unsettled:
        return None
    if expected.kind == "file" and (expected.size, expected.sha256) != (actual.size, actual.sha256):
        return "has another content"
    if expected.mode != actual.mode:
        return f"has mode {actual.mode:04o} and had {expected.mode:04o}"
    if on_disk and expected.modified is not None and expected.modified != actual.modified:
        return "has another time"
    if on_disk and expected.twin != actual.twin and expected.twin is not None:
        return f"is not the same file as {expected.twin!r} any more"
    return None
