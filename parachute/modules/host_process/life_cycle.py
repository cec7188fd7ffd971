"""Life cycle calls of a module, each when it is due."""

import asyncio
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular
from parachute.core.application import Application

_LIMIT = 1024


class LifeCycle:
    """Stores in the module's data folder for which of its versions on_enable was called."""

    def __init__(self, application: Application, data: Path, version: str) -> None:
        self._application = application
        self._mark = data / "enabled"
        self._version = version

    async def start(self) -> None:
        """Call on_enable if this version was not enabled yet, and on_start; error: ModuleError."""
        if await asyncio.to_thread(self._enabled_version) != self._version:
            await self.enable()
        await self._application.lifecycle("on_start")

    async def stop(self) -> None:
        """Call on_stop; error: ModuleError."""
        await self._application.lifecycle("on_stop")

    async def enable(self) -> None:
        """Call on_enable now; error: ModuleError, after which the next start tries again."""
        await self._application.lifecycle("on_enable")
        await asyncio.to_thread(atomic_write, self._mark, self._version)

    async def disable(self, step: str) -> None:
        """Call on_disable, so that the next start enables the module again; error: InvalidInput for another step."""
        if step != "disable":
            raise InvalidInput("step: enable or disable is expected.", key="unknown_step")
        await self._application.lifecycle("on_disable")
        self._mark.unlink(missing_ok=True)

    def _enabled_version(self) -> str:
        try:
            return read_regular(self._mark, _LIMIT).decode(errors="replace")
        except (OSError, InvalidInput):
            return ""
