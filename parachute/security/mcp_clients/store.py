"""The file of clients: in it are hashes of tokens, and no token."""

import logging
from pathlib import Path

import msgspec

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write
from parachute.base.private_files import read_private
from parachute.security.mcp_clients.models import State

log = logging.getLogger(__name__)

FILE = "mcp-clients.json"
LIMIT = 4 * 1024 * 1024


class ClientsUnreadable(ParachuteError):
    """The file of clients is not understood, so none is let in by it."""

    status = 503
    key = "mcp_clients_unreadable"


class ClientStore:
    """`mcp-clients.json` in the state directory, which the server alone writes; every method waits for the disk."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE

    def load(self) -> State:
        """Read everything; error: ClientsUnreadable."""
        try:
            return parsed(read_private(self.path, LIMIT).data)
        except FileNotFoundError:
            return State()
        except (OSError, ValueError, ParachuteError) as error:
            # Where the owner's files lie is not for strangers, who are refused with this as well.
            log.error("%s cannot be read: %s", self.path, error)
            raise ClientsUnreadable(
                f"{FILE} cannot be read, so no MCP client is let in.",
                "`parachute doctor` says why. Remove it, restart, and connect them again.",
            ) from error

    def save(self, state: State) -> None:
        """Replace everything; error: OSError."""
        atomic_write(self.path, msgspec.json.encode(state))


def parsed(data: bytes) -> State:
    """The content of the file; error: ValueError."""
    return msgspec.json.decode(data, type=State)
