"""Copies of transcripts on their way into the vault; a copy that was interrupted is recognized at the next start."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.base.files import private_folder, remove_tree
from parachute.base.folders import Folder
from parachute.chat.claude_code_import.history import History
from parachute.chat.claude_code_import.models import Found
from parachute.chat.sessions.models import is_session_id
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault
from parachute.sandbox.engines.service import Sandboxes
from parachute.sandbox.layout import ATTACHMENTS


class Copies:
    """A copy is staged, then placed where its session's sandbox sees it, and settled when the session is stored.

    `{vault}/.parachute/adopting` holds `{session}.jsonl` while it is staged, and the mark `{session}` until it is settled.
    Results of tools that lie beside a transcript become attachments, which each sandbox has at the same place.
    """

    def __init__(self, history: History, vault: Vault, transcripts: Transcripts, sandboxes: Sandboxes) -> None:
        self._history = history
        self._transcripts = transcripts
        self._sandboxes = sandboxes
        self._vault = vault.root
        self._state = vault.state
        self._staging = vault.state / "adopting"

    def stage(self, found: Found) -> None:
        """Copy a transcript, which takes long; errors: Unavailable, and those of `History.copy`."""
        with _copying():
            private_folder(self._staging)
            self.unstage(found.session)
            has_results = self._history.copy_results(found, self._results(found.session))
            self._history.copy(found, self._staged(found.session), ATTACHMENTS if has_results else None)

    def place(self, session: str) -> bool:
        """Move a staged copy to its place; False if a transcript is there: the vault may have lost its database. Error: Unavailable."""
        with _copying():
            self._transcripts.make_folder(session)
            with Folder.open(self._vault) as vault:
                target = self._place(session).relative_to(self._vault)
                if vault.status(target) is not None:
                    return False
                os.close(vault.descriptor(self._mark(session).relative_to(self._vault), os.O_WRONLY | os.O_CREAT))
                vault.rename(self._staged(session).relative_to(self._vault), vault, target)
                results, kept = self._results(session).relative_to(self._vault), self._attachments(session)
                if vault.status(results) is not None:
                    private_folder(kept.parent, self._vault)
                    remove_tree(kept, self._vault)  # of a session that nobody knows any more
                    vault.rename(results, vault, kept.relative_to(self._vault))
        return True

    def unstage(self, session: str) -> None:
        """Remove what is staged, if anything is."""
        for path in (self._staged(session), self._results(session)):
            with contextlib.suppress(OSError):
                remove_tree(path, self._vault)

    def settle(self, session: str) -> None:
        """Remove the mark of a copy whose session is stored."""
        remove_tree(self._mark(session), self._vault)

    def remove(self, session: str) -> None:
        """Remove a copy that was placed; error: OSError."""
        remove_tree(self._place(session), self._vault)
        remove_tree(self._attachments(session), self._vault)
        self._sandboxes.opened.forget(session)
        self.settle(session)

    def unsettled(self) -> list[str]:
        """Sessions whose copies were placed when the computer ended; error: OSError."""
        try:
            with Folder.open(self._vault) as vault, vault.folder(self._staging.relative_to(self._vault)) as staging:
                return [entry.name for entry in staging.entries() if is_session_id(entry.name)]
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return []
            raise

    def clear(self) -> None:
        """Remove everything that is staged, and all marks."""
        with contextlib.suppress(OSError):
            remove_tree(self._staging, self._vault)

    def _place(self, session: str) -> Path:
        return self._transcripts.folder(session) / f"{session}.jsonl"

    def _staged(self, session: str) -> Path:
        return self._staging / f"{session}.jsonl"

    def _results(self, session: str) -> Path:
        return self._staging / f"{session}.results"

    def _attachments(self, session: str) -> Path:
        return self._state / "attachments" / session

    def _mark(self, session: str) -> Path:
        return self._staging / session


@contextlib.contextmanager
def _copying() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"The conversation could not be copied into the vault: {error.strerror}.",
            "See that the disk has room and that the vault can be written.",
            key="conversation_not_copied",
        ) from error
