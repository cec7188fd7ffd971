"""Reminders over the API and the command line of a server whose time a test lets pass, until they wait in the inbox."""

from collections.abc import Callable
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.modules.runtime.module_computer import WithModules
from tests.support.making import Make
from tests.support.server import TimedServer

HOUR = 3600


class Timed(WithModules, TimedServer):
    """A server whose time a test lets pass."""


@pytest.fixture
def server(make_server: Make[TimedServer]) -> Timed:
    return make_server(Timed)


@pytest.fixture
def waiting(server: Timed) -> Callable[[], list[dict[str, Any]]]:
    """The reminders in the inbox."""
    return lambda: [each for each in server.value("/api/inbox")["items"] if each["kind"] == "reminder"]


def test_one_waits_from_its_time_on_until_it_is_answered(
    server: Timed, waiting: Callable[[], list[dict[str, Any]]]
) -> None:
    made = server.post("/api/reminders", json={"when": "in two hours", "text": "Bread"}).json()
    assert waiting() == []
    server.advance(2 * HOUR)
    (item,) = waiting()
    assert (item["title"], item["since"]) == ("Bread", made["at"])
    owner = {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
    for word, left in (("in_an_hour", 1), ("done", 0)):
        (item,) = waiting()
        answer = {"id": item["id"], "answer": word, "hash": item["hash"]}
        said = server.post("/api/inbox/answer", json=answer, headers=owner)
        assert said.status_code == 200, said.text
        assert waiting() == []
        assert len(server.value("/api/reminders")["reminders"]) == left
        server.advance(HOUR)


@pytest.mark.parametrize(
    ("body", "status", "key"),
    [
        ({"when": "soon", "text": "Bread"}, 422, "invalid_time"),
        ({"when": "2020-01-01 9:00", "text": "Bread"}, 422, "reminder_past"),
        ({"when": "in an hour", "text": " "}, 422, "reminder_text"),
    ],
)
def test_what_cannot_be_is_refused(server: Timed, body: dict[str, str], status: int, key: str) -> None:
    refused = server.post("/api/reminders", json=body)
    assert (refused.status_code, refused.json()["key"]) == (status, key)
    assert server.value("/api/reminders") == {"reminders": []}


def test_the_command_line_makes_lists_and_removes_them(server: Timed) -> None:
    assert server.command("remind", "in two hours", "Bread").returncode == 0
    assert server.command("remind", "me", "every weekday at 7", "Beans").returncode == 0
    first, second = server.value("/api/reminders")["reminders"]
    assert {first["text"], second["text"]} == {"Bread", "Beans"}
    listed = server.command("remind", "list")
    assert "every weekday at 7" in listed.stdout
    assert server.command("remind", "remove", first["id"]).returncode == 0
    assert server.value("/api/reminders")["reminders"] == [second]
    assert server.command("remind", "soon", "Bread").returncode != 0
