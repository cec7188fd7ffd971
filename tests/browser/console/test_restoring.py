"""Restoring in a browser: a new computer takes over what an old one has backed up, and a used one goes back and forth."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import segno
from playwright.sync_api import Browser, Locator, Page, expect

from parachute.ops.backup.kit.models import Kit
from tests.browser.console.accessibility import violations
from tests.browser.console.people import DESKTOP, MINUTES, PHONE, Person, pairing_link
from tests.ops.backup.installation import Installation
from tests.support.computer import Computer
from tests.support.making import SIGNED_OUT, Make

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("restic") is None, reason="needs restic: `make test-deps` installs it"),
]


@dataclass
class Kept:
    """Remains of a computer: a disk, and a sheet of paper."""

    place: Path
    paper: str
    password: str
    photo: Path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A backup of a computer that is gone."""
    gone = Installation(None)
    (gone.vault / "Daily").mkdir()
    (gone.vault / "Daily" / "note.md").write_text("what I wrote")
    (gone.vault / ".parachute" / "vault-id").write_text("0badf00d0badf00d\n")
    (gone.home / "setup.json").write_text('{"done_at": "2026-06-01T10:00:00Z"}\n')
    gone.create()
    folder = tmp_path_factory.mktemp("usb")
    place, photo = folder / "backup", folder / "photo.png"
    shutil.copytree(gone.repository_folder, place)
    password = gone.access.password_file.read_text().strip()
    segno.make_qr(Kit(str(place), password).text).save(str(photo), scale=8, border=4)
    gone.close()
    return Kept(place, f"Password\n{password}\nWhere backups go\n{place}\n", password, photo)


@pytest.fixture
def fresh(make_computer: Make[Computer]) -> Computer:
    """A computer that nobody has set up."""
    computer = make_computer(environment=SIGNED_OUT)
    (computer.vault / "mine").write_text("of the new one")
    return computer


def opened(page: Page, kept: Kept, password: str) -> None:
    """Say where the backups are."""
    page.get_by_label("Where the backups are").fill(str(kept.place))
    page.get_by_label("Password of the backups").fill(password)
    page.get_by_role("button", name="Show the backups").click()


def test_a_new_computer_becomes_the_old_one(fresh: Computer, browser: Browser, kept: Kept) -> None:
    owner = Person(browser, fresh, PHONE, bypass_csp=True)
    page = owner.page
    page.goto(pairing_link(fresh))
    choices = page.locator(".welcome-choices").get_by_role("link")
    expect(choices.first).to_have_text("Restore from a backup")
    choices.first.click()
    expect(page.get_by_role("heading", level=1, name="Restore from a backup")).to_be_focused()
    assert violations(page) == []

    opened(page, kept, "not this one")
    expect(page.get_by_role("alert")).to_contain_text("This password does not open the backups in")
    assert violations(page) == []
    # The whole text that was kept will do.
    opened(page, kept, kept.paper)
    row = page.get_by_role("list", name="Backups").get_by_role("listitem")
    expect(row).to_have_count(1)
    expect(row).to_contain_text(re.compile(r"202\d.*(kB|byte|MB)"))
    assert violations(page) == []
    row.get_by_role("button", name="Restore").click()
    dialog = page.get_by_role("dialog", name="Restore this backup?")
    expect(dialog.get_by_role("switch", name="Keys, approvals and settings as well")).to_be_checked()
    assert violations(page) == []
    dialog.get_by_role("button", name="Restore").click()

    expect(page.get_by_text("Everything is back")).to_be_visible(timeout=MINUTES)
    assert violations(page) == []
    assert (fresh.vault / "Daily" / "note.md").read_text() == "what I wrote"
    # Nobody asks who sits here: the password of the backups has said it.
    page.get_by_role("link", name="Keys and devices").first.click()
    page.get_by_role("button", name=re.compile("Add|New")).first.wait_for()
    page.goto(f"{fresh.url}/#/")
    expect(page).to_have_url(re.compile(r"/#/inbox$"))
    assert [problem for problem in owner.problems if not is_of_the_way(problem)] == []
    owner.context.close()


def is_of_the_way(problem: str) -> bool:
    """Return whether a browser has written it about a refusal, or about a computer that was away for a moment."""
    return any(word in problem for word in ("Failed to load resource", "ERR_", "net::"))


def test_a_used_computer_goes_back_and_forth(fresh: Computer, browser: Browser, kept: Kept) -> None:
    owner = Person(browser, fresh, DESKTOP, bypass_csp=True)
    owner.sign_in()
    page = owner.open("computer/backups")
    section = page.locator(".section", has_text="Restore")
    section.get_by_role("button", name="Show").press("Enter")
    section.get_by_label("Photo of the sheet").set_input_files(kept.photo)
    section.get_by_role("listitem").get_by_role("button", name="Restore").press("Enter")
    dialog = page.get_by_role("dialog", name="Restore this backup?")
    expect(dialog.get_by_role("switch")).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert (fresh.vault / "mine").exists()
    section.get_by_role("listitem").get_by_role("button", name="Restore").press("Enter")
    dialog.get_by_role("button", name="Restore").press("Enter")
    expect(page.get_by_text("Only your data was restored")).to_be_visible(timeout=MINUTES)
    assert not (fresh.vault / "mine").exists()
    aside = page.get_by_text(re.compile(r"/Parachute\.before-restore-"))
    expect(aside).to_be_visible()
    assert violations(page) == []

    page.get_by_role("button", name="Go back to it").click()
    confirm(page, kept, "Go back to it", page.get_by_text("The state before the restore is back."))
    assert (fresh.vault / "mine").read_text() == "of the new one"
    page.get_by_role("button", name="Remove it").click()
    confirm(page, kept, "Remove for good", page.locator("main", has_not_text="The restored state is kept:"))
    assert sorted(path.name for path in fresh.folder.iterdir()) == [".parachute", "Parachute"]
    owner.context.close()


def confirm(page: Page, kept: Kept, button: str, outcome: Locator) -> None:
    """Say yes, and who one is where the computer asks for it: by what stands on the sheet, as no other device is left."""
    page.get_by_role("dialog").get_by_role("button", name=button).click()
    who = page.get_by_role("dialog", name="Confirm that it is you")
    expect(who.or_(outcome).first).to_be_visible(timeout=MINUTES)
    if who.is_visible():
        who.get_by_role("textbox").fill(kept.password)
        page.keyboard.press("Enter")
    expect(outcome).to_be_visible(timeout=MINUTES)
