"""The test kit: runs a module in memory, with services that really store things, in a temporary folder.

async with run(NotesModule, permissions={"write": ["Notes/**"]}) as notes:
    answer = await notes.post("/notes", {"text": "Buy milk"})
    assert answer.status == 200
"""

import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from parachute.base.errors import InvalidInput
from parachute.core import runtime
from parachute.core.application import Application, Handler, Tool
from parachute.core.event import Event
from parachute.core.fake_core import Answering, FakeCore
from parachute.core.fake_sessions import FakeSessions
from parachute.core.files import Files
from parachute.core.functions import with_module
from parachute.core.module import Module
from parachute.core.preview import Preview
from parachute.core.request import Caller, Request
from parachute.core.response import JSON, Rendered
from parachute.core.services import Core
from parachute.core.settings import Settings
from parachute.core.storage import Storage
from parachute.core.values import encode


@dataclass(frozen=True, slots=True)
class Answer:
    """The complete answer of a route."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    def events(self) -> list[Any]:
        """The values of a stream of events."""
        lines = self.body.decode().splitlines()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


@dataclass(slots=True)
class Running:
    """A module that runs in memory. `vault` is the folder of its vault, `core` what the module has as `self.core`."""

    module: Any
    vault: Path
    core: Core
    application: Application
    fake: FakeCore

    @property
    def published(self) -> list[tuple[str, dict[str, Any]]]:
        """Events that the module published, with their data."""
        return self.fake.published

    @property
    def sessions(self) -> FakeSessions:
        """The chats and files that the module brought, and its records of imports."""
        return self.fake.sessions

    @property
    def suggestions(self) -> list[dict[str, Any]]:
        """Suggestions that the module made."""
        return self.fake.suggestions

    async def get(self, path: str, **query: Any) -> Answer:
        """GET a route with parameters of the query."""
        return await self.request("GET", path, query=query)

    async def post(self, path: str, body: Any = None, **query: Any) -> Answer:
        """POST a body, JSON unless it is bytes."""
        return await self.request("POST", path, body, query=query)

    async def put(self, path: str, body: Any = None, **query: Any) -> Answer:
        """PUT a body, JSON unless it is bytes."""
        return await self.request("PUT", path, body, query=query)

    async def delete(self, path: str, **query: Any) -> Answer:
        """DELETE with parameters of the query."""
        return await self.request("DELETE", path, query=query)

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        caller: Caller | None = None,
    ) -> Answer:
        """Any request; the answer is read to its end."""
        await self.core.refresh_interfaces()
        data = b"" if body is None else body if isinstance(body, bytes) else encode(body)
        sent = {
            "content-type": JSON,
            "x-parachute-request": "test",
            **{name.lower(): text for name, text in (headers or {}).items()},
        }
        text = urlencode({name: _query(value) for name, value in (query or {}).items()}, doseq=True)
        answer = await self.application.respond(Request(method, path, text, sent, caller or Caller(), _body=data))
        return await _complete(answer)

    async def tool(self, name: str, /, **arguments: Any) -> str:
        """Call an MCP tool as an agent would; errors are raised."""
        await self.core.refresh_interfaces()
        return await self.application.call_tool(name, json.loads(encode(arguments)))

    async def emit(self, name: str, /, **data: Any) -> int:
        """Let an event happen; returns how many handlers there are. What a handler raises is raised here."""
        await self.core.refresh_interfaces()
        return await self.application.deliver(Event("test", name, json.loads(encode(data)), "2024-01-15T10:30:00Z"))

    async def apply(
        self,
        action: str,
        payload: Mapping[str, Any],
        *,
        target_id: str | None = None,
        expected_version: str | int | None = None,
        suggestion_id: str = "suggestion.0",
    ) -> Any:
        """Apply a suggestion that the user approved; what the module raises is raised here."""
        await self.core.refresh_interfaces()
        return await self.application.apply_suggestion(
            suggestion_id, _change(action, payload, target_id, expected_version)
        )

    async def check(self, action: str, payload: Mapping[str, Any], *, target_id: str | None = None) -> None:
        """Let the module check a suggestion that is made; what it raises is raised here."""
        await self.core.refresh_interfaces()
        await self.application.check_suggestion(_change(action, payload, target_id, None))

    async def preview(self, action: str, payload: Mapping[str, Any], *, target_id: str | None = None) -> Preview | None:
        """Return the preview of a suggestion for the user."""
        await self.core.refresh_interfaces()
        return await self.application.preview_suggestion(_change(action, payload, target_id, None))

    async def undo(
        self, action: str, payload: Mapping[str, Any], keep: Any, result: Any, *, target_id: str | None = None
    ) -> Any:
        """Take back what `apply` made, with `keep` of the preview before it; the version of the thing then."""
        await self.core.refresh_interfaces()
        change = _change(action, payload, target_id, None)
        return await self.application.undo_suggestion(change, *json.loads(encode([keep, result])))

    async def applied(
        self,
        action: str,
        payload: Mapping[str, Any],
        *,
        target_id: str | None = None,
        expected_version: str | int | None = None,
        suggestion_id: str = "suggestion.0",
    ) -> Any:
        """Call `applied_suggestion` as after a process was killed in the middle of `apply`; None if nothing was applied."""
        await self.core.refresh_interfaces()
        change = _change(action, payload, target_id, expected_version)
        return (await self.application.applied_suggestion(suggestion_id, change))[1]

    async def interface(self, name: str, method: str, /, **arguments: Any) -> Any:
        """Call a method of an interface that the module provides, as another module would; the result is plain JSON."""
        return json.loads(encode(await self.application.call_interface(name, method, json.loads(encode(arguments)))))


def _change(
    action: str, payload: Mapping[str, Any], target_id: str | None, expected_version: str | int | None
) -> dict[str, Any]:
    given = json.loads(encode(dict(payload)))
    return {"action": action, "target_id": target_id, "payload": given, "expected_version": expected_version}


@asynccontextmanager
async def run(
    module: type[Module],
    *,
    permissions: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    agents: Mapping[str, Answering] | None = None,
    query: Iterable[Mapping[str, Any]] | Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]] = (),
    interfaces: Mapping[str, Any] | None = None,
    conversations: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    handlers: Mapping[str, Callable[..., Any]] | None = None,
    protocols: Mapping[str, type[Any]] | None = None,
    folder: Path | None = None,
) -> AsyncIterator[Running]:
    """Run a module for the length of a block.

    `permissions` replace those of the class; `settings` are all settings with their values; `agents` gives each agent's
    answer, as text or as a function of the prompt; `query` the events of `self.core.query`; `interfaces` objects that stand
    for other modules; `conversations` chats with their (role, text), the last of which answers what is sent. `tools` and `handlers` are the functions that manifest.yaml names, by tool and by event. `folder` keeps
    the vault after the test.
    """
    if not (isinstance(module, type) and issubclass(module, Module) and module.name):
        raise InvalidInput("run: give it the class of a module, which has a name.", key="no_module_class")
    allowed = dict(module.permissions if permissions is None else permissions)
    fake = FakeCore(dict(settings or {}), agents or {}, query, interfaces or {}, conversations or {})
    with tempfile.TemporaryDirectory() if folder is None else contextlib.nullcontext(str(folder)) as place:
        vault, data = Path(place) / "vault", Path(place) / "data"
        vault.mkdir(exist_ok=True)
        core = Core(
            module.name,
            fake,
            Files(vault, allowed.get("read", ()), allowed.get("write", ())),
            Storage(data / "storage.db"),
            Settings(dict(settings or {}), fake),
            {*module.optional_requires, *(interfaces or {})},
            allowed.get("mcp", ()),
        )
        instance = module.attached(core)
        application = Application(
            instance,
            [Tool.of(name, with_module(function, instance)) for name, function in (tools or {}).items()],
            [Handler.of(name, with_module(function, instance)) for name, function in (handlers or {}).items()],
            protocols,
        )
        await core.refresh_interfaces()
        try:
            await application.lifecycle("on_enable")
            await application.lifecycle("on_start")
            yield Running(instance, vault, core, application, fake)
            await application.lifecycle("on_stop")
        finally:
            core.storage.close()
            runtime.enter(None)


async def _complete(answer: Rendered) -> Answer:
    body = answer.body
    if answer.chunks is not None:
        async for chunk in answer.chunks:
            body += chunk
    return Answer(answer.status, answer.headers, body)


def _query(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
