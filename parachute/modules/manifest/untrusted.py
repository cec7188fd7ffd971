"""The manifest of a module that nobody vouches for: the one place that says what such a module does not get."""

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from parachute.core.agents import AgentConfig
from parachute.modules.manifest.models import Manifest, Permissions


def shut_in(manifest: Manifest) -> Manifest:
    """The manifest without files, network, tools, interfaces and events of others, for the module and for its agents.

    It provides no interface either: through one, others would tell it what is the user's.
    """
    return replace(
        manifest,
        provides=(),
        optional_requires=(),
        permissions=Permissions(bash=manifest.permissions.bash),
        agents=MappingProxyType({name: _agent(agent) for name, agent in manifest.agents.items()}),
        prompts=MappingProxyType({}),
        hooks=tuple(hook for hook in manifest.hooks if hook.event.startswith(f"{manifest.name}.")),
    )


def taken(manifest: Manifest) -> tuple[str, ...]:
    """A line for each thing that the manifest asks for and an untrusted module does not get."""
    left = set(_asked(shut_in(manifest)))
    lines = dict.fromkeys(each for each in _asked(manifest) if each not in left)
    return tuple(f"{line}: an untrusted module gets none" for line in lines)


def _agent(agent: AgentConfig) -> AgentConfig:
    # Without a sandbox it is refused when it shall run; there is nothing that could be taken from it.
    sandbox = agent.sandbox and dataclasses.replace(
        agent.sandbox, workspace_access="none", allowed_paths=(), network="none"
    )
    return dataclasses.replace(agent, sandbox=sandbox, allow_user_skills=False)


def _asked(manifest: Manifest) -> Iterator[str]:
    permissions = manifest.permissions
    lists: Mapping[str, tuple[str, ...]] = {
        "permissions.read": permissions.read,
        "permissions.write": permissions.write,
        "permissions.mcp": permissions.mcp,
        "permissions.network": permissions.network,
        "optional_requires": tuple(map(str, manifest.optional_requires)),
        "provides": tuple(map(str, manifest.provides)),
        "hooks": tuple(hook.event for hook in manifest.hooks),
        "prompts": tuple(manifest.prompts),
    }
    for place, values in lists.items():
        yield from (f"{place}: {value}" for value in values)
    for name in ("conversations", "journal", "sessions"):
        level = getattr(permissions, name)
        if level != getattr(Permissions(), name):
            yield f"permissions.{name}: {level}"
    for name, agent in manifest.agents.items():
        if agent.allow_user_skills:
            yield f"agents.{name}.allow_user_skills"
        if agent.sandbox is not None:
            yield from (f"agents.{name}.sandbox.allowed_paths: {path}" for path in agent.sandbox.allowed_paths)
            if agent.sandbox.network != "none":
                yield f"agents.{name}.sandbox.network"
