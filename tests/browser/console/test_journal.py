"""The journal: writing, changing, finding, pictures and recordings, earlier versions, and pages of agents."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chromium import MICROPHONE
from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_lists import picture
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.computer import Computer

pytestmark = pytest.mark.long
BROWSER_OPTIONS = MICROPHONE

HOSTILE = "<img src=x onerror=alert(1)> ![far](http://192.0.2.1/a.png) [go](javascript:alert(1))"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal, with entries of yesterday and the day before."""
    furnishing.install(computer, "daily")
    furnishing.add_entry(computer, "Rain all day. Read about **tides**.", 1)
    furnishing.add_entry(computer, "Kevin called about the rehearsal.", 2, "The choir")
    sea = {
        "content": "By the sea, wind from the west. #walk",
        "date": "2022-05-10",
        "place": "Husum, Germany",
        "tags": ["sea"],
    }
    furnishing.call(computer, "POST", "/api/daily/entries", json=sea)
    hill = {"content": "Up the mountain. #walk", "date": "2021-08-02", "place": "Oberstdorf, Germany"}
    furnishing.call(computer, "POST", "/api/daily/entries", json=hill)
    text = {"content": "You read about the sea."}
    furnishing.call(computer, "PUT", f"/api/daily/reflections/{furnishing.day(1)}", json=text)


def write(page: Page, words: str) -> None:
    """Write an entry down."""
    page.get_by_label("New entry").fill(words)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("New entry")).to_have_value("")


def of(person: Person) -> str:
    """A word that tells the two sizes apart: both write into one journal."""
    assert person.page.viewport_size
    return "phone" if person.page.viewport_size["width"] < 500 else "desk"


@at_both_sizes
def test_writing_changing_and_deleting_with_undo(person: Person) -> None:
    page, word = person.open("journal"), of(person)
    write(page, f"Soup on the {word}, with **leeks**.")
    mine = page.get_by_role("article").filter(has_text=f"Soup on the {word}")
    expect(mine.locator("strong", has_text="leeks")).to_be_visible()
    mine.get_by_role("button", name=re.compile("^Edit")).click()
    page.get_by_label("Title", exact=True).fill(f"Supper, {word}")
    page.get_by_label("Text", exact=True).fill(f"Bread on the {word}.")
    page.get_by_role("article").get_by_role("button", name="Save").click()
    named = page.get_by_role("article", name=f"Supper, {word}")
    expect(named.get_by_text(f"Bread on the {word}.")).to_be_visible()
    named.get_by_role("button", name=f"Delete Supper, {word}").click()
    expect(named).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(named.get_by_text(f"Bread on the {word}.")).to_be_visible()


def test_a_draft_stays_while_one_looks_elsewhere(person: Person) -> None:
    page = person.open("journal")
    page.get_by_label("New entry").fill("Not yet")
    page.get_by_role("link", name="Day before").click()
    expect(page.get_by_text("Rain all day")).to_be_visible()
    expect(page.get_by_label("New entry")).to_have_value("")
    page.get_by_role("link", name="Day after").click()
    expect(page.get_by_label("New entry")).to_have_value("Not yet")


@at_both_sizes
def test_the_calendar_marks_days_and_leads_to_them(person: Person) -> None:
    page = person.open(f"journal/{furnishing.day(1)}")
    if of(person) == "phone":
        page.get_by_role("button", name="Calendar").click()
    calendar = page.get_by_role("region", name="Calendar")
    expect(calendar.locator("[aria-current=date]")).to_have_attribute("aria-label", re.compile("1 entry$"))
    other = furnishing.day(2)
    if other[:7] != furnishing.day(1)[:7]:
        calendar.get_by_role("button", name="Month before").click()
    calendar.locator(f"a[href='#/journal/{other}']").click()
    expect(page.get_by_role("article", name="The choir")).to_be_visible()
    page.get_by_role("link", name="To today").click()
    expect(page.get_by_label("New entry")).to_be_visible()


def test_searching(person: Person, computer: Computer) -> None:
    page = person.open("journal")
    page.get_by_label("Search the journal").fill("rehears")
    found = page.get_by_role("list", name="Search results")
    expect(found.get_by_role("listitem")).to_have_count(1)
    found.get_by_role("link").click()
    expect(page.get_by_role("article", name="The choir")).to_be_visible()
    furnishing.add_entry(computer, "--- a: b, an issue # 12 of quaggas. Then --- later", 51)
    page.get_by_label("Search the journal").fill("quaggas")
    expect(found.get_by_text("--- a: b, an issue # 12 of quaggas. Then --- later")).to_be_visible()
    page.get_by_label("Search the journal").fill("no such words")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


