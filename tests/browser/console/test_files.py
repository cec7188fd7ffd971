"""Files in the browser: looking, editing, uploading, moving, deleting, and taking all of it back."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_files import PICTURE, furnish_files
from tests.browser.console.people import PHONE, Person
from tests.support.computer import Computer

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def furnished(computer: Computer) -> Path:
    """The vault, with something in it."""
    furnish_files(computer)
    return computer.vault


@pytest.fixture
def folder(furnished: Path, request: pytest.FixtureRequest) -> str:
    """A folder of this test alone, in which nothing is but `page.md`."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    (furnished / name).mkdir()
    (furnished / name / "page.md").write_text("# Before\n")
    return name


def more(page: Page, name: str) -> None:
    """Open what can be done with a file."""
    page.get_by_role("button", name=f"More about {name}").click()


@at_both_sizes
def test_looking_around(person: Person, furnished: Path) -> None:
    page = person.open("files")
    page.get_by_role("link", name="Notes").click()
    expect(page.get_by_role("heading", name="Notes", level=1)).to_be_visible()
    page.get_by_role("link", name="garden.md").click()
    expect(page.locator(".markdown strong", has_text="peas")).to_be_visible()
    page.get_by_role("navigation", name="Folders above").get_by_role("link", name="Files").click()
    page.get_by_role("link", name="Pictures").click()
    page.get_by_role("link", name="dot.png").click()
    picture = page.get_by_role("img", name="dot.png")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") == 1


def test_the_front_matter_of_a_page_is_a_table_of_its_own(
    make_person: MakePerson, furnished: Path, folder: str
) -> None:
    person = make_person(PHONE, bypass_csp=True)
    head = "---\ntype: person\naliases:\n  - Ann\n  - Anna\n# internal\nsince: 2020\n---\n"
    (furnished / folder / "ann.md").write_text(f"{head}# Ann\n\nBuilds **boats**.\n")
    (furnished / folder / "rule.md").write_text("---\n\nBetween two lines.\n\n---\n")
    page = person.open(f"files/{folder}?file=ann.md")
    expect(page.locator(".markdown strong", has_text="boats")).to_be_visible()
    expect(page.locator(".markdown")).not_to_contain_text("aliases")
    page.get_by_text("Properties").press("Enter")
    expect(page.get_by_role("definition").first).to_have_text("person")
    expect(page.get_by_role("definition").nth(1)).to_contain_text("- Anna")
    assert violations(page) == []
    page = person.open(f"files/{folder}?file=rule.md")
    expect(page.locator(".markdown", has_text="Between two lines.")).to_be_visible()
    expect(page.get_by_text("Properties")).to_have_count(0)


def test_texts_are_found_by_their_words(person: Person, furnished: Path) -> None:
    page = person.open("files/Pictures")
    page.get_by_role("searchbox", name="Search all files").fill("peas march")
    found = page.get_by_role("list", name="Search results")
    expect(found.get_by_role("link")).to_have_count(1)
    expect(found.get_by_text("Sow peas in March")).to_be_visible()
    page.get_by_role("searchbox").fill("zeppelin")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.get_by_role("searchbox").fill("peas march")
    found.get_by_role("link", name="garden.md").click()
    expect(page.locator(".markdown strong", has_text="peas")).to_be_visible()


def test_an_edit_is_saved_and_taken_back(person: Person, furnished: Path, folder: str) -> None:
    page = person.open(f"files/{folder}?file=page.md")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("# After\n\n*née* 🙂\n")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="After")).to_be_visible()
    assert (furnished / folder / "page.md").read_text() == "# After\n\n*née* 🙂\n"
    more(page, "page.md")
    page.get_by_role("button", name="History").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 file is as before.")).to_be_visible()
    assert (furnished / folder / "page.md").read_text() == "# Before\n"


def test_what_another_device_wrote_is_not_replaced_unseen(
    make_person: MakePerson, furnished: Path, folder: str
) -> None:
    person = make_person(PHONE)
    page = person.open(f"files/{folder}?file=page.md")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("mine\n")
    (furnished / folder / "page.md").write_text("theirs\n")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This file was changed elsewhere in the meantime")
    expect(page.get_by_role("region", name="Current version")).to_contain_text("theirs")
    expect(page.get_by_label("Your text")).to_have_value("mine\n")
    assert (furnished / folder / "page.md").read_text() == "theirs\n"
    page.get_by_role("button", name="Save mine").click()
    expect(page.locator(".markdown", has_text="mine")).to_be_visible()
    assert (furnished / folder / "page.md").read_text() == "mine\n"
    # The browser itself tells of the refusal.
    (told,) = person.problems
    assert "412" in told
    person.problems.clear()


def test_new_folders_and_texts(person: Person, furnished: Path, folder: str) -> None:
    page = person.open(f"files/{folder}")
    page.get_by_role("button", name="New folder").click()
    page.get_by_label("Name").fill("Seeds & 100%?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Seeds & 100%?", level=1)).to_be_visible()
    expect(page.get_by_text("This folder is empty")).to_be_visible()
    page.get_by_role("button", name="New text").click()
    page.get_by_label("Name").fill("peas")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="peas.md", level=1)).to_be_visible()
    assert (furnished / folder / "Seeds & 100%?" / "peas.md").read_text() == ""


