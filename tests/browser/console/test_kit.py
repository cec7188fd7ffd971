"""The emergency kit in a browser: shown, printed, and brought back by a photo, the camera or by hand before backups count as protected."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import segno
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import MICROPHONE, launch
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.ops.backup.installation import Installation, keep_password
from tests.support.computer import Computer

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("restic") is None, reason="needs restic: `make test-deps` installs it"),
]
WHOLE = True


@pytest.fixture(scope="module")
def repository() -> Iterator[Installation]:
    """An installation with backups."""
    made = Installation(None)
    yield made
    made.close()


@pytest.fixture(scope="module")
def settings(repository: Installation) -> dict[str, Any]:
    """Backups go where those of the installation go."""
    return {"backup": {"repository": str(repository.repository_folder)}}


@pytest.fixture(scope="module", autouse=True)
def password(computer: Computer, repository: Installation) -> None:
    """The computer has their password."""
    keep_password(computer, repository.access.password_file)


@pytest.fixture(autouse=True)
def nobody_has_tried_it(computer: Computer) -> None:
    """Each test begins with backups that are not protected."""
    (computer.home.root / "backup" / "kit.json").unlink(missing_ok=True)


def password_of(computer: Computer) -> str:
    return (computer.home.root / "backup" / "password").read_text().strip()


def show(page: Page) -> None:
    """Have the kit shown, which asks first."""
    page.get_by_role("button", name="Show the kit").click()
    page.get_by_role("dialog", name="Show the emergency kit?").get_by_role("button", name="Show the kit").click()
    expect(page.get_by_role("article", name="Emergency kit")).to_be_visible()


def test_it_is_shown_printed_and_brought_back_by_a_photo(
    make_person: MakePerson, computer: Computer, tmp_path: Path
) -> None:
    person = make_person(PHONE, bypass_csp=True)
    page = person.open("computer/backups")
    expect(page.get_by_text("Test your emergency kit")).to_be_visible()
    assert violations(page) == []
    show(page)
    sheet = page.get_by_role("article", name="Emergency kit")
    expect(sheet).to_contain_text(password_of(computer))
    assert violations(page) == []
    photo = tmp_path / "photo.png"
    # As a phone takes it: of the whole sheet.
    sheet.screenshot(path=photo)
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="I have it on paper")).to_be_hidden()
    expect(sheet.get_by_role("img")).to_be_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="I have it on paper").click()
    expect(page.get_by_role("main")).not_to_contain_text(password_of(computer))
    assert violations(page) == []
    page.get_by_label("Photo of the sheet").set_input_files(__file__)
    expect(page.get_by_role("alert")).to_contain_text("No code was found in this photo")
    page.get_by_label("Photo of the sheet").set_input_files(photo)
    expect(page.get_by_text("Your backups are protected")).to_be_visible()
    assert violations(page) == []


def test_it_is_typed_back_by_keyboard_alone(make_person: MakePerson, computer: Computer) -> None:
    person = make_person(DESKTOP)
    page = person.open("computer/backups")
    page.get_by_role("button", name="Test the kit").press("Enter")
    field = page.get_by_label("Password on the sheet")
    field.fill("x" * 43)
    page.get_by_role("button", name="Open the backups with it").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This password does not open the backups in")
    # In groups, as the sheet has it.
    field.fill(" ".join(re.findall(".{1,6}", password_of(computer))))
    page.get_by_role("button", name="Open the backups with it").press("Enter")
    expect(page.get_by_text("Your backups are protected")).to_be_visible()
    person.forgive_refusals()
    # Another password: what is on the paper holds no more.
    page.get_by_role("button", name="Back up now").press("Enter")
    expect(page.locator(".facts > div", has_text="Last backup").get_by_text("Complete")).to_be_visible()
    (computer.home.root / "backup" / "kit.json").write_text("{}")
    expect(page.get_by_text("Test your emergency kit")).to_be_visible()
    page = person.open("inbox")
    expect(page.get_by_text("the emergency kit has not been tested")).to_be_visible()


def test_it_is_scanned_with_the_camera(browser: Browser, computer: Computer, tmp_path: Path) -> None:
    text = f"Parachute backup kit 1\nplace: {computer_place(computer)}\npassword: {password_of(computer)}"
    film = tmp_path / "film.y4m"
    record(film, text)
    filming = launch(browser.browser_type, *MICROPHONE, f"--use-file-for-fake-video-capture={film}")
    person = Person(filming, computer, PHONE)
    person.sign_in()
    page = person.open("computer/backups")
    page.get_by_role("button", name="Test the kit").click()
    page.get_by_role("button", name="Scan with the camera").click()
    expect(page.get_by_text("Your backups are protected")).to_be_visible()
    assert person.problems == []
    filming.close()


def computer_place(computer: Computer) -> str:
    """Return the place of its backups."""
    return str(next(line for line in computer.home.config.read_text().splitlines() if "repository" in line).split()[1])


def record(film: Path, text: str) -> None:
    """A film of a code, as cameras give it."""
    rows = [[int(bool(square)) for square in row] for row in segno.make_qr(text).matrix_iter(scale=6, border=4)]
    width, height = 640, 480
    left, top = (width - len(rows)) // 2, (height - len(rows)) // 2
    light = bytearray(b"\xeb" * (width * height))
    for y, row in enumerate(rows):
        for x, dark in enumerate(row):
            light[(top + y) * width + left + x] = 16 if dark else 235
    frame = b"FRAME\n" + bytes(light) + b"\x80" * (width * height // 2)
    film.write_bytes(f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420jpeg\n".encode() + frame * 10)
