"""Comparison of a loaded module with its manifest, which is what the user agreed to."""

from collections.abc import Iterable
from typing import Any, get_args

from parachute.base.errors import ParachuteError
from parachute.core.agents import AgentConfig, commands
from parachute.core.application import Application
from parachute.core.errors import ModuleError
from parachute.core.module import Module
from parachute.core.patterns import Pattern
from parachute.modules.manifest.models import ConversationAccess, InterfaceName, Manifest, Permissions

_HINT = "manifest.yaml decides, since it is what people see before they install a module; write it there."
_ACCESS = ("none", "ro", "rw")


def check_class(module: type[Module], manifest: Manifest) -> None:
    """Error: ModuleError when the class differs from the manifest in its name or version, or claims more than it."""
    for field, written, stated in (("name", module.name, manifest.name), ("version", module.version, manifest.version)):
        if written != stated:
            raise ModuleError(f"{module.__name__}.{field} is {written!r}, and manifest.yaml says {stated!r}.", _HINT)
    _check_permissions(module, manifest.permissions)
    for name, agent in module.agents.items():
        if name not in manifest.agents:
            raise ModuleError(f"{module.__name__}.agents: manifest.yaml has no agent {name!r}.", _HINT)
        try:
            own = AgentConfig.of(agent)
        except ParachuteError as error:
            raise ModuleError(f"{module.__name__}.agents: {name}: {error.message}") from error
        if wider := _wider(own, manifest.agents[name]):
            raise ModuleError(f"{module.__name__}.agents: {name}: {wider} is more than manifest.yaml says.", _HINT)
    provided = {entry.name for entry in manifest.provides}
    if {_interface(name) for name in module.provides} - provided:
        raise ModuleError(f"{module.__name__}.provides names an interface that manifest.yaml does not provide.", _HINT)
    # What the manifest promises is what others see; the class need not repeat it.
    module.provides = tuple(sorted(provided))
    if {_interface(name) for name in module.optional_requires} - {entry.name for entry in manifest.optional_requires}:
        raise ModuleError(f"{module.__name__}.optional_requires names more than manifest.yaml does.", _HINT)


def check_application(application: Application, manifest: Manifest) -> None:
    """Error: ModuleError when the code has a tool, an event or a change that the manifest does not name, or the reverse."""
    _check_same("tool", "mcp_tools", application.tools, [tool.name for tool in manifest.mcp_tools])
    handled = [handler.event for handler in application.handlers]
    _check_same("change", "accepts", application.accepts, manifest.accepts)
    _check_same("event", "hooks", handled, [hook.event for hook in manifest.hooks])


def _check_same(what: str, where: str, own: Iterable[str], stated: Iterable[str]) -> None:
    own, stated = set(own), set(stated)
    if more := sorted(own - stated):
        raise ModuleError(
            f"The code has the {what} {more[0]}, and manifest.yaml does not name it under {where}.", _HINT
        )
    if less := sorted(stated - own):
        raise ModuleError(
            f"manifest.yaml names the {what} {less[0]} under {where}, and the code has no function for it.",
            "Mark a method with the decorator, or name a function as `handler: file:function`.",
        )


def _check_permissions(module: type[Module], allowed: Permissions) -> None:
    known = {
        "read": (*allowed.read, *allowed.write),
        "write": allowed.write,
        "mcp": allowed.mcp,
        "network": allowed.network,
    }
    for name, value in module.permissions.items():
        if name == "bash":
            try:
                wider = _more_commands(commands(value), allowed.bash)
            except ParachuteError as error:
                raise ModuleError(f"{module.__name__}.permissions: {error.message}") from error
        elif name == "conversations":
            levels = get_args(ConversationAccess)
            wider = value not in levels or levels.index(value) > levels.index(allowed.conversations)
        elif name in known:
            wider = not _covered(value or (), known[name], paths=name in ("read", "write"))
        else:
            raise ModuleError(f"{module.__name__}.permissions: there is no permission {name!r}.")
        if wider:
            raise ModuleError(f"{module.__name__}.permissions: {name} is more than manifest.yaml says.", _HINT)


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
    return InterfaceName.parse(text).name
