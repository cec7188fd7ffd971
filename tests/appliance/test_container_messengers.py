"""A stranger writes to a bot: everything runs as services, and the answer comes from a container."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.appliance.agents import Agents
from tests.appliance.services import URL
from tests.support.telegram_api import TOKEN

PERSON, GROUP = 501, -4001
BRAIN = "mcp__parachute__brain-"
CONNECTOR = "parachute-connector@telegram.service"

pytestmark = pytest.mark.usefixtures("built")


class Messenger:
    """The chat of somebody whom the bot does not know; `people` is the address at which they write."""

    def __init__(self, agents: Agents, people: str) -> None:
        self.agents = agents
        self._people = people

    def write(self, text: str, chat: int = PERSON) -> None:
        """The person writes."""
        said = shlex.quote(json.dumps({"text": text, "chat": chat, "user": PERSON}))
        self.agents.run(f"curl -sSf --max-time 60 --data {said} {self._people}/")

    def seen(self, chat: int = PERSON) -> dict[str, Any]:
        """Return the messages of a chat, its drafts, and the number of updates that nobody has taken."""
        found: dict[str, Any] = json.loads(self.agents.run(f"curl -sSf --max-time 60 {self._people}/{chat}"))
        return found

    def wait(self, part: str, where: str = "texts", chat: int = PERSON) -> str:
        """Wait until a text is seen."""

        def found() -> list[str]:
            return [each for each in self.seen(chat)[where] if part in each]

        self.agents.until(lambda: bool(found()), f"{part!r} is among the {where}")
        return found()[-1]


class Browser:
    """The console's way in: a browser that was signed in with a code, and whose cookie says who asks."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._jar = f"{agents.home}/browser.jar"
        self.post("/api/pairing/sign-in", {"code": self.code()})

    def code(self) -> str:
        """A code that is shown where the owner is in already."""
        status, made = self._agents.ask("/api/pairing/codes", {"name": "the kitchen"}, "POST")
        assert status == 200, made
        return str(made["code"])

    def confirm(self) -> None:
        """The owner shows that it is they who sit there."""
        assert self.post("/api/pairing/confirm", {"code": self.code()})["confirmed_until"]

    def post(self, path: str, body: dict[str, Any], origin: str = URL, status: int = 200) -> Any:
        """Send something as a page of this origin."""
        options = shlex.join(
            [
                *("-H", f"origin: {origin}", "-H", "content-type: application/json", "-d", json.dumps(body)),
                *("--cookie", self._jar, "--cookie-jar", self._jar, "-w", r"\n%{http_code}"),
            ]
        )
        said, _, code = self._agents.run(f"curl -sS --max-time 60 {options} {URL}{path}").rpartition("\n")
        assert int(code) == status, (code, said)
        return json.loads(said)


@pytest.fixture(scope="module")
def browser(agents: Agents, built: dict[str, Any]) -> Browser:
    """The owner's browser."""
    return Browser(agents)


@pytest.fixture(scope="module")
def messenger(agents: Agents, built: dict[str, Any]) -> Iterator[Messenger]:
    """A bot that its owner has set up and started."""
    with agents.serving("telegram", "tests.appliance.scripted_telegram") as addresses:
        server, people = addresses.split()
        agents.run(f"umask 077; printf 'telegram:\\n  server_url: {server}\\n' > ~/.parachute/bots.yaml")
        agents.run(f"echo {TOKEN} | parachute bots set-token telegram")
        agents.run("parachute bots start telegram")
        yield Messenger(agents, people)
        agents.run("parachute bots remove-token telegram; rm ~/.parachute/bots.yaml")


