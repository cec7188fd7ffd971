"""Kinds of documents by the endings of their names, and what a place in each is called."""

from typing import Literal

Unit = Literal["page", "chapter", "line"]

KINDS = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".odt": "odt",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".eml": "mail",
    ".ics": "calendar",
}
PICTURES = {".png": "picture", ".jpg": "picture", ".jpeg": "picture", ".tif": "picture", ".tiff": "picture"} | {
    ".webp": "picture",
    ".bmp": "picture",
}
ENDINGS = (*KINDS, *PICTURES)

UNITS: dict[str, Unit] = {"pdf": "page", "docx": "page", "odt": "page", "picture": "page", "epub": "chapter"}
"""The parts of a kind that form feeds separate; in all others newlines are counted."""


def kind_of(path: str) -> str | None:
    """Return the kind of a file, or None for what is no document."""
    name = path.lower()
    return next((kind for ending, kind in (KINDS | PICTURES).items() if name.endswith(ending)), None)


def is_picture(path: str) -> bool:
    """Return True for what has no text but the one that is seen in it."""
    return path.lower().endswith(tuple(PICTURES))


def unit_of(path: str) -> Unit:
    """Return what a place in a file is called."""
    return UNITS.get(kind_of(path) or "", "line")
