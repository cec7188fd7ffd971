"""The server, as a connector sees it: asked for a start, given updates until it has stored them, and told states."""

import asyncio
import logging
from typing import Any

from msgspec import convert, to_builtins
from msgspec.structs import replace

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.connectors.platforms.models import Start, State, Update, Updates
from parachute.connectors.process.masking import Masking
from parachute.modules.host_process.client import CoreClient

log = logging.getLogger("parachute.connector")

UPDATES_AT_ONCE = 100
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0
_STORE_SECONDS = 60.0
_STATE_SECONDS = 5.0


class Server:
    """Asks over the socket that says who asks. A server that is away is waited for; what was to be stored keeps its order."""

    def __init__(self, client: CoreClient, masking: Masking) -> None:
        self._client = client
        self._masking = masking
        self.state = State("connecting")
        """Last reported state, for a server that has just started and asks."""

    async def start(self) -> Start:
        """Return what the connector needs to begin."""
        document = await self._ask_until_answered("/start", {})
        return convert(document, Start)

    async def hand_over(self, updates: Updates) -> None:
        """Return when all updates are stored."""
        batches = [
            updates.updates[first : first + UPDATES_AT_ONCE]
            for first in range(0, len(updates.updates), UPDATES_AT_ONCE)
        ] or [()]
        for batch in batches:
            # The position counts once everything before it is stored.
            await self._store(batch, updates.position if batch is batches[-1] else "")

    async def report(self, state: State) -> None:
        """Tell how the connection is, once: a server that is away will ask when it is there again."""
        state = replace(state, sentence=self._masking.masked(state.sentence), name=self._masking.masked(state.name))
        if state == self.state:
            return
        self.state = state
        log.info("%s %s %s", state.kind, state.name, state.sentence)
        try:
            await self._client.request("POST", "/state", to_builtins(state), seconds=_STATE_SECONDS)
        except ParachuteError as error:
            log.warning("The state was not heard: %s", error)

    async def _store(self, batch: tuple[Update, ...], position: str) -> None:
        try:
            await self._ask_until_answered("/updates", to_builtins(Updates(batch, position)))
        except InvalidInput as error:
            if len(batch) == 1:
                # One that can never be stored must not hold up all that follow; its text is nobody's business here.
                log.error("The update %s is dropped: %s", batch[0].id, error)
                return
            for update in batch:
                await self._store((update,), position if update is batch[-1] else "")

    async def _ask_until_answered(self, path: str, document: dict[str, Any]) -> Any:
        """Ask until there is an answer; error: InvalidInput if the server cannot take what it is given."""
        wait = _FIRST_WAIT
        while True:
            try:
                return await self._client.request("POST", path, document, seconds=_STORE_SECONDS)
            except InvalidInput:
                raise
            except ParachuteError as error:
                if wait == _LONGEST_WAIT:
                    log.warning("%s waits for the server: %s", path, error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
