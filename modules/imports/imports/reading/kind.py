"""The kind of an archive, by the names in it."""

import re
import zipfile
from pathlib import PurePosixPath

from imports.reading import apple, brain, dayone, foreign
from imports.reading.archive import Archive, Refused
from imports.reading.names import is_hidden

_CATEGORY = re.compile(
    r"(conversations|projects|memories|design_chats)(-\d+)?\.(json|zip)|(frames|light_metadata)(-\d+)?\.zip"
)
_MANIFEST = re.compile(r"manifest-[\w.-]{1,100}\.json")
_FOLDERS = frozenset({"projects", "memories", "design_chats"})
_PARTS = 4
_BEGINNING = 4096
_LMSTUDIO = ".conversation.json"
_GEMINI = ("gemini", "bard")
_PAGES = (".json", ".html")


def kind_of(archive: Archive) -> str:
    """The kind of an archive; `auto` for an export of conversations whose first one says it. Error: Refused."""
    names = {name.lower() for name in archive.entries}
    categories = {category_of(name) for name in names if is_export_file(name)}
    if brain.ABOUT in names:
        return "brain"
    if "conversations" in categories:
        return "auto"
    if kind := _journal(archive):
        return kind
    if any(name.endswith(_LMSTUDIO) for name in names):
        return "lmstudio"
    if any(_of_gemini(name) for name in names):
        return "gemini"
    if any(name.endswith("sessions.db") or "/sessions/" in f"/{name}" or name.endswith(".jsonl") for name in names):
        return "parachute"
    if any("/.obsidian/" in f"/{name}" for name in names):
        return "obsidian"
    if program := foreign.program_of_archive(names):
        raise foreign.refuse(program)
    if categories or any(name.endswith(".zip") for name in names):
        return "auto"
    raise Refused("Unknown export format: name its kind, such as `obsidian` for a folder of notes.")


def _journal(archive: Archive) -> str | None:
    """The kind of an archive with a journal, or mails."""
    if apple.pages(archive):
        return "applejournal"
    if journals(archive):
        return "dayone"
    return "mail" if mails(archive) else None


def journals(archive: Archive) -> list[zipfile.ZipInfo]:
    """The files of Day One's journals: beside the folders of their pictures, told by how they begin."""
    found = [each for each in archive.named(".json") if len(PurePosixPath(each.filename).parts) <= 2]
    return [
        each for each in found if not is_hidden(each.filename) and dayone.is_one(archive.beginning(each, _BEGINNING))
    ]


def mails(archive: Archive) -> list[zipfile.ZipInfo]:
    """The mails in an archive, and files of many."""
    return [each for each in archive.named(".eml", ".mbox") if not is_hidden(each.filename)]


def category_of(name: str) -> str | None:
    """Return what a file of an export holds: conversations, projects, memories, design chats, or what there is; None for others."""
    path = PurePosixPath(name.lower())
    if found := _CATEGORY.fullmatch(path.name):
        return found[1] or found[4]
    if _MANIFEST.fullmatch(path.name):
        return "manifest"
    above = path.parts[-2] if len(path.parts) > 1 else ""
    return above if above in _FOLDERS and path.suffix == ".json" else None


def is_export_file(name: str) -> bool:
    """Return True for a file of an export that is read."""
    path = PurePosixPath(name)
    return (
        len(path.parts) <= _PARTS
        and path.suffix.lower() == ".json"
        and not is_hidden(name)
        and category_of(name) is not None
    )


def files_of(kind: str, archive: Archive) -> list[zipfile.ZipInfo]:
    """The files of an archive that have conversations, in the order of their names."""
    match kind:
        case "lmstudio":
            return list(archive.named(_LMSTUDIO))
        case "librechat":
            return list(archive.named(".json"))
        case "gemini":
            found = [each for each in archive.named(*_PAGES, ".txt") if _of_gemini(each.filename.lower())]
            # Beside the activities lie files that were given to Gemini, of any name.
            return [each for each in found if _is_activities(each.filename)] or found
    return [each for each in archive.named(".json") if is_export_file(each.filename)]


def _of_gemini(name: str) -> bool:
    """Return True for a file in a folder of Gemini, whose name has that word in every language."""
    folders = name.split("/")[:-1]
    is_told = any(word in folder for folder in folders for word in _GEMINI)
    return is_told and (name.endswith(_PAGES) or name.rpartition("/")[2].startswith("conversation_"))


def _is_activities(name: str) -> bool:
    """Return True for the file that is called as the folder of all activities: `My Activity/Gemini Apps/MyActivity.json`."""
    *above, own = name.lower().split("/")
    stem = "".join(letter for letter in own.rpartition(".")[0] if letter.isalnum())
    return any(stem == "".join(letter for letter in folder if letter.isalnum()) for folder in above)
