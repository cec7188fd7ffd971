"""EPUB: the chapters in the order in which they are read."""

import posixpath
from typing import IO
from urllib.parse import unquote

from parachute.files.documents.program.archive import Archive
from parachute.files.documents.program.html import decoded, write
from parachute.files.documents.program.text import PAGE, Text, Unreadable

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_MOST_CHAPTERS = 2_000


def read(file: IO[bytes], text: Text) -> None:
    """Read the chapters; one that is missing is an empty one."""
    archive = Archive(file)
    locked = _locked(archive)
    for number, name in enumerate(_chapters(archive)[:_MOST_CHAPTERS]):
        if number:
            text.end_line()
            text.add(PAGE)
        if name in locked:
            raise Unreadable("encrypted")
        if archive.has(name):
            write(decoded(archive.data(name)).replace("\f", " "), text, counts_lines=False)


def _chapters(archive: Archive) -> list[str]:
    package: list[str] = []
    places: dict[str, str] = {}
    order: list[str] = []

    def container(element: str, attributes: dict[str, str]) -> None:
        if element == "rootfile":
            package.append(attributes.get("full-path", ""))

    def item(element: str, attributes: dict[str, str]) -> None:
        if element == "item":
            places[attributes.get("id", "")] = attributes.get("href", "")
        elif element == "itemref":
            order.append(attributes.get("idref", ""))

    archive.parse(_CONTAINER, container)
    if not package:
        raise Unreadable("damaged")
    archive.parse(package[0], item)
    folder = posixpath.dirname(package[0])
    return [_name(folder, places[each]) for each in order if places.get(each)]


def _name(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))


def _locked(archive: Archive) -> set[str]:
    found: set[str] = set()

    def start(element: str, attributes: dict[str, str]) -> None:
        if element == "CipherReference":
            found.add(_name("", attributes.get("URI", "").lstrip("/")))

    if archive.has(_ENCRYPTION):
        archive.parse(_ENCRYPTION, start)
    return found
