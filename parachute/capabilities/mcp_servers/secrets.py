"""Secrets of MCP servers: kept in the state directory, named in `.mcp.json`, and never shown again."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.capabilities.mcp_servers.headers import is_value
from parachute.capabilities.mcp_servers.models import SECRET, Server

_LIMIT = 1024 * 1024
_VALUE_LIMIT = 16 * 1024
_MOST = 200


class Secrets:
    """`mcp-secrets.json` in the state directory; every method waits for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "mcp-secrets.json"

    def names(self) -> list[str]:
        """The names of all; error: InvalidInput if the file cannot be read."""
        return sorted(self._read())

    def values(self) -> tuple[str, ...]:
        """The secrets themselves, so that they can be taken out of what others read; error: InvalidInput."""
        return tuple(self._read().values())

    def set(self, name: str, value: str) -> None:
        """Keep a secret under a name, in place of the one before; error: InvalidInput."""
        if not SECRET.fullmatch(f"${{secret:{name}}}"):
            raise InvalidInput(
                "name: 1 to 64 letters, digits and _ are expected, no digit first.", key="invalid_secret_name"
            )
        if not value or len(value) > _VALUE_LIMIT or "\0" in value:
            raise InvalidInput(
                f"The secret must have 1 to {_VALUE_LIMIT:,} characters, and no zero byte.", key="invalid_secret"
            )
        with locked(self._path):
            found = {**self._read(), name: value}
            if len(found) > _MOST:
                raise InvalidInput(
                    f"There are {_MOST} secrets already.", "Remove one that no server needs.", key="too_many_secrets"
                )
            atomic_write(self._path, json.dumps(found, indent=2))

    def remove(self, name: str) -> None:
        """Forget a secret; error: NotFound."""
        with locked(self._path):
            found = self._read()
            if found.pop(name, None) is None:
                raise NotFound(
                    f"There is no secret {name[:64]!r}.",
                    "`parachute mcp secret list` shows their names.",
                    key="no_such_secret",
                )
            atomic_write(self._path, json.dumps(found, indent=2))

    def missing(self, server: Server) -> list[str]:
        """The secrets that a server refers to and nobody has set."""
        return sorted(set(server.secrets) - set(self._read())) if server.secrets else []

    def environment(self, server: Server) -> dict[str, str]:
        """The server's environment with its secrets put in; error: InvalidInput naming one that is not set."""
        return self._filled(server, server.env)

    def headers(self, server: Server) -> dict[str, str]:
        """The server's headers with their secrets put in; error: InvalidInput, also for a secret that no header can hold."""
        found = self._filled(server, server.headers)
        if wrong := [name for name, value in found.items() if not is_value(value)]:
            raise InvalidInput(
                f"A secret in the header {wrong[0]} of the MCP server {server.name} has characters that no header can hold.",
                key="header_not_possible",
            )
        return found

    def _filled(self, server: Server, fields: Iterable[tuple[str, str]]) -> dict[str, str]:
        if missing := self.missing(server):
            raise InvalidInput(
                f"The secret {missing[0]} of the MCP server {server.name} is not set.",
                f"`parachute mcp secret set {missing[0]}` sets it.",
                key="secret_missing",
            )
        known: Mapping[str, str] = self._read() if server.secrets else {}
        return {name: SECRET.sub(lambda found: known[found[1]], value) for name, value in fields}

    def _read(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(read_private(self._path, _LIMIT).data, type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read: {error}.",
                "Remove it and set the secrets again.",
                key="secrets_unreadable",
            ) from error
