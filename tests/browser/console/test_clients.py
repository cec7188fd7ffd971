"""An assistant elsewhere comes in over the owner's screen, is looked at, and ends."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.console.people import PHONE, Person
from tests.browser.console.proposals import install_official
from tests.support.computer import Computer
from tests.support.mcp_client import RETURN, BareClient

pytestmark = [pytest.mark.long, pytest.mark.computer]

BOXES = "main input[type=checkbox]"


def test_nothing_is_chosen_at_first_and_one_button_ends_it(browser: Browser, computer: Computer) -> None:
    install_official(computer, "daily")
    bare = BareClient(computer)
    bare.register(client_name="<b>Claude</b>")
    person = Person(browser, computer, PHONE)
    page = person.sign_in()
    returned: list[str] = []

    def come_back(route: Route) -> None:
        returned.append(route.request.url)
        route.fulfill(body="back")

    page.route(f"{RETURN}*", come_back)
    page.goto(f"{computer.url}{bare.asking()}")
    expect(page.get_by_text("<b>Claude</b>")).to_be_visible()
    expect(page.get_by_text("127.0.0.1:8765")).to_be_visible()
    expect(page.locator(BOXES).first).to_be_visible()
    assert not [box for box in page.locator(BOXES).all() if box.is_checked()]
    agree = page.get_by_role("button", name="Let it in")
    expect(agree).to_be_disabled()
    page.get_by_label("Find journal entries by words").check()
    for box in page.get_by_label("Everything").all():
        box.check()
    page.get_by_label("Days of entries, conversations and files").select_option("year")
    agree.click()
    page.wait_for_url(f"{RETURN}*")
    code = parse_qs(urlsplit(returned[0]).query)["code"][0]
    token = bare.redeem(code).json()["access_token"]
    assert [tool["name"] for tool in bare.message(token, "tools/list").json()["result"]["tools"]] == ["daily-search"]
    assert bare.call(token, "daily-search", query="boats")["isError"] is False
    person.open("clients")
    page.get_by_role("link", name="<b>Claude</b>").click()
    expect(page.get_by_text("daily-search").first).to_be_visible()
    page.get_by_role("button", name="End access").click()
    page.get_by_role("dialog").get_by_role("button", name="End access").click()
    expect(page).to_have_url(re.compile("#/clients$"))
    assert bare.message(token, "ping").status_code == 401
    assert person.problems == []
