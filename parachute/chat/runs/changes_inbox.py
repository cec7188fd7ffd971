"""Changes that wait, in the inbox: one item for each run, which is applied there if it shows all of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import to_builtins

from parachute.base.errors import NotFound
from parachute.changes.answering import Word, digest_of
from parachute.changes.differences import LONGEST
from parachute.changes.models import NEVER_APPLIED
from parachute.changes.reading import Shown, waiting
from parachute.changes.service import Changes
from parachute.chat.sessions.service import Sessions
from parachute.events.inbox.models import Answer, Item, Source, not_waiting

_APPLY, _THROW_AWAY = "apply", "throw_away"
_MOST_LINES = 50
_CHARACTERS = 10_000
"""Of all differences of one item."""


class ChangesSource(Source):
    """The inbox of changes; what nobody answers stays in the view and out of the project."""

    kinds: ClassVar[frozenset[str]] = frozenset({"changes"})

    def __init__(self, changes: Changes, sessions: Sessions) -> None:
        self._changes = changes
        self._sessions = sessions

    async def items(self) -> Sequence[Item]:
        """Return one item for each run of which something waits."""
        return [await self._item(each) for each in await self._changes.history.waiting()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Apply what can be, all of which was shown, or throw it away."""
        for each in await self._changes.history.waiting():
            if (await self._item(each)).hash == item.hash:
                word: Word = "apply" if answer.word == _APPLY else "throw_away"
                await self._changes.answer(each.found.session, each.found.number, word, digest=digest_of(each.held))
                return
        raise not_waiting()

    async def _item(self, each: Shown) -> Item:
        found, count = each.found, len(each.held)
        name = Path(found.project).name
        what = each.held[0].path if count == 1 else f"{count} changes"
        diffs, is_whole = await self._differences(each)
        can_apply = is_whole and any(held.reason not in NEVER_APPLIED for held in each.held)
        details: dict[str, Any] = {
            "run": found.number,
            "project": found.project,
            "origin": found.origin,
            "hash": digest_of(each.held),
            "files": to_builtins(waiting(each.held, _MOST_LINES)),
            "more": max(0, count - _MOST_LINES),
            "diffs": diffs,
            "cut": not is_whole,
        }
        return Item(
            kind="changes",
            key=f"{found.session}/{found.number}",
            title=f"Apply {what} to {name}",
            source=await self._title(found.session),
            since=found.began_at,
            details=details,
            answers=(_APPLY, _THROW_AWAY) if can_apply else (_THROW_AWAY,),
            is_owners=True,
            session=found.session,
            command=f"parachute changes {found.session} --diff",
        )

    async def _differences(self, each: Shown) -> tuple[dict[str, str | None], bool]:
        """The differences of what waits as far as there is room, and whether that is all; what is no text has none."""
        found: dict[str, str | None] = {}
        left, session, number = _CHARACTERS, each.found.session, each.found.number
        for held in each.held[:_MOST_LINES]:
            try:
                shown = await self._changes.history.difference(session, number, held.path, left)
            except NotFound:  # somebody has answered meanwhile
                return found, False
            found[held.path] = shown.diff
            left -= len(shown.diff or "")
            is_large = shown.diff is None and max(held.before.size, held.after.size) > LONGEST
            if shown.cut or is_large or left <= 0:
                return found, False
        return found, len(each.held) <= _MOST_LINES

    async def _title(self, session: str) -> str:
        try:
            return (await self._sessions.get(session)).title or "A conversation"
        except NotFound:
            return "An agent"
