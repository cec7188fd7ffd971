"""A later export adds what was said since: to the conversation that is here, or beside it, and nothing twice."""

import json
from pathlib import Path
from typing import Any

from imports.reading import export
from module import ImportsModule
from reading_once import Read, uploaded
from test_imports import over

from parachute.core.sessions import Brought, BroughtMessage, digest
from parachute.core.testing import run
from tests.chat.imports.exports import claude_conversation, claude_message, node, tree

ASKED = node("ask", None, text="How long does varnish dry?", time=1_700_000_001)
ANSWERED = node("answer", "ask", "assistant", "A day.", time=1_700_000_002)
AGAIN = node("again", "ask", "assistant", "A week.", time=1_700_000_009)
WINTER = node("winter", "answer", text="And in winter?", time=1_700_000_100)
THREE = node("three", "winter", "assistant", "Three days.", time=1_700_000_101)


class Here:
    """State of the server, as the server would say it; each export that is read adds to it."""

    def __init__(self, folder: Path) -> None:
        self.brought: dict[str, Brought] = {}
        self.fingerprints: dict[str, str] = {}
        self.asked: list[str] = []
        self.has_ids = True
        self._folder = folder

    def read(self, *values: dict[str, Any]) -> Read:
        """Read an export, and take what it brings."""
        found = Read()
        upload = uploaded(self._folder, json.dumps(values[0] if len(values) == 1 else values).encode())
        self.asked.clear()
        export.read(upload, "auto", set(self.brought), found.take, self._ask, self.fingerprints)
        for chat, messages in zip(found.conversations, found.messages, strict=True):
            said = [
                BroughtMessage(each["id"] if self.has_ids else None, each["role"], each["time"], digest(each["text"]))
                for each in messages
            ]
            self.brought[chat["session"]] = Brought(True, chat["updated"], said)
            if self.has_ids:  # both came at once
                self.fingerprints[chat["session"]] = chat["fingerprint"]
        return found

    def _ask(self, session: str) -> Brought | None:
        self.asked.append(session)
        return self.brought.get(session)


def said(*nodes: dict[str, Any], updated: int = 0) -> dict[str, Any]:
    """One conversation of ChatGPT as it is at a time."""
    return tree(*(dict(each, children=[]) for each in nodes), update_time=1_700_000_200 + updated)


def test_what_was_said_since_grows_the_conversation(tmp_path: Path) -> None:
    for has_ids in (True, False):
        here = Here(tmp_path)
        here.has_ids = has_ids
        first = here.read(said(ASKED, ANSWERED))
        later = here.read(said(ASKED, ANSWERED, WINTER, THREE))
        assert [(each["session"], each["grows"]) for each in later.conversations] == [
            (first.conversations[0]["session"], 2)
        ]
        assert [each["text"] for each in later.messages[0]][-1] == "Three days."
        for export_again in (said(ASKED, ANSWERED, WINTER, THREE), said(ASKED, ANSWERED)):
            again = here.read(export_again)
            assert (again.conversations, again.skipped) == ([], [first.conversations[0]["session"]])


def test_only_what_has_changed_is_asked_about(tmp_path: Path) -> None:
    here = Here(tmp_path)
    branched = {**said(ASKED, ANSWERED, AGAIN), "conversation_id": "c-2"}
    first = [each["session"] for each in here.read(said(ASKED, ANSWERED), branched).conversations]
    assert here.read(said(ASKED, ANSWERED), branched).skipped == first
    assert here.asked == []
    assert len(here.read(said(ASKED, ANSWERED, WINTER), branched).conversations) == 1
    assert here.asked == first[:1]


