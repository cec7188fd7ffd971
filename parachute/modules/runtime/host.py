"""One module with a unit: its sockets, what is known of it, and how to ask it."""

from pathlib import Path
from typing import Any

from msgspec import Struct, field

from parachute.base.errors import NotFound
from parachute.core.errors import ModuleError, error_from_document
from parachute.modules.manifest.models import Manifest
from parachute.modules.runtime.client import HostClient
from parachute.modules.runtime.description import Description
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.specifications import Wanted
from parachute.web.http.unix_server import UnixListener

_CONTROL = "/_parachute/"


class Host(Struct):
    """A module whose unit is open; `listener` is the socket by which it reaches core."""

    wanted: Wanted
    client: HostClient
    description_file: Path
    listener: UnixListener | None = None
    description: Description = field(default_factory=Description)
    is_described: bool = False

    @property
    def module(self) -> ApprovedModule:
        """The approved module."""
        return self.wanted.module

    @property
    def manifest(self) -> Manifest:
        """The approved manifest."""
        return self.wanted.module.manifest

    async def control(self, method: str, name: str, document: Any = None, seconds: float = 60) -> Any:
        """Ask the host for something other than its routes; errors: HostDown, and what the host answers."""
        status, answer = await self.client.ask(method, f"{_CONTROL}{name}", document, seconds)
        if status >= 300:
            raise error_from_document(answer)
        return answer

    async def read(self, target: str) -> Any:
        """Read from one of the routes; errors: HostDown, NotFound where that has nothing for this, ModuleError."""
        status, answer = await self.client.ask("GET", target)
        if status < 300:
            return answer
        key = answer.get("key") if isinstance(answer, dict) else None
        kind = NotFound if status < 500 else ModuleError
        raise kind("The module has nothing there.", key=str(key) if key else None)
