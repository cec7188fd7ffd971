"""Suggestions to see: a journal that proposes what its entries say, to the real modules."""

from typing import Any

import httpx2

from tests.support.computer import Computer
from tests.support.installation import PLAIN

SECONDS = 120.0


def call(computer: Computer, method: str, path: str, body: Any = None) -> Any:
    """One request of the owner; the answer."""
    answer = httpx2.request(method, f"{computer.url}{path}", json=body, timeout=SECONDS, **PLAIN)
    answer.raise_for_status()
    return answer.json()


def install_official(computer: Computer, *names: str) -> None:
    """Install official modules as an app does, with the hash that was shown; those that are there stay."""
    there = {each["name"] for each in call(computer, "GET", "/api/modules")["modules"]}
    for each in call(computer, "GET", "/api/modules/official")["modules"]:
        if each["name"] in names and each["name"] not in there:
            call(computer, "POST", "/api/modules/install", {"source": each["source"], "hash": each["hash"]})


def know(computer: Computer, name: str, content: str = "") -> str:
    """Let Brain know a person; the para-id."""
    made = call(
        computer, "POST", "/api/brain/entities", {"entity_type": "person", "data": {"name": name}, "content": content}
    )
    return str(made["para_id"])


def waiting(computer: Computer) -> list[dict[str, Any]]:
    """All suggestions that wait for a decision."""
    return list(call(computer, "GET", "/api/suggestions?status=pending")["suggestions"])


def write(computer: Computer, text: str, proposals: int) -> list[dict[str, Any]]:
    """Write into the journal, and wait until so many things more are proposed."""
    before = {each["id"] for each in waiting(computer)}
    call(computer, "POST", "/api/daily/entries", {"content": text})

    def new() -> list[dict[str, Any]]:
        found = [each for each in waiting(computer) if each["id"] not in before]
        return found if len(found) >= proposals else []

    return list(computer.wait_until(new, f"the journal proposes what it says: {text}"))


def furnish_suggestions(computer: Computer) -> None:
    """One that was decided, one that changes and two that create, two of them as one."""
    install_official(computer, "brain", "daily")
    know(computer, "Kevin", "Advisor of the vibe school.")
    (decided,) = write(computer, "Kevin married in May.", 1)
    call(computer, "POST", f"/api/suggestions/{decided['id']}/approve")
    write(computer, "Lunch with Ottilie.", 1)
    pair = [
        each["id"] for each in (*write(computer, "Tea with Walpurga.", 1), *write(computer, "A walk with Hedwig.", 1))
    ]
    call(computer, "POST", "/api/suggestions/batch", {"title": "Two people of your journal", "ids": pair})
