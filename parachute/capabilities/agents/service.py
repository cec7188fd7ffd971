"""Agents of conversations: those to which the agent of a conversation may give work."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from parachute.capabilities.agents.models import Agent
from parachute.capabilities.agents.store import AgentStore
from parachute.capabilities.texts import of_plugin
from parachute.capabilities.unapproved import Unapproved
from parachute.chat.agent_processes.helpers import BUILT_IN
from parachute.chat.agent_processes.models import Helper
from parachute.chat.runs.capabilities import CapabilityRequest, LeftOut
from parachute.chat.workspaces.models import allowed
from parachute.security.audit.service import Audit


class OfferedAgents(Struct, frozen=True):
    """The agents of a turn."""

    names: tuple[str, ...] = ()
    helpers: tuple[Helper, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class Agents:
    """Agents for conversations and for those who manage them; `changed` is called when what waits for the owner changes.

    `brought` tells those that plugins bring.
    """

    def __init__(
        self,
        store: AgentStore,
        audit: Audit,
        changed: Callable[[], None],
        brought: Callable[[], Sequence[Agent]] = tuple,
    ) -> None:
        self._store = store
        self._brought = brought
        self._audit = audit
        self._changed = changed
        self._unapproved = Unapproved()

    async def all(self, directory: Path | None = None) -> tuple[Agent, ...]:
        """All agents by name, those of a project's folder among them."""
        return await asyncio.to_thread(self._store.found, directory)

    async def brought(self) -> Sequence[Agent]:
        """Agents of plugins, under their full names."""
        return await asyncio.to_thread(self._brought)

    async def get(self, name: str) -> Agent:
        """One agent; error: NotFound."""
        if found := next((each for each in await self.brought() if each.name == name), None):
            return found
        return await asyncio.to_thread(self._store.get, name)

    async def create(
        self, name: str, prompt: str, description: str, tools: tuple[str, ...] | None, model: str | None, who: str
    ) -> Agent:
        """Write an agent, and approve it; errors: InvalidInput, Conflict."""
        made = await asyncio.to_thread(self._store.create, name, prompt, description, tools, model)
        self._record("agent_created", name, who)
        return made

    async def change(
        self,
        name: str,
        prompt: str,
        description: str,
        tools: tuple[str, ...] | None,
        model: str | None,
        expected: str | None,
        who: str,
    ) -> Agent:
        """Change an agent of the vault; errors: those of `AgentStore.change`."""
        if any(each.name == name for each in await self.brought()):
            raise of_plugin(name)
        made = await asyncio.to_thread(self._store.change, name, prompt, description, tools, model, expected)
        self._record("agent_changed", name, who)
        self._changed()
        return made

    async def delete(self, name: str, who: str) -> None:
        """Remove an agent of the vault; errors: NotFound, NotAllowed."""
        if any(each.name == name for each in await self.brought()):
            raise of_plugin(name)
        await asyncio.to_thread(self._store.delete, name)
        self._record("agent_deleted", name, who)
        self._changed()

    async def offered(self, request: CapabilityRequest) -> OfferedAgents:
        """The agents of a turn, after the filters of trust, workspace and agent."""
        if request.choice.agents == "none":
            return OfferedAgents()
        chosen, unapproved = await asyncio.to_thread(self._chosen, request)
        left_out = tuple(LeftOut("agent", each.name, "parachute agents approve") for each in unapproved)
        added = [self._unapproved.add(self._store.approval_name(each), request.directory) for each in unapproved]
        if any(added):
            self._changed()
        return OfferedAgents(tuple(each.name for each in chosen), tuple(map(_helper, chosen)), left_out)

    def waiting(self) -> Sequence[Agent]:
        """The agents that conversations left out, and of which nothing was ever approved; waits for the disk.

        One that has changed waits among the files that steer direct conversations.
        """
        found: dict[str, Agent] = {}
        for directory in self._unapproved.folders():
            for agent in self._store.found(directory):
                name = self._store.approval_name(agent)
                if name in self._unapproved and not agent.problem and not self._store.is_known(agent):
                    found[name] = agent
        return [found[name] for name in sorted(found)]

    @property
    def store(self) -> AgentStore:
        """The agents themselves, and their approvals."""
        return self._store

    def _chosen(self, request: CapabilityRequest) -> tuple[list[Agent], list[Agent]]:
        """The agents that a turn has, and those that it would have if they were approved."""
        answering = request.agent.name if request.agent else None
        chosen: list[Agent] = []
        unapproved: list[Agent] = []
        found = self._store.found(request.directory)
        approved = frozenset() if request.level == "sandboxed" else self._store.approved(found)
        for agent in found:
            names = (agent.name, agent.path, Path(agent.path).stem)
            if agent.problem or agent.name in (answering, *BUILT_IN) or not allowed(request.choice.agents, names):
                continue
            is_good = request.level == "sandboxed" or agent.name in approved
            (chosen if is_good else unapproved).append(agent)
        return chosen, unapproved

    def _record(self, event: str, name: str, who: str) -> None:
        self._audit.append(
            event_type=event, source_type="user", source_id=who, target_module="agents", target_endpoint=name
        )


def _helper(agent: Agent) -> Helper:
    """The agent as another one knows it; without Bash where its file lists commands, since the program cannot tell who runs one."""
    return Helper(agent.name, agent.description, agent.prompt, agent.tools, agent.model, agent.commands is None)
