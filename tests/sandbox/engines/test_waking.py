"""A sandbox that is started ahead of its agent."""

import asyncio
import uuid

import pytest

from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import Sandbox

pytestmark = [needs_bubblewrap, pytest.mark.process]


async def test_a_sandbox_that_was_opened_is_woken_once_and_serves_its_agent(sandboxes: SandboxFactory) -> None:
    session = str(uuid.uuid4())
    sandboxes.service.opened.wake(session)  # it has no sandbox
    sandbox = await sandboxes.make(session=session)
    assert await _state(sandboxes, sandbox) == "listening"
    sandboxes.service.opened.wake(session)
    while await _state(sandboxes, sandbox) != "running":
        await asyncio.sleep(0.02)
    process = (await sandboxes.launcher.unit(sandbox.unit))["process"]
    assert sandbox.shell("echo up") == "up\n"
    sandboxes.service.opened.wake(session)
    assert (await sandboxes.launcher.unit(sandbox.unit))["process"] == process
    await sandboxes.service.opened.close(session)
    await sandboxes.make(session=session)
    sandboxes.service.opened.wake(session)
    assert sandbox.shell("echo again") == "again\n"


async def test_a_sandbox_that_was_closed_or_woken_stays_as_it_is(sandboxes: SandboxFactory) -> None:
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(session=session)
    await sandboxes.service.opened.close(session)
    sandboxes.service.opened.wake(session)
    sandbox = await sandboxes.make(session=session)
    sandboxes.service.opened.wake(session)
    assert sandbox.shell("echo up") == "up\n"
    # Nothing of the specification has changed: a turn that finds its agent warm starts nothing.
    await sandboxes.launcher.ask("close", unit=sandbox.unit)
    await sandboxes.make(session=session)
    sandboxes.service.opened.wake(session)
    assert await _state(sandboxes, sandbox) == "listening"


async def _state(sandboxes: SandboxFactory, sandbox: Sandbox) -> str:
    return str((await sandboxes.launcher.unit(sandbox.unit))["state"])
