"""The part `agents` of a manifest."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import yaml

from parachute.core.agents import AgentConfig, SandboxConfig
from parachute.errors import InvalidInput
from parachute.manifest.document import Document, Refused, joined, sentence

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SANDBOX_FIELDS = tuple(field.name for field in dataclasses.fields(SandboxConfig))
_AGENT_FIELDS = (*(field.name for field in dataclasses.fields(AgentConfig)), "paths", "network")


def read_agents(document: Document, node: yaml.Node | None) -> dict[str, AgentConfig]:
    """Read the part; problems go to the document."""
    found: dict[str, AgentConfig] = {}
    if node is None:
        return found
    try:
        agents = document.mapping(node, "agents", None)
    except Refused:
        return found
    for name, value in agents.items():
        where = joined("agents", name)
        if not _NAME.fullmatch(name):
            document.problem(value.start_mark.line + 1, where, "a-z, 0-9, - and _ are allowed in the name of an agent.")
            continue
        try:
            found[name] = _agent(document, value, where)
        except Refused:
            continue
        except InvalidInput as error:
            document.problem(value.start_mark.line + 1, where, sentence(error, where))
    return found


def _agent(document: Document, node: yaml.Node, where: str) -> AgentConfig:
    fields = document.mapping(node, where, _AGENT_FIELDS)
    values: dict[str, Any] = {}
    for name, value in fields.items():
        place = joined(where, name)
        if name == "sandbox":
            values[name] = _sandbox(document, value, place)
        elif name == "system_prompt":
            values[name] = document.file(value, place, "prompts/agent.md")
        else:
            values[name] = _plain(document, value, place)
            # One field at a time, so that the mistake has its own line; those that only go together come after.
            _checked(document, value, place, {name: values[name]}, AgentConfig.of)
    if document.problems:
        raise Refused
    return AgentConfig.of(values)


def _checked(
    document: Document, node: yaml.Node, where: str, values: dict[str, Any], make: Callable[[dict[str, Any]], object]
) -> None:
    try:
        make(values)
    except InvalidInput as error:
        document.problem(node.start_mark.line + 1, where, sentence(error, where))


def _sandbox(document: Document, node: yaml.Node, where: str) -> SandboxConfig | None:
    if isinstance(node, yaml.ScalarNode):
        if document.plain(node, where) is None:
            return None
        document.refuse(node.start_mark.line + 1, where, "A list of `field: value` is expected, or null for none.")
    fields = document.mapping(node, where, _SANDBOX_FIELDS)
    values: dict[str, Any] = {}
    for name, value in fields.items():
        place = joined(where, name)
        values[name] = _plain(document, value, place)
        _checked(document, value, place, {name: values[name]}, lambda single: SandboxConfig(**single))
    return None if document.problems else SandboxConfig(**values)


def _plain(document: Document, node: yaml.Node, where: str) -> Any:
    value = document.plain(node, where)
    # `memory: 512m` is text; `no` as the value of a text would be false.
    return value if not isinstance(value, list) else tuple(value)
