"""The rights of a caller of `/mcp`: with a key those of its scopes, as a client those of its grant."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any, Protocol

from msgspec import Struct

from parachute.base.errors import NotAllowed, ParachuteError
from parachute.modules.mcp_endpoint.policy import Passed, Policy, WorkspaceOf
from parachute.modules.mcp_endpoint.receipts import Receipts
from parachute.modules.mcp_endpoint.resources.models import OFFERS
from parachute.modules.mcp_endpoint.shapes import SUGGESTED
from parachute.modules.runtime.models import OfferedTool
from parachute.modules.runtime.service import Hosts
from parachute.security.keys.models import Capability
from parachute.security.mcp_clients.models import ANY, Grant, Limits
from parachute.security.mcp_clients.service import McpClients

_WAITS = "Nothing is written until the user has approved it; do not say that it is done."

May = Callable[[str, Capability], bool]
Propose = Callable[[str, dict[str, Any]], Awaitable[str]]
"""Keep a suggestion of a client, by its name; the answer tells it that the owner decides."""


class Outside(Struct, frozen=True):
    """Parts of wings above: workspaces, by slug and name, and suggestions."""

    workspace_of: WorkspaceOf
    workspaces: Callable[[], list[tuple[str, str]]]
    propose: Propose


class GrantEnded(ParachuteError):
    """The owner ended what was granted, or its last day is over."""

    status = 401
    key = "grant_ended"


class Access(Protocol):
    """The rights of one caller."""

    def allows(self, tool: OfferedTool) -> bool:
        """Return whether a tool is offered."""

    def described(self, tool: OfferedTool) -> str:
        """Describe a tool as it is for this caller."""

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], who: str) -> Passed:
        """Call a tool; errors: ParachuteError."""

    @property
    def policy(self) -> Policy:
        """The judge of resources, as it is now; error: GrantEnded."""

    async def check_budget(self) -> None:
        """Check that something is left of the day; errors: ParachuteError, GrantEnded."""

    def may_leave(self, size: int) -> bool:
        """Return whether an answer of this size may leave now, and count it; error: GrantEnded."""


class ByKey:
    """The rights of a key: its scopes."""

    def __init__(self, hosts: Hosts, may: May) -> None:
        self._hosts = hosts
        self._may = may

    @property
    def policy(self) -> Policy:
        """Everything of those kinds of resources whose modules its scopes let it read."""
        named = tuple(each.name for each in OFFERS if self._may(each.module, "read"))
        every = (ANY,)
        return Policy(Limits(named, every, every, every, None, None, date.max, 0), nowhere)

    async def check_budget(self) -> None:
        """Pass: a key has no budget."""

    def allows(self, tool: OfferedTool) -> bool:
        """Return whether a tool is offered."""
        return self._may(tool.module, "read" if tool.reads_only else "write")

    def described(self, tool: OfferedTool) -> str:
        """Describe a tool as it does itself."""
        return tool.description

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], who: str) -> Passed:
        """Call a tool; errors: ParachuteError."""
        return Passed(await self._hosts.call_tool(tool.name, arguments, who))

    def may_leave(self, size: int) -> bool:
        """Return true: a key has no budget."""
        return True


class ByGrant:
    """The rights of a client: what the owner agreed to, as it is now."""

    def __init__(self, hosts: Hosts, clients: McpClients, receipts: Receipts, outside: Outside, grant: str) -> None:
        self._hosts = hosts
        self._clients = clients
        self._receipts = receipts
        self._outside = outside
        self._name = grant

    @property
    def _grant(self) -> Grant:
        found = self._clients.find(self._name)
        if found is None:
            raise GrantEnded("The owner of this computer has ended what this program was granted.")
        return found

    def allows(self, tool: OfferedTool) -> bool:
        """Return whether a tool is offered."""
        return self.policy.allows(tool)

    def described(self, tool: OfferedTool) -> str:
        """Describe a tool as it does itself, and say of one that writes that this waits."""
        return tool.description if tool.reads_only else f"{tool.description} {_WAITS}"

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], who: str) -> Passed:
        """Call a tool, or make a suggestion of what it would do, and let of its answer pass what may; errors: ParachuteError."""
        grant = self._grant
        if not tool.reads_only:
            return Passed(await self._suggest(grant, tool, arguments))
        try:
            text = await self._hosts.call_tool(tool.name, self.policy.asked(tool, arguments), who)
        except ParachuteError as error:
            if grant.limits.is_whole:
                raise
            # A sentence could name what is kept back.
            raise ParachuteError("The tool could not do this.", key=error.key, status=error.status) from error
        # As the grant is now: it may have been narrowed meanwhile.
        policy = self.policy
        if not policy.allows(tool):
            raise NotAllowed("This program may not use this tool any more.", key="tool_not_granted")
        return await policy.passed(tool, arguments, text)

    def may_leave(self, size: int) -> bool:
        """Return whether an answer of this size may leave now, and count it; error: GrantEnded."""
        grant = self._grant
        return self._receipts.spend(grant.label, size, grant.limits.bytes_a_day)

    @property
    def policy(self) -> Policy:
        """The judge of what it was granted, as it is now; error: GrantEnded."""
        return Policy(self._grant.limits, self._outside.workspace_of)

    async def check_budget(self) -> None:
        """Check that something is left of the day; errors: ParachuteError, GrantEnded."""
        grant = self._grant
        if await self._receipts.spent(grant.label) >= grant.limits.bytes_a_day:
            raise spent()

    async def _suggest(self, grant: Grant, tool: OfferedTool, arguments: dict[str, Any]) -> str:
        module, action = SUGGESTED[tool.name]
        payload = {name: value for name, value in arguments.items() if value is not None}
        said = {"action": action, "target_module": module, "payload": payload}
        return await self._outside.propose(grant.client.name, {**said, "reasoning": ""})


async def nowhere(_: str) -> None:
    """Know of no conversation."""


def spent() -> ParachuteError:
    """The error of a client that got as much today as it may."""
    return ParachuteError(
        "This program got as many bytes today as it may.",
        "The owner of this computer can give it more.",
        status=429,
        key="budget_spent",
    )
