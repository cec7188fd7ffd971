"""One question in two languages, over a fresh vault and without any route (`python -m tests.official.boat_without_network`)."""

import json
import sys
from functools import partial
from typing import Any

from playwright.sync_api import Page, expect

from parachute.base.clock import now
from parachute.web.first_boot.models import Progress
from parachute.web.first_boot.store import ProgressStore
from tests.browser.chromium import chromium
from tests.browser.console.people import DESKTOP, MILLISECONDS, Person
from tests.chat.imports.exports import node, tree
from tests.files.documents.writing import docx, pdf
from tests.modules.runtime.module_computer import ModuleComputer
from tests.official.without_network import check_no_route

QUESTIONS = ("who advises us on the boat", "wer berät uns beim Boot")
SECONDS = 180

TIDES = (
    "High water comes at nine in the morning and again in the evening; the table hangs beside the door of the shed. "
)
ROPES = (
    "Ten metres of rope cost twelve crowns, twenty metres cost twenty crowns, and what is left over is sold by weight. "
)
OFFER = [3 * TIDES, 3 * ROPES, "Ottokar Lind gives us advice on the sloop and recommends which ship to buy."]
LETTER = [[3 * TIDES], ["Our consultant for the yacht is Mia Sander; she recommends a smaller sailing ship."]]
ENTRY = "Jonas kennt sich mit Segelschiffen aus und empfiehlt uns, welches wir kaufen sollen."
SAID = "Petra is our adviser for buying the sailing ship."
NOTE = f"# Harbour\n\n{3 * ROPES}\n\nCaptain Brandt counsels us about sailing ships.\n"


def main() -> None:
    """Exit code 0 if everything holds."""
    check_no_route()
    with ModuleComputer(settings={"meaning": {"enabled": True}}) as house:
        assert house.command("setup", "--yes").returncode == 0
        _furnish(house)
        for question in QUESTIONS:
            house.wait_until(partial(_is_answered, house, question), f"{question!r} is answered", SECONDS)
            said = house.command("search", *question.split(), "--limit", "20").stdout
            assert "offer.pdf, page 3" in said, said
            assert "letter.docx, page 2" in said, said
            assert "harbour.md, line 5" in said, said
        _see_console(house)


def _furnish(house: ModuleComputer) -> None:
    (house.vault / "offer.pdf").write_bytes(pdf(OFFER))
    (house.vault / "letter.docx").write_bytes(docx(LETTER))
    (house.vault / "harbour.md").write_text(NOTE)
    assert house.command("daily", "add", ENTRY).returncode == 0
    export = house.folder / "conversations.json"
    export.write_text(json.dumps([tree(node("root", None), node("ask", "root", "user", SAID), title="Sunday")]))
    assert house.command("import", "chatgpt", str(export)).returncode == 0


def _is_answered(house: ModuleComputer, question: str) -> bool:
    """Return True as soon as all five are found, and the index is through."""
    said = house.command("search", question, "--limit", "20", "--json").stdout
    answer: dict[str, Any] = json.loads(said or "{}")
    titles = {(each["kind"], each["title"]) for each in answer.get("results", ())}
    files = {title for kind, title in titles if kind == "files"}
    return (
        {"offer.pdf, page 3", "letter.docx, page 2", "harbour.md, line 5"} <= files
        and any(kind == "journal" for kind, _ in titles)
        and ("conversations", "Sunday") in titles
    )


def _see_console(house: ModuleComputer) -> None:
    """See both questions answered in the search box, and a hit lead to its page."""
    ProgressStore(house.home.root).write(Progress(done_at=now()))
    expect.set_options(timeout=MILLISECONDS)
    with chromium() as browser:
        person = Person(browser, house, DESKTOP)
        page = person.sign_in()
        for question in QUESTIONS:
            _ask(page, question)
        page.get_by_role("listbox").get_by_role("option").filter(has_text="offer.pdf, page 3").click()
        page.wait_for_url("**/#/files?file=offer.pdf&page=3")
        assert not person.problems, person.problems


def _ask(page: Page, question: str) -> None:
    box = page.get_by_role("combobox", name="Search, or type what to do")
    if not box.is_visible():
        page.keyboard.press("Control+K")
    box.fill(question)
    found = page.get_by_role("listbox")
    for kind, text in (
        ("Files", "offer.pdf, page 3"),
        ("Files", "letter.docx, page 2"),
        ("Files", "harbour.md, line 5"),
        ("Journal", "Jonas kennt sich mit Segelschiffen aus"),
        ("Conversations", "Sunday"),
    ):
        hit = found.get_by_role("group", name=kind).get_by_role("option").filter(has_text=text)
        expect(hit).to_be_visible()
        expect(hit).to_contain_text("found by meaning")


if __name__ == "__main__":
    main()
    sys.exit(0)
