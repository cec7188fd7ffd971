"""ODT: paragraphs and headings with their pages, as the program that saved the file laid them out."""

from typing import IO

from parachute.files.documents.program.archive import Archive
from parachute.files.documents.program.text import PAGE, Text, Unreadable

_CONTENT = "content.xml"
_LINES = ("p", "h")
_SPACES = {"s": " ", "tab": "\t", "line-break": "\n"}
_SKIPPED = ("tracked-changes", "forms", "sequence-decls")
_MANIFEST = "META-INF/manifest.xml"


def read(file: IO[bytes], text: Text) -> None:
    """Read the document's content."""
    archive = Archive(file)
    if _is_encrypted(archive):
        raise Unreadable("encrypted")
    content = _Content(text)
    archive.parse(_CONTENT, content.start, content.end, content.written)


def _is_encrypted(archive: Archive) -> bool:
    found = []

    def start(element: str, attributes: dict[str, str]) -> None:
        if element == "encryption-data":
            found.append(element)

    if archive.has(_MANIFEST):
        archive.parse(_MANIFEST, start)
    return bool(found)


class _Content:
    def __init__(self, text: Text) -> None:
        self._text = text
        self._before: set[str] = set()
        self._after: set[str] = set()
        self._style = ""
        self._is_body = False
        self._open: list[str] = []
        self._skipped = 0

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if self._skipped or element in _SKIPPED:
            self._skipped += 1
            return
        if element == "style":
            self._style = attributes.get("name", "")
        elif element == "paragraph-properties":
            if attributes.get("break-before") == "page":
                self._before.add(self._style)
            if attributes.get("break-after") == "page":
                self._after.add(self._style)
        elif element == "body":
            self._is_body = True
        elif not self._is_body:
            return
        elif element in _LINES:
            style = attributes.get("style-name", "")
            self._text.end_line()
            self._text.add(PAGE if style in self._before else "")
            self._open.append(style)
        elif element in _SPACES:
            self._text.add(_SPACES[element])
        elif element == "soft-page-break":
            self._text.add(PAGE)

    def end(self, element: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self._is_body and element in _LINES and self._open:
            self._text.end_line()
            self._text.add(PAGE if self._open.pop() in self._after else "")

    def written(self, part: str) -> None:
        if self._open and not self._skipped:
            self._text.add(" ".join(part.split("\n")).replace("\f", " "))
