"""Archives with XML in them: a member is read up to its largest, and no entity of it is expanded."""

import zipfile
from collections.abc import Callable
from typing import IO, Any
from xml.parsers import expat

from parachute.files.documents.program.text import Unreadable

_MOST_MEMBERS = 20_000
_LARGEST, _PIECE = 96 << 20, 64 * 1024
_DEEPEST = 400

Start = Callable[[str, dict[str, str]], object]
End = Callable[[str], object]
Written = Callable[[str], object]


class Archive:
    """A ZIP file that is read, and never unpacked: a name in it is a name, wherever it points."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._file = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise Unreadable(_reason(file)) from error
        if len(self._file.filelist) > _MOST_MEMBERS:
            raise Unreadable("too_large")
        self._left = _LARGEST

    def has(self, name: str) -> bool:
        """Return True if there is a member of this name."""
        return name in self._file.NameToInfo

    def pieces(self, name: str) -> Any:
        """Give a member piece by piece; error: Unreadable, also where it is larger than all members may be together."""
        try:
            if self._file.getinfo(name).flag_bits & 1:
                raise Unreadable("encrypted")
            with self._file.open(name) as member:
                while piece := member.read(_PIECE):
                    self._left -= len(piece)
                    if self._left < 0:
                        raise Unreadable("too_large")
                    yield piece
        except (KeyError, zipfile.BadZipFile, NotImplementedError, EOFError) as error:
            raise Unreadable("damaged") from error

    def data(self, name: str) -> bytes:
        """Return a whole member."""
        return b"".join(self.pieces(name))

    def parse(self, name: str, start: Start, end: End | None = None, written: Written | None = None) -> None:
        """Parse a member as XML; names of elements and attributes have no namespace. Error: Unreadable."""
        depth = 0

        def begin(element: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > _DEEPEST:
                raise Unreadable("damaged")
            start(_local(element), {_local(key): value for key, value in attributes.items()})

        def finish(element: str) -> None:
            nonlocal depth
            depth -= 1
            if end is not None:
                end(_local(element))

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = begin, finish
        parser.EntityDeclHandler = _refuse
        if written is not None:
            parser.CharacterDataHandler = written
        try:
            for piece in self.pieces(name):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise Unreadable("damaged") from error


def _refuse(*_: object) -> None:
    raise Unreadable("damaged")  # no office program declares entities


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _reason(file: IO[bytes]) -> str:
    """Return why a file is no archive: office programs put one with a password into a file of Microsoft's older form."""
    file.seek(0)
    return "encrypted" if file.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" else "damaged"
