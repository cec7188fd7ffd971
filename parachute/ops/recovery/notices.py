"""Notices of lost databases and keys: kept for status and doctor until somebody has acknowledged them."""

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from parachute.base.answers import Answer
from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, locked, read_regular
from parachute.ops.recovery.inspection import Condition

FILE = "recovery.json"
_LIMIT = 256 * 1024
_KEPT = 50

_WAS = {"damaged": "was damaged", "empty": "was empty", "gone": "was gone", "whole": "was replaced"}
_MADE_ANEW = {
    "sessions.db": "It was rebuilt from the transcripts: chosen titles and contexts, archived states and links are lost.",
    "runs.db": "It was recreated: interrupted answers are no longer listed.",
    "events.db": "It was recreated: undelivered events and recordings that waited for transcription are lost.",
    "suggestions.db": "It was recreated: waiting suggestions and earlier decisions are lost.",
    "changes.db": "It was recreated: earlier changes of runs cannot be undone, and waiting changes stay in their views.",
    "vault-id": "This is another vault than before, such as one that was restored: its conversations are sandboxed.",
    "keys.yaml": "No other device can connect. Restore the file from a backup, or create new keys with "
    "`parachute keys create NAME`.",
    "trust.db": "It was recreated: all conversations are sandboxed and without grants, workspaces come from the vault's copies "
    "of them, and today's spending is forgotten.",
}


class Notice(Struct, frozen=True):
    """One file that was lost: `put_aside` is the name that it has now, `copy` the file that took its place."""

    at: str
    file: str
    condition: Condition
    put_aside: str | None = None
    copy: str | None = None
    copied_at: str | None = None

    @property
    def sentence(self) -> str:
        """Describe what happened, for a person."""
        name = Path(self.file).name
        said = f"{self.at[:16].replace('T', ' ')} UTC: {self.file} {_WAS[self.condition]}."
        if self.put_aside:
            said += f" It is kept as {self.put_aside}."
        if self.copy:
            return f"{said} Its copy {self.copy} took its place; what changed after {self.copied_at} is not in it."
        return f"{said} {_MADE_ANEW.get(name, 'It was recreated.')}"

    def shown(self) -> "ShownNotice":
        """Return the notice with its sentence."""
        return ShownNotice(**asdict(self), message=self.sentence)


class ShownNotice(Notice, Answer, frozen=True, kw_only=True):
    """A notice with its sentence for people, for apps and in the file."""

    message: str


class Notices:
    """`recovery.json` in the state directory."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    def read(self) -> list[Notice]:
        """Return the notices that nobody has acknowledged, oldest first."""
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=list[Notice])
        except (OSError, ValueError, ParachuteError):
            return []

    def add(self, notice: Notice) -> None:
        """Keep one more; error: OSError."""
        with locked(self._path):
            kept = [*self.read(), notice][-_KEPT:]
            atomic_write(
                self._path, msgspec.json.format(msgspec.json.encode([each.shown() for each in kept]), indent=1)
            )

    def acknowledge(self) -> int:
        """Forget them, since somebody has read them; how many there were. Error: OSError."""
        with locked(self._path):
            count = len(self.read())
            self._path.unlink(missing_ok=True)
        return count