@at_both_sizes
def test_on_this_day_is_folded_until_it_is_opened_and_stays_as_it_was_left(person: Person) -> None:
    page = person.open("journal/2024-05-10")
    folded = page.locator("details.on-this-day")
    expect(folded.locator("summary")).to_contain_text("2 years ago")
    expect(folded.get_by_text("By the sea")).not_to_be_visible()
    folded.locator("summary").click()
    expect(folded.get_by_text("By the sea")).to_be_visible()
    page.reload()
    expect(folded.get_by_text("By the sea")).to_be_visible()
    folded.get_by_role("link", name="May 10, 2022").click()
    expect(page.get_by_text("Husum, Germany")).to_be_visible()


@at_both_sizes
def test_tags_and_places_narrow_a_search(person: Person) -> None:
    page = person.open("journal")
    page.get_by_label("Search the journal").focus()
    page.get_by_role("button", name="#walk, 2 entries").click()
    found = page.get_by_role("list", name="Search results").get_by_role("listitem")
    expect(found).to_have_count(2)
    page.get_by_role("group", name="Places").get_by_role("button", name="Husum").click()
    expect(found).to_have_count(1)
    page.get_by_label("Search the journal").fill("mountain")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.get_by_role("button", name="#walk, 2 entries").click()
    page.get_by_role("group", name="Places").get_by_role("button", name="Husum").click()
    expect(found).to_have_count(1)


def test_arrows_lead_through_the_calendar(person: Person) -> None:
    page = person.open("journal/2024-05-30")
    if of(person) == "phone":
        page.get_by_role("button", name="Calendar").click()
    calendar = page.get_by_role("region", name="Calendar")
    calendar.locator("[aria-current=date]").focus()
    page.keyboard.press("ArrowDown")
    expect(calendar.get_by_role("heading", name="June 2024")).to_be_visible()
    expect(calendar.locator("[data-day='2024-06-06']")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(calendar.locator("[data-day='2024-06-05']")).to_be_focused()
    expect(calendar.locator("a[tabindex='0']")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("journal/2024-06-05$"))


TYPES_AT_ONCE = """
new MutationObserver((_, observer) => {
  const field = document.querySelector('input[type=search]');
  if (!field) return;
  observer.disconnect();
  field.value = 'rehears';
  field.dispatchEvent(new Event('input', { bubbles: true }));
}).observe(document, { childList: true, subtree: true });
"""


def test_what_is_typed_before_the_screen_is_painted_stays(person: Person) -> None:
    person.page.add_init_script(TYPES_AT_ONCE)
    person.page.reload()
    page = person.open("journal")
    expect(page.get_by_role("list", name="Search results").get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_label("Search the journal")).to_have_value("rehears")


def test_a_picture_is_shown(person: Person) -> None:
    page, word = person.open("journal"), of(person)
    page.locator("input[type=file]").set_input_files(
        {"name": f"{word} (1).png", "mimeType": "image/png", "buffer": picture()}
    )
    expect(page.get_by_role("list", name="Pictures of the entry").get_by_text(f"{word} (1).png")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    image = page.get_by_role("img", name=f"{word} (1).png")
    image.scroll_into_view_if_needed()
    page.wait_for_function("image => image.complete && image.naturalWidth === 480", arg=image.element_handle())


def test_what_is_typed_while_a_picture_arrives_stays(person: Person) -> None:
    page, word = person.open("journal"), of(person)
    held: list[Route] = []
    page.route("**/api/daily/recordings/**", lambda route: held.append(route))
    page.locator("input[type=file]").set_input_files(
        {"name": f"{word}-late.png", "mimeType": "image/png", "buffer": picture()}
    )
    page.get_by_label("New entry").fill(f"{word} seen from the boat.")
    with page.expect_request("**/api/daily/recordings/**"):
        page.get_by_role("button", name="Save").click()
    page.get_by_label("New entry").fill("The next one.")
    # What was held goes on with this.
    page.unroute("**/api/daily/recordings/**")
    expect(page.get_by_role("article").get_by_text(f"{word} seen from the boat.")).to_be_visible()
    expect(page.get_by_label("New entry")).to_have_value("The next one.")
    page.get_by_label("New entry").fill("")


def test_a_voice_is_recorded_and_played(person: Person) -> None:
    page = person.open("journal")
    expect(page.get_by_label("New entry")).to_be_visible()
    before = page.locator("audio").count()
    page.get_by_role("button", name="Record your voice").click()
    expect(page.get_by_text("0:01")).to_be_visible()
    page.get_by_role("button", name="Keep").click()
    expect(page.locator("audio")).to_have_count(before + 1)
    player = page.locator("audio").last.element_handle()
    page.evaluate("player => player.play()", player)
    page.wait_for_function("player => player.currentTime > 0", arg=player)


def test_a_recording_that_is_thrown_away_leaves_nothing(person: Person, computer: Computer) -> None:
    before = sorted(computer.vault.glob("Daily/assets/**/*"))
    page = person.open("journal")
    page.get_by_role("button", name="Record your voice").click()
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("button", name="Record your voice")).to_be_visible()
    assert sorted(computer.vault.glob("Daily/assets/**/*")) == before


def test_an_earlier_version_comes_back_and_goes_again(person: Person, computer: Computer) -> None:
    days_ago = 40 if of(person) == "phone" else 41
    made = furnishing.add_entry(computer, "As it was", days_ago)
    furnishing.call(computer, "PUT", f"/api/daily/entries/{made['id']}", json={"content": "As it is"})
    page = person.open(f"journal/{furnishing.day(days_ago)}")
    page.get_by_role("link", name="Earlier versions").click()
    page.get_by_role("button", name="Look", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("As it was")).to_be_visible()
    page.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_role("button", name="Look", exact=True)).to_have_count(2)
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("article").get_by_text("As it was")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("article").get_by_text("As it is")).to_be_visible()


