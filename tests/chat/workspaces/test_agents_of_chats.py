"""Agents of the vault in chats without a workspace."""

from collections.abc import Iterator

import pytest

from tests.chat.agent_processes.core import core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.supervisor.launching import Launcher, launcher
from tests.support.errors import raises
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


@needs_bubblewrap
async def test_only_agents_that_the_setting_names_answer(supervisor: Launcher, api: MessagesAPI) -> None:
    api.default(text("Ahoy."))
    async with core(supervisor, api.url, Reading(), default_capabilities={"agents": ["pirate"]}) as made:
        for name in ("pirate", "sailor"):
            (made.vault / f"{name}.md").write_text(f"You are a {name}.")
        with raises("agent_not_allowed"):
            await made.begin(agent_path="sailor.md")
        assert (await made.answered(agent_path="pirate.md")).text == "Ahoy."
