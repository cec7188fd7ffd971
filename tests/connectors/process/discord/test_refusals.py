"""Final refusals by Discord are reported in a sentence, and not tried again."""

import pytest

from parachute.base.errors import Conflict
from parachute.connectors.platforms.models import Start
from parachute.connectors.runtime.client import ConnectorDown
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import server
from tests.supervisor.launching import Launcher
from tests.support.discord_api import DiscordAPI

pytestmark = [needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]


def asked(api: DiscordAPI) -> int:
    """Count all requests to Discord."""
    return api.rest.requests.total() + api.gateway.connections


@pytest.mark.parametrize("moment", ["while it runs", "before it starts"])
async def test_a_revoked_token(supervisor: Launcher, api: DiscordAPI, moment: str) -> None:
    if moment == "before it starts":
        api.gateway.token = "another"
    async with server(supervisor, "discord", Start(api.token, server=api.url)) as discord:
        if moment == "while it runs":
            await discord.connected()
            api.revoke_token()
        await discord.happens(lambda: discord.kind == "refused", "it was refused")
        assert "does not accept the bot's token" in discord.store.states[-1].sentence
        before = asked(api)
        with pytest.raises((Conflict, ConnectorDown)):
            await discord.opened.identity("discord")
        assert asked(api) == before
    api.gateway.token = api.token


async def test_without_the_intent_it_says_what_to_switch_on(supervisor: Launcher, api: DiscordAPI) -> None:
    api.gateway.has_message_content, before = False, api.gateway.connections
    async with server(supervisor, "discord", Start(api.token, server=api.url)) as discord:
        await discord.happens(lambda: discord.kind == "refused", "it was refused")
        assert "switch on Message Content Intent" in discord.store.states[-1].sentence
        assert api.gateway.connections == before + 1
