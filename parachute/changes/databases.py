"""Databases of SQLite, page by page: whether a view has only moved what the owner's database says, as every reader does."""

import hashlib
import struct
from collections.abc import Iterator, Mapping

from parachute.changes.present import Present

_WAL = (0x377F0682, 0x377F0683)
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_ALL = 0xFFFFFFFF

Pages = dict[int, bytes]
Files = Mapping[str, Present]
"""A database by "", with its "-wal" and "-journal"."""


def says_the_same(view: Files, owner: Files) -> bool:
    """Return whether a view's database is the owner's as it is, or as it was before some of the last transactions of its log."""
    size = _page_size(owner[""])
    if not size or size != _page_size(view[""]):
        return False
    wanted = _settled(view, size)
    for transaction in _transactions(_data(view["-wal"]), size):
        _add(wanted, *transaction)
    found = _settled(owner, size)
    different = {number for number in wanted.keys() | found.keys() if wanted.get(number) != found.get(number)}
    for pages, count in _transactions(_data(owner["-wal"]), size):
        if not different:
            break
        gone = _add(found, pages, count)
        for number in (*pages, *gone):
            (different.discard if wanted.get(number) == found.get(number) else different.add)(number)
    return not different


def _page_size(main: Present) -> int:
    header = next(main.content.chunks(), b"")[:18] if main.content else b""
    if len(header) < 18 or not header.startswith(b"SQLite format 3\0"):
        return 0
    size = int.from_bytes(header[16:18])
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 0


def _settled(files: Files, size: int) -> Pages:
    """The pages of the main file, with what an unfinished transaction has changed as it was before."""
    main = files[""].content
    assert main is not None
    pages: Pages = {}
    for chunk in main.chunks():  # of a length that every page size divides
        for place in range(0, len(chunk), size):
            pages[len(pages) + 1] = _hash(chunk[place : place + size])
    journal, place = _data(files["-journal"]), 0
    while journal[place : place + 8] == _JOURNAL and len(journal) >= place + 28:
        count, _, before, sector, page_size = struct.unpack(">IIIII", journal[place + 8 : place + 28])
        if page_size != size or not 32 <= sector <= 65536:
            break
        if place == 0:
            _add(pages, {}, before)
        place += sector
        count = (len(journal) - place) // (size + 8) if count == _ALL else count
        for _ in range(min(count, (len(journal) - place) // (size + 8))):
            number = int.from_bytes(journal[place : place + 4])
            pages[number] = _hash(journal[place + 4 : place + 4 + size])
            place += size + 8
        place = -(-place // sector) * sector
    return pages


def _transactions(log: bytes, size: int) -> Iterator[tuple[Pages, int]]:
    """Each transaction of a write-ahead log: the pages it wrote, and how many pages there are afterwards."""
    if len(log) < 32 or int.from_bytes(log[:4]) not in _WAL or int.from_bytes(log[8:12]) != size:
        return
    pages: Pages = {}
    for place in range(32, len(log) - size - 23, size + 24):
        number, count = struct.unpack(">II", log[place : place + 8])
        if log[place + 8 : place + 16] != log[16:24]:
            return  # left from before the log began anew
        pages[number] = _hash(log[place + 24 : place + 24 + size])
        if count:
            yield pages, count
            pages = {}


def _add(pages: Pages, new: Pages, count: int) -> list[int]:
    """Put pages in, and cut what is beyond the end; what is gone."""
    pages |= new
    gone = [number for number in pages if number > count]
    for number in gone:
        del pages[number]
    return gone


def _data(present: Present) -> bytes:
    return b"".join(present.content.chunks()) if present.content else b""


def _hash(page: bytes) -> bytes:
    return hashlib.blake2b(page, digest_size=16).digest()
