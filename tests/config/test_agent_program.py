"""The program that is the agent can be another one than the SDK brings."""

from pathlib import Path

import pytest

from parachute.config.agent_program import VARIABLE, agent_program
from tests.support.computer import Computer
from tests.support.errors import raises
from tests.support.messages_api import MessagesAPI, text
from tests.support.sse import chat


def test_a_relative_path_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "bin/claude")
    with raises("no_agent_program", names=VARIABLE) as refused:
        agent_program()
    assert refused.value.key == "no_agent_program"


@pytest.mark.computer
@pytest.mark.long
@pytest.mark.parametrize("level", ["sandboxed", "direct"])
async def test_conversations_run_the_program_that_is_named(tmp_path: Path, level: str) -> None:
    other = tmp_path / "another-claude"
    other.symlink_to(agent_program())
    with MessagesAPI() as api:
        api.default(text("Hello."))
        environment = {**api.credentials, VARIABLE: str(other)}
        with Computer(environment=environment) as computer:
            async with computer.client() as client:
                async with chat(client, "Hello", trustLevel=level) as stream:
                    await stream.collect()
                assert stream.of_type("done")
                other.unlink()
                async with chat(client, "Hello again", trustLevel=level) as stream:
                    await stream.collect()
                assert stream.of_type("done") == []
