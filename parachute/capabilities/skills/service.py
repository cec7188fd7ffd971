"""Skills of conversations: those that a conversation may use, as one plugin of the agent's program."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.runtime_plugin import RuntimePlugins
from parachute.capabilities.skills.store import FoundSkill, SkillStore
from parachute.capabilities.texts import of_plugin
from parachute.capabilities.unapproved import Unapproved
from parachute.chat.agent_processes.models import Plugin
from parachute.chat.runs.capabilities import CapabilityRequest, LeftOut
from parachute.chat.workspaces.models import allowed
from parachute.security.audit.service import Audit
from parachute.security.permissions.actions import tool_listed

log = logging.getLogger(__name__)

TOOL = "Skill"


class OfferedSkills(Struct, frozen=True):
    """The skills of a turn: their names, and the plugin in which they are."""

    names: tuple[str, ...] = ()
    plugin: Plugin | None = None
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


class Skills:
    """Skills for conversations and for those who manage them; `changed` is called when what waits for the owner changes.

    `brought` tells those that plugins bring.
    """

    def __init__(
        self,
        store: SkillStore,
        plugins: RuntimePlugins,
        audit: Audit,
        changed: Callable[[], None],
        brought: Callable[[], Sequence[Skill]] = tuple,
    ) -> None:
        self._store = store
        self._brought = brought
        self._plugins = plugins
        self._audit = audit
        self._changed = changed
        self._unapproved = Unapproved()
        self._building = asyncio.Lock()

    async def all(self, directory: Path | None = None) -> tuple[FoundSkill, ...]:
        """All skills by name, those of a project's folder among them."""
        return await asyncio.to_thread(self._store.found, directory)

    async def brought(self) -> Sequence[Skill]:
        """Skills of plugins, under their full names."""
        return await asyncio.to_thread(self._brought)

    async def get(self, name: str) -> Skill:
        """One skill; error: NotFound."""
        if found := next((each for each in await self.brought() if each.name == name), None):
            return found
        return (await asyncio.to_thread(self._store.get, name)).skill

    async def create(self, name: str, content: str, description: str, who: str) -> FoundSkill:
        """Write a skill, and approve it; errors: InvalidInput, Conflict."""
        made = await asyncio.to_thread(self._store.create, name, content, description)
        self._record("skill_created", name, who)
        return made

    async def change(self, name: str, content: str, description: str, expected: str | None, who: str) -> FoundSkill:
        """Change a skill of the vault; errors: those of `SkillStore.change`."""
        if any(each.name == name for each in await self.brought()):
            raise of_plugin(name)
        made = await asyncio.to_thread(self._store.change, name, content, description, expected)
        self._record("skill_changed", name, who)
        self._changed()
        return made

    async def delete(self, name: str, who: str) -> None:
        """Remove a skill of the vault; errors: NotFound, NotAllowed."""
        if any(each.name == name for each in await self.brought()):
            raise of_plugin(name)
        await asyncio.to_thread(self._store.delete, name)
        self._record("skill_deleted", name, who)
        self._changed()

    async def offered(self, request: CapabilityRequest) -> OfferedSkills:
        """The skills of a turn, after the filters of trust, workspace and agent."""
        listed = request.allowed_tools
        if request.choice.skills == "none" or (listed is not None and not tool_listed(TOOL, listed)):
            return OfferedSkills()
        async with self._building:
            chosen, unapproved = await asyncio.to_thread(self._chosen, request)
            left_out = tuple(LeftOut("skill", each.skill.name, "parachute skills approve") for each in unapproved)
            added = [self._unapproved.add(self._store.approval_name(each), request.directory) for each in unapproved]
            if any(added):
                self._changed()
            if not chosen:
                return OfferedSkills(left_out=left_out)
            try:
                plugin = await asyncio.to_thread(self._plugins.plugin, chosen)
            except (OSError, ParachuteError) as error:
                log.warning("Skills cannot be used: %s", error)
                warning = ("Skills", f"This turn goes on without skills. {error}")
                return OfferedSkills(left_out=left_out, warnings=(warning,))
        return OfferedSkills(tuple(each.skill.name for each in chosen), plugin, left_out)

    def waiting(self) -> Sequence[FoundSkill]:
        """The skills that conversations left out; waits for the disk."""
        found: dict[str, FoundSkill] = {}
        for directory in self._unapproved.folders():
            for each in self._store.found(directory):
                name = self._store.approval_name(each)
                if name in self._unapproved and not each.skill.problem and not self._store.is_approved(each):
                    found[name] = each
        return [found[name] for name in sorted(found)]

    @property
    def store(self) -> SkillStore:
        """The skills themselves, and their approvals."""
        return self._store

    def _chosen(self, request: CapabilityRequest) -> tuple[list[FoundSkill], list[FoundSkill]]:
        """The skills that a turn has, and those that it would have if they were approved."""
        own = request.agent.skills if request.agent else None
        chosen: list[FoundSkill] = []
        unapproved: list[FoundSkill] = []
        found = self._store.found(request.directory)
        approved = frozenset() if request.level == "sandboxed" else self._store.approved(found)
        for each in found:
            name = each.skill.name
            if (
                each.skill.problem
                or not allowed(request.choice.skills, (name,))
                or (own is not None and name not in own)
            ):
                continue
            is_good = request.level == "sandboxed" or name in approved
            (chosen if is_good else unapproved).append(each)
        return chosen, unapproved

    def _record(self, event: str, name: str, who: str) -> None:
        self._audit.append(
            event_type=event, source_type="user", source_id=who, target_module="skills", target_endpoint=name
        )
