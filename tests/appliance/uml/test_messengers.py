"""A stranger writes to a bot: everything runs as services, and the answer comes from a container."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.appliance.agents import Agents
from tests.support.telegram_api import TOKEN

PERSON = 501
CONNECTOR = "parachute-connector@telegram.service"


class Messenger:
    """The chat of somebody whom the bot does not know; `people` is the address at which they write."""

    def __init__(self, agents: Agents, people: str) -> None:
        self.agents = agents
        self._people = people

    def write(self, text: str) -> None:
        """The person writes."""
        said = shlex.quote(json.dumps({"text": text, "chat": PERSON}))
        self.agents.run(f"curl -sSf --max-time 60 --data {said} {self._people}/")

    def seen(self) -> dict[str, Any]:
        """What the chat shows, what it showed as drafts, and how many updates nobody has taken."""
        found: dict[str, Any] = json.loads(self.agents.run(f"curl -sSf --max-time 60 {self._people}/{PERSON}"))
        return found

    def wait(self, part: str, where: str = "texts") -> str:
        """Wait until a text is seen."""

        def found() -> list[str]:
            return [each for each in self.seen()[where] if part in each]

        self.agents.until(lambda: bool(found()), f"{part!r} is among the {where}")
        return found()[-1]


@pytest.fixture(scope="module")
def messenger(agents: Agents) -> Iterator[Messenger]:
    """A bot that its owner has set up and started."""
    with agents.serving("telegram", "tests.appliance.scripted_telegram") as addresses:
        server, people = addresses.split()
        agents.run(f"umask 077; printf 'telegram:\\n  server_url: {server}\\n' > ~/.parachute/bots.yaml")
        agents.run(f"echo {TOKEN} | parachute bots set-token telegram")
        agents.run("parachute bots start telegram")
        yield Messenger(agents, people)
        agents.run("parachute bots remove-token telegram; rm ~/.parachute/bots.yaml")


def test_a_stranger_waits_is_let_in_and_sees_an_answer_that_grows(agents: Agents, messenger: Messenger) -> None:
    messenger.write("hello?")
    said = messenger.wait("Your code is")
    (request,) = json.loads(agents.run("parachute bots pairing list --json"))
    assert (request["code"] in said, request["chat_id"]) == (True, str(PERSON))
    # Whoever waits does so after a restart of everything, too, and is told once.
    agents.run(f"systemctl --user restart parachute-supervisor parachute-core {CONNECTOR}")
    assert [request] == json.loads(agents.run("parachute bots pairing list --json"))
    agents.run(f"parachute bots pairing approve {request['code']}")
    messenger.wait("write to me now")

    file = f"{agents.home}/a-boat"
    messenger.write(f"hold: {file}")
    messenger.wait("Once upon a time", "drafts")
    session = chat(agents)["session_id"]
    assert len(agents.containers(session)) == 1
    assert not any("Once upon" in each for each in messenger.seen()["texts"])
    explained = json.loads(agents.run(f"parachute sandbox explain {session} --json"))
    assert (explained["engine"], explained["permissions"]["template"]) == ("podman", "guest")
    assert [row for row in explained["rows"] if row["differs"]] == []
    agents.run(f"touch {file}")
    messenger.wait("there was a-boat.")
    texts = messenger.seen()["texts"]
    assert [sum(part in each for each in texts) for part in ("Your code is", "write to me now", "a-boat.")] == [1, 1, 1]


def test_what_was_asked_before_everything_died_is_answered_once(agents: Agents, messenger: Messenger) -> None:
    file, before = f"{agents.home}/a-ship", len(messenger.seen()["drafts"])
    messenger.write(f"hold: {file}")
    agents.until(lambda: bool(messenger.seen()["drafts"][before:]), "it is being answered")
    agents.kill_core()
    agents.run(f"systemctl --user kill --signal=KILL {CONNECTOR}")
    messenger.write("Still there?")
    agents.run(f"touch {file}")
    messenger.wait("there was a-ship.")

    def is_done() -> bool:
        if messenger.seen()["waiting"]:
            return False
        bot = json.loads(agents.run("parachute bots status --json"))["connectors"]["telegram"]
        return (bot["state"], bot["waiting_messages"], bot["unsent"]) == ("connected", 0, 0)

    agents.until(is_done, "nothing is left to do")
    said = str(agents.get(f"/api/chat/{chat(agents)['session_id']}")["messages"])
    # What was cut off is asked anew, so it may stand there twice; the person sees one answer.
    assert (f"hold: {file}" in said, said.count("Still there?")) == (True, 1), said
    texts = messenger.seen()["texts"]
    assert sum("a-ship." in each for each in texts) == 1, texts
    assert sum("Hello." in each for each in texts) <= 1, texts


def chat(agents: Agents) -> dict[str, Any]:
    """The chat that was let in."""
    (found,) = json.loads(agents.run("parachute bots chats --json"))
    assert isinstance(found, dict)
    return found