def test_uploading_and_replacing(person: Person, furnished: Path, folder: str, tmp_path: Path) -> None:
    page = person.open(f"files/{folder}")
    (tmp_path / "page.md").write_text("from the phone\n")
    (tmp_path / "dot.png").write_bytes(PICTURE)
    page.get_by_label("Choose files").set_input_files([tmp_path / "dot.png", tmp_path / "page.md"])
    asked = page.get_by_role("dialog", name="Replace page.md?")
    expect(asked).to_be_visible()
    assert (furnished / folder / "page.md").read_text() == "# Before\n"
    asked.get_by_role("button", name="Replace").click()
    expect(page.get_by_text("2 files are on the computer.")).to_be_visible()
    assert (furnished / folder / "page.md").read_text() == "from the phone\n"
    assert (furnished / folder / "dot.png").read_bytes() == PICTURE
    # Where the list was not there yet, the server said that there is such a file.
    person.forgive_refusals()


def test_dropping_a_file(make_person: MakePerson, furnished: Path, folder: str) -> None:
    page = make_person().open(f"files/{folder}")
    dropped = page.evaluate_handle(
        "() => { const data = new DataTransfer(); data.items.add(new File(['dropped'], 'a.txt')); return data; }"
    )
    page.get_by_role("link", name="page.md").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.get_by_role("link", name="a.txt")).to_be_visible()
    assert (furnished / folder / "a.txt").read_text() == "dropped"


def test_an_upload_is_cancelled(make_person: MakePerson, furnished: Path, folder: str, tmp_path: Path) -> None:
    person = make_person(PHONE)
    page = person.open(f"files/{folder}")
    held: list[Route] = []
    page.route("**/api/files/upload**", lambda route: held.append(route))
    (tmp_path / "film.mov").write_bytes(bytes(1000))
    page.get_by_label("Choose files").set_input_files(tmp_path / "film.mov")
    expect(page.get_by_role("progressbar", name="Uploading film.mov")).to_be_visible()
    page.get_by_role("list", name="Transfers").get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("film.mov: cancelled.")).to_be_visible()
    expect(page.get_by_role("list", name="Transfers")).to_have_count(0)
    assert not (furnished / folder / "film.mov").exists()


def test_saving_on_this_device(make_person: MakePerson, furnished: Path, folder: str, tmp_path: Path) -> None:
    (furnished / folder / "film.mov").write_bytes(bytes(100_000))
    page = make_person().open(f"files/{folder}?file=film.mov")
    expect(page.get_by_text("No preview")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").last.click()
    assert saved.value.suggested_filename == "film.mov"
    saved.value.save_as(tmp_path / "film.mov")
    assert (tmp_path / "film.mov").stat().st_size == 100_000


@at_both_sizes
def test_moving_and_deleting_are_undone_from_their_note(person: Person, furnished: Path, folder: str) -> None:
    page = person.open(f"files/{folder}")
    more(page, "page.md")
    page.get_by_label("Name and place").fill(f"{folder}/other.md")
    page.get_by_role("button", name="Move").click()
    expect(page.get_by_role("link", name="other.md")).to_be_visible()
    more(page, "other.md")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="other.md")).to_have_count(0)
    assert not (furnished / folder / "other.md").exists()
    page.locator(".toast", has_text="is deleted").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="other.md")).to_be_visible()
    assert (furnished / folder / "other.md").read_text() == "# Before\n"


def test_a_file_of_somebody_else_appears_and_hostile_names_stay_text(
    make_person: MakePerson, furnished: Path, folder: str
) -> None:
    one, other = make_person(), make_person(PHONE)
    page = one.open(f"files/{folder}")
    other.open(f"files/{folder}")
    other.page.get_by_role("button", name="New text").click()
    other.page.get_by_label("Name").fill("<img src=x onerror=alert(1)>.md")
    other.page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("link", name="<img src=x onerror=alert(1)>.md")).to_be_visible()
    assert page.locator("main img").count() == 0


def test_by_keyboard_alone(make_person: MakePerson, furnished: Path, folder: str) -> None:
    page = make_person().open(f"files/{folder}")
    page.get_by_role("link", name="page.md").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="page.md", level=1)).to_be_focused()
    page.get_by_role("button", name="Edit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("typed")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".markdown", has_text="typed")).to_be_visible()


def test_who_may_only_read_sees_nothing_to_write_with(make_person: MakePerson, furnished: Path) -> None:
    page = make_person(scopes=["vault:read"]).open("files/Notes?file=list.txt")
    expect(page.get_by_text("milk")).to_be_visible()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    page.goto(page.url.split("#")[0] + "#/files/Notes")
    expect(page.get_by_role("link", name="list.txt")).to_be_visible()
    expect(page.get_by_role("button", name="Upload")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong_for_assistive_programs(make_person: MakePerson, furnished: Path, scheme: str) -> None:
    person = make_person(PHONE, bypass_csp=True, color_scheme=scheme)
    for place in ("files", "files/Notes?file=list.txt", "files/Pictures?file=dot.png"):
        page = person.open(place)
        expect(page.locator(".loading")).to_have_count(0)
        assert violations(page) == []
    page = person.open("files")
    page.get_by_role("searchbox").fill("peas march")
    expect(page.get_by_role("list", name="Search results")).to_be_visible()
    assert violations(page) == []
    person.open("files/Notes")
    more(page, "garden.md")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []


def test_in_german(make_person: MakePerson, furnished: Path) -> None:
    page = make_person(PHONE, locale="de-DE").open("files/Notes?file=garden.md")
    expect(page.get_by_role("button", name="Bearbeiten")).to_be_visible()
    expect(page.get_by_role("button", name="Herunterladen")).to_be_visible()
