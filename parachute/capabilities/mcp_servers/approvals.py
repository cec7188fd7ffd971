"""Approvals of MCP servers, by the hash of their configuration: a file that no vault and no agent brings."""

from collections.abc import Iterable
from pathlib import Path

from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.errors import InvalidInput
from parachute.capabilities.mcp_servers.models import Approval


class Approvals:
    """`mcp-approved.json` in the state directory; several programs write it."""

    def __init__(self, root: Path) -> None:
        hint = "Remove the file and approve your MCP servers again: `parachute mcp approve NAME`."
        self._hashes = ApprovedHashes(root / "mcp-approved.json", "server", "MCP server", hint)

    def all(self) -> dict[str, Approval]:
        """The approval of each server by its name; error: InvalidInput if the file cannot be read."""
        return {
            str(entry["server"]): Approval(
                digest, _texts(entry.get("hosts")), _texts(entry.get("folders")), str(entry.get("approved_at"))
            )
            for digest, entry in self._hashes.entries().items()
        }

    def approve(self, name: str, digest: str, hosts: Iterable[str], folders: Iterable[str]) -> None:
        """Approve a configuration with what it may reach; an earlier one of the same name is not approved any more."""
        self._hashes.approve([(name, digest)], hosts=list(hosts), folders=list(folders))

    def withdraw(self, name: str) -> None:
        """Take the approval of a server back."""
        self._hashes.withdraw(name)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InvalidInput(
            "An approval of an MCP server cannot be read.", "Approve the server again.", key="approval_unreadable"
        )
    return tuple(value)
