"""Conversations as people read them on a terminal."""

import sys
from typing import Any

from parachute.cli.identifiers import short
from parachute.cli.output import clean, counted, print_note, print_table, styled
from parachute.cli.times import local

_NEWEST = 500
"""Messages that the API gives of one conversation."""


def print_sessions(sessions: list[dict[str, Any]]) -> None:
    """The table of conversations."""
    rows = [
        (
            short(session["id"]),
            session.get("title") or "",
            local(session.get("updatedAt"), ""),
            str(session.get("messageCount") or 0),
            session.get("trustLevel") or "",
        )
        for session in sessions
    ]
    print_table(["Id", "Title", "Updated", "Messages", "Trust"], rows)


def print_session(session: dict[str, Any]) -> None:
    """A conversation: what it is, and what was said."""
    messages = session["messages"]
    title = " ".join(str(session.get("title") or "Without a title").split())
    print(styled(clean(title), "1", sys.stdout))
    facts = [
        short(session["id"]),
        local(session.get("updatedAt"), ""),
        _model(session),
        session.get("trustLevel"),
        counted(session.get("messageCount") or 0, "message"),
        "archived" if session.get("archived") else "",
    ]
    print(styled(clean(" · ".join(filter(None, facts))), "2", sys.stdout))
    if len(messages) >= _NEWEST:
        print_note(f"These are the newest {_NEWEST} messages.")
    for message in messages:
        text = "\n".join(block["text"] for block in message["content"] if block["type"] == "text").strip()
        if text:
            print(clean(f"\n{message['role']}: {text}"))


def _model(session: dict[str, Any]) -> str:
    """The model that answered last, or else the one that was chosen."""
    answered = (str(message.get("model") or "") for message in reversed(session["messages"]))
    # What the agent's program says itself has a name in angle brackets.
    return next((name for name in answered if name and not name.startswith("<")), session.get("model") or "")
