"""Screens in German on which the server says much: nothing of it, nor of the console's own texts, is left in English."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, Person
from tests.browser.console.scenes.elsewhere import client_consent
from tests.browser.console.test_inbox_cards import serve
from tests.support.computer import Computer
from tests.support.inbox_items import EVIL, ITEMS, as_shown

pytestmark = pytest.mark.long

ENGLISH = re.compile(r"\b(the|is|are|this|that|with|does|and|of|its|has|not|which|your|to|from|it)\b")
"""Words that stand in almost every English sentence, and in no German one."""
TEXT = """(what) => [...document.querySelectorAll(what)].map((shown) => {
  const copy = shown.cloneNode(true);
  for (const code of copy.querySelectorAll('code, pre, option')) code.remove();
  return copy.textContent.trim();
})"""


@pytest.fixture
def german(make_person: MakePerson) -> Person:
    """Somebody whose browser is German."""
    return make_person(DESKTOP, locale="de-DE")


def left(page: Page, what: str) -> list[str]:
    """The texts of these elements in which English is left."""
    texts: list[str] = page.evaluate(TEXT, what)
    assert any(texts), "something is shown"
    return [text for text in texts if ENGLISH.search(text)]


def test_the_doctor(german: Person, computer: Computer) -> None:
    (computer.home.root / "hooks.yaml").chmod(0o644)
    page = german.open("computer/doctor")
    page.get_by_role("button", name="Erneut prüfen").click()
    expect(page.locator(".computer-problem", has_text="hooks.yaml")).to_be_visible()
    expect(page.locator("main progress")).to_have_count(0)
    shown = "main .row-title, main .row-main > p, main .row-text, main summary, main .button"
    assert left(page, shown) == []


def test_all_settings(german: Person) -> None:
    page = german.open("computer/settings")
    page.get_by_role("button", name="Alle zeigen").click()
    expect(page.locator(".computer-settings select").first).to_be_visible()
    shown = "main label, main .hint, main h2, main strong, main p, main .button"
    assert left(page, shown) == []
    words: list[str] = page.evaluate("[...document.querySelectorAll('main option')].map((each) => each.textContent)")
    assert not {"auto", "ask", "list", "always", "remote", "disabled", "propose", "review", "live", "off"} & set(words)


def test_each_card_of_the_inbox(german: Person) -> None:
    named = json.dumps(EVIL)[1:-1]
    items: list[dict[str, Any]] = json.loads(json.dumps([as_shown(each) for each in ITEMS]).replace(named, "Garten"))
    serve(german.page, items, [])
    page = german.open("inbox")
    page.reload()  # the list of the computer itself is there since the sign-in
    expect(page.get_by_role("article")).to_have_count(len(items))
    assert left(page, "main article h2, main article .button, main article label") == []


def test_what_modules_are_asked_for(german: Person, computer: Computer) -> None:
    furnishing.install(computer, "brain")
    furnishing.install(computer, "daily")
    page = german.open("modules/daily")
    expect(page.locator("main .details-list").first).to_be_visible()
    assert left(page, "main p, main dt, main dd, main li, main h2, main h3, main .button") == []


def test_what_an_assistant_may_have(german: Person, computer: Computer) -> None:
    furnishing.install(computer, "brain")
    furnishing.install(computer, "daily")
    page = client_consent(german)
    assert left(page, "main label, main .hint, main p, main h2, main .button") == []


def test_the_hooks_that_came_with_it(german: Person) -> None:
    page = german.open("computer/hooks")
    expect(page.locator("main .row").first).to_be_visible()
    described = "main .row-text bdi:first-child"
    assert left(page, described) == []
