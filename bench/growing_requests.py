"""Requests whose cost may grow with what a computer holds."""

import itertools
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

from bench.connection import Connection
from bench.filled import NO_TRANSCRIPT, FilledComputer
from bench.transcript_turns import LONG_SESSION, transcript_turn

Call = Callable[[], object]

TRANSCRIPT = f"/api/chat/{LONG_SESSION}/transcript?after_compact=true"
OTHERS = (
    "/api/chat?limit=500",
    f"/api/chat/{LONG_SESSION}/transcript",
    "/api/modules",
    "/api/suggestions",
    "/api/chat?search=subject",
    "/api/daily/today",
    "/api/brain/entities",
)
"""The requests of apps while somebody else waits."""

_SEARCH = "/api/chat?limit=500&search="
_EVERY = "/api/daily/entries?from=1900-01-01&to=2100-01-01&limit=20&offset="


def unchanged(computer: FilledComputer, connection: Connection) -> dict[str, Call]:
    """Requests by name, answered again and again while nothing changes."""
    amount, get = computer.amount, partial(partial, connection.get)
    # Later than the files, which were written a moment ago if this computer was filled for this run.
    now = time.time() + 600
    name = computer.names[len(computer.names) // 2]
    return {
        "without_transcript": get(f"/api/chat/{NO_TRANSCRIPT}"),
        "transcript": get(TRANSCRIPT),
        "messages": get(f"/api/chat/{LONG_SESSION}"),
        "modules": get("/api/modules"),
        "suggestions": get("/api/suggestions"),
        "status": get("/api/status"),
        "sync_manifest": get("/api/sync/manifest?root=Daily"),
        "sync_changes": get(f"/api/sync/changes?root=Daily&since={now}"),
        "daily_range_at_offset": get(f"{_EVERY}{int(amount.entries * 0.9)}"),
        "brain_list": get("/api/brain/entities"),
        "brain_list_at_offset": get(f"/api/brain/entities?offset={int(amount.entities * 0.9)}"),
        "brain_resolve": partial(connection.send, "/api/brain/resolve", {"text": name}),
        "brain_search": get(f"/api/brain/search?q={quote(name.split()[0].lower())}"),
    }


def after_a_change(computer: FilledComputer, connection: Connection) -> dict[str, Call]:
    """Requests by name, each with the change before it: core and modules keep what they answered until there is one."""
    amount, get = computer.amount, partial(partial, connection.get)
    newest = connection.newest_session()
    offset = int(amount.sessions * 0.9 * 0.95) // 100 * 100
    words = itertools.cycle(("archive", "unarchive"))
    waiting = iter([each["id"] for each in json.loads(connection.get("/api/suggestions"))["suggestions"]])
    day = min((computer.vault / "Daily" / "journals").iterdir())
    entity = min((computer.vault / "Brain" / "entities").rglob("*.md"))
    source = computer.vault / ".modules" / "notes0" / "manifest.yaml"
    moments = itertools.count(int(time.time()) - 1_000_000)
    transcript = computer.vault / ".claude" / "projects" / f"-scratch-{LONG_SESSION}" / f"{LONG_SESSION}.jsonl"

    def session() -> None:
        connection.post(f"/api/chat/{newest}/{next(words)}")

    def grow() -> None:
        with transcript.open("a") as file:
            file.write(transcript_turn(10_000_000))

    def touch() -> None:
        moment = next(moments)
        os.utime(source, (moment, moment))

    def edit(path: Path) -> None:
        with path.open("a") as file:
            file.write("\nAnd a few words more.\n")

    def reject() -> None:
        connection.post(f"/api/suggestions/{next(waiting)}/reject")

    add = partial(connection.send, "/api/daily/entries", {"content": "A new entry of a few words."})

    def both(change: Call, ask: Call) -> Call:
        def call() -> None:
            change()
            ask()

        return call

    return {
        "search_rare_word": both(session, get(f"{_SEARCH}{amount.sessions - 77}")),
        "search_word_of_every_title": both(session, get(f"{_SEARCH}subject")),
        "search_two_letters": both(session, get(f"{_SEARCH}su")),
        "list_at_offset": both(session, get(f"/api/chat?limit=50&offset={offset}")),
        "first_list": both(session, get("/api/chat?limit=500")),
        "first_transcript": both(grow, get(TRANSCRIPT)),
        "first_modules": both(touch, get("/api/modules")),
        "first_suggestions": both(reject, get("/api/suggestions")),
        "first_sync_manifest": both(partial(edit, day), get("/api/sync/manifest?root=Daily")),
        "daily_add": add,
        "first_daily_range": both(add, get(f"{_EVERY}0")),
        "first_daily_today": both(add, get("/api/daily/today")),
        "first_brain_list": both(partial(edit, entity), get("/api/brain/entities")),
    }
