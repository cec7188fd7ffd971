"""Tools of the program that an agent gets, and its helpers."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.chat.agent_processes.helpers import definitions, waited_for
from parachute.chat.agent_processes.models import AgentSpecification, Helper, Plugin
from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS, PROGRAM_TOOLS, offered
from parachute.chat.workspaces.models import EVERY_HOST_ASKS
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.models import CredentialKind, Provider
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.egress.models import NO_NETWORK
from parachute.sandbox.engines.execution import Execution
from parachute.security.permissions.actions import ACTION_BY_NAME

CLAUDE = Provider("anthropic", "https://api.example.org")
OTHER = Provider("compatible", "http://127.0.0.1:11434")
SANDBOX = Execution(
    "sandboxed", "bubblewrap", Path("/a.sock"), "m.sock", "", "/somewhere", {}, ("/",), network=EVERY_HOST_ASKS
)


def test_what_is_not_there_is_not_offered() -> None:
    for execution, provider, missing in (
        (SANDBOX, CLAUDE, set()),
        (SANDBOX, OTHER, {"WebSearch"}),
        (replace(SANDBOX, network=NO_NETWORK), CLAUDE, {"WebFetch", "WebSearch"}),
        (replace(SANDBOX, mode="direct", network=NO_NETWORK), CLAUDE, set()),
        (SANDBOX, Provider("offline", "http://model.local"), {*PERSONS_TOOLS}),
    ):
        for has_skills, without in ((True, missing), (False, {*missing, "Skill"})):
            found = offered(PERSONS_TOOLS, execution, provider, has_skills=has_skills)
            assert found == tuple(name for name in PERSONS_TOOLS if name not in without), (execution, provider, missing)


def test_only_what_is_asked_for_is_offered() -> None:
    assert offered(("Bash", "Read", "WebFetch"), replace(SANDBOX, network=NO_NETWORK), CLAUDE) == ("Bash", "Read")


def test_the_policy_knows_every_tool() -> None:
    assert {tool.name for tool in PROGRAM_TOOLS} <= ACTION_BY_NAME.keys()


def specification(*tools: str, **fields: Any) -> AgentSpecification:
    endpoint = ModelEndpoint("s", Path("/endpoint"), CredentialKind.API_KEY, "token")
    return AgentSpecification("s", False, SANDBOX, endpoint, "Prompt", tools, None, True, **fields)


@pytest.mark.parametrize("name", ["Task", "Agent"])
def test_helpers_are_there_with_the_tool_that_starts_them(name: str) -> None:
    assert definitions(specification("Read", "Bash")) == {}
    found = definitions(specification("Read", "Bash", "WebFetch", name, place="\n\n# Where you are"))
    assert definitions(specification("Bash", name)).keys() == {"general-purpose"}
    assert found["Explore"].tools == ["Read", "WebFetch"]
    assert all(helper.prompt.endswith("\n\n# Where you are") for helper in found.values())
    assert waited_for(name, {"prompt": "x", "run_in_background": True}) == {"prompt": "x", "run_in_background": False}
    assert waited_for("Bash", {"run_in_background": True}) is None


BRAIN = OfferedTool("brain", "brain_search", "Search.", {"type": "object"})


@pytest.mark.parametrize(
    ("helper", "expected"),
    [
        ({}, None),
        ({"tools": ("Read", "Write")}, ["Read"]),
        ({"tools": ("Read", "brain_*")}, ["Read", "mcp__parachute__brain_search"]),
        ({"has_commands": False}, ["Read", "mcp__parachute__brain_search"]),
        ({"tools": ("Read", "Bash"), "has_commands": False}, ["Read"]),
        ({"tools": ("Task", "AskUserQuestion", "Read")}, ["Read"]),
        ({"tools": ("Write",)}, "left out"),
        ({"tools": ()}, "left out"),
        ({"name": "Explore"}, "not replaced"),
    ],
)
def test_an_agent_of_the_owner_has_fewer_tools_and_never_more(helper: dict[str, Any], expected: object) -> None:
    own = Helper(**{"name": "mate", "description": "Helps.", "prompt": "You are a mate.", **helper})
    found = definitions(
        specification(
            "Read", "Bash", "Task", "AskUserQuestion", module_tools=(BRAIN,), helpers=(own,), place="\n\nHere."
        )
    )
    if isinstance(expected, str):
        assert "mate" not in found
        assert "You are a mate." not in str(found)
        return
    assert found["mate"].tools == expected
    assert found["mate"].prompt.startswith("You are a mate.")
    assert found["mate"].prompt.endswith("\n\nHere.")


def test_a_process_is_kept_as_long_as_helpers_plugins_and_skills_are_the_same() -> None:
    plugin, helper = Plugin("skills", Path("/one"), "1"), Helper("mate", "Helps.", "You are a mate.")
    fields: list[dict[str, Any]] = [
        {},
        {"plugins": (plugin,)},
        {"plugins": (replace(plugin, digest="2"),)},
        {"plugins": (plugin,), "skills": ("skills:tides",)},
        {"helpers": (helper,)},
        {"helpers": (replace(helper, prompt="You are a cook."),)},
        {"helpers": (replace(helper, has_commands=False),)},
    ]
    assert len({specification("Task", **each).fingerprint() for each in fields}) == len(fields)
