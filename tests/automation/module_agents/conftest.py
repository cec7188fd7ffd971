"""Core's part of agents of modules in the test's own process, with the real program, sandbox and gateway."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from parachute.automation.module_agents.service import ModuleAgents
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.sandbox.egress.service import Egress
from tests.automation.module_agents.modules import Shelf, approved
from tests.chat.agent_processes.core import Core, core
from tests.sandbox.egress.internet import Internet
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI

TOOLS = ("brain_search", "brain_link", "other_tool")


class Place:
    """A computer with agents of modules; `internet` is what its egress proxy finds."""

    def __init__(self, core: Core, agents: ModuleAgents, egress: Egress, internet: Internet, running: Launcher) -> None:
        self.core = core
        self.agents = agents
        self.egress = egress
        self.internet = internet
        self.launcher = running
        self.folder = running.folder
        self.vault = core.vault

    def module(self, name: str = "letters", **manifest: Any) -> ApprovedModule:
        """A module that the user approved."""
        return approved(self.folder / "modules", name, **manifest)

    def write(self, path: str, text: str = "text") -> Path:
        """Put a file into the vault."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    async def events(self, module: ApprovedModule, message: str = "Hello!", **options: Any) -> list[dict[str, Any]]:
        """All events of a query."""
        return [event async for event in self.agents.query(module, message=message, **options)]


MakePlace = Callable[..., Awaitable[Place]]


@pytest.fixture
async def make_place(api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakePlace]:
    """Start one with settings; everything of it has ended when the test has."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(seconds: float = 60.0, **settings: Any) -> Place:
            running = stack.enter_context(launcher())
            monkeypatch.setenv("HOME", str(running.folder))
            made = await stack.enter_async_context(core(running, api.url, Shelf(*TOOLS), **settings))
            internet = Internet()
            stack.push_async_callback(internet.close)
            egress = Egress(made.audit, resolve=internet.resolve, connect=internet.connect)
            stack.push_async_callback(egress.close_all)
            agents = ModuleAgents(made.services, made.runs, egress, ModuleOrigins(), seconds=seconds)
            return Place(made, agents, egress, internet, running)

        yield make


@pytest.fixture
async def place(make_place: MakePlace) -> Place:
    """One with the settings that are usual."""
    return await make_place()
