"""Updates of a chat as one message for its agent."""

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.chat.runs.request import Attachment, AttachmentType
from parachute.chat.sessions.models import Session
from parachute.connectors.chats.models import LinkedChat, shown_name
from parachute.connectors.platforms.models import File, Update
from parachute.connectors.texts import Language, say
from parachute.connectors.updates.store import Stored

MOST_UPDATES = 20
MOST_CHARACTERS = 40_000
_MOST_FILES = 10
_FILE_LIMIT = 20 * 1024 * 1024
_PICTURE_LIMIT = 5 * 1024 * 1024
_ALL_LIMIT = 24 * 1024 * 1024
_NO_MARKS = str.maketrans({'"': "'", "[": "(", "]": ")"})
"""Marks that would look like the end of a quotation."""
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def is_answered(chat: LinkedChat, session: Session, update: Update) -> bool:
    """Return whether an update is for the bot: in a group by its settings, whose pattern is a plain text and no expression."""
    if chat.kind == "private":
        return True
    found = session.metadata.get("bot_settings")
    settings = found if isinstance(found, dict) else {}
    if settings.get("response_mode") == "all_messages" or update.is_for_bot:
        return True
    pattern = str(settings.get("mention_pattern") or "").strip().casefold()
    return bool(pattern) and pattern in update.text.casefold()


def joined(stored: Sequence[Stored]) -> list[Stored]:
    """As many updates from the first one as go into one message."""
    found: list[Stored] = []
    characters = files = 0
    for each in stored:
        characters += len(each.update.text)
        files += len(each.update.files)
        is_over = characters > MOST_CHARACTERS or files > _MOST_FILES or len(found) >= MOST_UPDATES
        if found and is_over:
            break
        found.append(each)
    return found


def text_of(chat: LinkedChat, updates: Sequence[Update], notes: Sequence[str] = ()) -> str:
    """Return the text of updates, in a group with its senders."""
    lines = []
    for update in updates:
        words = update.text.strip()
        if update.quote:
            who = (shown_name(update.quote.author) or "somebody").translate(_NO_MARKS)
            words = f'[This answers what {who} wrote: "{update.quote.text.translate(_NO_MARKS)}"]\n{words}'
        if chat.kind == "group" and words:
            words = f"{shown_name(update.sender.name) or 'Somebody'} ({update.sender.id}): {words}"
        lines.append(words)
    return "\n\n".join(filter(None, [*lines, *notes])) or "(no text)"


async def attachments_of(
    folder: Path, updates: Sequence[Update], language: Language
) -> tuple[list[Attachment], list[str]]:
    """The files of updates, and a note for each that was not taken."""
    files = [file for update in updates for file in update.files]
    return await asyncio.to_thread(_read, folder, files, language)


def _read(folder: Path, files: Sequence[File], language: Language) -> tuple[list[Attachment], list[str]]:
    taken: list[Attachment] = []
    notes: list[str] = []
    size = 0
    for file in files:
        name = shown_name(Path(file.name).name) or file.kind
        kind = _type(file)
        limit = _PICTURE_LIMIT if kind == "image" else _FILE_LIMIT
        problem, data = file.problem, b""
        if not problem:
            try:
                with Folder.open(folder) as opened, opened.file(file.path) as source:
                    data = source.read(limit + 1)
            except (OSError, ParachuteError):
                problem = "it is gone"
        if not problem and (len(data) > limit or size + len(data) > _ALL_LIMIT or len(taken) >= _MOST_FILES):
            problem = f"more than {limit // 1024 // 1024} MB" if len(data) > limit else "too much at once"
        if problem:
            notes.append(say(language, "file_left_out", name=name, why=shown_name(problem)))
            continue
        size += len(data)
        taken.append(
            Attachment(
                file_name=name,
                mime_type=file.media_type[:200] or "application/octet-stream",
                size_bytes=len(data),
                type=kind,
                base64_data=base64.b64encode(data).decode(),
            )
        )
    return taken, notes


def _type(file: File) -> AttachmentType:
    if file.media_type in _PICTURES:
        return "image"
    if file.media_type == "application/pdf":
        return "pdf"
    if file.media_type.startswith("text/"):
        return "text"
    return "audio" if file.kind in ("voice", "audio") else "unknown"
