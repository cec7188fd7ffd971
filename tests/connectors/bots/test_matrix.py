"""Matrix on a whole computer: set up as the app does it, and talked to in rooms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.connectors.bots.requests import asked_with
from tests.connectors.bots.talking import Bot
from tests.contract.bots import BotsConfig, BotsStatus, Outcome
from tests.contract.dart import check
from tests.support.matrix_api import BOT, TOKEN, MatrixAPI
from tests.support.messages_api import Gate, hold, text, tool_use

pytestmark = [pytest.mark.long, pytest.mark.computer]

QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}],
    "multiSelect": False,
}


@dataclass
class Rooms:
    """A computer with a bot of Matrix, and the home server."""

    bot: Bot
    api: MatrixAPI

    def wait_text(self, room: str, part: str) -> str:
        """Wait until a room shows a text; the message's event."""

        def found() -> str | None:
            return next((each.id for each in self.api.written(room) if part in each.text), None)

        event: str = self.api.wait(found, f"{part!r} is shown, not only {self.api.texts(room)}", self.bot.computer.logs)
        return event

    def request(self, room: str, kind: str) -> dict[str, Any]:
        """The request of a room."""

        def found() -> dict[str, Any] | None:
            mine = (each for each in self.bot.requests() if (each["chat_id"], each["chat_type"]) == (room, kind))
            return next(mine, None)

        request: dict[str, Any] = self.bot.computer.wait_until(found, "somebody asks to be let in")
        return request

    def let_in(self, user: str, **body: Any) -> str:
        """Somebody begins a private chat and is let in; the room."""
        room = self.api.direct(user)
        self.bot.call("POST", f"/api/bots/pairing/{self.request(room, 'dm')['id']}/approve", body)
        self.wait_text(room, "write to me now")
        return room


def wait_connected(bot: Bot) -> None:
    """Wait until the connector has its connection."""

    def is_connected() -> bool:
        return bool(bot.call("GET", "/api/bots/status")["connectors"]["matrix"]["state"] == "connected")

    bot.computer.wait_until(is_connected, "it is connected")


@pytest.fixture(scope="module")
def _matrix(_shared: Bot) -> Iterator[MatrixAPI]:
    with MatrixAPI() as api:
        settings = {"enabled": False, "homeserver_url": api.url, "user_id": BOT, "access_token": TOKEN}
        _shared.call("PUT", "/api/bots/config", {"matrix": settings})
        _shared.call("POST", "/api/bots/matrix/start")
        wait_connected(_shared)
        yield api
        _shared.call("DELETE", "/api/bots/matrix/token")


@pytest.fixture
def rooms(bot: Bot, _matrix: MatrixAPI) -> Rooms:
    """The bot with nothing under way."""
    return Rooms(bot, _matrix)


def test_contract_of_its_settings_and_of_what_runs(rooms: Rooms) -> None:
    config = rooms.bot.call("GET", "/api/bots/config")
    assert check(BotsConfig, config).matrix.homeserver_url == rooms.api.url
    assert TOKEN not in str(config)
    tested = check(Outcome, rooms.bot.call("POST", "/api/bots/matrix/test"))
    assert (tested.success, tested.bot_name) == (True, BOT)
    assert check(BotsStatus, rooms.bot.call("GET", "/api/bots/status")).connectors.matrix.running
    wrong = rooms.bot.call("PUT", "/api/bots/config", {"matrix": {"allowed_rooms": ["not a room"]}}, status=422)
    assert "allowed_rooms" in wrong["detail"]


def test_without_the_address_of_its_home_server_it_does_not_start(rooms: Rooms) -> None:
    rooms.bot.call("POST", "/api/bots/matrix/stop")
    rooms.bot.command("bots", "set-server", "matrix", "")
    for what in ("start", "test"):
        refused = rooms.bot.call("POST", f"/api/bots/matrix/{what}", status=422)
        assert (refused["success"], refused["key"]) == (False, "no_address")
        assert "address" in str(check(Outcome, refused).error)
    rooms.bot.command("bots", "set-server", "matrix", rooms.api.url)
    assert BOT in rooms.bot.command("bots", "test", "matrix")
    rooms.bot.command("bots", "start", "matrix")
    wait_connected(rooms.bot)


