"""The topics of the feed, and which requests and records are about which of them."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from parachute.events.bus.catalogue import BY_NAME
from parachute.security.keys.models import Capability
from parachute.web.access.routing import needed

May = Callable[[str, Capability], bool]

DATA = "data"
"""The topic of what modules hold: its id is the module's name."""


class Topic(Struct, frozen=True):
    """A subject of the feed: whoever may read `path` hears of it, and `meaning` is for documentation.

    `writes` are the first segments behind `/api/` of requests that change it; in those of `named`, the next segment is an id.
    """

    name: str
    meaning: str
    path: str
    writes: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


ALL = (
    Topic(
        "sessions",
        "Conversations, and what they are told; id: of one.",
        "/api/chat",
        ("chat", "claude-code", "contexts", "import"),
        ("chat",),
    ),
    Topic("runs", "An agent begins or ends; id: the conversation.", "/api/chat", ("agent-runs",)),
    Topic("inbox", "What waits for the owner.", "/api/inbox", ("inbox",)),
    Topic("suggestions", "Suggestions.", "/api/suggestions", ("suggestions",), ("suggestions",)),
    Topic(
        "modules", "Modules, their settings and approvals; id: a module.", "/api/modules", ("modules",), ("modules",)
    ),
    Topic(DATA, "What a module holds; id: the module.", "/api/{module}", ("sync",)),
    Topic("hooks", "Hooks, and those that failed.", "/api/hooks", ("hooks",)),
    Topic("mcps", "MCP servers; id: the name of one.", "/api/mcps", ("mcps",), ("mcps",)),
    Topic("plugins", "Plugins; id: the name of one.", "/api/plugins", ("plugins",), ("plugins",)),
    Topic("agents", "Agents for conversations; id: the name of one.", "/api/agents", ("agents",), ("agents",)),
    Topic("skills", "Skills; id: the name of one.", "/api/skills", ("skills",), ("skills",)),
    Topic("schedule", "Scheduled agents and reminders.", "/api/scheduler", ("scheduler", "reminders")),
    Topic("workspaces", "Workspaces; id: of one.", "/api/workspaces", ("workspaces",), ("workspaces",)),
    Topic("network", "Hosts and repositories that were allowed or refused.", "/api/network", ("network", "git")),
    Topic("files", "Files of the vault, by a device or a run.", "/api/ls", ("files", "memory", "tasks", "write")),
    Topic("voice", "Recordings that become text; id: of one.", "/api/voice", ("voice",)),
    Topic("imports", "Imports; id: of one.", "/api/imports", ("imports",), ("imports",)),
    Topic(
        "settings",
        "The model, the image of sandboxes, settings.",
        "/api/provider",
        ("config", "provider", "setup", "sandbox", "tls"),
    ),
    Topic("usage", "What was used, and limits.", "/api/usage", ("usage", "ask")),
    Topic("bots", "Bots of messengers, their chats and pairing requests.", "/api/bots", ("bots",)),
    Topic(
        "keys",
        "Keys of devices, signed-in browsers and assistants.",
        "/api/auth/keys",
        ("auth", "mcp-clients", "pairing", "phone", "push"),
    ),
    Topic("doctor", "What the doctor found.", "/api/doctor", ("doctor",)),
    Topic("backups", "Backups.", "/api/backups", ("backups",)),
    Topic("updates", "Updates of this computer.", "/api/updates", ("updates",)),
    Topic("panic", "All agents are stopped, or work again.", "/api/panic", ("panic", "resume")),
)

TOPICS: Mapping[str, Topic] = {topic.name: topic for topic in ALL}

_BY_SEGMENT = {segment: topic for topic in ALL for segment in topic.writes}
UNHEARD = frozenset({"events", "forget", "logs", "supervisor"})
"""First segments of requests that change nothing that a screen shows, or restart the computer."""

_BY_RECORD = {
    "agent_request": "runs",
    "file_change": "files",
    "files_changed": "files",
    "gateway_call": "usage",
    "import": "imports",
    "suggestion": "suggestions",
}
_BY_ITEM = {
    "agent": "schedule",
    "agent_run": "runs",
    "changes": "files",
    "chat_agent": "agents",
    "hook": "hooks",
    "host": "network",
    "mcp_server": "mcps",
    "module": "modules",
    "plugin": "plugins",
    "reminder": "schedule",
    "problem": "doctor",
    "prompt": "modules",
    "repository": "network",
    "skill": "skills",
    "task": "files",
    "pairing": "bots",
    "delivery": "bots",
    "push_service": "keys",
    "update": "updates",
}
"""Further topic that changes with an answer in the inbox, by the kind of the item."""

_NO_IDS = frozenset({"approve-all", "batch", "install", "official", "orchestrate", "reindex", "reload", "staged"})
_ID = re.compile(r"[A-Za-z0-9_.:@-]{1,128}")


class Change(Struct, frozen=True):
    """Something is other than before: all of a topic, or one thing of it."""

    topic: str
    id: str | None = None

    def may_hear(self, may: May) -> bool:
        """Return whether somebody with these rights may hear of it."""
        need = needed("GET", TOPICS[self.topic].path.replace("{module}", self.id or "*"))
        return may(need.module, need.capability)


def of_request(path: str) -> Change | None:
    """Return what a request that was carried out has changed."""
    segments = path[1:].split("/")
    if segments[0] != "api" or len(segments) < 2 or segments[1] in UNHEARD:
        return None
    first, rest = segments[1], segments[2:]
    if first == "sync":
        return Change(DATA, "daily")
    if (topic := _BY_SEGMENT.get(first)) is None:
        return Change(DATA, first) if _ID.fullmatch(first) else None
    if first == "contexts" and rest[:1] == ["session"]:
        rest = rest[1:]
    elif first not in topic.named:
        rest = []
    return Change(topic.name, rest[0] if rest and rest[0] not in _NO_IDS and _ID.fullmatch(rest[0]) else None)


def of_event(name: str, session: str) -> Change:
    """Return what an event of the bus says to have changed."""
    if (own := BY_NAME.get(name)) and own.topic is not None:
        is_named = own.topic == "sessions" and _ID.fullmatch(session)
        return Change(own.topic, session if is_named else None)
    return Change("runs") if ".agent." in name else Change(DATA, name.partition(".")[0])


def of_record(record: Mapping[str, Any]) -> Change | None:
    """Return what the record of an action says to have changed; None where nothing that is shown."""
    kind, where = record["event_type"], str(record["target_endpoint"])
    if kind == "hook" and not record["success"]:
        return Change("hooks")
    if not record["success"]:
        return None
    if kind == "api_call":
        return of_request(where.partition(" ")[2])
    if kind == "event":
        return of_event(where, str(record["source_id"]))
    if kind in ("approval", "withdrawal"):
        return _change_of(str(record["target_module"]))
    if kind == "inbox_answer":
        return _change_of(_BY_ITEM.get(where.rpartition(" ")[2].partition(":")[0]))
    return _change_of(_BY_RECORD.get(kind))


def _change_of(topic: str | None) -> Change | None:
    return Change(topic) if topic is not None and topic in TOPICS else None
