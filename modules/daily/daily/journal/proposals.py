"""Proposals from entries: names that are new to Brain, and news of entities that it has. Each is proposed once ever, and the user decides."""

import datetime
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from daily.journal.documents import id_of
from daily.journal.index import Found
from daily.journal.names import REFLECTIONS
from daily.journal.service import Journal
from parachute.core import ParachuteError
from parachute.core.interfaces import BrainInterface, Mention
from parachute.core.services import Core

log = logging.getLogger("parachute.module")

_SECTION = "Recent Activity"
_WORTH_PROPOSING = 0.4
_DOUBTFUL = 0.2
"""From here on a name is looked for in all of the journal, and proposed if Brain is sure enough after several days."""

_MOST = 3
"""Names of an entry that are proposed, that are looked for, and entities that news are proposed of."""

_LOOKED_AT = 20
_LINE = 300
_RECENT_DAYS = 7
"""Older entries come from elsewhere, many at a time: what they tell is no news."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """Proposal for an entry: a new entity or a change of one; `id` is that of the suggestion."""

    id: str
    type: str
    name: str
    action: Literal["create", "update"] = "create"


class Proposals:
    """Makes suggestions to Brain, as far as the module's settings want them."""

    def __init__(self, core: Core, journal: Journal) -> None:
        self._core = core
        self._journal = journal

    async def make(self, brain: BrainInterface, said: list[Mention], sure: set[str], found: Found) -> list[Proposed]:
        """Propose what Brain said of an entry, with those of earlier runs for this entry; `sure` are the entities that it is about."""
        made: list[Proposed] = []
        try:
            wanted = await self._core.settings.all()
            if wanted.get("propose_updates", True):
                await self._updates(said, sure, found, made)
            if wanted.get("propose_names", True):
                await self._names(brain, said, found, made)
        except ParachuteError as error:
            # Too many wait for the user already, or Brain has just gone; the entry itself is complete.
            log.info("Not everything of an entry is proposed: %s", error)
        return made

    async def _names(self, brain: BrainInterface, said: list[Mention], found: Found, made: list[Proposed]) -> None:
        new = [mention for mention in said if mention.para_id is None]
        sure = [mention for mention in new if mention.confidence >= _WORTH_PROPOSING]
        for mention in sure[:_MOST]:
            await self._name(mention, f"The journal mentions it on {found.date}.", found, made)
        doubtful = [mention for mention in new if _DOUBTFUL <= mention.confidence < _WORTH_PROPOSING]
        for mention in doubtful[:_MOST]:
            lines = await self._lines(mention.text, found)
            if len(lines) < 2:
                continue
            again = await brain.suggest("\n".join(lines.values()))
            same = [each for each in again if each.para_id is None and each.text.casefold() == mention.text.casefold()]
            if same and same[0].confidence >= _WORTH_PROPOSING:
                days = f"{', '.join(sorted(lines)[:-1][-2:])} and {max(lines)}"
                await self._name(same[0], f"The journal mentions it on {days}.", found, made)

    async def _lines(self, name: str, found: Found) -> dict[str, str]:
        """A line with a name for each day that has one, with that of the entry itself."""
        others = await self._journal.search(name, limit=_LOOKED_AT)
        lines: dict[str, str] = {}
        for each in (found, *others):
            line = next(_with(name, f"{each.entry.title}\n{each.entry.content}"), None)
            if line is not None:
                lines.setdefault(each.date, line)
        return lines

    async def _name(self, mention: Mention, reasoning: str, found: Found, made: list[Proposed]) -> None:
        kind = mention.type or "topic"
        payload = {"type": kind, "name": mention.text, "source": id_of(found.entry.key)}
        key = f"proposed/{mention.text.casefold()[:200]}"
        await self._once(key, found, Proposed("", kind, mention.text), payload, reasoning, made)

    async def _updates(self, said: list[Mention], sure: set[str], found: Found, made: list[Proposed]) -> None:
        today = datetime.date.fromisoformat(self._journal.today())
        if abs((today - datetime.date.fromisoformat(found.date)).days) > _RECENT_DAYS:
            return
        # Who looked back at the day has read all of it, and proposed what there was.
        if await self._core.files.exists(f"{REFLECTIONS}/{found.date}.md"):
            return
        news = {each.para_id: each for each in reversed(said) if each.para_id in sure and each.news}
        for para_id, mention in list(reversed(news.items()))[:_MOST]:
            payload = {
                "append": f"- {found.date}: {mention.news}",
                "section": _SECTION,
                "source": id_of(found.entry.key),
            }
            reasoning = f"The journal says on {found.date}: “{mention.news}”"
            what = Proposed("", mention.type or "topic", mention.name or mention.text, "update")
            key = f"updated/{para_id}/{found.date}"
            await self._once(key, found, what, payload, reasoning, made, para_id)

    async def _once(
        self,
        key: str,
        found: Found,
        what: Proposed,
        payload: dict[str, Any],
        reasoning: str,
        made: list[Proposed],
        target: str | None = None,
    ) -> None:
        """Make a suggestion, unless the key had one: what the user rejected is not proposed again."""
        entry_id, before = id_of(found.entry.key), await self._core.storage.get(key)
        if before:
            if isinstance(before, dict) and before["entry"] == entry_id:
                made.append(Proposed(before["id"], before["type"], what.name, what.action))
            return
        id = await self._core.suggest(what.action, "brain", payload, target_id=target, reasoning=reasoning)
        await self._core.storage.set(key, {"id": id, "type": what.type, "entry": entry_id})
        made.append(Proposed(id, what.type, what.name, what.action))


def _with(name: str, text: str) -> Iterator[str]:
    """The lines of a text that have a name, around it."""
    wanted = name.casefold()
    for line in text.splitlines():
        place = line.casefold().find(wanted)
        if place >= 0:
            yield line[max(0, place - _LINE // 2) : place + _LINE]
