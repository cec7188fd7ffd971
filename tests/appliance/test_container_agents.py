"""The maintenance agent, and the end of all agents at once, where agents run in containers."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import json
import shlex
from typing import Any

import pytest

from tests.appliance.agents import Agents
from tests.appliance.test_containers import agents, built  # noqa: F401 - fixtures
from tests.support.sse import text_of

LOOK = (
    "cat /etc/parachute-recipe; id -u; ls /sys/class/net; tail -n 1 /logs/core.log > /dev/null && echo read; "
    "ls /home; touch /logs/new; ls -a /vault; echo Sun. > /vault/Daily/today.md"
)


@pytest.mark.usefixtures("built")
def test_the_maintenance_agent_works_in_a_container(agents: Agents, built: dict[str, Any]) -> None:
    agents.run("mkdir -p ~/Parachute/Daily ~/Parachute/.hidden")
    said = agents.run(f"parachute maintenance --json {shlex.quote(f'run: {LOOK}')}")
    events = [json.loads(line) for line in said.splitlines()]
    assert events[-1]["type"] == "done", events[-1]
    text = text_of(events)
    assert text.split("\n")[:5] == [built["recipe"], "1000", "lo", "read", "agent"], text
    assert "touch: cannot touch '/logs/new': Read-only file system" in text
    assert "hidden" not in text
    assert agents.run("cat ~/Parachute/Daily/today.md; rm ~/Parachute/Daily/today.md") == "Sun."


@pytest.mark.usefixtures("built")
def test_panic_ends_every_container_and_lets_none_begin(agents: Agents) -> None:
    idle, busy = (str(agents.say("echo first")[-1]["sessionId"]) for _ in range(2))
    with agents.working("echo waits; sleep 3600", busy) as events:
        agents.until(lambda: agents.user.run("pgrep --exact --full 'sleep 3600'").rc == 0, "it works")
        agents.run("parachute panic")
        assert events()[-1]["type"] == "aborted"
    try:
        assert agents.containers() == []
        assert agents.user.run("pgrep --exact conmon").rc == 1
        message = {"message": "run: echo x", "sessionId": idle, "module": "chat"}
        status, refused = agents.ask("/api/chat", message)
        assert (status, refused["key"]) == (503, "panic"), refused
        assert agents.containers() == []
    finally:
        agents.run("parachute resume")
    assert [text_of(agents.say("echo again", session)) for session in (idle, busy)] == ["again", "again"]
