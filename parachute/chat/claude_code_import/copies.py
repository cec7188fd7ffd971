"""Copies of transcripts on their way into the vault, so that what is cut off can be told from what is done."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from parachute.claude_code.history import History
from parachute.claude_code.models import Found
from parachute.errors import Unavailable
from parachute.files import private_folder
from parachute.sandbox.service import Sandboxes
from parachute.sessions.models import is_session_id
from parachute.sessions.transcripts import Transcripts
from parachute.vault.service import Vault


class Copies:
    """A copy is staged, then placed where its session's sandbox sees it, and settled when the session is stored.

    `{vault}/.parachute/adopting` holds `{session}.jsonl` while it is staged, and the mark `{session}` until it is settled.
    """

    def __init__(self, history: History, vault: Vault, transcripts: Transcripts, sandboxes: Sandboxes) -> None:
        self._history = history
        self._transcripts = transcripts
        self._sandboxes = sandboxes
        self._staging = vault.state / "adopting"

    def stage(self, found: Found) -> None:
        """Copy a transcript, which takes long; errors: Unavailable, and those of `History.copy`."""
        with _copying():
            private_folder(self._staging)
            self._staged(found.session).unlink(missing_ok=True)
            self._history.copy(found, self._staged(found.session))

    def place(self, session: str) -> bool:
        """Give a staged copy its place; False if there is a transcript: the vault may have lost its database. Error: Unavailable."""
        with _copying():
            target = self._place(session)
            self._transcripts.make_folder(session)
            if target.is_symlink() or target.exists():
                return False
            self._mark(session).touch(mode=0o600)
            self._staged(session).rename(target)
        return True

    def unstage(self, session: str) -> None:
        """Remove what is staged, if anything is."""
        with contextlib.suppress(OSError):
            self._staged(session).unlink(missing_ok=True)

    def settle(self, session: str) -> None:
        """Take note that the session of a copy is stored."""
        self._mark(session).unlink(missing_ok=True)

    def remove(self, session: str) -> None:
        """Remove a copy that was placed; error: OSError."""
        self._place(session).unlink(missing_ok=True)
        self._sandboxes.forget(session)
        self.settle(session)

    def unsettled(self) -> list[str]:
        """Sessions whose copies were placed when the computer ended; error: OSError."""
        if self._staging.is_symlink() or not self._staging.is_dir():
            return []
        return [path.name for path in self._staging.iterdir() if is_session_id(path.name)]

    def clear(self) -> None:
        """Remove everything that is staged, and all marks."""
        shutil.rmtree(self._staging, ignore_errors=True)

    def _place(self, session: str) -> Path:
        return self._transcripts.folder(session) / f"{session}.jsonl"

    def _staged(self, session: str) -> Path:
        return self._staging / f"{session}.jsonl"

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
        ) from error
