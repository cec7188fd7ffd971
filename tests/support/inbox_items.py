"""An item of each kind and shape, with names that are hostile, as the API shows it."""

from typing import Any

from msgspec import to_builtins

from parachute.events.inbox.api import shown_item
from parachute.events.inbox.models import Item

EVIL = 'a"><img src=x onerror=alert(1)>\n\x1b[2J\u202e{host} Ω'
"""A name that is HTML, drives a terminal, turns its direction, ends the line and has a placeholder of a translation."""

SINCE = "2026-01-02T03:04:05.000Z"
DIFF = {"path": "a.md", "kind": "changed", "diff": f"@@ -1 +1 @@\n-old\n+{EVIL}", "note": None}
FILE = {"path": EVIL, "sha256": "0" * 64}
QUESTION = {"question": f"Which {EVIL}?", "options": [{"label": "Red", "description": EVIL}], "multiSelect": False}
HELD = {"path": EVIL, "root": EVIL, "change": "created", "added": 1, "removed": 0, "why": "It is obeyed."}
CHANGES = {"run": 3, "project": "/v/boat", "files": [HELD], "more": 0, "diffs": {EVIL: f"+{EVIL}"}, "cut": False}
SUGGESTION: dict[str, Any] = {
    "id": "9f2c41d7a0be",
    "action": "update",
    "source_agent": "daily",
    "target_module": "brain",
    "target_id": "kevin",
    "title": EVIL,
    "payload": {"append": EVIL},
    "before": {},
    "reasoning": EVIL,
    "timestamp": SINCE,
    "status": "pending",
    "origin": None,
    "error": None,
    "modifications": None,
    "members": [],
}
RUN = {"request": "1", "module": "daily", "agent": EVIL, "prompt": EVIL, "until": SINCE, "asked_by": "module"}
SERVER = {"command": EVIL, "environment": [EVIL], "secrets": ["KEY"], "files": [FILE], "hosts": [EVIL], "folders": []}
PAIRING = {"chat_type": "private", "chat_id": "42", "user_id": "42", "name": EVIL, "title": "", "code": "ABCD-EFGH"}
PROBLEM = {"check": "backup", "title": "Backup", "next": EVIL, "details": [EVIL], "fix": EVIL, "hide": "for 7 days"}


FIELD = {"name": "a", "label": EVIL, "about": EVIL, "kind": "text", "is_required": True, "format": "email"}
FIELD |= {"options": [], "least": None, "most": None, "given": ""}
CHOICES = {**FIELD, "name": "b", "kind": "choices", "options": [{"value": "x", "label": EVIL}], "given": ["x"]}
FORM = {"server": EVIL, "tools": [EVIL], "conversations": [EVIL, "Trip"], "message": EVIL, "fields": [FIELD, CHOICES]}

CONFLICT = {
    "path": EVIL,
    "copy": None,
    "device": EVIL,
    "this": "0" * 64,
    "that": "1" * 64,
    "this_size": 4,
    "that_size": 9,
    "diff": f"@@ -1 +1 @@\n-old\n+{EVIL}",
    "is_cut": True,
}


def _item(kind: str, title: str, details: dict[str, Any], *answers: str, **fields: Any) -> Item:
    return Item(kind, fields.pop("key", "k"), title, fields.pop("source", EVIL), SINCE, details, answers, **fields)


def _host(workspace: str | None) -> Item:
    details = {"host": EVIL, "workspace": workspace}
    return _item("host", f"Reach {EVIL}", details, "once", "always", "never", key=f"{workspace}/x")


