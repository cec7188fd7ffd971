"""Parts of a conversation that were taken back are not shown; test_shown_is_sent.py compares this with the real program."""

import json
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.sessions.messages import messages_of
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault

from .conftest import SessionStorage
from .shapes import SHAPES, Talk
from .shapes.writing import text


@pytest.fixture
def transcripts(tmp_path: Path) -> Transcripts:
    """No transcripts yet."""
    return Transcripts(Vault(tmp_path / "vault"), tmp_path / "claude")


def shown(transcripts: Transcripts, talk: Talk, kept: Any = "messages") -> list[str]:
    """The ids of the messages that people see, as numbers of lines."""
    path = transcripts.folder("a") / "a.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(talk.content)
    found = transcripts.read("a", kept)
    assert found is not None
    return [str(int(each["id"].split("-")[0], 16)) for each in messages_of(found.events) if each["id"]]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("gone back to the beginning", "5 6"),
        ("gone back behind what was gone back to", "1 2 3 4 7 8"),
        ("gone back further each time", "1 2 9 10"),
        ("gone back and nothing said since", "1 2"),
        ("gone back to nothing and nothing said since", ""),
        ("gone back behind an attachment", "1 2 6 7"),
        ("gone back to a place in a turn", "1 2 5 6"),
        ("an answer that was asked for again", "1 3"),
        ("two programs at once", "1 2 4 6"),
        ("two programs and a note which one counts", "1 2 3 4"),
        ("a note of a line that is not there", "1 2 3 4"),
        ("a note of the answer that was asked for again", "1 2"),
        ("a note of a question beside an answer", "1 2 3 4"),
        ("no parents at all", "1 2 3 4"),
        ("everything once more", "1 2 3 4"),
        ("a circle", "1 2 3 4"),
    ],
)
def test_what_was_taken_back_is_not_shown(transcripts: Transcripts, name: str, lines: str) -> None:
    talk = Talk()
    SHAPES[f"branches: {name}"](talk)
    assert shown(transcripts, talk) == lines.split()


def test_what_was_taken_back_as_far_as_before_the_newest_part(transcripts: Transcripts) -> None:
    talk = Talk()
    _, first = talk.turn()
    talk.asks()
    talk.answers(text("x" * 600_000))
    talk.turn()  # lines 5 and 6, in a part of their own
    assert shown(transcripts, talk, "last") == ["5", "6"]
    talk.turn(parentUuid=first)
    assert shown(transcripts, talk, "last") == ["7", "8"]
    assert shown(transcripts, talk, "all") == ["1", "2", "7", "8"]


async def test_what_was_taken_back_is_not_found(storage: SessionStorage) -> None:
    talk = Talk()
    SHAPES["branches: gone back"](talk)
    await storage.add("a")
    storage.write_transcript("a", talk.content)
    await storage.service.search_index.update("a")
    for word, count in (("asked1", 1), ("asked4", 0), ("asked7", 1)):
        _, body = await storage.service.listing.page(search=word)
        assert len(json.loads(body)["sessions"]) == count, word
