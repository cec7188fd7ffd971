"""A whole computer with a bot at Synapse: pairing, answers of an agent, and a room that becomes a group."""

from collections.abc import Iterator

import pytest

from tests.conftest import needs_bubblewrap
from tests.connectors.bots.talking import Bot
from tests.connectors.bots.test_matrix import (  # noqa: F401 - the tests
    Rooms,
    test_a_private_room_that_becomes_a_group_is_let_in_anew,
    test_a_stranger_waits_is_let_in_and_is_answered,
    test_the_owners_own_room_is_asked_and_answers_by_a_number,
    test_what_is_changed_or_taken_back_during_an_answer_never_reaches_the_model,
    wait_connected,
)
from tests.real.synapse import Synapse
from tests.support.matrix_api import BOT
from tests.support.messages_api import text

pytestmark = [needs_bubblewrap, pytest.mark.long, pytest.mark.computer]


@pytest.fixture(scope="module")
def _matrix(_shared: Bot, api: Synapse) -> Iterator[Synapse]:
    settings = {"enabled": False, "homeserver_url": api.url, "user_id": BOT, "access_token": api.token}
    _shared.call("PUT", "/api/bots/config", {"matrix": settings})
    _shared.call("POST", "/api/bots/matrix/start")
    wait_connected(_shared)
    yield api
    _shared.call("DELETE", "/api/bots/matrix/token")


def test_the_second_message_goes_on_and_who_puts_it_out_may_have_it_again(rooms: Rooms, api: Synapse) -> None:
    user = rooms.api.person("Ida")
    room = rooms.let_in(user)
    rooms.bot.model.script(text("In Kiel."), text("At nine."))
    rooms.api.write(room, user, "Where does the ferry lie?")
    rooms.wait_text(room, "In Kiel.")
    rooms.api.write(room, user, "And when does it leave?")
    rooms.wait_text(room, "At nine.")
    (asked,) = [each for each in rooms.bot.model.conversation if "And when does it leave?" in str(each.body)]
    assert "Where does the ferry lie?" in str(asked.body)
    assert "In Kiel." in str(asked.body)
    rooms.api.put_out(room, user)
    api.invite(room, BOT)
    rooms.bot.computer.wait_until(lambda: rooms.api.is_in(room), "it has come again")
    rooms.bot.model.script(text("Here I am."))
    rooms.api.write(room, user, "Are you back?")
    rooms.wait_text(room, "Here I am.")
