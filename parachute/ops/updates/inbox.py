"""Updates in the inbox: one that was rolled back automatically, and one that nobody watches over."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write
from parachute.config.settings.home import Home
from parachute.events.inbox.models import Answer, Item, Source
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import IN_PLACE, Phase, Update

_HIDE = "hide"


class UpdatesSource(Source):
    """The inbox of updates; an item goes when it was seen, or when the next update ends better."""

    kinds: ClassVar[frozenset[str]] = frozenset({"update"})

    def __init__(self, home: Home) -> None:
        self._journal = Journal(home.root)
        self._seen = self._journal.folder / "seen"

    async def items(self) -> Sequence[Item]:
        """Return the last update if somebody should know of it."""
        return await asyncio.to_thread(self._items)

    async def answer(self, item: Item, answer: Answer) -> None:
        """Note that it was seen."""
        await asyncio.to_thread(atomic_write, self._seen, item.since)

    def _items(self) -> list[Item]:
        try:
            update = self._journal.read()
        except ParachuteError:
            return []
        if update is None or self._was_seen(update):
            return []
        if update.phase is Phase.BACK and update.problem:
            return [_item(update, f"The update came back: {update.problem}")]
        if update.phase in IN_PLACE and not self._journal.is_held():
            return [_item(update, "The update was interrupted. Run `parachute update` to resume it.")]
        return []

    def _was_seen(self, update: Update) -> bool:
        try:
            return self._seen.read_text() == update.at
        except OSError:
            return False


def _item(update: Update, title: str) -> Item:
    return Item(
        kind="update",
        key="update",
        title=title,
        source="updates",
        since=update.at,
        details={"phase": update.phase.value, "since": list(update.since), "next": update.hint},
        answers=(_HIDE,),
        is_owners=True,
        command="parachute update status",
    )
