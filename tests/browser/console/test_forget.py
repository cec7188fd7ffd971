"""Forgetting words from the field over everything, to the proof."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import at_both_sizes
from tests.browser.console.people import Person
from tests.support.computer import Computer

pytestmark = pytest.mark.long
WHOLE = True

WORD = "Zwiebelkuchen"


@at_both_sizes
def test_words_are_forgotten_and_one_place_is_left(computer: Computer, person: Person, tmp_path: Path) -> None:
    for name in ("first.md", "second.md"):
        (computer.vault / name).write_text(f"# A note\nA line about {WORD}.\nTea.\n")
    page = person.open("keys")
    page.keyboard.press("Control+K")
    page.keyboard.type(WORD)
    page.get_by_role("button", name=f"Forget “{WORD}”").click()
    dialog = page.get_by_role("dialog", name="Forget words")
    expect(dialog.get_by_label("Words")).to_have_value(WORD)
    dialog.get_by_role("button", name="Search").click()
    second = dialog.get_by_role("checkbox", name="second.md")
    expect(second).to_be_checked()
    expect(dialog.get_by_text("There is no undo.")).to_be_visible()
    page.screenshot(path=tmp_path / "plan.png")
    second.uncheck()
    dialog.get_by_role("button", name="Remove for good").click()
    expect(dialog.get_by_text("searched again")).to_be_visible(timeout=60_000)
    expect(dialog.get_by_text("Left: Files (1)")).to_be_visible()
    page.screenshot(path=tmp_path / "proof.png")
    person.forgive_refusals()
    assert (computer.vault / "first.md").read_text() == "# A note\nTea.\n"
    assert WORD in (computer.vault / "second.md").read_text()
