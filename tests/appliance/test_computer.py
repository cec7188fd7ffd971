"""The computer as a plain program of the guest's user: supervisor, core, sandbox and offline model, with no service set up."""

import json
import shlex
import subprocess
import time
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.backend import GuestBackend
from tests.appliance.recipe import ENVIRONMENT
from tests.appliance.services import URL
from tests.support.sse import text_of

START_SECONDS = 120


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Host]:
    """The user of a computer that answers."""
    backend = user.backend
    assert isinstance(backend, GuestBackend)
    # Only the agent that answers runs.
    user.check_output("parachute config set agents.spare false")
    program = backend.entered(
        *("sh", "-c", "cd; exec 2>supervisor.log; exec $0 -m parachute.supervisor --host 127.0.0.1 --port 3333"),
        f"{ENVIRONMENT}/bin/python",
    )
    with subprocess.Popen(program, stdin=subprocess.DEVNULL) as supervisor:
        try:
            deadline = time.monotonic() + START_SECONDS
            while user.run(f"curl -sf --max-time 5 {URL}/api/health").rc != 0:
                assert supervisor.poll() is None, user.run("cat supervisor.log ~/.parachute/logs/*").stdout
                assert time.monotonic() < deadline, user.run("cat supervisor.log ~/.parachute/logs/*").stdout
                time.sleep(0.05)
            yield user
        finally:
            stopped = user.run("parachute stop")
            if stopped.rc != 0:
                supervisor.kill()
    assert "The computer has ended" in stopped.stdout, stopped
    assert user.run(f"curl -s --max-time 5 {URL}/api/health").rc != 0
    user.check_output("rm -rf ~/.parachute ~/Parachute supervisor.log")


def test_health_answers(computer: Host) -> None:
    assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"
    assert json.loads(computer.check_output("parachute status --json"))["running"] is True


def test_the_offline_model_answers_from_a_sandbox_in_pieces(host: Host, computer: Host) -> None:
    events = Agents(computer).answered("What is a journal good for?")
    assert events[-1]["type"] == "done", events[-1]
    assert [event["title"] for event in events if event["type"] == "warning"] == ["Offline model"], "not: no sandbox"
    assert len([event for event in events if event["type"] == "text"]) > 1, "the text came in pieces"
    assert len(text_of(events)) > 20
    # The agent that answered: on no network, and without sight of the home, seen from outside of its sandbox.
    (agent,) = host.check_output("pgrep --full ^/opt/parachute/agent").split()
    root, agent_network, own_network = (
        host.check_output(f"{command} {shlex.quote(path)}")
        for command, path in (
            ("ls", f"/proc/{agent}/root/home"),
            ("readlink", f"/proc/{agent}/ns/net"),
            ("readlink", "/proc/self/ns/net"),
        )
    )
    assert root.split() == ["agent"]
    assert agent_network != own_network
