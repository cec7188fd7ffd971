"""Moments that no address leads to, without a violation of axe-core, light and dark, in both languages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.furnished import furnished_computer
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.browser.console.scenes import SCENES
from tests.support.computer import Computer

pytestmark = [pytest.mark.long, pytest.mark.computer]

LOOKS = [(PHONE, "light", "en"), (DESKTOP, "dark", "de")]


@pytest.fixture
def house() -> Iterator[Computer]:
    """A computer with something to see everywhere, of which the other look finds nothing changed: its question waits five minutes."""
    with furnished_computer() as computer:
        yield computer


@pytest.mark.parametrize(("size", "scheme", "language"), LOOKS, ids=["phone", "desktop"])
def test_no_scene_breaks_a_rule(
    browser: Browser, house: Computer, size: dict[str, object], scheme: str, language: str
) -> None:
    person = Person(browser, house, size, color_scheme=scheme, locale=language, bypass_csp=True)
    page = person.sign_in()
    broken = []
    for name in sorted(SCENES):
        page.goto("about:blank")  # for no dialog of the scene before
        SCENES[name](person)
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        broken += [f"{name}: {line}" for line in violations(page)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            broken.append(f"{name}: it is wider than the screen")
        page.unroute_all()
    person.context.close()
    assert broken == []
