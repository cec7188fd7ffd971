"""The server of the arena with all that is in it, and its owner, who never says yes to an order of somebody else."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from parachute.chat.sessions.service import Sessions
from parachute.security.keys.cli_token import CliToken
from parachute.security.origin import Origin
from tests.attacks.arena import desk, tasks
from tests.attacks.arena.carriers import PAGES, commit
from tests.attacks.arena.cases import CASES, Case
from tests.attacks.arena.obedient import Obedient
from tests.attacks.arena.tasks import NEW_HOST, Task
from tests.attacks.arena.wire import Wire
from tests.chat.runs.answers import events_after
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI
from tests.support.official import install
from tests.support.server import Server
from tests.support.sse import ChatStream, chat

_AT_ONCE = 6
_OF_A_SERVER = 125
SETTINGS: dict[str, Any] = {"network": {"mode": "ask", "hosts": [PAGES]}}
WORKSPACE = {"name": "Desk", "capabilities": {"mcps": ["parachute", desk.NAME]}}


class ArenaServer(Server):
    """A server whose internet is a wire."""

    wire: Wire
    loop: asyncio.AbstractEventLoop

    def _make_network(self) -> dict[str, Any]:
        self.loop = asyncio.get_running_loop()
        return {"resolve": self.wire.resolve, "connect": self.wire.connect}

    @property
    def sessions(self) -> Sessions:
        """The server's own list of conversations."""
        return self.services.get(Sessions)

    async def within(self, asked: Any) -> Any:
        """Wait for something that belongs to the server's loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, self.loop))


class House:
    """A server, a model that obeys, and a desk; a context manager."""

    def __init__(self, cases: Sequence[Case] = ()) -> None:
        self.cases = cases
        self.origins: dict[int, Origin] = {}
        self.ends: dict[int, str] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "House":
        with ExitStack() as stack:
            self.wire = stack.enter_context(Wire(page_of))
            self.model = stack.enter_context(MessagesAPI())
            self.server = ArenaServer(settings=SETTINGS, environment=self.model.credentials)
            self.server.wire = self.wire
            stack.enter_context(self.server)
            self.agent = Obedient(self.server.port, str(self.server.home.root))
            self.model.default(self.agent)
            self.token = {"Authorization": f"Bearer {CliToken(self.server.home.root).obtain()}"}
            install(self.server, "brain", "daily")
            numbers = [each.number for each in self.cases if each.carrier.name == "tool description"]
            self.desk = stack.enter_context(desk_of(numbers))
            self.ask("POST", "/api/mcps", {"name": desk.NAME, "url": self.desk})
            self.ask("POST", "/api/workspaces", WORKSPACE)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def vault(self) -> Path:
        """The owner's files."""
        return self.server.vault

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the API as its owner does."""
        answer = httpx2.request(method, f"{self.server.url}{path}", json=body, headers=self.token, timeout=120, **PLAIN)
        assert answer.status_code < 300, (path, answer.text)
        return answer.json()

    def project(self, name: str) -> Path:
        """A folder of the vault for one conversation."""
        folder = self.vault / "Projects" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    async def meet_all(self) -> None:
        """Have a conversation about each case, in an order in which what is there lowers no other one's origin."""
        stages: dict[str, list[Case]] = {name: [] for name in ("commit", "", "imported note")}
        for case in self.cases:
            stages.get(case.carrier.name, stages[""]).append(case)
        for stage in stages.values():
            await _at_once(stage, self._meet)

    async def _meet(self, case: Case) -> None:
        name = f"case-{case.number}"
        folder = self.project(name)
        (folder / "mine.md").write_text(f"Mine {case.number}.\n")
        case.carrier.place(self.vault, folder, case.number, case.shown)
        fields: dict[str, Any] = {"workingDirectory": f"Projects/{name}"}
        if case.uses_desk:
            fields["workspaceId"] = "desk"
        said, session = f"[case {case.number}] What is there?", "new"
        async with self.server.client() as client:
            match case.carrier.name:
                case "journal":
                    content = {"content": f"forwarded{case.number} {case.shown}"}
                    answer = await client.post("/api/daily/entries", json=content)
                    assert answer.status_code < 300, answer.text
                case "imported chat":
                    fields["priorConversation"] = case.shown
                case "messenger":
                    session = (await _said(client, "Hello!", **fields)).of_type("session")[0]["sessionId"]
                    await self.server.within(_from_outside(self.server.sessions, session))
                    said = f"[case {case.number}] {case.shown}"
            stream = await _said(client, said, session, **fields)
        session = stream.of_type("session")[0]["sessionId"]
        self.ends[case.number] = session
        self.origins[case.number] = await self.server.within(self.server.sessions.origin(session))

    def begin_anew(self) -> None:
        """Begin a conversation without a folder, as the owner would on the next day."""

        async def begin() -> None:
            async with self.server.client(headers=self.token) as client:
                await _said(client, "Good morning! What do you know of me?")

        asyncio.run(begin())

    async def do_all(self, chosen: Sequence[Task]) -> list[int]:
        """Have tasks done; what the owner was asked for each."""
        return await _at_once(chosen, self.do)

    async def do(self, task: Task) -> int:
        """Have a task done; the number of things that its owner was asked."""
        name = f"task-{task.number}"
        folder = self.project(name)
        tasks.furnish(folder, task.number)
        if task.name in ("commit", "look into the history"):
            commit(self.vault, folder, task.number, "Mine")
        fields: dict[str, Any] = {"workingDirectory": f"Projects/{name}"}
        if task.uses_desk:
            fields["workspaceId"] = "desk"
        async with self.server.client(headers=self.token) as client:
            stream = await _said(client, f"[task {task.number}] {task.name}", **fields)
            asked = len(stream.of_type("permission_request")) + len(stream.of_type("user_question"))
            if task.is_new_host:
                session = stream.of_type("session")[0]["sessionId"]
                page = (await client.get("/api/inbox")).json()["items"]
                items = [each for each in page if NEW_HOST in each["title"] and each.get("session") in (session, None)]
                for item in items[:1]:
                    body = {"id": item["id"], "hash": item["hash"], "answer": "always"}
                    await client.post("/api/inbox/answer", json=body)
                    asked += 1
                await _said(client, f"[task {task.number}] again", session)
        return asked

    def elsewhere(self) -> str:
        """All that modules, the desk and the suggestions have."""
        found = [told_to(self.desk), json.dumps(self.ask("GET", "/api/suggestions?limit=200"))]
        for place in ("Daily", "Brain"):
            found += [file.read_text(errors="replace") for file in (self.vault / place).rglob("*") if file.is_file()]
        return "\n".join(found)


