"""Files of conversations that an import brings: staged while they come, and put where attachments of conversations are."""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable

from parachute.base.errors import InvalidInput
from parachute.base.files import remove_tree
from parachute.base.folders import Folder
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.models import Import
from parachute.chat.sessions.models import is_session_id
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault

_NAME = re.compile(r"\w[\w.-]{0,199}")
_MOST = 20_000
"""Files that wait for their conversations; a batch of conversations has ten thousand at the most."""


class AttachedFiles:
    """Files of imports under way, by their conversation; its methods block."""

    def __init__(self, vault: Vault, folders: ImportFolders, transcripts: Transcripts) -> None:
        self._vault = vault
        self.folders = folders
        self._transcripts = transcripts
        self._staged: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))

    def stage(self, found: Import, session: str, name: str, number: int) -> None:
        """Remember what was staged under a number; error: InvalidInput."""
        waiting = self._staged[found.id]
        if sum(map(len, waiting.values())) >= _MOST:
            raise InvalidInput(f"At most {_MOST:,} files come before their conversations.", key="too_many_attachments")
        waiting[session][name] = number

    def place(self, import_id: str, session: str) -> None:
        """Put those of a conversation where its messages have them; error: Unavailable where a link is."""
        staged = self._staged[import_id].pop(session, {})
        if not staged:
            return
        place = self._vault.private_folder(".parachute", "attachments", session)
        with Folder.open(self.folders.root) as root, Folder.open_unlinked(place) as folder:
            for name, number in staged.items():
                source = f"{import_id}/staged/{number}"
                with root.file(source) as file:
                    os.fchmod(file.fileno(), 0o644)  # as those that are attached here
                root.rename(source, folder, name)
            folder.sync()

    def drop(self, import_id: str, sessions: Iterable[str]) -> None:
        """Remove what got no place."""
        for session in sessions:
            for number in self._staged[import_id].pop(session, {}).values():
                self.folders.unstage(import_id, number)

    def forget(self, import_id: str) -> None:
        """Forget an import that is over, whose staged files go with it."""
        self._staged.pop(import_id, None)

    def remove(self, session: str) -> None:
        """Remove those of a conversation that was not stored."""
        with contextlib.suppress(OSError):
            remove_tree(self._vault.state / "attachments" / session, self._vault.root)

    def named(self, session: str) -> set[str]:
        """The names of those that messages have which imports brought."""
        return {name for event in self._transcripts.imported_events(session) for name in event.get("attachments", ())}

    def remove_files(self, session: str, names: Iterable[str]) -> None:
        """Remove some of a conversation; those of a message that was said here stay."""
        own = {name for event in self._transcripts.own_events(session) for name in event.get("attachments", ())}
        with (
            contextlib.suppress(OSError),
            Folder.open_unlinked(self._vault.state / "attachments" / session) as folder,
        ):
            for name in {entry.name for entry in folder.entries()} & (set(names) - own):
                folder.remove(name)


def check_attachment(session: str, name: str) -> None:
    """See that a conversation and a name are what they may be; error: InvalidInput."""
    if not is_session_id(session) or not _NAME.fullmatch(name) or len(name.encode()) > 255:
        raise InvalidInput(
            "name: 1 to 200 letters, digits, `_`, `.` and `-` are expected, of which the first is a letter or a digit.",
            key="attachment_name_malformed",
        )
