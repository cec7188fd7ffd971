"""Lines about files of the vault that are not searched by what is in them."""

from typing import Any

from parachute.cli.output import counted

_REASONS = {
    "damaged": "damaged, or another kind than its name says",
    "encrypted": "protected by a password",
    "no_text": "no text in it",
    "too_large": "too large",
    "too_much": "took too much time or memory",
    "gone": "could not be opened",
}
_SHOWN = 5


def not_read(found: dict[str, Any]) -> list[str]:
    """Return a sentence for each kind of file that was not read."""
    said = []
    if pictures := int(found["pictures"]):
        what = "1 picture was" if pictures == 1 else f"{pictures:,} pictures were"
        said.append(f"{what} not read: the program tesseract, which reads the text in them, is not installed.")
    if pdf := int(found["pdf"]):
        what = "1 PDF file was" if pdf == 1 else f"{pdf:,} PDF files were"
        said.append(f"{what} not read: the package pypdfium2 is not installed.")
    if total := int(found["total"]):
        names = [f"{each['path']} ({_REASONS.get(each['reason'], each['reason'])})" for each in found["files"][:_SHOWN]]
        more = [f"{total - len(names):,} more"] if total > len(names) else []
        said.append(f"{counted(total, 'file')} could not be read: {', '.join((*names, *more))}.")
    return said


def place(found: dict[str, Any]) -> str:
    """Return the place in a file, such as `, page 3`."""
    return next((f", {unit} {found[unit]}" for unit in ("page", "chapter", "line") if found.get(unit)), "")


def progress_line(found: dict[str, Any]) -> str:
    """Return how far reading is."""
    if not found["found"]:
        return "the vault was not looked through yet"
    said = [f"{found['read']:,} of {found['found']:,} files are read"]
    if found["pictures"]:
        said.append(f"{counted(found['pictures'], 'picture')} not read")
    if found["pdf"]:
        said.append(f"{counted(found['pdf'], 'PDF file')} not read")
    if found["total"]:
        said.append(f"{counted(found['total'], 'file')} could not be read")
    return "; ".join(said)
