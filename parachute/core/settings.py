"""Settings that the manifest declares and the user may change."""

from collections.abc import Mapping
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.core.connection import Connection, member


class Settings:
    """Reads and writes the module's settings through the server, which checks their types and keeps secrets."""

    def __init__(self, defaults: Mapping[str, Any], connection: Connection) -> None:
        self._defaults = dict(defaults)
        self._connection = connection

    async def all(self) -> dict[str, Any]:
        """Every setting of the manifest with its value, or its default."""
        stored = member(await self._connection.request("GET", "/settings"), "settings", dict)
        return {name: stored.get(name, default) for name, default in self._defaults.items()}

    async def get(self, name: str) -> Any:
        """One setting; error: InvalidInput for a name that the manifest does not have."""
        self._check(name)
        return (await self.all())[name]

    async def set(self, name: str, value: Any) -> None:
        """Change a setting; error: InvalidInput when the value is not of its type."""
        self._check(name)
        await self._connection.request("PUT", f"/settings/{name}", {"value": value})

    async def delete(self, name: str) -> None:
        """Go back to the default."""
        self._check(name)
        await self._connection.request("DELETE", f"/settings/{name}")

    def _check(self, name: str) -> None:
        if name not in self._defaults:
            known = ", ".join(self._defaults) or "none"
            raise InvalidInput(f"{name}: unknown setting; manifest.yaml has: {known}.", key="unknown_setting")
