"""Skills that conversations which run directly went on without, in the inbox."""

import asyncio
import shlex
from collections.abc import Sequence
from typing import ClassVar

from msgspec import to_builtins

from parachute.capabilities.skills.service import Skills
from parachute.capabilities.skills.store import FoundSkill
from parachute.events.inbox.models import APPROVE, Answer, Item, Source, not_waiting
from parachute.modules.trees.changes import text_change


class SkillsSource(Source):
    """The inbox of skills; one that is not approved is used in sandboxes only."""

    kinds: ClassVar[frozenset[str]] = frozenset({"skill"})

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    async def items(self) -> Sequence[Item]:
        """Return every skill that was left out and still waits."""
        return await asyncio.to_thread(lambda: [self._item(each) for each in self._skills.waiting()])

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve a skill exactly as it was shown, with all its files."""
        for each in await asyncio.to_thread(self._skills.waiting):
            if (await asyncio.to_thread(self._item, each)).hash == item.hash:
                await asyncio.to_thread(self._skills.store.approve, each)
                return
        raise not_waiting()

    def _item(self, each: FoundSkill) -> Item:
        skill, store = each.skill, self._skills.store
        change = text_change(skill.path, store.before(each), skill.content.encode(errors="replace"), is_whole=True)
        files = [{"path": file.name, "sha256": file.sha256, "executable": file.is_executable} for file in each.hashes]
        return Item(
            kind="skill",
            key=store.approval_name(each),
            title=f"Skill {skill.name}",
            source=skill.path,
            details={**to_builtins(change), "files": files},
            # Of its other files only the hashes are shown here: whoever wants to read them looks where it lies.
            answers=(APPROVE,),
            is_owners=True,
            command=f"parachute skills approve {shlex.quote(skill.name)}",
        )
