"""Origins of what modules say: of their own data, of the network, and of conversations and modules that they have read."""

import asyncio
from pathlib import Path

import msgspec

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular
from parachute.modules.registry.models import Trust
from parachute.modules.runtime.models import ApprovedModule
from parachute.security.origin import Origin, lowest

_LIMIT = 1024 * 1024


class ModuleOrigins:
    """Origins that each module may pass on; one that it has read counts for ever, since nobody sees what it keeps of that.

    It is kept in `file`; with one that cannot be read nobody knows what modules have read.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._read: dict[str, Origin] = {}
        self._unknown = Origin.OWNER
        self._writing = asyncio.Lock()
        try:
            if file:
                self._read = msgspec.json.decode(read_regular(file, _LIMIT), type=dict[str, Origin])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, InvalidInput):
            self._unknown = Origin.IMPORT

    def of(self, module: ApprovedModule) -> Origin:
        """Return the origin of what a module keeps, as its manifest has it."""
        permissions = module.manifest.permissions
        if module.trust is Trust.UNTRUSTED:
            return Origin.UNTRUSTED_MODULE
        if permissions.sessions == "create":
            return Origin.IMPORT
        if permissions.network:
            return Origin.WEB
        return Origin.OWN_FILE if permissions.conversations == "none" else Origin.AGENT_FILE

    def of_words(self, module: ApprovedModule) -> Origin:
        """Return the lowest origin of what a module may say, with what it has read."""
        return lowest(self.of(module), self._read.get(module.name, self._unknown))

    async def has_read(self, module: str, origin: Origin) -> None:
        """Note what a module is about to be told; error: OSError."""
        before = self._read.get(module, self._unknown)
        if not origin.is_below(before):
            return
        # At once in memory: another one asks meanwhile.
        self._read[module] = origin
        if self._file is not None:
            async with self._writing:
                await asyncio.to_thread(atomic_write, self._file, msgspec.json.encode(self._read))
