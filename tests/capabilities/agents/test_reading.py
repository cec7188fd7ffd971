"""Agents of all kinds of authors: what can be used, and why the rest cannot."""

import os
from pathlib import Path

import pytest

from parachute.base.folders import Folder
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.agents.reading import read_agent

GOOD = """---
name: sailor
description: Knows the sea.
tools: Read, mcp__tides
model: haiku
permissions: {bash: [git]}
mcpServers: [tides]
hooks: {PreToolUse: [{hooks: [{type: command, command: touch /tmp/ran}]}]}
---
You are a sailor.
"""


def read(root: Path, text: str, name: str = "sailor.md") -> Agent:
    (root / name).write_text(text)
    with Folder.open(root) as folder:
        return read_agent(folder, Path(name), "vault")


def test_an_agent_is_read_and_its_hooks_are_not(tmp_path: Path) -> None:
    agent = read(tmp_path, GOOD)
    assert (agent.name, agent.description, agent.prompt) == ("sailor", "Knows the sea.", "You are a sailor.")
    assert (agent.tools, agent.model, agent.commands) == (("Read", "mcp__tides"), "haiku", ("git",))
    assert (agent.mcp_servers, agent.skills, agent.problem) == (("tides",), None, None)


def test_a_description_with_a_colon_costs_a_note_and_not_the_agent(tmp_path: Path) -> None:
    agent = read(tmp_path, '---\ndescription: Hunts. Example: user says: "look"\ntools: Read, Grep\n---\nHunt.\n')
    assert (agent.problem, agent.tools, agent.prompt) == (None, ("Read", "Grep"), "Hunt.")
    assert (agent.description, agent.note is None) == ('Hunts. Example: user says: "look"', False)


@pytest.mark.parametrize(
    "line",
    [
        '"tools": [Read]',
        "'tools' : Read",
        '"\\u0074ools": [Read]',
        "  tools: Read",
        "\ttools: Read",
        "tools:Read",
        "tools\u00a0: Read",
        "- tools: Read",
        "? tools\n: Read",
        "?\n  tools\n: Read",
        "{tools: Read}",
        "**tools**: Read",
        "license: a: b\u2028tools: Read",
        "  permissions:\n    bash: [git]",
        '"mcp_servers": [tides]',
        "disable-model-invocation:true",
        # Whoever reads the first one and whoever reads the last one have different tools.
        "tools: [Read]\nmodel: haiku\n\"tools\": '*'",
    ],
)
def test_a_restriction_is_never_lost_in_a_text_beside_it(tmp_path: Path, line: str) -> None:
    problem = read(tmp_path, f"---\ndescription: Use this: always\n{line}\n---\nHunt.\n").problem
    assert "Line " in str(problem)


def test_without_fields_the_file_names_it_and_nothing_is_restricted(tmp_path: Path) -> None:
    agent = read(tmp_path, "You are a sailor.")
    assert (agent.name, agent.tools, agent.commands, agent.model, agent.problem) == ("sailor", None, None, None, None)
    assert read(tmp_path, "---\nmodel: inherit\ntools: '*'\n---\nx").tools is None


def test_an_empty_list_of_tools_and_no_commands_are_kept_as_such(tmp_path: Path) -> None:
    agent = read(tmp_path, "---\ntools: []\npermissions: {bash: false}\n---\nx")
    assert (agent.tools, agent.commands) == ((), ())


def test_what_cannot_be_obeyed_is_a_problem(tmp_path: Path) -> None:
    for text in (
        "---\nname: ../evil\n---\nx",
        "---\nname: [a]\n---\nx",
        "---\ntools: {a: 1}\n---\nx",
        "---\ntools: 7\n---\nx",
        "---\nmodel: 'a b'\n---\nx",
        "---\npermissions: 1\n---\nx",
        "---\npermissions: {bash: {a: 1}}\n---\nx",
        "---\nmcpServers: [{evil: {command: sh}}]\n---\nx",
        "---\nname: sailor\n---\n",
        "---\nname: sailor\nx",
        "---\nname: 'a\n---\nx",
        "---\ndescription: " + "x" * 5_000 + "\n---\nx",
        "---\n" + "a: b\n" * 3_000_000 + "---\nx",
    ):
        assert read(tmp_path, text).problem


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    read(tmp_path, GOOD)
    (tmp_path / "linked.md").symlink_to("sailor.md")
    os.mkfifo(tmp_path / "pipe.md")
    with Folder.open(tmp_path) as folder:
        for name in ("linked.md", "pipe.md", "gone.md", "../sailor.md"):
            assert read_agent(folder, Path(name), "vault").problem, name
