"""The place in a file that a hit leads to: its page, chapter or line."""

from msgspec import Struct

from parachute.files.documents.kinds import Unit, unit_of


class FilePlace(Struct, frozen=True):
    """A page, chapter or line; of these one is known at the most."""

    page: int | None = None
    chapter: int | None = None
    line: int | None = None


NOWHERE = FilePlace()


def place_of(path: str, text: str, offset: int) -> FilePlace:
    """Return the place of a letter in the text of a file; a document without pages that are known has none."""
    unit: Unit = unit_of(path)
    if unit == "line":
        return FilePlace(line=text.count("\n", 0, offset) + 1)
    if "\f" not in text and unit == "chapter":
        return NOWHERE
    number = text.count("\f", 0, offset) + 1
    return FilePlace(page=number) if unit == "page" else FilePlace(chapter=number)
