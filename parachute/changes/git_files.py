"""The repository at the top of a project: which of its files a commit consists of, and whether one is what its name says."""

import hashlib
import re
import zlib
from collections.abc import Iterator
from typing import Literal

Part = Literal["object", "ref", "head", "index", "derived"]

ORDER: dict[Part, int] = {"object": 0, "ref": 2, "head": 3, "index": 4, "derived": 5}
"""Objects before the references to them, so that whoever reads in between finds a whole repository; files of the project are 1."""

_HEX = r"(?:[0-9a-f]{40}|[0-9a-f]{64})"
_REF_PART = r"(?!\.)(?!.*\.lock(?:/|$))[^\x00-\x20\x7f~^:?*\[\\/]+(?<!\.)"
_REF = rf"(?:heads|tags|remotes|notes)/{_REF_PART}(?:/{_REF_PART})*|stash"
_NAMES: tuple[tuple[Part, str], ...] = (
    ("object", r"objects/[0-9a-f]{2}/(?:[0-9a-f]{38}|[0-9a-f]{62})"),
    ("object", rf"objects/pack/pack-{_HEX}\.(?:pack|idx)"),
    # Branches elsewhere are what a fetch of the owner's says of them, and a stash is of the view that it was made in.
    ("derived", rf"(?:logs/)?refs/(?:remotes/{_REF_PART}(?:/{_REF_PART})*|stash)|FETCH_HEAD"),
    ("ref", rf"refs/(?:{_REF})"),
    ("ref", r"packed-refs"),
    (
        "head",
        rf"HEAD|[A-Z]+_HEAD|COMMIT_EDITMSG|MERGE_(?:MSG|MODE|RR|AUTOSTASH)|SQUASH_MSG|logs/(?:HEAD|refs/(?:{_REF}))",
    ),
    ("index", r"index"),
    ("derived", r"objects/info/(?:packs|commit-graph|commit-graphs/.*)|objects/pack/multi-pack-index|info/refs"),
    ("derived", r"objects/pack/pack-[0-9a-f]+\.(?:bitmap|mtimes|keep|promisor|rev)|gc\.(?:pid|log)|AUTO_MERGE"),
    ("derived", r"(?:.*/)?(?:[^/]+\.lock|tmp_[^/]+)"),
)
_PARTS = tuple((part, re.compile(pattern)) for part, pattern in _NAMES)
_FOLDERS = re.compile(r"objects(?:/(?:[0-9a-f]{2}|pack|info|info/commit-graphs))?|(?:logs/)?refs(?:/.*)?|logs")

_ID = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\n?")
_SYMBOLIC = re.compile(rf"ref: refs/(?:{_REF})\n?")
_PACKED = re.compile(rf"{_HEX} refs/(?:{_REF})|\^{_HEX}|# pack-refs with:[ a-z-]*")
_MAGIC = {"pack": (b"PACK\0\0\0\x02", b"PACK\0\0\0\x03"), "idx": (b"\xfftOc\0\0\0\x02",)}
_TEXT = 4 << 20
_NAME, _GITLINK = 25, (0o160000).to_bytes(4)
_INDEX = 256 << 20


def part_of(path: str) -> Part | None:
    """Return the role of a file below `.git` in a commit; None for what is not applied: settings, hooks, links to other repositories."""
    if "/../" in f"/{path}/" or "@{" in path or ".." in path:
        return None
    return next((part for part, pattern in _PARTS if pattern.fullmatch(path)), None)


def is_folder_of_commits(path: str) -> bool:
    """Return whether a folder below `.git` holds only such files."""
    return _FOLDERS.fullmatch(path) is not None


def is_valid(path: str, chunks: Iterator[bytes]) -> bool:
    """Return whether a file below `.git` holds what its name says."""
    if path.startswith("objects/pack/"):
        return _is_pack(path, chunks)
    if path.startswith("objects/"):
        return _is_object(path.removeprefix("objects/").replace("/", ""), chunks)
    data = _joined(chunks, _INDEX if path == "index" else _TEXT)
    if data is None:
        return False
    if path == "index":
        return entries_digest(data) is not None
    if path == "packed-refs":
        lines = data.decode(errors="replace").splitlines()
        return all(_PACKED.fullmatch(line) for line in lines)
    if path.startswith("refs/") or path == "HEAD" or path.endswith("_HEAD"):
        lines_of_ids = data.splitlines(keepends=True)
        is_symbolic = _SYMBOLIC.fullmatch(data.decode(errors="replace")) is not None
        return is_symbolic or (0 < len(lines_of_ids) <= 64 and all(_ID.fullmatch(line) for line in lines_of_ids))
    return b"\0" not in data


