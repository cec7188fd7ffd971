"""The server in the process of a test, which ends and fails as a computer does."""

import psutil
import pytest

from parachute.config.settings.checking import ConfigError
from parachute.supervisor import control
from tests.support.computer import free_port
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.process


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(ConfigError), Server(settings={"no_such_setting": 1}):
        pass


async def test_an_agent_ends_with_its_server(api: MessagesAPI) -> None:
    api.script(text("Hello."))
    with Server(environment=api.credentials) as server:
        async with server.client() as client, chat(client, "Hi") as stream:
            await stream.collect()
        units = (await control.ask(server.home, "status"))["units"]
        (process,) = (unit["process"] for unit in units if unit["name"].startswith("sandbox@"))
        assert psutil.pid_exists(process)
    assert not psutil.pid_exists(process)


async def test_each_has_the_log_of_its_own() -> None:
    nowhere = {"ANTHROPIC_API_KEY": "sk-ant-api03-x", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{free_port()}"}
    with Server(environment=nowhere) as failing, Server() as idle:
        async with failing.client() as client:
            assert (await client.get("/supervisor/models")).status_code >= 500
        assert "/supervisor/models" in failing.logs()
        assert "/supervisor/models" not in idle.logs()
