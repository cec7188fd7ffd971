"""Answers to clients with grants of every kind: nothing outside of them, and a receipt of each byte."""

import json
import os
from datetime import date, timedelta
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from tests.modules.mcp_endpoint.granted import READING, Granted
from tests.modules.mcp_endpoint.vault import WORD, Thing, furnish
from tests.support.browser import Browser
from tests.support.installation import PLAIN
from tests.support.mcp_client import BareClient, OwnersBrowser, limits
from tests.support.server import Server

pytestmark = pytest.mark.process

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
    "Projects/Harbour",
)
GRANTS = int(os.environ.get("PARACHUTE_FUZZ_GRANTS", "20"))
"""Grants that are tried, each with some five messages; 21,300 make 100,000."""

KINDS = ("*", "entry", "conversation", "file", "person", "topic")


@pytest.fixture(scope="module")
def things(server: Server) -> list[Thing]:
    """Everything in the vault."""
    return furnish(server)


class Ask(Struct, frozen=True):
    """A message that would find something, with what of a grant it needs, and the words in it that its answer says again."""

    needs: str
    method: str
    params: dict[str, Any]
    said: str = ""


def answered(client: Granted, ask: Ask, http: httpx2.Client | None = None) -> str:
    """All that was answered to a message; with `http` over a connection that is there."""
    if http is None:
        return client.bare.message(client.token, ask.method, **ask.params).text
    body = {"jsonrpc": "2.0", "id": 1, "method": ask.method, "params": ask.params}
    answer = http.post("/mcp", json=body, headers={"authorization": f"Bearer {client.token}"})
    if answer.status_code == 401:
        client.renew()
        return answered(client, ask, http)
    return answer.text


def called(client: Granted, tool: str, **arguments: Any) -> str:
    """Call a tool; all that it answered."""
    return json.dumps(client.bare.call(client.token, tool, **arguments), ensure_ascii=False)


@pytest.fixture
def granted(owner: OwnersBrowser) -> Granted:
    """A client that is in."""
    return Granted(owner)


def asks(things: list[Thing]) -> list[Ask]:
    """A message of each kind that would find everything."""
    named = " and ".join(f"{WORD} {each.secret}" for each in things)
    days = [each.day.isoformat() for each in things if each.kind == "entry" and each.day]
    tools: list[tuple[str, dict[str, Any]]] = [
        ("brain-search", {"query": WORD}),
        ("brain-resolve", {"text": WORD}),
        ("brain-suggest", {"text": named}),
        ("daily-search", {"query": WORD}),
        *(("daily-today", {"date": day}) for day in days),
    ]
    prompts = [("written-about", "subject", WORD, "daily-search"), ("what-i-know", "subject", WORD, "brain-search")]
    prompts += [("one-day", "day", day, "daily-today") for day in days]
    return [
        *(Ask(tool, "tools/call", {"name": tool, "arguments": sent}, sent.get("text", "")) for tool, sent in tools),
        *(
            Ask(tool, "prompts/get", {"name": name, "arguments": {argument: value}})
            for name, argument, value, tool in prompts
        ),
        *(Ask(source_of(each), "resources/read", {"uri": each.resource}) for each in things),
        Ask("", "resources/list", {}),
    ]


NOTHING = Ask("", "", {})


def source_of(thing: Thing) -> str:
    """The kind of resources that a thing is one of."""
    return f"resources-{thing.resource.removeprefix('parachute://').partition('/')[0]}"


def told(answer: str, ask: Ask, things: list[Thing]) -> set[str]:
    """The secrets in an answer, but those that were sent and are said again."""
    return {each.secret for each in things if each.secret in answer and f"{WORD} {each.secret}" not in ask.said}


def paths(answer: str) -> set[str]:
    """The paths that an answer names, wherever in it."""
    whole = json.loads(answer)
    text = whole.get("result", whole).get("content", [{"text": ""}])[0]["text"]
    try:
        waiting = [json.loads(text)]
    except ValueError:
        return set()
    found: set[str] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found |= {each["path"]} if isinstance(each.get("path"), str) else set()
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


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
    found = set().union(*(told(answered(granted, each), each, things) for each in asks(things)))
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
    for each in asks(things):
        found |= told(answered(granted, each), each, things)
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
        answer = called(granted, tool, **sent)
        assert "Brain/entities/topics" not in answer
        assert "Daily/" not in answer
        assert not told(answer, NOTHING, [each for each in things if each.kind == "entry"])
    topic = things[3]
    for place in (
        "file:///Brain/entities/topics/boat-topicsecret0.md",
        topic.resource,
        f"parachute://files/{topic.path}",
        f"parachute://files/Projects/../{topic.path}",
        "parachute://entities/topic/boat topicsecret0",
        f"parachute://entries/../entities/{topic.resource.rpartition('/')[2]}",
        "parachute://files/Brain/entities/people/link.md",
        "parachute://entries/para:daily:nothing",
        "parachute://",
    ):
        answer = granted.bare.message(granted.token, "resources/read", uri=place).json()
        # What is kept back looks like what is not there.
        assert answer["error"] == {"code": -32002, "message": "There is no such resource for this key."}, place
    assert "error" in granted.bare.message(granted.token, "completion/complete").json()


