"""Connectors that are open: what they said last, and what is asked of them. Nothing here opens or closes one."""

import asyncio
from pathlib import Path
from urllib.parse import quote

from msgspec import to_builtins

from parachute.base.errors import Conflict
from parachute.config.settings.home import Home
from parachute.connectors.platforms.models import Chat, Identity, Outgoing, Sent
from parachute.connectors.runtime.client import ConnectorClient
from parachute.connectors.runtime.models import Connection
from parachute.connectors.runtime.reading import read_identity, read_sent
from parachute.connectors.runtime.units import files_folder
from parachute.web.http.unix_server import UnixListener

SEND_SECONDS = 180.0
"""Longest wait for a message with its files; rate limits of a platform are waited for in there."""

ASK_SECONDS = 30.0


class Opened:
    """An open connector; `listener` is where it asks the server, once its unit is there."""

    def __init__(self, connection: Connection, client: ConnectorClient) -> None:
        self.connection = connection
        self.client = client
        self.listener: UnixListener | None = None


class OpenConnectors:
    """The open connectors by platform, and the last states of those that were `refused`: `Connectors` alone changes them.

    `changed` is set, and is another one from then on, when a connector has said how it is.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.open: dict[str, Opened] = {}
        self.refused: dict[str, Connection] = {}
        self.changed = asyncio.Event()

    def note(self, opened: Opened, connection: Connection) -> None:
        """Keep what a connector has said."""
        opened.connection = connection
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    def connections(self) -> dict[str, Connection]:
        """Every connector that is open or was refused, by platform."""
        return {**self.refused, **{platform: each.connection for platform, each in self.open.items()}}

    def files(self, platform: str) -> Path:
        """The folder that the server shares with a connector; it must be opened without following links."""
        return files_folder(platform, self._home.root)

    async def send(self, platform: str, key: str, outgoing: Outgoing) -> Sent:
        """Show a message under its key; errors: Conflict if the connector is not open, ConnectorDown, after which it may be sent again."""
        path = f"/messages/{quote(key, safe='')}"
        return read_sent(await self._client(platform).ask("PUT", path, to_builtins(outgoing), SEND_SECONDS))

    async def typing(self, platform: str, chat: Chat) -> None:
        """Show for some seconds that an answer is being written; errors: Conflict, ConnectorDown."""
        await self._client(platform).ask("POST", "/typing", to_builtins(chat), ASK_SECONDS)

    async def identity(self, platform: str) -> Identity:
        """Ask the platform who the bot is; errors: Conflict with what the platform says, ConnectorDown."""
        return read_identity(await self._client(platform).ask("POST", "/identity", None, ASK_SECONDS))

    def _client(self, platform: str) -> ConnectorClient:
        if (opened := self.open.get(platform)) is not None:
            return opened.client
        refused = self.refused.get(platform)
        reason = refused.state.sentence if refused else f"The connector for {platform} is not running."
        raise Conflict(reason, f"`parachute bots start {platform}` starts it.", key="connector_stopped")