def test_a_stranger_waits_is_let_in_and_sees_an_answer_that_grows(
    agents: Agents, messenger: Messenger, browser: Browser
) -> None:
    messenger.write("hello?")
    said = messenger.wait("Your code is")
    (request,) = json.loads(agents.run("parachute bots pairing list --json"))
    assert (request["code"] in said, request["chat_id"]) == (True, str(PERSON))
    # Whoever waits does so after a restart of everything, too, and is told once.
    agents.run(f"systemctl --user restart parachute-supervisor parachute-core {CONNECTOR}")
    assert [request] == json.loads(agents.run("parachute bots pairing list --json"))
    path = f"/api/bots/pairing/{request['id']}/approve"
    browser.post(path, {}, origin="http://elsewhere.example", status=403)
    # What was confirmed, the server before this one has known.
    assert browser.post(path, {}, status=403)["key"] == "confirmation_needed"
    browser.confirm()
    approved = browser.post(path, {"template": "guest", "trust_level": "sandboxed"})["chat"]
    assert approved["approved_by"] == "browser the kitchen"
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
    assert (said.count(f"hold: {file}"), said.count("Still there?")) == (1, 1), said
    texts = messenger.seen()["texts"]
    assert sum("a-ship." in each for each in texts) == 1, texts
    assert sum("Hello." in each for each in texts) <= 1, texts


def test_a_family_group_reads_brain_and_nothing_else(agents: Agents, messenger: Messenger, browser: Browser) -> None:
    agents.run("parachute setup --yes --modules brain")
    status, said = agents.ask("/api/modules/reload", {}, "POST")
    assert status == 200, said
    kevin = {"type": "person", "name": "Kevin", "content": "Advises us on boats."}
    status, said = agents.ask("/api/brain/entities", kevin, "POST")
    assert status == 201, said
    messenger.write("hello", chat=GROUP)

    def waiting() -> list[dict[str, Any]]:
        found = json.loads(agents.run("parachute bots pairing list --json"))
        return [each for each in found if each["chat_type"] == "group"]

    agents.until(lambda: bool(waiting()), "the group waits")
    (request,) = waiting()
    assert messenger.seen(GROUP)["texts"] == []
    browser.confirm()
    browser.post(f"/api/bots/pairing/{request['id']}/approve", {"response_mode": "all_messages"})
    messenger.wait("I am here now", chat=GROUP)

    messenger.write(f'call: {BRAIN}search {{"query": "boats"}}', chat=GROUP)
    messenger.wait("Advises us on", chat=GROUP)
    for asked in ("run: cat /etc/hostname", 'call: Read {"file_path": "/etc/hostname"}', f"call: {BRAIN}context {{}}"):
        before = len(messenger.seen(GROUP)["texts"])
        messenger.write(asked, chat=GROUP)
        agents.until(lambda before=before: len(messenger.seen(GROUP)["texts"]) > before, "it is answered")  # type: ignore[misc]
        answer = messenger.seen(GROUP)["texts"][-1]
        assert "No such tool" in answer or "may not use" in answer, answer

    session = chat(agents, GROUP)["session_id"]
    explained = json.loads(agents.run(f"parachute sandbox explain {session} --json"))
    assert (explained["engine"], explained["permissions"]["template"]) == ("podman", "guest")
    rows = {row["name"]: row for row in explained["rows"]}
    assert [row for row in rows.values() if row["differs"]] == []
    assert (rows["network"]["asked"], rows["egress"]["inside"]) == ("none", "no socket")
    vault = agents.run("parachute config get vault").strip()
    mounts = {name: row["asked"] for name, row in rows.items() if row["asked"].startswith(("ro /", "rw /"))}
    of_vault = {name for name, asked in mounts.items() if vault in asked}
    assert of_vault == {"/attachments", f"/home/agent/.claude/projects/-scratch-{session}"}


def chat(agents: Agents, identifier: int = PERSON) -> dict[str, Any]:
    """A chat that was let in."""
    found = json.loads(agents.run("parachute bots chats --json"))
    (one,) = [each for each in found if each["chat_id"] == str(identifier)]
    assert isinstance(one, dict)
    return one
