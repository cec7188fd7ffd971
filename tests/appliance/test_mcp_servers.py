"""A user's MCP server as a service: approved, started by the first need, used by an agent, and asleep when nobody needs it."""

import json
import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.recipe import SOURCE
from tests.appliance.services import Services
from tests.support.sse import text_of

UNIT = "parachute-mcp@notes.service"
RUNNING = f"{SOURCE}/parachute/capabilities/mcp_servers/running.py"
SERVER = """
import json, sys

def answer(asked, result):
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)

TOOL = {"name": "add", "description": "Write a note down.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        answer(asked, {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                       "serverInfo": {"name": "notes", "version": "1"}})
    elif asked.get("method") == "tools/list":
        answer(asked, {"tools": [TOOL]})
    elif asked.get("method") == "tools/call":
        with open("notes.txt", "a") as file:
            file.write(asked["params"]["arguments"]["text"])
        answer(asked, {"content": [{"type": "text", "text": "Noted: " + asked["params"]["arguments"]["text"]}]})
    elif "id" in asked:
        answer(asked, {})
"""


@pytest.fixture(scope="module")
def computer(host: Host, user: Host) -> Iterator[Agents]:
    """A computer that runs as services, with a scripted model and an MCP server that is approved."""
    computer = Agents(user)
    # Five minutes are more than a test can wait.
    host.check_output(
        f"cp {RUNNING} /var/tmp/ && sed -i 's/^IDLE_SECONDS = .*/IDLE_SECONDS = 3.0/; s/^_SWEEP_SECONDS = .*/_SWEEP_SECONDS = 0.5/' {RUNNING}"
    )
    # A spare would be given its tools, too, and would wake it.
    with computer.with_model(sandbox__required="true", default_capabilities__mcps="all", agents__spare="false"):
        computer.run("parachute service install")
        computer.run(f"mkdir notes && echo {shlex.quote(SERVER)} > notes/server.py")
        computer.run(f"parachute mcp add notes --yes -- python3 {computer.home}/notes/server.py")
        yield computer
    assert user.run("pgrep --full [n]otes/server.py").rc == 1
    computer.run("rm -rf ~/.parachute ~/Parachute ~/notes")
    host.check_output(f"mv /var/tmp/running.py {RUNNING}")


def state(computer: Services) -> str:
    """The state of the server's unit."""
    return str(computer.user.run(f"systemctl --user is-active {UNIT}").stdout.strip())


def started(computer: Services) -> int:
    """Return the time of the last start of the server's unit, also if it sleeps again; 0 if there was none."""
    return int(computer.run(f"systemctl --user show {UNIT} --property=ExecMainStartTimestampMonotonic --value"))


def call(computer: Agents, tool: str, arguments: dict[str, str]) -> str:
    """The answer of a tool to the agent of a new conversation."""
    events = computer.answered(f"call: {tool} {json.dumps(arguments)}")
    assert events[-1]["type"] == "done", events[-1]
    assert [event for event in events if event["type"] == "warning"] == []
    return text_of(events)


def test_it_is_started_when_it_is_asked_and_says_what_it_offers(computer: Agents) -> None:
    assert started(computer) == 0
    tools = computer.get("/api/mcps/notes/tools")["tools"]
    assert [(tool["name"], tool["description"]) for tool in tools] == [("add", "Write a note down.")]
    assert started(computer) > 0


def test_an_agent_calls_it_and_it_sleeps_when_nobody_does(computer: Agents) -> None:
    assert call(computer, "mcp__notes__add", {"text": "Buy milk"}) == "Noted: Buy milk"
    assert computer.run("cat ~/.parachute/mcp/notes/data/notes.txt") == "Buy milk"
    computer.until(lambda: state(computer) == "inactive", "it fell asleep")
    assert computer.user.run("pgrep --full [n]otes/server.py").rc == 1
    assert computer.run(f"systemctl --user show {UNIT} --property=Result --value") == "success"
    assert call(computer, "mcp__notes__add", {"text": ", and bread"}) == "Noted: , and bread"
    assert computer.run("cat ~/.parachute/mcp/notes/data/notes.txt") == "Buy milk, and bread"


def test_one_that_was_changed_is_not_started(computer: Agents) -> None:
    computer.until(lambda: state(computer) != "active", "it fell asleep")
    before = started(computer)
    computer.run("sed -i s,server.py,other.py, ~/Parachute/.mcp.json && cp notes/server.py notes/other.py")
    assert computer.get("/api/mcps/notes/tools")["tools"] == []
    assert started(computer) == before
