"""The contract probe: what the app asks for, and the fields without which it cannot go on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Shape = Any
"""A class of values; a list with the shape of its items; a mapping of names to shapes, where `name?` may be absent or null."""

_SESSION = {"id": str, "createdAt": str, "messageCount": int, "archived": bool, "title?": str, "trustLevel?": str}
_MESSAGE = {"role": str}
_EVENT = {"type": str, "uuid?": str, "message?": dict}
_WORKSPACE = {"name": str, "slug": str, "default_trust_level": str, "capabilities?": dict}
_BOT = {"enabled": bool, "has_token": bool, "dm_trust_level": str, "group_trust_level": str}
_AGENT = {"name": str, "tools?": [str], "source?": str}
_SKILL = {"name": str, "description?": str, "allowed_tools?": [str]}
_ENTRY = {"name": str, "type": str, "path": str, "relativePath": str, "isDirectory": bool}
_PROMPT = {"promptSource": str, "contextFiles": [str], "totalPromptTokens": int, "prompt": str}
_DAILY_AGENT = {
    "name": str,
    "description": str,
    "schedule": {"time": str},
    "state": {"runCount": int},
    "outputPath": str,
}


@dataclass(frozen=True, slots=True)
class Call:
    """A request of the app. Names in braces stand for what earlier answers had in the places of `finds`.

    `module` answers it; without that nobody does.
    """

    path: str
    shape: Shape
    finds: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    module: str | None = None


CALLS = (
    Call("/api/health", {"version?": str}),
    Call("/api/health?detailed=true", {"vault?": {"path?": str}, "docker?": {"available?": bool}}),
    Call("/api/chat?limit=500", {"sessions": [_SESSION]}, {"session": ("sessions", 0, "id")}),
    Call("/api/chat?limit=500&archived=true", {"sessions": [_SESSION]}),
    Call("/api/chat?limit=500&search=rehearsal", {"sessions": [_SESSION]}),
    Call("/api/chat/{session}", {**_SESSION, "messages": [_MESSAGE]}),
    Call("/api/chat/{session}/stream-status", {"active": bool}),
    Call(
        "/api/chat/{session}/transcript?after_compact=true", {"sessionId": str, "events": [_EVENT], "segments": [dict]}
    ),
    Call("/api/chat/{session}/pending-questions", {"pending": [dict]}),
    Call("/api/chat/active-streams", {"streams": list}),
    Call("/api/workspaces", {"workspaces": [_WORKSPACE]}, {"workspace": ("workspaces", 0, "slug")}),
    Call("/api/workspaces/{workspace}", {"workspace": _WORKSPACE}),
    Call("/api/agents", {"agents": [_AGENT]}, {"agent": ("agents", 0, "name")}),
    Call("/api/agents/{agent}", _AGENT),
    Call("/api/skills", {"skills": [_SKILL]}, {"skill": ("skills", 0, "name")}),
    Call("/api/skills/{skill}", _SKILL),
    Call("/api/mcps", {"servers": [{"name": str, "displayType?": str}]}),
    Call("/api/plugins", {"plugins": [{"slug": str, "name": str, "skills": [str], "agents": [str], "mcps": [str]}]}),
    Call("/api/contexts/folders", {"folders": [{"path": str, "display_name": str, "context_file?": str}]}),
    Call("/api/contexts/chain?folders=", {"files": [{"path": str, "folder_path": str}], "total_tokens": int}),
    Call("/api/contexts/session/{session}", {"folder_paths": [str]}),
    Call("/api/prompt/preview", _PROMPT),
    Call("/api/ls", {"entries": [_ENTRY]}),
    Call("/api/ls?path=Chat/contexts", {"entries": [_ENTRY]}),
    Call("/api/auth/keys", {"keys": [{"id": str, "label": str, "created_at": str}], "auth_mode": str}),
    Call("/api/auth/settings", {"require_auth": str, "key_count": int}),
    Call("/api/usage", {"five_hour?": dict, "error?": str}),
    Call("/api/claude-code/recent?limit=100", {"sessions": [{"sessionId": str, "messageCount": int}]}),
    Call("/api/claude-code/projects", {"projects": [{"encodedName": str, "path": str, "sessionCount": int}]}),
    Call("/api/bots/status", {"connectors": {name: {"running": bool} for name in ("telegram", "discord", "matrix")}}),
    Call("/api/bots/config", {"telegram": _BOT, "discord": _BOT, "matrix": _BOT}),
    Call("/api/bots/pairing/count", {"pending": int}),
    Call("/api/modules", {"modules": [{"name": str, "trust_level": str}]}),
    Call(
        "/api/hooks",
        {"hooks": [{"name": str, "events": [str], "blocking": bool}], "health": {"recent_errors_count": int}},
    ),
    Call("/api/hooks/errors", {"errors": [{"hook": str, "message": str, "timestamp": str}]}),
    Call("/api/config", {}),
    Call(
        "/supervisor/status",
        {
            "supervisor_version": str,
            "supervisor_uptime_seconds": int,
            "main_server_healthy": bool,
            "main_server_status": str,
        },
    ),
    Call("/supervisor/models", {"models": [{"id": str, "display_name": str, "created_at": str, "family": str}]}),
    Call("/api/modules/daily/agents", {"agents": [_DAILY_AGENT]}, module="daily"),
    Call(
        "/api/sync/manifest?root=Daily&pattern=*&include_binary=false&quick=false",
        {"files": [{"path": str, "hash": str, "size": int, "modified": float}]},
        module="daily",
    ),
    Call(
        "/api/sync/changes?root=Daily&since=0&pattern=*&include_binary=false",
        {"files": [{"path": str}]},
        module="daily",
    ),
    Call("/api/brain/schemas", {"schemas": [{"name": str, "fields": dict}]}, {"type": ("schemas", 0, "name")}, "brain"),
    Call("/api/brain/entities/{type}?limit=20&offset=0", {"results": [dict]}, module="brain"),
    Call("/api/brain/types", [{"name": str, "fields": list}], module="brain"),
    Call(
        "/api/brain/queries",
        {"queries": [{"id": str, "name": str, "entity_type": str, "filters": [dict]}]},
        module="brain",
    ),
    Call(
        "/api/brain/search?q=rehearsal",
        {"query": str, "count": int, "results": [{"para_id": str, "name": str}]},
        module="brain",
    ),
)


def problems(value: Any, shape: Shape, where: str = "the answer") -> Iterator[str]:
    """Say what of an answer does not have its shape."""
    if isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            yield f"{where} is {_kind(value)}, not an object"
            return
        for name, inner in shape.items():
            found = value.get(name.removesuffix("?"))
            if found is None:
                if not name.endswith("?"):
                    yield f"{where} has no {name}"
                continue
            yield from problems(found, inner, f"{where}.{name.removesuffix('?')}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where} is {_kind(value)}, not a list"
            return
        for number, item in enumerate(value):
            yield from problems(item, shape[0], f"{where}[{number}]")
    elif not _is(value, shape):
        yield f"{where} is {_kind(value)}, not {shape.__name__}"


def found_at(value: Any, place: tuple[str | int, ...]) -> str | None:
    """Return the text in a place of an answer, None if nothing is there."""
    for part in place:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None
    return value if isinstance(value, str) else None


def _is(value: Any, kind: type) -> bool:
    # As the app casts: no text for a number, no 1.0 for an int, no 0 for a bool.
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