ITEMS = (
    _host("boat"),
    _host(None),
    _item(
        "repository",
        "Push",
        {"repository": EVIL, "access": "push", "workspace": "boat"},
        *("once", "always", "never"),
    ),
    _item(
        "permission",
        "Bash",
        {"tool": "Bash", "input": {"command": f"git push {EVIL}"}, "reason": EVIL},
        *("allow", "deny", "allow Bash(git:*)"),
        session="s1",
    ),
    _item("permission", "Odd", {"tool": EVIL, "input": {EVIL: [EVIL]}, "reason": ""}, "allow", "deny", key="odd"),
    _item("question", f"Which {EVIL}?", {"questions": [QUESTION]}, "answer", "skip"),
    _item("suggestion", EVIL, SUGGESTION, "approve", "reject", called=str(SUGGESTION["id"]), source="daily"),
    _item("module", "Module", {"reason": EVIL, "pending_hash": "x", "approval": "/x"}, "approve", key=EVIL),
    _item("module", f"Install module {EVIL}", {"staged": "1", "hash": "x", "text": EVIL}, "approve", "reject"),
    _item("hook", "Hook", {"command": EVIL, "event": EVIL, "files": [FILE]}, "approve", key=f"e/{EVIL}/x"),
    _item("hook", "Hooks do not run", {"problem": EVIL}, key="mistake", command="parachute hooks list"),
    _item("mcp_server", "Server", SERVER, "approve", key=EVIL),
    _item(
        "mcp_server", "Remote", {"address": EVIL, "headers": [], "secrets": [], "files": []}, "approve", key="remote"
    ),
    _item("mcp_server", "Words", {"server": EVIL, "digest": "x", "tools": [{"name": EVIL}]}, "approve", key="words"),
    _item("mcp_server", "Login", {"server": EVIL, "address": EVIL}, "sign_in", key="login", link="https://x.example"),
    _item("mcp_question", "Asks", FORM, "answer", "decline"),
    _item(
        "plugin",
        "Programs",
        {"part": "programs", "contains": {EVIL: [EVIL]}, "hash": "x", "commit": "y", "not_run": [EVIL]},
        *("approve", "reject"),
        key=f"{EVIL}/programs",
    ),
    _item("plugin", "Changed", {"problem": EVIL}, key=EVIL, command="parachute plugins approve x"),
    _item("agent", "Agent", {"module": "daily", "name": EVIL, "hash": "x", "text": EVIL}, "approve", key=EVIL),
    _item("agent_run", f"Run {EVIL} of daily in a sandbox", RUN, "allow", "deny"),
    _item("chat_agent", f"Agent {EVIL}", DIFF, "approve"),
    _item("skill", f"Skill {EVIL}", {**DIFF, "files": [FILE]}, "approve"),
    _item("prompt", "Words", DIFF, "approve"),
    _item("changes", "Apply", CHANGES, "apply", "throw_away", session="s1"),
    _item("problem", f"It fails: {EVIL}", PROBLEM, "repair", "look-again", "hide", source="doctor"),
    _item(
        "spending",
        f"{EVIL} has used $4.20 of $5.00 of this day",
        {"subject": EVIL, "used": "$4.20", "limit": "$5.00", "per": "day", "is_reached": True},
        command="parachute usage limit x --dollars …",
    ),
    _item(
        "pairing",
        f"42 on {EVIL} wants to talk to your bot",
        PAIRING,
        *("approve", "reject", "approve guest"),
        source="Telegram",
    ),
    _item(
        "delivery", "Failed", {"chat_id": EVIL, "text": EVIL, "problem": EVIL}, "retry", "discard", source="Telegram"
    ),
    _item("push_service", f"Send notices by {EVIL}", {"host": EVIL, "device": EVIL}, "always", "never"),
    _item("conflict", f"Two versions of {EVIL}", CONFLICT, "merge", "this", "that", "both"),
    _item(
        "conflict",
        "Two pictures",
        {**CONFLICT, "copy": EVIL, "device": None, "diff": "", "is_cut": False},
        *("this", "that", "both"),
        key="copy",
    ),
    _item(
        "reminder",
        EVIL,
        {"text": EVIL, "due": SINCE, "schedule": "every weekday at 7"},
        *("done", "in_an_hour", "tomorrow"),
        source="reminder",
    ),
    _item(
        "task",
        EVIL,
        {"text": EVIL, "due": "2026-12-01", "path": f"Notes/{EVIL}.md"},
        *("done", "later"),
        source="tasks",
    ),
    _item("update", f"The update came back: {EVIL}", {"phase": "back", "since": [EVIL], "next": EVIL}, "hide"),
)
"""Each has an id of its own."""


def as_shown(item: Item) -> dict[str, Any]:
    """An item as the API tells it to its owner."""
    found: dict[str, Any] = to_builtins(shown_item(item, may_answer=True))
    return found
