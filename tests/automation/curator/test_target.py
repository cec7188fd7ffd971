"""Suggestions about contexts: their checks, and how they are applied, announced and taken back, with real files and databases."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.automation.curator.store import ReviewStore
from parachute.automation.curator.target import ContextTarget
from parachute.automation.suggestions.models import Suggestion
from parachute.base.errors import Conflict, ParachuteError
from parachute.chat.contexts.watching import said
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.files.service import CHANGES
from parachute.security.origin import Origin
from tests.chat.contexts.conftest import World

PAYLOAD: dict[str, Any] = {
    "file": "AGENTS.md",
    "history": "- New",
    "date": "2026-01-06 12:00",
    "because": ["Projects/boat/AGENTS.md"],
}
BEFORE = b"---\nwatch: Projects/*\n---\r\n\xef\xbb\xbf# All\r\n"


class Desk:
    """A vault with one context, and suggestions about it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.reviews = ReviewStore(world.databases[0])
        self.target = ContextTarget(world.vault, world.changes, ChangesSettings(), self.reviews)
        self.file = world.root / "AGENTS.md"
        self.file.write_bytes(BEFORE)

    async def proposed(self, **payload: Any) -> Suggestion:
        """A suggestion that waits."""
        wanted = {**PAYLOAD, **payload}
        version, title = await self.target.inspect(wanted)
        return Suggestion(
            id="s1",
            source_module="contexts",
            source_agent="contexts/curator",
            source_session=None,
            timestamp="",
            action="update",
            target_module="contexts",
            target_id=None,
            title=title,
            expected_version=version,
            payload=wanted,
            reasoning="",
            origin=Origin.OWN_FILE,
        )

    async def approved(self, made: Suggestion, *, by_owner: bool = True) -> Suggestion:
        """The same, applied."""
        result = await self.target.apply(made, made.payload, by_owner=by_owner)
        return replace(made, status="approved", result=result)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A vault without anything in it."""
    made = World(tmp_path)
    for database in made.databases:
        await database.open()
    await made.changes.start()
    yield made
    for database in made.databases:
        await database.close()


@pytest.fixture
def desk(world: World) -> Desk:
    """See Desk."""
    return Desk(world)


async def test_what_is_written_is_taken_back_to_the_byte_and_known_by_its_cause(desk: Desk) -> None:
    made = await desk.approved(await desk.proposed())
    written = desk.file.read_bytes()
    assert written.startswith(BEFORE)
    assert written.endswith(b"## History\r\n<!-- Added by curator on 2026-01-06 12:00 UTC -->\r\n- New\r\n")
    assert await desk.target.is_applied(PAYLOAD)
    body = written.decode().split("---\r\n", 1)[1].strip()
    assert await desk.reviews.take_cause("AGENTS.md", said(body)) == ("Projects/boat/AGENTS.md",)
    assert await desk.reviews.take_cause("AGENTS.md", said("by hand")) == ()
    shown = await desk.target.preview(made, PAYLOAD)
    assert (shown.before, shown.after) == (BEFORE.decode(), written.decode())
    assert await desk.target.undo(made) == made.expected_version
    assert desk.file.read_bytes() == BEFORE
    assert await desk.target.undo(made) == made.expected_version
    # A crash may lose what the approval came to.
    again = await desk.approved(made)
    assert await desk.target.undo(replace(again, result=None)) == made.expected_version
    assert desk.file.read_bytes() == BEFORE


async def test_what_has_changed_since_is_neither_overwritten_nor_taken_back(desk: Desk) -> None:
    made = await desk.proposed()
    desk.file.write_bytes(b"Mine.\n")
    with pytest.raises(Conflict):
        await desk.approved(made)
    made = await desk.approved(await desk.proposed())
    desk.file.write_bytes(desk.file.read_bytes() + b"Mine, too.\n")
    after = desk.file.read_bytes()
    with pytest.raises(Conflict):
        await desk.target.undo(made)
    await desk.world.changes.forget(CHANGES)
    with pytest.raises(Conflict):
        await desk.target.undo(replace(made, result=None))
    assert desk.file.read_bytes() == after


async def test_whose_words_they_are_is_known(desk: Desk) -> None:
    made = await desk.approved(await desk.proposed(), by_owner=False)
    (folder,) = (await desk.world.contexts.folders()).folders
    assert folder.is_by_agent
    assert await desk.world.changes.lineage.lowest_of([desk.file]) is Origin.AGENT_FILE
    await desk.target.undo(made)
    (folder,) = (await desk.world.contexts.folders()).folders
    assert not folder.is_by_agent
    from_web = await desk.proposed(origin="web")
    await desk.approved(replace(from_web, origin=Origin.WEB))
    assert "UTC, from the web -->" in desk.file.read_text()
    (folder,) = (await desk.world.contexts.folders()).folders
    assert not folder.is_by_agent
    assert await desk.world.changes.lineage.lowest_of([desk.file]) is Origin.WEB


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {**PAYLOAD, "file": "../AGENTS.md"},
        {**PAYLOAD, "file": "/etc/AGENTS.md"},
        {**PAYLOAD, "file": ".claude/AGENTS.md"},
        {**PAYLOAD, "file": "notes.md"},
        {**PAYLOAD, "file": "linked/AGENTS.md"},
        {**PAYLOAD, "file": "binary/AGENTS.md"},
        {**PAYLOAD, "file": "gone/AGENTS.md"},
        {**PAYLOAD, "history": "# Heading"},
        {**PAYLOAD, "history": "- x -->\n- y"},
        {**PAYLOAD, "history": 3},
        {**PAYLOAD, "date": "now -->\n# Heading"},
        {**PAYLOAD, "because": "all"},
        {**PAYLOAD, "origin": "heaven"},
        {**PAYLOAD, "more": "- x"},
        {"file": "AGENTS.md", "date": PAYLOAD["date"]},
    ],
)
async def test_what_cannot_be_meant_changes_nothing(desk: Desk, payload: dict[str, Any]) -> None:
    root = desk.world.root
    (root / "outside").write_text("Of somebody else.\n")
    for name in ("linked", "binary"):
        (root / name).mkdir()
    (root / "linked/AGENTS.md").symlink_to(root / "outside")
    (root / "binary/AGENTS.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ParachuteError):
        await desk.target.inspect(payload)
    assert (desk.file.read_bytes(), (root / "outside").read_text()) == (BEFORE, "Of somebody else.\n")


async def test_reviews_come_together_and_wait_for_who_writes_meanwhile(desk: Desk) -> None:
    reviews = desk.reviews
    await reviews.queue("AGENTS.md", ["a"], ["x", "a"], "2026-01-01T00:00:00.000Z")
    (begun,) = await reviews.waiting()
    await reviews.queue("AGENTS.md", ["b"], ["b", "x"], "2026-01-02T00:00:00.000Z")
    await reviews.done(begun)
    (left,) = await reviews.waiting()
    assert (left.changed, left.chain, left.due_at) == (("a", "b"), ("x",), "2026-01-02T00:00:00.000Z")
    await reviews.put_off(left, "2026-01-03T00:00:00.000Z", "Not today.")
    (later,) = await reviews.waiting()
    assert (later.attempts, later.error, later.due_at) == (1, "Not today.", "2026-01-03T00:00:00.000Z")
    await reviews.done(later)
    assert await reviews.waiting() == []
