"""Which tools of the program an agent gets, and who its helpers are."""

from dataclasses import replace
from pathlib import Path

import pytest

from parachute.chat.agent_processes.helpers import definitions, waited_for
from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS, PROGRAM_TOOLS, offered
from parachute.llm.gateway.models import Provider
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.engines.execution import Execution
from parachute.security.permissions.actions import ACTION_BY_NAME

CLAUDE = Provider("anthropic", "https://api.example.org")
OTHER = Provider("compatible", "http://127.0.0.1:11434")
SANDBOX = Execution(
    "sandboxed", "bubblewrap", Path("/a.sock"), "m.sock", "", "/somewhere", {}, ("/",), network=Network()
)


@pytest.mark.parametrize(
    ("execution", "provider", "missing"),
    [
        (SANDBOX, CLAUDE, set()),
        (SANDBOX, OTHER, {"WebSearch"}),
        (replace(SANDBOX, network=NO_NETWORK), CLAUDE, {"WebFetch"}),
        (replace(SANDBOX, mode="direct", network=NO_NETWORK), CLAUDE, set()),
        (SANDBOX, Provider("offline", "http://model.local"), {*PERSONS_TOOLS}),
    ],
)
def test_what_is_not_there_is_not_offered(execution: Execution, provider: Provider, missing: set[str]) -> None:
    found = offered(PERSONS_TOOLS, execution, provider)
    assert found == tuple(name for name in PERSONS_TOOLS if name not in missing)


def test_only_what_is_asked_for_is_offered() -> None:
    assert offered(("Bash", "Read", "WebFetch"), replace(SANDBOX, network=NO_NETWORK), CLAUDE) == ("Bash", "Read")


def test_the_policy_knows_every_tool() -> None:
    assert {tool.name for tool in PROGRAM_TOOLS} <= ACTION_BY_NAME.keys()


@pytest.mark.parametrize("name", ["Task", "Agent"])
def test_helpers_are_there_with_the_tool_that_starts_them(name: str) -> None:
    assert definitions(("Read", "Bash"), "") == {}
    found = definitions(("Read", "Bash", "WebFetch", name), "\n\n# Where you are")
    assert definitions(("Bash", name), "").keys() == {"general-purpose"}
    assert found["Explore"].tools == ["Read", "WebFetch"]
    assert all(helper.prompt.endswith("\n\n# Where you are") for helper in found.values())
    assert waited_for(name, {"prompt": "x", "run_in_background": True}) == {"prompt": "x", "run_in_background": False}
    assert waited_for("Bash", {"run_in_background": True}) is None
