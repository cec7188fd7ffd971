"""A hostile module: it tries what its permissions do not give it, and says what came of each attempt."""

import os
from pathlib import Path
from typing import Any

from parachute.core import Module, event, route

from . import attempts, places


class ProberModule(Module):
    """Its routes are plain functions, which run in a thread: what they try takes its time."""

    name = "prober"
    version = "1.0.0"

    @route("GET", "/process")
    def process(self) -> dict[str, Any]:
        """Return the process that answers, and those that it sees."""
        seen = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return {"process": os.getpid(), "seen": sorted(seen)}

    @route("POST", "/attempts")
    def attempts(self, home: str, vault: str, port: int, core: int) -> dict[str, str]:
        """The outcome of each attempt: `done`, the name of an error, or that of the signal that ended it."""
        return attempts.outcomes(home, vault, port, core)

    @route("GET", "/places")
    def places(self) -> dict[str, list[str]]:
        """Every folder that it may write, every socket that it sees, and every file of the user."""
        return places.found()

    @route("POST", "/forks")
    def forks(self, number: int) -> dict[str, int]:
        """Return the number of further processes that it can have at once."""
        return {"forks": attempts.forks(number)}

    @route("POST", "/memory")
    def memory(self, processes: int, mebibytes: int) -> dict[str, int]:
        """Return the number of processes that can each fill so much memory, and keep it while the others do."""
        return {"filled": attempts.filled(processes, mebibytes)}

    @route("POST", "/bomb")
    def bomb(self) -> dict[str, Any]:
        """Start as many processes as it can get, which go on after the answer."""
        attempts.bomb()
        return {}

    @route("POST", "/die")
    def die(self) -> None:
        """End without a word."""
        os._exit(7)

    @event("reading.note.added")
    async def noted(self, path: str) -> None:
        """Record the event."""
        await self.core.files.write("Probes/heard.md", path)
