"""Core in the test's process, beside a supervisor in another one."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from tests.chat.agent_processes.core import Core, core
from tests.chat.agent_processes.module_tools import Reading
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI

MakeCore = Callable[..., Awaitable[Core]]


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


@pytest.fixture
async def make_core(supervisor: Launcher, api: MessagesAPI) -> AsyncIterator[MakeCore]:
    """Start core with the tools of modules and settings; everything of it has ended when the test has."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(tools: Reading, **settings: Any) -> Core:
            return await stack.enter_async_context(core(supervisor, api.url, tools, **settings))

        yield make
