"""A branch begins with what was said before one message: what is shown of the copy, and what the real program sends of it."""

import re
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.sessions.copying import Beginnings
from parachute.chat.sessions.messages import messages_of, user_text
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault
from parachute.core.sessions import _lines
from tests.support.messages_api import MessagesAPI, text

from .shapes import SHAPES, Talk
from .shapes.writing import SESSION
from .shapes.writing import text as text_block
from .test_shown_is_sent import UNLINKED, adopted, marks, sent

BRANCH = "0000000b-aaaa-4aaa-8aaa-aaaaaaaaaaab"


class Copied:
    """A conversation, and what a branch takes along of it."""

    def __init__(self, folder: Path, content: bytes) -> None:
        self.vault = Vault(folder / "vault")
        self.vault.prepare()
        self.transcripts = Transcripts(self.vault, folder / "claude")
        self.place = self.transcripts.folder(SESSION) / f"{SESSION}.jsonl"
        self.place.parent.mkdir(parents=True)
        self.place.write_bytes(content)
        self.beginnings = Beginnings(self.vault, self.transcripts)

    def shown(self, session: str = SESSION) -> list[dict[str, Any]]:
        """The messages that people see."""
        return [dict(each) for each in messages_of(self.transcripts.events(session))]

    def asked(self) -> list[str]:
        """The ids of what persons have said."""
        found = [(user_text(each), each.get("uuid")) for each in self.transcripts.events(SESSION)]
        return [str(name) for words, name in found if words and name]

    def branch(self, message: str) -> bytes:
        """Copy what is before a message."""
        assert self.beginnings.copy(SESSION, message, BRANCH, is_direct=False) is not None
        path = self.transcripts.find(BRANCH)
        return path.read_bytes() if path else b""


def before(messages: list[dict[str, Any]], message: str) -> list[str]:
    """The marks of what is shown before a message."""
    ids = [each["id"] for each in messages]
    return marks(messages[: ids.index(message)] if message in ids else messages)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:toolu|msg)_\w+|(?<=[a-z])\d+")


def without_names(content: bytes) -> str:
    """A transcript with its names and numbers in the order of their first use, and its times in their own."""
    said = content.decode(errors="replace")
    places = {each: place for place, each in enumerate(sorted({*_TIME.findall(said)}))}
    said = _TIME.sub(lambda found: f"time {places[found[0]]}", said)
    names: dict[str, int] = {}
    return _NAME.sub(lambda found: f"name {names.setdefault(found[0], len(names))}", said)


@pytest.fixture(scope="module")
def sent_before() -> set[str]:
    """The copies that the program has had: half of the shapes are the same up to the last message, and each takes it a second."""
    return set()


@pytest.mark.parametrize("name", SHAPES)
def test_a_copy_shows_what_was_before_the_message(tmp_path: Path, name: str) -> None:
    talk = Talk()
    SHAPES[name](talk)
    copied = Copied(tmp_path, talk.content)
    for message in copied.asked():
        content = copied.branch(message)
        assert marks(copied.shown(BRANCH)) == before(copied.shown(), message), message
        assert SESSION.encode() not in content
        copied.beginnings.discard(BRANCH)


@pytest.mark.parametrize("is_results", [True, False])
def test_no_link_of_an_agent_brings_other_files_along(tmp_path: Path, is_results: bool) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "id_secret").write_text("secret")
    talk = Talk()
    talk.asks(text="Look at id_secret.")
    talk.answers()
    message = talk.asks()
    copied = Copied(tmp_path, talk.content)
    attachments = copied.vault.state / "attachments"
    attachments.mkdir()
    # The first folder is in a sandbox as a whole, the other one is written by whoever works in the vault itself.
    link = copied.place.parent / SESSION / "tool-results" if is_results else attachments / SESSION
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    copied.branch(message)
    assert [path for path in copied.vault.root.rglob("id_secret") if BRANCH in str(path)] == []


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
async def test_the_program_sends_what_a_copy_shows(
    model: MessagesAPI, sent_before: set[str], tmp_path: Path, name: str
) -> None:
    talk = Talk()
    SHAPES[name](talk)
    copied = Copied(tmp_path, adopted(tmp_path, talk.content))
    asked = copied.asked()
    content = copied.branch(asked[-1]) if asked else b""
    seen = copied.shown(BRANCH) if content else []
    if not seen or name == UNLINKED or (same := without_names(content)) in sent_before:
        return
    sent_before.add(same)
    with model.lent(text("Yes.")):
        messages = await sent(model, tmp_path, content.replace(BRANCH.encode(), SESSION.encode()))
    begun = {
        block["id"]
        for each in seen
        for block in each["content"]
        if block["type"] == "tool_use" and "result" not in block
    }
    said, wanted = (
        [mark for mark in marks(each, "asked", "answered", "called") if mark not in begun] for each in (seen, messages)
    )
    if marks(messages, "summary"):
        said = said[-len(wanted) :] if wanted else []
    assert said == wanted


async def test_files_stay_when_the_conversation_that_a_branch_comes_from_is_gone(tmp_path: Path) -> None:
    place = f"[Attached: own.pdf, also at /vault/.parachute/attachments/{SESSION}/own.pdf]"
    talk = Talk()
    talk.asks([text_block(place), text_block("Which bird?")])
    talk.answers()
    talk.asks()
    copied = Copied(tmp_path, talk.content)
    brought = [
        {"role": "user", "text": "Which birds?", "files": ["pond.png"]},
        {"role": "assistant", "text": "Herons.", "files": ["drawn.png"]},
        {"role": "user", "text": "And here?", "files": ["later.png"]},
    ]
    imported = copied.transcripts.imported_place(SESSION)
    imported.parent.mkdir(parents=True)
    imported.write_bytes(b"".join([line async for line in _lines([({"session": SESSION}, brought)])]))
    files = copied.vault.state / "attachments"
    (files / SESSION).mkdir(parents=True)
    for name in ("pond.png", "drawn.png", "later.png", "own.pdf", "of_nothing.png"):
        (files / SESSION / name).write_bytes(name.encode())
    asked = copied.asked()
    for message, names in (
        (asked[1], {"pond.png", "drawn.png"}),
        (asked[-1], {"pond.png", "drawn.png", "later.png", "own.pdf"}),
    ):
        content = copied.branch(message)
        assert {path.name for path in (files / BRANCH).iterdir()} == names
        assert (place.replace(SESSION, BRANCH).encode() in content) == ("own.pdf" in names)
        copied.beginnings.discard(BRANCH)
