"""A new computer is set up in a browser, from the key on its screen to the key of the app."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.computer import PLAIN, Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long

MODULES = ("Brain", "Chat", "Daily")


@pytest.fixture(scope="module")
def model() -> Iterator[MessagesAPI]:
    """A server of the household that speaks the Messages API."""
    with MessagesAPI() as service:
        service.default(text("Hello."))
        yield service


@pytest.fixture
def computer() -> Iterator[Computer]:
    """A new computer."""
    with Computer() as running:
        yield running


def invitation(computer: Computer, *options: str) -> dict[str, str]:
    """What `parachute first-boot` says."""
    done = subprocess.run(
        [sys.executable, "-m", "parachute.cli", "first-boot", "--json", *options],
        env={"PARACHUTE_HOME": str(computer.home.root), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    shown: dict[str, str] = json.loads(done.stdout)
    return shown


def test_from_the_code_on_the_screen_to_the_key_of_the_app(
    computer: Computer, page: Page, problems: list[str], model: MessagesAPI
) -> None:
    shown = invitation(computer)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.url} {request.headers}"))
    page.goto(shown["link"])
    expect(page.get_by_role("heading", name="1. This computer")).to_be_focused()
    assert page.url == f"{computer.url}/setup", "the key is out of the address bar"
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    expect(page.locator("#vault")).to_have_text(str(computer.vault))
    finish = page.get_by_role("button", name="Finish")
    expect(finish).to_be_disabled()

    page.get_by_label("A server of mine").check()
    page.get_by_label("Address of the server").fill(model.url)
    page.get_by_label("API key or token").fill("sk-of-the-household")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#model-said")).to_contain_text("Saved, ")
    expect(page.locator("#provider")).to_contain_text("A server of mine (Ollama, LM Studio, vLLM, llama.cpp), because")
    expect(page.get_by_label("API key or token")).to_have_value("")
    stored = {"api_key": "sk-of-the-household", "for": model.url}
    assert json.loads(computer.home.credentials.read_text()) == stored

    for name in MODULES:
        page.get_by_text(f"What {name} may do").click()
    expect(page.get_by_text("Read and write: Daily/**")).to_be_visible()
    expect(page.get_by_text("Your journal, in plain files that you own").first).to_be_visible()
    page.get_by_label("Chat: ").uncheck()
    page.get_by_role("button", name="Agree and install").click()
    expect(page.locator("#modules-said")).to_have_text("Installed: Brain, Daily.", timeout=60_000)
    page.get_by_label("Chat: ").check()
    page.get_by_role("button", name="Agree and install").click()
    expect(page.locator("#modules-said")).to_have_text("Installed: Chat.", timeout=60_000)
    for name in MODULES:
        expect(page.get_by_label(f"{name}: installed")).to_be_visible()
    expect(page.get_by_role("button", name="Agree and install")).to_be_disabled()

    page.get_by_label("What the key is for").fill("Ottilie's phone")
    page.get_by_role("button", name="Make a key").click()
    field = page.get_by_label("Key", exact=True).last
    expect(field).to_have_value(re.compile("para_.{43}"))
    app_key = field.input_value()
    expect(page.get_by_label("Server", exact=True)).to_have_value(computer.url)
    expect(page.get_by_role("button", name="Make a key")).to_be_hidden()
    finish.click()
    expect(page.get_by_text("You can close this page.")).to_be_visible()

    secrets = (shown["key"], app_key, "sk-of-the-household")
    assert not [line for line in asked if any(secret in line.partition(" ")[0] for secret in secrets)]
    assert not problems
    with httpx2.Client(base_url=computer.url, **PLAIN, timeout=60) as client:
        assert client.get("/api/auth/keys", headers={"authorization": f"Bearer {shown['key']}"}).status_code == 401
        keys = client.get("/api/auth/keys", headers={"authorization": f"Bearer {app_key}"}).json()["keys"]
        assert [key["label"] for key in keys] == ["Ottilie's phone"]
    assert page.goto(f"{computer.url}/setup").status == 410  # type: ignore[union-attr]
    expect(page.get_by_role("heading")).to_have_text("Parachute is set up")
    kept = "".join(
        path.read_text(errors="replace")
        for folder in (computer.home.logs, computer.vault / ".parachute" / "audit")
        for path in folder.rglob("*")
        if path.is_file()
    )
    assert not [secret for secret in secrets if secret in kept]


def test_a_key_that_is_typed_and_wrong_choices(computer: Computer, page: Page) -> None:
    page.goto(f"{computer.url}/setup")
    page.get_by_label("The key that the computer shows").fill("para_wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#entry-said")).to_contain_text("not valid")
    expect(page.get_by_role("heading", name="2. Model")).to_be_hidden()
    key = invitation(computer)["key"]
    page.get_by_label("The key that the computer shows").fill(f" {key[:24]}\t {key[24:]} ")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="2. Model")).to_be_visible()
    page.get_by_label("Claude, by Anthropic").check()
    page.get_by_label("API key or token").fill("not-of-anthropic")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#model-said")).to_contain_text("begin with sk-ant-")
    assert not computer.home.credentials.exists()
    page.get_by_label("A small model on this computer").check()
    expect(page.get_by_label("API key or token")).to_be_hidden()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#model-said")).to_have_text("Saved.")


def test_nothing_can_be_agreed_to_before_it_is_shown(computer: Computer, page: Page) -> None:
    """U1: the list of modules is slow; the button was enabled meanwhile, and said that all were installed."""
    listing = threading.Event()

    def hold(route: Route) -> None:
        if listing.is_set():
            route.continue_()
        else:
            waiting.append(route)

    waiting: list[Route] = []
    page.route("**/api/modules/official", hold)
    with page.expect_request("**/api/modules/official"):
        page.goto(invitation(computer)["link"])
    button = page.get_by_role("button", name="Agree and install")
    expect(button).to_be_visible()
    expect(button).to_be_disabled()
    page.locator("#modules-form").evaluate("form => form.requestSubmit()")
    expect(page.locator("#modules-said")).to_have_text("")
    listing.set()
    for route in waiting:
        route.continue_()
    expect(button).to_be_enabled()


def test_the_choice_in_force_is_the_one_that_is_marked(computer: Computer, page: Page) -> None:
    page.goto(invitation(computer)["link"])
    expect(page.get_by_label("A small model on this computer")).to_be_checked()
    page.get_by_label("A server of mine").check()
    page.get_by_label("Address of the server").fill("http://127.0.0.1:9")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#model-said")).to_have_text(
        "Saved, but the test failed: http://127.0.0.1:9 does not answer: nothing listens at this address."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_small_phone_and_can_be_read(computer: Computer, browser: Browser, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto(invitation(computer)["link"])
        expect(page.get_by_role("heading", name="1. This computer")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        unnamed = (
            "[...document.querySelectorAll('input, button')].filter(e => !e.labels?.length && !e.textContent.trim())"
        )
        assert page.evaluate(f"{unnamed}.length") == 0
        colours = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert _contrast(*colours) > 7
    finally:
        context.close()


def _contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2 between two colours as a browser writes them, `rgb(1, 2, 3)`."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
