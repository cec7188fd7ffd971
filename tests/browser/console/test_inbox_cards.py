"""Each kind of item is a card with its own sentence and buttons, whatever its names are, and without a fault of axe."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from parachute.events.inbox.models import Item
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.inbox_items import ITEMS, as_shown

pytestmark = pytest.mark.long

BOTH = pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])


def serve(page: Page, items: list[dict[str, Any]], answered: list[dict[str, Any]]) -> None:
    """Have a page's inbox hold these items, and keep what it answers."""

    def shown(route: Route) -> None:
        route.fulfill(json={"items": items, "problems": []})

    def answer(route: Route) -> None:
        body = json.loads(route.request.post_data or "")
        answered.append(body)
        items[:] = [each for each in items if each["id"] != body["id"]]
        route.fulfill(json={"success": True, "id": body["id"], "answer": body["answer"]})

    page.route("**/api/inbox", shown)
    page.route("**/api/inbox/answer", answer)
    preview = {"title": "x", "before": None, "after": None, "diff": "-a\n+b", "problem": None}
    page.route("**/api/suggestions/*/preview", lambda route: route.fulfill(json=preview))
    consent = {"text": ["It may do nothing."], "changes": [], "files": []}
    page.route("**/api/modules/*/approval", lambda route: route.fulfill(json=consent))


def opened(person: Person, *items: Item) -> tuple[Page, list[dict[str, Any]]]:
    """The inbox with these items, and the answers that will be given."""
    answered: list[dict[str, Any]] = []
    serve(person.page, [as_shown(each) for each in items], answered)
    page = person.open("inbox")
    page.reload()  # the list of the computer itself is there since the sign-in
    expect(page.get_by_role("article")).to_have_count(len(items))
    return page, answered


@BOTH
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_kind_is_a_card(make_person: MakePerson, size: dict[str, Any], language: str) -> None:
    person = make_person(size, bypass_csp=True, locale=language)
    page, _ = opened(person, *ITEMS)
    for card in page.get_by_role("article").all():
        heading = card.get_by_role("heading").inner_text()
        assert not {"{", "}"} & set(heading.replace("{host}", "")), heading
        assert "sentence" not in heading
        for button in card.get_by_role("button").all():
            assert not button.inner_text().startswith(("label_", "read")), heading
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing scrolls sideways"
    assert violations(page) == []


def test_what_lets_code_in_is_read_before_it_is_approved(make_person: MakePerson) -> None:
    readable = [each for each in ITEMS if each.kind in ("skill", "module", "hook", "agent_run") and each.answers]
    person = make_person(bypass_csp=True)
    page, answered = opened(person, *readable)
    for number in range(len(readable)):
        card = page.get_by_role("article").nth(number)
        yes = ("Approve", "Allow this run")
        assert not [name for name in yes if card.get_by_role("button", name=name).count()]
        card.get_by_role("button").last.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    assert answered == []


def test_an_answer_carries_the_hash_of_what_was_shown(make_person: MakePerson) -> None:
    host = next(each for each in ITEMS if each.kind == "host")
    page, answered = opened(make_person(), host)
    with page.expect_response("**/api/inbox/answer"):  # the card goes before it is answered
        page.get_by_role("button", name="Never").click()
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    assert answered == [{"id": host.id, "hash": host.hash, "answer": "never"}]
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_all_of_a_kind_are_answered_at_once(make_person: MakePerson) -> None:
    problem = next(each for each in ITEMS if each.kind == "problem")
    two = [Item("problem", key, key, "doctor", "", problem.details, problem.answers) for key in ("a", "b")]
    page, answered = opened(make_person(), *two)
    with page.expect_response(lambda each: each.url.endswith("/api/inbox/answer") and len(answered) == 2):
        page.get_by_role("button", name="Hide all 2 problems for a week").click()
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    assert [(each["id"], each["hash"], each["answer"]) for each in answered] == [
        (each.id, each.hash, "hide") for each in two
    ]


def test_a_problem_leads_to_the_place_that_mends_it(make_person: MakePerson) -> None:
    problem = next(each for each in ITEMS if each.kind == "problem")
    page, _ = opened(make_person(), problem)
    page.get_by_role("link", name="Open the backups").click()
    expect(page.get_by_role("heading", name="Computer", level=1)).to_be_visible()
