"""The part `agents` of a manifest."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from parachute.base.document_values import Refused, Value
from parachute.core.agents import AgentConfig, SandboxConfig
from parachute.modules.manifest.models import NAME

_SANDBOX_FIELDS = tuple(field.name for field in dataclasses.fields(SandboxConfig))
_AGENT_FIELDS = (*(field.name for field in dataclasses.fields(AgentConfig)), "paths", "network")


def read_agents(value: Value) -> dict[str, AgentConfig]:
    """Read the part."""
    named = value.named(NAME, "a-z, 0-9, - and _ are allowed in the name of an agent.")
    found = ((name, agent.attempt(_agent, None)) for name, agent in named.items())
    return {name: agent for name, agent in found if agent}


def file_name(value: Value, example: str) -> str:
    """The name of a file within the module."""
    name = value.text(200)
    if name.startswith(("/", "~")) or ".." in name.split("/"):
        value.refuse(f"A file of the module is expected, such as {example}.")
    return name


def _agent(value: Value) -> AgentConfig:
    values: dict[str, Any] = {}
    for name, field in value.fields(_AGENT_FIELDS).items():
        if name == "sandbox":
            values[name] = _sandbox(field)
        elif name == "system_prompt":
            values[name] = file_name(field, "prompts/agent.md")
        else:
            values[name] = _plain(field)
            # One field at a time, so that the mistake has its own line; those that only go together come after.
            field.attempt(partial(_check, AgentConfig.of, {name: values[name]}), None)
    if value.problems:
        raise Refused
    return AgentConfig.of(values)


def _sandbox(value: Value) -> SandboxConfig | None:
    if value.is_scalar:
        if not value.is_null:
            value.refuse("A list of `field: value` is expected, or null for none.")
        return None
    values: dict[str, Any] = {}
    for name, field in value.fields(_SANDBOX_FIELDS).items():
        values[name] = _plain(field)
        field.attempt(partial(_check, _sandbox_of, {name: values[name]}), None)
    return None if value.problems else _sandbox_of(values)


def _sandbox_of(values: dict[str, Any]) -> SandboxConfig:
    return SandboxConfig(**values)


def _check(make: Callable[[dict[str, Any]], object], values: dict[str, Any], value: Value) -> None:
    make(values)


def _plain(value: Value) -> Any:
    plain = value.plain()
    return tuple(plain) if isinstance(plain, list) else plain