def test_a_stranger_waits_is_let_in_and_is_answered(rooms: Rooms) -> None:
    user = rooms.api.person("Ann")
    room = rooms.api.direct(user)
    request = rooms.request(room, "dm")
    assert (request["user_id"], request["name"]) == (user, "Ann")
    rooms.wait_text(room, request["code"])
    rooms.bot.call("POST", f"/api/bots/pairing/{request['id']}/approve", {})
    rooms.wait_text(room, "write to me now")
    rooms.bot.model.script(text("The **ship** lies in Kiel."))
    rooms.api.write(room, user, "Where does the ship lie?")
    rooms.wait_text(room, "The **ship** lies in Kiel.")
    (chat,) = [each for each in rooms.bot.call("GET", "/api/bots/chats")["chats"] if each["chat_id"] == room]

    def answered() -> dict[str, Any] | None:
        found = rooms.bot.session(chat["session_id"])
        return found if found["effectiveExecutionMode"] and len(found["messages"]) == 2 else None

    # It is shown as it grows.
    session = rooms.bot.computer.wait_until(answered, "the answer is complete")
    assert (session["linkedBotPlatform"], session["effectiveExecutionMode"]) == ("matrix", "sandboxed")
    assert [each["role"] for each in session["messages"]] == ["user", "assistant"]
    rooms.api.write(room, user, "!help")
    rooms.wait_text(room, "!new: begin a new conversation")
    rooms.bot.command("bots", "unlink", "matrix", room)


def test_what_is_changed_or_taken_back_during_an_answer_never_reaches_the_model(rooms: Rooms) -> None:
    def waiting() -> int:
        return int(rooms.bot.call("GET", "/api/bots/status")["connectors"]["matrix"]["waiting_messages"])

    user = rooms.api.person("Eve")
    room = rooms.let_in(user)
    gate = Gate()
    rooms.bot.model.script(hold(gate, text("Slowly.")), text("To the rest."), text("To the last."))
    rooms.api.write(room, user, "begin")
    gate.wait_reached()
    changed = rooms.api.write(room, user, "the plan of yesterday")
    secret = rooms.api.write(room, user, "a secret badger")
    rooms.bot.computer.wait_until(lambda: waiting() == 3, "all wait")
    rooms.api.edit(room, user, changed, "the plan of today")
    rooms.api.redact(room, user, secret)
    rooms.bot.computer.wait_until(lambda: waiting() == 2, "one was taken back")
    gate.open()
    rooms.wait_text(room, "To the rest.")
    rooms.api.redact(room, user, changed)
    rooms.api.write(room, user, "and now?")
    rooms.wait_text(room, "To the last.")
    asked = [str(each.body) for each in rooms.bot.model.requests]
    assert not any("badger" in each or "plan of yesterday" in each for each in asked)
    assert any("plan of today" in each for each in asked)
    (last,) = asked_with(rooms.bot, "and now?")
    assert "was deleted by who wrote it" in last


def test_a_private_room_that_becomes_a_group_is_let_in_anew(rooms: Rooms) -> None:
    ann, bob = rooms.api.person("Ann"), rooms.api.person("Bob")
    room = rooms.let_in(ann)
    before = rooms.api.texts(room)
    rooms.api.come(room, bob)
    rooms.api.write(room, bob, "What did it say?")
    request = rooms.request(room, "group")
    assert rooms.api.texts(room) == before
    body = {"template": "family", "response_mode": "all_messages"}
    rooms.bot.call("POST", f"/api/bots/pairing/{request['id']}/approve", body)
    rooms.wait_text(room, "I am here now.")
    rooms.bot.model.script(text("Tea at five."))
    rooms.api.write(room, bob, "When is tea?")
    rooms.wait_text(room, "Tea at five.")


def test_a_room_that_is_listed_needs_nobodys_word(rooms: Rooms) -> None:
    ann = rooms.api.person("Ann")
    room = rooms.api.direct(ann)
    rooms.request(room, "dm")
    rooms.bot.call("PUT", "/api/bots/config", {"matrix": {"allowed_rooms": [room]}})
    rooms.bot.model.script(text("Of course."))
    rooms.api.write(room, ann, "May I?")
    rooms.wait_text(room, "Of course.")
    rooms.bot.call("PUT", "/api/bots/config", {"matrix": {"allowed_rooms": []}})


def test_the_owners_own_room_is_asked_and_answers_by_a_number(rooms: Rooms) -> None:
    owner, ann = rooms.api.person("Owner"), rooms.api.person("Ann")
    own, other = rooms.let_in(owner), rooms.let_in(ann, template="family")
    said = rooms.bot.command("bots", "owner", "matrix")
    found = re.search(r"!owner [A-Z0-9-]+", said)
    assert found is not None
    rooms.api.write(own, owner, found[0])
    rooms.wait_text(own, "your own chat now")
    rooms.bot.model.script(tool_use("AskUserQuestion", {"questions": [QUESTION]}), text("Blue it is."))
    rooms.api.write(other, ann, "Ask!")
    asked = rooms.wait_text(own, "Which colour?")
    rooms.api.react(own, owner, asked, "2\ufe0f\u20e3")
    rooms.wait_text(other, "Blue it is.")
    rooms.wait_text(own, "Answered: Blue")
    rooms.bot.command("bots", "unlink", "matrix", own)
