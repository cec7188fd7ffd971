"""Text of others stays text, wherever it is shown, and very much of it leaves the page usable."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import PHONE
from tests.modules.registry.building import write_module
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long
WHOLE = True

EVIL = "<img src=x onerror=alert(1)><b>bold</b>"
TURNED = "\u202egnp.exe"
COLOURED = "\x1b[31mred\x1b[0m"
RULES = "![a](http://192.0.2.1/x.png) [go](javascript:alert(1)) <iframe src=http://192.0.2.1></iframe> [d](data:text/html,x)"
MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    """Names and texts that want to be more."""
    made = Household(computer, model)
    made.ask("POST", "/api/workspaces", {"name": EVIL, "description": f"{TURNED} {RULES}"})
    made.ask("POST", "/api/auth/keys", {"label": EVIL})
    made.ask("POST", "/api/agents", {"name": "evil", "description": TURNED, "prompt": f"{EVIL} {RULES}"})
    made.ask("POST", "/api/skills", {"name": "evil", "description": TURNED, "content": f"{EVIL} {RULES}"})
    command = {"command": f"printf '{EVIL}'; printf '\\033[31mred\\033[0m'", "description": EVIL}
    made.session = made.say(f"{EVIL} {TURNED}", tool_use("Bash", command), text(f"{RULES} {COLOURED} {TURNED}"))
    write_module(computer.folder / "sources" / "evil", "evil", more=f'author: "{EVIL}"\n')
    return made


def assert_only_text(page: object) -> None:
    """Nothing of it has become an element, and nothing was loaded from elsewhere."""
    evaluate = page.evaluate  # type: ignore[attr-defined]
    assert (
        evaluate("document.querySelectorAll('main img, main b, main iframe, main script, dialog img, dialog b').length")
        == 0
    )
    assert evaluate("[...document.links].filter((a) => /^(javascript|data):/i.test(a.href)).length") == 0


def test_names_and_texts_stay_what_they_are(make_person: MakePerson, house: Household) -> None:
    person = make_person()
    heard: list[str] = []
    person.page.on("request", lambda request: heard.append(request.url))
    person.page.on("dialog", lambda _: heard.append("a dialog of the browser"))
    for place in ("workspaces", "keys", "capabilities/agents", "capabilities/skills", "activity"):
        page = person.open(place)
        expect(page.locator("main .loading")).to_have_count(0)
        if place != "activity":
            expect(page.get_by_text(EVIL if place in ("workspaces", "keys") else TURNED).first).to_be_visible()
        assert_only_text(page)
    page.goto(f"{house.computer.url}/#/capabilities/agents")
    page.get_by_role("button", name="evil", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text(f"{EVIL} {RULES}")).to_be_visible()
    assert_only_text(page)
    page.goto(f"{house.computer.url}/#/chat/{house.session}")
    log = page.get_by_role("log")
    expect(log.get_by_text("red").first).to_be_visible()
    log.locator("summary").first.click()
    expect(log.locator(".text-block").last).to_be_visible()
    assert_only_text(page)
    assert [url for url in heard if not url.startswith((house.computer.url, "data:", "blob:"))] == []


def test_a_module_that_lies_about_itself_is_shown_as_it_is(make_person: MakePerson, house: Household) -> None:
    page = make_person(PHONE).open("modules")
    page.get_by_role("button", name="Install a module").click()
    form = page.get_by_role("dialog", name="Install a module")
    form.get_by_label("Where is it?").fill(str(house.computer.folder / "sources" / "evil"))
    form.get_by_role("button", name="Fetch and review").click()
    expect(form.get_by_text(EVIL).first).to_be_visible()
    assert_only_text(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_ten_megabytes_in_an_answer_leave_the_page_usable(
    make_person: MakePerson, house: Household, model: MessagesAPI
) -> None:
    page = make_person().open("chat")
    model.script(text("word " * (2 * MEBIBYTE), chunks=40))
    page.get_by_label("Message", exact=True).fill("A very long answer.")
    page.get_by_role("button", name="Send").click()
    field = page.get_by_label("Message", exact=True)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    field.fill("Still here.")
    expect(field).to_have_value("Still here.")
    page.get_by_role("navigation", name="Screens").get_by_role("link", name="Costs").click()
    expect(page.get_by_role("heading", name="Costs", level=1)).to_be_visible()
