"""Bots: set up by somebody who has never made one, strangers who are let in or not, and what is forgotten again."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_bots import knock
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.connectors.bots.talking import Bot
from tests.support.computer import Computer
from tests.support.matrix_api import BOT as MATRIX_BOT
from tests.support.matrix_api import TOKEN as MATRIX_TOKEN
from tests.support.matrix_api import MatrixAPI
from tests.support.messages_api import MessagesAPI, text
from tests.support.telegram_api import TOKEN, TelegramApi

pytestmark = pytest.mark.long
WHOLE = True

HOSTILE = "<img src=x onerror=alert(1)> \u202etxt.exe"


@pytest.fixture(scope="module")
def shared(computer: Computer, model: MessagesAPI) -> Iterator[Bot]:
    """A computer without a bot, beside a messenger."""
    with TelegramApi() as telegram:
        made = Bot(computer, telegram, model)
        made.call("PUT", "/api/bots/config", {"telegram": {"server_url": telegram.url}})
        yield made


@pytest.fixture
def bot(shared: Bot) -> Iterator[Bot]:
    """The bot, which runs, and somebody whom it does not know."""
    if not shared.call("GET", "/api/bots/status")["connectors"]["telegram"]["enabled"]:
        shared.call("PUT", "/api/bots/telegram/token", {"token": TOKEN})
        shared.call("POST", "/api/bots/telegram/start")
    yield shared.anew()
    shared.forget_requests()


def card(page: Page, name: str = "Telegram") -> Locator:
    """Return the card of a messenger."""
    return page.get_by_role("article", name=name)


def rows(page: Page, heading: str) -> Locator:
    """The lines below a heading."""
    section = page.locator("section").filter(has=page.get_by_role("heading", name=heading, exact=True))
    return section.get_by_role("listitem")


def test_a_bot_is_set_up_started_stopped_and_removed(person: Person, shared: Bot) -> None:
    page = person.open("bots")
    expect(page.get_by_text("Your computer in a messenger")).to_be_visible()
    expect(card(page)).to_contain_text("Not set up")
    card(page).get_by_role("button", name="Set up Telegram").click()
    form = page.get_by_role("dialog", name="Set up Telegram")
    expect(form).to_contain_text("write to @BotFather")
    form.get_by_label("Token").fill("123456789:a-token-of-nobody")
    form.get_by_role("button", name="Save and test").click()
    expect(form.get_by_role("alert")).to_be_visible()
    expect(form.get_by_label("Token")).to_have_value("")
    form.get_by_label("Token").fill(TOKEN)
    form.get_by_role("button", name="Save and test").click()
    expect(form).to_contain_text("parachute_test_bot")
    form.get_by_role("button", name="Start the bot").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card(page).get_by_text("Connected", exact=True)).to_be_visible()
    page.reload()
    expect(card(page).get_by_text("parachute_test_bot")).to_be_visible()
    assert TOKEN not in page.content()
    card(page).get_by_role("button", name="Stop").click()
    expect(card(page).get_by_text("Stopped", exact=True)).to_be_visible()
    card(page).get_by_role("button", name="Test").click()
    expect(page.get_by_text(re.compile("Telegram knows the bot as .*parachute_test_bot"))).to_be_visible()
    card(page).get_by_role("button", name="Remove the token of Telegram").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(card(page)).to_contain_text("Not set up")
    assert TOKEN not in (shared.computer.home.root / "bot-tokens.json").read_text()
    person.forgive_refusals()


def test_matrix_is_set_up_with_the_address_of_its_home_server(make_person: MakePerson, shared: Bot) -> None:
    person = make_person(PHONE)
    with MatrixAPI() as matrix:
        page = person.open("bots")
        card(page, "Matrix").get_by_role("button", name="Set up Matrix").click()
        form = page.get_by_role("dialog", name="Set up Matrix")
        form.get_by_label("Address of its server").fill(matrix.url)
        form.get_by_label("Its user name").fill("@somebody:home.test")
        form.get_by_label("Token").fill(MATRIX_TOKEN)
        form.get_by_role("button", name="Save and test").click()
        expect(form.get_by_role("alert")).to_contain_text(f"The token is that of {MATRIX_BOT}")
        form.get_by_label("Its user name").fill(MATRIX_BOT)
        form.get_by_label("Token").fill(MATRIX_TOKEN)
        form.get_by_role("button", name="Save and test").click()
        expect(form).to_contain_text(f"The token belongs to {MATRIX_BOT}.")
        expect(form).to_contain_text("rooms without encryption only")
        form.get_by_role("button", name="Start the bot").click()
        expect(card(page, "Matrix").get_by_text("Connected", exact=True)).to_be_visible()
        room = matrix.direct(matrix.person("Kevin of Matrix"))
        row = rows(page, "Requests").filter(has_text="Kevin of Matrix")
        expect(row).to_contain_text("Matrix")
        shared.computer.wait_until(lambda: matrix.texts(room), "the code is told")
        card(page, "Matrix").get_by_role("button", name="This is me").click()
        expect(page.get_by_role("dialog", name="This is me").locator(".pairing-code")).to_contain_text("!owner ")
        page.keyboard.press("Escape")
        card(page, "Matrix").get_by_role("button", name="Settings of Matrix").click()
        form = page.get_by_role("dialog", name="Settings of Matrix")
        form.get_by_label("Rooms allowed without asking").fill("!abc:example.org")
        form.get_by_role("button", name="Save").click()
        expect(form).to_have_count(0)
        assert shared.call("GET", "/api/bots/config")["matrix"]["allowed_rooms"] == ["!abc:example.org"]
        shared.call("DELETE", "/api/bots/matrix/token")
    shared.forget_requests()
    person.forgive_refusals()


def test_a_stranger_is_let_in_talks_and_is_let_in_no_longer(person: Person, bot: Bot) -> None:
    name = f"Kevin {bot.person}"
    page = person.open("bots")
    expect(page.get_by_text("No requests.")).to_be_visible()
    request = knock(bot, bot.person, name)
    row = rows(page, "Requests").filter(has_text=name)
    expect(row).to_contain_text(request["code"])
    row.get_by_role("button", name="Allow").click()
    form = page.get_by_role("dialog", name="Allow this person?")
    expect(form.locator(".pairing-code")).to_have_text(request["code"])
    expect(form).to_contain_text(str(bot.person))
    form.get_by_label("What may they use?").select_option("Family")
    form.get_by_role("button", name="Allow").click()
    expect(form).to_have_count(0)
    bot.wait_text("write to me now")
    bot.model.script(text("The boat is in Kiel."))
    bot.write("Where is the boat?")
    bot.wait_text("The boat is in Kiel.")
    chat = rows(page, "Allowed chats").filter(has_text=name)
    expect(chat).to_contain_text("Family")
    chat.get_by_role("link", name=name).click()
    expect(page.get_by_role("log").get_by_text("The boat is in Kiel.")).to_be_visible()
    page.go_back()
    chat.get_by_role("button", name=f"Remove {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(chat).to_have_count(0)
    assert str(bot.person) not in [each["chat_id"] for each in bot.call("GET", "/api/bots/chats")["chats"]]


def test_refusing_and_a_group_that_is_answered(make_person: MakePerson, bot: Bot) -> None:
    page = make_person(PHONE).open("bots")
    knock(bot, bot.person, "A stranger")
    row = rows(page, "Requests").filter(has_text="A stranger")
    row.get_by_role("button", name="Refuse").click()
    expect(row).to_have_count(0)
    bot.wait_text("did not let you in")
    knock(bot, -bot.person, HOSTILE)
    row = rows(page, "Requests").filter(has_text="onerror")
    expect(row).to_contain_text("Group")
    assert page.locator("main img").count() == 0
    row.get_by_role("button", name="Allow").click()
    form = page.get_by_role("dialog", name="Allow this person?")
    form.get_by_label("When does it answer?").select_option("To every message")
    form.get_by_role("button", name="Allow").click()
    expect(rows(page, "Allowed chats").filter(has_text="onerror")).to_contain_text("Guest")
    session = bot.call("GET", "/api/bots/chats")["chats"][0]["session_id"]
    assert bot.session(session)["metadata"]["bot_settings"]["response_mode"] == "all_messages"


def test_settings_and_the_owners_own_chat(make_person: MakePerson, bot: Bot) -> None:
    person = make_person(PHONE)
    page = person.open("bots")
    card(page).get_by_role("button", name="Settings of Telegram").click()
    form = page.get_by_role("dialog", name="Settings of Telegram")
    form.get_by_label("New chats").select_option("Family")
    form.get_by_label("Dollars a day").fill("2.5")
    form.get_by_label("Tokens a day").fill("")
    form.get_by_label("Allowed without asking").fill("4711\n4712")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    kept = bot.call("GET", "/api/bots/config")["telegram"]
    assert (kept["template"], kept["daily_dollars"], kept["daily_tokens"]) == ("family", 2.5, None)
    assert kept["allowed_users"] == [4711, 4712]
    expect(card(page)).to_contain_text("Family")
    page.get_by_role("switch", name="Send me notices").click()
    page.get_by_label("Quiet hours from").fill("21:30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.").last).to_be_visible()
    assert bot.call("GET", "/api/bots/config")["notices"] == {
        "enabled": True,
        "quiet_from": "21:30",
        "quiet_until": "07:00",
    }
    bot.let_in()
    card(page).get_by_role("button", name="This is me").click()
    said = page.get_by_role("dialog", name="This is me").locator(".pairing-code").inner_text()
    page.keyboard.press("Escape")
    bot.write(said)
    bot.wait_text("This is your own chat now")
    expect(rows(page, "Allowed chats").filter(has_text="Yours").first).to_be_visible()
    # A wrong number changes nothing, and the server says what is wrong.
    card(page).get_by_role("button", name="Settings of Telegram").click()
    form.get_by_label("Allowed without asking").fill("§§")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_be_visible()
    assert bot.call("GET", "/api/bots/config")["telegram"]["allowed_users"] == [4711, 4712]
    person.forgive_refusals()


def test_a_token_that_was_revoked_is_told(make_person: MakePerson, bot: Bot) -> None:
    page = make_person().open("bots")
    expect(card(page).get_by_text("Connected", exact=True)).to_be_visible()
    bot.telegram.revoke()
    expect(card(page).get_by_text("Refused", exact=True)).to_be_visible()
    expect(card(page).locator(".notice")).not_to_be_empty()
    bot.telegram.token = TOKEN
    bot.call("DELETE", "/api/bots/telegram/token")


def test_a_key_that_may_only_read_changes_nothing(make_person: MakePerson, bot: Bot) -> None:
    knock(bot, bot.person, "Kevin")
    page = make_person(scopes=["bots:read"]).open("bots")
    expect(rows(page, "Requests")).to_have_count(1)
    for name in ("Let in", "Refuse", "Stop", "Test", "Settings of Telegram", "Remove the token of Telegram"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    page = make_person(scopes=["chat:read,write"]).page
    expect(page.locator("nav.column").get_by_role("link", name="Chat")).to_be_visible()
    expect(page.locator("nav.column").get_by_role("link", name="Bots")).to_have_count(0)


@pytest.mark.parametrize(("size", "scheme", "locale"), [(PHONE, "dark", "de-DE"), (DESKTOP, "light", "en-GB")])
def test_nothing_is_wrong_for_assistive_programs(
    make_person: MakePerson, bot: Bot, size: dict[str, object], scheme: str, locale: str
) -> None:
    knock(bot, bot.person, "Kevin")
    page = make_person(size, color_scheme=scheme, locale=locale, bypass_csp=True).open("bots")
    let_in = page.get_by_role("button", name=re.compile("^(Allow|Zulassen|Erlauben)$"))
    expect(let_in).to_be_visible()
    expect(page.locator("main .loading")).to_have_count(0)
    assert violations(page) == []
    let_in.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(let_in).to_be_focused()
    for name in (
        "Settings of Telegram|Einstellungen von Telegram",
        "This is me|Das bin ich",
        "Set up Discord|Discord einrichten",
        "Set up Matrix|Matrix einrichten",
    ):
        page.get_by_role("button", name=re.compile(f"^({name})$")).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        expect(page.locator("dialog .loading")).to_have_count(0)
        assert violations(page) == []
        page.keyboard.press("Escape")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
