"""Subjects of entries, as Brain knows them: linked there, and listed in the entry's own frontmatter."""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from daily.journal.documents import id_of, mentions_of
from daily.journal.proposals import Proposals, Proposed
from daily.journal.service import Journal
from parachute.core import NotFound, ParachuteError
from parachute.core.interfaces import BrainInterface
from parachute.core.services import Core

log = logging.getLogger("parachute.module")

CONFIDENT = 0.8
_LONGEST = 100_000
_NEWEST = 100
"""Of so many entries at the most is a new entity looked for, the newest first, and so many edits are looked at together."""

_PARA_ID = re.compile(r"(?<![\w:])para:(?!daily:)[a-z][a-z0-9_-]{0,39}:[a-z0-9]{12}(?![\w:])")
_MOST_REFERENCES = 50
"""Para-ids that are taken from one entry."""

_QUIET_SECONDS = 2.0
"""An editor saves while somebody writes: half a name must not be proposed."""


@dataclass(frozen=True, slots=True)
class Known:
    """An entity that an entry is about."""

    para_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Links:
    """Subjects of an entry, and what was proposed for it."""

    linked: list[Known] = field(default_factory=list)
    proposed: list[Proposed] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """As HTTP answers it."""
        return asdict(self)


class Linker:
    """Links entries, one at a time; doing it again changes nothing. `brain` is None where there is no Brain."""

    def __init__(self, core: Core, journal: Journal, brain: Callable[[], BrainInterface | None]) -> None:
        self._journal = journal
        self._proposals = Proposals(core, journal)
        self._brain = brain
        self._lock = asyncio.Lock()
        self._edited: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        self.quiet_seconds = _QUIET_SECONDS

    async def link(self, entry_id: str, *, proposing: bool = True) -> Links:
        """Link an entry with what it mentions for certain, and propose what Brain does not have.

        What an entry names by its para-id, such as a conversation, it mentions also without Brain. An entry that was deleted
        since has no links. Errors: those of Brain.
        """
        async with self._lock:
            try:
                await self._note_references(entry_id)
                if (brain := self._brain()) is None:
                    return Links()
                return await self._link(brain, entry_id, proposing)
            except NotFound:
                return Links()

    async def link_naming(self, names: Iterable[str]) -> None:
        """Link the newest entries that name something which Brain has come to know; errors: those of Brain."""
        naming = [found for name in names for found in await self._journal.search(name, limit=_NEWEST)]
        for key in dict.fromkeys(found.entry.key for found in naming if found.entry.key):
            await self.link(id_of(key), proposing=False)

    def edited(self, keys: Iterable[str]) -> None:
        """Link entries that somebody changed in their files, as soon as nothing changes any more."""
        self._edited |= dict.fromkeys(keys)
        if self._task is not None and self._edited:
            self._task.cancel()
        if self._edited:
            self._task = asyncio.ensure_future(self._link_edited())

    async def settled(self) -> None:
        """Return when what was edited is linked."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """End what is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _link_edited(self) -> None:
        await asyncio.sleep(self.quiet_seconds)
        for key in list(self._edited)[-_NEWEST:]:
            try:
                await self.link(id_of(key))
            except ParachuteError as error:
                log.warning("An entry that was edited is not linked: %s", error)
            self._edited.pop(key, None)
        self._edited.clear()

    async def _note_references(self, entry_id: str) -> None:
        entry = (await self._journal.get(entry_id)).entry
        named = set(_PARA_ID.findall(f"{entry.title}\n{entry.content}"[:_LONGEST]))
        if not named <= set(mentions_of(entry)):
            await self._journal.mention(entry_id, set(sorted(named)[:_MOST_REFERENCES]))

    async def _link(self, brain: BrainInterface, entry_id: str, proposing: bool) -> Links:
        found = await self._journal.get(entry_id)
        entry = found.entry
        said = await brain.suggest(f"{entry.title}\n{entry.content}"[:_LONGEST])
        sure = {
            mention.para_id: (Known(mention.para_id, mention.name or mention.text), mention.confidence)
            for mention in said
            if mention.para_id is not None and mention.confidence > CONFIDENT
        }
        for para_id, (_, confidence) in sorted(sure.items()):
            await brain.link(id_of(entry.key), para_id, confidence)
        if not sure.keys() <= set(mentions_of(entry)):
            await self._journal.mention(entry_id, set(sure))
        proposed = await self._proposals.make(brain, said, set(sure), found) if proposing else []
        return Links([known for known, _ in sure.values()], proposed)
