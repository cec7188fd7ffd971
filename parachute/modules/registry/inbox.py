"""Modules that wait for an approval, in the inbox."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from parachute.events.inbox.models import APPROVE, REJECT, Answer, Item, Source
from parachute.modules.registry.models import ModuleStatus, State
from parachute.modules.registry.service import Modules
from parachute.modules.registry.staged import StagedModule, StagedModules


class ModulesSource(Source):
    """The inbox of modules; what one may do is staged to be shown, so that an item names the route that shows it."""

    kinds: ClassVar[frozenset[str]] = frozenset({"module"})

    def __init__(self, modules: Modules, staged: StagedModules) -> None:
        self._modules = modules
        self._staged = staged

    async def items(self) -> Sequence[Item]:
        """Return every installed module whose folder is not what was approved, and every one that is staged."""
        found = await asyncio.to_thread(self._modules.list)
        staged = await asyncio.to_thread(self._staged.list)
        return [
            *(_item(status) for status in found if status.state is State.PENDING),
            *(_staged_item(each) for each in staged if each.status == "waiting"),
        ]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve what is in the vault or staged, if it is still what was shown; or drop what is staged."""
        if identifier := item.details.get("staged"):
            if answer.word == REJECT:
                await asyncio.to_thread(self._staged.delete, identifier)
            else:
                name = await asyncio.to_thread(self._staged.approve, identifier, item.details["hash"])
                await self._modules.changed(name)
            return
        await asyncio.to_thread(self._modules.approve, item.key, str(item.details["pending_hash"]))
        await self._modules.changed()


def _item(status: ModuleStatus) -> Item:
    return Item(
        kind="module",
        key=status.name,
        title=f"Module {status.name}",
        source=status.source or status.name,
        details={
            "reason": status.reason,
            "pending_hash": status.pending_hash,
            "approval": f"/api/modules/{status.name}/approval",
        },
        answers=(APPROVE,) if status.pending_hash else (),
        is_owners=True,
        command=f"parachute modules approve {status.name}",
    )


def _staged_item(staged: StagedModule) -> Item:
    shown = staged.shown
    assert shown is not None
    return Item(
        kind="module",
        key=f"staged {staged.id}",
        title=f"{'Update' if shown.previous_version else 'Install'} module {shown.name}",
        source=staged.source,
        since=staged.since,
        # The files are left out: they may be long, and the hash stands for them.
        details={
            "staged": staged.id,
            "hash": staged.hash,
            "text": shown.text,
            "approval": f"/api/modules/staged/{staged.id}",
        },
        answers=(APPROVE, REJECT),
        is_owners=True,
        command=f"parachute modules staged {staged.id}",
    )
