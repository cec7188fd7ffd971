"""DOCX: paragraphs with their pages, as the program that saved the file laid them out, and with footnotes where they belong.

Where it says nothing about pages, breaks that the writer made are counted.
"""

import posixpath
from typing import IO

from parachute.files.documents.program.archive import Archive
from parachute.files.documents.program.text import PAGE, Text, Unreadable

_MAIN = "word/document.xml"
_SPACES = {"tab": "\t", "cr": "\n", "noBreakHyphen": "-"}
_NOTES = ("footnote", "endnote")
_MOST_NOTES = 200_000
"""Letters of all notes of one kind."""


def read(file: IO[bytes], text: Text) -> None:
    """Read the document's main part."""
    archive = Archive(file)
    main = _main(archive)
    folder = posixpath.dirname(main)
    notes = {kind: _notes(archive, f"{folder}/{kind}s.xml", kind) for kind in _NOTES}
    pages = _has_pages(archive, main)
    _Body(text, notes, pages).read(archive, main)


def _main(archive: Archive) -> str:
    found = []

    def start(element: str, attributes: dict[str, str]) -> None:
        if element == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            found.append(attributes.get("Target", "").lstrip("/"))

    if archive.has("_rels/.rels"):
        archive.parse("_rels/.rels", start)
    main = next(filter(archive.has, (*found, _MAIN)), None)
    if main is None:
        raise Unreadable("damaged")
    return main


def _has_pages(archive: Archive, main: str) -> bool:
    return any(b"lastRenderedPageBreak" in piece for piece in archive.pieces(main))


def _notes(archive: Archive, name: str, kind: str) -> dict[str, str]:
    """Read the notes by their numbers."""
    found: dict[str, str] = {}
    if not archive.has(name):
        return found
    number, inside, left = "", False, _MOST_NOTES

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal number, inside
        if element == kind:
            number = attributes.get("id", "")
        inside = element == "t"

    def end(element: str) -> None:
        nonlocal inside
        inside = False
        if element == "p" and number in found:
            found[number] += " "

    def written(part: str) -> None:
        nonlocal left
        if inside and left > 0:
            left -= len(part)
            found[number] = found.get(number, "") + part

    archive.parse(name, start, end, written)
    return found


class _Body:
    def __init__(self, text: Text, notes: dict[str, dict[str, str]], has_pages: bool) -> None:
        self._text = text
        self._notes = notes
        self._has_pages = has_pages
        self._inside = False
        self._skipped = 0
        self._waiting: list[str] = []

    def read(self, archive: Archive, name: str) -> None:
        archive.parse(name, self._start, self._end, self._written)

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        # A picture of text is there twice: once more for older programs.
        if self._skipped or element == "Fallback":
            self._skipped += 1
            return
        self._inside = element == "t"
        if element in _SPACES:
            # In the properties of a paragraph a tab is a place on the ruler.
            self._text.add("" if "pos" in attributes else _SPACES[element])
        elif element == "br":
            is_page = attributes.get("type") == "page"
            self._text.add(("" if self._has_pages else PAGE) if is_page else "\n")
        elif element == "lastRenderedPageBreak" or (
            element == "pageBreakBefore" and not self._has_pages and attributes.get("val") not in ("0", "false")
        ):
            self._text.add(PAGE)
        elif element in ("footnoteReference", "endnoteReference"):
            note = self._notes[element.removesuffix("Reference")].get(attributes.get("id", ""), "").strip()
            self._waiting += [note] if note else []

    def _end(self, element: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        self._inside = False
        if element == "p":
            self._text.end_line()
            for note in self._waiting:
                self._text.add(note + "\n")
            self._waiting.clear()
        elif element == "tc":
            self._text.end_line()

    def _written(self, part: str) -> None:
        if self._inside and not self._skipped:
            self._text.add(part.replace("\f", " "))
