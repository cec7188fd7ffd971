"""The archive that `parachute export` writes: its places, and its conversations as this computer reads them again."""

import json

from imports.reading.conversation import Conversation, fields_of, items_of, moment, name_of, text_of
from parachute.core import is_told_in_vault

ABOUT = "parachute-brain.json"
README = "README.txt"
FORMAT, VERSION = "parachute-brain", 1

FOLDERS = {"journal": "Daily", "brain": "Brain"}
"""Folders of the archive, and those of the vault that they hold."""

CONTEXTS = "contexts"
"""The folder for files that agents obey; in it they have the paths that they have in the vault."""

CONVERSATIONS, SUGGESTIONS = "conversations", "suggestions"


def is_ours(about: bytes | None) -> bool:
    """Return True for the file that says what the archive is, of a version that is known here."""
    try:
        value = json.loads(about or b"")
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("format") == FORMAT and value.get("version") == VERSION


def place_of(path: str) -> str | None:
    """Return the path in the vault of a file of the archive; None where it has none."""
    first, _, rest = path.partition("/")
    if first in FOLDERS and rest:
        place = f"{FOLDERS[first]}/{rest}"
        return None if is_told_in_vault(place) else place
    return rest if first == CONTEXTS and is_told_in_vault(rest) else None


def conversation(data: bytes) -> Conversation | None:
    """A conversation of the archive; None where it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    session = name_of(fields_of(value).get("id"))
    if session is None:
        return None
    found = Conversation(
        source=text_of(value.get("source")) or "parachute",
        original=name_of(value.get("original")) or session,
        title=text_of(value.get("title")) or None,
        created=moment(value.get("created")),
        updated=moment(value.get("updated")),
        archived=value.get("archived") is True,
        session=session,
    )
    for message in items_of(value.get("messages")):
        role = fields_of(message).get("role")
        if role in ("user", "assistant"):
            found.say(role, text_of(message.get("text")), moment(message.get("time")), name_of(message.get("model")))
    return found
