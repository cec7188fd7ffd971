"""Knowledge: finding, writing down, changing, linking, types, and what is around something."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_lists import furnish_knowledge
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long

HOSTILE = "<img src=x onerror=alert(1)> [go](javascript:alert(1))"


@pytest.fixture(scope="module")
def garden(computer: Computer) -> str:
    """The para-id of the garden, among what a person knows."""
    found = furnish_knowledge(computer)
    for number in range(60):
        furnishing.add_entity(computer, "resource", f"Book {number:02}")
    furnishing.install(computer, "daily")
    return found


@pytest.fixture(autouse=True)
def furnished(garden: str) -> None:
    """Every test needs it."""


def rows(page: Page, name: str = "Knowledge") -> Locator:
    """The lines of a list."""
    return page.get_by_role("list", name=name, exact=True).get_by_role("listitem")


def known(computer: Computer, para_id: str) -> dict[str, Any]:
    """An entity as the server has it."""
    return dict(furnishing.call(computer, "GET", "/api/brain/entities/by_id", params={"id": para_id}))


@at_both_sizes
def test_types_pages_and_search_as_one_types(person: Person) -> None:
    page = person.open("knowledge")
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).not_to_have_count(50)
    page.get_by_role("button", name=re.compile("topic 5")).click()
    expect(rows(page)).to_have_count(5)
    page.get_by_label("Search your knowledge").fill("salt")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("link", name="Sourdough").click()
    expect(page.get_by_role("heading", name="Sourdough", level=1)).to_be_visible()
    page.get_by_role("link", name="Aunt Ruth").first.click()
    expect(page.get_by_role("heading", name="Aunt Ruth", level=1)).to_be_visible()


def test_writing_down_changing_renaming_and_deleting(person: Person, computer: Computer) -> None:
    name = "Boat of Vera"
    page = person.open("knowledge/new?type=project")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Text", exact=True).fill("Lies by the [[Park]], near [[Nobody]].")
    page.get_by_label("Status", exact=True).fill("dreamed of")
    page.get_by_label("Also called").fill("The boat\nHer")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    para_id = page.url.rpartition("/")[2].replace("%3A", ":")
    assert known(computer, para_id)["aliases"] == ["The boat", "Her"]
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Name", exact=True).fill(f"{name}, red")
    page.get_by_label("Status", exact=True).fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name=f"{name}, red", level=1)).to_be_visible()
    now = known(computer, para_id)
    assert "status" not in now
    assert name in now["aliases"]
    assert "[[Nobody]]" in now["content"]
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="Knowledge", level=1)).to_be_visible()
    found = furnishing.call(computer, "GET", "/api/brain/search", params={"q": name})["results"]
    assert para_id not in [each["para_id"] for each in found]


def test_what_somebody_else_changed_meanwhile_is_not_lost(make_person: MakePerson, computer: Computer) -> None:
    para_id = furnishing.add_entity(computer, "topic", "Clouds", "White.")
    person = make_person()
    page = person.open(f"knowledge/entity/{para_id}/edit")
    page.get_by_label("Text", exact=True).fill("Grey.")
    furnishing.call(computer, "PUT", f"/api/brain/entities/{para_id}", json={"content": "Pink."})
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast.error")).to_be_visible()
    assert known(computer, para_id)["content"] == "Pink."
    person.problems.clear()  # the browser notes the 409


def test_linking_and_unlinking_with_undo(person: Person, computer: Computer) -> None:
    name = "Kite of Vera"
    para_id = furnishing.add_entity(computer, "project", name)
    page = person.open(f"knowledge/entity/{para_id}")
    expect(page.get_by_text("No links yet.")).to_be_visible()
    page.get_by_role("button", name="Add a link", exact=True).click()
    page.get_by_label("Relationship").fill("tested in")
    page.get_by_label("Link with").fill("par")
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Park")).click()
    expect(rows(page, "Links")).to_have_count(1)
    expect(rows(page, "Links").get_by_text("tested in")).to_be_visible()
    assert known(computer, para_id)["relationships"] == ["[[Park]] - tested in"]
    page.get_by_role("button", name="Remove the link with Park").click()
    expect(page.get_by_text("No links yet.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(rows(page, "Links")).to_have_count(1)


def test_mentions_lead_to_the_journal_and_can_be_taken_away(person: Person, computer: Computer) -> None:
    name = "Lamp of Vera"
    para_id = furnishing.add_entity(computer, "topic", name)
    entry = furnishing.add_entry(computer, "It gives **light**.", 3)
    furnishing.call(computer, "POST", "/api/brain/link", json={"source_id": entry["id"], "para_id": para_id})
    page = person.open(f"knowledge/entity/{para_id}")
    mention = rows(page, "Mentions")
    expect(mention.get_by_text("It gives light.")).to_be_visible()
    expect(mention.get_by_role("link")).to_have_attribute("href", f"#/journal/{furnishing.day(3)}")
    mention.get_by_role("button", name=re.compile("^Remove the mention")).click()
    expect(page.get_by_role("heading", name="Mentions")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(mention).to_have_count(1)


def test_what_is_linked_and_not_there_is_written_down(make_person: MakePerson, computer: Computer) -> None:
    para_id = furnishing.add_entity(computer, "topic", "Harbours", "Like that of [[Old Genoa]].")
    page = make_person(PHONE).open(f"knowledge/entity/{para_id}")
    page.get_by_role("link", name="Old Genoa", exact=True).click()
    expect(page.get_by_text("there is no entry about it")).to_be_visible()
    page.get_by_role("link", name="Create it").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Old Genoa")
    page.get_by_role("button", name="Create").click()
    expect(rows(page, "Links").get_by_role("link", name="Harbours")).to_be_visible()


@at_both_sizes
def test_what_is_around_as_a_picture_and_as_a_table(person: Person, garden: str) -> None:
    page = person.open(f"knowledge/entity/{garden}")
    page.get_by_role("link", name="Connections").click()
    expect(page.get_by_role("heading", name="Connections of Garden")).to_be_visible()
    table = page.get_by_role("region", name="The same as a table").get_by_role("row")
    drawn = page.locator(".picture a")
    count = drawn.count()
    assert count > 5
    expect(table).to_have_count(count)  # a heading more, and the middle less
    expect(table.filter(has_text="Samira Haddad").get_by_text("Garden (lends a ladder)")).to_be_visible()
    assert page.locator(".picture [style]").count() == 0
    drawn.filter(has_text="Maria Costa").locator("circle").click()
    expect(page.get_by_role("heading", name="Maria Costa", level=1)).to_be_visible()


def test_a_large_neighbourhood_is_cut_and_says_so(make_person: MakePerson, computer: Computer) -> None:
    names = [f"Star {number:03}" for number in range(170)]
    folder = computer.vault / "Brain" / "entities" / "topics"
    folder.mkdir(parents=True, exist_ok=True)
    stars = {name: folder / f"{name.lower().replace(' ', '-')}.md" for name in names}
    for name, star in stars.items():
        star.write_text(f"---\ntype: topic\n---\n\n# {name}\n")
    middle = furnishing.add_entity(computer, "topic", "Galaxy", " ".join(f"[[{name}]]" for name in names))
    computer.wait_until(
        lambda: furnishing.call(computer, "GET", "/api/brain/neighbourhood", params={"id": middle})["truncated"],
        "the stars that were written by hand are known",
    )
    page = make_person(PHONE).open(f"knowledge/entity/{middle}/around")
    expect(page.get_by_text("the nearest 150 are shown")).to_be_visible()
    expect(page.locator(".picture a")).to_have_count(150)
    for star in stars.values():
        star.unlink()


def test_a_type_with_its_fields(person: Person, computer: Computer) -> None:
    name = "toolbox"
    page = person.open("knowledge/types")
    page.get_by_role("link", name="New type").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Field", exact=True).fill("state")
    page.get_by_label("Kind of value").select_option("one of some words")
    page.get_by_label("Words that are allowed").fill("sharp\nblunt\n")
    page.get_by_label("Required").check()
    page.get_by_role("button", name="Save").click()
    expect(rows(page, "Types").get_by_role("link", name=name)).to_be_visible()
    person.open(f"knowledge/new?type={name}")
    page.get_by_label("Name", exact=True).fill(f"Saw {name}")
    page.get_by_label("state (required)").select_option("blunt")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("blunt")).to_be_visible()
    person.open(f"knowledge/types/{name}")
    page.get_by_role("button", name="Delete this type").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".toast.error")).to_contain_text("1 entity is of the type")
    person.problems.clear()  # the browser notes the 409


def test_saving_a_type_unchanged_changes_no_rule(make_person: MakePerson, computer: Computer) -> None:
    page = make_person().open("knowledge/types/project")
    page.get_by_label("Description").fill("What I work on")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    types = {kind["name"]: kind for kind in furnishing.call(computer, "GET", "/api/brain/types")}
    assert types["project"]["description"] == "What I work on"
    assert types["project"]["fields"][0] == {"name": "status", "type": "string", "is_any": True, "required": False}


def test_hostile_text_stays_text(make_person: MakePerson, computer: Computer) -> None:
    content = f"{HOSTILE}\n\n[[{HOSTILE}]] ![far](http://192.0.2.1/a.png)"
    para_id = furnishing.add_entity(
        computer, "topic", "Hostile", content, description=HOSTILE, aliases=[HOSTILE, "x](#/chat)"]
    )
    page = make_person().open(f"knowledge/entity/{para_id}")
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    assert page.locator("main img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_another_device_shows_what_changed(make_person: MakePerson, computer: Computer) -> None:
    para_id = furnishing.add_entity(computer, "topic", "Weather", "Rain.")
    page = make_person().open(f"knowledge/entity/{para_id}")
    expect(page.get_by_text("Rain.")).to_be_visible()
    furnishing.call(computer, "PUT", f"/api/brain/entities/{para_id}", json={"content": "Sun."})
    expect(page.get_by_text("Sun.")).to_be_visible()


def test_a_key_that_may_only_read_changes_nothing(make_person: MakePerson, garden: str) -> None:
    page = make_person(scopes=["brain:read"]).open(f"knowledge/entity/{garden}")
    expect(rows(page, "Links").first).to_be_visible()
    for name in ("Edit", "Delete", "Link"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")], ids=["phone", "desktop"])
def test_screen_readers_find_everything(
    make_person: MakePerson, garden: str, size: dict[str, object], scheme: str
) -> None:
    person = make_person(size, color_scheme=scheme, bypass_csp=True)
    for place, ready in (
        ("", "Book 00"),
        (f"/entity/{garden}", "Samira Haddad"),
        (f"/entity/{garden}/around", "Samira Haddad"),
        (f"/entity/{garden}/edit", "Cancel"),
        ("/types", "project"),
        ("/types/project", "Cancel"),
    ):
        page = person.open(f"knowledge{place}")
        page.get_by_role("link", name=ready).first.wait_for()
        assert violations(page) == [], place


def test_by_keyboard_alone(make_person: MakePerson, garden: str) -> None:
    page = make_person().open(f"knowledge/entity/{garden}")
    page.get_by_role("button", name="Add a link", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("searchbox", name="Link with")).to_be_focused()
    page.keyboard.type("tides")
    expect(page.get_by_role("dialog").get_by_role("button", name=re.compile("^Tides"))).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Remove the link with Tides")).to_be_visible()


def test_a_day_of_the_journal_asks_once_for_each_of_its_subjects(person: Person, computer: Computer) -> None:
    furnishing.add_entity(computer, "person", "Quirin Moos")
    for words in ("Quirin Moos came.", "Quirin Moos left."):
        entry = furnishing.add_entry(computer, words, 70)
        link = partial(furnishing.call, computer, "POST", f"/api/daily/entries/{quote(entry['id'])}/links")
        wait_until(partial(_is_linked, link), "Brain knows them, and the entry mentions them")
    asked = list[str]()
    person.page.on("request", lambda request: asked.append(request.url))
    page = person.open(f"journal/{furnishing.day(70)}")
    expect(page.get_by_role("article").get_by_role("link", name="Quirin Moos")).to_have_count(2)
    assert len([url for url in asked if "/entities/by_id" in url]) == 1


def _is_linked(link: Callable[[], Any]) -> bool:
    return bool(link()["linked"])
