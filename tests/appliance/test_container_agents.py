"""The maintenance agent, the network, and the end of all agents at once, where agents run in containers."""

import json
import shlex
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.guest import Guest
from tests.appliance.phone import PUBLIC, joined
from tests.support.package_index import PackageIndex
from tests.support.sse import text_of

LOOK = (
    "cat /etc/parachute-recipe; id -u; ls /sys/class/net; tail -n 1 /logs/core.log > /dev/null && echo read; "
    "ls /home; touch /logs/new; ls -a /vault; echo Sun. > /vault/Daily/today.md"
)


@pytest.fixture(scope="module")
def spare() -> str:
    """An agent is kept ready: panic ends its container as well."""
    return "true"


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


@pytest.mark.usefixtures("built")
def test_a_host_that_nobody_allowed_is_reached_at_the_second_try(guest: Guest, host: Host, agents: Agents) -> None:
    name, index = "index.example.org", PackageIndex()
    index.at(name)
    host.check_output(f"cp /etc/hosts /etc/hosts.before; echo {PUBLIC} {name} >> /etc/hosts")
    try:
        with joined(guest.leader) as phone, phone.serving(index, at=(PUBLIC, 80)):
            ask = f"curl -sS --max-time 60 http://{name}/simple/boat/ 2>&1"
            first = agents.events(ask)
            assert f"{name} is not allowed yet. The owner has been asked" in text_of(first)
            assert index.asked == []
            (item,) = json.loads(agents.run("parachute inbox --json"))["items"]
            assert (item["kind"], item["title"]) == ("host", f"Reach {name}")
            agents.run(f"parachute inbox answer {item['id']} once --yes")
            assert "boat-1.0.0-py3-none-any.whl" in text_of(agents.say(ask, first[-1]["sessionId"]))
            assert index.asked == ["/simple/boat/"]
            # Once is for that conversation alone.
            assert f"{name} is not allowed yet" in agents.output(ask)
            (item,) = json.loads(agents.run("parachute inbox --json"))["items"]
            agents.run(f"parachute inbox answer {item['id']} never --yes")
    finally:
        host.check_output("mv /etc/hosts.before /etc/hosts")
        agents.run(f"parachute network forget {name}; true")


@pytest.mark.usefixtures("built")
def test_folders_that_are_left_to_a_conversation_are_the_only_ones_in_its_container(agents: Agents) -> None:
    agents.run("cd ~/Parachute && mkdir -p Brain Daily Projects/left Projects/other && echo Berlin > Brain/kevin.md")
    session = str(agents.say("ls /vault")[-1]["sessionId"])
    try:
        agents.run(f"parachute sessions permit {session} --folder Brain --folder Projects/left --mcp none")
        said = text_of(
            agents.say("ls -d /vault/* /vault/*/*; cat /vault/Brain/kevin.md; touch /vault/new 2>&1; true", session)
        )
        assert said.splitlines()[:5] == [
            "/vault/Brain",
            "/vault/Brain/kevin.md",
            "/vault/Projects",
            "/vault/Projects/left",
            "Berlin",
        ]
        assert "Read-only file system" in said
        explained = json.loads(agents.run(f"parachute sandbox explain {session} --json"))
        assert [row for row in explained["rows"] if row["differs"]] == []
        assert explained["permissions"]["allowed_folders"] == ["Brain", "Projects/left"]
    finally:
        agents.run("rm -r ~/Parachute/Brain/kevin.md ~/Parachute/Projects/left ~/Parachute/Projects/other")
