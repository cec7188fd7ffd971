"""A person's computer after some weeks: conversations, workspaces, a journal, knowledge, and a history with Claude Code."""

import time
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx2

from tests.chat.claude_code_import import writing
from tests.chat.imports import exports
from tests.support.installation import PLAIN, Installation
from tests.support.noon import around_noon

TITLES = (
    "Planning the garden for spring",
    "Why does bread need salt?",
    "A letter to the landlord",
    "Learning Italian in twenty minutes a day",
    "Trip to Lisbon with Maria",
    "The budget of the choir",
    "Explaining tides to a child",
    "Repairing the red bicycle",
)
_DAY = 86_400


def call(computer: Installation, method: str, path: str, **options: Any) -> Any:
    """One request of the owner on the same machine; its JSON."""
    answer = httpx2.request(method, f"{computer.url}{path}", timeout=120, **options, **PLAIN)
    assert answer.is_success, f"{method} {path}: {answer.text}"
    return answer.json() if answer.content else None


def talk(title: str, number: int, days_ago: int, question: str = "") -> dict[str, Any]:
    """A conversation of ChatGPT that ended so many days ago."""
    at = time.time() - days_ago * _DAY
    nodes = (
        exports.node("root", None),
        exports.node("q", "root", "user", question or f"{title}?", time=at),
        exports.node("a", "q", "assistant", "Let us look at it together.", time=at + 5),
    )
    return exports.tree(*nodes, title=title, current="a", name=f"c-{number}", create_time=at, update_time=at + 5)


def bring(computer: Installation, *talks: dict[str, Any]) -> dict[str, Any]:
    """Import conversations of ChatGPT, as the app does."""
    install(computer, "imports")
    return dict(call(computer, "POST", "/api/import", json={"data": list(talks), "archived": False}))


def add_conversations(computer: Installation, count: int = 60) -> list[str]:
    """Imported conversations, the first of them with speaking titles; their ids."""
    talks = [
        talk(TITLES[number] if number < len(TITLES) else f"A question about part {number}", number, number)
        for number in range(count)
    ]
    answer = bring(computer, *talks)
    assert answer["imported_count"] == count, answer
    return list(answer["session_ids"])


def add_workspace(computer: Installation, name: str, sessions: list[str]) -> None:
    """A workspace with some conversations."""
    slug = call(computer, "POST", "/api/workspaces", json={"name": name})["workspace"]["slug"]
    for session in sessions:
        call(computer, "PATCH", f"/api/chat/{session}/config", json={"workspaceId": slug})


def add_claude_code(computer: Installation) -> None:
    """Three conversations with Claude Code, of which one is deleted soon."""
    claude = computer.folder / ".claude"
    for days, project, question in (
        (1, "/home/ada/boat", "Why does the bilge pump test fail?"),
        (4, "/home/ada/website", "Make the pictures smaller"),
        (27, "/home/ada/boat", "Draw the wiring plan anew"),
    ):
        lines = [
            writing.said("user", question, project, timestamp=_iso(days)),
            writing.said("assistant", "I look at it.", project, timestamp=_iso(days)),
        ]
        writing.write(claude, project, *lines, at=int(time.time() - days * _DAY))


def _iso(days: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * _DAY))


def install(computer: Installation, name: str) -> None:
    """Install an official module."""
    modules = call(computer, "GET", "/api/modules/official")["modules"]
    (offer,) = (each for each in modules if each["name"] == name)
    if not offer["installed"]:
        call(computer, "POST", "/api/modules/install", json={"source": offer["source"], "hash": offer["hash"]})


def day(days_ago: int = 0) -> str:
    """A date as the journal writes it."""
    return (datetime.now(ZoneInfo(around_noon())).date() - timedelta(days=days_ago)).isoformat()


def add_entry(computer: Installation, content: str, days_ago: int = 0, title: str = "") -> dict[str, Any]:
    """An entry of the journal."""
    body = {"content": content, "title": title, "date": day(days_ago)}
    return dict(call(computer, "POST", "/api/daily/entries", json=body))


def add_entity(computer: Installation, kind: str, name: str, content: str = "", **data: Any) -> str:
    """An entity of Brain; its para-id."""
    body = {"entity_type": kind, "data": {"name": name, **data}, "content": content}
    return str(call(computer, "POST", "/api/brain/entities", json=body)["para_id"])
