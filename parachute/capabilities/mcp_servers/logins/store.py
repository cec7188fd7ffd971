"""The file of logins: no vault and no agent brings it, and what is in it is never shown."""

from pathlib import Path

import msgspec

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.capabilities.mcp_servers.logins.models import Login

_LIMIT = 4 * 1024 * 1024


class Logins:
    """`mcp-logins.json` in the state directory; every method waits for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "mcp-logins.json"

    def all(self) -> dict[str, Login]:
        """Every login by its server; error: InvalidInput if the file cannot be read."""
        try:
            logins = msgspec.json.decode(read_private(self._path, _LIMIT).data, type=list[Login])
            return {login.server: login for login in logins}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read: {error}.", "Remove it and sign in again.", key="logins_unreadable"
            ) from error

    def of(self, server: str, url: str) -> Login | None:
        """The login at a server as long as it has this address; error: InvalidInput."""
        login = self.all().get(server)
        return login if login is not None and login.url == url else None

    def keep(self, login: Login) -> None:
        """Keep a login in place of the one before; error: InvalidInput."""
        with locked(self._path):
            self._write({**self.all(), login.server: login})

    def forget(self, server: str) -> Login | None:
        """Forget a login, and return what it was; error: InvalidInput."""
        with locked(self._path):
            found = self.all()
            login = found.pop(server, None)
            if login is not None:
                self._write(found)
        return login

    def secrets(self) -> tuple[str, ...]:
        """All tokens, so that they can be taken out of what others read; error: InvalidInput."""
        return tuple(secret for login in self.all().values() for secret in login.secrets)

    def _write(self, logins: dict[str, Login]) -> None:
        atomic_write(self._path, msgspec.json.encode(list(logins.values())))
