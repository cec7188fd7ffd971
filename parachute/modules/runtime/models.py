"""Modules that may run, and what the wings above offer them."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import force_setattr

from parachute.modules.manifest.models import Manifest
from parachute.modules.manifest.untrusted import shut_in
from parachute.modules.registry.models import Trust


class OfferedTool(Struct, frozen=True):
    """An MCP tool of an enabled module, as its host describes it; `input_schema` is JSON Schema of an object.

    `interfaces` are the names of those that the module provides. `writes`: it may change what the module keeps in the vault;
    `reads_only`: its author says that it changes nothing at all.
    """

    module: str
    name: str
    description: str
    input_schema: dict[str, Any]
    interfaces: tuple[str, ...] = ()
    writes: bool = False
    reads_only: bool = False


class AcceptedChange(Struct, frozen=True):
    """A kind of change that a module applies when the user has approved it; `schema` is JSON Schema of its payload."""

    module: str
    action: str
    schema: dict[str, Any]


class OfferedRoute(Struct, frozen=True):
    """A route of a module below `/api/{module}`; `fields` is a JSON Schema of what it takes in path, query and body."""

    module: str
    method: str
    path: str
    description: str
    fields: dict[str, Any]


class ApprovedModule(Struct, frozen=True):
    """A module that the user approved: its manifest and code, read from the verified copy in the state directory.

    `hash` is that of the code, `trust` who vouches for it. `manifest` is what the user agreed to: of an untrusted module without
    what such a one does not get, so that nothing that asks it can forget that.
    """

    name: str
    hash: str
    trust: Trust
    manifest: Manifest
    code: Path

    def __post_init__(self) -> None:
        if self.trust is Trust.UNTRUSTED:
            force_setattr(self, "manifest", shut_in(self.manifest))


class ModuleConversations(Protocol):
    """The user's chats, for modules that may read or continue them."""

    async def answer(self, module: ApprovedModule, what: str, document: dict[str, Any]) -> dict[str, Any]:
        """One question of a module: `list`, `messages` or `send`; errors: NotAllowed, NotFound, Conflict, InvalidInput."""


class ModuleSessions(Protocol):
    """Chats and files from elsewhere, for modules that may bring some."""

    async def answer(self, module: ApprovedModule, what: str, document: dict[str, Any]) -> dict[str, Any]:
        """One question of a module; errors: NotAllowed, NotFound, Conflict, InvalidInput, DiskFull."""

    async def take(
        self, module: ApprovedModule, what: str, query: Mapping[str, Sequence[str]], body: AsyncIterator[bytes]
    ) -> dict[str, Any]:
        """Place what a module sends, `conversations` or a `file`; errors: NotAllowed, NotFound, InvalidInput, DiskFull."""


class ModuleSuggestions(Protocol):
    """Suggestions of modules for each other's data; the socket identifies the module."""

    async def suggest(self, module: ApprovedModule, document: dict[str, Any]) -> dict[str, Any]:
        """Keep a proposal for the user and give its `id`; errors: InvalidInput, NotAllowed, NotFound, Conflict."""


class ModuleAgents(Protocol):
    """Agents that modules run; the socket identifies the module."""

    def query(
        self,
        module: ApprovedModule,
        *,
        message: str,
        session_id: str | None,
        mcp_servers: list[str] | None,
        agent: str | None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a turn; leaving them early ends it."""

    async def run_agent(self, module: ApprovedModule, agent: str, prompt: str) -> str:
        """The last text of a turn; errors: NotFound, NotAllowed, Unavailable, and what went wrong in it."""

    async def close_module(self, name: str) -> None:
        """End what a module runs."""
