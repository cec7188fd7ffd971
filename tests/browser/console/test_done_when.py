"""From the address that a fresh computer prints to a household that uses it, and to a second one that takes over: by screens alone."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.console.furnished_parts import FETCH
from tests.browser.console.people import DESKTOP, MINUTES, PHONE, WITH_WORKER, Person
from tests.capabilities.plugins.building import repository
from tests.capabilities.plugins.git_server import GitServer, git_server
from tests.modules.registry.building import Repository, write_module
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.noon import around_noon

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("restic") is None, reason="needs restic: `make test-deps` installs it"),
]

NAMES = ("Brain", "Chat", "Daily", "Imports")


@pytest.fixture
def fresh() -> Iterator[Callable[[], Computer]]:
    """Computers that nobody has seen yet."""
    made: list[Computer] = []

    def make() -> Computer:
        computer = Computer(environment={"TZ": around_noon()})
        made.append(computer)
        return computer.__enter__()

    yield make
    for computer in made:
        computer.__exit__(None, None, None)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[GitServer]:
    """A place on the network from which others hand out what they have made."""
    with git_server(tmp_path / "elsewhere") as running:
        yield running


def printed_address(computer: Computer) -> str:
    """The address that `parachute pair` prints, as `parachute start` does at a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "parachute.cli", "pair", "--json"],
        env={"PARACHUTE_HOME": str(computer.home.root), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return str(json.loads(done.stdout)["url"])


@pytest.mark.computer
def test_a_fresh_computer_is_everyones_and_lives_on_in_another(
    fresh: Callable[[], Computer], browser: Browser, model: MessagesAPI, elsewhere: GitServer, tmp_path: Path
) -> None:
    model.default(text("Good morning, household."))
    (tmp_path / "usb").mkdir()
    computer = fresh()
    owner = Person(browser, computer, PHONE, **WITH_WORKER)
    page = owner.page
    page.goto(printed_address(computer))
    choose_the_offline_model(page)
    install_the_modules(page)
    key, second = bring_the_family_in(page, computer, browser)
    password = make_a_place_for_backups(page, tmp_path / "usb" / "backups")
    page.get_by_role("button", name="Finish").click()

    # The small model of this computer answers, and then another one, which uses tools.
    say(page, "Good morning!")
    expect(answers(page).first).not_to_be_empty()
    choose_a_server(owner.open("computer/model"), model)
    owner.open("chat")
    model.script(tool_use("Bash", FETCH), text("I have asked for the weather."))
    say(page, "What will the weather be?")
    expect(page.get_by_role("log").get_by_text("I have asked for the weather.")).to_be_visible()
    allow_the_host(owner)
    know_somebody(owner)
    approve_and_undo(owner)
    install_what_others_made(owner, elsewhere, tmp_path)

    owner.open("computer/backups")
    last = page.locator(".facts > div", has_text="Last backup")
    # The first one was made by itself, when its place was named.
    first = last.locator("time").get_attribute("datetime") or ""
    page.get_by_role("button", name="Back up now").click()
    expect(last.locator("time")).not_to_have_attribute("datetime", first, timeout=MINUTES)
    expect(last.get_by_text("Complete")).to_be_visible()

    stop_and_resume(owner, second)
    assert (owner.problems, second.problems) == ([], [])
    owner.context.close()
    second.context.close()

    # The house is gone: what is left is the disk, and the word on the sheet of paper.
    computer.stop()
    another = fresh()
    heir = Person(browser, another, PHONE, **WITH_WORKER)
    take_over(heir, printed_address(another), tmp_path / "usb" / "backups", password)
    page = heir.open("journal")
    expect(page.get_by_role("article").filter(has_text="Kevin married in May.")).to_be_visible()
    heir.open("modules")
    expect(page.get_by_role("link", name=re.compile("Garden", re.IGNORECASE))).to_be_visible()
    heir.open("keys")
    for name in ("Kitchen tablet", "Desk"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    assert family_reads(another, key) == (200, 403)
    heir.open("chat")
    model.default(text("Still the same household."))
    say(page, "Are you still there?")
    expect(page.get_by_role("log").get_by_text("Still the same household.")).to_be_visible()
    desk = Person(browser, another, DESKTOP, **WITH_WORKER)
    desk.page.goto(pairing_of(heir, "Desk of the new house"))
    expect(desk.page.get_by_role("heading", level=1)).to_be_visible()
    heir.open("chat")
    stop_and_resume(heir, desk)
    desk.context.close()
    heir.context.close()


def choose_the_offline_model(page: Page) -> None:
    """The one that comes along answers, slowly and by itself."""
    page.get_by_label("Where the model runs").select_option("offline")
    page.get_by_role("button", name="Save and test").click()
    # It leads on by itself.
    expect(page.get_by_role("status").get_by_text("It works.")).to_be_visible(timeout=240_000)


def install_the_modules(page: Page) -> None:
    page.get_by_role("button", name="Agree and install all 4").click()
    expect(page.get_by_role("heading", level=1, name="Connect your phone")).to_be_focused()
    steps = page.get_by_role("navigation", name="Steps")
    steps.get_by_role("link", name="Modules").click()
    expect(page.get_by_text("installed", exact=True)).to_have_count(len(NAMES))
    for name in NAMES:
        expect(page.get_by_role("main").get_by_text(name, exact=True)).to_be_visible()
    steps.get_by_role("link", name="Phone").click()


_CODE = """async () => (await (await fetch("/api/pairing/codes", {
  method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({name: "Desk"}),
})).json()).code"""


def bring_the_family_in(page: Page, computer: Computer, browser: Browser) -> tuple[str, Person]:
    """A key for the family, and a second browser."""
    page.get_by_text("The Parachute app, or a program, instead").click()
    page.get_by_label("Rights").select_option("family")
    page.get_by_label("Name", exact=True).fill("Kitchen tablet")
    page.get_by_role("button", name="Create a key").click()
    key = page.get_by_text(re.compile(r"^para_.{43}$")).inner_text()
    page.get_by_role("button", name="Done").click()
    assert family_reads(computer, key) == (200, 403)
    # The computer listens to itself alone, so its step of the phone shows no code.
    code = page.evaluate(_CODE)
    second = Person(browser, computer, DESKTOP, **WITH_WORKER)
    second.page.goto(computer.url)
    second.page.get_by_label("Code or key").fill(code)
    second.page.keyboard.press("Enter")
    expect(second.page.get_by_role("heading", level=1)).to_be_visible()
    # No device but this one can reach it, so the step is not done.
    page.get_by_role("link", name="Skip", exact=True).click()
    return key, second


def family_reads(computer: Computer, key: str) -> tuple[int, int]:
    """The journal and the conversations as the key of the family reads them."""
    with httpx2.Client(
        base_url=computer.url, **PLAIN, timeout=60, headers={"authorization": f"Bearer {key}"}
    ) as tablet:
        return tablet.get("/api/daily/entries").status_code, tablet.get("/api/chat").status_code


def make_a_place_for_backups(page: Page, place: Path) -> str:
    """The password, as it stands on the screen to be written down."""
    page.get_by_label("Where backups go").fill(str(place))
    page.get_by_role("button", name="Create").click()
    sheet = page.get_by_role("article", name="Emergency kit")
    password = sheet.locator("dl > div", has=page.get_by_text("Password", exact=True)).locator("dd").last.inner_text()
    page.get_by_role("button", name="I have it on paper").click()
    page.get_by_label("Password on the sheet").fill(password)
    page.get_by_role("button", name="Open the backups with it").click()
    expect(page.get_by_text("Your backups are protected")).to_be_visible()
    return password


def answers(page: Page) -> Locator:
    """The answers of the model."""
    return page.get_by_role("log").get_by_role("article", name="Agent")


def say(page: Page, words: str) -> None:
    page.get_by_label("Message", exact=True).fill(words)
    page.get_by_role("button", name="Send").click()


def choose_a_server(page: Page, model: MessagesAPI) -> None:
    page.get_by_label("Model runs at").select_option("compatible")
    page.get_by_label("Address").fill(model.url)
    page.get_by_label("Model", exact=True).fill("household-1")
    page.get_by_role("button", name="Use this").click()
    expect(page.get_by_text("From now on: A compatible server.")).to_be_visible()


def allow_the_host(owner: Person) -> None:
    page = owner.open("inbox")
    shown = page.get_by_role("article", name="wants to reach weather.example.org.")
    shown.get_by_role("button", name="Always").click()
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()


def know_somebody(owner: Person) -> None:
    page = owner.open("knowledge/new?type=person")
    page.get_by_label("Name", exact=True).fill("Kevin")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Kevin", level=1)).to_be_visible()


def approve_and_undo(owner: Person) -> None:
    """The journal proposes what an entry says about somebody."""
    page = owner.open("journal")
    page.get_by_label("New entry").fill("Kevin married in May.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("New entry")).to_have_value("")
    owner.open("suggestions")
    shown = page.get_by_role("article", name="Update: Kevin")
    shown.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Update: Kevin: approved.")).to_be_visible()
    page.get_by_role("button", name="Decided").click()
    page.get_by_role("listitem").filter(has_text="Update: Kevin").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("undone; it waits for your decision again")).to_be_visible()


def install_what_others_made(owner: Person, elsewhere: GitServer, folder: Path) -> None:
    """A module and a plugin, each of a git repository."""
    garden = Repository(folder / "garden")
    write_module(garden.folder, "garden")
    garden.commit()
    page = owner.open("modules")
    page.get_by_role("button", name="Install a module").click()
    form = page.get_by_role("dialog", name="Install a module")
    form.get_by_label("Where is it?").fill(elsewhere.publish(garden))
    form.get_by_role("button", name="Fetch and review").click()
    expect(form.get_by_text("It asks for")).to_be_visible()
    form.get_by_role("button", name="Install and approve").click()
    expect(form).to_have_count(0)
    owner.open("capabilities")
    page.get_by_role("button", name="Install a plugin").click()
    form = page.get_by_role("dialog", name="Install a plugin")
    form.get_by_label("Address").fill(elsewhere.publish(repository(folder / "sailing")))
    form.get_by_role("button", name="Install").click()
    expect(form).to_have_count(0)
    page.get_by_role("button", name="demo", exact=True).click()
    shown = page.get_by_role("dialog", name="demo")
    shown.get_by_role("button", name="Approve").click()
    expect(shown.get_by_role("button", name="Approve")).to_have_count(0)
    page.keyboard.press("Escape")


def stop_and_resume(owner: Person, second: Person) -> None:
    """One stops everything, the other one lets it work again."""
    page, other = owner.page, second.page
    page.get_by_role("button", name=re.compile("^Stop (everything|all)$")).locator("visible=true").first.click(
        delay=1500
    )
    expect(page.get_by_role("alert").get_by_text("Everything is stopped")).to_be_visible()
    expect(other.get_by_role("alert").get_by_text("Everything is stopped")).to_be_visible()
    other.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("alert").get_by_text("Everything is stopped")).to_be_hidden()


def take_over(heir: Person, address: str, place: Path, password: str) -> None:
    """Restore, from the address that the new computer prints to one that is as the old one was."""
    page = heir.page
    page.goto(address)
    page.get_by_role("link", name="Restore from a backup").click()
    page.get_by_label("Where the backups are").fill(str(place))
    page.get_by_label("Password of the backups").fill(password.swapcase())
    page.get_by_role("button", name="Show the backups").click()
    expect(page.get_by_role("alert")).to_contain_text("This password does not open the backups in")
    page.get_by_label("Password of the backups").fill(password)
    page.get_by_role("button", name="Show the backups").click()
    page.get_by_role("listitem").get_by_role("button", name="Restore").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Everything is back")).to_be_visible(timeout=MINUTES)
    page.get_by_role("link", name="Continue", exact=True).click()
    expect(page).to_have_url(re.compile(r"/#/inbox$"))


def pairing_of(owner: Person, name: str) -> str:
    """The address by which another browser gets in, as the screen shows it."""
    page = owner.open("keys")
    page.get_by_role("button", name="Add a device").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Show a code").click()
    return page.get_by_text(re.compile(r"#pair=")).first.inner_text()
