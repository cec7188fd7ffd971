"""A phone in one tap: the button, the restart that the page waits for, the picture, and the phone that is in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import launch
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE, computer_with
from tests.support.computer import Computer
from tests.support.home_network import Device, other_device
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long


@pytest.fixture
def device() -> Iterator[Device]:
    with other_device() as found:
        yield found


@pytest.fixture
def computer(model: MessagesAPI) -> Iterator[Computer]:
    """A computer for each test, which listens to itself alone at first."""
    with computer_with(model) as running:
        yield running


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_one_button_connects_a_phone(
    make_person: MakePerson,
    browser: Browser,
    computer: Computer,
    device: Device,
    size: dict[str, object],
    tmp_path: Path,
) -> None:
    person = make_person(size, bypass_csp=True)
    page = person.open("keys")
    page.get_by_role("button", name="Connect a phone").click()
    expect(page.get_by_text("The computer restarts.")).to_be_visible()
    # It goes on by itself, signed in and confirmed.
    expect(page.get_by_text("Scan this with the camera")).to_be_visible()
    if page.get_by_label("Network of the phone").count():
        page.get_by_label("Network of the phone").select_option(device.machine)
    link = page.locator("code", has_text=f"http://{device.machine}:{computer.port}/#pair=").inner_text()
    expect(page.locator("svg.qr")).to_have_attribute("aria-label", link)
    person.forgive_refusals()
    assert violations(page) == []
    with launch(browser.browser_type, wrapped=lambda program: device.wrapped(program, tmp_path)) as phone:
        opened = phone.new_page(**PHONE)
        opened.goto(link)
        expect(opened.locator("nav.bar")).to_be_visible()
        page.get_by_label("Name of this device").fill("Ada's phone")
        page.get_by_role("button", name="Save the name").click()
        row = page.get_by_role("listitem").filter(has_text="Ada's phone")
        expect(row).to_contain_text(device.address)
        assert violations(page) == []
        page.get_by_role("button", name="Let no device in any more").click()
        page.get_by_role("dialog").get_by_role("button", name="Let no device in any more").click()
        expect(page.get_by_text("Other devices cannot reach this computer any more.")).to_be_visible()
        expect(row).to_have_count(0)
    person.forgive_refusals()
