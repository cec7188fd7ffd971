"""Modules that wait for an approval, in the inbox."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from parachute.events.inbox.models import APPROVE, Answer, Item, Kind, Source
from parachute.modules.registry.models import ModuleStatus, State
from parachute.modules.registry.service import Modules


class ModulesSource(Source):
    """The inbox of modules; what one may do is staged to be shown, so that an item names the route that shows it."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"module"})

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    async def items(self) -> Sequence[Item]:
        """Return every installed module whose folder is not what was approved."""
        found = await asyncio.to_thread(self._modules.list)
        return [_item(status) for status in found if status.state is State.PENDING]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve what is in the vault, if it is still what was shown."""
        await asyncio.to_thread(self._modules.approve, item.key, str(item.details["pending_hash"]))
        await self._modules.changed()


def _item(status: ModuleStatus) -> Item:
    return Item(
        kind="module",
        key=status.name,
        title=f"Module {status.name}",
        source=status.module.source if status.module else status.name,
        details={
            "reason": status.reason,
            "pending_hash": status.pending_hash,
            "approval": f"/api/modules/{status.name}/approval",
        },
        answers=(APPROVE,) if status.pending_hash else (),
        is_owners=True,
        command=f"parachute modules approve {status.name}",
    )
