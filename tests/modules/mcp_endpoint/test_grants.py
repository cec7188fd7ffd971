"""Answers to clients with grants of every kind: nothing outside of them, and a receipt of each byte."""

import json
import os
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.modules.mcp_endpoint.vault import WORD, Thing, furnish
from tests.support.browser import Browser
from tests.support.mcp_client import BareClient, OwnersBrowser, limits
from tests.support.server import Server

pytestmark = pytest.mark.process

READING = ("brain-search", "brain-resolve", "brain-suggest", "daily-search", "daily-today")
UNJUDGED = ("brain-context", "chat-context")
FOLDERS = (
    "*",
    "Brain",
    "Brain/entities/people",
    "Brain/entities/topics",
    "Daily",
    "Daily/journals",
    "Brai",
    "Projects",
)
GRANTS = int(os.environ.get("PARACHUTE_FUZZ_GRANTS", "20"))
"""Grants that are tried, each with some six calls; 17,000 make 100,000 calls."""

KINDS = ("*", "entry", "conversation", "person", "topic")


@pytest.fixture(scope="module")
def things(server: Server) -> list[Thing]:
    """Everything in the vault."""
    return furnish(server)


class Granted:
    """A client of which the owner changes the limits."""

    def __init__(self, owner: OwnersBrowser) -> None:
        self.bare = BareClient(owner.browser.computer)
        self.token = self.bare.enter(owner, tools=list(READING))["access_token"]
        self.id = owner.clients()[0]["id"]
        self.browser = owner.browser

    def give(self, **fields: Any) -> int:
        """Give other limits; the status."""
        answer = self.browser.ask(
            "PUT", f"/api/mcp-clients/{self.id}/limits", limits(**{"tools": list(READING), **fields})
        )
        return answer.status_code

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; all that it answered."""
        return json.dumps(self.bare.call(self.token, tool, **arguments), ensure_ascii=False)

    def received(self) -> list[dict[str, Any]]:
        """The receipts, newest first."""
        found: list[dict[str, Any]] = self.browser.get(f"/api/mcp-clients/{self.id}/requests").json()["records"]
        return found


@pytest.fixture
def granted(owner: OwnersBrowser) -> Granted:
    """A client that is in."""
    return Granted(owner)


def calls(things: list[Thing]) -> list[tuple[str, dict[str, Any]]]:
    """A call of each tool that would find everything."""
    named = " and ".join(f"{WORD} {each.secret}" for each in things)
    days = [each.day.isoformat() for each in things if each.day]
    return [
        ("brain-search", {"query": WORD}),
        ("brain-resolve", {"text": WORD}),
        ("brain-suggest", {"text": named}),
        ("daily-search", {"query": WORD}),
        *(("daily-today", {"date": day}) for day in days),
    ]


def told(answer: str, sent: dict[str, Any], things: list[Thing]) -> set[str]:
    """The secrets in an answer, of which an answer may hold those that were sent where it says what it understood."""
    return {
        each.secret for each in things if each.secret in answer and f"{WORD} {each.secret}" not in sent.get("text", "")
    }


def paths(answer: str) -> set[str]:
    """The paths that an answer names."""
    text = json.loads(answer).get("content", [{"text": ""}])[0]["text"]
    try:
        found = json.loads(text)
    except ValueError:
        return set()
    records = found if isinstance(found, list) else next(iter(found.values()))
    return {each["path"] for each in records}


def inside(thing: Thing, fields: dict[str, Any]) -> bool:
    """Say again, in other words, what a grant is about."""
    if "*" not in fields["folders"] and not any(thing.path.startswith(f"{each}/") for each in fields["folders"]):
        return False
    if "*" not in fields["kinds"] and thing.kind not in fields["kinds"]:
        return False
    if thing.day is None:
        return True
    since, until = fields["since"], fields["until"]
    return (since is None or thing.day.isoformat() >= since) and (until is None or thing.day.isoformat() <= until)


def test_a_grant_without_limits_finds_everything(granted: Granted, things: list[Thing]) -> None:
    found = set().union(*(told(granted.call(tool, **sent), {}, things) for tool, sent in calls(things)))
    assert found == {each.secret for each in things}


@pytest.mark.parametrize(
    "fields",
    [
        {"folders": ["Brain/entities/people"]},
        {"kinds": ["topic"]},
        {"since": "2026-06-01", "until": "2026-06-05"},
        {"folders": []},
        {"kinds": []},
        {"folders": ["Daily"], "kinds": ["person"]},
    ],
)
def test_what_is_left_is_what_was_granted(granted: Granted, things: list[Thing], fields: dict[str, Any]) -> None:
    assert granted.give(**fields) == 200
    whole = limits(**fields)
    found: set[str] = set()
    for tool, sent in calls(things):
        found |= told(granted.call(tool, **sent), sent, things)
    assert found == {each.secret for each in things if inside(each, whole)}


def test_no_argument_leads_out_of_a_folder(granted: Granted, things: list[Thing], server: Server) -> None:
    hidden = server.vault / "Brain/entities/people/link.md"
    if not hidden.is_symlink():
        hidden.symlink_to(server.vault / "Brain/entities/topics/boat-topicsecret0.md")
    assert granted.give(folders=["Brain/entities/people"]) == 200
    for tool, sent in (
        ("brain-search", {"query": WORD, "type": "topic"}),
        ("brain-search", {"query": "topicsecret0", "type": "../topics"}),
        ("brain-search", {"query": "../topics/boat-topicsecret0"}),
        ("brain-resolve", {"text": "Brain/entities/people/../topics/boat-topicsecret0.md"}),
        ("brain-suggest", {"text": "[[../topics/boat-topicsecret0]] [[boat topicsecret0|x]]"}),
        ("daily-today", {"date": "../../Brain/entities/topics/boat-topicsecret0"}),
        ("daily-search", {"query": WORD, "date_from": "0001-01-01"}),
    ):
        answer = granted.call(tool, **sent)
        assert "Brain/entities/topics" not in answer
        assert "Daily/" not in answer
        assert not told(answer, {}, [each for each in things if each.kind == "entry"])
    for method in (
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "prompts/list",
        "completion/complete",
    ):
        place = "file:///Brain/entities/topics/boat-topicsecret0.md"
        assert "error" in granted.bare.message(granted.token, method, uri=place).json(), method


def test_what_cannot_be_judged_needs_everything(granted: Granted) -> None:
    assert granted.give(tools=[*READING, *UNJUDGED]) == 200
    assert "personsecret0" in granted.call("brain-context", topic=f"{WORD} personsecret0")
    assert granted.give(tools=[*READING, "brain-context"], since="2026-01-01") == 422
    assert granted.give(tools=["brain-link"]) == 422
    assert granted.give(tools=["brain-types"]) == 422
    assert granted.give(tools=["no-such"]) == 422
    assert granted.give(folders=["../elsewhere"]) == 422
    assert granted.give(since="2026-02-01", until="2026-01-01") == 422
    assert granted.give(ends_on="2020-01-01") == 422


def test_writing_is_a_suggestion_of_an_mcp_client(granted: Granted, word: str) -> None:
    assert granted.give(tools=["daily-create"]) == 200
    assert 'isError": false' in granted.call("daily-create", content=f"Remember {word}.")
    waiting = granted.browser.get("/api/suggestions?status=pending").json()["suggestions"]
    (made,) = [each for each in waiting if word in each["payload"].get("content", "")]
    assert (made["origin"], made["target_module"], made["action"]) == ("remote_mcp", "daily", "create")
    assert word not in granted.browser.get("/api/daily/entries").text


def test_the_budget_of_a_day_ends_answers(granted: Granted, things: list[Thing]) -> None:
    assert granted.give(bytes_a_day=1500) == 200
    answers = [json.loads(granted.call("daily-search", query=WORD, limit=2)) for _ in range(6)]
    assert (answers[0]["isError"], answers[-1]["isError"]) == (False, True)
    receipts = granted.received()
    assert receipts[0]["error"] == "budget_spent"
    assert sum(each["bytes"] for each in receipts if each["success"]) <= 1500


def test_receipts_are_the_bytes_on_the_wire(granted: Granted, things: list[Thing]) -> None:
    sizes = []
    for tool, sent in calls(things):
        answer = granted.bare.message(granted.token, "tools/call", name=tool, arguments=sent)
        sizes.append(len(answer.content))
    receipts = granted.received()
    assert [each["bytes"] for each in reversed(receipts)] == sizes
    shown = granted.browser.get(f"/api/mcp-clients/{granted.id}").json()
    assert shown["total"]["bytes"] == sum(sizes)
    assert shown["today"] == shown["total"]
    assert {file["path"] for each in receipts for file in each.get("files", ())} >= {each.path for each in things}


def test_after_the_end_nothing_is_answered(granted: Granted) -> None:
    assert granted.browser.ask("DELETE", f"/api/mcp-clients/{granted.id}").status_code == 200
    assert granted.bare.message(granted.token, "tools/list").status_code == 401
    assert granted.browser.get(f"/api/mcp-clients/{granted.id}").status_code == 404


days = st.none() | st.dates(date(2026, 1, 1), date(2026, 12, 31)).map(lambda day: day.isoformat())
grants = st.fixed_dictionaries(
    {
        "folders": st.lists(st.sampled_from(FOLDERS), max_size=3, unique=True),
        "kinds": st.lists(st.sampled_from(KINDS), max_size=3, unique=True),
        "since": days,
        "until": days,
        "tools": st.lists(st.sampled_from(READING), min_size=1, max_size=5, unique=True),
    }
)


@pytest.mark.long
def test_no_call_is_answered_outside_of_its_grant(server: Server, things: list[Thing]) -> None:
    with Browser(server) as browser:
        browser.sign_in()
        client = Granted(OwnersBrowser(browser))
        asked = calls(things)

        @settings(max_examples=GRANTS)
        @given(grants, st.lists(st.sampled_from(asked), min_size=1, max_size=12))
        def check(fields: dict[str, Any], wanted: list[tuple[str, dict[str, Any]]]) -> None:
            status = client.give(**{**fields, "bytes_a_day": 1_000_000_000})
            assert status == (422 if fields["since"] and fields["until"] and fields["since"] > fields["until"] else 200)
            if status != 200:
                return
            allowed = {each.secret for each in things if inside(each, fields)}
            for tool, sent in wanted:
                answer = client.call(tool, **sent)
                assert told(answer, sent, things) <= allowed, (fields, tool, sent)
                assert paths(answer) <= {each.path for each in things if each.secret in allowed}
                if tool not in fields["tools"]:
                    assert "code" in json.loads(answer)

        check()


def test_a_grant_ends_with_its_last_day(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    bare.register()
    request = owner.open(bare.asking())
    yesterday = (date.today() - timedelta(days=2)).isoformat()
    answer = owner.browser.ask("POST", f"/api/mcp-clients/requests/{request}/agree", limits(ends_on=yesterday))
    assert (answer.status_code, answer.json()["key"]) == (422, "invalid_end")