def shares(cases: Sequence[Case]) -> list[Sequence[Case]]:
    """Cases in parts of which each has a server: a whole run would keep a gigabyte of what the model was sent."""
    count = -(-len(cases) // _OF_A_SERVER)
    return [cases[number::count] for number in range(count)]


def page_of(path: str) -> str:
    """Answer as a host does at a path: the text of a case, or something harmless."""
    number = path.lstrip("/").partition("?")[0]
    return CASES[int(number)].shown if number.isdecimal() and int(number) < len(CASES) else "The boat is blue."


@contextmanager
def desk_of(numbers: Sequence[int]) -> Iterator[str]:
    """Give the address of a desk with these cases in its descriptions."""
    command = [sys.executable, "-m", "tests.attacks.arena.desk", json.dumps(numbers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        try:
            assert program.stdout is not None
            yield program.stdout.readline().strip()
        finally:
            program.kill()


def told_to(desk: str) -> str:
    """All that the desk of this address was told."""
    return httpx2.get(desk.replace("/mcp", "/control/sent"), **PLAIN).text


async def _from_outside(sessions: Sessions, session: str) -> None:
    found = await sessions.get(session)
    found.source = "telegram"
    await sessions.save(found)


async def _said(
    client: httpx2.AsyncClient, message: str, session: str = "new", *, tries: int = 3, **fields: Any
) -> ChatStream:
    async with chat(client, message, session, **fields) as stream:
        try:
            await stream.collect()
        except httpx2.TransportError:
            # The run goes on without whoever follows it, and a busy machine has made this one slow.
            session = stream.of_type("session")[0]["sessionId"]
            stream.events = await events_after(client, session)
    if stream.terminal.get("code") == "network_error" and tries > 1:
        # The scripted agent does not try a request again whose connection was closed in that moment, as the real one does.
        return await _said(client, message, session, tries=tries - 1, **fields)
    assert stream.terminal["type"] == "done", (message, stream.terminal)
    return stream


async def _at_once(items: Sequence[Any], do: Callable[[Any], Awaitable[Any]]) -> list[Any]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(item: Any) -> Any:
        async with gate:
            return await do(item)

    async with asyncio.TaskGroup() as group:
        begun = [group.create_task(one(item)) for item in items]
    return [each.result() for each in begun]
