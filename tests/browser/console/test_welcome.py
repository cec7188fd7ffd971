"""A new computer is set up in a browser: from the key on its screen to the first conversation, at both sizes and by keyboard."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.people import DESKTOP, PHONE, Person, pairing_link
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import SIGNED_OUT, Make
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long

SECRET = "sk-of-the-household"


@pytest.fixture
def fresh(make_computer: Make[Computer]) -> Computer:
    """A new computer."""
    return make_computer(environment=SIGNED_OUT)


@pytest.fixture
def phone(browser: Browser, fresh: Computer) -> Iterator[Person]:
    """A phone that has seen nothing of it yet."""
    person = Person(browser, fresh, PHONE, bypass_csp=True)
    yield person
    person.context.close()


def invitation(computer: Computer) -> dict[str, str]:
    """The output of `parachute first-boot`."""
    done = subprocess.run(
        [sys.executable, "-m", "parachute.cli", "first-boot", "--json"],
        env={"PARACHUTE_HOME": str(computer.home.root), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    shown: dict[str, str] = json.loads(done.stdout)
    return shown


def choose_server(page: Page, model: MessagesAPI) -> None:
    """Connect the model of the household."""
    page.get_by_label("Where the model runs").select_option("compatible")
    page.get_by_label("Address of the server").fill(model.url)
    page.get_by_label("Model", exact=True).fill("household-1")
    page.get_by_label("API key or token").fill(SECRET)
    page.get_by_role("button", name="Save and test").click()


def step(page: Page, name: str) -> None:
    """See that this step is shown."""
    expect(page.get_by_role("heading", level=1, name=name)).to_be_focused()


def test_from_the_code_on_the_screen_to_the_first_conversation(
    fresh: Computer, phone: Person, model: MessagesAPI, tmp_path: Path
) -> None:
    model.default(text("Hello from the household."))
    shown = invitation(fresh)
    page = phone.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(shown["link"])
    step(page, "Welcome")
    assert page.url == f"{fresh.url}/#/welcome", "the key is out of the address bar"
    assert shown["key"] not in page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    )
    expect(page.get_by_text(str(fresh.vault))).to_be_visible()
    assert violations(page) == []

    page.get_by_role("link", name="Restore from a backup").click()
    step(page, "Restore from a backup")
    expect(page.get_by_label("Where the backups are")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Set up a new computer instead").click()

    step(page, "Which model answers?")
    choose_server(page, model)
    # What is done leads on by itself.
    step(page, "What should it do?")
    expect(page.get_by_role("status").get_by_text("Hello from the household.")).to_be_visible()
    stored = {"api_key": SECRET, "for": model.url}
    assert json.loads(fresh.home.credentials.read_text()) == stored
    assert violations(page) == []
    page.get_by_text("What Daily may do").click()
    expect(page.get_by_text("Read and write: Daily/**")).to_be_visible()
    page.get_by_role("switch", name="Chat").uncheck()
    page.get_by_role("button", name="Agree and install all 3").click()
    step(page, "Connect your phone")
    page.get_by_role("navigation", name="Steps").get_by_role("link", name="Modules").click()
    expect(page.get_by_text("installed", exact=True)).to_have_count(3)
    assert violations(page) == []
    page.get_by_role("button", name="Agree and install it").click()
    step(page, "Connect your phone")
    expect(page.get_by_role("button", name="Connect a phone")).to_be_visible()
    page.get_by_text("The Parachute app, or a program, instead").click()
    page.get_by_label("Name").fill("Ottilie's phone")
    page.get_by_role("button", name="Create a key").click()
    key = page.get_by_text(re.compile(r"^para_.{43}$")).inner_text()
    assert violations(page) == []
    page.get_by_role("button", name="Done").click()
    # A key that nobody has used yet is no phone.
    page.get_by_role("link", name="Skip", exact=True).click()

    step(page, "Keep a copy elsewhere")
    place = page.get_by_label("Where backups go")
    place.fill(str(fresh.vault / "backups"))
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("which it is meant to back up")).to_be_visible()
    place.fill(str(tmp_path / "backups"))
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("article", name="Emergency kit")).to_be_visible()
    password = (fresh.home.root / "backup" / "password").read_text().strip()
    expect(page.get_by_role("article", name="Emergency kit")).to_contain_text(password)
    assert violations(page) == []
    page.get_by_role("button", name="I have it on paper").click()
    expect(page.get_by_role("main")).not_to_contain_text(password)
    page.get_by_label("Password on the sheet").fill(password)
    page.get_by_role("button", name="Open the backups with it").click()
    expect(page.get_by_text("Your backups are protected")).to_be_visible()
    expect(page.get_by_text("The backup is complete.")).to_be_visible()
    expect(page.get_by_role("navigation", name="Steps").get_by_text("done", exact=True)).to_have_count(3)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()

    # Afterwards it is closed, the browser stays, and nothing of it is shown by itself any more.
    page.goto(f"{fresh.url}/setup")
    expect(page).to_have_url(re.compile(r"/#/inbox$"))
    page.goto(shown["link"])
    expect(page.get_by_text("This code or key is wrong or has expired")).to_be_visible()
    # The browser itself notes what was refused.
    assert [problem for problem in phone.problems if "Failed to load resource" not in problem] == []
    secrets = (shown["key"], key, SECRET, password)
    assert not [url for url in asked if any(secret in url for secret in secrets)]
    with httpx2.Client(base_url=fresh.url, **PLAIN, timeout=60) as client:
        assert client.get("/api/auth/keys", headers={"authorization": f"Bearer {shown['key']}"}).status_code == 401
        keys = client.get("/api/auth/keys", headers={"authorization": f"Bearer {key}"}).json()["keys"]
        assert [each["label"] for each in keys] == ["Ottilie's phone"]
    kept = "".join(
        path.read_text(errors="replace")
        for folder in (fresh.home.logs, fresh.vault / ".parachute" / "audit")
        for path in folder.rglob("*")
        if path.is_file()
    )
    assert not [secret for secret in secrets if secret in kept]


def test_what_is_skipped_is_over_and_a_key_may_be_typed(fresh: Computer, browser: Browser, phone: Person) -> None:
    page = phone.page
    page.goto(f"{fresh.url}/setup#key=para_wrong")
    expect(page.get_by_text("This code or key is wrong or has expired")).to_be_visible()
    expect(page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
    assert "para_wrong" not in page.url
    for hidden in ("Parachute", str(fresh.vault)):
        assert hidden not in page.get_by_role("main").inner_text(), "a stranger learns nothing of it"
    key = invitation(fresh)["key"]
    page.get_by_label("Code or key").fill(f" {key[:24]}\t {key[24:]} ")
    page.keyboard.press("Enter")
    step(page, "Welcome")
    # Another screen is there all the same, and an own address is no reason to begin anew.
    page.goto(f"{fresh.url}/#/keys")
    step(page, "Keys and devices")
    page.goto(f"{fresh.url}/#/")
    step(page, "Welcome")
    page.reload()
    step(page, "Welcome")
    page.get_by_role("button", name="Skip setup").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    another = Person(browser, fresh, DESKTOP)
    another.page.goto(pairing_link(fresh))
    expect(another.page).to_have_url(re.compile(r"/#/inbox$"))
    another.context.close()


def test_who_may_only_chat_is_not_led_through_it(fresh: Computer, browser: Browser) -> None:
    guest = Person(browser, fresh, PHONE)
    page = guest.sign_in(scopes=["chat:read,write"])
    expect(page).to_have_url(re.compile(r"/#/chat$"))
    page.goto(f"{fresh.url}/#/welcome")
    expect(page).to_have_url(re.compile(r"/#/chat$"))
    guest.context.close()


def test_by_keyboard_and_what_goes_wrong_is_said(fresh: Computer, browser: Browser) -> None:
    person = Person(browser, fresh, DESKTOP)
    page = person.page
    page.goto(invitation(fresh)["link"])
    step(page, "Welcome")
    expect(page.get_by_label("Where the model runs")).to_have_value("offline")
    page.get_by_label("Where the model runs").select_option("anthropic")
    page.get_by_label("API key or token").fill("not-of-anthropic")
    page.keyboard.press("Enter")
    expect(page.get_by_text("begin with sk-ant-")).to_be_visible()
    assert not fresh.home.credentials.exists()
    page.get_by_label("Where the model runs").select_option("compatible")
    page.get_by_label("Address of the server").fill("http://127.0.0.1:9")
    page.get_by_label("API key or token").fill("")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved, but the model does not answer:")).to_be_visible()
    page.get_by_role("link", name="Skip", exact=True).or_(page.get_by_role("link", name="Next", exact=True)).press(
        "Enter"
    )
    step(page, "What should it do?")
    page.go_back()
    step(page, "Welcome")
    person.context.close()


def test_nothing_can_be_agreed_to_before_it_is_shown(fresh: Computer, phone: Person) -> None:
    """U1: the list of modules is slow; the button was enabled meanwhile, and said that all were installed."""
    page = phone.page
    held: list[Route] = []
    is_there = threading.Event()
    page.route("**/api/modules/official", lambda route: route.continue_() if is_there.is_set() else held.append(route))
    page.goto(invitation(fresh)["link"])
    step(page, "Welcome")
    with page.expect_request("**/api/modules/official"):
        page.goto(f"{fresh.url}/#/welcome/modules")
    step(page, "What should it do?")
    expect(page.get_by_role("button", name=re.compile("Agree"))).to_have_count(0)
    is_there.set()
    for route in held:
        route.continue_()
    expect(page.get_by_role("button", name="Agree and install all 4")).to_be_enabled()


def test_while_it_lasts_its_key_confirms_and_afterwards_somebody_has_to(
    fresh: Computer, phone: Person, model: MessagesAPI
) -> None:
    page = phone.page
    page.goto(invitation(fresh)["link"])
    step(page, "Welcome")
    # A restart forgets who has confirmed, as ten minutes do.
    fresh.kill_core()
    page.goto(f"{fresh.url}/#/welcome/model")
    choose_server(page, model)
    expect(page.get_by_text("It works.")).to_be_visible()
    page.goto(f"{fresh.url}/#/welcome/backup")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    fresh.kill_core()
    page.goto(f"{fresh.url}/#/welcome/model")
    choose_server(page, model)
    expect(page.get_by_role("dialog", name="Confirm that it is you")).to_be_visible()


@pytest.mark.computer
@pytest.mark.parametrize(
    ("size", "scheme"),
    [({"viewport": {"width": 320, "height": 640}}, "dark"), (DESKTOP, "light")],
    ids=["small", "desktop"],
)
def test_it_fits_and_can_be_read_in_german(
    furnished: Computer, browser: Browser, scheme: str, size: dict[str, Any]
) -> None:
    person = Person(browser, furnished, size, color_scheme=scheme, locale="de-DE", bypass_csp=True)
    page = person.sign_in()
    step(page, "Willkommen")
    for place in ("welcome", "welcome/model", "welcome/phone", "welcome/backup", "welcome/restore"):
        person.open(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["viewport"]["width"], place
        assert violations(page) == [], place
    assert person.problems == []
    person.context.close()


@pytest.fixture(scope="module")
def furnished(make_shared_computer: Make[Computer]) -> Computer:
    """A new computer that nobody sets up."""
    return make_shared_computer(environment=SIGNED_OUT)
