"""A session that comes from another one has its permissions and its origin, and never more."""

import sqlite3
from typing import Any, cast

import pytest
from msgspec import to_builtins

from parachute.chat.contexts.service import Contexts
from parachute.chat.runs.branching import Branching
from parachute.chat.sessions.copying import Beginnings
from parachute.chat.sessions.models import BRANCH, Branch, Session
from parachute.security.origin import Origin

from .conftest import SessionStorage
from .shapes import Talk
from .shapes.writing import SESSION


@pytest.mark.parametrize("origin", [Origin.OWNER, Origin.WEB])
async def test_an_heir_has_what_is_left_and_the_origin(storage: SessionStorage, origin: Origin) -> None:
    await storage.add("a")
    await storage.service.lower_origin("a", origin)
    await storage.service.add_grant("a", "Bash(ls)")
    await storage.trust.set_permissions("a", "{}", "test")
    heir = await storage.add("b")
    await storage.service.delete(heir.id)
    await storage.service.create(heir, heir_of="a")
    assert await storage.service.origin("b") is origin
    assert await storage.service.grants("b") == ["Bash(ls)"]
    assert await storage.trust.permissions("b") == "{}"


async def test_an_heir_of_what_is_not_known_here_comes_from_elsewhere(storage: SessionStorage) -> None:
    heir = await storage.add("b")
    await storage.service.delete(heir.id)
    await storage.service.create(heir, heir_of="gone")
    assert await storage.service.origin("b") is Origin.IMPORT


async def test_nothing_is_left_of_a_branch_that_could_not_be_stored_whole(storage: SessionStorage) -> None:
    talk = Talk()
    talk.turn()
    branch = Branch(SESSION, talk.asks(), "m")
    storage.write_transcript(SESSION, talk.content)
    await storage.add(SESSION)
    async with storage.database.transaction() as connection:
        await connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON words_of_session WHEN (SELECT count(*) FROM words_of_session "
            "WHERE session = new.session) = 1 BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    moment: dict[str, Any] = {"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}
    session = Session(id="b", **moment, continued_from=SESSION, metadata={BRANCH: to_builtins(branch)})
    contexts = cast(Contexts, None)  # they come after the search
    branching = Branching(storage.service, contexts, Beginnings(storage.vault, storage.transcripts))
    with pytest.raises(sqlite3.IntegrityError):
        await branching.begin(session, branch, "test")
    assert await storage.service.find("b") is None
    assert storage.transcripts.find("b") is None
