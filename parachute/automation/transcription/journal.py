"""The journal's recordings: which of its entries wait for a text, and the text on its way into them."""

from typing import Any

from parachute.automation.transcription.models import Job, Transcription
from parachute.base.errors import InvalidInput, NotAllowed
from parachute.base.folders import Folder
from parachute.config.vault.service import Vault
from parachute.modules.runtime.interfaces import Interfaces

EVENTS = ("daily.entry.created", "daily.entry.updated")
JOURNAL = "JournalInterface"
_SECONDS = 60.0
_LONGEST = 900_000  # characters; an entry has room for some more


def recording_of(data: dict[str, Any]) -> tuple[str, str] | None:
    """An entry and its recording, from an event about it; None where it has a text, or no recording."""
    entry, path, content = data.get("entry_id"), data.get("audio_path"), data.get("content")
    if not isinstance(entry, str) or not isinstance(path, str) or content:
        return None
    return entry, path


class JournalTexts:
    """Writes texts into entries, and beside each recording what was said when."""

    def __init__(self, vault: Vault, interfaces: Interfaces) -> None:
        self._vault = vault
        self._interfaces = interfaces

    async def text_of(self, entry: str) -> str | None:
        """The text that an entry has, None if there is no such entry; errors: Unavailable, HostDown."""
        found = await self._interfaces.call_for_core(JOURNAL, "get", {"entry_id": entry}, _SECONDS)
        return str(found["content"]) if found else None

    async def write(self, job: Job, result: Transcription) -> bool:
        """True if the entry has the text now; errors: Unavailable, HostDown, and what the journal answers."""
        asked = {"entry_id": job.entry, "text": result.text[:_LONGEST], "language": result.language}
        asked["replaced"] = job.replaced or ""
        return bool(await self._interfaces.call_for_core(JOURNAL, "transcribed", asked, _SECONDS))

    def write_times(self, path: str, result: Transcription) -> None:
        """Write what was said when into a file of subtitles beside the recording; blocking."""
        if not result.segments:
            return
        try:
            with Folder.open(self._vault.root) as vault:
                vault.write(f"{path}.vtt", as_subtitles(result), 0o644)
        except (OSError, InvalidInput, NotAllowed):
            pass  # the text is in the entry, and the times are in the record of the transcription


def as_subtitles(result: Transcription) -> str:
    """WebVTT (W3C), which players show with the recording."""
    parts = ["WEBVTT"] + ([f"NOTE language: {result.language}"] if result.language else [])
    for each in result.segments:
        text = each.text.replace("&", "&amp;").replace("<", "&lt;").replace("-->", "→")
        parts.append(f"{_moment(each.start)} --> {_moment(each.end)}\n{' '.join(text.split())}")
    return "\n\n".join(parts) + "\n"


def _moment(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    hours, rest = divmod(milliseconds, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