def test_an_answer_that_was_half_there_becomes_whole(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.read(said(ASKED, ANSWERED))
    whole = node("answer", "ask", "assistant", "A day, at twenty degrees.", time=1_700_000_002)
    assert here.read(said(ASKED, whole)).conversations == [], "an export that is no newer changes nothing"
    assert [each["grows"] for each in here.read(said(ASKED, whole, updated=9)).conversations] == [1]


def test_another_answer_is_a_branch_and_each_branch_goes_on_in_its_place(tmp_path: Path) -> None:
    here = Here(tmp_path)
    main = here.read(said(ASKED, ANSWERED)).conversations[0]["session"]
    branched = here.read(said(ASKED, ANSWERED, AGAIN))
    assert branched.skipped == [main]
    (branch,) = branched.conversations
    assert (branch["title"], branch["archived"], branch["messages"]) == ("A boat (newer branch)", False, 2)
    assert "grows" not in branch
    more = node("more", "again", text="So long?", time=1_700_000_300)
    on = here.read(said(ASKED, ANSWERED, AGAIN, WINTER, THREE, more))
    assert {each["session"]: each["grows"] for each in on.conversations} == {branch["session"]: 1, main: 2}
    assert here.read(said(ASKED, ANSWERED, AGAIN, WINTER, THREE, more)).conversations == []


def test_one_that_went_on_here_comes_beside_it_once(tmp_path: Path) -> None:
    here = Here(tmp_path)
    main = here.read(said(ASKED, ANSWERED)).conversations[0]["session"]
    here.brought[main].is_untouched = False
    (beside,) = here.read(said(ASKED, ANSWERED, WINTER)).conversations
    assert beside["session"] != main
    assert (beside["beside"], beside["title"], beside["messages"]) == (True, "A boat (continued in ChatGPT)", 3)
    (grown,) = here.read(said(ASKED, ANSWERED, WINTER, THREE)).conversations
    assert (grown["session"], grown["grows"]) == (beside["session"], 1)
    assert here.read(said(ASKED, ANSWERED, WINTER, THREE)).conversations == []


def test_a_message_that_says_nothing_any_more_is_no_other_branch(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.read(said(ASKED, ANSWERED))
    hidden = node("answer", "ask", "assistant", "", time=1_700_000_002)
    assert [each["grows"] for each in here.read(said(ASKED, hidden, WINTER)).conversations] == [1]


def test_claude_grows_by_its_messages(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.read(claude_conversation())
    longer = claude_conversation()
    longer["chat_messages"].append(claude_message(3, "human", "It is."))
    assert [each["grows"] for each in here.read(longer).conversations] == [1]


def test_what_was_said_here_only_stays_as_it_is(tmp_path: Path) -> None:
    first = Here(tmp_path).read(said(ASKED, ANSWERED)).conversations[0]["session"]
    found = Read()
    upload = uploaded(tmp_path, json.dumps([said(ASKED, ANSWERED, WINTER)]).encode())
    export.read(upload, "auto", {first}, found.take)
    assert (found.conversations, found.skipped) == ([], [first])


async def test_what_grew_is_counted_also_by_a_dry_run() -> None:
    async with run(ImportsModule) as imports:
        for query, counts, messages in (
            ({}, (1, 0, 0), 2),
            ({"dry_run": True}, (0, 1, 0), 2),
            ({}, (0, 1, 0), 2),
            ({}, (0, 0, 1), 0),
        ):
            nodes = (ASKED, ANSWERED) if counts[0] else (ASKED, ANSWERED, WINTER, THREE)
            done = await over(imports, await imports.post("/", json.dumps([said(*nodes)]).encode(), **query))
            assert (done["imported"], done["grown"], done["skipped"]) == counts
            assert done["messages"] == messages
        (texts,) = imports.sessions.chats.values()
        assert [text for _, text in texts] == ["How long does varnish dry?", "A day.", "And in winter?", "Three days."]


async def test_one_that_is_in_an_export_twice_comes_as_far_as_it_went() -> None:
    both = [said(ASKED, ANSWERED), said(ASKED, ANSWERED, WINTER, THREE)]
    async with run(ImportsModule) as imports:
        done = await over(imports, await imports.post("/", json.dumps(both).encode()))
        assert (done["imported"], done["grown"]) == (1, 1)
        assert [len(texts) for texts in imports.sessions.chats.values()] == [4]
