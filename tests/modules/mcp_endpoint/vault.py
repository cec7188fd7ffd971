"""A vault in which each thing has a secret word of its own, so that an answer shows what it is from."""

from datetime import date
from typing import Any

from msgspec import Struct

from tests.support.server import Server

WORD = "boat"
"""A word in all of them."""


class Thing(Struct, frozen=True):
    """One thing of the vault."""

    secret: str
    kind: str
    path: str
    day: date | None = None


def furnish(server: Server) -> list[Thing]:
    """Write people, topics and entries of some days."""
    things = []
    for kind in ("person", "topic"):
        for number in range(3):
            secret = f"{kind}secret{number}"
            body = {
                "entity_type": kind,
                "data": {"name": f"{WORD} {secret}", "tags": [WORD]},
                "content": f"A {WORD}, {secret}.",
            }
            made = _sent(server, "/api/brain/entities", body)
            things.append(Thing(secret, kind, made["path"]))
    for month in (1, 6, 11):
        for number in range(2):
            secret, day = f"entrysecret{month}x{number}", date(2026, month, 5 + number)
            body = {"content": f"With the {WORD}, {secret}.", "title": f"{WORD} {secret}", "date": day.isoformat()}
            made = _sent(server, "/api/daily/entries", body)
            things.append(Thing(secret, "entry", made["path"], day))
    return things


def _sent(server: Server, path: str, body: dict[str, Any]) -> dict[str, Any]:
    import httpx2

    from tests.support.installation import PLAIN

    answer = httpx2.post(f"{server.url}{path}", json=body, timeout=60, **PLAIN)
    assert answer.status_code < 300, answer.text
    found: dict[str, Any] = answer.json()
    return found
