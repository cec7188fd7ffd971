"""Problems that the doctor found, in the inbox."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from parachute.base.errors import Conflict
from parachute.config.settings.home import Home
from parachute.events.inbox.models import Answer, Item, Source, not_waiting
from parachute.ops.doctor.examiner import Examiner
from parachute.ops.doctor.findings import Finding, hide

_REPAIR, _LOOK, _HIDE = "repair", "look-again", "hide"
_DAYS = 7


class ProblemsSource(Source):
    """The inbox of problems; one goes when the doctor finds that it is solved."""

    kinds: ClassVar[frozenset[str]] = frozenset({"problem"})

    def __init__(self, home: Home, examiner: Examiner) -> None:
        self._home = home
        self._examiner = examiner

    async def items(self) -> Sequence[Item]:
        """Return what is not solved, without examining anything."""
        return [_item(each) for each in await self._examiner.found()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Repair it, examine it again, or hide it for a week; error: Conflict if it is as it was."""
        if answer.word == _REPAIR:
            await self._examiner.repair(item.key)
            return
        if answer.word == _HIDE:
            if not await asyncio.to_thread(hide, self._home.root, item.key, _DAYS):
                raise not_waiting()
            return
        await self._examiner.examine([item.key])
        for each in await self._examiner.found():
            if each.id == item.key:
                raise Conflict(each.message, each.next, key="not_solved")


def _item(finding: Finding) -> Item:
    return Item(
        kind="problem",
        key=finding.id,
        title=finding.message,
        source="doctor",
        since=finding.since,
        details={
            "check": finding.id,
            "title": finding.title,
            "next": finding.next,
            "details": list(finding.details),
            "fix": finding.fix,
            _HIDE: f"for {_DAYS} days",
        },
        answers=(*((_REPAIR,) if finding.can_fix else ()), _LOOK, _HIDE),
        is_owners=True,
        command=f"parachute doctor {finding.id}{' --fix' if finding.fix else ''}",
    )
