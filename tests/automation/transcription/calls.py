"""Every route of recordings, used once as it is meant to be."""

from typing import Any

from tests.modules.runtime.module_computer import ModuleComputer


async def call_voice(computer: ModuleComputer, call: Any) -> None:
    """Ask about a recording, and do without its text; nobody transcribes it, since nothing listens at the address."""
    assert computer.command("config", "set", "voice.server", "http://127.0.0.1:9").returncode == 0
    (computer.vault / "called.wav").write_bytes(b"RIFF")
    assert (await call("GET /api/voice"))["ready"] is True
    asked = await call("POST /api/voice/transcriptions", {"path": "called.wav"})
    named = {"identifier": asked["id"]}
    await call("GET /api/voice/transcriptions")
    await call("GET /api/voice/transcriptions/{identifier}", **named)
    await call("POST /api/voice/transcriptions/{identifier}/retry", **named)
    await call("DELETE /api/voice/transcriptions/{identifier}", **named)