def test_pages_of_agents_stand_below_the_day(person: Person) -> None:
    page = person.open(f"journal/{furnishing.day(1)}")
    expect(page.get_by_role("heading", name="Reflection")).to_be_visible()
    expect(page.get_by_text("You read about the sea.")).to_be_visible()
    expect(page.get_by_role("button", name="Reflection: write it now")).to_have_count(0)


def test_another_device_shows_what_was_written(make_person: MakePerson, computer: Computer) -> None:
    page = make_person().open(f"journal/{furnishing.day(50)}")
    expect(page.get_by_role("heading", name="Nothing on this day")).to_be_visible()
    furnishing.add_entry(computer, "From elsewhere", 50)
    expect(page.get_by_text("From elsewhere")).to_be_visible()


def test_hostile_text_stays_text(make_person: MakePerson, computer: Computer) -> None:
    furnishing.add_entry(computer, HOSTILE, 60, HOSTILE)
    page = make_person().open(f"journal/{furnishing.day(60)}")
    expect(page.get_by_role("article").get_by_text("<img src=x").first).to_be_visible()
    assert page.locator("article img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_by_keyboard_alone(make_person: MakePerson) -> None:
    page = make_person().open("journal")
    page.get_by_label("New entry").focus()
    page.keyboard.type("By hand")
    page.keyboard.press("Control+Enter")
    written = page.get_by_role("article").filter(has_text="By hand")
    expect(written).to_be_visible()
    written.get_by_role("button", name=re.compile("^Delete")).focus()
    page.keyboard.press("Enter")
    expect(written).to_have_count(0)


def test_a_key_that_may_only_read_writes_nothing(make_person: MakePerson) -> None:
    page = make_person(scopes=["daily:read"]).open(f"journal/{furnishing.day(1)}")
    expect(page.get_by_text("Rain all day")).to_be_visible()
    expect(page.get_by_label("New entry")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^(Edit|Delete)"))).to_have_count(0)


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")], ids=["phone", "desktop"])
def test_screen_readers_find_everything(make_person: MakePerson, size: dict[str, object], scheme: str) -> None:
    person = make_person(size, color_scheme=scheme, bypass_csp=True)
    page = person.open(f"journal/{furnishing.day(1)}")
    page.get_by_text("You read about the sea.").wait_for()
    if size is PHONE:
        page.get_by_role("button", name="Calendar").click()
    assert violations(page) == []
    page = person.open(f"journal/{furnishing.day(1)}/history")
    page.get_by_role("heading", name="No earlier versions").wait_for()
    assert violations(page) == []
