"""Contents of the archive: files of the vault as they are, conversations, and suggestions."""

import contextlib
import json
import os
from collections.abc import AsyncGenerator, Generator, Iterator
from datetime import datetime
from pathlib import Path

from parachute.automation.suggestions.models import document_of
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.base.steering.judging import is_told_in_vault
from parachute.chat.sessions.importing import ImportedSessions
from parachute.chat.sessions.models import Session
from parachute.config.vault.service import Vault
from parachute.ops.export.conversations import Conversation, as_json, as_page, conversation_of, page_name
from parachute.ops.export.readme import TEXT
from parachute.ops.export.zip_stream import Part

# The module `imports` knows these, too (`imports/reading/brain.py`): what is written here it reads again.
ABOUT, README = "parachute-brain.json", "README.txt"
FORMAT, VERSION = "parachute-brain", 1
FOLDERS = {"journal": "Daily", "brain": "Brain"}
CONTEXTS, CONVERSATIONS, SUGGESTIONS = "contexts", "conversations", "suggestions"
MEMORY = "parachute/memory.md"

_PIECE = 256 * 1024
_MESSAGES = 1_000_000
_PAGE = 200
_MOST = 1_000_000
_SKIPPED = frozenset({"Imported", "node_modules", "__pycache__"})


class Content:
    """The parts of an archive, one after the other, in an order that stays the same."""

    def __init__(self, vault: Vault, sessions: ImportedSessions, suggestions: Suggestions) -> None:
        self._vault = vault
        self._sessions = sessions
        self._suggestions = suggestions

    def about(self) -> Iterator[Part]:
        """Return the description of the archive, for people and programs."""
        yield Part(README, [TEXT.encode()])
        yield Part(ABOUT, [json.dumps({"format": FORMAT, "version": VERSION}).encode() + b"\n"])

    def files(self) -> Generator[Part]:
        """The journal, the entities, and what agents obey; blocking. Hidden files, links and what cannot be read are left out."""
        with Folder.open(self._vault.root) as vault:
            for name, folder in FOLDERS.items():
                for path in _walked(self._vault.root, folder):
                    if not is_told_in_vault(path):
                        yield from _part(vault, path, f"{name}{path[len(folder) :]}")
            for path in _walked(self._vault.root, ""):
                if is_told_in_vault(path) and path != MEMORY:
                    yield from _part(vault, path, f"{CONTEXTS}/{path}")
            yield from _part(vault, MEMORY, f"{CONTEXTS}/{MEMORY}")

    async def conversations(self) -> AsyncGenerator[Part]:
        """Each conversation twice; one whose transcript cannot be read is left out."""
        for identifier in sorted(await self._sessions.ids()):
            with contextlib.suppress(ParachuteError):  # deleted meanwhile, or not readable
                session = await self._sessions.sessions.get(identifier)
                if session.label_of_module is not None:
                    continue  # a module's agent at work, not a conversation of a person
                found = await self.conversation(session)
                changed = _moment(found.updated)
                yield Part(f"{CONVERSATIONS}/{found.id}.json", [as_json(found)], changed)
                page = f"{CONVERSATIONS}/{page_name(found)}.md"
                yield Part(page, [as_page(found)], changed)

    async def conversation(self, session: Session) -> Conversation:
        """Return what was said in a session."""
        return conversation_of(session, await self._sessions.sessions.messages(session.id, _MESSAGES))

    async def suggestions(self) -> AsyncGenerator[Part]:
        """Each suggestion with what became of it."""
        offset = 0
        while found := (await self._suggestions.page(limit=_PAGE, offset=offset))[0]:
            offset += len(found)
            for each in found:
                # An entry of several is only a way to decide about them together.
                for one in each.members if each.is_batch else (each,):
                    shown = {**document_of(one), "source_module": one.source_module, "batch": None}
                    document = json.dumps(shown, ensure_ascii=False, indent=1) + "\n"
                    content = document.encode("utf-8", "replace")
                    yield Part(f"{SUGGESTIONS}/{one.id}.json", [content], _moment(one.timestamp))


def _walked(root: Path, top: str) -> list[str]:
    """The files below a folder of the vault, by path; links are no files. Error: TooMany."""
    found: list[str] = []
    with Folder.open(root) as vault:
        try:
            folder = vault.folder(top or ".")
        except (OSError, InvalidInput):
            return []
        with folder:
            for path, _, entries in folder.walk(most=_MOST, unreadable=lambda *_: None):
                entered = []
                for entry in entries:
                    if entry.name.startswith(".") or (not top and entry.name in _SKIPPED):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        entered.append(entry)
                    elif entry.is_file(follow_symlinks=False):
                        found.append("/".join(filter(None, (top, path, entry.name))))
                entries[:] = entered
    return sorted(found)


def _part(vault: Folder, path: str, name: str) -> Iterator[Part]:
    try:
        file = vault.file(path)
    except (OSError, InvalidInput):
        return
    with file:
        # The clock on the wall, as archives have it.
        changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime)
        yield Part(name, iter(lambda: file.read(_PIECE), b""), changed)


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone() if text else None
    except ValueError:
        return None
