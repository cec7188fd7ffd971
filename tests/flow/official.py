"""A computer with the official modules, a person and a project in it, and a model that proposes when it is asked to."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import httpx2

from tests.chat.runs.answers import answered
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use
from tests.support.sse import ChatStream

MODULES = ("brain", "daily", "chat")
ENTRY = "Met with Kevin about the LVB curriculum. He suggested we add a module on prompt engineering."
LEARNT = "- Teaches at LVB from May on."
RULE = "Write lessons in plain words."
SUGGEST = "mcp__parachute__suggest"
_PERSON = re.compile(r"<entity id='(para:brain:[a-z0-9]{12})' name='Kevin'")


class OfficialComputer(ModuleComputer):
    """Sessions end as soon as nobody speaks; no answer of the API may be a failure of its own."""

    def __init__(self, *, settings: dict[str, Any], environment: dict[str, str]) -> None:
        super().__init__(settings={"session_idle_minutes": 0.001, **settings}, environment=environment)

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """One request."""
        response = super().ask(method, path, **options)
        assert response.status_code < 500, (method, path, response.text, self.logs())
        return response

    def output(self, *arguments: str) -> str:
        """Return the output of a command that has to succeed."""
        done = self.command(*arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr, self.logs())
        return done.stdout

    def set_up(self, modules: Sequence[str] = MODULES) -> None:
        """Install official modules as a person does."""
        self.output("setup", "--yes", "--modules", ",".join(modules))

    def know(self, entity_type: str, name: str, content: str, **data: Any) -> str:
        """Write somebody or something down in Brain; the para-id."""
        body = {"entity_type": entity_type, "data": {"name": name, **data}, "content": content}
        response = self.post("/api/brain/entities", json=body)
        assert response.status_code == 201, response.text
        return str(response.json()["para_id"])

    def write_down_both(self, folder: str) -> tuple[str, str]:
        """Kevin, and the project Learn Vibe Build that lies in `folder` (`~/…` or a path in the vault): their para-ids."""
        kevin = self.know("person", "Kevin", "Kevin is from Regen Hub.", aliases=["Kev"])
        links = {"work_path": folder, "agents_path": f"{folder}/AGENTS.md"}
        return kevin, self.know("project", "Learn Vibe Build", "A course in twelve lessons.", aliases=["LVB"], **links)

    def say(self, message: str, session: str = "new") -> ChatStream:
        """Send a message and read its whole answer."""

        async def send() -> ChatStream:
            async with self.client() as client:
                return await answered(client, message, session)

        return asyncio.run(send())

    def suggestions(self, status: str = "pending") -> list[dict[str, Any]]:
        """Suggestions about modules, newest first; those for the memory are the computer's own."""
        found: list[dict[str, Any]] = self.value(f"/api/suggestions?status={status}")["suggestions"]
        return [each for each in found if each["target_module"] != "memory"]

    def wait_for_end(self, session: str, messages: int) -> None:
        """Wait until a session counts as ended after so many messages, and every module has taken what it was told of that."""
        self.wait_until(lambda: self._ends(session, messages), f"{session} has ended")
        self.wait_for_events()

    def wait_for_events(self) -> None:
        """Wait until every event was taken by all who wanted it."""
        self.wait_until(lambda: self._rows("SELECT count(*) FROM deliveries") == [(0,)], "every event was taken")

    def assert_nothing_failed(self) -> None:
        """No module is down, and no log tells of an error."""
        for module in self.value("/api/modules")["modules"]:
            assert module["state"] == "ready", module
        # A test that restarts core cuts off what a hook, or the index of meanings, was about to ask of it.
        cut = r".*(?:Hook summarise: (?:Error: )?|Texts are not read for the search by meaning: )The computer (?:does not run|is not running)\..*\n(?:Start it with .*\n)?"
        logs = re.sub(cut, "", self.logs())
        assert not re.search(r"Traceback| ERROR | WARNING ", logs), logs

    def _ends(self, session: str, messages: int) -> bool:
        rows = self._rows("SELECT data FROM events WHERE name = 'session.end'")
        ends = [json.loads(data) for (data,) in rows]
        return any(end["session_id"] == session and end["message_count"] >= messages for end in ends)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        # What waits is shown by no route: only what was given up is.
        file = self.vault / ".parachute" / "events.db"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()


def answer(body: dict[str, Any]) -> Reply:
    """A model that says yes to everything, and when it is given a conversation to read, proposes what it learnt of Kevin."""
    if not _is_reading(body) or _results(body):
        return text("Noted.")
    person = _PERSON.search(json.dumps(body["messages"]))
    assert person is not None, body["messages"]
    proposal = {
        "action": "update",
        "target_module": "brain",
        "target_id": person[1],
        "payload": {"append": LEARNT},
        "reasoning": "You said so in the conversation.",
    }
    return tool_use(SUGGEST, proposal)


def asked_to_propose(api: MessagesAPI) -> list[dict[str, Any]]:
    """Requests of Chat's agent that reads conversations."""
    return [each.body for each in api.conversation if _is_reading(each.body)]


def tools_of(body: dict[str, Any]) -> set[str]:
    """The tools of modules that a request offers to the model, without the name of the server."""
    names = {str(tool["name"]) for tool in body["tools"]}
    return {name.removeprefix("mcp__parachute__") for name in names if name.startswith("mcp__parachute__")}


def _is_reading(body: dict[str, Any]) -> bool:
    # Persons' conversations have the tool, too.
    return "You read a conversation that has just ended" in json.dumps(body.get("system"))


def _results(body: dict[str, Any]) -> bool:
    return "tool_result" in json.dumps(body["messages"][-2:])
