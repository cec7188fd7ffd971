"""Claims of a module's class about itself, compared with its manifest, to which the user agreed."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from msgspec import Struct, field

from parachute.base.errors import ParachuteError
from parachute.core.agents import AgentConfig, commands
from parachute.core.patterns import Pattern
from parachute.modules.manifest.models import (
    ConversationAccess,
    InterfaceName,
    JournalAccess,
    Manifest,
    Permissions,
    SessionAccess,
)

HINT = "manifest.yaml decides, since it is what people see before they install a module; write it there."
UNKNOWN = object()
"""A value that only running the module would tell."""

_ACCESS = ("none", "ro", "rw")
_LEVELS = {
    "conversations": get_args(ConversationAccess),
    "journal": get_args(JournalAccess),
    "sessions": get_args(SessionAccess),
}


class Claims(Struct, frozen=True):
    """The fields of a module's class; `where` is its name. A value may be UNKNOWN, and is not compared then."""

    where: str
    name: Any = UNKNOWN
    version: Any = UNKNOWN
    permissions: Any = field(default_factory=dict)
    agents: Any = field(default_factory=dict)
    provides: Any = ()
    optional_requires: Any = ()


def problems(claims: Claims, manifest: Manifest) -> Iterator[str]:
    """A sentence for each field in which the class differs from the manifest, or claims more than it."""
    where = claims.where
    for name, written, stated in (
        ("name", claims.name, manifest.name),
        ("version", claims.version, manifest.version),
    ):
        if written is not UNKNOWN and written != stated:
            yield f"{where}.{name} is {written!r}, and manifest.yaml says {stated!r}."
    yield from (f"{where}.permissions: {said}" for said in _permissions(claims.permissions, manifest.permissions))
    yield from (f"{where}.agents: {said}" for said in _agents(claims.agents, manifest))
    for name, others, said in (
        ("provides", manifest.provides, "provides names an interface that manifest.yaml does not provide."),
        ("optional_requires", manifest.optional_requires, "optional_requires names more than manifest.yaml does."),
    ):
        own = getattr(claims, name)
        if own is not UNKNOWN and {_interface(each) for each in own if each is not UNKNOWN} - {
            entry.name for entry in others
        }:
            yield f"{where}.{said}"


def _agents(agents: Any, manifest: Manifest) -> Iterator[str]:
    for name, agent in agents.items() if isinstance(agents, Mapping) else ():
        if name is UNKNOWN:
            continue
        if name not in manifest.agents:
            yield f"manifest.yaml has no agent {name!r}."
        elif agent is not UNKNOWN:
            try:
                wider = _wider(AgentConfig.of(agent), manifest.agents[name])
            except ParachuteError as error:
                yield f"{name}: {error.message}"
                continue
            if wider:
                yield f"{name}: {wider} is more than manifest.yaml says."


def _permissions(permissions: Any, allowed: Permissions) -> Iterator[str]:
    known = {
        "read": (*allowed.read, *allowed.write),
        "write": allowed.write,
        "mcp": allowed.mcp,
        "network": allowed.network,
    }
    for name, value in permissions.items() if isinstance(permissions, Mapping) else ():
        if name is UNKNOWN:
            continue
        if name != "bash" and name not in _LEVELS and name not in known:
            yield f"there is no permission {name!r}."
            continue
        if value is UNKNOWN:
            continue
        if name == "bash":
            try:
                wider = _more_commands(commands(value), allowed.bash)
            except ParachuteError as error:
                yield error.message
                continue
        elif name in _LEVELS:
            levels = _LEVELS[name]
            wider = value not in levels or levels.index(value) > levels.index(getattr(allowed, name))
        else:
            wider = not _covered(value or (), known[name], paths=name in ("read", "write"))
        if wider:
            yield f"{name} is more than manifest.yaml says."


def _covered(wanted: Any, allowed: tuple[str, ...], paths: bool) -> bool:
    if isinstance(wanted, str) or not all(isinstance(item, str) for item in wanted):
        return False
    return set(wanted) <= set(allowed) or (
        paths and all(any(_covers(other, item) for other in allowed) for item in wanted)
    )


def _covers(allowed: str, wanted: str) -> bool:
    """True if one pattern is the other, or lies below the folder that the other one ends with."""
    outer, inner = Pattern.parse(allowed), Pattern.parse(wanted)
    return outer == inner or (outer.parts[-1] == "**" and inner.literal[: len(outer.literal)] == outer.parts[:-1])


def _wider(own: AgentConfig, allowed: AgentConfig) -> str | None:
    """The first field in which an agent has more than another."""
    for name in ("capabilities", "can_suggest", "allowed_interfaces"):
        if set(getattr(own, name)) - set(getattr(allowed, name)):
            return name
    if _more_commands(own.bash, allowed.bash):
        return "bash"
    for name in ("load_cwd_claude_md", "allow_workspace_skills", "allow_user_skills"):
        if getattr(own, name) and not getattr(allowed, name):
            return name
    if own.sandbox is None or allowed.sandbox is None:
        return "sandbox" if own.sandbox is None and allowed.sandbox is not None else None
    if _ACCESS.index(own.sandbox.workspace_access) > _ACCESS.index(allowed.sandbox.workspace_access):
        return "workspace_access"
    if set(own.sandbox.allowed_paths) - set(allowed.sandbox.allowed_paths):
        return "allowed_paths"
    return "network" if _more_network(own.sandbox.network, allowed.sandbox.network) else None


def _more_commands(own: bool | tuple[str, ...], allowed: bool | tuple[str, ...]) -> bool:
    if isinstance(own, bool) or isinstance(allowed, bool):
        return bool(own) and allowed is not True
    return bool(set(own) - set(allowed))


def _more_network(own: str | tuple[str, ...], allowed: str | tuple[str, ...]) -> bool:
    if own == "none" or own == allowed:
        return False
    return isinstance(own, str) or isinstance(allowed, str) or bool(set(own) - set(allowed))


def _interface(text: str) -> str:
    return InterfaceName.parse(str(text)).name
