"""What would turn a recording into text; none comes with this module, the app does it on the device."""

from typing import Protocol


class Transcriber(Protocol):
    """Turns recordings into text."""

    async def transcribe(self, audio_path: str) -> str:
        """The words of a recording, by its path within the vault."""
