"""A vault in which each thing has a secret word of its own, so that an answer shows what it is from."""

import os
from datetime import date, datetime, time
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
    resource: str
    day: date | None = None


def furnish(server: Server) -> list[Thing]:
    """Write people, topics, entries of some days, and files that were last changed on some."""
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
            things.append(Thing(secret, kind, made["path"], f"parachute://entities/{made['para_id']}"))
    for month in (1, 6, 11):
        for number in range(2):
            secret, day = f"entrysecret{month}x{number}", date(2026, month, 5 + number)
            body = {"content": f"With the {WORD}, {secret}.", "title": f"{WORD} {secret}", "date": day.isoformat()}
            made = _sent(server, "/api/daily/entries", body)
            things.append(Thing(secret, "entry", made["path"], f"parachute://entries/{made['id']}", day))
    for folder in ("Projects", "Projects/Harbour", "Private"):
        for month in (2, 7):
            secret, day = f"filesecret{len(folder)}x{month}", date(2026, month, 8)
            path = f"{folder}/{secret}.md"
            place = server.vault / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"A {WORD}, {secret}.")
            noon = datetime.combine(day, time(12)).timestamp()
            os.utime(place, (noon, noon))
            things.append(Thing(secret, "file", path, f"parachute://files/{path}", day))
    return things


def _sent(server: Server, path: str, body: dict[str, Any]) -> dict[str, Any]:
    import httpx2

    from tests.support.installation import PLAIN

    answer = httpx2.post(f"{server.url}{path}", json=body, timeout=60, **PLAIN)
    assert answer.status_code < 300, answer.text
    found: dict[str, Any] = answer.json()
    return found
