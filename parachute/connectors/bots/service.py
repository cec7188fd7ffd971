"""Bots: their processes follow the settings, and the owner sees what each is doing."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.chat.sessions.service import Sessions
from parachute.connectors.bots.models import BotsStatus, ConfigurationShown, ConnectorStatus
from parachute.connectors.chats.codes import SECONDS, OwnerCodes
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.models import PLATFORMS, ConfigurationChanges, Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.conversations.service import Conversations
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.notices.service import Notices
from parachute.connectors.platforms.available import check_installed, label
from parachute.connectors.platforms.models import Identity, State
from parachute.connectors.runtime.client import ConnectorDown
from parachute.connectors.runtime.service import Connectors
from parachute.connectors.updates.store import UpdateStore
from parachute.security.audit.service import Audit
from parachute.web.pairing.models import shown

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 20.0


@dataclass(slots=True)
class Bots:
    """`changed` is called when screens have something else to show."""

    configuration: BotConfiguration
    connectors: Connectors
    chats: ChatStore
    updates: UpdateStore
    deliveries: Deliveries
    conversations: Conversations
    notices: Notices
    sessions: Sessions
    audit: Audit
    codes: OwnerCodes
    changed: Callable[[], None]
    clock: Clock = SYSTEM
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def start(self) -> None:
        """Open the connectors of all bots that are switched on; what is wrong with one keeps nothing else from its start."""
        wanted: dict[str, str] = {}
        try:
            await asyncio.to_thread(self.configuration.move)
            configuration, has_token = await asyncio.to_thread(
                lambda: (self.configuration.read(), self.configuration.has_tokens())
            )
            wanted = {
                platform: configuration.of(platform).address
                for platform in PLATFORMS
                if configuration.of(platform).enabled and has_token[platform]
            }
        except ParachuteError as error:
            log.error("No bot runs: %s", error)
        # Without any, the supervisor is not even asked.
        if wanted or any(self.connectors.opened.files(platform).parent.exists() for platform in PLATFORMS):
            await self.connectors.open_all(wanted)
        for platform in PLATFORMS:
            if platform in wanted:
                self.deliveries.begin(platform)
        await self.conversations.take_up()

    async def close(self) -> None:
        """Leave the connectors to the next server."""
        await self.conversations.close()
        await self.deliveries.close()
        await self.connectors.close_all()

    async def status(self) -> BotsStatus:
        """Return the status of each bot; error: InvalidInput where the settings cannot be read."""
        configuration, has_token = await asyncio.to_thread(
            lambda: (self.configuration.read(), self.configuration.has_tokens())
        )
        connections = self.connectors.opened.connections()
        found: dict[Platform, ConnectorStatus] = {}
        for platform in PLATFORMS:
            connection = connections.get(platform)
            state = connection.state if connection else State("refused")
            found[platform] = ConnectorStatus(
                label=label(platform),
                running=connection is not None and state.kind != "refused",
                enabled=configuration.of(platform).enabled,
                has_token=has_token[platform],
                state=state.kind if connection else "stopped",
                reason=state.sentence or None,
                bot_name=state.name or None,
                waiting_messages=await self.updates.count_waiting(platform),
                unsent=await self.deliveries.count_waiting(platform),
                undelivered=await self.deliveries.count_failed(platform),
            )
        return BotsStatus(connectors=found)

    async def configure(self, changes: ConfigurationChanges, who: str) -> ConfigurationShown:
        """Change the settings, and let the connectors follow; errors: InvalidInput, and then nothing has changed."""
        async with self._changing:
            before = await asyncio.to_thread(self.configuration.read)
            after = await asyncio.to_thread(self.configuration.change, changes)
            for platform in PLATFORMS:
                old, new = before.of(platform), after.of(platform)
                has_new_token = changes.token(platform) is not None
                if has_new_token:
                    self._record("set_token", platform, who)
                if (old, has_new_token) == (new, False):
                    continue
                self._record("configure", platform, who)
                try:
                    await self._follow(platform, anew=has_new_token or old.address != new.address)
                except ParachuteError as error:
                    log.error("The bot of %s does not run: %s", platform, error)
        self.changed()
        return await self.shown()

    async def switch_on(self, platform: Platform, who: str) -> None:
        """Have a bot run from now on; errors: ParachuteError with what is missing, and then it stays off."""
        async with self._changing:
            # Before the token: nobody shall make one that nothing takes.
            await asyncio.to_thread(check_installed, platform)
            if await asyncio.to_thread(self.configuration.tokens.of, platform) is None:
                raise Conflict(
                    f"The bot of {label(platform)} has no token.",
                    f"`parachute bots set-token {platform}` takes one.",
                    key="no_token",
                )
            configuration = await asyncio.to_thread(self.configuration.read)
            await self.connectors.open(platform, configuration.of(platform).address)
            await asyncio.to_thread(self.configuration.enable, platform, True)
            self.deliveries.begin(platform)
        self._record("start", platform, who)
        self.changed()

    async def switch_off(self, platform: Platform, who: str) -> None:
        """Have a bot not run any more; what was written to it waits with the platform."""
        async with self._changing:
            await asyncio.to_thread(self.configuration.enable, platform, False)
            await self.deliveries.end(platform)
            await self.connectors.close(platform)
        self._record("stop", platform, who)
        self.changed()

    async def set_token(self, platform: Platform, token: str, who: str) -> None:
        """Keep a token, and let a running bot begin anew with it; error: InvalidInput."""
        async with self._changing:
            await asyncio.to_thread(self.configuration.tokens.set, platform, token)
            self._record("set_token", platform, who)
            await self._follow(platform, anew=True)
        self.changed()

    async def remove_token(self, platform: Platform, who: str) -> None:
        """Forget a token; the bot stops."""
        await self.switch_off(platform, who)
        await asyncio.to_thread(self.configuration.tokens.remove, platform)
        self._record("remove_token", platform, who)
        self.changed()

    async def identity(self, platform: Platform) -> Identity:
        """Ask the platform who the bot is, with the token that is kept; errors: ParachuteError with what it says."""
        async with self._changing:
            connection = self.connectors.opened.connections().get(platform)
            if connection is not None and connection.state.kind != "refused":
                return await self.connectors.opened.identity(platform)
            await asyncio.to_thread(check_installed, platform)
            if await asyncio.to_thread(self.configuration.tokens.of, platform) is None:
                raise Conflict(f"The bot of {label(platform)} has no token.", key="no_token")
            configuration = await asyncio.to_thread(self.configuration.read)
            await self.connectors.open(platform, configuration.of(platform).address)
            try:
                return await self._asked(platform)
            finally:
                await self.connectors.close(platform)

    async def shown(self) -> ConfigurationShown:
        """The settings without tokens; error: InvalidInput."""
        return await asyncio.to_thread(
            lambda: ConfigurationShown.of(self.configuration.read(), self.configuration.has_tokens())
        )

    def owner_code(self, platform: Platform) -> tuple[str, datetime]:
        """A code for the owner's own chat, and when it ends."""
        return shown(self.codes.make(platform)), self.clock.now() + timedelta(seconds=SECONDS)

    async def _asked(self, platform: Platform) -> Identity:
        """Ask a connector that was only just started, as soon as it has its connection."""
        deadline = self.clock.elapsed() + _CONNECT_SECONDS
        while True:
            changed = self.connectors.opened.changed
            try:
                return await self.connectors.opened.identity(platform)
            except ConnectorDown:
                state = self.connectors.opened.connections()[platform].state
                if state.kind == "refused":
                    raise Conflict(state.sentence, key="refused_by_platform") from None
                if self.clock.elapsed() > deadline:
                    raise
            await self.clock.wait(changed, 1)

    async def linked(self) -> list[LinkedChat]:
        """Every chat that may talk to a bot; topics go with their group."""
        return [each for each in await self.chats.all() if each.group == each.chat]

    async def unlink(self, platform: Platform, chat: str, who: str) -> None:
        """Let a chat in no longer: what it wrote and was still to be told is forgotten, its conversation stays. Error: NotFound."""
        found = await self.chats.get(platform, chat)
        if found is None or not await self.chats.remove(platform, found.chat):
            raise NotFound("This chat is unknown.", "`parachute bots chats` lists them.", key="no_chat")
        # Without the group none is added any more.
        for each in (found, *await self.chats.topics(found)):
            await self.chats.remove(platform, each.chat)
            await self.conversations.forget(each)
            await self.updates.forget(platform, each.chat)
            await self.deliveries.forget(platform, each.chat)
        await self.notices.look()
        self._record("unlink", platform, who, chat)
        self.changed()

    async def _follow(self, platform: Platform, *, anew: bool) -> None:
        """Have the connector of a platform run as the settings say; errors: ParachuteError."""
        configuration = await asyncio.to_thread(self.configuration.read)
        settings = configuration.of(platform)
        token = await asyncio.to_thread(self.configuration.tokens.of, platform)
        if not settings.enabled or token is None:
            await self.deliveries.end(platform)
            if platform in self.connectors.opened.connections():
                await self.connectors.close(platform)
            return
        if anew and platform in self.connectors.opened.connections():
            with contextlib.suppress(ParachuteError):
                await self.deliveries.end(platform)
            await self.connectors.restart(platform, settings.address)
        else:
            await self.connectors.open(platform, settings.address)
        self.deliveries.begin(platform)

    def _record(self, what: str, platform: Platform, who: str, chat: str = "") -> None:
        self.audit.append(
            event_type="bot",
            source_type="user",
            source_id=who,
            target_module="bots",
            target_endpoint=f"{what} {platform} {chat}".strip(),
            success=True,
        )