def test_what_cannot_be_judged_needs_everything(granted: Granted) -> None:
    assert granted.give(tools=[*READING, *UNJUDGED]) == 200
    assert "personsecret0" in called(granted, "brain-context", topic=f"{WORD} personsecret0")
    assert granted.give(tools=[*READING, "brain-context"], since="2026-01-01") == 422
    assert granted.give(tools=["brain-link"]) == 422
    assert granted.give(tools=["brain-types"]) == 422
    assert granted.give(tools=["no-such"]) == 422
    assert granted.give(folders=["../elsewhere"]) == 422
    assert granted.give(since="2026-02-01", until="2026-01-01") == 422
    assert granted.give(ends_on="2020-01-01") == 422


def test_writing_is_a_suggestion_of_an_mcp_client(granted: Granted, word: str) -> None:
    assert granted.give(tools=["daily-create"]) == 200
    assert 'isError": false' in called(granted, "daily-create", content=f"Remember {word}.")
    waiting = granted.browser.get("/api/suggestions?status=pending").json()["suggestions"]
    (made,) = [each for each in waiting if word in each["payload"].get("content", "")]
    assert (made["origin"], made["target_module"], made["action"]) == ("remote_mcp", "daily", "create")
    assert word not in granted.browser.get("/api/daily/entries").text


def test_the_budget_of_a_day_ends_answers(granted: Granted, things: list[Thing]) -> None:
    assert granted.give(bytes_a_day=1500) == 200
    answers = [json.loads(called(granted, "daily-search", query=WORD, limit=2)) for _ in range(6)]
    assert (answers[0]["isError"], answers[-1]["isError"]) == (False, True)
    receipts = granted.received()
    assert receipts[0]["error"] == "budget_spent"
    assert sum(each["bytes"] for each in receipts if each["success"]) <= 1500


def test_receipts_are_the_bytes_on_the_wire(granted: Granted, things: list[Thing]) -> None:
    sizes = []
    for each in asks(things):
        answer = granted.bare.message(granted.token, each.method, **each.params)
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
@pytest.mark.timeout(6 * GRANTS)
def test_no_call_is_answered_outside_of_its_grant(server: Server, things: list[Thing]) -> None:
    with Browser(server) as browser, httpx2.Client(base_url=server.url, timeout=600, **PLAIN) as http:
        browser.sign_in()
        client = Granted(OwnersBrowser(browser))
        asked = asks(things)

        @settings(max_examples=GRANTS)
        @given(grants, st.lists(st.sampled_from(asked), min_size=1, max_size=12))
        def check(fields: dict[str, Any], wanted: list[Ask]) -> None:
            status = client.give(**{**fields, "bytes_a_day": 1_000_000_000})
            if status == 403:
                # What raises a right wants a sign-in of the last minutes.
                browser.sign_in()
                status = client.give(**{**fields, "bytes_a_day": 1_000_000_000})
            assert status == (422 if fields["since"] and fields["until"] and fields["since"] > fields["until"] else 200)
            if status != 200:
                return
            allowed = {each.secret for each in things if inside(each, fields)}
            for ask in wanted:
                answer = answered(client, ask, http)
                found = told(answer, ask, things)
                assert found <= allowed, (fields, ask)
                assert paths(answer) <= {each.path for each in things if each.secret in allowed}
                if ask.needs and ask.needs not in fields["tools"]:
                    assert "error" in json.loads(answer)
                elif ask.method.startswith("resources/"):
                    asked = [each for each in things if ask.params.get("uri", each.resource) == each.resource]
                    assert found == {
                        each.secret for each in asked if each.secret in allowed and source_of(each) in fields["tools"]
                    }

        check()


def test_a_grant_ends_with_its_last_day(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    bare.register()
    request = owner.open(bare.asking())
    yesterday = (date.today() - timedelta(days=2)).isoformat()
    answer = owner.browser.ask("POST", f"/api/mcp-clients/requests/{request}/agree", limits(ends_on=yesterday))
    assert (answer.status_code, answer.json()["key"]) == (422, "invalid_end")
