"""Units of connectors: opened and closed, and heard."""

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, ParachuteError
from parachute.config.settings.home import Home
from parachute.connectors.platforms.available import check_installed
from parachute.connectors.platforms.models import Start, State, Updates
from parachute.connectors.runtime.client import ConnectorClient
from parachute.connectors.runtime.models import Answers, Connection
from parachute.connectors.runtime.open_connectors import ASK_SECONDS, OpenConnectors, Opened
from parachute.connectors.runtime.reading import read_state
from parachute.connectors.runtime.server_api import ServerApi
from parachute.connectors.runtime.units import ConnectorUnits
from parachute.sandbox.egress.service import Egress
from parachute.supervisor import units

log = logging.getLogger(__name__)

_LOOK_SECONDS = 300.0
"""Interval in which connectors that gave up are looked for."""


class Connectors:
    """Opens a unit for every messenger that the owner has switched on; `opened` says which are.

    `answers` is asked for what a connector needs, stores what it hands over, and hears its states. A connector that was refused
    by its platform is ended, and keeps its state until it is opened again.
    """

    def __init__(
        self,
        home: Home,
        egress: Egress,
        vault: Path,
        own_port: int,
        opened: OpenConnectors,
        answers: Answers,
        clock: Clock = SYSTEM,
    ) -> None:
        self._home = home
        self._answers = answers
        self._clock = clock
        self._units = ConnectorUnits(home, egress, vault, own_port, ServerApi(self).application)
        self.opened = opened
        self._open, self._refused = opened.open, opened.refused
        self._changing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open_all(self, wanted: dict[str, str]) -> None:
        """Open connectors (platform and the address of its server, empty for its own), and end those that are not wanted.

        To be called once at the start of the server. What cannot be opened is logged, and shown by `connections`.
        """
        async with self._changing:
            for platform in set(await self._units.states()) - wanted.keys():
                await self._units.close(platform)
        for platform, server in wanted.items():
            try:
                await self.open(platform, server)
            except ParachuteError as error:
                log.error("The connector for %s cannot be opened: %s", platform, error)
                self._refused[platform] = Connection(
                    platform, State("refused", str(error)), self._clock.now().timestamp()
                )
        self._later(self._look_after(), "connectors")

    async def close_all(self) -> None:
        """Leave the units to the supervisor: another server finds them as they are, and they wait for it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._changing:
            for platform, each in self._open.items():
                if each.listener is not None:
                    await self._units.detach(platform, each.listener)
            self._open.clear()

    async def open(self, platform: str, server: str = "") -> None:
        """Start a connector; one that runs goes on with what it knows. Errors: NotFound, InvalidInput, Unavailable."""
        await asyncio.to_thread(check_installed, platform)
        async with self._changing:
            if platform in self._open:
                await self._units.revive(platform)
                return
            self._refused.pop(platform, None)
            client = ConnectorClient(platform, units.connector_socket(self._home, platform))
            runs = (await self._units.states()).get(platform, {}).get("state") == "running"
            # Before the unit is opened: it asks at once what it needs.
            connection = Connection(platform, State("connecting"), self._clock.now().timestamp())
            self._open[platform] = opened = Opened(connection, client)
            try:
                opened.listener = await self._units.open(platform, server)
            except BaseException:
                del self._open[platform]
                raise
        if runs:
            # It said how it is to an earlier server.
            self._later(self._ask_state(opened), f"state of {platform}")

    async def close(self, platform: str, *, forget: bool = False) -> None:
        """End a connector; one that is not open is no error. `forget`: its files go too, with what it remembers of what it sent."""
        async with self._changing:
            self._refused.pop(platform, None)
            opened = self._open.pop(platform, None)
            await self._units.close(platform, opened.listener if opened else None, forget=forget)

    async def restart(self, platform: str, server: str = "") -> None:
        """End a connector and start it again, with another token or account; errors as for `open`."""
        await self.close(platform)
        await self.open(platform, server)

    async def resume(self) -> None:
        """Start the connectors again that ended when all agents were stopped."""
        async with self._changing:
            for platform in self._open:
                await self._units.revive(platform)

    async def unit_states(self) -> dict[str, dict[str, Any]]:
        """Return the supervisor's state of each unit; error: Unavailable."""
        return await self._units.states()

    async def start(self, platform: str) -> Start:
        """Answer a connector that begins; error: Conflict."""
        if platform not in self._open:
            raise Conflict(f"The connector for {platform} is stopping.", key="connector_ending")
        return await self._answers.start(platform)

    async def updates(self, platform: str, updates: Updates) -> None:
        """Have updates stored."""
        await self._answers.updates(platform, updates)

    async def changed(self, platform: str, state: State) -> None:
        """Keep a connector's state, and end one that its platform refuses: it would be refused for ever."""
        opened = self._open.get(platform)
        if opened is None:
            return
        self.opened.note(opened, Connection(platform, state, self._clock.now().timestamp()))
        if state.kind == "refused":
            log.warning("%s refuses the connector: %s", platform, state.sentence)
            self._later(self._end_refused(opened), f"refused {platform}")
        await self._answers.changed(platform, state)

    async def _end_refused(self, opened: Opened) -> None:
        platform = opened.connection.platform
        async with self._changing:
            if self._open.get(platform) is opened:
                self._refused[platform] = opened.connection
                del self._open[platform]
                await self._units.close(platform, opened.listener)

    async def _ask_state(self, opened: Opened) -> None:
        state = read_state(await opened.client.ask("GET", "/state", None, ASK_SECONDS))
        await self.changed(opened.connection.platform, state)

    async def _look_after(self) -> None:
        """Start what the supervisor has given up again now and then: nobody else would notice that the messenger is silent."""
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            try:
                units = await self._units.states()
                for platform in list(self._open):
                    if units.get(platform, {}).get("state") == "failed":
                        await self._units.revive(platform)
                    await self._units.forget_old_files(platform)
            except (ParachuteError, OSError) as error:
                log.warning("Connectors could not be looked after: %s", error)

    def _later(self, work: Coroutine[Any, Any, None], name: str) -> None:
        async def guarded() -> None:
            try:
                await work
            except ParachuteError as error:
                log.warning("The %s: %s", name, error)

        task = asyncio.create_task(guarded(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
