"""Somebody who is known twice is made one in the browser, and two again."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE
from tests.browser.console.proposals import call, install_official, know
from tests.support.computer import Computer

pytestmark = pytest.mark.long


def pair(page: Page, *names: str) -> Locator:
    """The line of two that may be one."""
    found = page.get_by_role("list", name="Duplicates", exact=True).get_by_role("listitem")
    for name in names:
        found = found.filter(has_text=name)
    return found


def test_two_become_one_and_two_again(make_person: MakePerson, computer: Computer) -> None:
    install_official(computer, "brain")
    kevin, other = know(computer, "Kevin Nguyen", "Advisor."), know(computer, "Nguyen Kevin", "Moved to Berlin.")
    know(computer, "Hans Meier")
    know(computer, "Hans Meyer")
    files = {path: path.read_bytes() for path in (computer.vault / "Brain/entities").rglob("*.md")}
    page = make_person(PHONE).open("knowledge")
    page.get_by_role("link", name="Duplicates").click()
    expect(pair(page, "Kevin Nguyen").get_by_text("the same words")).to_be_visible()
    pair(page, "Kevin Nguyen").get_by_role("button", name="Merge into Kevin Nguyen").click()
    expect(page.get_by_text("Nguyen Kevin is now part of Kevin Nguyen.")).to_be_visible()
    expect(pair(page, "Kevin Nguyen")).to_have_count(0)
    found = call(computer, "GET", f"/api/brain/entities/{other}")
    assert (found["para_id"], found["aliases"]) == (kevin, ["Nguyen Kevin"])
    merged = page.get_by_role("list", name="Merged", exact=True).get_by_role("listitem")
    merged.get_by_role("button", name="Separate").click()
    expect(page.get_by_text("Nguyen Kevin is separate again.")).to_be_visible()
    expect(pair(page, "Kevin Nguyen")).to_have_count(1)
    assert {path: path.read_bytes() for path in (computer.vault / "Brain/entities").rglob("*.md")} == files


def test_those_that_differ_are_told_once_and_a_merge_is_undone_at_once(
    make_person: MakePerson, computer: Computer
) -> None:
    page = make_person(DESKTOP).open("knowledge/duplicates")
    pair(page, "Hans Meier", "Hans Meyer").get_by_role("button", name="Not the same").click()
    expect(pair(page, "Hans Meier")).to_have_count(0)
    pair(page, "Kevin Nguyen").get_by_role("button", name="Merge into Nguyen Kevin").click()
    page.get_by_role("button", name="Undo").click()
    expect(pair(page, "Kevin Nguyen")).to_have_count(1)