def entries_digest(index: bytes) -> str | None:
    """A hash of what an index says about files, without the times by which git knows them again; None if it is none."""
    found = entries_of(index)
    return None if found is None else hashlib.sha256(b"".join(each + b"\0" for each in found)).hexdigest()


def entries_of(index: bytes) -> list[bytes] | None:
    """Return an index's entry of each file: mode, id, flags and, from the 26th byte on, its name; None if it is none."""
    version = int.from_bytes(index[4:8])
    if index[:4] != b"DIRC" or version not in (2, 3, 4) or len(index) < 32:
        return None
    if index[-20:] not in (bytes(20), hashlib.sha1(index[:-20], usedforsecurity=False).digest()):
        return None
    found: list[bytes] = []
    place, name = 12, b""
    for _ in range(int.from_bytes(index[8:12])):
        begin = place + 62 + (2 if version >= 3 and index[place + 60 : place + 61] >= b"\x40" else 0)
        if begin >= len(index) - 20:
            return None
        if version == 4:
            strip, begin = _number(index, begin)
            end = index.find(b"\0", begin)
            name = name[: len(name) - strip] + index[begin:end]
            following = end + 1
        else:
            end = index.find(b"\0", begin)
            name = index[begin:end]
            following = place + (end - place + 8) // 8 * 8
        if end < 0:
            return None
        # Of the flags all but the length of the name.
        flags = bytes((index[place + 60] & 0xF0,))
        found.append(index[place + 24 : place + 28] + index[place + 40 : place + 60] + flags + name)
        place = following
    return found


def new_names(index: bytes, before: bytes) -> Iterator[tuple[str, bool]]:
    """The names that an index has otherwise than another one, each with True for a repository in the repository."""
    known = set(entries_of(before) or ())
    for entry in entries_of(index) or ():
        if entry not in known:
            yield entry[_NAME:].decode(errors="replace"), entry[:4] == _GITLINK


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number as git writes offsets, and where the next byte is."""
    byte = data[place]
    value = byte & 127
    while byte & 128:
        place += 1
        byte = data[place]
        value = ((value + 1) << 7) | (byte & 127)
    return value, place + 1


def _joined(chunks: Iterator[bytes], limit: int) -> bytes | None:
    data = b""
    for chunk in chunks:
        data += chunk
        if len(data) > limit:
            return None
    return data


def _is_object(name: str, chunks: Iterator[bytes]) -> bool:
    digest = hashlib.sha1(usedforsecurity=False) if len(name) == 40 else hashlib.sha256()
    inflate = zlib.decompressobj()
    begin = b""
    try:
        for chunk in chunks:
            while chunk:
                data = inflate.decompress(chunk, 1 << 20)
                begin = (begin + data)[:40]
                digest.update(data)
                chunk = inflate.unconsumed_tail
        while data := inflate.decompress(inflate.unconsumed_tail, 1 << 20):
            digest.update(data)
    except zlib.error:
        return False
    is_whole = inflate.eof and not inflate.unused_data
    return is_whole and re.match(rb"(blob|tree|commit|tag) [0-9]+\0", begin) is not None and digest.hexdigest() == name


def _is_pack(path: str, chunks: Iterator[bytes]) -> bool:
    """By the sum at its end, which git reads before anything else."""
    sums = {20: hashlib.sha1(usedforsecurity=False), 32: hashlib.sha256()}
    length = 20 if len(path.rpartition("-")[2].partition(".")[0]) == 40 else 32
    digest, begin, rest = sums[length], b"", b""
    for chunk in chunks:
        begin = begin or chunk[:8]
        rest += chunk
        digest.update(rest[:-length])
        rest = rest[-length:]
    return begin.startswith(_MAGIC[path.rpartition(".")[2]]) and rest == digest.digest()
