"""Every screen without a violation of axe-core, light and dark, in both languages; and the keyboard alone is enough."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household, furnished_parts
from tests.browser.console.people import DESKTOP, PHONE
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long
WHOLE = True

BELOW = ("capabilities/agents", "capabilities/skills", "capabilities/mcps", "modules/brain")
LOOKS = [(PHONE, "light", "en"), (DESKTOP, "dark", "de")]


@pytest.fixture(scope="module", autouse=True)
def house(computer: Computer, model: MessagesAPI, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Household]:
    with furnished_parts(computer, model, Path(tmp_path_factory.mktemp("git"))) as made:
        made.session = made.say(
            "What is a journal good for?",
            text("For **remembering**:\n\n```sh\ndate\n```\n\n| a | b |\n|-|-|\n| 1 | 2 |"),
        )
        yield made


def screens(page: Page) -> list[str]:
    """The addresses of all screens of the navigation."""
    found: list[str] = page.evaluate("[...document.querySelectorAll('nav.column li a')].map((a) => a.hash.slice(2))")
    return found


@pytest.mark.parametrize(("size", "scheme", "language"), LOOKS)
def test_no_screen_breaks_a_rule(
    make_person: MakePerson, house: Household, size: dict[str, object], scheme: str, language: str
) -> None:
    person = make_person(size, color_scheme=scheme, locale=language, bypass_csp=True)
    broken = []
    for place in (*screens(person.page), *BELOW, f"chat/{house.session}"):
        page = person.open(place)
        expect(page.locator("main .loading")).to_have_count(0)
        broken += [f"{place}: {line}" for line in violations(page)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            broken.append(f"{place}: it is wider than the screen")
    assert broken == []
    assert person.page.evaluate("document.documentElement.lang") == language


def test_no_dialog_breaks_a_rule(make_person: MakePerson, house: Household) -> None:
    person = make_person(PHONE, bypass_csp=True)
    broken = []
    for place, button in (
        ("keys", "Add a device"),
        ("workspaces", "New workspace"),
        ("workspaces", "Change Boat"),
        ("costs", "Set a limit"),
        ("modules", "Install a module"),
        ("capabilities", "demo"),
        ("capabilities/mcps", "Add a server"),
        ("capabilities/agents", "Write an agent"),
        ("schedule", "Runs"),
        (f"chat/{house.session}", "Settings of this conversation"),
        (f"chat/{house.session}", "Changes"),
    ):
        page = person.open(place)
        page.get_by_role("button", name=button, exact=True).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        expect(page.locator("dialog .loading")).to_have_count(0)
        broken += [f"{place}, {button}: {line}" for line in violations(page)]
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page = person.open("inbox")
    read = page.get_by_role("button", name="See what it brings")
    read.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    broken += [f"inbox, dialog: {line}" for line in violations(page)]
    assert broken == []


def reach(page: Page, name: str) -> None:
    """Press Tab until the element of this name has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = "((e) => e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent)(document.activeElement)"
        if page.evaluate(focused).strip() == name:
            return
    raise AssertionError(f"Tab does not reach {name!r}")


def test_a_keyboard_is_enough(make_person: MakePerson) -> None:
    page = make_person().open("inbox")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    reach(page, "Workspaces")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Workspaces", level=1)).to_be_focused()
    expect(page.get_by_role("button", name="Change Boat")).to_be_visible()
    reach(page, "Change Boat")
    page.keyboard.press("Enter")
    form = page.get_by_role("dialog", name="Change Boat")
    expect(form).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        inside = "!document.activeElement || document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        assert page.evaluate(inside), "the focus stays in the dialog"
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    expect(page.get_by_role("button", name="Change Boat")).to_be_focused()

    page = page.context.pages[0]
    page.keyboard.press("Home")
    page.goto(f"{page.url.partition('#')[0]}#/chat")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    reach(page, "Message")
    page.keyboard.type("Hello by keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").get_by_label("Agent", exact=True)).to_be_visible()


def test_the_menu_of_a_phone_opens_and_closes_by_keyboard(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("inbox")
    more = page.get_by_role("button", name="More")
    more.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("navigation", name="Screens").get_by_role("link").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_have_attribute("aria-expanded", "false")
    expect(more).to_be_focused()
