"""Hooks and MCP servers of a plugin: what would run, and when."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from parachute.base.folders import Folder
from parachute.capabilities.mcp_servers.configuration import server_of
from parachute.capabilities.mcp_servers.models import PLUGIN_ROOT, Server
from parachute.capabilities.plugins.manifest import Manifest, document_of
from parachute.capabilities.plugins.models import Hook

HOOKS = "hooks/hooks.json"
SERVERS = ".mcp.json"
ROOT = "${CLAUDE_PLUGIN_ROOT}"

_EVENTS = frozenset(
    [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
    ]
)
_FIELDS = frozenset({"type", "command", "args", "timeout"})
_MOST = 100
_LONGEST = 4_096
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,63})(?::-([^${}]*))?\}")


def read_hooks(folder: Folder, manifest: Manifest, not_run: list[str]) -> tuple[Hook, ...]:
    """The hooks of a plugin; those that do not run here are named in `not_run`. Error: PluginInvalid."""
    found: list[Hook] = []
    for where, document in _documents(folder, manifest, "hooks", HOOKS, not_run):
        events = document.get("hooks", document)
        if not isinstance(events, dict):
            not_run.append(f"{where}: it is not understood")
            continue
        for event, groups in events.items():
            if event in ("description", "$schema"):
                continue
            for group in groups if isinstance(groups, list) else [None]:
                found += _hooks(where, event, group, not_run)
    if len(found) > _MOST:
        not_run.append(f"hooks: there are more than {_MOST}, so that none of them runs")
        return ()
    return tuple(found)


def _hooks(where: str, event: str, group: Any, not_run: list[str]) -> Iterator[Hook]:
    shown = f"{where}: {event[:40]}"
    hooks = group.get("hooks") if isinstance(group, dict) else None
    matcher = group.get("matcher", "") if isinstance(group, dict) else ""
    is_known = event in _EVENTS and _is_text(matcher) and isinstance(group, dict) and set(group) <= {"hooks", "matcher"}
    if not is_known or not isinstance(hooks, list):
        not_run.append(f"{shown}: unknown event or syntax")
        return
    for fields in hooks:
        if not isinstance(fields, dict) or fields.get("type") != "command" or set(fields) - _FIELDS:
            not_run.append(f"{shown}: a hook that is no plain command")
        elif not _is_command(fields):
            not_run.append(f"{shown}: a command that is not understood")
        else:
            yield Hook(event, matcher, fields)


def _is_command(fields: dict[str, Any]) -> bool:
    arguments, seconds = fields.get("args", []), fields.get("timeout", 60)
    if not isinstance(arguments, list) or not all(map(_is_text, arguments)) or isinstance(seconds, bool):
        return False
    return _is_text(fields.get("command")) and isinstance(seconds, int | float) and 0 < seconds <= 600


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and value.replace("\n", " ").isprintable()


def read_servers(folder: Folder, manifest: Manifest, slug: str, not_run: list[str]) -> tuple[Server, ...]:
    """The MCP servers of a plugin under the names that they have here; error: PluginInvalid."""
    found: dict[str, Server] = {}
    for where, document in _documents(folder, manifest, "mcpServers", SERVERS, not_run):
        described = document.get("mcpServers", document)
        if not isinstance(described, dict) or len(described) > _MOST:
            not_run.append(f"{where}: it is not understood")
            continue
        for name, fields in described.items():
            # The name of the plugin first: the program of one plugin is never taken for that of another.
            server = server_of(f"{slug}-{name}", _expanded(fields))
            if server.name.casefold() in found:
                not_run.append(f"{where}: {name[:40]} is there twice")
                continue
            found[server.name.casefold()] = replace(server, plugin=slug)
    return tuple(found.values())


def _documents(
    folder: Folder, manifest: Manifest, kind: str, usual: str, not_run: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if folder.status(usual) is not None:
        yield usual, document_of(folder, usual)
    for path in manifest.paths.get(kind, ()):
        if not path.endswith(".json"):
            not_run.append(f"{path}: only files of JSON are read")
        elif path != usual:
            yield path, document_of(folder, path)
    if kind in manifest.inline:
        yield "plugin.json", manifest.inline[kind]


def _expanded(value: Any, depth: int = 0) -> Any:
    """The value with the plugin's folder put in, and with secrets of the owner's in the place of variables of a user's environment."""
    if isinstance(value, str):
        return _VARIABLE.sub(_variable, value)
    if isinstance(value, list) and depth < 4:
        return [_expanded(each, depth + 1) for each in value]
    if isinstance(value, dict) and depth < 4:
        return {name: _expanded(each, depth + 1) for name, each in value.items()}
    return value


def _variable(found: re.Match[str]) -> str:
    if found[1] == "CLAUDE_PLUGIN_ROOT":
        return PLUGIN_ROOT
    if found[1] == "CLAUDE_PLUGIN_DATA":
        return "/data"
    # What its author wrote for where there is none: a secret that happens to be called so is not given to it.
    return found[2] if found[2] is not None else f"${{secret:{found[1]}}}"


def hooks_document(hooks: Iterable[Hook]) -> dict[str, Any]:
    """The hooks as the agent's program reads them."""
    events: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks:
        group: dict[str, Any] = {"hooks": [dict(hook.fields)]}
        if hook.matcher:
            group["matcher"] = hook.matcher
        events.setdefault(hook.event, []).append(group)
    return {"hooks": events}
