"""`self.core`: what the computer does for a module."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput, NotAllowed
from parachute.core.connection import Connection, member
from parachute.core.conversations import Conversations
from parachute.core.event import EVENT_NAME
from parachute.core.files import Files
from parachute.core.interface_proxy import InterfaceProxy
from parachute.core.meaning import Meaning
from parachute.core.sessions import Sessions
from parachute.core.settings import Settings
from parachute.core.storage import Storage
from parachute.core.values import encode

ACTIONS = ("create", "update", "delete", "link")
_AGENT_SECONDS = 900.0


class Core:
    """Services of the computer, within the module's permissions."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        files: Files,
        storage: Storage,
        settings: Settings,
        optional_requires: Iterable[str] = (),
        mcp: Iterable[str] = (),
        busy: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.name = name
        self.files = files
        self.storage = storage
        self.settings = settings
        self.mcp = tuple(mcp)
        self.busy = busy
        """`with self.core.busy():` keeps the process alive for work that goes on after an answer."""
        self.conversations = Conversations(connection)
        self.sessions = Sessions(connection)
        self.meaning = Meaning(connection)
        self._connection = connection
        self._optional_requires = frozenset(optional_requires)
        self._provided: dict[str, Mapping[str, tuple[str, ...]]] = {}

    @property
    def data(self) -> Path:
        """The module's private folder, for a database of its own; what the user owns belongs into the vault."""
        return self.storage.folder

    async def query(
        self,
        message: str,
        *,
        session_id: str | None = None,
        mcp_servers: Iterable[str] | None = None,
        agent: str | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Ask an agent and receive its events as they come, in the shape that `POST /api/chat` streams.

        `agent` is one of the manifest's (without it, the computer's default one in a sandbox); `mcp_servers` are names of
        tools, as `get_mcp_servers()` gives them.
        """
        document = {
            "message": message,
            "session_id": session_id,
            "mcp_servers": None if mcp_servers is None else list(mcp_servers),
            "agent": agent,
        }
        async for value in self._connection.stream("/query", document):
            yield value

    async def run_agent(self, agent: str, prompt: str) -> str:
        """Run one of the manifest's agents in its own sandbox to the end, and return what it said."""
        document = {"agent": agent, "prompt": prompt}
        answer = await self._connection.request("POST", "/run-agent", document, seconds=_AGENT_SECONDS)
        return member(answer, "text", str)

    async def publish(self, name: str, data: Mapping[str, Any] | None = None) -> str:
        """Publish an event; the name begins with the module's own name and a point. Returns the event's id."""
        if not EVENT_NAME.fullmatch(name):
            raise InvalidInput(
                f"name: {name[:60]!r} is not the name of an event; write one such as {self.name}.changed.",
                key="event_name_invalid",
            )
        if not name.startswith(f"{self.name}."):
            raise NotAllowed(
                f"name: {name!r} belongs to another module; {self.name} may publish {self.name}.* only.",
                key="other_name",
            )
        document = {"name": name, "data": json.loads(encode(dict(data or {})))}
        return member(await self._connection.request("POST", "/publish", document), "id", str)

    async def suggest(
        self,
        action: str,
        target_module: str,
        payload: Mapping[str, Any],
        *,
        target_id: str | None = None,
        reasoning: str = "",
    ) -> str:
        """Propose a change that the user may approve; returns the suggestion's id.

        `action` is create, update, delete or link; `target_module` must be named under can_suggest of an agent in the
        manifest; `target_id` is the para-id of what shall change, which update and delete need.
        """
        if action not in ACTIONS:
            raise InvalidInput(f"action: one of {', '.join(ACTIONS)} is allowed.", key="unknown_action")
        document = {
            "action": action,
            "target_module": target_module,
            "target_id": target_id,
            "payload": json.loads(encode(dict(payload))),
            "reasoning": reasoning,
        }
        return member(await self._connection.request("POST", "/suggest", document, seconds=60), "id", str)

    def get_interface(self, name: str) -> InterfaceProxy | None:
        """Another module's interface, or None if nobody provides it; error: NotAllowed if the manifest does not name it."""
        if name not in self._optional_requires:
            raise NotAllowed(
                f"The manifest of {self.name} does not list {name}.",
                f"Add {name} to optional_requires in manifest.yaml; the user sees it before installing.",
                key="interface_not_named",
            )
        methods = self._provided.get(name)
        return None if methods is None else InterfaceProxy(name, methods, self._connection)

    @property
    def uses_interfaces(self) -> bool:
        """True if the module may call others at all."""
        return bool(self._optional_requires)

    async def refresh_interfaces(self, seconds: float = 5.0) -> None:
        """Ask the server for the providers of interfaces; errors: those of a request to the server."""
        provided = member(await self._connection.request("GET", "/interfaces", seconds=seconds), "interfaces", dict)
        self._provided = {
            str(name): {str(method): tuple(map(str, names)) for method, names in dict(methods).items()}
            for name, methods in provided.items()
        }
